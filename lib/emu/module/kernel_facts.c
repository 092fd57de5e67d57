#include "emu/module/kernel_facts.h"

static size_t attribute_of(const cx_emu_kernel_place *place, cxu_device_attribute which)
{
    return (size_t)cx_emu_attribute_value(place->device, which);
}

static cx_ptx_kernel_info describe(const cx_emu_kernel_place *place)
{
    return cx_emu_code_describe(place->code, place->kernel);
}

static size_t threads_most(const cx_emu_kernel_place *place, const cx_ptx_kernel_info *kernel)
{
    return kernel->max_threads ? kernel->max_threads
                               : attribute_of(place, CXU_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
}

bool cx_emu_kernel_fact(const cx_emu_kernel_place *place, cxu_func_attribute attribute,
                        int *out_value)
{
    const cx_ptx_kernel_info kernel = describe(place);

    switch (attribute) {
    case CXU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *out_value = (int)threads_most(place, &kernel);
        return true;
    case CXU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *out_value = (int)kernel.shared_bytes;
        return true;
    case CXU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
        *out_value = (int)cx_ptx_constant_bytes(place->code->ptx);
        return true;
    case CXU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *out_value = (int)kernel.local_bytes;
        return true;
    case CXU_FUNC_ATTRIBUTE_NUM_REGS:
        *out_value = (int)kernel.registers;
        return true;
    case CXU_FUNC_ATTRIBUTE_PTX_VERSION:
        *out_value = cx_ptx_target(place->code->ptx);
        return true;
    case CXU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *out_value = (int)(attribute_of(place, CXU_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) * 10 +
                           attribute_of(place, CXU_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
        return true;
    case CXU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
        *out_value = 0;
        return true;
    case CXU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
        *out_value = kernel.cluster_needed;
        return true;
    default:
        return false;
    }
}

size_t cx_emu_kernel_dynamic_limit(const cx_emu_kernel_place *place)
{
    size_t fixed = describe(place).shared_bytes;
    size_t usual = attribute_of(place, CXU_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);

    return fixed < usual ? usual - fixed : 0;
}

static size_t smaller_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The registers of a warp: a multiple of the hardware's unit. */
static size_t registers_of_warp(size_t registers_of_thread, size_t warp)
{
    const size_t unit = 256;

    return (registers_of_thread * warp + unit - 1) / unit * unit;
}

int cx_emu_kernel_occupancy(const cx_emu_kernel_place *place, size_t block_threads,
                            size_t shared_bytes, size_t dynamic_limit)
{
    const cx_ptx_kernel_info kernel = describe(place);
    size_t warp = attribute_of(place, CXU_ATTRIBUTE_WARP_SIZE);
    size_t threads = (block_threads + warp - 1) / warp * warp;
    size_t shared = kernel.shared_bytes + shared_bytes +
                    attribute_of(place, CXU_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
    size_t blocks = attribute_of(place, CXU_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);

    if (block_threads > threads_most(place, &kernel) || shared_bytes > dynamic_limit)
        return 0;
    blocks = smaller_of(blocks, attribute_of(place, CXU_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) /
                                    threads);
    blocks =
        smaller_of(blocks, attribute_of(place, CXU_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR) /
                               (registers_of_warp(kernel.registers, warp) * (threads / warp)));
    if (shared > 0)
        blocks = smaller_of(
            blocks,
            attribute_of(place, CXU_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR) / shared);
    return (int)blocks;
}
