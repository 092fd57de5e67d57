#include "graph/plan.h"

#include "base/cancel.h"
#include "base/error.h"
#include "base/handle.h"
#include <stdlib.h>

#define DEFAULT_EFFORT 500000000u

cx_pool cx_plans = CX_POOL_INIT("plan", 8, cx_plan);

/* ---- finding and locking ---- */

static ctxrt_status no_such_plan(const ctxrt_plan *handle)
{
    return cx_handle_error("plan", handle, "it was destroyed, or never was one");
}

/* The lock of a slot outlives its plan, so waiting for a plan that is being destroyed is safe. */
static ctxrt_status lock_plan(ctxrt_plan *handle, cx_plan **out_plan)
{
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    cx_plan *plan = cx_pool_find(&cx_plans, handle);
    if (plan == NULL)
        return no_such_plan(handle);
    int cancel = cx_cancel_hold();
    cx_lock_enter(&plan->lock);
    if (!cx_pool_is(plan, handle)) {
        cx_lock_leave(&plan->lock);
        cx_cancel_restore(cancel);
        return no_such_plan(handle);
    }
    plan->cancel = cancel;
    *out_plan = plan;
    return CTXRT_SUCCESS;
}

static ctxrt_status unlock_plan(cx_plan *plan, ctxrt_status status)
{
    int cancel = plan->cancel;
    cx_lock_leave(&plan->lock);
    cx_cancel_restore(cancel);
    return status;
}

/* ---- making and destroying ---- */

static ctxrt_status choose_alignment(size_t *alignment)
{
    ctxrt_device device;
    if (*alignment != 0) {
        if ((*alignment & (*alignment - 1)) != 0)
            return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                            "ctxrt_plan_create: the alignment %zu is no power of two", *alignment);
        return CTXRT_SUCCESS;
    }
    ctxrt_status status = ctxrt_device_get(&device);
    if (status == CTXRT_SUCCESS)
        *alignment = device.type == CTXRT_DEVICE_CPU ? 8 : 256;
    return status;
}

/* Makes a slot's lock once. */
static cx_plan *take_plan(void)
{
    cx_plan *plan = cx_pool_take(&cx_plans);
    if (plan == NULL || plan->has_lock)
        return plan;
    cx_lock_init(&plan->lock, CX_RANK_PLAN);
    plan->has_lock = true;
    return plan;
}

ctxrt_status ctxrt_plan_create(size_t alignment_bytes, ctxrt_plan **out_plan)
{
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (out_plan == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_plan_create: out_plan is NULL");
    status = choose_alignment(&alignment_bytes);
    if (status != CTXRT_SUCCESS)
        return status;
    cx_plan *plan = take_plan();
    if (plan == NULL)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for a plan");
    plan->alignment = alignment_bytes;
    plan->optimised = false;
    plan->range = (cx_extents){0};
    plan->tensors = NULL;
    plan->count = plan->capacity = 0;
    plan->steps = 0;
    plan->peak = 0;
    plan->memory = NULL;
    *out_plan = cx_pool_publish(&cx_plans, plan);
    return CTXRT_SUCCESS;
}

ctxrt_status ctxrt_plan_destroy(ctxrt_plan *handle)
{
    ctxrt_status status;
    cx_plan *plan;
    if (!cx_runtime_enter_release(&status) || handle == NULL)
        return status;
    status = lock_plan(handle, &plan);
    if (status != CTXRT_SUCCESS)
        return status;
    (void)cx_pool_retire(&cx_plans, handle);
    cx_extents_end(&plan->range);
    free(plan->tensors);
    ctxrt_memory *memory = plan->memory;
    (void)unlock_plan(plan, CTXRT_SUCCESS);
    cx_pool_put_back(&cx_plans, plan);
    return ctxrt_memory_release(memory);
}

/* ---- planning ---- */

static ctxrt_status check_open(const char *call, const cx_plan *plan)
{
    if (plan->memory != NULL)
        return cx_error(CTXRT_ERROR_NOT_PERMITTED,
                        "%s: the plan has its memory, and cannot change any more", call);
    if (plan->optimised)
        return cx_error(CTXRT_ERROR_NOT_PERMITTED,
                        "%s: the plan was optimised, and cannot change any more", call);
    return CTXRT_SUCCESS;
}

static ctxrt_status check_tensor(const char *call, const cx_plan *plan, size_t tensor)
{
    if (tensor < plan->count)
        return CTXRT_SUCCESS;
    return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "%s: the plan has no tensor %zu: it has %zu",
                    call, tensor, plan->count);
}

static bool reserve_tensor(cx_plan *plan)
{
    if (plan->count < plan->capacity)
        return true;
    size_t capacity = plan->capacity == 0 ? 64 : plan->capacity * 2;
    if (capacity > CX_PLAN_TENSORS_MAX)
        return false;
    cx_tensor *grown = realloc(plan->tensors, capacity * sizeof *grown);
    if (grown == NULL)
        return false;
    plan->tensors = grown;
    plan->capacity = capacity;
    return true;
}

static ctxrt_status too_long(const cx_plan *plan, size_t size_bytes)
{
    return cx_error(CTXRT_ERROR_OUT_OF_MEMORY,
                    "ctxrt_plan_alloc: no memory is as long as a plan of %zu bytes and %zu more",
                    plan->peak, size_bytes);
}

static ctxrt_status add_tensor(cx_plan *plan, size_t size_bytes, size_t *out_tensor)
{
    size_t size;
    uint32_t extent;
    if (__builtin_add_overflow(size_bytes, plan->alignment - 1, &size))
        return too_long(plan, size_bytes);
    size &= ~(plan->alignment - 1);
    cx_extents_result result =
        reserve_tensor(plan) ? cx_extents_take(&plan->range, size, &extent) : CX_EXTENTS_NO_MEMORY;
    if (result == CX_EXTENTS_TOO_LONG)
        return too_long(plan, size_bytes);
    if (result != CX_EXTENTS_OK)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY,
                        "ctxrt_plan_alloc: no memory for one tensor more than %zu", plan->count);
    plan->tensors[plan->count] = (cx_tensor){.size = size,
                                             .offset = plan->range.extents[extent].offset,
                                             .extent = extent,
                                             .begin = plan->steps++,
                                             .end = UINT32_MAX};
    plan->peak = plan->range.end;
    *out_tensor = plan->count++;
    return CTXRT_SUCCESS;
}

ctxrt_status ctxrt_plan_alloc(ctxrt_plan *handle, size_t size_bytes, size_t *out_tensor)
{
    cx_plan *plan;
    ctxrt_status status = lock_plan(handle, &plan);
    if (status != CTXRT_SUCCESS)
        return status;
    status = check_open("ctxrt_plan_alloc", plan);
    if (status == CTXRT_SUCCESS && out_tensor == NULL)
        status = cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_plan_alloc: out_tensor is NULL");
    if (status == CTXRT_SUCCESS && size_bytes == 0)
        status = cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "ctxrt_plan_alloc: the size is 0");
    if (status == CTXRT_SUCCESS)
        status = add_tensor(plan, size_bytes, out_tensor);
    return unlock_plan(plan, status);
}

ctxrt_status ctxrt_plan_free(ctxrt_plan *handle, size_t tensor)
{
    cx_plan *plan;
    ctxrt_status status = lock_plan(handle, &plan);
    if (status != CTXRT_SUCCESS)
        return status;
    status = check_open("ctxrt_plan_free", plan);
    if (status == CTXRT_SUCCESS)
        status = check_tensor("ctxrt_plan_free", plan, tensor);
    if (status == CTXRT_SUCCESS && plan->tensors[tensor].end != UINT32_MAX)
        status =
            cx_error(CTXRT_ERROR_ALREADY, "ctxrt_plan_free: tensor %zu was freed before", tensor);
    if (status == CTXRT_SUCCESS) {
        cx_extents_give(&plan->range, plan->tensors[tensor].extent);
        plan->tensors[tensor].end = plan->steps++;
    }
    return unlock_plan(plan, status);
}

/* ---- optimising ---- */

static ctxrt_status optimise_plan(cx_plan *plan, size_t goal_bytes, uint64_t effort)
{
    cx_packing packing = {.count = plan->count,
                          .moments = plan->steps,
                          .alignment = plan->alignment,
                          .peak = plan->peak,
                          .goal = goal_bytes,
                          .effort = effort != 0 ? effort : DEFAULT_EFFORT};
    packing.tensors = malloc((plan->count + 1) * sizeof *packing.tensors);
    if (packing.tensors == NULL)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "ctxrt_plan_optimise: no memory for %zu tensors",
                        plan->count);
    for (size_t i = 0; i < plan->count; i++) {
        const cx_tensor *tensor = &plan->tensors[i];
        uint32_t end = tensor->end < plan->steps ? tensor->end : plan->steps;
        packing.tensors[i] = (cx_packed){tensor->size, tensor->offset, tensor->begin, end};
    }
    bool found = cx_packing_improve(&packing);
    for (size_t i = 0; i < plan->count && found; i++)
        plan->tensors[i].offset = packing.tensors[i].offset;
    if (found)
        plan->peak = packing.peak;
    free(packing.tensors);
    if (!found)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY,
                        "ctxrt_plan_optimise: no memory to place %zu tensors", plan->count);
    plan->optimised = true;
    return CTXRT_SUCCESS;
}

ctxrt_status ctxrt_plan_optimise(ctxrt_plan *handle, size_t goal_bytes, uint64_t effort)
{
    cx_plan *plan;
    ctxrt_status status = lock_plan(handle, &plan);
    if (status != CTXRT_SUCCESS)
        return status;
    if (plan->memory != NULL)
        status = check_open("ctxrt_plan_optimise", plan);
    else
        status = optimise_plan(plan, goal_bytes, effort);
    return unlock_plan(plan, status);
}

/* ---- queries ---- */

ctxrt_status ctxrt_plan_peak(ctxrt_plan *handle, size_t *out_bytes)
{
    cx_plan *plan;
    ctxrt_status status = lock_plan(handle, &plan);
    if (status != CTXRT_SUCCESS)
        return status;
    if (out_bytes == NULL)
        status = cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_plan_peak: out_bytes is NULL");
    else
        *out_bytes = plan->peak;
    return unlock_plan(plan, status);
}

ctxrt_status ctxrt_plan_offset(ctxrt_plan *handle, size_t tensor, size_t *out_offset)
{
    cx_plan *plan;
    ctxrt_status status = lock_plan(handle, &plan);
    if (status != CTXRT_SUCCESS)
        return status;
    status = check_tensor("ctxrt_plan_offset", plan, tensor);
    if (status == CTXRT_SUCCESS && out_offset == NULL)
        status = cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_plan_offset: out_offset is NULL");
    if (status == CTXRT_SUCCESS)
        *out_offset = plan->tensors[tensor].offset;
    return unlock_plan(plan, status);
}

/* ---- memory ---- */

static uintptr_t align_up(const cx_plan *plan, const void *pointer)
{
    return ((uintptr_t)pointer + plan->alignment - 1) & ~(uintptr_t)(plan->alignment - 1);
}

/* Most memory is aligned well enough; if not, there must be room to move up. */
static ctxrt_status take_memory(cx_plan *plan)
{
    ctxrt_memory *memory;
    size_t size = plan->peak;
    ctxrt_status status = ctxrt_memory_alloc(size, &memory);
    if (status != CTXRT_SUCCESS)
        return status;
    void *pointer = ctxrt_memory_pointer(memory);
    if (align_up(plan, pointer) != (uintptr_t)pointer) {
        status = ctxrt_memory_release(memory);
        if (status == CTXRT_SUCCESS && __builtin_add_overflow(size, plan->alignment - 1, &size))
            status = cx_error(CTXRT_ERROR_OUT_OF_MEMORY,
                              "no memory is as long as %zu bytes at a multiple of %zu", plan->peak,
                              plan->alignment);
        if (status == CTXRT_SUCCESS)
            status = ctxrt_memory_alloc(size, &memory);
        if (status != CTXRT_SUCCESS)
            return status;
    }
    plan->memory = memory;
    plan->base = align_up(plan, ctxrt_memory_pointer(memory));
    return CTXRT_SUCCESS;
}

static ctxrt_status commit_plan(const char *call, cx_plan *plan)
{
    if (plan->memory != NULL)
        return CTXRT_SUCCESS;
    if (plan->peak == 0)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "%s: nothing is planned", call);
    return take_memory(plan);
}

ctxrt_status ctxrt_plan_commit(ctxrt_plan *handle, ctxrt_memory **out_memory)
{
    cx_plan *plan;
    ctxrt_status status = lock_plan(handle, &plan);
    if (status != CTXRT_SUCCESS)
        return status;
    status = commit_plan("ctxrt_plan_commit", plan);
    if (status == CTXRT_SUCCESS && out_memory != NULL)
        *out_memory = plan->memory;
    return unlock_plan(plan, status);
}

ctxrt_status ctxrt_plan_pointer(ctxrt_plan *handle, size_t tensor, void **out_pointer)
{
    cx_plan *plan;
    ctxrt_status status = lock_plan(handle, &plan);
    if (status != CTXRT_SUCCESS)
        return status;
    status = check_tensor("ctxrt_plan_pointer", plan, tensor);
    if (status == CTXRT_SUCCESS && out_pointer == NULL)
        status = cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_plan_pointer: out_pointer is NULL");
    if (status == CTXRT_SUCCESS)
        status = commit_plan("ctxrt_plan_pointer", plan);
    if (status == CTXRT_SUCCESS)
        *out_pointer = (void *)(plan->base + plan->tensors[tensor].offset);
    return unlock_plan(plan, status);
}
