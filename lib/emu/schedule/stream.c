#include "emu/schedule/stream.h"
#include "emu/base/state.h"
#include "emu/context/stack.h"
#include "emu/device/device.h"
#include "emu/device/sticky.h"
#include "emu/schedule/capture_check.h"
#include "emu/schedule/green.h"

#define PRIORITY_GREATEST (-5)
#define PRIORITY_LEAST 0

static cx_emu_handles handles = {.slot_bytes = sizeof(cx_emu_stream)};
static uint64_t last_id;
static cx_emu_stream *of_threads;
static uint64_t last_thread;

static CX_EMU_THREAD_LOCAL struct {
    uint64_t number; /* 0: the thread never had a per-thread stream */
    bool per_thread_default;
    cx_emu_stream *last; /* its stream in the last used context, if that is still open */
    uint64_t last_opening;
} thread;

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool key_made;

/* ---- making and destroying ---- */

static cx_emu_stream *create_stream(cx_emu_context *context, unsigned int flags, int priority)
{
    cx_emu_stream *stream = cx_emu_handle_take(&handles);

    if (stream == NULL)
        return NULL;
    stream->id = ++last_id;
    stream->opening = context->legacy != NULL ? context->legacy->opening : stream->id;
    stream->context = context;
    stream->flags = flags;
    stream->priority = priority;
    return stream;
}

static cx_emu_stream *create_listed(cx_emu_context *context, unsigned int flags, int priority)
{
    cx_emu_stream *stream = create_stream(context, flags, priority);

    if (stream == NULL)
        return NULL;
    stream->next = context->streams;
    if (stream->next != NULL)
        stream->next->previous = stream;
    context->streams = stream;
    return stream;
}

static void remove_stream(cx_emu_stream *stream)
{
    if (stream->branch != NULL)
        cx_emu_capture_leave(stream);
    *(stream->previous != NULL ? &stream->previous->next : &stream->context->streams) =
        stream->next;
    if (stream->next != NULL)
        stream->next->previous = stream->previous;
    if (stream->thread) {
        *(stream->previous_of_threads != NULL ? &stream->previous_of_threads->next_of_threads
                                              : &of_threads) = stream->next_of_threads;
        if (stream->next_of_threads != NULL)
            stream->next_of_threads->previous_of_threads = stream->previous_of_threads;
    }
    cx_emu_handle_return(&handles, stream);
}

static void destroy_stream(cx_emu_stream *stream)
{
    stream->destroyed = true;
    if (stream->branch != NULL)
        cx_emu_capture_leave(stream);
    if (stream->head == NULL)
        remove_stream(stream);
}

void cx_emu_stream_append(cx_emu_stream *stream, cx_emu_work *work)
{
    work->stream = stream;
    work->context = stream->context;
    work->opening = stream->opening;
    *(stream->tail != NULL ? &stream->tail->next_in_stream : &stream->head) = work;
    stream->tail = work;
}

void cx_emu_stream_finished(cx_emu_stream *stream, cx_emu_work *work)
{
    stream->head = work->next_in_stream;
    work->stream = NULL;
    if (stream->head != NULL)
        return;
    stream->tail = NULL;
    if (stream->destroyed)
        remove_stream(stream);
}

bool cx_emu_streams_open(cx_emu_context *context)
{
    context->legacy = create_stream(context, CXU_STREAM_DEFAULT, PRIORITY_LEAST);
    return context->legacy != NULL;
}

void cx_emu_streams_close(cx_emu_context *context)
{
    cx_emu_stream *legacy = context->legacy;

    context->legacy = NULL;
    cx_emu_work_wait_closing(context, legacy);
    while (context->streams != NULL)
        remove_stream(context->streams);
    cx_emu_work_drop(legacy->barrier);
    cx_emu_handle_return(&handles, legacy);
}

/* ---- per-thread default streams ---- */

/* A thread ends: its streams go when their work is done; nothing waits for that. */
static void end_thread(void *number)
{
    if (atomic_load(&cx_emu_current_phase) != CX_EMU_RUNNING)
        return;
    cx_lock_enter(&cx_emu_lock);
    for (cx_emu_stream *each = of_threads, *next; each != NULL; each = next) {
        next = each->next_of_threads;
        if (each->thread == (uintptr_t)number && !each->destroyed)
            destroy_stream(each);
    }
    thread.last = NULL;
    thread.number = 0;
    cx_lock_leave(&cx_emu_lock);
}

static void make_key(void)
{
    key_made = pthread_key_create(&key, end_thread) == 0;
}

static bool number_thread(void)
{
    if (thread.number)
        return true;
    pthread_once(&key_once, make_key);
    if (!key_made || pthread_setspecific(key, (void *)(uintptr_t)(last_thread + 1)))
        return false;
    thread.number = ++last_thread;
    return true;
}

static cx_emu_stream *create_of_thread(cx_emu_context *context)
{
    cx_emu_stream *stream;

    if (!number_thread())
        return NULL;
    stream = create_listed(context, CXU_STREAM_DEFAULT, PRIORITY_LEAST);
    if (stream == NULL)
        return NULL;
    stream->thread = thread.number;
    stream->next_of_threads = of_threads;
    if (of_threads != NULL)
        of_threads->previous_of_threads = stream;
    of_threads = stream;
    return stream;
}

static cx_emu_stream *search_of_thread(const cx_emu_context *context)
{
    if (!thread.number)
        return NULL;
    for (cx_emu_stream *each = context->streams; each != NULL; each = each->next)
        if (each->thread == thread.number && each->opening == context->legacy->opening)
            return each;
    return NULL;
}

static cxu_result find_of_thread(cx_emu_context *context, cx_emu_stream **out_stream)
{
    uint64_t opening = context->legacy->opening;

    if (thread.last == NULL || thread.last_opening != opening) {
        cx_emu_stream *stream = search_of_thread(context);

        if (stream == NULL)
            stream = create_of_thread(context);
        if (stream == NULL)
            return CXU_OUT_OF_MEMORY;
        thread.last = stream;
        thread.last_opening = opening;
    }
    *out_stream = thread.last;
    return CXU_SUCCESS;
}

void cx_emu_set_per_thread_default(bool per_thread)
{
    thread.per_thread_default = per_thread;
}

/* ---- handles ---- */

bool cx_emu_stream_is_default(const cx_emu_stream *stream)
{
    return stream == stream->context->legacy ||
           (stream->green != NULL && stream->green->stream == stream);
}

static cxu_result find_created(CUstream handle, cx_emu_stream **out_stream)
{
    cx_emu_stream *stream = (void *)handle;

    if (!cx_emu_handle_live(&handles, handle) || stream->destroyed || stream->thread ||
        stream->id == stream->opening || !cx_emu_context_opened(stream->context, stream->opening))
        return CXU_INVALID_HANDLE;
    if (stream->orphan)
        return CXU_CONTEXT_IS_DESTROYED;
    *out_stream = stream;
    return cx_emu_context_error(stream->context);
}

cxu_result cx_emu_stream_find(CUstream handle, cx_emu_stream **out_stream)
{
    const cx_emu_green *green;
    cx_emu_context *context;
    cxu_result result;

    if (handle != NULL && handle != CXU_STREAM_LEGACY && handle != CXU_STREAM_PER_THREAD)
        return find_created(handle, out_stream);
    result = cx_emu_context_current(&context);
    if (result != CXU_SUCCESS)
        return result;
    green = cx_emu_stack_top()->context->green;
    if (handle == CXU_STREAM_PER_THREAD || (handle == NULL && thread.per_thread_default))
        return green != NULL ? CXU_INVALID_HANDLE : find_of_thread(context, out_stream);
    *out_stream = green != NULL ? green->stream : context->legacy;
    return CXU_SUCCESS;
}

cxu_result cx_emu_stream_context(CUstream handle, cx_emu_context **out_context)
{
    cx_emu_stream *stream;
    cxu_result result;

    if (handle == NULL || handle == CXU_STREAM_LEGACY || handle == CXU_STREAM_PER_THREAD)
        return cx_emu_context_current(out_context);
    result = find_created(handle, &stream);
    if (result == CXU_SUCCESS)
        *out_context = stream->context;
    return result;
}

/* ---- calls ---- */

cx_emu_stream *cx_emu_stream_make(cx_emu_context *context, unsigned int flags, int priority)
{
    if (priority < PRIORITY_GREATEST)
        priority = PRIORITY_GREATEST;
    if (priority > PRIORITY_LEAST)
        priority = PRIORITY_LEAST;
    return create_listed(context, flags, priority);
}

cxu_result cx_emu_call_stream_create_with_priority(CUstream *out_stream, unsigned int flags,
                                                   int priority)
{
    cx_emu_context *context;
    cx_emu_stream *stream;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_stream == NULL || flags > CXU_STREAM_NON_BLOCKING)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_context_current(&context);
    if (result != CXU_SUCCESS)
        goto unlock;
    stream = cx_emu_stream_make(context, flags, priority);
    if (stream != NULL) {
        stream->green = cx_emu_green_of(NULL);
        *out_stream = (CUstream)(void *)stream;
    } else {
        result = CXU_OUT_OF_MEMORY;
    }
unlock:
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_stream_create(CUstream *out_stream, unsigned int flags)
{
    return cx_emu_call_stream_create_with_priority(out_stream, flags, PRIORITY_LEAST);
}

cxu_result cx_emu_call_stream_destroy(CUstream handle)
{
    cx_emu_stream *stream;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = find_created(handle, &stream);
    if (result == CXU_SUCCESS)
        destroy_stream(stream);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* The properties that queries read; the device needs the lock as well. */
typedef struct properties {
    unsigned int flags;
    int priority;
    uint64_t id;
    bool captures;
    CUdevice device;
} properties;

static cxu_result query_properties(CUstream handle, const void *out, properties *out_properties)
{
    cx_emu_stream *stream;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_stream_find(handle, &stream);
    if (result == CXU_SUCCESS)
        *out_properties = (properties){.flags = stream->flags,
                                       .priority = stream->priority,
                                       .id = stream->id,
                                       .captures = stream->branch != NULL,
                                       .device = stream->context->device->ordinal};
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_stream_get_priority(CUstream stream, int *out_priority)
{
    properties found;
    cxu_result result = query_properties(stream, out_priority, &found);

    if (result == CXU_SUCCESS)
        *out_priority = found.priority;
    return result;
}

cxu_result cx_emu_call_stream_get_flags(CUstream stream, unsigned int *out_flags)
{
    properties found;
    cxu_result result = query_properties(stream, out_flags, &found);

    if (result == CXU_SUCCESS)
        *out_flags = found.flags;
    return result;
}

/* A stream that captures, other than RELAXED, does not say whose it is: that invalidates the
 * capture. */
static cxu_result query_identity(CUstream handle, const void *out, properties *out_properties)
{
    cx_emu_stream *stream;
    cxu_result result = query_properties(handle, out, out_properties);

    if (result != CXU_SUCCESS || !out_properties->captures)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_stream_find(handle, &stream);
    if (result == CXU_SUCCESS && stream->branch != NULL &&
        stream->branch->capture->mode != CXU_STREAM_CAPTURE_MODE_RELAXED)
        result = cx_emu_capture_refuse(stream);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_stream_get_id(CUstream stream, unsigned long long *out_id)
{
    properties found;
    cxu_result result = query_identity(stream, out_id, &found);

    if (result == CXU_SUCCESS)
        *out_id = found.id;
    return result;
}

cxu_result cx_emu_call_stream_get_device(CUstream stream, CUdevice *out_device)
{
    properties found;
    cxu_result result = query_identity(stream, out_device, &found);

    if (result == CXU_SUCCESS)
        *out_device = found.device;
    return result;
}

/* A stream of a green context gives the handle that stands for that. */
cxu_result cx_emu_call_stream_get_ctx(CUstream handle, CUcontext *out_context)
{
    cx_emu_stream *stream;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_context == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_stream_find(handle, &stream);
    if (result == CXU_SUCCESS)
        *out_context =
            cx_emu_context_handle(stream->green != NULL ? stream->green->context : stream->context);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* G4: captured work never runs, so it cannot be waited for. */
static cxu_result find_not_capturing(CUstream handle, cx_emu_stream **out_stream)
{
    cxu_result result = cx_emu_stream_find(handle, out_stream);

    if (result == CXU_SUCCESS)
        result = cx_emu_capture_check(*out_stream);
    if (result == CXU_SUCCESS && (*out_stream)->branch != NULL)
        result = cx_emu_capture_refuse(*out_stream);
    return result;
}

cxu_result cx_emu_call_stream_synchronize(CUstream handle)
{
    cx_emu_stream *stream;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = find_not_capturing(handle, &stream);
    if (result == CXU_SUCCESS)
        result = cx_emu_capture_check_wait(stream->context->device);
    if (result == CXU_SUCCESS)
        result = cx_emu_work_wait_stream(stream);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_stream_query(CUstream handle)
{
    cx_emu_stream *stream;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = find_not_capturing(handle, &stream);
    if (result == CXU_SUCCESS && !cx_emu_work_poll_stream(stream))
        result = CXU_NOT_READY;
    cx_lock_leave(&cx_emu_lock);
    return result;
}

bool cx_emu_stream_is_idle(CUstream handle)
{
    cx_emu_stream *stream;

    if (cx_emu_enter() != CXU_SUCCESS)
        return false;
    cx_lock_enter(&cx_emu_lock);
    bool idle = find_created(handle, &stream) == CXU_SUCCESS && stream->branch == NULL &&
                stream->head == NULL;
    cx_lock_leave(&cx_emu_lock);
    return idle;
}
