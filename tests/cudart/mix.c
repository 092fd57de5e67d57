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

enum { DEVICES = 3, RESET_DEVICE = 3, BLOCKS = 12, MOST_WORDS = 600, MOST_THREADS = 256 };

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
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    pthread_mutex_lock(&lock);
    printf("# thread %d, call %lu, device %d: %s\n", self->number, self->calls, self->device, text);
    for (unsigned long i = self->calls < 8 ? 0 : self->calls - 8; i < self->calls; i++)
        printf("#   %s\n", self->notes[i % 8]);
    pthread_mutex_unlock(&lock);
    atomic_fetch_add(&failures, 1);
    atomic_store(&is_over, true);
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

typedef void operation(actor *self);

static operation *const operations[] = {
    op_alloc,  op_alloc,  op_free,   op_read,    op_read,        op_write,      op_fill,
    op_copy,   op_launch, op_launch, op_graph,   op_wrong,       op_last_error, op_pointer,
    op_device, op_event,  op_code,   op_foreign, op_reset_device};

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
