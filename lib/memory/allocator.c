#include "memory/cache.h"
#include "memory/diagnosis.h"
#include "memory/peer_use.h"
#include "memory/address_index.h"

#include "base/error.h"
#include "base/eventcount.h"
#include "base/handle.h"
#include "context/observer.h"
#include "device/environment.h"
#include "work/work.h"

cx_pool cx_allocators = CX_POOL_INIT("allocator", 5, cx_allocator);

/* ---- sources ---- */

/* "vmm" applies to GPUs: the CPU device has no virtual memory. */
static ctxrt_status source_of_environment(const cx_context *context,
                                          ctxrt_allocator_source *out_source)
{
    ctxrt_status status = cx_environment_allocator_source(out_source);
    bool cpu = context->device != NULL && context->device->host_accessible;
    if (*out_source == CTXRT_ALLOCATOR_SOURCE_DEFAULT ||
        (*out_source == CTXRT_ALLOCATOR_SOURCE_VMM && cpu))
        *out_source = CTXRT_ALLOCATOR_SOURCE_ALLOC;
    return status;
}

/* Settles the source of a caching allocator, which may become a direct one. Never a source that was
 * not requested. */
static ctxrt_status choose_source(const cx_context *context, cx_allocator *model)
{
    ctxrt_status status = CTXRT_SUCCESS;
    if (model->options.source == CTXRT_ALLOCATOR_SOURCE_DEFAULT)
        status = source_of_environment(context, &model->options.source);
    if (status == CTXRT_SUCCESS && model->options.source == CTXRT_ALLOCATOR_SOURCE_VMM)
        status = cx_cache_check_mapping(context);
    if (model->options.source == CTXRT_ALLOCATOR_SOURCE_DIRECT)
        model->kind = &cx_direct_allocator;
    return status;
}

/* ---- requests ---- */

static cx_eventcount opened = CX_EVENTCOUNT_INIT;

static bool is_open(const void *allocator)
{
    return (atomic_load(&((const cx_allocator *)allocator)->figures.live_count) &
            CX_COUNTERS_CLOSED) == 0;
}

void cx_allocator_wait_open(const cx_allocator *allocator)
{
    cx_eventcount_wait(&opened, is_open, allocator);
}

bool cx_allocator_close_requests(cx_allocator *allocator, uint64_t *out_live)
{
    *out_live = 0;
    while (!atomic_compare_exchange_weak(&allocator->figures.live_count, out_live,
                                         CX_COUNTERS_CLOSED)) {
        if (*out_live == 0)
            continue;
        if ((*out_live & CX_COUNTERS_CLOSED) == 0)
            return false;
        cx_allocator_wait_open(allocator);
        *out_live = 0;
    }
    return true;
}

void cx_allocator_open_requests(cx_allocator *allocator)
{
    atomic_fetch_and(&allocator->figures.live_count, ~CX_COUNTERS_CLOSED);
    cx_eventcount_wake(&opened);
}

bool cx_allocator_refuses_call(cx_allocator *allocator)
{
    uint64_t left = atomic_load(&allocator->growths_until_refusal);
    while (left != 0 &&
           !atomic_compare_exchange_weak(&allocator->growths_until_refusal, &left, left - 1))
        ;
    return left == 1;
}

/* ---- a context's own allocators ---- */

/* cuMemFree waits for all kernels. cuCtxDestroy frees the memory as well, and ends a kernel that
 * never ends (C3). So free memory is left to it; mapped memory belongs to no context, and that of a
 * green context to the primary one. */
static void close_cache(cx_cache *cache, bool native)
{
    bool left = cache->context->kind == CX_CONTEXT_CREATED && cache->context->green == NULL &&
                !cache->mapped;
    cx_cache_close(cache, native && !left);
}

/* Ends an allocator without live memory: memory counts as an object of the context. `native`: the
 * context still exists. */
static void end_one(_Atomic(void *) *place, bool native)
{
    cx_allocator *allocator = atomic_exchange(place, NULL);
    if (allocator == NULL)
        return;
    cx_sections_close();
    (void)cx_pool_retire(&cx_allocators, cx_pool_handle(&cx_allocators, allocator));
    cx_sections_open();
    bool beneath = atomic_load(&allocator->front) != NULL;
    cx_diagnosis_hook.ends(allocator, native);
    if (!beneath && allocator->kind != &cx_direct_allocator)
        close_cache(allocator->pinned != NULL ? allocator->pinned : allocator->cache, native);
    cx_pool_put_back(&cx_allocators, allocator);
}

static void end_default(cx_context *context, bool native)
{
    end_one(&context->pinned_allocator, native);
    end_one(&context->direct_allocator, native);
    end_one(&context->allocator, native);
}

static void close_default(cx_context *context)
{
    cx_peer_uses_finish(context);
    cx_caches_forget_uses_of(context);
    end_default(context, true);
}

/* The allocator survives a reset: older memory is still to be released, and is in its figures. */
static void forget_memory(cx_context *context, bool for_good)
{
    cx_caches_forget_uses_of(context);
    if (for_good) {
        cx_peer_uses_finish(context);
        end_default(context, false);
    } else {
        cx_peer_uses_forget(context);
        cx_caches_forget(context);
    }
}

static void prepare_reset(cx_context *context)
{
    atomic_store(&cx_pointers_may_be_owed, true);
    cx_peer_uses_await(context);
}

static void report_left(void)
{
    cx_diagnosis_hook.shutdown_is_refused();
}

void cx_memory_watch_contexts(void)
{
    static const cx_observer observer = {
        .context_closes = close_default,
        .context_is_empty = forget_memory,
        .context_is_reset = prepare_reset,
        .count_memory = cx_caches_count,
        .peer_changes = cx_caches_share,
        .stream_closes = cx_caches_close_stream,
        .thread_ends = cx_caches_leave_thread,
        .shutdown_is_refused = report_left,
    };
    cx_observe(CX_OBSERVED_BY_MEMORY, &observer);
}

static ctxrt_status no_memory(const cx_context *context)
{
    return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for an allocator of %s",
                    cx_context_text(context));
}

/* Makes an allocator's cache. That of device memory in debug mode is the allocator's beneath. */
static ctxrt_status open_memory(cx_allocator *allocator)
{
    ctxrt_status status = CTXRT_SUCCESS;
    if (allocator->kind == &cx_pinned_allocator)
        status = cx_cache_open(allocator, &allocator->pinned);
    if (status == CTXRT_SUCCESS)
        status = cx_diagnosis_hook.begins(allocator);
    if (status == CTXRT_SUCCESS && allocator->kind == &cx_caching_allocator &&
        atomic_load(&allocator->front) == NULL) {
        status = cx_cache_open(allocator, &allocator->cache);
        if (status != CTXRT_SUCCESS)
            cx_diagnosis_hook.ends(allocator, true);
    } else if (status != CTXRT_SUCCESS && allocator->pinned != NULL) {
        cx_cache_close(allocator->pinned, true);
    }
    return status;
}

/* NULL: with the error recorded. */
static cx_allocator *take_allocator(const cx_allocator *model, cx_context *context)
{
    cx_allocator *allocator = cx_pool_take(&cx_allocators);
    if (allocator == NULL) {
        (void)no_memory(context);
        return NULL;
    }
    allocator->kind = model->kind;
    allocator->context = context;
    allocator->is_default = model->is_default;
    allocator->options = model->options;
    allocator->vtable = model->vtable;
    allocator->user_data = model->user_data;
    allocator->pool = model->pool;
    atomic_store(&allocator->deferred_frees, NULL);
    atomic_store(&allocator->out_of_memory, NULL);
    allocator->cache = NULL;
    atomic_store(&allocator->front, NULL);
    atomic_store(&allocator->watched, false);
    allocator->pinned = NULL;
    atomic_store(&allocator->growths_until_refusal, 0);
    cx_counters_reset(&allocator->figures, model->options.limit_bytes);
    if (open_memory(allocator) != CTXRT_SUCCESS) {
        cx_pool_put_back(&cx_allocators, allocator);
        return NULL;
    }
    return allocator;
}

static ctxrt_status make_own(cx_context *context, const cx_allocator *model, _Atomic(void *) *place,
                             cx_allocator **out_allocator)
{
    cx_memory_watch_contexts();
    cx_lock_enter(&context->lock);
    cx_allocator *allocator = atomic_load(place);
    if (allocator == NULL) {
        allocator = take_allocator(model, context);
        if (allocator != NULL)
            cx_pool_publish(&cx_allocators, allocator);
        atomic_store(place, allocator);
    }
    cx_lock_leave(&context->lock);
    if (allocator == NULL)
        return ctxrt_last_error()->status;
    *out_allocator = allocator;
    return CTXRT_SUCCESS;
}

static ctxrt_status make_default(cx_context *context, cx_allocator **out_allocator)
{
    cx_allocator model = {
        .kind = &cx_caching_allocator, .is_default = true, .options = CTXRT_ALLOCATOR_OPTIONS_INIT};
    ctxrt_status status = choose_source(context, &model);
    return status == CTXRT_SUCCESS ? make_own(context, &model, &context->allocator, out_allocator)
                                   : status;
}

ctxrt_status cx_allocator_pinned(cx_context *context, cx_allocator **out_allocator)
{
    static const cx_allocator model = {
        .kind = &cx_pinned_allocator, .is_default = true, .options = CTXRT_ALLOCATOR_OPTIONS_INIT};
    *out_allocator = atomic_load_explicit(&context->pinned_allocator, memory_order_acquire);
    return *out_allocator != NULL
               ? CTXRT_SUCCESS
               : make_own(context, &model, &context->pinned_allocator, out_allocator);
}

ctxrt_status cx_allocator_direct(cx_context *context, cx_allocator **out_allocator)
{
    cx_allocator model = {
        .kind = &cx_direct_allocator, .is_default = true, .options = CTXRT_ALLOCATOR_OPTIONS_INIT};
    model.options.source = CTXRT_ALLOCATOR_SOURCE_DIRECT;
    *out_allocator = atomic_load_explicit(&context->direct_allocator, memory_order_acquire);
    return *out_allocator != NULL
               ? CTXRT_SUCCESS
               : make_own(context, &model, &context->direct_allocator, out_allocator);
}

ctxrt_status cx_allocator_default(cx_context *context, cx_allocator **out_allocator)
{
    *out_allocator = atomic_load_explicit(&context->allocator, memory_order_acquire);
    return __builtin_expect(*out_allocator != NULL, 1) ? CTXRT_SUCCESS
                                                       : make_default(context, out_allocator);
}

/* ---- arguments ---- */

static ctxrt_status find_allocator(const ctxrt_allocator *handle, cx_allocator **out_allocator)
{
    cx_allocator *allocator = cx_pool_find(&cx_allocators, handle);
    if (allocator == NULL)
        return cx_handle_error("allocator", handle, "it was destroyed, or never was one");
    *out_allocator = allocator;
    return CTXRT_SUCCESS;
}

ctxrt_status cx_allocator_of_frame(cx_frame *frame, cx_allocator **out_allocator)
{
    ctxrt_allocator *own = atomic_load_explicit(&frame->allocator, memory_order_relaxed);
    return own != NULL ? find_allocator(own, out_allocator)
                       : cx_allocator_default(cx_frame_context(frame), out_allocator);
}

ctxrt_status cx_allocator_resolve(const ctxrt_allocator *handle, cx_allocator **out_allocator)
{
    cx_thread *thread;
    cx_frame *frame;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS || handle != NULL)
        return status == CTXRT_SUCCESS ? find_allocator(handle, out_allocator) : status;
    status = cx_stack_enter(&thread, &frame);
    return status == CTXRT_SUCCESS ? cx_allocator_of_frame(frame, out_allocator) : status;
}

/* ---- making and destroying ---- */

ctxrt_status cx_allocator_make(const cx_allocator *model, ctxrt_allocator **out_allocator)
{
    cx_thread *thread;
    cx_frame *frame;
    ctxrt_status status = cx_stack_enter(&thread, &frame);
    if (status != CTXRT_SUCCESS)
        return status;
    cx_context *context = cx_frame_context(frame);
    cx_allocator chosen = {.kind = model->kind, .options = model->options, .vtable = model->vtable,
                           .user_data = model->user_data, .pool = model->pool};
    if (model->kind == &cx_caching_allocator)
        status = choose_source(context, &chosen);
    if (status != CTXRT_SUCCESS)
        return status;
    cx_memory_watch_contexts();
    cx_allocator *allocator = take_allocator(&chosen, context);
    if (allocator == NULL)
        return ctxrt_last_error()->status;
    cx_context_object_add(context, CX_OBJECT_ALLOCATOR);
    *out_allocator = cx_pool_publish(&cx_allocators, allocator);
    return CTXRT_SUCCESS;
}

static ctxrt_status check_options(const ctxrt_allocator_options *options)
{
    if (options->struct_size != sizeof *options)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "ctxrt_allocator_create: struct_size is %zu, not %zu: start from "
                        "CTXRT_ALLOCATOR_OPTIONS_INIT",
                        options->struct_size, sizeof *options);
    if ((int)options->source < 0 || options->source > CTXRT_ALLOCATOR_SOURCE_DIRECT)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "ctxrt_allocator_create: there is no source %d", (int)options->source);
    return CTXRT_SUCCESS;
}

ctxrt_status ctxrt_allocator_create(const ctxrt_allocator_options *options,
                                    ctxrt_allocator **out_allocator)
{
    cx_allocator model = {.kind = &cx_caching_allocator, .options = CTXRT_ALLOCATOR_OPTIONS_INIT};
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (out_allocator == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_allocator_create: out_allocator is NULL");
    status = options != NULL ? check_options(options) : CTXRT_SUCCESS;
    if (status != CTXRT_SUCCESS)
        return status;
    if (options != NULL)
        model.options = *options;
    return cx_allocator_make(&model, out_allocator);
}

/* Checks frames first: only a thread with the allocator in a frame requests memory, so if there is
 * none, the count cannot grow. */
static ctxrt_status check_unused(const ctxrt_allocator *handle, const cx_allocator *allocator)
{
    int number, level;
    if (cx_threads_use_allocator(handle, &number, &level))
        return number == 0
                   ? cx_error(CTXRT_ERROR_IN_USE,
                              "the allocator is in use: it is the allocator of a detached frame")
                   : cx_error(
                         CTXRT_ERROR_IN_USE,
                         "the allocator is in use: it is the allocator of frame %d of thread %d",
                         level, number);
    unsigned long long live = atomic_load(&allocator->figures.live_count);
    if (live != 0)
        return cx_error(CTXRT_ERROR_IN_USE,
                        "the allocator is in use: %llu piece%s of its memory %s live or kept by a "
                        "graph",
                        live, live == 1 ? "" : "s", live == 1 ? "is" : "are");
    return CTXRT_SUCCESS;
}

static ctxrt_status check_owned(const ctxrt_allocator *handle)
{
    cx_allocator *allocator;
    ctxrt_status status = find_allocator(handle, &allocator);
    if (status == CTXRT_SUCCESS && allocator->is_default)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "the allocator is the %s one of its context, and goes with that",
                        allocator->pinned != NULL ? "pinned"
                        : atomic_load(&allocator->context->direct_allocator) == allocator
                            ? "direct"
                            : "default");
    return status;
}

/* Makes only an unused allocator stale. No other thread looks at it afterwards. */
static ctxrt_status retire_allocator(const ctxrt_allocator *handle, cx_allocator **out_allocator)
{
    cx_sections_close();
    ctxrt_status status = check_owned(handle);
    if (status == CTXRT_SUCCESS) {
        *out_allocator = cx_pool_find(&cx_allocators, handle);
        status = check_unused(handle, *out_allocator);
    }
    if (status == CTXRT_SUCCESS)
        (void)cx_pool_retire(&cx_allocators, handle);
    cx_sections_open();
    return status;
}

/* A reset of the context waits: the driver hands memory that it ends out anew, and this must not
 * free it as the allocator's. */
static void close_kept(cx_allocator *allocator)
{
    cx_thread *thread;
    cx_error_saved saved;
    cx_context *context = allocator->context;
    const cx_allocator_kind *kind = cx_allocator_kind_of(allocator);
    cx_error_save(&saved);
    bool entered =
        cx_thread_self(&thread) == CTXRT_SUCCESS && cx_context_enter(context) == CTXRT_SUCCESS;
    cx_error_restore(&saved);
    int cancel = entered ? cx_work_begin_wait(context) : 0;
    if (kind->destroy != NULL)
        kind->destroy(allocator);
    cx_diagnosis_hook.ends(allocator, true);
    if (entered)
        cx_work_end_wait(context, cancel);
}

ctxrt_status ctxrt_allocator_destroy(ctxrt_allocator *handle)
{
    ctxrt_status status;
    if (!cx_runtime_enter_release(&status) || handle == NULL)
        return status;
    cx_allocator *allocator;
    status = retire_allocator(handle, &allocator);
    if (status != CTXRT_SUCCESS)
        return status;
    close_kept(allocator);
    cx_context *context = allocator->context;
    cx_pool_put_back(&cx_allocators, allocator);
    cx_context_object_drop(context, CX_OBJECT_ALLOCATOR);
    return CTXRT_SUCCESS;
}

/* ---- the allocator of a frame ---- */

static ctxrt_status check_same_context(const cx_frame *frame, const ctxrt_allocator *handle)
{
    cx_allocator *allocator;
    ctxrt_status status = find_allocator(handle, &allocator);
    if (status == CTXRT_SUCCESS && allocator->pinned != NULL)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "the allocator is of pinned memory: a frame's is of device memory");
    if (status == CTXRT_SUCCESS && allocator->context != cx_frame_context(frame))
        return cx_error(
            CTXRT_ERROR_WRONG_CONTEXT, "the allocator is of %s, and the top frame is of %s",
            cx_context_text(allocator->context), cx_context_text(cx_frame_context(frame)));
    return status;
}

static void put_allocator(cx_thread *thread, cx_frame *frame, ctxrt_allocator *allocator)
{
    cx_thread_begin(thread);
    atomic_store_explicit(&frame->allocator, allocator, memory_order_release);
    cx_thread_end(thread);
}

ctxrt_status ctxrt_frame_set_allocator(ctxrt_allocator *allocator)
{
    cx_thread *thread;
    cx_frame *frame;
    ctxrt_status status = cx_stack_enter(&thread, &frame);
    if (status != CTXRT_SUCCESS)
        return status;
    cx_section_enter();
    if (allocator != NULL)
        status = check_same_context(frame, allocator);
    if (status == CTXRT_SUCCESS)
        put_allocator(thread, frame, allocator);
    cx_section_leave();
    return status;
}

static ctxrt_status get_own(const char *call, ctxrt_status (*get)(cx_context *, cx_allocator **),
                            ctxrt_allocator **out_allocator)
{
    cx_thread *thread;
    cx_frame *frame;
    cx_allocator *allocator;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (out_allocator == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "%s: out_allocator is NULL", call);
    status = cx_stack_enter(&thread, &frame);
    if (status == CTXRT_SUCCESS)
        status = get(cx_frame_context(frame), &allocator);
    if (status == CTXRT_SUCCESS)
        *out_allocator = cx_pool_handle(&cx_allocators, allocator);
    return status;
}

ctxrt_status ctxrt_allocator_pinned(ctxrt_allocator **out_allocator)
{
    return get_own("ctxrt_allocator_pinned", cx_allocator_pinned, out_allocator);
}

ctxrt_status ctxrt_allocator_direct(ctxrt_allocator **out_allocator)
{
    return get_own("ctxrt_allocator_direct", cx_allocator_direct, out_allocator);
}

ctxrt_status ctxrt_allocator_current(ctxrt_allocator **out_allocator)
{
    cx_allocator *allocator;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (out_allocator == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_allocator_current: out_allocator is NULL");
    status = cx_allocator_resolve(NULL, &allocator);
    if (status == CTXRT_SUCCESS)
        *out_allocator = cx_pool_handle(&cx_allocators, allocator);
    return status;
}

/* ---- figures ---- */

ctxrt_status ctxrt_allocator_statistics(ctxrt_allocator *handle,
                                        ctxrt_allocator_figures *out_figures)
{
    cx_allocator *allocator;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (out_figures == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER,
                        "ctxrt_allocator_statistics: out_figures is NULL");
    status = cx_allocator_resolve(handle, &allocator);
    if (status == CTXRT_SUCCESS)
        cx_counters_read(&allocator->figures, out_figures);
    return status;
}

ctxrt_status ctxrt_allocator_set_limit(ctxrt_allocator *handle, uint64_t limit_bytes)
{
    cx_allocator *allocator;
    ctxrt_status status = cx_allocator_resolve(handle, &allocator);
    if (status == CTXRT_SUCCESS)
        atomic_store(&allocator->figures.limit_bytes, limit_bytes);
    return status;
}

ctxrt_status ctxrt_allocator_trim(ctxrt_allocator *handle, uint64_t *out_released_bytes)
{
    cx_allocator *allocator;
    ctxrt_status status = cx_allocator_resolve(handle, &allocator);
    if (status != CTXRT_SUCCESS)
        return status;
    const cx_allocator_kind *kind = cx_allocator_kind_of(allocator);
    uint64_t released = kind->trim != NULL ? kind->trim(allocator) : 0;
    if (out_released_bytes != NULL)
        *out_released_bytes = released;
    return CTXRT_SUCCESS;
}
