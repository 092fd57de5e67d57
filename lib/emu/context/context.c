#include "emu/context/context.h"

#include "base/cancel.h"
#include "emu/base/refusal.h"
#include "emu/base/slot.h"
#include "emu/base/state.h"
#include "emu/context/stack.h"
#include "emu/device/device.h"
#include "emu/device/sticky.h"
#include "emu/memory/allocation.h"

static uint64_t last_id;
static int open_contexts;
static const cx_emu_context_part *parts;
static size_t part_count;
static pthread_cond_t closed = PTHREAD_COND_INITIALIZER;

/* Calls that use a green context work in its primary. */
static cxu_result give_base(cx_emu_context *context, cx_emu_context **out_context)
{
    if (context->base != NULL && cx_emu_context_id(context->base) != context->base_id)
        return CXU_CONTEXT_IS_DESTROYED;
    *out_context = context->base != NULL ? context->base : context;
    return CXU_SUCCESS;
}

static cxu_result find_current(cx_emu_context **out_context)
{
    cxu_result result = cx_emu_stack_check();
    return result == CXU_SUCCESS ? give_base(cx_emu_stack_top()->context, out_context) : result;
}

static cxu_result find_live(CUcontext handle, cx_emu_context **out_context)
{
    cx_emu_context *context = cx_emu_slot_of(handle);
    if (context == NULL)
        return CXU_INVALID_CONTEXT;
    if (cx_emu_context_id(context) == 0)
        return context->primary ? CXU_CONTEXT_IS_DESTROYED : CXU_INVALID_CONTEXT;
    return give_base(context, out_context);
}

cxu_result cx_emu_context_identify(CUcontext handle, cx_emu_context **out_context)
{
    return handle != NULL ? find_live(handle, out_context) : find_current(out_context);
}

static cxu_result give_usable(cx_emu_context *context, cx_emu_context **out_context)
{
    cxu_result result = cx_emu_context_error(context);
    if (result == CXU_SUCCESS)
        *out_context = context;
    return result;
}

cxu_result cx_emu_context_current(cx_emu_context **out_context)
{
    cx_emu_context *context;
    cxu_result result = find_current(&context);
    return result == CXU_SUCCESS ? give_usable(context, out_context) : result;
}

cxu_result cx_emu_context_check_current(void)
{
    cx_emu_context *context;
    cx_lock_enter(&cx_emu_lock);
    cxu_result result = cx_emu_context_current(&context);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_context_find(CUcontext handle, cx_emu_context **out_context)
{
    cx_emu_context *context;
    cxu_result result = find_live(handle, &context);
    return result == CXU_SUCCESS ? give_usable(context, out_context) : result;
}

cxu_result cx_emu_context_find_or_current(CUcontext handle, cx_emu_context **out_context)
{
    return handle != NULL ? cx_emu_context_find(handle, out_context)
                          : cx_emu_context_current(out_context);
}

bool cx_emu_context_flags_valid(unsigned int flags)
{
    unsigned int schedule = flags & CXU_CTX_SCHED_MASK;
    bool one_choice = (schedule & (schedule - 1)) == 0;
    return one_choice && (flags & ~(unsigned int)CXU_CTX_FLAGS_MASK) == 0;
}

static bool take_device_memory(cx_emu_device *device)
{
    cx_emu_refusal_begin();
    if (device->context_bytes != 0 && !cx_emu_allocation_fits(device, device->context_bytes)) {
        cx_emu_refused_to_context(device->context_bytes);
        return false;
    }
    device->used_bytes += device->context_bytes;
    return true;
}

void cx_emu_context_set_parts(const cx_emu_context_part *list, size_t count)
{
    parts = list;
    part_count = count;
}

static void close_parts(cx_emu_context *context, size_t count)
{
    while (count-- > 0)
        if (parts[count].close != NULL)
            parts[count].close(context);
}

static bool open_parts(cx_emu_context *context)
{
    for (size_t i = 0; i < part_count; i++)
        if (parts[i].open != NULL && !parts[i].open(context)) {
            close_parts(context, i);
            return false;
        }
    return true;
}

bool cx_emu_context_open(cx_emu_context *context, cx_emu_device *device, unsigned int flags)
{
    if (!take_device_memory(device))
        return false;
    context->device = device;
    context->base = NULL;
    context->green = NULL;
    context->flags = flags;
    context->attach_count = 1;
    context->cache_config = CXU_FUNC_CACHE_PREFER_NONE;
    context->error = context->error_once = CXU_SUCCESS;
    context->peer_count = 0;
    context->allocations = NULL;
    context->streams = NULL;
    context->events = NULL;
    context->legacy = NULL;
    atomic_store_explicit(&context->ordinal, device->ordinal, memory_order_relaxed);
    atomic_store_explicit(&context->live_id, ++last_id, memory_order_release);
    if (!open_parts(context)) {
        atomic_store_explicit(&context->live_id, 0, memory_order_release);
        device->used_bytes -= device->context_bytes;
        return false;
    }
    open_contexts++;
    return true;
}

void cx_emu_context_open_green(cx_emu_context *context, cx_emu_context *primary,
                               struct cx_emu_green *green)
{
    context->device = primary->device;
    context->base = primary;
    context->base_id = cx_emu_context_id(primary);
    context->green = green;
    atomic_store_explicit(&context->ordinal, primary->device->ordinal, memory_order_relaxed);
    atomic_store_explicit(&context->live_id, ++last_id, memory_order_release);
}

void cx_emu_context_hide_green(cx_emu_context *context)
{
    atomic_store_explicit(&context->live_id, 0, memory_order_release);
    cx_emu_changes++;
}

void cx_emu_context_close_green(cx_emu_context *context)
{
    context->base = NULL;
    context->green = NULL;
}

void cx_emu_context_wait_closed(cx_emu_context *context)
{
    int cancel = cx_cancel_hold();
    while (context->closing)
        cx_lock_wait(&cx_emu_lock, &closed);
    cx_cancel_restore(cancel);
}

void cx_emu_context_close(cx_emu_context *context)
{
    atomic_store_explicit(&context->live_id, 0, memory_order_release);
    cx_emu_changes++;
    context->closing = true;
    cx_emu_teardown_deadline_begin(&context->teardown_deadline);
    close_parts(context, part_count);
    context->device->used_bytes -= context->device->context_bytes;
    context->closing = false;
    cx_emu_teardown_deadline_end(&context->teardown_deadline);
    open_contexts--;
    pthread_cond_broadcast(&closed);
}

int cx_emu_context_count(void)
{
    return open_contexts;
}
