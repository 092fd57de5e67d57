/* The number of blocks of a kernel that run at once. */
#include "base/cancel.h"
#include "base/error.h"
#include "context/context_guard.h"
#include "work/kernel.h"
#include <limits.h>

/* Facts about the device at hand that are asked for again and again. */
typedef struct question {
    const cx_driver *driver;
    CUfunction native;
    size_t shared_bytes;
    int warp_size, multiprocessors;
} question;

static ctxrt_status ask_device(question *self)
{
    CUdevice device;
    ctxrt_status status = CX_DRIVER_CALL(self->driver, ctx_get_device, (&device));
    if (status == CTXRT_SUCCESS)
        status = CX_DRIVER_CALL(self->driver, device_get_attribute,
                                (&self->warp_size, CXU_ATTRIBUTE_WARP_SIZE, device));
    if (status == CTXRT_SUCCESS)
        status = CX_DRIVER_CALL(
            self->driver, device_get_attribute,
            (&self->multiprocessors, CXU_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
    return status;
}

static ctxrt_status count_blocks(const question *self, int block_threads, int *out_blocks)
{
    return CX_DRIVER_CALL(self->driver, occupancy_max_active_blocks,
                          (out_blocks, self->native, block_threads, self->shared_bytes));
}

static ctxrt_status none_fits(const question *self)
{
    return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                    "no block of the kernel fits on the device, with %zu bytes of shared memory "
                    "that it asks for",
                    self->shared_bytes);
}

static ctxrt_status suggest_size(const question *self, ctxrt_occupancy *best)
{
    int most, blocks;
    ctxrt_status status =
        CX_DRIVER_CALL(self->driver, func_get_attribute,
                       (&most, CXU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, self->native));
    if (status != CTXRT_SUCCESS)
        return status;
    int step = self->warp_size < most ? self->warp_size : most;
    for (int threads = most - most % step; threads > 0; threads -= step) {
        status = count_blocks(self, threads, &blocks);
        if (status != CTXRT_SUCCESS)
            return status;
        if (blocks * threads > best->blocks_per_multiprocessor * best->block_threads)
            *best = (ctxrt_occupancy){threads, blocks, 0};
    }
    return best->blocks_per_multiprocessor > 0 ? CTXRT_SUCCESS : none_fits(self);
}

static ctxrt_status answer_question(question *self, unsigned int block_threads,
                                    ctxrt_occupancy *out)
{
    ctxrt_occupancy found = {(int)block_threads, 0, 0};
    ctxrt_status status = ask_device(self);
    if (status == CTXRT_SUCCESS)
        status = block_threads == 0
                     ? suggest_size(self, &found)
                     : count_blocks(self, found.block_threads, &found.blocks_per_multiprocessor);
    if (status != CTXRT_SUCCESS)
        return status;
    found.blocks_on_device = found.blocks_per_multiprocessor * self->multiprocessors;
    *out = found;
    return CTXRT_SUCCESS;
}

static ctxrt_status ask_driver(const cx_kernel_use *use, unsigned int block_threads,
                               size_t shared_bytes, ctxrt_occupancy *out)
{
    cx_context_guard guard;
    const cx_context *context = use->of.module->context;
    question self = {
        .driver = context->driver, .native = use->kernel->native, .shared_bytes = shared_bytes};
    ctxrt_status status = cx_context_guard_enter(context, &guard);
    if (status != CTXRT_SUCCESS)
        return cx_context_map_error(context, "kernel", status);
    status = cx_context_map_error(context, "kernel", answer_question(&self, block_threads, out));
    cx_context_guard_leave(&guard);
    return status;
}

ctxrt_status ctxrt_kernel_occupancy(ctxrt_kernel *handle, unsigned int block_threads,
                                    size_t shared_bytes, ctxrt_occupancy *out_occupancy)
{
    cx_kernel_use use;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (out_occupancy == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_kernel_occupancy: out_occupancy is NULL");
    if (block_threads > INT_MAX)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "ctxrt_kernel_occupancy: no block has %u threads", block_threads);
    status = cx_kernel_enter(handle, &use);
    if (status != CTXRT_SUCCESS)
        return status;
    int cancel = cx_cancel_hold();
    status = cx_module_pin(use.of.module, "kernel");
    if (status == CTXRT_SUCCESS) {
        status = ask_driver(&use, block_threads, shared_bytes, out_occupancy);
        cx_module_unpin(use.of.module);
    }
    status = cx_module_leave(use.of, status);
    cx_cancel_restore(cancel);
    return status;
}
