#include "run.h"

#include <string.h>

enum { NODES = 203, EDGES_MOST = 6 };

typedef struct network {
    int32_t *rows, *columns;
    int count;
} network;

static network make_network(uint32_t most)
{
    network result = {make_memory((NODES + 1) * 4), make_memory(NODES * EDGES_MOST * 4), 0};

    for (int i = 0; i < NODES; i++) {
        for (uint32_t k = below(most + 1); k > 0; k--)
            result.columns[result.count++] = (int32_t)below(NODES);
        result.rows[i + 1] = result.count;
    }
    return result;
}

static void check_multiply_sparse(void)
{
    network all = make_network(EDGES_MOST);
    float *values = make_floats((size_t)all.count), *x = make_floats(NODES);
    float *y = make_memory(NODES * sizeof *y);
    int n = NODES;

    LAUNCH("multiply_sparse", line_over(NODES, 45), VALUE(all.rows), VALUE(all.columns),
           VALUE(values), VALUE(x), VALUE(y), VALUE(n));
    for (int i = 0; i < n; i++) {
        double sum = 0;

        for (int k = all.rows[i]; k < all.rows[i + 1]; k++)
            sum += (double)values[k] * x[all.columns[k]];
        NEAR((size_t)i, y[i], sum, 1e-6);
    }
}

static void check_multiply_padded(void)
{
    int32_t *columns = make_memory(NODES * EDGES_MOST * 4), *values = make_ints(NODES * EDGES_MOST);
    int32_t *x = make_ints(NODES), *y = make_memory(NODES * 4), n = NODES, width = EDGES_MOST;

    for (int i = 0; i < n * width; i++)
        columns[i] = below(4) ? (int32_t)below(NODES) : -1;
    LAUNCH("multiply_padded", line_over(NODES, 50), VALUE(columns), VALUE(values), VALUE(x),
           VALUE(y), VALUE(n), VALUE(width));
    for (int i = 0; i < n; i++) {
        int32_t sum = 0;

        for (int k = i; k < n * width && columns[k] >= 0; k += n)
            sum += values[k] * x[columns[k]];
        SAME((size_t)i, y[i], sum);
    }
}

static void check_visit(void)
{
    network all = make_network(2);
    int32_t *level = make_memory(NODES * 4), *changed = make_memory(4), n = NODES;
    int32_t expected[NODES], queue[NODES], last = 1;

    memset(level, -1, NODES * 4);
    memset(expected, -1, sizeof expected);
    level[0] = expected[0] = queue[0] = 0;
    for (int now = 0; now == 0 || *changed; now++) {
        *changed = 0;
        LAUNCH("visit", line_over(NODES, 64), VALUE(all.rows), VALUE(all.columns), VALUE(level),
               VALUE(now), VALUE(changed), VALUE(n));
    }
    for (int at = 0; at < last; at++)
        for (int k = all.rows[queue[at]]; k < all.rows[queue[at] + 1]; k++)
            if (expected[all.columns[k]] < 0) {
                expected[all.columns[k]] = expected[queue[at]] + 1;
                queue[last++] = all.columns[k];
            }
    for (int i = 0; i < n; i++)
        SAME((size_t)i, level[i], expected[i]);
}

static void check_join_edges(void)
{
    enum { N = 150 };
    int32_t *parent = make_memory(NODES * 4), *edges = make_memory(N * 8), n = N;
    int32_t expected[NODES];
    bool changed = true;

    for (int i = 0; i < NODES; i++)
        parent[i] = expected[i] = i;
    for (int i = 0; i < 2 * N; i++)
        edges[i] = (int32_t)below(NODES);
    LAUNCH("join_edges", line_over(N, 70), VALUE(parent), VALUE(edges), VALUE(n));
    while (changed) {
        changed = false;
        for (int i = 0; i < N; i++) {
            int32_t *a = &expected[edges[2 * i]], *b = &expected[edges[2 * i + 1]];

            changed |= *a != *b;
            *a = *b = *a < *b ? *a : *b;
        }
    }
    for (int i = 0; i < NODES; i++) {
        int root = i;

        while (parent[root] != root)
            root = parent[root];
        SAME((size_t)i, root, expected[i]);
    }
}

static void check_relax(void)
{
    enum { N = 400 };
    int32_t *edges = make_memory(N * 16), *changed = make_memory(4), n = N;
    uint32_t *distance = make_memory(NODES * 4), expected[NODES];

    for (int i = 0; i < N; i++) {
        edges[4 * i] = (int32_t)below(NODES);
        edges[4 * i + 1] = (int32_t)below(NODES);
        edges[4 * i + 2] = (int32_t)below(100);
    }
    memset(distance, -1, NODES * 4);
    memset(expected, -1, sizeof expected);
    distance[3] = expected[3] = 0;
    do {
        *changed = 0;
        LAUNCH("relax", line_over(200, 40), VALUE(edges), VALUE(distance), VALUE(changed),
               VALUE(n));
    } while (*changed);
    for (int round = 0; round < NODES; round++)
        for (int i = 0; i < N; i++) {
            uint32_t from = expected[edges[4 * i]], *to = &expected[edges[4 * i + 1]];
            uint32_t length = (uint32_t)edges[4 * i + 2];

            if (from != UINT32_MAX && from + length < *to)
                *to = from + length;
        }
    for (size_t i = 0; i < NODES; i++)
        SAME(i, distance[i], expected[i]);
}

typedef struct node {
    int32_t value;
    struct node *next;
} node;

static void check_sum_lists(void)
{
    enum { N = 40 };
    node **heads = make_memory(N * sizeof *heads), *all = make_memory(200 * sizeof *all);
    int64_t *sums = make_memory(N * 8);
    int n = N;

    for (int i = 0; i < 200; i++) {
        uint32_t list = below(N - 1);

        all[i] = (node){i * 7, heads[list]};
        heads[list] = &all[i];
    }
    LAUNCH("sum_lists", line_over(N, 13), VALUE(heads), VALUE(sums), VALUE(n));
    for (int i = 0; i < n; i++) {
        int64_t sum = 0;

        for (const node *at = heads[i]; at; at = at->next)
            sum = sum * 3 + at->value;
        SAME((size_t)i, sums[i], sum);
    }
}

static const kernel_case cases[] = {
    {"multiply_sparse", check_multiply_sparse}, {"multiply_padded", check_multiply_padded},
    {"visit", check_visit},                     {"join_edges", check_join_edges},
    {"relax", check_relax},                     {"sum_lists", check_sum_lists},
};
KERNEL_GROUP(graph, cases);
