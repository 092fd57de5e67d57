#include "context/thread.h"

#include "base/error.h"
#include "base/lock.h"
#include "base/log.h"
#include "context/frame_kind.h"
#include "context/observer.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

_Thread_local cx_thread *cx_thread_current __attribute__((tls_model("initial-exec")));

/* Lock "threads": guards the registry. Held while frames are searched; before "context" and
 * "pool". */
static cx_lock lock = CX_LOCK_INIT(THREADS);
static cx_thread *threads;
static pthread_key_t exit_key;
static bool exit_key_made;
static pthread_once_t exit_once = PTHREAD_ONCE_INIT;

/* Drops the frames of an ended thread. Returns how many of them should have been popped. */
static uint32_t drop_frames(cx_thread *thread)
{
    uint32_t depth = cx_thread_depth(thread);
    uint32_t explicit_frames = 0;
    for (uint32_t i = 0; i < depth; i++)
        explicit_frames += cx_frame_kind_of(&thread->frames[i])->is_explicit;
    atomic_store_explicit(&thread->depth, 0, memory_order_release);
    return explicit_frames;
}

/* Lock held. */
static void give_back(cx_thread *thread)
{
    CX_OBSERVERS_CALL(thread_ends, thread);
    thread->default_stream_count = 0;
    cx_section_quit(&thread->section);
    atomic_store(&thread->number, 0);
    pthread_mutex_unlock(&thread->owned_lock);
}

/* Makes no driver call: the driver's own stack goes with the thread, in an undefined order. In a
 * forked child the lock may be held by a thread that does not exist. */
static void leave_record(void *argument)
{
    cx_thread *thread = argument;
    cx_thread_current = NULL;
    if (atomic_load(&cx_current_phase) == CX_PHASE_FORKED)
        return;
    uint32_t left = drop_frames(thread);
    if (left != 0)
        cx_log(CTXRT_LOG_WARNING, "thread %d ended with %u frame(s) still pushed",
               atomic_load(&thread->number), left);
    cx_lock_enter(&lock);
    give_back(thread);
    cx_lock_leave(&lock);
}

/* Lock held. Thread-specific destructors run in a limited number of rounds: a thread that registers
 * in the last round ends without giving its record back. */
static void give_back_for_the_dead(void)
{
    for (cx_thread *thread = threads; thread != NULL; thread = thread->next)
        if (atomic_load_explicit(&thread->number, memory_order_relaxed) != 0 &&
            pthread_mutex_trylock(&thread->owned_lock) == EOWNERDEAD) {
            pthread_mutex_consistent(&thread->owned_lock);
            (void)drop_frames(thread);
            give_back(thread);
        }
}

static void make_exit_key(void)
{
    cx_barrier_begin();
    exit_key_made = pthread_key_create(&exit_key, leave_record) == 0;
}

static void read_name(cx_thread *thread)
{
    uint64_t name[2] = {0};
    prctl(PR_GET_NAME, name);
    for (int i = 0; i < 2; i++)
        atomic_store_explicit(&thread->name[i], name[i], memory_order_relaxed);
}

static bool make_robust(pthread_mutex_t *mutex)
{
    pthread_mutexattr_t attributes;
    if (pthread_mutexattr_init(&attributes) != 0)
        return false;
    bool made = pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST) == 0 &&
                pthread_mutex_init(mutex, &attributes) == 0;
    pthread_mutexattr_destroy(&attributes);
    return made;
}

/* Lock held. Takes a record that a thread has left, or makes one. */
static cx_thread *take_record(void)
{
    static uint64_t record_count;
    give_back_for_the_dead();
    for (cx_thread *thread = threads; thread != NULL; thread = thread->next)
        if (atomic_load_explicit(&thread->number, memory_order_relaxed) == 0)
            return thread;
    cx_thread *thread = calloc(1, sizeof *thread);
    cx_frame *frames = calloc(CTXRT_STACK_DEPTH_MAX, sizeof *frames);
    if (thread == NULL || frames == NULL || !make_robust(&thread->owned_lock)) {
        free(thread);
        free(frames);
        return NULL;
    }
    thread->frames = frames;
    thread->serial = record_count++ << CX_THREAD_SERIAL_BITS;
    thread->next = threads;
    threads = thread;
    return thread;
}

static cx_layer_hint give_hint(void)
{
    return cx_thread_current != NULL ? (cx_layer_hint)cx_thread_current->layer_hint
                                     : CX_LAYER_NO_HINT;
}

cx_layer_hint cx_thread_hint(cx_layer_hint hint)
{
    cx_layer_hint before = give_hint();
    if (cx_thread_current != NULL)
        cx_thread_current->layer_hint = (uint8_t)hint;
    return before;
}

ctxrt_status cx_thread_register(cx_thread **out_thread)
{
    pthread_once(&exit_once, make_exit_key);
    if (!exit_key_made)
        return cx_error(CTXRT_ERROR_SYSTEM, "no thread-specific key is left for ctxrt");
    cx_lock_enter(&lock);
    cx_thread *thread = take_record();
    if (thread != NULL && pthread_setspecific(exit_key, thread) != 0)
        thread = NULL;
    /* the record is free: trylock neither waits nor breaks the lock order */
    if (thread != NULL && pthread_mutex_trylock(&thread->owned_lock) != 0)
        thread = NULL;
    if (thread != NULL)
        atomic_store(&thread->number, (int)syscall(SYS_gettid));
    cx_lock_leave(&lock);
    if (thread == NULL)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY,
                        "no memory for the calling thread's stack of frames");
    atomic_store(&cx_layer_names_own.hint, give_hint);
    read_name(thread);
    cx_section_join(&thread->section);
    cx_thread_current = thread;
    *out_thread = thread;
    return CTXRT_SUCCESS;
}

/* Lock held. */
static void each_thread(bool (*visit)(cx_thread *thread, void *argument), void *argument)
{
    give_back_for_the_dead();
    for (cx_thread *thread = threads; thread != NULL; thread = thread->next)
        if (atomic_load(&thread->number) != 0 && !visit(thread, argument))
            break;
}

void cx_threads_each(bool (*visit)(cx_thread *thread, void *argument), void *argument)
{
    cx_lock_enter(&lock);
    each_thread(visit, argument);
    cx_lock_leave(&lock);
}

/* ---- kept frames ---- */

static cx_kept *all_kept; /* lock held */

void cx_threads_keep(cx_kept *kept)
{
    cx_lock_enter(&lock);
    kept->next = all_kept;
    all_kept = kept;
    cx_lock_leave(&lock);
}

void cx_threads_let_go(cx_kept *kept, cx_thread *thread, ctxrt_stream *stream)
{
    cx_lock_enter(&lock);
    if (thread != NULL) {
        cx_thread_begin(thread);
        atomic_store(&cx_thread_top(thread)->stream, stream);
        atomic_store(&cx_thread_top(thread)->allocator, kept->frame.allocator);
        cx_thread_end(thread);
    }
    cx_kept **link = &all_kept;
    while (*link != kept)
        link = &(*link)->next;
    *link = kept->next;
    cx_lock_leave(&lock);
}

void cx_threads_each_and_kept(bool (*visit)(cx_thread *thread, void *argument),
                              bool (*visit_kept)(const cx_kept *kept, void *argument),
                              void *argument)
{
    cx_lock_enter(&lock);
    each_thread(visit, argument);
    for (const cx_kept *kept = all_kept; kept != NULL && visit_kept(kept, argument);
         kept = kept->next)
        ;
    cx_lock_leave(&lock);
}

/* ---- references ---- */

/* The object searched for; NULL fields are ignored. */
typedef struct reference {
    const cx_context *context;
    const ctxrt_stream *stream;
    const ctxrt_allocator *allocator;
    int number;
    int level;
    bool found;
} reference;

static bool look_in_frames(cx_thread *thread, void *argument)
{
    reference *wanted = argument;
    uint32_t depth = atomic_load(&thread->depth);
    wanted->number = atomic_load(&thread->number);
    for (uint32_t i = 0; i < depth && !wanted->found; i++) {
        cx_frame *frame = &thread->frames[i];
        wanted->found =
            (wanted->context != NULL && atomic_load(&frame->context) == wanted->context) ||
            (wanted->stream != NULL && atomic_load(&frame->stream) == wanted->stream) ||
            (wanted->allocator != NULL && atomic_load(&frame->allocator) == wanted->allocator);
        wanted->level = (int)i;
    }
    return !wanted->found;
}

static void look_in_kept(reference *wanted)
{
    for (const cx_kept *kept = all_kept; kept != NULL && !wanted->found; kept = kept->next) {
        wanted->found = (wanted->stream != NULL && kept->frame.stream == wanted->stream) ||
                        (wanted->allocator != NULL && kept->frame.allocator == wanted->allocator);
        wanted->number = 0;
    }
}

static bool look_everywhere(reference *wanted, int *out_number, int *out_level)
{
    cx_sections_close();
    cx_lock_enter(&lock);
    each_thread(look_in_frames, wanted);
    if (!wanted->found)
        look_in_kept(wanted);
    cx_lock_leave(&lock);
    cx_sections_open();
    if (wanted->found) {
        *out_number = wanted->number;
        *out_level = wanted->level;
    }
    return wanted->found;
}

bool cx_threads_use_context(const cx_context *context, int *out_number, int *out_level)
{
    reference wanted = {.context = context};
    return look_everywhere(&wanted, out_number, out_level);
}

bool cx_threads_use_stream(const ctxrt_stream *stream, int *out_number, int *out_level)
{
    reference wanted = {.stream = stream};
    return look_everywhere(&wanted, out_number, out_level);
}

bool cx_threads_use_allocator(const ctxrt_allocator *allocator, int *out_number, int *out_level)
{
    reference wanted = {.allocator = allocator};
    return look_everywhere(&wanted, out_number, out_level);
}

static bool add_depth(cx_thread *thread, void *argument)
{
    *(size_t *)argument += atomic_load(&thread->depth);
    return true;
}

size_t cx_threads_frame_count(void)
{
    size_t count = 0;
    cx_threads_each(add_depth, &count);
    return count;
}

ctxrt_status cx_thread_reserve_default_stream(cx_thread *thread)
{
    if (thread->default_stream_count < thread->default_stream_capacity)
        return CTXRT_SUCCESS;
    size_t capacity =
        thread->default_stream_capacity != 0 ? 2 * thread->default_stream_capacity : 16;
    cx_default_stream *grown = realloc(thread->default_streams, capacity * sizeof *grown);
    if (grown == NULL)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for a thread's default stream");
    thread->default_streams = grown;
    thread->default_stream_capacity = capacity;
    return CTXRT_SUCCESS;
}
