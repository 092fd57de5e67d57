/*
 * A random mix of Runtime API calls by many threads. Each thread knows what device it set, what its
 * last error is, and what is in its memory; one device is reset again and again.
 *
 *   mix [--seconds N] [--threads T] [--seed S]
 */
#include "client.h"
#include "random.h"

#include "../standin/client.h"
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

enum { DEVICES = 3, RESET_DEVICE = 3, BLOCKS = 12, MOST_WORDS = 600, MOST_THREADS = 256,
       MOST_COMPLAINTS = 4 };

typedef enum block_kind { FREE, DEVICE, MANAGED, PINNED, POOLED, BLOCK_KINDS } block_kind;

typedef struct block {
    block_kind kind;
    int device;
    size_t words;
    uint32_t *memory;
    uint32_t expected[MOST_WORDS];
} block;

typedef struct actor {
    int number, device;
    uint64_t random;
    cxr_error last_error;
    CUstream streams[DEVICES];
    block blocks[BLOCKS];
    uint32_t host[MOST_WORDS];
    char notes[8][120]; /* of the latest calls */
    unsigned long calls;
} actor;

static code_add adds;
static atomic_bool is_over;
static atomic_int failures;

/* A wait for all work of a device, and a reset, are none of a capture's neighbours. */
static pthread_rwlock_t capturing = PTHREAD_RWLOCK_INITIALIZER;

__attribute__((format(printf, 2, 3))) static void note(actor *self, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(self->notes[self->calls++ % 8], sizeof self->notes[0], format, arguments);
    va_end(arguments);
}

__attribute__((format(printf, 2, 3))) static void complain(actor *self, const char *format, ...)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    char text[300];
    va_list arguments;
    atomic_store(&is_over, true);
    if (atomic_fetch_add(&failures, 1) >= MOST_COMPLAINTS)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    pthread_mutex_lock(&lock);
    printf("# thread %d, call %lu, device %d: %s\n", self->number, self->calls, self->device, text);
    for (unsigned long i = self->calls < 8 ? 0 : self->calls - 8; i < self->calls; i++)
        printf("#   %s\n", self->notes[i % 8]);
    pthread_mutex_unlock(&lock);
}

static void expect(actor *self, const char *call, cxr_error error, cxr_error wanted)
{
    note(self, "%s: %d", call, error);
    if (error != wanted)
        complain(self, "%s gave %s, not %s", call, cudaGetErrorName(error),
                 cudaGetErrorName(wanted));
    if (error != CXR_SUCCESS)
        self->last_error = error;
}
#define EXPECT(call, wanted) expect(self, #call, call, wanted)
#define OK(call) EXPECT(call, CXR_SUCCESS)

static unsigned int pick(actor *self, unsigned int below)
{
    return (unsigned int)((next_random(&self->random) >> 33) % below);
}

static void set_device(actor *self, int device)
{
    OK(cudaSetDevice(device));
    self->device = device;
}

static block *pick_block(actor *self, bool wants_free)
{
    unsigned int first = pick(self, BLOCKS);
    for (unsigned int i = 0; i < BLOCKS; i++) {
        block *each = &self->blocks[(first + i) % BLOCKS];
        if ((each->kind == FREE) == wants_free)
            return each;
    }
    return NULL;
}

/* The block, with its device set. */
static block *use_block(actor *self)
{
    block *found = pick_block(self, false);
    if (found != NULL && found->device != self->device)
        set_device(self, found->device);
    return found;
}

/* Of the three default streams and the thread's own: waited for at once, so that the order is none
 * of the mix's concern. */
static CUstream pick_stream(actor *self)
{
    const CUstream streams[] = {NULL, CXU_STREAM_LEGACY, CXU_STREAM_PER_THREAD,
                                self->streams[self->device]};
    return streams[pick(self, 4)];
}

/* ---- operations ---- */

static void op_alloc(actor *self)
{
    block *made = pick_block(self, true);
    if (made == NULL)
        return;
    made->device = self->device;
    made->words = 1 + pick(self, MOST_WORDS);
    block_kind kind = 1 + pick(self, BLOCK_KINDS - 1);
    void **place = (void **)&made->memory;
    size_t bytes = made->words * sizeof(uint32_t);
    CUstream stream = self->streams[self->device];
    switch (kind) {
    case MANAGED:
        OK(cudaMallocManaged(place, bytes, 1));
        break;
    case PINNED:
        OK(cudaHostAlloc(place, bytes, CXU_MEMHOSTALLOC_PORTABLE));
        break;
    case POOLED:
        OK(cudaMallocAsync(place, bytes, stream));
        OK(cudaStreamSynchronize(stream));
        break;
    default:
        OK(cudaMalloc(place, bytes));
    }
    unsigned char value = (unsigned char)pick(self, 256);
    OK(cudaMemset(made->memory, value, bytes));
    OK(cudaStreamSynchronize(NULL));
    memset(made->expected, value, sizeof made->expected);
    made->kind = kind;
}

static void op_free(actor *self)
{
    block *old = use_block(self);
    if (old == NULL)
        return;
    if (old->kind == PINNED)
        OK(cudaFreeHost(old->memory));
    else if (old->kind == POOLED && pick(self, 2))
        OK(cudaFreeAsync(old->memory, self->streams[self->device]));
    else
        OK(cudaFree(old->memory));
    old->kind = FREE;
}

static void op_read(actor *self)
{
    block *of = use_block(self);
    if (of == NULL)
        return;
    CUstream stream = pick_stream(self);
    size_t bytes = of->words * sizeof(uint32_t);
    memset(self->host, 0x5a, sizeof self->host);
    if (pick(self, 2))
        OK(cudaMemcpy(self->host, of->memory, bytes, CXR_COPY_DEFAULT));
    else
        OK(cudaMemcpyAsync(self->host, of->memory, bytes, CXR_COPY_DEFAULT, stream));
    OK(cudaStreamSynchronize(stream));
    for (size_t i = 0; i < of->words; i++)
        if (self->host[i] != of->expected[i]) {
            complain(self, "word %zu of a block of kind %d is %u, not %u", i, of->kind,
                     self->host[i], of->expected[i]);
            return;
        }
}

static void op_write(actor *self)
{
    block *of = use_block(self);
    if (of == NULL)
        return;
    CUstream stream = pick_stream(self);
    uint32_t value = pick(self, 1 << 30);
    for (size_t i = 0; i < of->words; i++)
        of->expected[i] = self->host[i] = value + (uint32_t)i;
    OK(cudaMemcpyAsync(of->memory, self->host, of->words * sizeof(uint32_t), CXR_COPY_DEFAULT,
                       stream));
    OK(cudaStreamSynchronize(stream));
}

static void op_fill(actor *self)
{
    block *of = use_block(self);
    if (of == NULL)
        return;
    CUstream stream = pick_stream(self);
    unsigned char value = (unsigned char)pick(self, 256);
    size_t words = 1 + pick(self, (unsigned int)of->words);
    OK(cudaMemsetAsync(of->memory, value, words * sizeof(uint32_t), stream));
    OK(cudaStreamSynchronize(stream));
    memset(of->expected, value, words * sizeof(uint32_t));
}

static void op_copy(actor *self)
{
    block *from = use_block(self), *to = pick_block(self, false);
    if (from == NULL || from == to)
        return;
    size_t words = from->words < to->words ? from->words : to->words;
    bool are_devices = (from->kind == DEVICE) & (to->kind == DEVICE);
    if (are_devices)
        OK(cudaMemcpyPeer(to->memory, to->device, from->memory, from->device,
                          words * sizeof(uint32_t)));
    else
        OK(cudaMemcpy(to->memory, from->memory, words * sizeof(uint32_t), CXR_COPY_DEFAULT));
    pthread_rwlock_wrlock(&capturing);
    OK(cudaDeviceSynchronize());
    pthread_rwlock_unlock(&capturing);
    memcpy(to->expected, from->expected, words * sizeof(uint32_t));
}

static void launch(actor *self, block *of, CUstream stream)
{
    uint32_t count = (uint32_t)of->words, value = pick(self, 1000);
    void *arguments[] = {&of->memory, &count, &value};
    cxr_dim3 grid = {(count + 63) / 64, 1, 1}, block_size = {64, 1, 1};
    if (pick(self, 2)) {
        CUkernel kernel;
        OK(__cudaGetKernel(&kernel, &adds.stub));
        (void)__cudaPushCallConfiguration(grid, block_size, 0, stream);
        size_t shared_bytes;
        OK(__cudaPopCallConfiguration(&grid, &block_size, &shared_bytes, &stream));
        OK(__cudaLaunchKernel(kernel, grid, block_size, arguments, shared_bytes, stream));
    } else {
        OK(cudaLaunchKernel(&adds.stub, grid, block_size, arguments, 0, stream));
    }
    for (size_t i = 0; i < of->words; i++)
        of->expected[i] += value;
}

static void op_launch(actor *self)
{
    block *of = use_block(self);
    if (of == NULL)
        return;
    CUstream stream = pick_stream(self);
    launch(self, of, stream);
    OK(cudaStreamSynchronize(stream));
}

static void op_graph(actor *self)
{
    block *of = use_block(self);
    if (of == NULL)
        return;
    CUstream stream = self->streams[self->device];
    CUgraph graph;
    CUgraphExec exec;
    pthread_rwlock_rdlock(&capturing);
    OK(cudaStreamBeginCapture(stream, CXU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    launch(self, of, stream);
    launch(self, of, stream);
    OK(cudaStreamEndCapture(stream, &graph));
    pthread_rwlock_unlock(&capturing);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
}

static void op_device(actor *self)
{
    int device = -1;
    if (pick(self, 2))
        set_device(self, (int)pick(self, DEVICES));
    OK(cudaGetDevice(&device));
    if (device != self->device)
        complain(self, "the device is %d", device);
}

static void op_wrong(actor *self)
{
    void *pointer;
    switch (pick(self, 5)) {
    case 0:
        EXPECT(cudaSetDevice(99), CXR_INVALID_DEVICE);
        break;
    case 1:
        EXPECT(cudaMalloc(NULL, 16), CXR_INVALID_VALUE);
        break;
    case 2:
        EXPECT(cudaMemcpy(self->host, self->host, 4, 9), CXR_INVALID_MEMCPY_DIRECTION);
        break;
    case 3:
        EXPECT(cudaGetSymbolAddress(&pointer, self), CXR_INVALID_SYMBOL);
        break;
    default:
        EXPECT(cudaStreamDestroy(NULL), CXR_INVALID_RESOURCE_HANDLE);
    }
}

static void op_last_error(actor *self)
{
    cxr_error peeked = cudaPeekAtLastError(), got = CXR_SUCCESS;
    bool gets = pick(self, 2);
    if (gets)
        got = cudaGetLastError();
    note(self, "last error: %d", peeked);
    if (peeked != self->last_error || (gets && got != peeked))
        complain(self, "the last error is %d, then %d, not %d", peeked, got, self->last_error);
    if (gets)
        self->last_error = CXR_SUCCESS;
}

static void op_pointer(actor *self)
{
    static const cxr_memory_type types[BLOCK_KINDS] = {[DEVICE] = CXR_MEMORY_DEVICE,
                                                       [MANAGED] = CXR_MEMORY_MANAGED,
                                                       [PINNED] = CXR_MEMORY_HOST,
                                                       [POOLED] = CXR_MEMORY_DEVICE};
    cxr_pointer_attributes found = {.device = -1};
    block *of = pick_block(self, false);
    if (of == NULL)
        return;
    OK(cudaPointerGetAttributes(&found, of->memory));
    if (found.type != types[of->kind] || (of->kind == DEVICE && found.device != of->device))
        complain(self, "the pointer is of type %d and device %d", found.type, found.device);
}

static void op_event(actor *self)
{
    CUevent event;
    CUstream stream = pick_stream(self), other = self->streams[self->device];
    OK(cudaEventCreateWithFlags(&event, CXU_EVENT_DISABLE_TIMING));
    OK(cudaEventRecord(event, stream));
    OK(cudaStreamWaitEvent(other, event, 0));
    OK(cudaStreamSynchronize(other));
    OK(cudaEventQuery(event));
    OK(cudaEventDestroy(event));
}

/* Code that comes and goes, as with a library that is opened and closed. */
static void op_code(actor *self)
{
    code_add *own = calloc(1, sizeof *own);
    uint32_t count = 0, value = 0, *nothing = NULL;
    void *arguments[] = {&nothing, &count, &value};
    const cxr_dim3 one = {1, 1, 1};
    if (own == NULL)
        return;
    code_add_register(own);
    OK(cudaLaunchKernel(&own->stub, one, one, arguments, 0, NULL));
    OK(cudaStreamSynchronize(NULL));
    __cudaUnregisterFatBinary(own->binary);
    EXPECT(cudaLaunchKernel(&own->stub, one, one, arguments, 0, NULL), CXR_INVALID_DEVICE_FUNCTION);
    free(own);
}

/* Other code pushes a context, in which the calls are then. */
static void op_foreign(actor *self)
{
    int device = -1, other = (int)pick(self, DEVICES);
    CUcontext context, popped = NULL;
    void *pointer = NULL;
    if (cuDevicePrimaryCtxRetain(&context, other) != CXU_SUCCESS ||
        cuCtxPushCurrent_v2(context) != CXU_SUCCESS)
        complain(self, "no primary context of %d", other);
    OK(cudaGetDevice(&device));
    OK(cudaMalloc(&pointer, 64));
    OK(cudaFree(pointer));
    if (cuCtxPopCurrent_v2(&popped) != CXU_SUCCESS || popped != context || device != other)
        complain(self, "the device in a context of %d is %d", other, device);
    if (cuDevicePrimaryCtxRelease_v2(other) != CXU_SUCCESS)
        complain(self, "the primary context of %d is not released", other);
}

/* The device that is reset by the first thread: its memory may be gone at any time. */
static void op_reset_device(actor *self)
{
    int before = self->device;
    uint32_t count = 0, value = 0, *pointer = NULL;
    void *arguments[] = {&pointer, &count, &value};
    if (self->number == 0)
        pthread_rwlock_wrlock(&capturing);
    cxr_error error = cudaSetDevice(RESET_DEVICE);
    note(self, "on the device that is reset: %d", error);
    (void)cudaMalloc((void **)&pointer, 256);
    (void)cudaLaunchKernel(&adds.stub, (cxr_dim3){1, 1, 1}, (cxr_dim3){1, 1, 1}, arguments, 0,
                           NULL);
    (void)cudaStreamSynchronize(NULL);
    (void)cudaFree(pointer);
    if (self->number == 0) {
        OK(cudaDeviceReset());
        pthread_rwlock_unlock(&capturing);
    }
    set_device(self, before);
    (void)cudaGetLastError();
    self->last_error = CXR_SUCCESS;
}

/* ---- graphs, pools, events, IPC, managed memory ---- */

static void count_call(void *argument)
{
    atomic_fetch_add((atomic_int *)argument, 1);
}

/* A chain of nodes: fill, kernel, kernel, host function; with branches that join it. */
static CUgraph make_graph(actor *self, block *of, uint32_t value, unsigned char filled,
                          atomic_int *called)
{
    CUgraph graph;
    CUgraphNode fill, first, second, empty, host;
    uint32_t count = (uint32_t)of->words;
    void *arguments[] = {&of->memory, &count, &value};
    cxr_kernel_node_params kernel = {.function = &adds.stub,
                                     .grid = {(count + 63) / 64, 1, 1},
                                     .block = {64, 1, 1},
                                     .parameters = arguments};
    cxu_memset_node_params bytes = {.destination = (CUdeviceptr)of->memory,
                                    .value = filled,
                                    .element_bytes = 1,
                                    .width = of->words * sizeof(uint32_t),
                                    .height = 1};
    cxu_host_node_params host_params = {count_call, called};
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddMemsetNode(&fill, graph, NULL, 0, &bytes));
    OK(cudaGraphAddKernelNode(&first, graph, &fill, 1, &kernel));
    OK(cudaGraphAddEmptyNode(&empty, graph, NULL, 0));
    OK(cudaGraphAddKernelNode(&second, graph, (CUgraphNode[]){first, empty}, 2, &kernel));
    OK(cudaGraphAddHostNode(&host, graph, &second, 1, &host_params));
    return graph;
}

/* Built, cloned, changed; the graph and, while it runs, the executable one may end early. */
static void op_graph_built(actor *self)
{
    block *of = use_block(self);
    if (of == NULL)
        return;
    CUstream stream = self->streams[self->device];
    unsigned char filled = (unsigned char)pick(self, 256);
    uint32_t value = pick(self, 1000);
    int launches = 1 + (int)pick(self, 3);
    bool updates = pick(self, 2), ends_early = pick(self, 2);
    atomic_int called = 0;
    CUgraph graph = make_graph(self, of, value, filled, &called), clone;
    CUgraphExec exec;
    OK(cudaGraphClone(&clone, graph));
    OK(cudaGraphDestroy(graph));
    OK(cudaGraphInstantiate(&exec, clone, 0));
    OK(cudaGraphDestroy(clone));
    if (updates) {
        cxu_graph_exec_update_result_info info;
        CUgraph other = make_graph(self, of, ++value, ++filled, &called);
        OK(cudaGraphExecUpdate(exec, other, &info));
        OK(cudaGraphDestroy(other));
    }
    if (pick(self, 2))
        OK(cudaGraphUpload(exec, stream));
    for (int i = 0; i < launches; i++)
        OK(cudaGraphLaunch(exec, stream));
    if (ends_early)
        OK(cudaGraphExecDestroy(exec));
    OK(cudaStreamSynchronize(stream));
    if (!ends_early)
        OK(cudaGraphExecDestroy(exec));
    if (atomic_load(&called) != launches)
        complain(self, "%d launches called the host %d times", launches, atomic_load(&called));
    for (size_t i = 0; i < of->words; i++)
        of->expected[i] = filled * 0x01010101U + 2 * value;
}

/* Nodes that allocate and free. */
static void op_graph_memory(actor *self)
{
    CUstream stream = self->streams[self->device];
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode nodes[3];
    uint32_t value = pick(self, 1 << 30), found = 0;
    cxu_mem_alloc_node_params params = {
        .pool = {.type = CXU_MEM_ALLOCATION_TYPE_PINNED,
                 .location = {CXU_MEM_LOCATION_TYPE_DEVICE, self->device}},
        .bytes = 4 + 4 * pick(self, 5000)};
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddMemAllocNode(&nodes[0], graph, NULL, 0, &params));
    void *memory = (void *)(uintptr_t)params.address;
    OK(cudaGraphAddMemcpyNode1D(&nodes[1], graph, &nodes[0], 1, memory, &value, 4,
                                CXR_COPY_DEFAULT));
    OK(cudaGraphAddMemcpyNode1D(&nodes[2], graph, &nodes[1], 1, &found, memory, 4,
                                CXR_COPY_DEFAULT));
    OK(cudaGraphAddMemFreeNode(&nodes[0], graph, &nodes[2], 1, memory));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 2; i++) {
        found = 0;
        OK(cudaGraphLaunch(exec, stream));
        OK(cudaStreamSynchronize(stream));
        if (found != value)
            complain(self, "the graph's own memory has %u, not %u", found, value);
    }
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    if (pick(self, 4) == 0)
        OK(cudaDeviceGraphMemTrim(self->device));
}

/* A pool of the thread's own, which may end before its memory does. */
static void op_pool(actor *self)
{
    CUstream stream = self->streams[self->device];
    cxu_mem_pool_properties properties = {
        .type = CXU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {CXU_MEM_LOCATION_TYPE_DEVICE, self->device}};
    CUmemoryPool pool;
    uint32_t *memory[3], value = pick(self, 1 << 30), found = 0;
    uint64_t threshold = pick(self, 1 << 20);
    bool ends_early = pick(self, 2);
    OK(cudaMemPoolCreate(&pool, &properties));
    OK(cudaMemPoolSetAttribute(pool, CXU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
    for (int i = 0; i < 3; i++)
        OK(cudaMallocFromPoolAsync((void **)&memory[i], 4 + pick(self, 100000), pool, stream));
    OK(cudaFreeAsync(memory[1], stream));
    OK(cudaMemcpyAsync(memory[0], &value, 4, CXR_COPY_DEFAULT, stream));
    OK(cudaMemcpyAsync(memory[2], memory[0], 4, CXR_COPY_DEFAULT, stream));
    OK(cudaMemcpyAsync(&found, memory[2], 4, CXR_COPY_DEFAULT, stream));
    OK(cudaFreeAsync(memory[0], stream));
    if (ends_early)
        OK(cudaMemPoolDestroy(pool));
    OK(cudaStreamSynchronize(stream));
    OK(cudaFreeAsync(memory[2], stream));
    if (!ends_early) {
        OK(cudaMemPoolTrimTo(pool, pick(self, 1 << 20)));
        OK(cudaMemPoolDestroy(pool));
    }
    OK(cudaStreamSynchronize(stream));
    if (found != value)
        complain(self, "memory of a pool has %u, not %u", found, value);
}

/* A process cannot open its own memory, but its own event. */
static void op_ipc(actor *self)
{
    cxu_ipc_mem_handle memory;
    cxu_ipc_event_handle shared;
    CUevent event, opened;
    void *pointer;
    CUstream stream = self->streams[self->device];
    OK(cudaMalloc(&pointer, 64 + pick(self, 1000)));
    OK(cudaIpcGetMemHandle(&memory, pointer));
    OK(cudaFree(pointer));
    OK(cudaEventCreateWithFlags(&event,
                                CXU_EVENT_DISABLE_TIMING | CXU_EVENT_INTERPROCESS));
    OK(cudaIpcGetEventHandle(&shared, event));
    OK(cudaEventRecord(event, stream));
    (void)cudaIpcOpenMemHandle(&pointer, memory, 1); /* of memory that has ended */
    cxr_error error = cudaIpcOpenEventHandle(&opened, shared);
    if (error == CXR_SUCCESS)
        OK(cudaEventDestroy(opened));
    (void)cudaGetLastError();
    self->last_error = CXR_SUCCESS;
    OK(cudaEventDestroy(event));
    OK(cudaStreamSynchronize(stream));
}

/* Advice and prefetches change no value. */
static void op_managed(actor *self)
{
    block *of = use_block(self);
    if (of == NULL || of->kind != MANAGED)
        return;
    const cxu_mem_location here = {CXU_MEM_LOCATION_TYPE_DEVICE, self->device},
                           host = {CXU_MEM_LOCATION_TYPE_HOST, 0};
    size_t bytes = of->words * sizeof(uint32_t);
    CUstream stream = self->streams[self->device];
    OK(cudaMemAdvise(of->memory, bytes, CXU_MEM_ADVISE_SET_READ_MOSTLY, here));
    OK(cudaMemPrefetchAsync(of->memory, bytes, pick(self, 2) ? here : host, 0, stream));
    OK(cudaMemAdvise(of->memory, bytes, CXU_MEM_ADVISE_UNSET_READ_MOSTLY, here));
    OK(cudaStreamSynchronize(stream));
    for (size_t i = 0; i < of->words; i++)
        if (of->memory[i] != of->expected[i]) {
            complain(self, "managed word %zu is %u, not %u", i, of->memory[i], of->expected[i]);
            return;
        }
}

/* Memory of the program's own, registered for a while. */
static void op_registered(actor *self)
{
    CUstream stream = self->streams[self->device];
    size_t bytes = 4096 * (1 + pick(self, 4));
    uint32_t *own = aligned_alloc(4096, bytes), *there;
    if (own == NULL)
        return;
    OK(cudaHostRegister(own, bytes, CXU_MEMHOSTREGISTER_PORTABLE));
    OK(cudaHostGetDevicePointer((void **)&there, own, 0));
    OK(cudaMemsetAsync(there, 7, bytes, stream));
    OK(cudaStreamSynchronize(stream));
    if (own[bytes / 4 - 1] != 0x07070707)
        complain(self, "registered memory has %u", own[bytes / 4 - 1]);
    OK(cudaHostUnregister(own));
    free(own);
}

/* A stream that ends with work in it, and a thread that ends with it. */
static void *work_for_a_while(void *argument)
{
    actor *self = argument;
    block *of = pick_block(self, false);
    CUstream stream;
    int least, greatest;
    set_device(self, of != NULL ? of->device : self->device);
    OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    OK(cudaStreamCreateWithPriority(&stream, CXU_STREAM_NON_BLOCKING, greatest));
    if (of != NULL) {
        uint32_t count = (uint32_t)of->words, value = pick(self, 1000);
        void *arguments[] = {&of->memory, &count, &value};
        cxu_launch_attribute cooperative = {.id = CXU_LAUNCH_ATTRIBUTE_COOPERATIVE,
                                            .value = {.number = 1}};
        cxr_launch_config config = {.grid = {(count + 63) / 64, 1, 1},
                                    .block = {64, 1, 1},
                                    .stream = stream,
                                    .attributes = &cooperative,
                                    .attribute_count = 1};
        CUevent event;
        OK(cudaEventCreate(&event));
        OK(cudaLaunchKernelExC(&config, &adds.stub, arguments));
        OK(cudaEventRecord(event, stream));
        OK(cudaStreamDestroy(stream));
        OK(cudaEventSynchronize(event));
        OK(cudaEventDestroy(event));
        for (size_t i = 0; i < of->words; i++)
            of->expected[i] += value;
    } else {
        OK(cudaStreamDestroy(stream));
    }
    return NULL;
}

/* Another thread does a part; its last error and its device are its own. */
static void op_thread(actor *self)
{
    pthread_t thread;
    int before = self->device;
    cxr_error error = self->last_error;
    self->last_error = CXR_SUCCESS;
    if (pthread_create(&thread, NULL, work_for_a_while, self) == 0)
        (void)pthread_join(thread, NULL);
    self->device = before;
    self->last_error = error;
}

/* All of it on the device that is reset at any moment: each call may fail, and none does harm. */
static void op_chaos(actor *self)
{
    int before = self->device;
    uint32_t count = 0, value = 1, *pooled = NULL; /* the kernel touches nothing */
    void *arguments[] = {&pooled, &count, &value};
    CUstream stream = NULL;
    CUevent event = NULL;
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUmemoryPool pool = NULL;
    CUgraphNode node;
    cxr_kernel_node_params params = {
        .function = &adds.stub, .grid = {1, 1, 1}, .block = {16, 1, 1}, .parameters = arguments};
    cxu_mem_pool_properties properties = {
        .type = CXU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {CXU_MEM_LOCATION_TYPE_DEVICE, RESET_DEVICE}};
    pthread_rwlock_rdlock(&capturing); /* no reset between these two */
    cxr_error error = cudaSetDevice(RESET_DEVICE);
    error |= cudaStreamCreateWithFlags(&stream, CXU_STREAM_NON_BLOCKING);
    pthread_rwlock_unlock(&capturing);
    note(self, "chaos: %d", error);
    if (error == CXR_SUCCESS) {
        (void)cudaEventCreateWithFlags(&event, CXU_EVENT_DISABLE_TIMING);
        (void)cudaMemPoolCreate(&pool, &properties);
        (void)cudaMallocFromPoolAsync((void **)&pooled, 256, pool, stream);
        if (cudaGraphCreate(&graph, 0) == CXR_SUCCESS && pooled != NULL &&
            cudaGraphAddKernelNode(&node, graph, NULL, 0, &params) == CXR_SUCCESS &&
            cudaGraphInstantiate(&exec, graph, 0) == CXR_SUCCESS)
            for (int i = 0; i < 3; i++)
                (void)cudaGraphLaunch(exec, stream);
        (void)cudaEventRecord(event, stream);
        (void)cudaStreamWaitEvent(self->streams[before], event, 0);
        (void)cudaFreeAsync(pooled, stream);
        (void)cudaStreamSynchronize(stream);
        (void)cudaMemPoolDestroy(pool);
        if (exec != NULL)
            (void)cudaGraphExecDestroy(exec);
        if (graph != NULL)
            (void)cudaGraphDestroy(graph);
        (void)cudaEventDestroy(event);
        (void)cudaStreamDestroy(stream);
    }
    set_device(self, before);
    (void)cudaGetLastError();
    self->last_error = CXR_SUCCESS;
}

typedef void operation(actor *self);

static operation *const operations[] = {
    op_alloc,  op_alloc,  op_free,   op_read,    op_read,        op_write,      op_fill,
    op_copy,   op_launch, op_launch, op_graph,   op_wrong,       op_last_error, op_pointer,
    op_device, op_event,  op_code,   op_foreign, op_reset_device, op_graph_built, op_graph_memory,
    op_pool,   op_ipc,    op_managed, op_registered, op_thread, op_chaos};

/* ---- the run ---- */

static void *act(void *argument)
{
    actor *self = argument;
    for (int device = 0; device < DEVICES; device++) {
        set_device(self, device);
        OK(cudaStreamCreateWithFlags(&self->streams[device], CXU_STREAM_NON_BLOCKING));
    }
    set_device(self, 0);
    while (!atomic_load(&is_over))
        operations[pick(self, sizeof operations / sizeof operations[0])](self);
    if (atomic_load(&failures) != 0)
        return NULL;
    for (block *old; (old = pick_block(self, false)) != NULL;) {
        set_device(self, old->device);
        if (old->kind == PINNED)
            OK(cudaFreeHost(old->memory));
        else
            OK(cudaFree(old->memory));
        old->kind = FREE;
    }
    for (int device = 0; device < DEVICES; device++)
        OK(cudaStreamDestroy(self->streams[device]));
    return NULL;
}

static unsigned long option(int count, char **arguments, const char *name, unsigned long otherwise)
{
    for (int i = 1; i + 1 < count; i++)
        if (strcmp(arguments[i], name) == 0)
            return strtoul(arguments[i + 1], NULL, 0);
    return otherwise;
}

int main(int count, char **arguments)
{
    const char *extent = getenv("CTXRT_TEST_EXTENT");
    bool is_soak = extent != NULL && strcmp(extent, "soak") == 0;
    unsigned long seconds = option(count, arguments, "--seconds", is_soak ? 240 : 3);
    unsigned long threads = option(count, arguments, "--threads", 8);
    unsigned long seed = option(count, arguments, "--seed", (unsigned long)time(NULL));
    pthread_t running[MOST_THREADS];
    unsigned long calls = 0, started = 0;
    if (threads == 0 || threads > MOST_THREADS)
        return 2;
    start_with_gpus();
    setenv("CTXRT_LOG", "error", 1);
    code_add_register(&adds);
    actor *actors = calloc(threads, sizeof *actors);
    if (actors == NULL)
        return 2;
    printf("1..1\n# seed %lu, %lu threads, %lu s\n", seed, threads, seconds);
    fflush(stdout);
    for (; started < threads; started++) {
        actors[started].number = (int)started;
        actors[started].random = (seed + 1) * 0x9e3779b97f4a7c15ULL + started * 77 + 1;
        if (pthread_create(&running[started], NULL, act, &actors[started]) != 0)
            break;
    }
    for (unsigned long i = 0; i < seconds * 10 && !atomic_load(&is_over); i++)
        nanosleep(&(struct timespec){0, 100000000}, NULL);
    atomic_store(&is_over, true);
    for (unsigned long i = 0; i < started; i++) {
        (void)pthread_join(running[i], NULL);
        calls += actors[i].calls;
    }
    printf("# %lu calls\n", calls);
    free(actors);
    __cudaUnregisterFatBinary(adds.binary);
    bool is_good = started == threads && atomic_load(&failures) == 0;
    printf("%s 1 - every_thread_finds_its_device_its_errors_and_its_memory\n",
           is_good ? "ok" : "not ok");
    return 0;
}
