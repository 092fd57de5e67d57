/* Sorting and searching. */

/* A block sorts a power of two. */
extern "C" __global__ void sort_bitonic(int *values)
{
    __shared__ int tile[256];
    int n = 2 * blockDim.x, first = blockIdx.x * n;
    tile[threadIdx.x] = values[first + threadIdx.x];
    tile[threadIdx.x + blockDim.x] = values[first + threadIdx.x + blockDim.x];
    for (int size = 2; size <= n; size *= 2)
        for (int stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            int low = 2 * threadIdx.x - (threadIdx.x & (stride - 1)), high = low + stride;
            bool up = (low & size) == 0;
            if ((tile[low] > tile[high]) == up) {
                int swapped = tile[low];
                tile[low] = tile[high];
                tile[high] = swapped;
            }
        }
    __syncthreads();
    values[first + threadIdx.x] = tile[threadIdx.x];
    values[first + threadIdx.x + blockDim.x] = tile[threadIdx.x + blockDim.x];
}

/* One step over all of memory; the host counts. */
extern "C" __global__ void sort_odd_even(unsigned *values, int n, int first)
{
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + first;
    if (i + 1 >= n)
        return;
    unsigned a = values[i], b = values[i + 1];
    values[i] = min(a, b);
    values[i + 1] = max(a, b);
}

/* Radix 2 within a block: each bit splits stably. */
extern "C" __global__ void sort_radix(unsigned *keys, unsigned char *values, int n, int bits)
{
    __shared__ unsigned key[128], zeros[129];
    __shared__ unsigned char value[128];
    int t = threadIdx.x;
    unsigned mine = t < n ? keys[t] : 0xffffffff;
    unsigned char own = t < n ? values[t] : 0;
    for (int bit = 0; bit < bits; bit++) {
        zeros[t + 1] = !(mine >> bit & 1);
        if (t == 0)
            zeros[0] = 0;
        __syncthreads();
        for (unsigned by = 1; by < blockDim.x; by *= 2) {
            unsigned other = t + 1 > by ? zeros[t + 1 - by] : 0;
            __syncthreads();
            zeros[t + 1] += other;
            __syncthreads();
        }
        unsigned to = mine >> bit & 1 ? zeros[blockDim.x] + t - zeros[t] : zeros[t];
        key[to] = mine;
        value[to] = own;
        __syncthreads();
        mine = key[t];
        own = value[t];
        __syncthreads();
    }
    if (t < n) {
        keys[t] = mine;
        values[t] = own;
    }
}

/* A place for each by counting what is less. */
extern "C" __global__ void sort_by_rank(const double *in, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int rank = 0;
    for (int k = 0; k < n; k++)
        if (in[k] < in[i] || (in[k] == in[i] && k < i))
            rank++;
    out[rank] = in[i];
}

/* Each thread sorts a short array of its own. */
extern "C" __global__ void sort_locally(const short *in, short *out, int each)
{
    short mine[24];
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * each;
    for (int i = 0; i < each; i++) {
        short next = in[first + i];
        int at = i;
        for (; at > 0 && mine[at - 1] > next; at--)
            mine[at] = mine[at - 1];
        mine[at] = next;
    }
    for (int i = 0; i < each; i++)
        out[first + i] = mine[i];
}

/* Merges two sorted rows: each thread finds the place of its output by bisection. */
extern "C" __global__ void merge(const int *a, int a_count, const int *b, int b_count, int *out)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < a_count + b_count;
         i += gridDim.x * blockDim.x) {
        int low = max(0, i - b_count), high = min(i, a_count);
        while (low < high) {
            int middle = (low + high) >> 1;
            if (a[middle] <= b[i - 1 - middle])
                low = middle + 1;
            else
                high = middle;
        }
        bool from_a = low < a_count && (i - low >= b_count || a[low] <= b[i - low]);
        out[i] = from_a ? a[low] : b[i - low];
    }
}
