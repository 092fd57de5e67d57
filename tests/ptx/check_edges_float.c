#include "edges.h"

int main(void)
{
    return edges_run("edges of floats", &float_rows);
}
