#include "emu/module/launch_check.h"

#include "emu/base/state.h"
#include "emu/device/device.h"
#include "emu/module/cluster.h"

#include <string.h>

/* `most`: the attribute of the first dimension's limit; the others follow it. */
static bool is_within(const cx_emu_device *device, const uint32_t size[3],
                      cxu_device_attribute most)
{
    for (int i = 0; i < 3; i++)
        if (size[i] == 0 || size[i] > (uint32_t)cx_emu_attribute_value(
                                          device, (cxu_device_attribute)((int)most + i)))
            return false;
    return true;
}

static uint64_t thread_count(const uint32_t block[3])
{
    return (uint64_t)block[0] * block[1] * block[2];
}

bool cx_emu_launch_block_valid(const cx_emu_device *device, const uint32_t block[3])
{
    return is_within(device, block, CXU_ATTRIBUTE_MAX_BLOCK_DIM_X) &&
           thread_count(block) <=
               (uint64_t)cx_emu_attribute_value(device, CXU_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
}

static bool suits_kernel(const cx_emu_launch *launch, const cx_ptx_kernel_info *kernel)
{
    if (kernel->required[0] && memcmp(kernel->required, launch->block, sizeof launch->block) != 0)
        return false;
    return kernel->max_threads == 0 || thread_count(launch->block) <= kernel->max_threads;
}

/* The blocks of the kernel that fit on the device at once. */
static uint64_t fitting_blocks(const cx_emu_launch *launch, const cx_emu_function *function)
{
    const cx_emu_device *device = function->module->context->device;
    size_t threads = (size_t)thread_count(launch->block);

    return (uint64_t)cx_emu_occupancy(function, threads, launch->shared_bytes) *
           (uint64_t)cx_emu_attribute_value(device, CXU_ATTRIBUTE_MULTIPROCESSOR_COUNT);
}

/* All blocks of a cooperative launch must fit on the device at once. */
static bool too_large(const cx_emu_launch *launch, const cx_emu_function *function)
{
    uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1];
    uint64_t fit = fitting_blocks(launch, function);

    return blocks > fit || blocks * launch->grid[2] > fit;
}

/* ---- launches that are refused ---- */

/* Names the first dimension that is 0 or too large. */
static cxu_result refuse_dimensions(const cx_emu_device *device, const uint32_t size[3],
                                    cxu_device_attribute first, const char *const why[3])
{
    for (int i = 0; i < 3; i++) {
        const uint32_t most =
            (uint32_t)cx_emu_attribute_value(device, (cxu_device_attribute)((int)first + i));

        if (size[i] == 0 || size[i] > most)
            return cx_emu_refuse_numbers(CXU_INVALID_VALUE, why[i], size[i], most);
    }
    return CXU_INVALID_VALUE;
}

static cxu_result refuse_grid(const cx_emu_device *device, const cx_emu_launch *launch)
{
    static const char *const why[] = {
        "the grid's x is #, and the device's limit is 1 to #",
        "the grid's y is #, and the device's limit is 1 to #",
        "the grid's z is #, and the device's limit is 1 to #",
    };

    return refuse_dimensions(device, launch->grid, CXU_ATTRIBUTE_MAX_GRID_DIM_X, why);
}

static cxu_result refuse_block(const cx_emu_device *device, const cx_emu_launch *launch)
{
    static const char *const why[] = {
        "the block's x is #, and the device's limit is 1 to #",
        "the block's y is #, and the device's limit is 1 to #",
        "the block's z is #, and the device's limit is 1 to #",
    };
    const uint64_t threads = thread_count(launch->block);
    const uint64_t most =
        (uint64_t)cx_emu_attribute_value(device, CXU_ATTRIBUTE_MAX_THREADS_PER_BLOCK);

    return threads > most
               ? cx_emu_refuse_numbers(CXU_INVALID_VALUE,
                                       "the block has # threads, and the device's limit is #",
                                       threads, most)
               : refuse_dimensions(device, launch->block, CXU_ATTRIBUTE_MAX_BLOCK_DIM_X, why);
}

static cxu_result refuse_threads(const cx_emu_launch *launch, const cx_ptx_kernel_info *kernel)
{
    const uint64_t threads = thread_count(launch->block);

    return kernel->max_threads != 0 && threads > kernel->max_threads
               ? cx_emu_refuse_numbers(CXU_INVALID_VALUE,
                                       "the block has # threads, and the kernel's limit is #",
                                       threads, kernel->max_threads)
               : cx_emu_refuse(CXU_INVALID_VALUE,
                               "the kernel was compiled for blocks of another size");
}

static cxu_result refuse_cooperative(const cx_emu_launch *launch, const cx_emu_function *function)
{
    return cx_emu_refuse_numbers(
        CXU_COOPERATIVE_LAUNCH_TOO_LARGE,
        "# blocks have to run at once, and # of this size fit on the device",
        (unsigned long long)launch->grid[0] * launch->grid[1] * launch->grid[2],
        fitting_blocks(launch, function));
}

cxu_result cx_emu_launch_check(cx_emu_launch *launch, const cx_emu_function *function)
{
    const cx_emu_device *device = function->module->context->device;
    cx_ptx_kernel_info kernel = cx_emu_function_describe(function);
    cxu_result result = is_within(device, launch->grid, CXU_ATTRIBUTE_MAX_GRID_DIM_X)
                            ? cx_emu_cluster_resolve(launch, function)
                            : refuse_grid(device, launch);

    if (result != CXU_SUCCESS)
        return result;
    if (!is_within(device, launch->grid, CXU_ATTRIBUTE_MAX_GRID_DIM_X))
        return refuse_grid(device, launch);
    if (!cx_emu_launch_block_valid(device, launch->block))
        return refuse_block(device, launch);
    if (launch->shared_bytes > cx_emu_function_dynamic_limit(function))
        return cx_emu_refuse_numbers(
            CXU_INVALID_VALUE,
            "the launch asks for # bytes of dynamic shared memory and the kernel may have #; "
            "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES raises that",
            launch->shared_bytes, cx_emu_function_dynamic_limit(function));
    if (launch->cooperative && too_large(launch, function))
        return refuse_cooperative(launch, function);
    return suits_kernel(launch, &kernel) ? CXU_SUCCESS : refuse_threads(launch, &kernel);
}
