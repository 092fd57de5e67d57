/*
 * What becomes of each object when its context, its device or the runtime ends, by ctxrt or by
 * other code: prints the table of docs/lifetimes.md, and fails where a rule that holds for all
 * rows does not.
 *
 * What other code ended it makes anew before the old object is ended, so that the driver gives out
 * the same handles and addresses again: ending the old object must not touch the new one. Each row
 * is played in a process of its own.
 */
#include "base/pool.h"
#include "context/context.h"
#include "device/device.h"
#include "memory/allocator.h"
#include "memory/memory.h"
#include "object.h"
#include "work/event.h"
#include "work/stream.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ORDINAL = 1, MODEL_BYTES = OBJECT_BYTES }; /* of cuda:0: the host is 0 */
enum { KINDS_MAX = 32, ANSWER_BYTES = 128 };

static cx_driver_table calls; /* the guest's way to the driver */
static const cx_driver_table *const driver = &calls;
static const char *playing[2];
static int failures;

static bool holds(bool condition, const char *what)
{
    if (!condition) {
        printf("# %s, %s: %s\n", playing[0], playing[1], what);
        failures++;
    }
    return condition;
}

/* ---- other code ---- */

typedef struct guest {
    CUcontext context;
    CUstream stream;
    CUevent event;
    CUdeviceptr memory, managed;
    void *pinned;
    bool open;
} guest;

/* One of each kind that the driver gives out. */
static void guest_make(guest *self)
{
    CUcontext popped;
    bool made = driver->ctx_create_v2(&self->context, 0, ORDINAL) == CXU_SUCCESS &&
                driver->stream_create(&self->stream, 0) == CXU_SUCCESS &&
                driver->event_create(&self->event, 0) == CXU_SUCCESS &&
                driver->mem_alloc(&self->memory, MODEL_BYTES) == CXU_SUCCESS &&
                driver->mem_alloc_managed(&self->managed, MODEL_BYTES, CXU_MEM_ATTACH_GLOBAL) ==
                    CXU_SUCCESS &&
                driver->mem_host_alloc(&self->pinned, MODEL_BYTES, 0) == CXU_SUCCESS &&
                driver->ctx_pop(&popped) == CXU_SUCCESS;
    self->open = holds(made, "the guest could not make its own");
}

static bool guest_owns(const guest *self, CUdeviceptr address)
{
    CUdeviceptr base;
    size_t size_bytes;
    return address == 0 ||
           (driver->mem_get_address_range(&base, &size_bytes, address) == CXU_SUCCESS &&
            base == address && self->open);
}

static void guest_end(guest *self)
{
    CUcontext popped;
    if (!self->open)
        return;
    holds(driver->ctx_push(self->context) == CXU_SUCCESS, "the guest's context is gone");
    holds(driver->stream_query(self->stream) == CXU_SUCCESS, "the guest's stream is gone");
    holds(driver->event_query(self->event) == CXU_SUCCESS, "the guest's event is gone");
    holds(guest_owns(self, self->memory), "the guest's memory is gone");
    holds(guest_owns(self, self->managed), "the guest's managed memory is gone");
    holds(driver->mem_free_host(self->pinned) == CXU_SUCCESS, "the guest's pinned memory is gone");
    holds(driver->ctx_pop(&popped) == CXU_SUCCESS &&
              driver->ctx_destroy(self->context) == CXU_SUCCESS,
          "the guest's context could not be destroyed");
}

/* ---- what the driver must not be asked ---- */

static cxu_result trap_stream(CUstream stream)
{
    holds(false, "a stream that is gone was given to the driver");
    return calls.stream_destroy(stream);
}

static cxu_result trap_event(CUevent event)
{
    holds(false, "an event that is gone was given to the driver");
    return calls.event_destroy(event);
}

static cxu_result trap_event_wait(CUevent event)
{
    holds(false, "an event that is gone was waited for");
    return calls.event_synchronize(event);
}

static cxu_result trap_pinned(void *pointer)
{
    holds(false, "pinned memory that is gone was given to the driver");
    return calls.mem_free_host(pointer);
}

static cxu_result trap_pages(void *pointer)
{
    holds(false, "pages that are not pinned any more were given to the driver");
    return calls.mem_host_unregister(pointer);
}

static void set_traps(bool set)
{
    cx_driver_table *table = &cx_drivers[0].table;
    table->stream_destroy = set ? trap_stream : calls.stream_destroy;
    table->event_destroy = set ? trap_event : calls.event_destroy;
    table->event_synchronize = set ? trap_event_wait : calls.event_synchronize;
    table->mem_free_host = set ? trap_pinned : calls.mem_free_host;
    table->mem_host_unregister = set ? trap_pages : calls.mem_host_unregister;
}

/* ---- what happens ---- */

typedef struct play {
    const object_kind *kind;
    object object;
    CUcontext native;
    CUcontext foreign; /* what the context is a record of, if it is a foreign one */
    guest guest;
    ctxrt_status answer;
    bool by_guest;
} play;

static void destroy(play *self)
{
    self->answer = ctxrt_context_destroy(self->object.context);
}

static void release(play *self)
{
    self->answer = ctxrt_device_release(self->object.device);
}

static void release_hold(play *self)
{
    self->answer = ctxrt_context_release(self->object.context);
}

static void reset(play *self)
{
    self->answer = ctxrt_device_reset(self->object.device);
}

static void shut_down(play *self)
{
    self->answer = ctxrt_shutdown();
}

static void guest_destroys(play *self)
{
    self->by_guest = true;
    holds(driver->ctx_destroy(self->native) == CXU_SUCCESS,
          "the guest could not destroy the context");
}

static void guest_resets(play *self)
{
    self->by_guest = true;
    holds(driver->primary_reset(ORDINAL) == CXU_SUCCESS, "the guest could not reset the device");
}

/* As cudaDeviceReset and the next cudaMalloc do. */
static void guest_resets_and_goes_on(play *self)
{
    CUcontext primary;
    guest_resets(self);
    holds(driver->primary_retain(&primary, ORDINAL) == CXU_SUCCESS &&
              driver->primary_release(ORDINAL) == CXU_SUCCESS,
          "the guest could not use the device again");
}

typedef enum context_kind { CREATED, PRIMARY, FOREIGN } context_kind;

static const struct happening {
    const char *text;
    context_kind context;
    void (*happen)(play *self);
    bool elsewhere; /* the object is made on a thread that is gone then */
} happenings[] = {
    {"`ctxrt_context_destroy` of a created context", CREATED, destroy, false},
    {"Other code destroys a created context", CREATED, guest_destroys, false},
    {"`ctxrt_device_release`", PRIMARY, release, false},
    {"`ctxrt_device_reset`", PRIMARY, reset, false},
    {"Other code resets the device", PRIMARY, guest_resets, false},
    {"Other code resets the device and uses it again", PRIMARY, guest_resets_and_goes_on, false},
    {"`ctxrt_context_release` of a foreign context", FOREIGN, release_hold, false},
    {"The owner destroys a foreign context", FOREIGN, guest_destroys, false},
    {"The thread that made it ends", PRIMARY, NULL, true},
    {"`ctxrt_shutdown`", PRIMARY, shut_down, false},
};
enum { HAPPENINGS = sizeof happenings / sizeof happenings[0] };

/* ---- one row ---- */

static void open_context(play *self, context_kind kind)
{
    CUcontext popped;
    ctxrt_status status;
    self->object.device = CTXRT_CUDA(0);
    if (kind == CREATED) {
        status = ctxrt_context_create(self->object.device, 0, &self->object.context);
    } else if (kind == FOREIGN) {
        holds(driver->ctx_create_v2(&self->foreign, 0, ORDINAL) == CXU_SUCCESS &&
                  driver->ctx_pop(&popped) == CXU_SUCCESS,
              "there is no foreign context");
        status = ctxrt_context_from_native(CTXRT_DEVICE_CUDA, self->foreign, &self->object.context);
    } else {
        status = ctxrt_context_retain_primary(self->object.device, &self->object.context);
        if (status == CTXRT_SUCCESS)
            status = ctxrt_context_release(self->object.context);
    }
    if (status == CTXRT_SUCCESS)
        status = ctxrt_context_native(self->object.context, &self->native);
    holds(status == CTXRT_SUCCESS, "there is no context");
}

static void *make_object(void *argument)
{
    play *self = argument;
    holds(ctxrt_stack_push(self->object.context) == CTXRT_SUCCESS, "no push");
    holds(self->kind->make(&self->object) == CTXRT_SUCCESS, "the object could not be made");
    if (!self->kind->is_frame)
        holds(ctxrt_stack_pop() == CTXRT_SUCCESS, "no pop");
    return NULL;
}

static void *end_below(void *argument)
{
    play *self = argument;
    if (self->kind->is_frame)
        holds(ctxrt_stack_pop() == CTXRT_SUCCESS, "the frame beneath could not be popped");
    return NULL;
}

static void *make_anew(void *argument)
{
    guest_make(&((play *)argument)->guest);
    return NULL;
}

typedef struct errand {
    play *play;
    void (*happen)(play *self);
} errand;

/* Events come from another thread: what they do to the stack of the thread that makes them is
 * another table. */
static void *run_errand(void *argument)
{
    errand *self = argument;
    self->happen(self->play);
    return NULL;
}

static void on_another_thread(void *(*function)(void *), void *argument)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, function, argument) != 0)
        abort();
    pthread_join(thread, NULL);
}

static void close_context(play *self, const struct happening *event)
{
    ctxrt_status status = CTXRT_SUCCESS;
    guest_end(&self->guest);
    if (event->context == CREATED)
        status = ctxrt_context_destroy(self->object.context);
    else if (event->context == PRIMARY)
        status = ctxrt_device_release(self->object.device);
    else if (event->happen != release_hold)
        status = ctxrt_context_release(self->object.context);
    holds(status == CTXRT_SUCCESS, "the context could not be given back afterwards");
    if (event->context == FOREIGN && !self->by_guest)
        holds(driver->ctx_destroy(self->foreign) == CXU_SUCCESS, "the foreign context is gone");
}

static size_t free_bytes(void)
{
    CUcontext context;
    size_t free = 0, total;
    if (driver->ctx_create_v2(&context, 0, ORDINAL) != CXU_SUCCESS)
        return 0;
    (void)driver->mem_get_info(&free, &total);
    (void)driver->ctx_destroy(context);
    return free;
}

static void check_nothing_is_left(size_t free_before)
{
    CUcontext current = NULL;
    holds(ctxrt_stack_depth() == 0, "frames are left");
    holds(driver->ctx_get_current(&current) == CXU_SUCCESS && current == NULL,
          "a context is current");
    holds(free_bytes() == free_before, "device memory is left");
    holds(ctxrt_shutdown() == CTXRT_SUCCESS, "the runtime could not be shut down");
    holds(cx_pool_live(&cx_contexts) == 0 && cx_pool_live(&cx_streams) == 0 &&
              cx_pool_live(&cx_events) == 0 && cx_pool_live(&cx_memories) == 0 &&
              cx_pool_live(&cx_allocators) == 0,
          "records are left");
}

static const char *short_name(ctxrt_status status)
{
    const char *name = ctxrt_status_name(status);
    return strncmp(name, "CTXRT_ERROR_", 12) == 0 ? name + 12 : name + 6;
}

/* A release that is refused must change nothing; one that succeeds must leave nothing to be
 * used. */
static void check_row(const play *self, ctxrt_status used, ctxrt_status ended)
{
    holds(ended == CTXRT_SUCCESS, "the object could not be ended");
    if (self->answer == CTXRT_ERROR_IN_USE)
        holds(used == CTXRT_SUCCESS, "a refused call changed something");
    holds(used == CTXRT_SUCCESS || ctxrt_last_error()->message[0] != '\0', "no message");
}

static bool start(void)
{
    ctxrt_options options = CTXRT_OPTIONS_INIT;
    options.cuda_driver = CTXRT_CUDA_DRIVER_EMULATED;
    options.emulated_devices = 4;
    options.emulated_memory_bytes = (size_t)64 << 20;
    if (ctxrt_init(&options) != CTXRT_SUCCESS)
        return false;
    calls = cx_drivers[0].table;
    return true;
}

static void play_row(const struct happening *event, const object_kind *kind,
                     char out_answer[ANSWER_BYTES])
{
    play self = {.kind = kind};
    playing[0] = event->text;
    playing[1] = kind->noun;
    if (!holds(start(), "the runtime did not start"))
        return;
    size_t free_before = free_bytes();
    open_context(&self, event->context);
    if (event->elsewhere)
        on_another_thread(make_object, &self);
    else
        make_object(&self);
    errand sent = {&self, event->happen};
    if (event->happen != NULL)
        on_another_thread(run_errand, &sent);

    ctxrt_status used = kind->use != NULL ? kind->use(&self.object) : CTXRT_SUCCESS;
    if (self.by_guest)
        on_another_thread(make_anew, &self);
    set_traps(self.by_guest || event->happen == reset);
    ctxrt_status ended = kind->end(&self.object);
    set_traps(false);
    check_row(&self, used, ended);
    end_below(&self);
    close_context(&self, event);
    check_nothing_is_left(free_before);
    bool is_call = event->happen != NULL && !self.by_guest;
    snprintf(out_answer, ANSWER_BYTES, "%s%s%s", is_call ? short_name(self.answer) : "",
             is_call ? ", " : "", kind->use != NULL ? short_name(used) : "-");
}

static void play_alone(const struct happening *event, const object_kind *kind,
                       char shared_answer[ANSWER_BYTES])
{
    int status = 0;
    shared_answer[0] = '\0';
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        play_row(event, kind, shared_answer);
        exit(failures);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        failures++;
}

static void play_table(const struct happening *event, char *shared_answer,
                       char out_answers[KINDS_MAX][ANSWER_BYTES])
{
    for (int i = 0; object_kinds[i].noun != NULL; i++)
        if (!event->elsewhere || !object_kinds[i].is_frame) {
            play_alone(event, &object_kinds[i], shared_answer);
            strcpy(out_answers[i], shared_answer);
        }
}

typedef char all_answers[HAPPENINGS][KINDS_MAX][ANSWER_BYTES];

static bool happen_alike(const all_answers answers, size_t i, size_t k)
{
    return memcmp(answers[i], answers[k], sizeof answers[i]) == 0;
}

static bool end_alike(const all_answers answers, int i, int k)
{
    for (size_t event = 0; event < HAPPENINGS; event++)
        if (strcmp(answers[event][i], answers[event][k]) != 0)
            return false;
    return true;
}

/* One number for all happenings with the same answers. */
static int print_happenings(const all_answers answers, size_t out_columns[HAPPENINGS])
{
    bool printed[HAPPENINGS] = {false};
    int count = 0;
    for (size_t i = 0; i < HAPPENINGS; i++) {
        if (printed[i])
            continue;
        out_columns[count++] = i;
        printf("%d. %s", count, happenings[i].text);
        for (size_t k = i + 1; k < HAPPENINGS; k++)
            if (happen_alike(answers, i, k)) {
                printf("; %s", happenings[k].text);
                printed[k] = true;
            }
        printf("\n");
    }
    return count;
}

/* One row for all objects with the same answers. */
static void print_rows(const all_answers answers, const size_t columns[], int count)
{
    bool printed[KINDS_MAX] = {false};
    for (int i = 0; object_kinds[i].noun != NULL; i++) {
        if (printed[i])
            continue;
        printf("| %s", object_kinds[i].noun);
        for (int k = i + 1; object_kinds[k].noun != NULL; k++)
            if (end_alike(answers, i, k)) {
                printf(", %s", object_kinds[k].noun);
                printed[k] = true;
            }
        for (int column = 0; column < count; column++)
            printf(" | %s", answers[columns[column]][i]);
        printf(" |\n");
    }
}

static void print_table(const all_answers answers)
{
    size_t columns[HAPPENINGS];
    int count = print_happenings(answers, columns);
    printf("\n| object |");
    for (int column = 1; column <= count; column++)
        printf(" %d |", column);
    printf("\n|---|");
    for (int column = 1; column <= count; column++)
        printf("---|");
    printf("\n");
    print_rows(answers, columns, count);
}

int main(void)
{
    static all_answers answers;
    char *shared_answer =
        mmap(NULL, ANSWER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared_answer == MAP_FAILED)
        return 1;
    for (size_t i = 0; i < HAPPENINGS; i++)
        play_table(&happenings[i], shared_answer, answers[i]);
    print_table(answers);
    return failures == 0 ? 0 : 1;
}
