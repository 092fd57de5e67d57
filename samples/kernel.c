/*
 * A kernel of its own, from PTX text in the program: loaded into the context of each device there
 * is, the CPU among them, launched, and checked. On a GPU the driver compiles it for that GPU; the
 * CPU, and emulated GPUs, run it as it is.
 *
 *   cc kernel.c $(pkg-config --cflags --libs ctxrt) && CTXRT_DRIVER=emulated ./a.out
 */
#include <ctxrt/ctxrt.h>
#include <stdbool.h>
#include <stdio.h>

#define OK(call) ok((call), #call)
enum { COUNT = 1000, BYTES = COUNT * sizeof(float) };

/* add(a, b, sum, count): what `nvcc -ptx` makes of `if (i < count) sum[i] = a[i] + b[i];` */
static const char add_ptx[] =
    ".version 6.3\n"
    ".target sm_50\n"
    ".address_size 64\n"
    ".visible .entry add(.param .u64 a, .param .u64 b, .param .u64 sum, .param .u32 count)\n"
    "{\n"
    "    .reg .pred %p;\n"
    "    .reg .b32 %r<5>;\n"
    "    .reg .b64 %rd<8>;\n"
    "    .reg .f32 %f<4>;\n"
    "    mov.u32 %r1, %ctaid.x;\n"
    "    mov.u32 %r2, %ntid.x;\n"
    "    mov.u32 %r3, %tid.x;\n"
    "    mad.lo.s32 %r3, %r1, %r2, %r3;\n" /* the index of the thread */
    "    ld.param.u32 %r4, [count];\n"
    "    setp.ge.u32 %p, %r3, %r4;\n"
    "    @%p bra DONE;\n"
    "    ld.param.u64 %rd1, [a];\n"
    "    ld.param.u64 %rd2, [b];\n"
    "    ld.param.u64 %rd3, [sum];\n"
    "    mul.wide.u32 %rd4, %r3, 4;\n"
    "    add.s64 %rd5, %rd1, %rd4;\n"
    "    add.s64 %rd6, %rd2, %rd4;\n"
    "    add.s64 %rd7, %rd3, %rd4;\n"
    "    ld.global.f32 %f1, [%rd5];\n"
    "    ld.global.f32 %f2, [%rd6];\n"
    "    add.f32 %f3, %f1, %f2;\n"
    "    st.global.f32 [%rd7], %f3;\n"
    "DONE:\n"
    "    ret;\n"
    "}\n";

static bool ok(ctxrt_status status, const char *call)
{
    if (status != CTXRT_SUCCESS)
        fprintf(stderr, "%s: %s: %s\n", call, ctxrt_status_name(status),
                ctxrt_last_error()->message);
    return status == CTXRT_SUCCESS;
}

typedef struct vectors {
    ctxrt_memory *a, *b, *sum;
} vectors;

static bool make_vectors(vectors *self)
{
    float a[COUNT], b[COUNT];
    for (int i = 0; i < COUNT; i++) {
        a[i] = (float)i;
        b[i] = (float)(2 * i);
    }
    return OK(ctxrt_memory_alloc(BYTES, &self->a)) && OK(ctxrt_memory_alloc(BYTES, &self->b)) &&
           OK(ctxrt_memory_alloc(BYTES, &self->sum)) &&
           OK(ctxrt_copy(ctxrt_memory_pointer(self->a), a, BYTES, CTXRT_COPY_HOST_TO_DEVICE)) &&
           OK(ctxrt_copy(ctxrt_memory_pointer(self->b), b, BYTES, CTXRT_COPY_HOST_TO_DEVICE));
}

static bool free_vectors(vectors *self)
{
    return OK(ctxrt_memory_release(self->a)) && OK(ctxrt_memory_release(self->b)) &&
           OK(ctxrt_memory_release(self->sum));
}

/* The driver gets addresses of the arguments, and reads them before the call returns. */
static bool launch_add(ctxrt_kernel *kernel, const vectors *self)
{
    void *a = ctxrt_memory_pointer(self->a), *b = ctxrt_memory_pointer(self->b);
    void *sum = ctxrt_memory_pointer(self->sum);
    unsigned int count = COUNT;
    void *arguments[] = {&a, &b, &sum, &count};
    ctxrt_occupancy best;
    ctxrt_launch_config config = CTXRT_LAUNCH_CONFIG_INIT;
    if (!OK(ctxrt_kernel_occupancy(kernel, 0, 0, &best)))
        return false;
    config.block[0] = (unsigned int)best.block_threads;
    config.grid[0] = (COUNT + config.block[0] - 1) / config.block[0];
    return OK(ctxrt_launch(&config, kernel, arguments, 4));
}

static bool check(const vectors *self)
{
    float sum[COUNT];
    int wrong = 0;
    if (!OK(ctxrt_stream_synchronize(NULL)) ||
        !OK(ctxrt_copy(sum, ctxrt_memory_pointer(self->sum), BYTES, CTXRT_COPY_DEVICE_TO_HOST)))
        return false;
    for (int i = 0; i < COUNT; i++)
        wrong += sum[i] != (float)(3 * i);
    printf("%d of %d sums are right, the last is %g\n", COUNT - wrong, COUNT, sum[COUNT - 1]);
    return wrong == 0;
}

static bool add_on(ctxrt_device device)
{
    ctxrt_module *module;
    ctxrt_kernel *kernel;
    vectors self;
    printf("%s:%d: ", ctxrt_device_type_name(device.type), device.index);
    return OK(ctxrt_device_set(device)) && OK(ctxrt_module_load(add_ptx, 0, &module)) &&
           OK(ctxrt_module_get_kernel(module, "add", &kernel)) && make_vectors(&self) &&
           launch_add(kernel, &self) && check(&self) && free_vectors(&self) &&
           OK(ctxrt_module_unload(module));
}

/* The message says what is wrong with the code. */
static void load_nonsense(void)
{
    ctxrt_module *module;
    static const char nonsense[] = ".version 6.3\n.target sm_50\n.address_size 64\nnonsense\n";
    if (ctxrt_module_load(nonsense, 0, &module) != CTXRT_SUCCESS)
        printf("nonsense is refused: %s\n", ctxrt_last_error()->message);
}

int main(void)
{
    int gpus;
    if (!OK(ctxrt_device_count(CTXRT_DEVICE_CUDA, &gpus)) || !add_on(CTXRT_CPU(0)))
        return 1;
    for (int i = 0; i < gpus; i++)
        if (!add_on(CTXRT_CUDA(i)))
            return 1;
    load_nonsense();
    return OK(ctxrt_stack_pop()) && OK(ctxrt_shutdown()) ? 0 : 1;
}
