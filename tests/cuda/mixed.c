/*
 * ctxrt and CUDA calls on the same memory, streams and threads. Each case runs on a thread of its
 * own, which must end with an empty stack.
 */
#include "cases.h"
#include "cuda_calls.h"
#include "tap.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { WORDS = 1000, HALF = WORDS / 2, LEVELS = 4, ROUNDS = 20, FILL = 0x5a };

static const unsigned int FILLED = 0x5a5a5a5a;

typedef struct mix {
    const char *name;
    void (*run)(struct mix *self);
    ctxrt_foreign_policy policy;
    int device_count;
    char failure[320];
} mix;

/* Notes the first failure. */
static bool expect(mix *self, bool good, const char *what, const char *found)
{
    if (!good && self->failure[0] == '\0')
        snprintf(self->failure, sizeof self->failure, "%.60s: %.250s", what, found);
    return good;
}

static bool gives(mix *self, ctxrt_status wanted, ctxrt_status status, const char *what)
{
    char found[256];
    snprintf(found, sizeof found, "%s: %.180s", ctxrt_status_name(status),
             ctxrt_last_error()->message);
    return expect(self, status == wanted, what, found);
}

static bool did(mix *self, ctxrt_status status, const char *what)
{
    return gives(self, CTXRT_SUCCESS, status, what);
}

static bool called(mix *self, int error, const char *what)
{
    return expect(self, error == 0, what, cuda_error_text(error));
}

static bool are(mix *self, const unsigned int *words, size_t from, size_t to, unsigned int wanted,
                const char *what)
{
    char found[48];
    for (size_t i = from; i < to; i++)
        if (words[i] != wanted) {
            snprintf(found, sizeof found, "word %zu is %#x, not %#x", i, words[i], wanted);
            return expect(self, false, what, found);
        }
    return true;
}

/* ---- memory ---- */

static void cuda_writes_memory_of_ctxrt(mix *self)
{
    ctxrt_memory *memory;
    unsigned int words[WORDS];
    if (!did(self, ctxrt_device_push(CTXRT_CUDA(0)), "push") ||
        !did(self, ctxrt_memory_alloc(sizeof words, &memory), "alloc"))
        return;
    unsigned int *pointer = ctxrt_memory_pointer(memory);
    if (did(self, ctxrt_fill(pointer, FILL, sizeof words), "fill") &&
        called(self, cuda_set_device(0), "set device") &&
        called(self, cuda_write_words(pointer, 7, HALF, NULL), "write words") &&
        called(self, cuda_stream_synchronize(NULL), "synchronize") &&
        did(self, ctxrt_copy(words, pointer, sizeof words, CTXRT_COPY_DEVICE_TO_HOST), "copy")) {
        are(self, words, 0, HALF, 7, "what was written by CUDA");
        are(self, words, HALF, WORDS, FILLED, "what was filled by ctxrt");
    }
    did(self, ctxrt_memory_release(memory), "release");
    did(self, ctxrt_stack_pop(), "pop");
}

static void ctxrt_writes_memory_of_cuda(mix *self)
{
    void *pointer;
    unsigned int words[WORDS] = {0};
    ctxrt_pointer_info info;
    ctxrt_memory *memory;
    if (!did(self, ctxrt_device_push(CTXRT_CUDA(0)), "push") ||
        !called(self, cuda_set_device(0), "set device") ||
        !called(self, cuda_alloc(sizeof words, &pointer), "alloc"))
        return;
    if (did(self, ctxrt_pointer_query(pointer, &info), "query")) {
        expect(self, info.known && info.kind == CTXRT_MEMORY_DEVICE && info.device.index == 0,
               "query", "it is not known as memory of cuda:0");
        expect(self, info.size_bytes >= sizeof words, "query", "the size is wrong");
    }
    if (did(self, ctxrt_memory_wrap(pointer, sizeof words, CTXRT_CUDA(0), NULL, NULL, &memory),
            "wrap") &&
        did(self, ctxrt_fill(ctxrt_memory_pointer(memory), FILL, sizeof words), "fill") &&
        called(self, cuda_copy(words, pointer, sizeof words), "copy") &&
        did(self, ctxrt_memory_release(memory), "release"))
        are(self, words, 0, WORDS, FILLED, "what was filled by ctxrt");
    called(self, cuda_free(pointer), "free");
    did(self, ctxrt_stack_pop(), "pop");
}

/* ---- streams: no wait between what is queued ---- */

static void queue_in_turn(mix *self, unsigned int *pointer, ctxrt_stream *stream,
                          struct CUstream_st *native)
{
    unsigned int words[WORDS] = {0};
    ctxrt_memory *pinned;
    if (!did(self, ctxrt_memory_alloc_pinned(sizeof words, &pinned), "alloc pinned"))
        return;
    unsigned int *host = ctxrt_memory_pointer(pinned);
    if (did(self, ctxrt_fill_async(pointer, FILL, sizeof words, stream), "fill") &&
        called(self, cuda_write_words(pointer, 9, HALF, native), "write words") &&
        did(self, ctxrt_copy_async(host, pointer, sizeof words, CTXRT_COPY_DEVICE_TO_HOST, stream),
            "copy") &&
        called(self, cuda_write_words(pointer, 11, WORDS, native), "write words again") &&
        did(self, ctxrt_stream_synchronize(stream), "synchronize") &&
        did(self, ctxrt_copy(words, pointer, sizeof words, CTXRT_COPY_DEVICE_TO_HOST),
            "copy at the end")) {
        are(self, host, 0, HALF, 9, "written before the copy");
        are(self, host, HALF, WORDS, FILLED, "filled before the copy");
        are(self, words, 0, WORDS, 11, "written after the copy");
    }
    did(self, ctxrt_memory_release(pinned), "release pinned");
}

static void cuda_keeps_the_order_of_a_stream_of_ctxrt(mix *self)
{
    ctxrt_memory *memory;
    ctxrt_stream *stream;
    struct CUstream_st *native;
    if (!did(self, ctxrt_device_push(CTXRT_CUDA(0)), "push") ||
        !called(self, cuda_set_device(0), "set device") ||
        !did(self, ctxrt_memory_alloc(WORDS * sizeof(unsigned int), &memory), "alloc") ||
        !did(self, ctxrt_stream_create(CTXRT_STREAM_NON_BLOCKING, 0, &stream), "create stream"))
        return;
    if (did(self, ctxrt_stream_native(stream, &native), "native stream"))
        queue_in_turn(self, ctxrt_memory_pointer(memory), stream, native);
    did(self, ctxrt_stream_destroy(stream), "destroy stream");
    did(self, ctxrt_memory_release(memory), "release");
    did(self, ctxrt_stack_pop(), "pop");
}

static void ctxrt_keeps_the_order_of_a_stream_of_cuda(mix *self)
{
    void *pointer;
    ctxrt_stream *stream;
    struct CUstream_st *native;
    if (!did(self, ctxrt_device_push(CTXRT_CUDA(0)), "push") ||
        !called(self, cuda_set_device(0), "set device") ||
        !called(self, cuda_alloc(WORDS * sizeof(unsigned int), &pointer), "alloc") ||
        !called(self, cuda_stream_create(&native), "create stream"))
        return;
    if (did(self, ctxrt_stream_from_native(native, &stream), "adopt stream")) {
        queue_in_turn(self, pointer, stream, native);
        did(self, ctxrt_stream_destroy(stream), "give the stream back");
    }
    called(self, cuda_stream_destroy(native), "destroy stream");
    called(self, cuda_free(pointer), "free");
    did(self, ctxrt_stack_pop(), "pop");
}

/* ---- the stack ---- */

/* CUDA work on a device of its choice, as a library does that is called at this moment. */
static bool works_with_cuda(mix *self, int ordinal)
{
    void *pointer;
    unsigned int words[WORDS] = {0};
    if (!called(self, cuda_set_device(ordinal), "set device") ||
        !called(self, cuda_alloc(sizeof words, &pointer), "cuda alloc"))
        return false;
    bool good = called(self, cuda_write_words(pointer, 3, WORDS, NULL), "cuda write words") &&
                called(self, cuda_copy(words, pointer, sizeof words), "cuda copy") &&
                are(self, words, 0, WORDS, 3, "what was written by CUDA");
    return called(self, cuda_free(pointer), "cuda free") && good;
}

static bool works_in(mix *self, ctxrt_context *context)
{
    ctxrt_memory *memory;
    ctxrt_memory_info info;
    unsigned int words[WORDS] = {0};
    if (!did(self, ctxrt_memory_alloc(sizeof words, &memory), "alloc"))
        return false;
    bool good =
        did(self, ctxrt_memory_describe(memory, &info), "describe") &&
        expect(self, info.context == context, "alloc", "the memory is of another context") &&
        did(self, ctxrt_fill(info.pointer, FILL, sizeof words), "fill") &&
        did(self, ctxrt_copy(words, info.pointer, sizeof words, CTXRT_COPY_DEVICE_TO_HOST),
            "copy") &&
        are(self, words, 0, WORDS, FILLED, "what was filled by ctxrt");
    return did(self, ctxrt_memory_release(memory), "release") && good;
}

/* After CUDA has made the primary context of `device` current in place of ours. */
static bool answers_by_policy(mix *self, int device, bool same)
{
    ctxrt_device current;
    ctxrt_resync_report report;
    bool refused = !same && self->policy == CTXRT_FOREIGN_ERROR;
    ctxrt_status status = ctxrt_device_get(&current);
    if (!gives(self, refused ? CTXRT_ERROR_STACK_MISMATCH : CTXRT_SUCCESS, status, "get"))
        return false;
    return expect(self, refused || current.index == device, "get", "work goes elsewhere") &&
           did(self, ctxrt_stack_resync(&report), "resync") &&
           expect(self, report.finding == (same ? CTXRT_RESYNC_IN_STEP : CTXRT_RESYNC_SET),
                  "resync", "another finding");
}

static bool retain_level(mix *self, int level, int device, ctxrt_context **out_context)
{
    return level % 2 == 0
               ? did(self, ctxrt_context_retain_primary(CTXRT_CUDA(device), out_context), "retain")
               : did(self, ctxrt_context_create(CTXRT_CUDA(device), 0, out_context), "create");
}

static void release_level(mix *self, int level, ctxrt_context *context)
{
    if (level % 2 == 0)
        did(self, ctxrt_context_release(context), "release context");
    else
        did(self, ctxrt_context_destroy(context), "destroy context");
}

static void cuda_works_at_every_level(mix *self)
{
    ctxrt_context *contexts[LEVELS];
    int other = self->device_count - 1, count = 0;
    for (int i = 0; i < LEVELS; i++) {
        int device = i % self->device_count;
        bool same = i % 2 == 0 && device == other;
        if (!retain_level(self, i, device, &contexts[i]))
            break;
        count++;
        if (!did(self, ctxrt_stack_push(contexts[i]), "push") || !works_with_cuda(self, other) ||
            !answers_by_policy(self, other, same) || !works_in(self, contexts[i]))
            break;
    }
    for (int i = count - 1; i >= 0; i--) {
        works_in(self, contexts[i]);
        did(self, ctxrt_stack_pop(), "pop");
        release_level(self, i, contexts[i]);
    }
}

static void a_scope_restores_after_cuda(mix *self)
{
    ctxrt_context *outer, *inner;
    ctxrt_scope scope = {0};
    if (!did(self, ctxrt_context_create(CTXRT_CUDA(0), 0, &outer), "create") ||
        !did(self, ctxrt_context_create(CTXRT_CUDA(0), 0, &inner), "create") ||
        !did(self, ctxrt_stack_push(outer), "push") ||
        !did(self, ctxrt_scope_enter_context(inner, &scope), "enter"))
        return;
    works_with_cuda(self, self->device_count - 1);
    gives(self, CTXRT_ERROR_STACK_LEFTOVER, ctxrt_scope_leave(&scope), "leave");
    works_in(self, outer);
    did(self, ctxrt_stack_pop(), "pop");
    did(self, ctxrt_context_destroy(inner), "destroy");
    did(self, ctxrt_context_destroy(outer), "destroy");
}

static void cuda_resets_the_device(mix *self)
{
    ctxrt_context *context;
    ctxrt_memory *before, *after;
    if (!did(self, ctxrt_context_retain_primary(CTXRT_CUDA(0), &context), "retain") ||
        !did(self, ctxrt_stack_push(context), "push") || !works_with_cuda(self, 0) ||
        !did(self, ctxrt_memory_alloc(64, &before), "alloc") ||
        !called(self, cuda_reset_device(), "cuda reset"))
        return;
    /* More than the allocator has at hand: the driver is asked. */
    gives(self, CTXRT_ERROR_CONTEXT_DESTROYED, ctxrt_memory_alloc((size_t)256 << 20, &after),
          "alloc after the reset");
    did(self, ctxrt_device_reset(CTXRT_CUDA(0)), "reset");
    did(self, ctxrt_memory_release(before), "release of what was allocated before");
    works_in(self, context);
    works_with_cuda(self, 0);
    works_in(self, context);
    did(self, ctxrt_stack_pop(), "pop");
    did(self, ctxrt_context_release(context), "release context");
}

/* ---- two threads ---- */

typedef struct exchange {
    mix *self;
    mix other; /* the other thread's failure */
    pthread_barrier_t turn;
    void *pointer;
    unsigned int words[WORDS];
} exchange;

/* Fills, with ctxrt, what the first thread has allocated with CUDA. A failure is noted, and the
 * turns are kept. */
static void *fill_in_turn(void *argument)
{
    exchange *shared = argument;
    mix *self = &shared->other;
    did(self, ctxrt_device_set(CTXRT_CUDA(0)), "set");
    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&shared->turn);
        if (shared->pointer != NULL)
            did(self, ctxrt_fill(shared->pointer, i, sizeof shared->words), "fill");
        pthread_barrier_wait(&shared->turn);
    }
    did(self, ctxrt_stack_pop(), "pop");
    return NULL;
}

static void allocate_in_turn(exchange *shared)
{
    mix *self = shared->self;
    for (int i = 0; i < ROUNDS; i++) {
        if (!called(self, cuda_alloc(sizeof shared->words, &shared->pointer), "alloc"))
            shared->pointer = NULL;
        pthread_barrier_wait(&shared->turn);
        pthread_barrier_wait(&shared->turn);
        if (shared->pointer != NULL &&
            called(self, cuda_copy(shared->words, shared->pointer, sizeof shared->words), "copy") &&
            called(self, cuda_free(shared->pointer), "free"))
            are(self, shared->words, 0, WORDS, (unsigned int)i * 0x01010101u,
                "what the other thread has filled");
    }
}

static void two_threads_share_memory(mix *self)
{
    exchange shared = {.self = self, .other = *self};
    pthread_t thread;
    bool ready = called(self, cuda_set_device(0), "set device");
    pthread_barrier_init(&shared.turn, NULL, 2);
    if (!expect(self, pthread_create(&thread, NULL, fill_in_turn, &shared) == 0, "thread",
                "could not be created"))
        return;
    allocate_in_turn(&shared);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&shared.turn);
    expect(self, shared.other.failure[0] == '\0', "the other thread", shared.other.failure);
    if (ready)
        expect(self, ctxrt_stack_depth() == 0, "depth", "CUDA's own work made a frame");
}

/* ---- running them ---- */

static void *run_case(void *argument)
{
    mix *self = argument;
    self->run(self);
    expect(self, ctxrt_stack_depth() == 0, "at the end", "frames are left");
    return NULL;
}

void mixed_check(ctxrt_foreign_policy policy)
{
    mix cases[] = {
        {.name = "CUDA writes memory of ctxrt", .run = cuda_writes_memory_of_ctxrt},
        {.name = "ctxrt writes memory of CUDA", .run = ctxrt_writes_memory_of_cuda},
        {.name = "CUDA keeps the order of a stream of ctxrt",
         .run = cuda_keeps_the_order_of_a_stream_of_ctxrt},
        {.name = "ctxrt keeps the order of a stream of CUDA",
         .run = ctxrt_keeps_the_order_of_a_stream_of_cuda},
        {.name = "CUDA works at every level of a stack of four", .run = cuda_works_at_every_level},
        {.name = "a scope restores what was current before CUDA's work",
         .run = a_scope_restores_after_cuda},
        {.name = "CUDA resets the device, and both go on", .run = cuda_resets_the_device},
        {.name = "two threads fill and read the same memory", .run = two_threads_share_memory},
    };
    int count = 0;
    pthread_t thread;
    (void)!ctxrt_device_count(CTXRT_DEVICE_CUDA, &count);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cases[i].policy = policy;
        cases[i].device_count = count;
        bool ran = pthread_create(&thread, NULL, run_case, &cases[i]) == 0 &&
                   pthread_join(thread, NULL) == 0;
        if (cases[i].failure[0] != '\0')
            tap_note("%s", cases[i].failure);
        tap_report(ran && cases[i].failure[0] == '\0', "%s: %s", policy_name(policy),
                   cases[i].name);
    }
}
