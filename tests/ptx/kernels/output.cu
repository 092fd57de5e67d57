/* Output and failures. */
#include <assert.h>
#include <stdio.h>

extern "C" __global__ void print_all(int number, double real)
{
    if (threadIdx.x == 3)
        printf("%d %5u|%-6x|%lld %c%c %s %%\n", -number, number, number, number * 10000000000ll, 'a' + blockIdx.x,
               'z', "text");
    if (threadIdx.x == 4)
        printf("%.3f %g %e %p\n", real, -real, real * 1e10, (void *)0);
}

/* Widths, precisions and flags, from the text and from arguments. */
extern "C" __global__ void print_formats(int n, double real, long long wide)
{
    printf("%*d|%-*d|%+d|% d|%05d|%*d\n", 7, n, 6, n, n, n, n, -8, n);
    printf("%.*f|%10.3e|%-12g|%#x|%#o|%X|%.*f\n", 2, real, real, real, n, n, n, -1, real);
    printf("%ld|%lld|%llu|%hd|%hhu|%li|%llx\n", (long)wide, wide, wide, (short)n, (unsigned char)n, (long)n, wide);
    printf("%5s|%-5s|%.2s|%c|%3c|%%\n", "abc", "abc", "abc", 'x', 'y');
}

extern "C" __global__ void print_in_loop(int n)
{
    for (int i = 0; i < n; i++)
        if (threadIdx.x == i * 2)
            printf("%d of %d\n", i, n);
}

extern "C" __global__ void check_all(const int *in, int *out, int limit)
{
    int value = in[threadIdx.x];
    assert(value < limit);
    out[threadIdx.x] = value;
}

extern "C" __global__ void trap_at(int where)
{
    if ((int)threadIdx.x == where)
        __trap();
}

extern "C" __global__ void write_far(int *out, long long offset)
{
    out[offset] = 1;
}

extern "C" __global__ void write_oddly(char *out)
{
    *(int *)(out + threadIdx.x) = 7;
}

/* Exits early in all ways; what is left counts. */
extern "C" __global__ void leave_early(int *out)
{
    if (threadIdx.x % 5 == 0)
        return;
    if (threadIdx.x % 5 == 1)
        asm volatile("exit;");
    int left = __syncthreads_count(1);
    out[threadIdx.x] = left;
}

/* Clocks go forwards; the identity of a thread is what it should be. */
extern "C" __global__ void look_around(unsigned *out)
{
    long long before = clock64();
    unsigned lane, warp, mask;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
    bool right = lane == threadIdx.x % 32 && warp == threadIdx.x / 32 && mask == (1u << lane) - 1;
    out[threadIdx.x] = right && clock64() >= before && gridDim.x == 2 && warpSize == 32;
}
