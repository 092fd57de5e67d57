/* Queries of devices that few programs make: the old structure of properties, atomics, textures. */
#include "emu/context/context.h"
#include "emu/device/device.h"
#include "emu/base/state.h"
#include "emu/report/not_supported.h"

cxu_result cx_emu_call_device_get_properties(cxu_device_properties *out_properties,
                                             CUdevice ordinal)
{
    const cx_emu_device *device = cx_emu_device_find(ordinal);
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_properties == NULL)
        return CXU_INVALID_VALUE;
    if (device == NULL)
        return CXU_INVALID_DEVICE;
    for (int i = 0; i < 3; i++) {
        out_properties->max_block[i] = cx_emu_attribute_value(
            device, (cxu_device_attribute)((int)CXU_ATTRIBUTE_MAX_BLOCK_DIM_X + i));
        out_properties->max_grid[i] = cx_emu_attribute_value(
            device, (cxu_device_attribute)((int)CXU_ATTRIBUTE_MAX_GRID_DIM_X + i));
    }
    out_properties->max_threads_per_block =
        cx_emu_attribute_value(device, CXU_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    out_properties->shared_bytes_per_block =
        cx_emu_attribute_value(device, CXU_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    out_properties->constant_bytes =
        cx_emu_attribute_value(device, CXU_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
    out_properties->warp_size = cx_emu_attribute_value(device, CXU_ATTRIBUTE_WARP_SIZE);
    out_properties->max_pitch_bytes = cx_emu_attribute_value(device, CXU_ATTRIBUTE_MAX_PITCH);
    out_properties->registers_per_block =
        cx_emu_attribute_value(device, CXU_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
    out_properties->clock_rate_khz = cx_emu_attribute_value(device, CXU_ATTRIBUTE_CLOCK_RATE);
    out_properties->texture_alignment =
        cx_emu_attribute_value(device, CXU_ATTRIBUTE_TEXTURE_ALIGNMENT);
    return CXU_SUCCESS;
}

/* ---- textures ---- */

static bool format_valid(cxu_array_format format, unsigned int channels)
{
    switch (format) {
    case CXU_AD_FORMAT_UNSIGNED_INT8:
    case CXU_AD_FORMAT_UNSIGNED_INT16:
    case CXU_AD_FORMAT_UNSIGNED_INT32:
    case CXU_AD_FORMAT_SIGNED_INT8:
    case CXU_AD_FORMAT_SIGNED_INT16:
    case CXU_AD_FORMAT_SIGNED_INT32:
    case CXU_AD_FORMAT_HALF:
    case CXU_AD_FORMAT_FLOAT:
        return channels == 1 || channels == 2 || channels == 4;
    default:
        return false;
    }
}

cxu_result cx_emu_call_device_get_texture_1d_linear_max_width(size_t *out_elements,
                                                              cxu_array_format format,
                                                              unsigned int channels,
                                                              CUdevice ordinal)
{
    const cx_emu_device *device = cx_emu_device_find(ordinal);
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_elements == NULL || !format_valid(format, channels))
        return CXU_INVALID_VALUE;
    if (device == NULL)
        return CXU_INVALID_DEVICE;
    *out_elements =
        (size_t)cx_emu_attribute_value(device, CXU_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH);
    return CXU_SUCCESS;
}

/* ---- atomics ---- */

static bool operations_valid(const unsigned int *out_capabilities,
                             const cxu_atomic_operation *operations, unsigned int count)
{
    if (out_capabilities == NULL || operations == NULL || count == 0)
        return false;
    for (unsigned int i = 0; i < count; i++)
        if ((unsigned int)operations[i] > CXU_ATOMIC_OPERATION_FLOAT_MAX)
            return false;
    return true;
}

static unsigned int native_capabilities(cxu_atomic_operation operation)
{
    unsigned int sizes = CXU_ATOMIC_CAPABILITY_REDUCTION | CXU_ATOMIC_CAPABILITY_SCALAR_32 |
                         CXU_ATOMIC_CAPABILITY_SCALAR_64;

    return operation >= CXU_ATOMIC_OPERATION_FLOAT_ADD
               ? sizes
               : sizes | CXU_ATOMIC_CAPABILITY_SIGNED | CXU_ATOMIC_CAPABILITY_UNSIGNED;
}

cxu_result cx_emu_call_device_get_host_atomic_capabilities(unsigned int *out_capabilities,
                                                           const cxu_atomic_operation *operations,
                                                           unsigned int count, CUdevice ordinal)
{
    const cx_emu_device *device = cx_emu_device_find(ordinal);
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (!operations_valid(out_capabilities, operations, count))
        return CXU_INVALID_VALUE;
    if (device == NULL)
        return CXU_INVALID_DEVICE;
    for (unsigned int i = 0; i < count; i++)
        out_capabilities[i] =
            cx_emu_attribute_value(device, CXU_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED)
                ? native_capabilities(operations[i])
                : 0;
    return CXU_SUCCESS;
}

/* As the attribute of the way between them says: no atomics. */
cxu_result cx_emu_call_device_get_p2p_atomic_capabilities(unsigned int *out_capabilities,
                                                          const cxu_atomic_operation *operations,
                                                          unsigned int count, CUdevice source,
                                                          CUdevice destination)
{
    const cx_emu_device *from = cx_emu_device_find(source);
    const cx_emu_device *to = cx_emu_device_find(destination);
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (!operations_valid(out_capabilities, operations, count))
        return CXU_INVALID_VALUE;
    if (from == NULL || to == NULL || from == to)
        return CXU_INVALID_DEVICE;
    for (unsigned int i = 0; i < count; i++)
        out_capabilities[i] = 0;
    return CXU_SUCCESS;
}

/* ---- caches and remote writes ---- */

/* The emulated caches keep nothing. */
cxu_result cx_emu_call_ctx_reset_persisting_l2_cache(void)
{
    cxu_result result = cx_emu_enter();

    return result == CXU_SUCCESS ? cx_emu_context_check_current() : result;
}

/* No other device writes to memory behind the driver's back. */
cxu_result cx_emu_call_flush_gpu_direct_rdma_writes(cxu_flush_rdma_target target,
                                                    cxu_flush_rdma_scope scope)
{
    cxu_result result = cx_emu_enter();

    if (result == CXU_SUCCESS)
        result = cx_emu_context_check_current();
    if (result != CXU_SUCCESS)
        return result;
    if (target != CXU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX ||
        (scope != CXU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER &&
         scope != CXU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES))
        return CXU_INVALID_VALUE;
    return cx_emu_not_supported("cuFlushGPUDirectRDMAWrites", "a write from another device");
}
