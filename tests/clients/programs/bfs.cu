/* Breadth first search from queues of nodes: an atomic compare and swap claims a node for the next
 * level. */
#include "program.cuh"

struct graph {
    std::vector<int> starts, edges;
};

static graph make_graph(int nodes, int degree, random_numbers random)
{
    graph made{{0}, {}};
    for (int node = 0; node < nodes; node++) {
        for (uint32_t i = random.below(2 * degree); i > 0; i--)
            made.edges.push_back((int)random.below(nodes));
        made.starts.push_back((int)made.edges.size());
    }
    return made;
}

__global__ void visit(const int *starts, const int *edges, const int *queue, int length, int level,
                      int *levels, int *next, int *next_length)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= length)
        return;
    int node = queue[i];
    for (int edge = starts[node]; edge < starts[node + 1]; edge++)
        if (atomicCAS(levels + edges[edge], -1, level) == -1)
            next[atomicAdd(next_length, 1)] = edges[edge];
}

int main()
{
    const int nodes = 4000;
    graph g = make_graph(nodes, 3, random_numbers(20));
    std::vector<int> expected(nodes, -1), line{0};
    expected[0] = 0;
    for (size_t i = 0; i < line.size(); i++)
        for (int edge = g.starts[line[i]]; edge < g.starts[line[i] + 1]; edge++)
            if (expected[g.edges[edge]] < 0) {
                expected[g.edges[edge]] = expected[line[i]] + 1;
                line.push_back(g.edges[edge]);
            }
    std::vector<int> levels(nodes, -1);
    levels[0] = 0;
    on_device<int> starts(g.starts), edges(g.edges), there(levels), a(nodes), b(nodes),
        next_length(1);
    int *queue = a, *next = b;
    for (int length = 1, level = 1; length > 0; level++) {
        next_length.write({0});
        visit<<<blocks_for(length, 128), 128>>>(starts, edges, queue, length, level, there, next,
                                                next_length);
        LAUNCHED();
        length = next_length.read()[0];
        std::swap(queue, next);
    }
    same(there.read(), expected, "levels");
    HOLDS(line.size() > nodes / 2);
    return 0;
}
