/* Sparse matrices, graphs, lists. */
extern "C" __global__ void multiply_sparse(const int *rows, const int *columns, const float *values,
                                           const float *x, float *y, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n)
        return;
    float sum = 0;
    for (int k = rows[row]; k < rows[row + 1]; k++)
        sum += values[k] * x[columns[k]];
    y[row] = sum;
}

/* Rows padded to the same length, column by column; -1 ends a row. */
extern "C" __global__ void multiply_padded(const int *columns, const int *values, const int *x,
                                           int *y, int n, int width)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n)
        return;
    int sum = 0;
    for (int k = 0; k < width; k++) {
        int column = columns[k * n + row];
        if (column < 0)
            break;
        sum += values[k * n + row] * x[column];
    }
    y[row] = sum;
}

/* One step of a search in breadth. */
extern "C" __global__ void visit(const int *rows, const int *columns, int *level, int now,
                                 int *changed, int n)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= n || level[node] != now)
        return;
    for (int k = rows[node]; k < rows[node + 1]; k++)
        if (atomicCAS(&level[columns[k]], -1, now + 1) == -1)
            *changed = 1;
}

/* The smallest node that each is connected with: roots are joined by compare-and-swap. */
static __device__ int root_of(const volatile int *parent, int node)
{
    while (parent[node] != node)
        node = parent[node];
    return node;
}

extern "C" __global__ void join_edges(int *parent, const int2 *edges, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int a = edges[i].x, b = edges[i].y;
    for (;;) {
        a = root_of(parent, a);
        b = root_of(parent, b);
        if (a == b)
            return;
        int low = min(a, b), high = max(a, b);
        if (atomicCAS(&parent[high], high, low) == high)
            return;
    }
}

/* Shortest ways by relaxing edges. */
extern "C" __global__ void relax(const int4 *edges, unsigned *distance, int *changed, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int4 edge = edges[i];
        unsigned from = distance[edge.x];
        if (from == 0xffffffffu)
            continue;
        if (atomicMin(&distance[edge.y], from + edge.z) > from + edge.z)
            *changed = 1;
    }
}

/* Lists whose nodes point to each other. */
struct node {
    int value;
    node *next;
};

extern "C" __global__ void sum_lists(node *const *heads, long long *sums, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    long long sum = 0;
    for (const node *at = heads[i]; at; at = at->next)
        sum = sum * 3 + at->value;
    sums[i] = sum;
}
