/*
 * 64 threads share contexts, events and memory under the layer check. What they do is in order, but
 * for misuse that each of them counts: the layer finds that much of it, and nothing else.
 */
#include "emu/emu.h"
#include "layer/check/check.h"
#include "test.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
enum { STEPS = 150 };
#else
enum { STEPS = 600 };
#endif

enum { THREADS = 64, CONTEXTS = 6, BUFFERS = 24, BYTES = 4096, GPUS = 3 };

static cx_driver_table bare, table;
static CUcontext contexts[CONTEXTS];

/* Memory, and the event behind its last work. A thread that uses it takes it out of its place. */
typedef struct buffer {
    CUdeviceptr memory;
    CUevent event;
    int context;
} buffer;

static buffer buffers[BUFFERS];
static buffer *_Atomic places[BUFFERS];
static sem_t in_place; /* so many buffers that nobody has or is about to take */

typedef struct worker {
    pthread_t thread;
    uint64_t random;
    CUstream streams[CONTEXTS];
    long pops, without_context; /* misuse */
} worker;

static uint32_t draw(worker *self, uint32_t below)
{
    self->random = self->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(self->random >> 33) % below;
}

#define GOOD(call) good((call), #call)
static void good(cxu_result result, const char *call)
{
    if (result != CXU_SUCCESS)
        ck_abort_msg("%s gave %d", call, (int)result);
}

static void enter(int context)
{
    GOOD(table.ctx_push(contexts[context]));
}

static void leave(int context)
{
    CUcontext popped;
    GOOD(table.ctx_pop(&popped));
    ck_assert_ptr_eq(popped, contexts[context]);
}

/* ---- what is right ---- */

static buffer *find_buffer(worker *self)
{
    for (;;) {
        buffer *taken = atomic_exchange(&places[draw(self, BUFFERS)], NULL);
        if (taken != NULL)
            return taken;
    }
}

static buffer *take_buffer(worker *self)
{
    while (sem_wait(&in_place) != 0)
        ;
    return find_buffer(self);
}

/* NULL: others have all of them. */
static buffer *try_to_take_buffer(worker *self)
{
    return sem_trywait(&in_place) == 0 ? find_buffer(self) : NULL;
}

static void put_buffer(worker *self, buffer *taken)
{
    buffer *none = NULL;
    while (!atomic_compare_exchange_strong(&places[draw(self, BUFFERS)], &none, taken))
        none = NULL;
    ck_assert_int_eq(sem_post(&in_place), 0);
}

/* The next user waits for the event, whichever stream it works in. */
static void fill_shared(worker *self)
{
    buffer *taken = take_buffer(self);
    CUstream stream = self->streams[taken->context];
    enter(taken->context);
    GOOD(table.stream_wait_event(stream, taken->event, 0));
    GOOD(table.memset_d8_async(taken->memory, (unsigned char)draw(self, 256), BYTES, stream));
    GOOD(table.event_record(taken->event, stream));
    leave(taken->context);
    put_buffer(self, taken);
}

static void copy_shared(worker *self)
{
    buffer *to = take_buffer(self), *from = try_to_take_buffer(self);
    if (from == NULL) { /* whoever has it may wait for another one */
        put_buffer(self, to);
        return;
    }
    CUstream stream = self->streams[to->context];
    enter(to->context);
    GOOD(table.stream_wait_event(stream, to->event, 0));
    GOOD(table.stream_wait_event(stream, from->event, 0));
    GOOD(table.memcpy_peer_async(to->memory, contexts[to->context], from->memory,
                                 contexts[from->context], BYTES, stream));
    GOOD(table.event_record(to->event, stream));
    GOOD(table.event_synchronize(to->event));
    leave(to->context);
    put_buffer(self, to);
    put_buffer(self, from);
}

/* Memory gets a new owner now and then. */
static void renew_shared(worker *self)
{
    buffer *taken = take_buffer(self);
    GOOD(table.event_synchronize(taken->event));
    enter(taken->context);
    GOOD(table.mem_free(taken->memory));
    GOOD(table.event_destroy(taken->event));
    leave(taken->context);
    taken->context = (int)draw(self, CONTEXTS);
    enter(taken->context);
    GOOD(table.mem_alloc(&taken->memory, BYTES));
    GOOD(table.event_create(&taken->event, 0));
    leave(taken->context);
    put_buffer(self, taken);
}

static void use_own_memory(worker *self)
{
    int context = (int)draw(self, CONTEXTS);
    CUstream stream = self->streams[context];
    CUdeviceptr memory, ordered;
    void *host;
    enter(context);
    GOOD(table.mem_alloc_host(&host, BYTES));
    GOOD(table.mem_alloc(&memory, BYTES));
    GOOD(table.mem_alloc_async(&ordered, BYTES, stream));
    GOOD(table.memcpy_htod_async(ordered, host, BYTES, stream));
    GOOD(table.memcpy_dtod_async(memory, ordered, BYTES, stream));
    GOOD(table.mem_free_async(ordered, stream));
    GOOD(table.stream_synchronize(stream));
    GOOD(table.mem_free(memory));
    GOOD(table.mem_free_host(host));
    leave(context);
}

static void renew_stream(worker *self)
{
    int context = (int)draw(self, CONTEXTS);
    enter(context);
    GOOD(table.stream_synchronize(self->streams[context]));
    GOOD(table.stream_destroy(self->streams[context]));
    GOOD(table.stream_create(&self->streams[context], 0));
    leave(context);
}

static void make_context(worker *self)
{
    CUcontext made;
    CUstream stream;
    CUdeviceptr memory;
    GOOD(table.ctx_create_v2(&made, 0, (CUdevice)draw(self, GPUS)));
    GOOD(table.stream_create(&stream, 0));
    GOOD(table.mem_alloc(&memory, BYTES));
    GOOD(table.memset_d8_async(memory, 1, BYTES, stream));
    GOOD(table.ctx_destroy(made)); /* with what is in it */
}

/* ---- what is wrong ---- */

static void pop_nothing(worker *self)
{
    CUcontext popped;
    ck_assert_int_eq((int)table.ctx_pop(&popped), CXU_INVALID_CONTEXT);
    self->pops++;
}

static void work_without_context(worker *self)
{
    ck_assert_int_eq((int)table.ctx_synchronize(), CXU_INVALID_CONTEXT);
    self->without_context++;
}

/* ---- threads ---- */

static void *work(void *argument)
{
    static void (*const steps[])(worker *self) = {
        fill_shared,    fill_shared,  copy_shared,  renew_shared,
        use_own_memory, renew_stream, make_context, pop_nothing, work_without_context,
    };
    worker *self = argument;
    for (int i = 0; i < CONTEXTS; i++) {
        enter(i);
        GOOD(table.stream_create(&self->streams[i], 0));
        leave(i);
    }
    for (int i = 0; i < STEPS; i++)
        steps[draw(self, sizeof steps / sizeof *steps)](self);
    for (int i = 0; i < CONTEXTS; i++) {
        enter(i);
        GOOD(table.stream_synchronize(self->streams[i]));
        GOOD(table.stream_destroy(self->streams[i]));
        leave(i);
    }
    return NULL;
}

static void begin(void)
{
    const cx_emu_config config = {
        .gpus = GPUS, .gpu_memory_bytes = (size_t)64 << 20, .driver_version = 13000};
    CUcontext popped;
    ck_assert_int_eq(sem_init(&in_place, 0, BUFFERS), 0);
    ck_assert(cx_emu_configure(&config));
    bare = *cx_emu_driver();
    ck_assert(cx_check_put(&bare, CX_CHECK_IN_RUNTIME, &table));
    GOOD(table.init(0));
    for (int i = 0; i < CONTEXTS; i++) {
        GOOD(table.ctx_create_v2(&contexts[i], 0, i % GPUS));
        GOOD(table.ctx_pop(&popped));
    }
    for (int i = 0; i < BUFFERS; i++) {
        buffers[i].context = i % CONTEXTS;
        enter(buffers[i].context);
        GOOD(table.mem_alloc(&buffers[i].memory, BYTES));
        GOOD(table.event_create(&buffers[i].event, 0));
        leave(buffers[i].context);
        atomic_store(&places[i], &buffers[i]);
    }
}

static void run_threads(worker workers[THREADS])
{
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){.random = (uint64_t)i + 1};
        ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_join(workers[i].thread, NULL), 0);
}

/* How often a kind was found. */
static long found(cx_check_kind kind)
{
    long count = 0;
    for (unsigned i = 0; i < atomic_load(&cx_region_here->findings); i++)
        if (cx_region_here->all_findings[i].kind == (uint32_t)kind)
            count += (long)atomic_load(&cx_region_here->all_findings[i].count);
    return count;
}

/* Errors and warnings of all kinds. */
static long found_at_all(void)
{
    long count = 0;
    for (int kind = 0; kind < CX_KIND_COUNT; kind++)
        if (cx_kind_rows[kind].severity != CX_SEVERITY_NOTE)
            count += found((cx_check_kind)kind);
    return count;
}

static long alive(uint32_t kind)
{
    long count = 0;
    for (unsigned i = 0; i < atomic_load(&cx_region_here->objects); i++)
        count += cx_region_here->all_objects[i].kind == kind;
    return count;
}

START_TEST(what_64_threads_do_wrong_is_found_and_nothing_else)
{
    static worker workers[THREADS];
    long pops = 0, without_context = 0;
    begin();
    run_threads(workers);
    for (int i = 0; i < THREADS; i++) {
        pops += workers[i].pops;
        without_context += workers[i].without_context;
    }
    ck_assert_int_gt(pops, 0);
    ck_assert_int_eq(found(CX_KIND_STACK_POP_EMPTY), pops);
    ck_assert_int_eq(found(CX_KIND_CURRENT_NONE), without_context);
    ck_assert_int_eq(found_at_all(), pops + without_context);
    ck_assert_int_eq(alive(CX_HANDLE_CONTEXT), CONTEXTS);
    ck_assert_int_eq(alive(CX_HANDLE_STREAM), 0);
    ck_assert_int_eq(alive(CX_HANDLE_EVENT), BUFFERS);
    ck_assert_int_eq(alive(CX_OBJECT_MEMORY), BUFFERS);
    ck_assert_int_eq(alive(CX_OBJECT_ASYNC_MEMORY), 0);
    ck_assert_int_eq(alive(CX_OBJECT_PINNED_MEMORY), 0);
    for (int i = 0; i < CONTEXTS; i++)
        GOOD(table.ctx_destroy(contexts[i]));
    ck_assert_int_eq(alive(CX_HANDLE_CONTEXT) + alive(CX_HANDLE_EVENT) + alive(CX_OBJECT_MEMORY),
                     0);
}
END_TEST

static Suite *stress_suite(void)
{
    Suite *suite = suite_create("the layer check under many threads");
    TCase *tcase = tcase_create("stress");
    tcase_add_test(tcase, what_64_threads_do_wrong_is_found_and_nothing_else);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(stress_suite);
