/* Matrices, row by row. */
#define TILE 16

template <typename number>
static __device__ void multiply_tiles(const number *a, const number *b, number *c, int rows,
                                      int inner, int columns)
{
    __shared__ number left[TILE][TILE], right[TILE][TILE + 1];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    number sum = 0;

    for (int at = 0; at < inner; at += TILE) {
        int x = at + threadIdx.x, y = at + threadIdx.y;
        left[threadIdx.y][threadIdx.x] = row < rows && x < inner ? a[row * inner + x] : 0;
        right[threadIdx.y][threadIdx.x] = y < inner && column < columns ? b[y * columns + column] : 0;
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += left[threadIdx.y][k] * right[k][threadIdx.x];
        __syncthreads();
    }
    if (row < rows && column < columns)
        c[row * columns + column] = sum;
}

extern "C" __global__ void multiply_floats(const float *a, const float *b, float *c, int rows,
                                           int inner, int columns)
{
    multiply_tiles(a, b, c, rows, inner, columns);
}

extern "C" __global__ void multiply_doubles(const double *a, const double *b, double *c, int rows,
                                            int inner, int columns)
{
    multiply_tiles(a, b, c, rows, inner, columns);
}

extern "C" __global__ void multiply_ints(const int *a, const int *b, int *c, int rows, int inner,
                                         int columns)
{
    multiply_tiles(a, b, c, rows, inner, columns);
}

/* Without shared memory; the threads of a block in a plane of odd sizes. */
extern "C" __global__ void multiply_simply(const int *a, const int *b, int *c, int rows, int inner,
                                           int columns)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || column >= columns)
        return;
    int sum = 0;
    for (int k = 0; k < inner; k++)
        sum += a[row * inner + k] * b[k * columns + column];
    c[row * columns + column] = sum;
}

extern "C" __global__ void transpose(const float *in, float *out, int rows, int columns)
{
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (x < columns && y < rows)
        tile[threadIdx.y][threadIdx.x] = in[y * columns + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    if (x < rows && y < columns)
        out[y * rows + x] = tile[threadIdx.x][threadIdx.y];
}

/* A warp for each row. */
extern "C" __global__ void multiply_vector(const int *a, const int *x, int *y, int rows, int columns)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32, sum = 0;
    if (row >= rows)
        return;
    for (int k = lane; k < columns; k += 32)
        sum += a[row * columns + k] * x[k];
    for (int by = 16; by > 0; by /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, by);
    if (lane == 0)
        y[row] = sum;
}

/* Gauss and Jordan, modulo a prime; one block, a thread for each column. */
extern "C" __global__ void invert_modulo(unsigned *all, int n, unsigned prime)
{
    int column = threadIdx.x, columns = 2 * n;
    for (int k = 0; k < n; k++) {
        unsigned pivot = all[k * columns + k], inverse = 1;
        for (unsigned left = prime - 2; left > 0; left /= 2) {
            if (left % 2)
                inverse = (unsigned long long)inverse * pivot % prime;
            pivot = (unsigned long long)pivot * pivot % prime;
        }
        __syncthreads();
        all[k * columns + column] = (unsigned long long)all[k * columns + column] * inverse % prime;
        __syncthreads();
        for (int row = 0; row < n; row++) {
            unsigned factor = all[row * columns + k];
            __syncthreads();
            if (row != k)
                all[row * columns + column] =
                    (all[row * columns + column] +
                     (unsigned long long)(prime - factor) * all[k * columns + column]) % prime;
        }
        __syncthreads();
    }
}
