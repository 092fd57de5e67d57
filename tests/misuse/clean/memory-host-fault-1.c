/* SPDX-License-Identifier: MIT */
/*
 * A program copies a table to the host before it adds it up there.
 */
#include "gpu.h"

enum { BYTES = 4096 };

NAMED CUdeviceptr make_table(void)
{
    CUdeviceptr table;
    MUST(cuMemAlloc(&table, BYTES));
    MUST(cuMemsetD8(table, 1, BYTES));
    return table;
}

NAMED int add_up(const volatile unsigned char *table)
{
    int sum = 0;
    for (int i = 0; i < BYTES; i++)
        sum += table[i];
    return sum;
}

int main(void)
{
    use_gpu(0);
    CUdeviceptr table = make_table();
    static unsigned char copy[BYTES];
    MUST(cuMemcpyDtoH(copy, table, BYTES));
    printf("%d\n", add_up(copy));
    MUST(cuMemFree(table));
    leave_gpu(0);
    return 0;
}
