#include "crowd.h"

#include "blocks.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const operation operations[] = {
#define OPERATION(name, weight, alone) {#name, weight, op_##name, alone},
#include "operations.def"
#undef OPERATION
};
const int operation_count = sizeof operations / sizeof *operations;

static const run *how_now;
static int total_weight;
static _Thread_local actor *acting;

double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- a thread ---- */

static const operation *choose(actor *self)
{
    int number = (int)pick(self, (uint64_t)total_weight);
    int which = 0;
    while (number >= operations[which].weight)
        number -= operations[which++].weight;
    return &operations[which];
}

/* A reset excludes the other operations itself. */
static void begin_operation(const operation *one)
{
    if (all.apart && (one == NULL || one->run != op_reset))
        pthread_rwlock_rdlock(&all.resetting);
}

static void end_operation(const operation *one)
{
    if (all.apart && (one == NULL || one->run != op_reset))
        pthread_rwlock_unlock(&all.resetting);
}

static void step(actor *self)
{
    const operation *one = choose(self);
    if (one->alone && all.threads > 1)
        return;
    begin_operation(one);
    atomic_store(&self->resets, atomic_load(&all.resets));
    for (int i = 0; i < PLACES; i++)
        self->spans[i] = span_open(i);
    self->keepers = atomic_load(&all.keepers);
    actor_note(self, "%s", one->name);
    one->run(self);
    end_operation(one);
    actor_compare(self);
    atomic_fetch_add_explicit(&all.operations, 1, memory_order_relaxed);
}

static bool goes_on(const actor *self)
{
    if (atomic_load(&all.failed))
        return false;
    if (how_now->steps > 0)
        return self->steps < how_now->steps;
    return self->steps % 64 != 0 || now_s() < how_now->until_s;
}

static void *act(void *argument)
{
    actor *self = argument;
    acting = self;
    for (self->steps = 0; goes_on(self); self->steps++) {
        step(self);
        if (how_now->beside != NULL && chance(self, 10))
            how_now->beside(self);
    }
    if (atomic_load(&all.failed))
        return NULL;
    for (int i = 0; i < PLACES; i++)
        self->spans[i] = span_open(i);
    begin_operation(NULL);
    for (int i = 0; i < POCKET; i++) {
        block_end(self, self->pocket[i]);
        self->pocket[i] = NULL;
    }
    actor_unwind(self);
    end_operation(NULL);
    atomic_store(&self->resets, UINT_MAX);
    return NULL;
}

/* ---- beginning and ending ---- */

static int handle_value;

static ctxrt_status create_handle(ctxrt_device device, void *user_data, void **out_handle)
{
    (void)device, (void)user_data;
    *out_handle = &handle_value;
    return CTXRT_SUCCESS;
}

static void destroy_handle(void *handle, void *user_data)
{
    (void)handle, (void)user_data;
}

/* Nobody else frees memory of ctxrt: where it says so, it has given live memory away. The owner
 * would see that when it frees the memory, much later. */
static void look_at_line(ctxrt_log_level level, const char *line, void *argument)
{
    (void)level, (void)argument;
    if (strstr(line, "which ctxrt had allocated") != NULL && acting != NULL)
        actor_fail(acting, "%s", line);
}

static void set_up_world(actor *self)
{
    static const ctxrt_device devices[PRIMARIES] = {{CTXRT_DEVICE_CUDA, 0},
                                                    {CTXRT_DEVICE_CUDA, 1},
                                                    {CTXRT_DEVICE_CUDA, 2},
                                                    {CTXRT_DEVICE_CPU, 0}};
    for (int i = 0; i < PLACES; i++)
        atomic_store(&all.places[i].users, i < PRIMARIES ? 0 : EMPTY);
    for (int k = 0; k < KINDS; k++)
        for (int i = 0; i < THINGS; i++)
            atomic_store(&all.things[k][i].users, EMPTY);
    for (int i = 0; i < PRIMARIES; i++) {
        all.places[i].device = devices[i];
        all.anchors[i] = NULL;
        if (i != UNANCHORED && OK(self, ctxrt_device_push(devices[i]))) {
            (void)OK(self, ctxrt_event_create(CTXRT_EVENT_DEFAULT, &all.anchors[i]));
            (void)OK(self, ctxrt_stack_pop());
        }
    }
    (void)OK(self, ctxrt_memory_alloc_host(64, &all.anchor));
    ctxrt_status status = ctxrt_handle_register("joint", create_handle, destroy_handle, NULL);
    (void)actor_expect(self, status, MAY(CTXRT_ERROR_ALREADY), "ctxrt_handle_register");
}

static bool set_up(actor *self)
{
    ctxrt_options options = CTXRT_OPTIONS_INIT;
    memset(&all, 0, sizeof all);
    shadow_clear();
    pthread_rwlock_init(&all.resetting, NULL);
    all.threads = how_now->threads;
    all.faults = how_now->faults;
    all.apart = how_now->apart;
    total_weight = 0;
    for (int i = 0; i < operation_count; i++)
        total_weight += operations[i].weight;
    options.cuda_driver = how_now->libcuda ? CTXRT_CUDA_DRIVER_LIBCUDA : CTXRT_CUDA_DRIVER_EMULATED;
    options.emulated_devices = PRIMARIES - 1;
    options.emulated_memory_bytes = (size_t)GPU_MIB << 20;
    if (!OK(self, ctxrt_init(&options)) ||
        !OK(self, ctxrt_log_set(look_at_line, NULL,
                                MENDED_REPORT_BESIDE_ENDING ? CTXRT_LOG_INFO : CTXRT_LOG_WARNING)))
        return false;
    set_up_world(self);
    return !atomic_load(&all.failed);
}

static void empty_things(actor *self)
{
    for (int i = 0; i < MAILS * 64; i++)
        op_discard(self);
    for (int i = 0; i < POOL; i++)
        block_end(self, atomic_exchange(&all.pool[i], NULL));
    for (int i = 0; i < THINGS * 64; i++) {
        op_end_graph(self);
        op_end_module(self);
        op_end_event(self);
        op_end_allocator(self);
        op_end_stream(self);
        op_destroy_context(self);
    }
}

/* Everything is ended; what the last thread sees is exact. */
static void clean_up(actor *self)
{
    for (int i = 0; i < PLACES; i++)
        self->spans[i] = span_open(i);
    int threads = all.threads;
    all.threads = 1;
    self->keepers = 1;
    empty_things(self);
    self->keepers = 0;
    empty_things(self); /* what graphs kept */
    if (atomic_load(&all.keepers) != 0)
        actor_fail(self, "%d graphs are left", atomic_load(&all.keepers));
    for (int i = 0; i < PRIMARIES; i++)
        (void)OK(self, ctxrt_event_destroy(all.anchors[i]));
    (void)OK(self, ctxrt_memory_release(all.anchor));
    for (int i = 0; i < PLACES; i++)
        if (atomic_load(&all.places[i].users) > 0)
            actor_fail(self, "place %d still has %d users", i, atomic_load(&all.places[i].users));
    for (int i = 0; i < 8 && !atomic_load(&all.failed); i++)
        if (OK(self, ctxrt_shutdown()))
            break;
    all.threads = threads;
}

static actor *make_actor(int number, uint64_t seed)
{
    actor *made = calloc(1, sizeof *made);
    if (made == NULL)
        abort();
    made->number = number;
    made->random = (seed * THREADS_MAX + (uint64_t)number + 1) * 0x9e3779b97f4a7c15u;
    made->scratch = malloc(2 * SCRATCH_BYTES);
    made->other_scratch = malloc(2 * SCRATCH_BYTES);
    made->nowhere = fopen("/dev/null", "w");
    if (made->scratch == NULL || made->other_scratch == NULL || made->nowhere == NULL)
        abort();
    /* so that it is resident from the beginning, whatever the largest block so far is */
    memset(made->scratch, 1, 2 * SCRATCH_BYTES);
    memset(made->other_scratch, 1, 2 * SCRATCH_BYTES);
    return made;
}

static void end_actor(actor *self)
{
    fclose(self->nowhere);
    free(self->scratch);
    free(self->other_scratch);
    free(self);
}

static void tell_signal(int number)
{
    printf("# signal %d\n", number);
    world_tell();
    signal(number, SIG_DFL);
    raise(number);
}

bool crowd_run(const run *how)
{
    pthread_t threads[THREADS_MAX];
    actor *keeper = make_actor(how->threads, how->seed);
    how_now = how;
    static const int signals[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGALRM};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], tell_signal);
    bool good = set_up(keeper);
    for (int i = 0; i < how->threads; i++)
        all.actors[i] = make_actor(i, how->seed);
    for (int i = 0; good && i < how->threads; i++)
        good = pthread_create(&threads[i], NULL, act, all.actors[i]) == 0;
    for (int i = 0; good && i < how->threads; i++)
        pthread_join(threads[i], NULL);
    if (!atomic_load(&all.failed))
        clean_up(keeper);
    good = good && !atomic_load(&all.failed);
    if (!good) {
        world_tell();
        all.threads = 1;
        all.actors[0] = keeper;
        world_tell();
        return false; /* what is left is not ended: the process is */
    }
    for (int i = 0; i < how->threads; i++)
        end_actor(all.actors[i]);
    end_actor(keeper);
    return true;
}
