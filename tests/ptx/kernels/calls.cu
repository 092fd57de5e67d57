/* Functions: not inlined, recursive, by address, virtual; switches, structures by value. */
struct point {
    short x;
    double y;
    char tag[5];
};

static __device__ __noinline__ point turn(point from, int by)
{
    point to = from;
    to.x = (short)(from.x * by);
    to.y = from.y - from.x;
    for (int i = 0; i < 5; i++)
        to.tag[i] = from.tag[(i + by) % 5];
    return to;
}

extern "C" __global__ void pass_structures(point *all, point extra, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    point mine = turn(all[i], i);
    mine.y += turn(extra, 2).y;
    all[i] = mine;
}

static __device__ __noinline__ unsigned fibonacci(unsigned n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static __device__ __noinline__ unsigned ackermann(unsigned m, unsigned n)
{
    if (m == 0)
        return n + 1;
    return ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

extern "C" __global__ void recurse(unsigned *out)
{
    int i = threadIdx.x;
    out[2 * i] = fibonacci(i % 11);
    out[2 * i + 1] = ackermann(i % 3, i % 4);
}

/* Moves of Hanoi's towers, by two functions that call each other. */
static __device__ void move_all(int disks, int from, int to, int *moves, int *count);

static __device__ __noinline__ void move_one(int disk, int from, int to, int *moves, int *count)
{
    moves[(*count)++] = disk * 100 + from * 10 + to;
    if (disk > 1)
        move_all(disk - 1, 3 - from - to, to, moves, count);
}

static __device__ __noinline__ void move_all(int disks, int from, int to, int *moves, int *count)
{
    if (disks > 1)
        move_all(disks - 1, from, 3 - from - to, moves, count);
    move_one(disks, from, to, moves, count);
}

extern "C" __global__ void hanoi(int *moves, int *counts, int room)
{
    int count = 0;
    move_all(1 + threadIdx.x % 5, 0, 2, moves + room * threadIdx.x, &count);
    counts[threadIdx.x] = count;
}

/* Functions by address: the table is constant, or each lane takes another one. */
typedef int (*operation)(int, int);
static __device__ int add(int a, int b) { return a + b; }
static __device__ int subtract(int a, int b) { return a - b; }
static __device__ int multiply(int a, int b) { return a * b; }
static __device__ int keep(int a, int) { return a; }
__device__ operation operations[4] = {add, subtract, multiply, keep};

extern "C" __global__ void call_by_address(const unsigned char *codes, int *out, int length)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, value = i;
    for (int k = 0; k < length; k++)
        value = operations[codes[i * length + k] & 3](value, codes[i * length + k] >> 2);
    out[i] = value;
}

/* Shapes with virtual functions, made by the threads that use them. */
struct shape {
    int size;
    __device__ shape(int size) : size(size) {}
    __device__ virtual int area() const { return 0; }
    __device__ virtual int sides() const { return size ? 1 : 0; }
};
struct square : shape {
    __device__ square(int size) : shape(size) {}
    __device__ int area() const override { return size * size; }
    __device__ int sides() const override { return 4; }
};
struct box : square {
    int height;
    __device__ box(int size, int height) : square(size), height(height) {}
    __device__ int area() const override { return 2 * square::area() + 4 * size * height; }
};

static __device__ __noinline__ int describe(const shape *one)
{
    return one->area() * 10 + one->sides();
}

extern "C" __global__ void call_virtually(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    shape plain(i);
    square flat(i % 7);
    box tall(i % 5, i % 3);
    const shape *all[3] = {&plain, &flat, &tall};
    out[i] = describe(all[i % 3]) - describe(all[(i + 1) % 3]);
}

/* A machine of bytes: a switch in a loop, with cases that fall through. */
extern "C" __global__ void run_machine(const unsigned char *code, int length, int *out)
{
    int stack[8], top = 0, a = threadIdx.x;
    for (int at = 0; at < length; at++) {
        switch (code[(at + threadIdx.x * 3) % length] % 11) {
        case 0:
            a += 3;
            break;
        case 1:
            a *= 7;
            break;
        case 2:
            a ^= at;
        case 3:
            if (top < 8)
                stack[top++] = a;
            break;
        case 4:
            if (top > 0)
                a -= stack[--top];
            break;
        case 5:
            a = (int)((unsigned)a >> 3);
            break;
        case 6:
            at += a & 1;
            break;
        case 7:
            a = -a;
            break;
        case 8:
            a = top > 1 ? stack[top - 2] : 99;
            break;
        default:
            a++;
        }
    }
    out[threadIdx.x] = a * 10 + top;
}

/* Parameters of all sizes in one kernel. */
struct settings {
    char letter;
    long long number;
    float scale[3];
    unsigned char last;
};

extern "C" __global__ void take_parameters(char a, short b, int c, long long d, float e, double f,
                                           settings g, bool h, double *out)
{
    out[threadIdx.x] = a + b + c + (double)d + e + f + g.letter + (double)g.number +
                       g.scale[threadIdx.x % 3] + g.last + (h ? 1000 : 0);
}
