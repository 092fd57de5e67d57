/* Calls about occupancy: the number of blocks of a function that fit, and its best block size. */
#include "emu/module/cluster.h"
#include "emu/device/device.h"
#include "emu/module/module.h"
#include "emu/base/state.h"

enum { OCCUPANCY_DEFAULT = 0, OCCUPANCY_DISABLE_CACHING_OVERRIDE = 1 };

/* ---- blocks of a size ---- */

static cxu_result count_blocks(CUfunction handle, int block_threads, size_t shared_bytes,
                               int *out_blocks)
{
    cx_emu_function *function;
    cxu_result result;

    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_function_or_kernel_find(handle, &function);
    if (result == CXU_SUCCESS)
        *out_blocks = cx_emu_occupancy(function, (size_t)block_threads, shared_bytes);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_occupancy_max_active_blocks_with_flags(int *out_blocks, CUfunction handle,
                                                              int block_threads,
                                                              size_t shared_bytes,
                                                              unsigned int flags)
{
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_blocks == NULL || block_threads <= 0 || flags > OCCUPANCY_DISABLE_CACHING_OVERRIDE)
        return CXU_INVALID_VALUE;
    return count_blocks(handle, block_threads, shared_bytes, out_blocks);
}

cxu_result cx_emu_call_occupancy_max_active_blocks(int *out_blocks, CUfunction function,
                                                   int block_threads, size_t shared_bytes)
{
    return cx_emu_call_occupancy_max_active_blocks_with_flags(out_blocks, function, block_threads,
                                                              shared_bytes, OCCUPANCY_DEFAULT);
}

/* ---- the best size ---- */

/* The facts about a function that the search for the best block size needs. */
typedef struct occupancy_limits {
    int block_threads; /* of the largest block */
    int processor_threads;
    int processors;
    int warp;
} occupancy_limits;

static cxu_result find_limits(CUfunction handle, occupancy_limits *out_limits)
{
    cx_emu_function *function;
    cxu_result result;

    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_function_or_kernel_find(handle, &function);
    if (result == CXU_SUCCESS) {
        const cx_emu_device *device = function->module->context->device;
        int most = cx_emu_attribute_value(device, CXU_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
        int own = (int)cx_emu_function_describe(function).max_threads;

        *out_limits = (occupancy_limits){
            .block_threads = own > 0 && own < most ? own : most,
            .processor_threads =
                cx_emu_attribute_value(device, CXU_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR),
            .processors = cx_emu_attribute_value(device, CXU_ATTRIBUTE_MULTIPROCESSOR_COUNT),
            .warp = cx_emu_attribute_value(device, CXU_ATTRIBUTE_WARP_SIZE)};
    }
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* The largest number of threads on a multiprocessor wins, and of two equal ones the larger block.
 * The user's function runs without the lock. */
static cxu_result search_best(CUfunction handle, const occupancy_limits *limits, int largest,
                              cxu_shared_of_block shared_of, size_t shared_bytes, int *out_blocks,
                              int *out_threads)
{
    int best_blocks = 0, best_threads = 0;

    for (int top = (largest + limits->warp - 1) / limits->warp * limits->warp; top > 0;
         top -= limits->warp) {
        int threads = top < largest ? top : largest;
        int blocks = 0;
        cxu_result result = count_blocks(
            handle, threads, shared_of != NULL ? shared_of(threads) : shared_bytes, &blocks);

        if (result != CXU_SUCCESS)
            return result;
        if (blocks * threads > best_blocks * best_threads) {
            best_blocks = blocks;
            best_threads = threads;
        }
        if (best_blocks * best_threads == limits->processor_threads)
            break;
    }
    *out_blocks = best_blocks * limits->processors;
    *out_threads = best_threads;
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_occupancy_max_potential_block_size_with_flags(
    int *out_blocks, int *out_threads, CUfunction handle, cxu_shared_of_block shared_of,
    size_t shared_bytes, int limit_threads, unsigned int flags)
{
    occupancy_limits limits;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_blocks == NULL || out_threads == NULL || limit_threads < 0 ||
        flags > OCCUPANCY_DISABLE_CACHING_OVERRIDE)
        return CXU_INVALID_VALUE;
    result = find_limits(handle, &limits);
    if (result != CXU_SUCCESS)
        return result;
    if (limit_threads == 0 || limit_threads > limits.block_threads)
        limit_threads = limits.block_threads;
    return search_best(handle, &limits, limit_threads, shared_of, shared_bytes, out_blocks,
                       out_threads);
}

cxu_result cx_emu_call_occupancy_max_potential_block_size(int *out_blocks, int *out_threads,
                                                          CUfunction function,
                                                          cxu_shared_of_block shared_of,
                                                          size_t shared_bytes, int limit_threads)
{
    return cx_emu_call_occupancy_max_potential_block_size_with_flags(
        out_blocks, out_threads, function, shared_of, shared_bytes, limit_threads,
        OCCUPANCY_DEFAULT);
}

/* ---- shared memory ---- */

/* The driver gives shared memory to blocks in units of this size. */
#define SHARED_UNIT_BYTES 128

static size_t share_of_block(const cx_emu_function *function, int blocks)
{
    const cx_emu_device *device = function->module->context->device;
    size_t all =
        (size_t)cx_emu_attribute_value(device, CXU_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
    size_t taken =
        (size_t)cx_emu_attribute_value(device, CXU_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK) +
        cx_emu_function_describe(function).shared_bytes;
    size_t share = all / (size_t)blocks / SHARED_UNIT_BYTES * SHARED_UNIT_BYTES;
    size_t most = cx_emu_function_dynamic_limit(function);

    if (share < taken)
        return 0;
    return share - taken < most ? share - taken : most;
}

cxu_result cx_emu_call_occupancy_available_dynamic_smem(size_t *out_bytes, CUfunction handle,
                                                        int blocks, int block_threads)
{
    cx_emu_function *function;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_bytes == NULL || blocks <= 0 || block_threads <= 0)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_function_or_kernel_find(handle, &function);
    if (result == CXU_SUCCESS && cx_emu_occupancy(function, (size_t)block_threads, 0) < blocks)
        result = CXU_INVALID_VALUE;
    if (result == CXU_SUCCESS)
        *out_bytes = share_of_block(function, blocks);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* ---- clusters ---- */

/* The launch that the configuration describes; its clusters are resolved. */
static cxu_result find_launch(CUfunction handle, const cxu_launch_config *config, bool largest,
                              cx_emu_function **out_function, cx_emu_launch *out_launch)
{
    cxu_result result = cx_emu_function_or_kernel_find(handle, out_function);
    bool named;

    *out_launch = (cx_emu_launch){.grid = {config->grid_x, config->grid_y, config->grid_z},
                                  .block = {config->block_x, config->block_y, config->block_z},
                                  .shared_bytes = config->shared_bytes};
    if (result != CXU_SUCCESS)
        return result;
    named = cx_emu_cluster_read(config, out_launch->cluster);
    if (!cx_emu_launch_block_valid((*out_function)->module->context->device, out_launch->block))
        return CXU_INVALID_VALUE;
    return largest && !named ? CXU_SUCCESS : cx_emu_cluster_resolve(out_launch, *out_function);
}

/* Blocks that the device runs at once. */
static int count_resident(const cx_emu_function *function, const cx_emu_launch *launch)
{
    const cx_emu_device *device = function->module->context->device;
    size_t threads = (size_t)launch->block[0] * launch->block[1] * launch->block[2];

    return cx_emu_occupancy(function, threads, launch->shared_bytes) *
           cx_emu_attribute_value(device, CXU_ATTRIBUTE_MULTIPROCESSOR_COUNT);
}

/* The number of resident clusters, or the size of the largest one. */
static int count_clusters(const cx_emu_function *function, const cx_emu_launch *launch,
                          bool largest)
{
    int resident = count_resident(function, launch), limit = (int)cx_emu_cluster_limit(function);
    const uint32_t *size = launch->cluster;

    if (limit == 1)
        return 0;
    if (largest)
        return resident < limit ? resident : limit;
    return size[0] ? resident / (int)(size[0] * size[1] * size[2]) : resident;
}

static cxu_result ask_clusters(int *out_count, CUfunction handle, const cxu_launch_config *config,
                               bool largest)
{
    cx_emu_function *function;
    cx_emu_launch launch;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_count == NULL || config == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = find_launch(handle, config, largest, &function, &launch);
    if (result == CXU_SUCCESS)
        *out_count = count_clusters(function, &launch, largest);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_occupancy_max_potential_cluster_size(int *out_size, CUfunction function,
                                                            const cxu_launch_config *config)
{
    return ask_clusters(out_size, function, config, true);
}

cxu_result cx_emu_call_occupancy_max_active_clusters(int *out_clusters, CUfunction function,
                                                     const cxu_launch_config *config)
{
    return ask_clusters(out_clusters, function, config, false);
}
