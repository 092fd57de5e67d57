/* Shortest ways between all pairs, and the node before the last of each way. */
#include "program.cuh"

enum { NODES = 64, NONE = 1 << 20 };

__global__ void through(int *ways, int *last, int middle)
{
    int to = blockIdx.x * blockDim.x + threadIdx.x, from = blockIdx.y * blockDim.y + threadIdx.y;
    /* Neither the row nor the column of the node in the middle gets shorter by it. */
    if (from == middle || to == middle)
        return;
    int way = ways[from * NODES + middle] + ways[middle * NODES + to];
    if (way < ways[from * NODES + to]) {
        ways[from * NODES + to] = way;
        last[from * NODES + to] = last[middle * NODES + to];
    }
}

int main()
{
    random_numbers random(22);
    std::vector<int> ways(NODES * NODES, NONE), last(NODES * NODES, -1);
    for (int from = 0; from < NODES; from++) {
        ways[from * NODES + from] = 0;
        for (int i = 0; i < 4; i++) {
            int to = (int)random.below(NODES);
            if (to == from)
                continue;
            ways[from * NODES + to] = 1 + (int)random.below(50);
            last[from * NODES + to] = from;
        }
    }
    on_device<int> there(ways), befores(last);
    for (int middle = 0; middle < NODES; middle++) {
        through<<<dim3(NODES / 16, NODES / 8), dim3(16, 8)>>>(there, befores, middle);
        LAUNCHED();
    }
    const std::vector<int> edges = ways;
    for (int middle = 0; middle < NODES; middle++)
        for (int from = 0; from < NODES; from++)
            for (int to = 0; to < NODES; to++)
                ways[from * NODES + to] =
                    std::min(ways[from * NODES + to],
                             ways[from * NODES + middle] + ways[middle * NODES + to]);
    for (int &way : ways)
        way = std::min(way, (int)NONE);
    std::vector<int> found = there.read(), before = befores.read();
    same(found, ways, "ways");
    for (int from = 0; from < NODES; from++)
        for (int to = 0; to < NODES; to++)
            if (from != to && ways[from * NODES + to] < NONE) {
                int node = before[from * NODES + to];
                HOLDS(ways[from * NODES + node] + edges[node * NODES + to] ==
                      ways[from * NODES + to]);
            }
    return 0;
}
