/* A program of libctxrt for CTXRT_LAYERS=check; with the argument "ordered" its streams are in
 * order. Other arguments name what it does instead. */
#include <ctxrt/ctxrt.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(ctxrt_status status)
{
    if (status == CTXRT_SUCCESS)
        return;
    printf("%s: %s\n", ctxrt_status_name(status), ctxrt_last_error()->message);
    exit(3);
}

__attribute__((noinline, noclone)) static void fill_in_two_streams(ctxrt_memory *memory,
                                                                   bool in_order)
{
    ctxrt_stream *first, *second;
    ctxrt_event *event;
    must(ctxrt_stream_create(0, 0, &first));
    must(ctxrt_stream_create(0, 0, &second));
    must(ctxrt_event_create(0, &event));
    must(ctxrt_fill_async(ctxrt_memory_pointer(memory), 1, 4096, first));
    must(ctxrt_event_record(event, first));
    if (in_order)
        must(ctxrt_stream_wait_event(second, event));
    must(ctxrt_fill_async(ctxrt_memory_pointer(memory), 2, 4096, second));
    must(ctxrt_stream_synchronize(first));
    must(ctxrt_stream_synchronize(second));
    must(ctxrt_event_destroy(event));
    must(ctxrt_stream_destroy(second));
    must(ctxrt_stream_destroy(first));
}

/* None of this is misuse: frames, scopes, memory of two devices, copies between them. */
static void work(void)
{
    static char text[4096] = "to and fro";
    ctxrt_memory *here, *there;
    ctxrt_device now;
    must(CTXRT_DEVICE_SET(CTXRT_CUDA(1)));
    must(ctxrt_memory_alloc(4096, &here));
    {
        CTXRT_SCOPE ctxrt_scope scope = CTXRT_SCOPE_INIT;
        must(CTXRT_SCOPE_ENTER(CTXRT_CUDA(0), &scope));
        must(ctxrt_memory_alloc(4096, &there));
        must(ctxrt_copy(ctxrt_memory_pointer(there), text, sizeof text, CTXRT_COPY_ANY));
        must(ctxrt_copy(ctxrt_memory_pointer(here), ctxrt_memory_pointer(there), sizeof text,
                        CTXRT_COPY_ANY));
        must(ctxrt_memory_release(there));
    }
    memset(text, 0, sizeof text);
    must(ctxrt_copy(text, ctxrt_memory_pointer(here), sizeof text, CTXRT_COPY_ANY));
    must(ctxrt_device_get(&now));
    if (strcmp(text, "to and fro") != 0 || now.index != 1)
        exit(4);
    must(ctxrt_memory_release(here));
}

/* The free waits for the copy. */
static void free_pinned_memory_that_is_copied(void)
{
    ctxrt_memory *memory;
    void *pinned;
    char seen[64];
    must(ctxrt_device_set(CTXRT_CUDA(0)));
    must(ctxrt_memory_alloc(sizeof seen, &memory));
    must(ctxrt_alloc_pinned(sizeof seen, &pinned));
    memset(pinned, 7, sizeof seen);
    must(ctxrt_copy_async(ctxrt_memory_pointer(memory), pinned, sizeof seen,
                          CTXRT_COPY_HOST_TO_DEVICE, NULL));
    must(ctxrt_free(pinned));
    must(ctxrt_copy(seen, ctxrt_memory_pointer(memory), sizeof seen, CTXRT_COPY_DEVICE_TO_HOST));
    if (seen[63] != 7)
        exit(7);
    must(ctxrt_memory_release(memory));
}

/* Memory has the address of what a reset ended. If who had that still writes there, two owners
 * work at one address. */
/* False: the memory after the reset has another address. Other mappings of the process may have
 * taken a part of the first one's. */
__attribute__((noinline, noclone)) static bool fill_on_both_sides_of_a_reset(bool beside)
{
    ctxrt_memory *before, *after;
    ctxrt_stream *first, *second;
    must(ctxrt_device_push(CTXRT_CUDA(0)));
    must(ctxrt_stream_create(CTXRT_STREAM_NON_BLOCKING, 0, &first));
    must(ctxrt_memory_alloc(4096, &before));
    if (!beside)
        must(ctxrt_fill_async(ctxrt_memory_pointer(before), 1, 4096, first));
    must(ctxrt_device_reset(CTXRT_CUDA(0)));
    must(ctxrt_stream_destroy(first));
    must(ctxrt_stream_create(CTXRT_STREAM_NON_BLOCKING, 0, &first));
    must(ctxrt_stream_create(CTXRT_STREAM_NON_BLOCKING, 0, &second));
    must(ctxrt_frame_set_stream(second));
    must(ctxrt_memory_alloc(4096, &after));
    bool same = ctxrt_memory_pointer(after) == ctxrt_memory_pointer(before);
    if (beside && same)
        must(ctxrt_fill_async(ctxrt_memory_pointer(before), 1, 4096, first));
    must(ctxrt_fill_async(ctxrt_memory_pointer(after), 2, 4096, second));
    must(ctxrt_stream_synchronize(first));
    must(ctxrt_stream_synchronize(second));
    must(ctxrt_memory_release(after));
    must(ctxrt_memory_release(before));
    must(ctxrt_stack_pop());
    must(ctxrt_stream_destroy(second));
    must(ctxrt_stream_destroy(first));
    return same;
}

/* A kernel stores through a null pointer; the program prints why it failed. */
__attribute__((noinline, noclone)) static void launch_through_null(void)
{
    static const char code[] =
        ".version 6.3\n.target sm_50\n.address_size 64\n"
        ".visible .entry store()\n{\n    .reg .b64 %rd1;\n"
        "    mov.u64 %rd1, 0;\n    st.global.u64 [%rd1], %rd1;\n    ret;\n}\n";
    ctxrt_launch_config config = CTXRT_LAUNCH_CONFIG_INIT;
    ctxrt_module *module;
    ctxrt_kernel *kernel;
    config.grid[0] = config.block[0] = 1;
    must(ctxrt_device_set(CTXRT_CUDA(0)));
    must(ctxrt_module_load(code, 0, &module));
    must(ctxrt_module_get_kernel(module, "store", &kernel));
    must(ctxrt_launch(&config, kernel, NULL, 0));
    must(ctxrt_device_synchronize());
}

/* ---- threads that end with frames ---- */

static void *set(void *unused)
{
    must(ctxrt_device_set(CTXRT_CUDA(0)));
    return unused;
}

static void *set_twice_over_a_push(void *unused)
{
    must(ctxrt_device_push(CTXRT_CUDA(0)));
    must(ctxrt_device_set(CTXRT_CUDA(1)));
    must(ctxrt_device_set(CTXRT_CUDA(0)));
    return unused;
}

static void *push_over_a_set(void *unused)
{
    must(ctxrt_device_set(CTXRT_CUDA(0)));
    must(ctxrt_device_push(CTXRT_CUDA(0)));
    return unused;
}

typedef struct CUctx_st *native;
typedef int push_call(native context);
typedef int pop_call(native *out_context);

/* Other code leaves two entries where the thread's push had one: a pop is refused, and puts back
 * one of them and the entry of the set. */
static void *set_that_a_refused_pop_puts_back(void *unused)
{
    native first, second, popped;
    void *libcuda = dlopen("libcuda.so.1", RTLD_NOW);
    push_call *push = (push_call *)dlsym(libcuda, "cuCtxPushCurrent_v2");
    pop_call *pop = (pop_call *)dlsym(libcuda, "cuCtxPopCurrent_v2");
    must(ctxrt_device_push(CTXRT_CUDA(0)));
    must(ctxrt_context_native(NULL, &first));
    must(ctxrt_device_set(CTXRT_CUDA(1)));
    must(ctxrt_context_native(NULL, &second));
    if (pop(&popped) != 0 || pop(&popped) != 0 || push(first) != 0 || push(first) != 0 ||
        push(second) != 0 || ctxrt_stack_pop() != CTXRT_ERROR_STACK_MISMATCH)
        exit(5);
    return unused;
}

static void end_thread(void *run(void *unused))
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, NULL) != 0 || pthread_join(thread, NULL) != 0)
        exit(6);
}

static bool ends_threads(const char *how)
{
    static const struct {
        const char *name;
        void *(*run)(void *unused);
    } all[] = {
        {"set", set},
        {"set_twice_over_a_push", set_twice_over_a_push},
        {"push_over_a_set", push_over_a_set},
        {"set_that_a_refused_pop_puts_back", set_that_a_refused_pop_puts_back},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, how) == 0) {
            end_thread(all[i].run);
            return true;
        }
    return false;
}

int main(int argc, char **argv)
{
    ctxrt_memory *memory;
    must(ctxrt_init(NULL));
    if (argc > 1 && strcmp(argv[1], "free_pinned") == 0) {
        free_pinned_memory_that_is_copied();
        return 0;
    }
    if (argc > 1 && strcmp(argv[1], "launch_through_null") == 0)
        launch_through_null();
    if (argc > 1 && strncmp(argv[1], "reset_", 6) == 0) {
        for (int tries = 0; tries < 20; tries++)
            if (fill_on_both_sides_of_a_reset(strcmp(argv[1], "reset_and_write_on") == 0))
                return 0;
        return 8;
    }
    if (argc > 1 && ends_threads(argv[1]))
        return 0;
    work();
    {
        CTXRT_SCOPE ctxrt_scope scope = CTXRT_SCOPE_INIT;
        must(CTXRT_SCOPE_ENTER(CTXRT_CUDA(0), &scope));
        must(ctxrt_memory_alloc(4096, &memory));
        fill_in_two_streams(memory, argc > 1 && strcmp(argv[1], "ordered") == 0);
        must(ctxrt_memory_release(memory));
    }
    puts("done");
    return 0;
}
