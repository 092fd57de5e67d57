#include "edges.h"

int main(void)
{
    return edges_run("edges of integers", &integer_rows);
}
