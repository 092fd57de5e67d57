/**
 * Memory plans: they place each tensor of a computation before any memory is allocated.
 *
 * Tensors are allocated and freed in a plan as they will be when the computation runs. The plan
 * keeps offsets only; memory is allocated once, as one block of the size of the plan's peak, when a
 * pointer is first asked for. A tensor may get the place of one that was freed before. Tensors are
 * named by numbers, from 0 on, that are never used again.
 *
 * A plan is a handle, as in context.h: one that was destroyed is recognised and refused.
 * Thread-safe; calls for one plan wait for each other. A plan that has no memory yet belongs to no
 * device.
 *
 * Besides the errors named at each function: CTXRT_ERROR_NULL_POINTER, CTXRT_ERROR_INVALID_HANDLE
 * for a plan that is none, CTXRT_ERROR_INVALID_ARGUMENT for a number that is no tensor of the plan.
 */
#ifndef CTXRT_PLAN_H
#define CTXRT_PLAN_H

#include <ctxrt/memory.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ctxrt_plan ctxrt_plan;

/**
 * Creates an empty plan. The caller owns it.
 *
 * @param alignment_bytes  every tensor begins at a multiple of it, and its size is rounded up to
 *     one; 0: what suits the calling thread's device, 8 on the type CPU and 256 on others
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  not a power of two
 * @retval CTXRT_ERROR_NO_DEVICE         0, and nothing is current
 */
CTXRT_API ctxrt_status ctxrt_plan_create(size_t alignment_bytes,
                                         ctxrt_plan **out_plan) CTXRT_CHECK_RESULT;

/**
 * Destroys a plan and gives back its memory, from any thread and under any current context or none.
 * NULL is harmless.
 * An error of ctxrt_memory_release is passed on; the plan is gone all the same.
 */
CTXRT_API ctxrt_status ctxrt_plan_destroy(ctxrt_plan *plan) CTXRT_CHECK_RESULT;

/**
 * Plans a tensor. It goes into the smallest free stretch that holds it (the lowest of several),
 * else to the end, which it makes longer, beginning in the last stretch if that is free. Free
 * stretches side by side are one. O(log n).
 *
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  size 0
 * @retval CTXRT_ERROR_OUT_OF_MEMORY     the plan would be longer than any memory
 * @retval CTXRT_ERROR_NOT_PERMITTED     the plan was optimised, or has its memory
 */
CTXRT_API ctxrt_status ctxrt_plan_alloc(ctxrt_plan *plan, size_t size_bytes,
                                        size_t *out_tensor) CTXRT_CHECK_RESULT;

/**
 * Says that a tensor is not used any more: its place is free for those planned from now on. It
 * keeps its offset and, later, its pointer.
 *
 * @retval CTXRT_ERROR_ALREADY        it was freed before
 * @retval CTXRT_ERROR_NOT_PERMITTED  the plan was optimised, or has its memory
 */
CTXRT_API ctxrt_status ctxrt_plan_free(ctxrt_plan *plan, size_t tensor) CTXRT_CHECK_RESULT;

/**
 * Places all tensors anew, knowing when each is allocated and freed, and searches for the smallest
 * peak. The peak never grows. Offsets change; nothing can be planned or freed after it. A tensor
 * that was not freed lasts to the end. The same plan and effort give the same offsets.
 *
 * @param goal_bytes  a peak that is good enough: the search stops there; 0: it goes on until the
 *     peak is the most memory in use at one time, the lower bound of all peaks
 * @param effort      how much is tried, in steps of some nanoseconds each; 0: 500 million. A plan
 *     of many thousand tensors may need more for anything to be found
 * @retval CTXRT_ERROR_OUT_OF_MEMORY  the host has not enough memory to try; nothing changed
 * @retval CTXRT_ERROR_NOT_PERMITTED  the plan has its memory
 */
CTXRT_API ctxrt_status ctxrt_plan_optimise(ctxrt_plan *plan, size_t goal_bytes,
                                           uint64_t effort) CTXRT_CHECK_RESULT;

/** The bytes that the plan needs; 0 while it is empty. Never falls but by ctxrt_plan_optimise. */
CTXRT_API ctxrt_status ctxrt_plan_peak(ctxrt_plan *plan, size_t *out_bytes) CTXRT_CHECK_RESULT;

/** The offset of a tensor in bytes from the plan's base. */
CTXRT_API ctxrt_status ctxrt_plan_offset(ctxrt_plan *plan, size_t tensor,
                                         size_t *out_offset) CTXRT_CHECK_RESULT;

/**
 * Allocates the plan's memory from the allocator of the calling thread's top frame; a second call
 * changes nothing. From then on nothing can be planned or freed. A custom allocator must not use
 * the plan while it serves it.
 *
 * @param out_memory  the memory, borrowed: for ctxrt_memory_record_stream and the like; may be
 *     NULL. The plan's base is ctxrt_memory_pointer of it, rounded up to the plan's alignment
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  nothing is planned
 * Other errors are those of ctxrt_memory_alloc; the plan is what it was.
 */
CTXRT_API ctxrt_status ctxrt_plan_commit(ctxrt_plan *plan,
                                         ctxrt_memory **out_memory) CTXRT_CHECK_RESULT;

/** The address of a tensor, the same each time. Commits the plan first, with the errors of
 * ctxrt_plan_commit. */
CTXRT_API ctxrt_status ctxrt_plan_pointer(ctxrt_plan *plan, size_t tensor,
                                          void **out_pointer) CTXRT_CHECK_RESULT;

#ifdef __cplusplus
}
#endif

#endif
