/*
 * Memory that ends before queued work gets to it: each kind of memory, in each way, under each
 * kind of work and each schedule. The work runs to its end or fails with an illegal address, as the
 * tables say; memory that comes after at the address stays as it is; nothing is left behind.
 */
#include "ended_memory.h"
#include "kernels.h"
#include "partner.h"

#include "emu/memory/allocation.h"
#include "emu/device/device.h"
#include "emu/base/state.h"
#include "emu/schedule/work.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const schedules[] = {"threads", "lazy", "random:1", "random:2"};
#define SCHEDULES (sizeof schedules / sizeof schedules[0])

/* The row that runs, and how often work failed. */
typedef struct row {
    const ended_kind *kind;
    const ended_way *way;
    const ended_work *work;
    bool one_at_a_time;
    char name[256];
} row;

#define ck_row(self, holds, what) ck_assert_msg(holds, "%s: %s", (self)->name, what)

/* ---- the world of a row ---- */

static void open_contexts(ended_world *world, const row *self)
{
    world->owner_device = self->kind->traits & ENDED_PEER ? 1 : 0;
    world->owner_is_primary = self->way->of_the_primary;
    ck_success(cx_emu_call_ctx_create_v2(&world->bystander, 0, 0));
    world->of_bystander = make_stream(CXU_STREAM_NON_BLOCKING);
    if (world->owner_is_primary) {
        ck_success(cx_emu_call_primary_retain(&world->owner, world->owner_device));
    } else {
        ck_success(cx_emu_call_ctx_create_v2(&world->owner, 0, world->owner_device));
    }
    ck_success(cx_emu_call_ctx_create_v2(&world->worker, 0, 0));
    if (self->kind->traits & ENDED_PEER)
        ck_success(cx_emu_call_ctx_enable_peer_access(world->owner, 0));
}

static void open_world(ended_world *world, const row *self)
{
    void *host;

    open_contexts(world, self);
    world->stream = make_stream(CXU_STREAM_NON_BLOCKING);
    world->other = make_stream(CXU_STREAM_NON_BLOCKING);
    world->device = make_memory(ENDED_BYTES);
    ck_success(cx_emu_call_mem_alloc_host(&host, ENDED_BYTES));
    world->host = host;
    memset(host, 0xff, ENDED_BYTES);
    ck_success(cx_emu_call_module_load_data(&world->code, PTX_HEAD PTX_STORE));
    ck_success(cx_emu_call_module_get_function(&world->store, world->code, "store"));
    ended_enter(world->owner);
    self->kind->make(world);
    ended_enter(world->worker);
    ck_success(cx_emu_call_memset_d8_async(world->address, 0, ENDED_BYTES, world->other));
    ck_success(cx_emu_call_stream_synchronize(world->other));
    if (self->work->prepare)
        self->work->prepare(world);
}

static bool memory_in_use(void)
{
    bool used = false;

    cx_lock_enter(&cx_emu_lock);
    for (int i = 0; i < cx_emu_device_total(); i++)
        used |= cx_emu_device_find(i)->used_bytes != 0;
    cx_lock_leave(&cx_emu_lock);
    return used;
}

static void close_world(ended_world *world, const row *self)
{
    if (world->exec)
        ck_success(cx_emu_call_graph_exec_destroy(world->exec));
    if (world->graph)
        ck_success(cx_emu_call_graph_destroy(world->graph));
    if (world->worker)
        ck_success(cx_emu_call_ctx_destroy(world->worker));
    ended_enter(world->bystander);
    self->kind->drop(world);
    if (world->owner_is_primary)
        ck_success(cx_emu_call_primary_release(world->owner_device));
    else if (world->owner)
        ck_success(cx_emu_call_ctx_destroy(world->owner));
    ck_success(cx_emu_call_ctx_destroy(world->bystander));
    while (cx_emu_call_ctx_pop(NULL) == CXU_SUCCESS)
        ;
    ck_row(self, !memory_in_use(), "memory is left");
}

/* ---- the end, on a thread of its own ---- */

typedef struct ender {
    const row *row;
    ended_world *world;
    _Atomic bool over;
} ender;

static void *end_memory(void *argument)
{
    ender *self = argument;

    ended_enter(self->world->bystander);
    self->row->way->end(self->world);
    (void)cx_emu_call_ctx_pop(NULL);
    atomic_store(&self->over, true);
    return NULL;
}

static bool somebody_waits(void)
{
    cx_lock_enter(&cx_emu_lock);
    bool waits = cx_emu_work_waits() > 0;
    cx_lock_leave(&cx_emu_lock);
    return waits;
}

/* `waits`: the gate has to be open before the end returns. */
static void bring_the_end(const row *self, ended_world *world, bool waits, stream_gate *gate)
{
    ender one = {self, world, false};
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, end_memory, &one), 0);
    while (waits && !atomic_load(&one.over) && !somebody_waits())
        sched_yield();
    if (waits)
        gate_open(gate);
    pthread_join(thread, NULL);
}

/* ---- the memory that comes after ---- */

/* No work of a stream: where one piece runs at a time, a wait for it would open the gate. */
static void write_bytes(CUdeviceptr address, int value)
{
    cx_lock_enter(&cx_emu_lock);
    memset(cx_emu_allocation_at(cx_emu_allocation_find(address, ENDED_BYTES), address), value,
           ENDED_BYTES);
    cx_lock_leave(&cx_emu_lock);
}

static void make_next(const row *self, ended_world *world)
{
    if (self->way->keeps || self->work->by_pointer)
        return;
    ended_enter(world->bystander);
    world->next = self->kind->make_next(world);
    if (world->next != 0)
        write_bytes(world->next, 0x5a);
    if (world->worker)
        ended_enter(world->worker);
}

static void ck_next(const row *self, const ended_world *world)
{
    unsigned char bytes[ENDED_BYTES];

    if (world->next == 0)
        return;
    ck_row(self, cx_emu_debug_read(world->next, sizeof bytes, bytes), "the next memory has gone");
    for (size_t i = 0; i < sizeof bytes; i++)
        ck_row(self, bytes[i] == 0x5a, "the next memory was written");
}

/* ---- rows ---- */

static void ck_host(const row *self, const ended_world *world, ended_outcome outcome)
{
    const unsigned char expected = outcome == ENDED_COMPLETES ? 0 : 0xff;

    for (size_t i = 0; self->work->reads && i < ENDED_BYTES; i++)
        ck_row(self, world->host[i] == expected, "the copy brought the wrong bytes");
}

static ended_outcome outcome_of(const row *self)
{
    ended_outcome outcome = self->way->outcome[self->work->binding];

    if (outcome == ENDED_FAILS &&
        (self->work->only_hints || (self->work->copies && self->way->lets_copies)))
        return ENDED_COMPLETES;
    return outcome;
}

static void ck_outcome(const row *self, ended_world *world)
{
    ended_outcome outcome = outcome_of(self);
    cxu_result result;

    if (outcome == ENDED_OVER)
        return;
    result = cx_emu_call_stream_synchronize(world->stream);
    if (self->way->waits_beside && self->one_at_a_time)
        return; /* either came first */
    ck_assert_msg(result == (outcome == ENDED_FAILS ? CXU_ILLEGAL_ADDRESS : CXU_SUCCESS),
                  "%s: the stream ended with %d", self->name, (int)result);
    ck_assert_msg(cx_emu_call_ctx_synchronize() == result, "%s: the error did not stick",
                  self->name);
    ck_host(self, world, outcome);
}

static void end_behind_the_call(const row *self)
{
    ended_binding binding = self->work->binding;
    bool waits = self->way->waits[binding] || (self->way->waits_beside && self->one_at_a_time);
    stream_gate gate = GATE_CLOSED;
    ended_world world = {0};
    cxu_result result;

    open_world(&world, self);
    gate_put(&gate, world.stream);
    result = self->work->submit(&world);
    ck_assert_msg(result == CXU_SUCCESS, "%s: queueing gave %d", self->name, (int)result);
    bring_the_end(self, &world, waits, &gate);
    make_next(self, &world);
    gate_open(&gate);
    ck_outcome(self, &world);
    ck_next(self, &world);
    close_world(&world, self);
}

/* Calls refuse memory that has ended; a kernel finds out when it runs. */
static void end_ahead_of_the_call(const row *self)
{
    stream_gate gate = GATE_CLOSED;
    ended_world world = {0};
    cxu_result result;

    open_world(&world, self);
    gate_put(&gate, world.stream);
    bring_the_end(self, &world, self->way->waits_beside && self->one_at_a_time, &gate);
    result = self->work->submit(&world);
    ck_assert_msg(result == (self->work->by_pointer ? CXU_SUCCESS : CXU_INVALID_VALUE) ||
                      (!world.owner && result == CXU_INVALID_CONTEXT),
                  "%s, which came first: queueing gave %d", self->name, (int)result);
    gate_open(&gate);
    result = cx_emu_call_stream_synchronize(world.stream);
    ck_assert_msg(result == (self->work->by_pointer ? CXU_ILLEGAL_ADDRESS : CXU_SUCCESS),
                  "%s, which came first: the stream ended with %d", self->name, (int)result);
    close_world(&world, self);
}

static bool suits(const ended_work *work, const ended_kind *kind)
{
    return (work->needs & ~kind->traits) == 0 && (work->refuses & kind->traits) == 0;
}

static void run_row(row *self)
{
    snprintf(self->name, sizeof self->name, "%s: %s: %s", self->kind->name, self->work->name,
             self->way->name);
    end_behind_the_call(self);
    if (!self->way->keeps && !(self->kind->traits & ENDED_USERS))
        end_ahead_of_the_call(self);
}

static void configure(const char *schedule, bool host_device)
{
    const cx_emu_config config = {.host_device = host_device,
                                  .gpus = GPUS,
                                  .gpu_memory_bytes = (size_t)64 << 20,
                                  .driver_version = CX_EMU_DRIVER_VERSION};

    ck_assert_int_eq(setenv("CTXRT_EMU_SCHEDULE", schedule, 1), 0);
    ck_assert_int_eq(setenv("CTXRT_EMU_STICKY", "context", 1), 0);
    ck_assert(cx_emu_configure(&config));
    ck_success(cx_emu_call_init(0));
}

static void run_rows(const ended_kind *kind, const char *schedule, bool host_device)
{
    row one = {.kind = kind, .one_at_a_time = strncmp(schedule, "random", 6) == 0};

    configure(schedule, host_device);
    for (size_t i = 0; i < ended_work_count; i++) {
        one.work = &ended_works[i];
        if (!suits(one.work, kind))
            continue;
        for (one.way = kind->ways; one.way->name; one.way++)
            run_row(&one);
    }
}

/* The other process: exports memory until it hears something. */
static void export_memory(int link)
{
    cxu_ipc_mem_handle handle;
    CUcontext context;
    CUdeviceptr memory;
    char word;

    MUST(cx_emu_call_init(0));
    MUST(cx_emu_call_ctx_create_v2(&context, 0, 0));
    MUST(cx_emu_call_mem_alloc(&memory, ENDED_BYTES));
    MUST(cx_emu_call_ipc_get_mem_handle(&handle, memory));
    if (write(link, &handle, sizeof handle) != (ssize_t)sizeof handle || read(link, &word, 1) != 1)
        _exit(250);
}

START_TEST(queued_work_completes_or_fails_when_its_memory_ends)
{
    const ended_kind *kind = &ended_kinds[(size_t)_i / SCHEDULES];
    const bool foreign = (kind->traits & ENDED_FOREIGN) != 0;
    partner other;

    if (foreign) {
        other = start_partner(export_memory);
        hear(other.link, &ended_exported, sizeof ended_exported);
    }
    run_rows(kind, schedules[(size_t)_i % SCHEDULES], false);
    if (foreign) {
        say(other.link, "x", 1);
        end_partner(&other);
    }
}
END_TEST

START_TEST(work_of_the_host_device_completes_or_fails_when_its_memory_ends)
{
    for (size_t i = 0; i < ended_kind_count; i++)
        if (ended_kinds[i].traits & ENDED_ANYWHERE)
            run_rows(&ended_kinds[i], schedules[_i], true);
}
END_TEST

static Suite *ended_memory_suite(void)
{
    Suite *suite = suite_create("ended memory");
    TCase *tcase = tcase_create("ended memory");

    tcase_add_loop_test(tcase, queued_work_completes_or_fails_when_its_memory_ends, 0,
                        (int)(ended_kind_count * SCHEDULES));
    tcase_add_loop_test(tcase, work_of_the_host_device_completes_or_fails_when_its_memory_ends, 0,
                        (int)SCHEDULES);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(ended_memory_suite);
