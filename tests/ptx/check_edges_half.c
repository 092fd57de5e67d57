#include "edges.h"

int main(void)
{
    return edges_run("edges of halves", &half_rows);
}
