#include "operations.h"

static const operation_list *const lists[] = {&stack_operations, &memory_operations,
                                              &graph_operations};

int operation_count(void)
{
    int count = 0;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        count += lists[i]->count;
    return count;
}

const operation *operation_at(int number)
{
    size_t list = 0;
    while (number >= lists[list]->count)
        number -= lists[list++]->count;
    return &lists[list]->operations[number];
}
