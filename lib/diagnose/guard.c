#include "diagnose/watch.h"

#include "base/error.h"
#include "context/context_guard.h"
#include "device/environment.h"
#include "diagnose/origin.h"
#include "memory/cache.h"
#include "memory/diagnosis.h"
#include "memory/pinned.h"
#include "memory/address_index.h"
#include <stdlib.h>

/* ---- the allocator beneath ---- */

static ctxrt_status give_inner(cx_guard *guard, const cx_block *block)
{
    cx_allocator *inner = &guard->inner;
    ctxrt_status status = inner->kind->free(inner, block);
    cx_counters_freed(&inner->figures, block->size_bytes);
    return status;
}

/* Reports an overwritten byte, if there is one. */
static ctxrt_status look_at(cx_guarded *guarded)
{
    cx_guard_finding finding;
    return cx_guard_sees(guarded, &finding) ? cx_guard_report(guarded, &finding) : CTXRT_SUCCESS;
}

/* Memory with a stream waits for it when it is checked. */
static ctxrt_status wait_for_uses(const cx_guarded *guarded)
{
    return guarded->stream == NULL ? cx_pinned_wait(&guarded->inner) : CTXRT_SUCCESS;
}

/* ---- quarantine ---- */

static void give_beneath(cx_guard *guard, cx_guarded *guarded)
{
    if (cx_context_holds_what_is_of(guarded->inner.context, guarded->inner.epoch)) {
        (void)wait_for_uses(guarded);
        if (guarded->filled)
            (void)look_at(guarded);
    }
    (void)give_inner(guard, &guarded->inner);
    free(guarded);
}

/* Lock held. */
static cx_guarded *take_oldest(cx_guard *guard, uint64_t most_bytes)
{
    cx_guarded *guarded = guard->oldest;
    if (guarded == NULL || guard->quarantined_bytes <= most_bytes)
        return NULL;
    guard->oldest = guarded->next;
    if (guard->oldest == NULL)
        guard->newest = NULL;
    guard->quarantined_bytes -= guarded->inner.size_bytes;
    return guarded;
}

/* Writes found here only go to the log: the thread that happens to free now did not cause them. */
static bool empty_quarantine(cx_guard *guard, uint64_t most_bytes)
{
    bool any = false;
    for (;;) {
        cx_error_saved saved;
        cx_lock_enter(&guard->lock);
        cx_guarded *guarded = take_oldest(guard, most_bytes);
        cx_lock_leave(&guard->lock);
        if (guarded == NULL)
            return any;
        cx_error_save(&saved);
        give_beneath(guard, guarded);
        cx_error_restore(&saved);
        any = true;
    }
}

static void put_into_quarantine(cx_guard *guard, cx_guarded *guarded)
{
    cx_lock_enter(&guard->lock);
    if (guard->newest != NULL)
        guard->newest->next = guarded;
    else
        guard->oldest = guarded;
    guard->newest = guarded;
    guard->quarantined_bytes += guarded->inner.size_bytes;
    cx_lock_leave(&guard->lock);
}

/* ---- allocating ---- */

/* The request is counted already. */
static ctxrt_status check_context_limit(const cx_guard *guard, const cx_allocation *request)
{
    uint64_t limit = guard->options.context_limit_bytes;
    if (limit == 0)
        return CTXRT_SUCCESS;
    uint64_t bytes = cx_context_memory_of(request->context).bytes;
    if (bytes <= limit)
        return CTXRT_SUCCESS;
    return cx_error(
        CTXRT_ERROR_OUT_OF_MEMORY,
        "%zu bytes are beyond the limit of %s in debug mode: %llu of %llu bytes are in use",
        request->size_bytes, cx_context_text(request->context),
        (unsigned long long)(bytes - request->size_bytes), (unsigned long long)limit);
}

static ctxrt_status take_beneath(cx_guard *guard, const cx_allocation *request, cx_block *inner)
{
    cx_allocator *beneath = &guard->inner;
    cx_allocation wider = *request;
    if (__builtin_add_overflow(request->size_bytes, 2 * CX_GUARD_BYTES, &wider.size_bytes) ||
        !cx_counters_reserve(&beneath->figures, wider.size_bytes))
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "there are not %zu bytes for %s",
                        request->size_bytes, cx_context_text(request->context));
    inner->size_bytes = wider.size_bytes;
    ctxrt_status status = beneath->kind->alloc(beneath, &wider, inner);
    if (status == CTXRT_ERROR_OUT_OF_MEMORY && empty_quarantine(guard, 0))
        status = beneath->kind->alloc(beneath, &wider, inner);
    if (status == CTXRT_SUCCESS)
        cx_counters_served(&beneath->figures, wider.size_bytes);
    else
        cx_counters_failed(&beneath->figures, wider.size_bytes);
    return status;
}

static ctxrt_status enter_live(cx_guard *guard, cx_guarded *guarded)
{
    bool added = true;
    cx_lock_enter(&guard->lock);
    guarded->number = ++guard->last_number;
    HASH_ADD(hh, guard->live, key, sizeof guarded->key, guarded);
    cx_lock_leave(&guard->lock);
    return added ? CTXRT_SUCCESS
                 : cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for the record of a block");
}

static cx_guarded *leave_live(cx_guard *guard, const cx_block *block)
{
    const cx_guard_key key = {block->pointer, block->epoch};
    cx_guarded *guarded;
    cx_lock_enter(&guard->lock);
    HASH_FIND(hh, guard->live, &key, sizeof key, guarded);
    if (guarded != NULL)
        HASH_DEL(guard->live, guarded);
    cx_lock_leave(&guard->lock);
    return guarded;
}

static ctxrt_status make_guarded(cx_guard *guard, const cx_allocation *request,
                                 const cx_block *block, cx_guarded *guarded)
{
    ctxrt_status status = check_context_limit(guard, request);
    if (status != CTXRT_SUCCESS)
        return status;
    guarded->stream = guard->inner.pinned == NULL ? request->stream : NULL;
    guarded->inner =
        (cx_block){.context = block->context, .epoch = block->epoch, .allocator = &guard->inner};
    status = take_beneath(guard, request, &guarded->inner);
    if (status != CTXRT_SUCCESS)
        return status;
    guarded->pointer = (char *)guarded->inner.pointer + CX_GUARD_BYTES;
    guarded->key = (cx_guard_key){guarded->pointer, block->epoch};
    guarded->size_bytes = request->size_bytes;
    guarded->place = cx_place_here();
    status = cx_guard_mark(guard, guarded);
    if (status == CTXRT_SUCCESS)
        status = enter_live(guard, guarded);
    if (status != CTXRT_SUCCESS) {
        cx_error_saved saved;
        cx_error_save(&saved);
        (void)give_inner(guard, &guarded->inner);
        cx_error_restore(&saved);
    }
    return status;
}

static ctxrt_status alloc_guarded(cx_allocator *allocator, const cx_allocation *request,
                                  cx_block *block)
{
    cx_guard *guard = cx_guard_of(allocator);
    cx_guarded *guarded = calloc(1, sizeof *guarded);
    if (guarded == NULL)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for the record of a block");
    ctxrt_status status = make_guarded(guard, request, block, guarded);
    if (status != CTXRT_SUCCESS) {
        free(guarded);
        return status;
    }
    block->pointer = guarded->pointer;
    return CTXRT_SUCCESS;
}

/* ---- freeing ---- */

/* An error of this block is returned, whatever happens to others. */
static ctxrt_status end_guarded(cx_guard *guard, cx_guarded *guarded)
{
    cx_context_guard context_guard;
    ctxrt_status status = cx_context_guard_enter(guarded->inner.context, &context_guard);
    if (status != CTXRT_SUCCESS) {
        (void)give_inner(guard, &guarded->inner);
        free(guarded);
        return status;
    }
    ctxrt_status earlier = wait_for_uses(guarded);
    status = look_at(guarded);
    cx_guard_fill_freed(guard, guarded);
    put_into_quarantine(guard, guarded);
    (void)empty_quarantine(guard, guard->options.quarantine_bytes);
    cx_context_guard_leave(&context_guard);
    return status != CTXRT_SUCCESS ? status : earlier;
}

static ctxrt_status free_block(cx_allocator *allocator, const cx_block *block)
{
    cx_guard *guard = cx_guard_of(allocator);
    cx_guarded *guarded = leave_live(guard, block);
    return guarded != NULL ? end_guarded(guard, guarded) : CTXRT_SUCCESS;
}

static ctxrt_status forget_block(cx_allocator *allocator, const cx_block *block)
{
    cx_guard *guard = cx_guard_of(allocator);
    cx_guarded *guarded = leave_live(guard, block);
    if (guarded != NULL)
        (void)give_inner(guard, &guarded->inner);
    free(guarded);
    return CTXRT_SUCCESS;
}

static uint64_t trim_guarded(cx_allocator *allocator)
{
    cx_context_guard context_guard;
    cx_guard *guard = cx_guard_of(allocator);
    if (guard == NULL) /* changed meanwhile */
        return allocator->kind->trim(allocator);
    if (cx_context_guard_enter(allocator->context, &context_guard) == CTXRT_SUCCESS) {
        (void)empty_quarantine(guard, 0);
        cx_context_guard_leave(&context_guard);
    }
    return guard->inner.kind->trim != NULL ? guard->inner.kind->trim(&guard->inner) : 0;
}

/* ---- finding the user's part ---- */

bool cx_guard_find(cx_guard *guard, const void *inner_pointer, uint32_t epoch,
                   cx_guarded *out_guarded)
{
    const cx_guard_key key = {(const char *)inner_pointer + CX_GUARD_BYTES, epoch};
    cx_guarded *guarded;
    cx_lock_enter(&guard->lock);
    HASH_FIND(hh, guard->live, &key, sizeof key, guarded);
    if (guarded != NULL)
        *out_guarded = *guarded;
    cx_lock_leave(&guard->lock);
    return guarded != NULL;
}

typedef struct narrowing {
    uintptr_t address;
    cx_pointer_block *block;
} narrowing;

static void narrow_in_cache(cx_cache *cache, void *argument)
{
    cx_guarded guarded;
    const narrowing *search = argument;
    cx_pointer_block *block = search->block;
    cx_lock_enter(&cache->lock);
    cx_guard *guard = cx_guard_of(cache->allocator);
    if (guard != NULL && cx_heap_has(&cache->heap, search->address)) {
        bool live = cx_guard_find(guard, (const void *)block->begin, cache->epoch, &guarded);
        if (live)
            block->begin = (uintptr_t)guarded.pointer;
        else
            block->state = CX_POINTER_FREED;
        block->size_bytes = live ? guarded.size_bytes : 0;
    }
    cx_lock_leave(&cache->lock);
}

void cx_guards_narrow(const void *pointer, cx_pointer_block *block)
{
    narrowing search = {.address = (uintptr_t)pointer, .block = block};
    if (block->cached != 0)
        cx_caches_each(narrow_in_cache, &search);
}

/* ---- checking ---- */

/* Copies all blocks, since they may go while the driver is asked. NULL: out of memory. */
static cx_guarded *copy_guarded(cx_guard *guard, size_t *out_count)
{
    cx_guarded *guarded, *next;
    size_t count = 0;
    cx_lock_enter(&guard->lock);
    for (guarded = guard->oldest; guarded != NULL; guarded = guarded->next)
        count++;
    cx_guarded *copies = calloc(count + HASH_COUNT(guard->live) + 1, sizeof *copies);
    count = 0;
    for (guarded = guard->oldest; copies != NULL && guarded != NULL; guarded = guarded->next)
        copies[count++] = *guarded;
    if (copies != NULL)
        HASH_ITER (hh, guard->live, guarded, next)
            copies[count++] = *guarded;
    cx_lock_leave(&guard->lock);
    *out_count = count;
    return copies;
}

/* The block of a copy, if it is still in the same state; else NULL. Lock held. */
static cx_guarded *find_again(cx_guard *guard, const cx_guarded *copy)
{
    cx_guarded *guarded;
    HASH_FIND(hh, guard->live, &copy->key, sizeof copy->key, guarded);
    if (guarded == NULL || guarded->number != copy->number)
        for (guarded = guard->oldest; guarded != NULL && guarded->number != copy->number;)
            guarded = guarded->next;
    return guarded != NULL && guarded->filled == copy->filled ? guarded : NULL;
}

/* True if a byte is overwritten, of a block that stayed in the state of the copy meanwhile. Looks
 * at pinned memory with the lock held, so that it stays: the host must not touch unpinned
 * memory. */
static bool is_written(cx_guard *guard, const cx_guarded *copy, cx_guard_finding *out_finding)
{
    bool pinned = guard->inner.pinned != NULL;
    if (!cx_context_holds_what_is_of(copy->inner.context, copy->inner.epoch) ||
        (!pinned && !cx_guard_sees(copy, out_finding)))
        return false;
    cx_lock_enter(&guard->lock);
    cx_guarded *guarded = find_again(guard, copy);
    bool found = guarded != NULL && (!pinned || cx_guard_sees(guarded, out_finding));
    if (found)
        guarded->told = true;
    cx_lock_leave(&guard->lock);
    return found;
}

/* The log has all blocks that were overwritten; returns the first one's error. */
static ctxrt_status check_guard(cx_guard *guard)
{
    size_t count;
    cx_guard_finding finding;
    cx_context_guard context_guard;
    cx_error_saved first;
    ctxrt_status status = cx_context_guard_enter(guard->inner.context, &context_guard);
    if (status != CTXRT_SUCCESS)
        return status;
    cx_guarded *copies = copy_guarded(guard, &count);
    if (copies == NULL)
        status = cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory to check the allocator's blocks");
    for (size_t i = 0; i < count; i++) {
        if (!is_written(guard, &copies[i], &finding))
            continue;
        ctxrt_status written = cx_guard_report(&copies[i], &finding);
        if (status == CTXRT_SUCCESS)
            cx_error_save(&first);
        status = written;
    }
    if (status == CTXRT_ERROR_CORRUPTED)
        cx_error_restore(&first);
    free(copies);
    cx_context_guard_leave(&context_guard);
    return status;
}

ctxrt_status ctxrt_allocator_check(ctxrt_allocator *handle)
{
    cx_allocator *allocator;
    ctxrt_status status = cx_allocator_resolve(handle, &allocator);
    if (status != CTXRT_SUCCESS)
        return status;
    cx_guard *guard = cx_guard_of(allocator);
    if (guard == NULL)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "the allocator of %s is not in debug mode",
                        cx_context_text(allocator->context));
    return check_guard(guard);
}

/* ---- making and destroying ---- */

static const cx_allocator_kind guarded_allocator = {
    .alloc = alloc_guarded, .free = free_block, .forget = forget_block, .trim = trim_guarded};

static cx_guard *make_guard(const cx_allocator *allocator)
{
    cx_guard *guard = calloc(1, sizeof *guard);
    if (guard == NULL) {
        (void)cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for the debug mode of an allocator");
        return NULL;
    }
    guard->inner.kind = allocator->kind;
    guard->inner.context = allocator->context;
    guard->inner.options = allocator->options;
    guard->inner.options.limit_bytes = 0;
    guard->inner.pinned = allocator->pinned;
    guard->inner.watch = allocator->watch;
    atomic_store(&guard->inner.front, &guarded_allocator);
    cx_counters_reset(&guard->inner.figures, 0);
    if (guard->inner.kind == &cx_caching_allocator &&
        cx_cache_open(&guard->inner, &guard->inner.cache) != CTXRT_SUCCESS) {
        free(guard);
        return NULL;
    }
    cx_lock_init(&guard->lock, CX_RANK_GUARD);
    return guard;
}

static ctxrt_status open_guard(cx_allocator *allocator, const ctxrt_allocator_debug *options)
{
    cx_guard *guard = atomic_load(&allocator->watch->guard);
    if (guard == NULL)
        guard = make_guard(allocator);
    if (guard == NULL)
        return ctxrt_last_error()->status;
    guard->options = *options;
    cx_cache *cache = cx_guard_cache(guard);
    cx_allocator *asks = cache != NULL ? cache->allocator : &guard->inner;
    atomic_store(&asks->growths_until_refusal, options->fail_call);
    atomic_store(&cx_diagnosis_narrows, true);
    atomic_store(&allocator->watch->guard, guard);
    atomic_store(&allocator->front, &guarded_allocator);
    return CTXRT_SUCCESS;
}

/* Chooses the debug options: those that `call` got, or else CTXRT_DEBUG_MEMORY. *out_wanted is
 * false if neither asks for anything. */
static ctxrt_status choose_options(const char *call, const ctxrt_allocator_debug *options,
                                   ctxrt_allocator_debug *out_options, bool *out_wanted)
{
    ctxrt_status status = CTXRT_SUCCESS;
    *out_options = (ctxrt_allocator_debug)CTXRT_ALLOCATOR_DEBUG_INIT;
    if (options != NULL)
        *out_options = *options;
    else
        status = cx_environment_debug_memory(out_options);
    if (options != NULL && options->struct_size != sizeof *options)
        return cx_error(
            CTXRT_ERROR_INVALID_ARGUMENT,
            "%s: struct_size of the debug options is %zu, not %zu: start from "
            "CTXRT_ALLOCATOR_DEBUG_INIT",
            call, options->struct_size, sizeof *options);
    if ((out_options->flags & ~(unsigned int)(CTXRT_DEBUG_CANARY | CTXRT_DEBUG_POISON)) != 0)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "%s: there are no debug flags %#x", call, out_options->flags);
    *out_wanted = status == CTXRT_SUCCESS &&
                  (out_options->flags != 0 || out_options->quarantine_bytes != 0 ||
                   out_options->context_limit_bytes != 0 || out_options->fail_call != 0);
    return status;
}

ctxrt_status cx_guard_begin(cx_allocator *allocator)
{
    ctxrt_allocator_debug debug;
    bool wanted;
    if (allocator->vtable.alloc != NULL || allocator->pool != NULL)
        return CTXRT_SUCCESS;
    ctxrt_status status =
        choose_options("ctxrt_allocator_create", allocator->options.debug, &debug, &wanted);
    allocator->options.debug = NULL;
    return status == CTXRT_SUCCESS && wanted ? open_guard(allocator, &debug) : status;
}

static void close_guard(cx_guard *guard, bool native)
{
    cx_context_guard context_guard;
    cx_guarded *guarded;
    if (native && cx_context_guard_enter(guard->inner.context, &context_guard) == CTXRT_SUCCESS) {
        (void)empty_quarantine(guard, 0);
        cx_context_guard_leave(&context_guard);
    }
    /* The rest goes with the cache. */
    while ((guarded = take_oldest(guard, 0)) != NULL) {
        if (guard->inner.pinned != NULL)
            (void)cx_cache_free(guard->inner.pinned, guarded->inner.cached);
        free(guarded);
    }
    if (cx_guard_cache(guard) != NULL)
        cx_cache_close(cx_guard_cache(guard), native);
}

void cx_guard_end(cx_allocator *allocator, bool native)
{
    cx_guard *guard = atomic_load(&allocator->watch->guard);
    if (guard == NULL)
        return;
    if (cx_guard_of(allocator) != NULL)
        close_guard(guard, native);
    atomic_store(&allocator->watch->guard, NULL);
    cx_lock_destroy(&guard->lock);
    free(guard);
}

/* ---- changes of the debug mode of pinned memory, while none of it is live ---- */

/* The guard stays, since a thread may still look at it. */
static ctxrt_status leave_debug(cx_allocator *allocator)
{
    cx_context_guard context_guard;
    cx_guard *guard = cx_guard_of(allocator);
    if (guard == NULL)
        return CTXRT_SUCCESS;
    ctxrt_status status = cx_context_guard_enter(allocator->context, &context_guard);
    if (status != CTXRT_SUCCESS)
        return status;
    (void)empty_quarantine(guard, 0);
    cx_context_guard_leave(&context_guard);
    atomic_store(&allocator->pinned->allocator->growths_until_refusal, 0);
    atomic_store(&allocator->front, NULL);
    return CTXRT_SUCCESS;
}

ctxrt_status ctxrt_allocator_set_debug(ctxrt_allocator *handle,
                                       const ctxrt_allocator_debug *options)
{
    cx_allocator *allocator;
    ctxrt_allocator_debug debug;
    bool wanted;
    uint64_t live;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (handle == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_allocator_set_debug: allocator is NULL");
    status = cx_allocator_resolve(handle, &allocator);
    if (status == CTXRT_SUCCESS && allocator->pinned == NULL)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "ctxrt_allocator_set_debug: the allocator is of device memory: "
                        "ctxrt_allocator_create sets its debug mode");
    if (status == CTXRT_SUCCESS)
        status = choose_options("ctxrt_allocator_set_debug", options, &debug, &wanted);
    if (status != CTXRT_SUCCESS)
        return status;
    if (!cx_allocator_close_requests(allocator, &live))
        return cx_error(CTXRT_ERROR_IN_USE,
                        "the pinned memory of %s is in use: %llu piece%s of it %s live",
                        cx_context_text(allocator->context), (unsigned long long)live,
                        live == 1 ? "" : "s", live == 1 ? "is" : "are");
    status = leave_debug(allocator);
    if (status == CTXRT_SUCCESS && wanted)
        status = open_guard(allocator, &debug);
    cx_allocator_open_requests(allocator);
    return status;
}
