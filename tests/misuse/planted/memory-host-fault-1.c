/* SPDX-License-Identifier: MIT */
/*
 * A program fills a table with cuMemsetD8 and adds it up on the host through the pointer of
 * cuMemAlloc, which is an address of the device.
 *
 * expect: MEMORY-HOST-FAULT
 * origin: fault add_up
 * origin: made make_table
 * says: the host
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
    printf("%d\n", add_up((const unsigned char *)table));
    MUST(cuMemFree(table));
    leave_gpu(0);
    return 0;
}
