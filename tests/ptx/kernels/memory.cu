/* Kinds of memory. */
__constant__ float table[17] = {0, 1.5f, -2, 3.25f};
__device__ int counter = 5;
__device__ int rows[3][4] = {{1}, {2, 3}, {4, 5, 6, 7}};
__device__ int *const pointers[2] = {&rows[1][1], &rows[2][3]};
__managed__ int shared_with_host = 40;

extern "C" __global__ void look_up(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int at = (int)in[i];
    float part = in[i] - at;
    out[i] = table[at] * (1 - part) + table[at + 1] * part;
}

extern "C" __global__ void use_variables(int *out)
{
    int old = atomicAdd(&counter, 1);
    out[threadIdx.x] = *pointers[threadIdx.x % 2] * 100 + rows[threadIdx.x % 3][threadIdx.x % 4];
    if (old == 5)
        shared_with_host += counter > 5;
}

/* Three arrays in one piece of dynamic shared memory. */
extern "C" __global__ void share_pieces(const double *in, int *out, int n)
{
    extern __shared__ double pieces[];
    double *values = pieces;
    int *whole = (int *)(values + n);
    char *marks = (char *)(whole + n);
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        values[i] = in[i] * 2;
        whole[i] = (int)in[i];
        marks[i] = in[i] < 0;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int k = (i * 7 + 1) % n;
        out[i] = (int)(values[k] - whole[n - 1 - i]) + marks[k] * 1000;
    }
}

/* As before sm_70: no __syncwarp between the steps. */
extern "C" __global__ void add_without_sync(const int *in, int *out)
{
    __shared__ volatile int part[64];
    int t = threadIdx.x;
    part[t] = in[t];
    part[t + 32] = in[t + 32];
    part[t] += part[t + 32];
    if (t < 16) {
        part[t] += part[t + 16];
        part[t] += part[t + 8];
        part[t] += part[t + 4];
        part[t] += part[t + 2];
        part[t] += part[t + 1];
    }
    if (t == 0)
        *out = part[0];
}

/* A list on the device heap: each thread makes and frees its own. */
struct item {
    int value;
    item *next;
};

extern "C" __global__ void use_heap(int *out)
{
    item *head = nullptr;
    for (int i = 0; i < (int)threadIdx.x % 4 + 1; i++) {
        item *made = (item *)malloc(sizeof(item));
        if (!made)
            return;
        made->value = i * 10 + threadIdx.x;
        made->next = head;
        head = made;
    }
    int sum = 0;
    while (head) {
        item *next = head->next;
        sum = sum * 2 + head->value;
        free(head);
        head = next;
    }
    int *array = new int[5];
    for (int i = 0; i < 5; i++)
        array[i] = sum + i;
    out[threadIdx.x] = array[threadIdx.x % 5];
    delete[] array;
}

/* Copies of any size and alignment. */
extern "C" __global__ void copy_pieces(const char *in, char *out, int room)
{
    const char *from = in + threadIdx.x * room;
    char *to = out + threadIdx.x * room;
    int size = threadIdx.x % (room - 3);
    memset(to, 0x5a, room);
    memcpy(to + threadIdx.x % 3, from, size);
    char fixed[24];
    memcpy(fixed, from, 24);
    for (int i = 0; i < 24; i++)
        to[room - 1] += fixed[(i * 5) % 24] * (i & 1);
}

/* Addresses of all spaces through one function. */
static __device__ __noinline__ int add_from(const int *at, int count)
{
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum = sum * 3 + at[i];
    return sum;
}

__constant__ int constants[4] = {9, 8, 7, 6};

extern "C" __global__ void read_anywhere(const int *in, int *out)
{
    __shared__ int tile[64];
    int mine[4];
    tile[threadIdx.x] = in[threadIdx.x] + 1;
    for (int i = 0; i < 4; i++)
        mine[i] = in[(threadIdx.x * 5 + i) % blockDim.x] * 2;
    __syncthreads();
    const int *spaces[4] = {in + threadIdx.x % 8, tile + threadIdx.x % 16, mine, constants};
    out[threadIdx.x] = add_from(spaces[threadIdx.x % 4], 4);
}

/* Words overlaid with bytes and halves. */
extern "C" __global__ void overlay(const unsigned *in, unsigned *out, int n)
{
    union {
        unsigned word;
        unsigned char bytes[4];
        short halves[2];
    } mine;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    mine.word = in[i];
    mine.bytes[i % 4] ^= 0x81;
    mine.halves[(i + 1) % 2] >>= 3;
    out[i] = mine.word;
}

/* Bits that do not begin at bytes. */
struct packed {
    unsigned first : 5;
    int second : 11;
    unsigned third : 16;
    long long fourth : 37;
};

extern "C" __global__ void pack_bits(packed *all, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    all[i].first += 7;
    all[i].second = -all[i].second;
    all[i].third ^= all[i].first << 9;
    all[i].fourth += (long long)all[i].second << 20;
}
