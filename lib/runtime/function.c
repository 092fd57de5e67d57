#include "runtime/calls.h"
#include "runtime/code.h"
#include "runtime/driver.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

static cxr_error find_function(const void *host, const cx_driver_table **out_driver,
                               CUfunction *out_function)
{
    cxr_error error = cx_cudart_use_context(out_driver);
    return error != CXR_SUCCESS ? error : cx_cudart_function_find(host, out_function);
}

typedef struct attribute_row {
    cxu_func_attribute attribute;
    size_t offset;
    bool is_size; /* else an int */
} attribute_row;

#define AT(field) offsetof(cxr_function_attributes, field)

static const attribute_row attribute_rows[] = {
    {CXU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, AT(shared_bytes), true},
    {CXU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, AT(constant_bytes), true},
    {CXU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, AT(local_bytes), true},
    {CXU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, AT(max_threads_per_block), false},
    {CXU_FUNC_ATTRIBUTE_NUM_REGS, AT(registers), false},
    {CXU_FUNC_ATTRIBUTE_PTX_VERSION, AT(ptx_version), false},
    {CXU_FUNC_ATTRIBUTE_BINARY_VERSION, AT(binary_version), false},
    {CXU_FUNC_ATTRIBUTE_CACHE_MODE_CA, AT(cache_mode_ca), false},
    {CXU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, AT(max_dynamic_shared_bytes), false},
    {CXU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, AT(preferred_shared_carveout), false},
    {CXU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, AT(cluster_must_be_set), false},
    {CXU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, AT(required_cluster_width), false},
    {CXU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, AT(required_cluster_height), false},
    {CXU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, AT(required_cluster_depth), false},
    {CXU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, AT(cluster_scheduling_policy), false},
    {CXU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, AT(non_portable_cluster_size_allowed),
     false}};

/* Programs of CUDA 11 have a shorter struct. */
cxr_error cxr_cudaFuncGetAttributes(cxr_function_attributes *out_attributes, const void *host)
{
    const cx_driver_table *driver;
    CUfunction function;
    size_t size = cx_cudart_version < 12000 ? AT(cluster_must_be_set) : sizeof *out_attributes;
    cxr_error error = find_function(host, &driver, &function);
    if (error != CXR_SUCCESS)
        return error;
    if (out_attributes == NULL)
        return CXR_INVALID_VALUE;
    memset(out_attributes, 0, size);
    for (size_t i = 0; i < sizeof attribute_rows / sizeof attribute_rows[0]; i++) {
        const attribute_row *row = &attribute_rows[i];
        void *field = (char *)out_attributes + row->offset;
        int value;
        if (row->offset >= size)
            continue;
        error = (cxr_error)driver->func_get_attribute(&value, row->attribute, function);
        if (error != CXR_SUCCESS)
            return error;
        if (row->is_size)
            *(size_t *)field = (size_t)value;
        else
            *(int *)field = value;
    }
    return CXR_SUCCESS;
}

cxr_error cxr_cudaFuncSetAttribute(const void *host, int attribute, int value)
{
    const cx_driver_table *driver;
    CUfunction function;
    cxr_error error = find_function(host, &driver, &function);
    if (error != CXR_SUCCESS)
        return error;
    return (cxr_error)driver->func_set_attribute(function, (cxu_func_attribute)attribute, value);
}

cxr_error cxr_cudaFuncSetCacheConfig(const void *host, cxu_func_cache config)
{
    const cx_driver_table *driver;
    CUfunction function;
    cxr_error error = find_function(host, &driver, &function);
    return error != CXR_SUCCESS ? error
                                : (cxr_error)driver->func_set_cache_config(function, config);
}

cxr_error cxr_cudaFuncSetSharedMemConfig(const void *host, cxu_shared_config config)
{
    const cx_driver_table *driver;
    CUfunction function;
    cxr_error error = find_function(host, &driver, &function);
    return error != CXR_SUCCESS ? error
                                : (cxr_error)driver->func_set_shared_mem_config(function, config);
}

cxr_error cxr_cudaFuncGetName(const char **out_name, const void *host)
{
    const cx_driver_table *driver;
    CUfunction function;
    cxr_error error = find_function(host, &driver, &function);
    return error != CXR_SUCCESS ? error : (cxr_error)driver->func_get_name(out_name, function);
}

cxr_error cxr_cudaFuncGetParamInfo(const void *host, size_t index, size_t *out_offset,
                                   size_t *out_bytes)
{
    const cx_driver_table *driver;
    CUfunction function;
    cxr_error error = find_function(host, &driver, &function);
    if (error != CXR_SUCCESS)
        return error;
    return (cxr_error)driver->func_get_param_info(function, index, out_offset, out_bytes);
}

cxr_error cxr_cudaGetFuncBySymbol(CUfunction *out_function, const void *host)
{
    const cx_driver_table *driver;
    if (out_function == NULL)
        return CXR_INVALID_VALUE;
    return find_function(host, &driver, out_function);
}

cxr_error cxr_cudaGetKernel(CUkernel *out_kernel, const void *host)
{
    const cx_driver_table *driver;
    if (out_kernel == NULL)
        return CXR_INVALID_VALUE;
    cxr_error error = cx_cudart_use_context(&driver);
    return error != CXR_SUCCESS ? error : cx_cudart_kernel_find(host, out_kernel);
}

/* ---- occupancy ---- */

cxr_error cxr_cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *out_blocks, const void *host,
                                                            int block_threads, size_t shared_bytes)
{
    const cx_driver_table *driver;
    CUfunction function;
    cxr_error error = find_function(host, &driver, &function);
    if (error != CXR_SUCCESS)
        return error;
    return (cxr_error)driver->occupancy_max_active_blocks(out_blocks, function, block_threads,
                                                          shared_bytes);
}

cxr_error cxr_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *out_blocks, const void *host, int block_threads, size_t shared_bytes, unsigned int flags)
{
    const cx_driver_table *driver;
    CUfunction function;
    cxr_error error = find_function(host, &driver, &function);
    if (error != CXR_SUCCESS)
        return error;
    return (cxr_error)driver->occupancy_max_active_blocks_with_flags(
        out_blocks, function, block_threads, shared_bytes, flags);
}

cxr_error cxr_cudaOccupancyAvailableDynamicSMemPerBlock(size_t *out_bytes, const void *host,
                                                        int blocks, int block_threads)
{
    const cx_driver_table *driver;
    CUfunction function;
    cxr_error error = find_function(host, &driver, &function);
    if (error != CXR_SUCCESS)
        return error;
    return (cxr_error)driver->occupancy_available_dynamic_smem(out_bytes, function, blocks,
                                                               block_threads);
}

static cxu_launch_config to_driver(const cxr_launch_config *config)
{
    return (cxu_launch_config){config->grid.x,
                               config->grid.y,
                               config->grid.z,
                               config->block.x,
                               config->block.y,
                               config->block.z,
                               (unsigned int)config->shared_bytes,
                               config->stream,
                               config->attributes,
                               config->attribute_count};
}

cxr_error cxr_cudaOccupancyMaxPotentialClusterSize(int *out_size, const void *host,
                                                   const cxr_launch_config *config)
{
    const cx_driver_table *driver;
    CUfunction function;
    cxr_error error = find_function(host, &driver, &function);
    if (error != CXR_SUCCESS)
        return error;
    if (config == NULL || config->shared_bytes > UINT_MAX)
        return CXR_INVALID_VALUE;
    const cxu_launch_config of_driver = to_driver(config);
    return (cxr_error)driver->occupancy_max_potential_cluster_size(out_size, function, &of_driver);
}

cxr_error cxr_cudaOccupancyMaxActiveClusters(int *out_clusters, const void *host,
                                             const cxr_launch_config *config)
{
    const cx_driver_table *driver;
    CUfunction function;
    cxr_error error = find_function(host, &driver, &function);
    if (error != CXR_SUCCESS)
        return error;
    if (config == NULL || config->shared_bytes > UINT_MAX)
        return CXR_INVALID_VALUE;
    const cxu_launch_config of_driver = to_driver(config);
    return (cxr_error)driver->occupancy_max_active_clusters(out_clusters, function, &of_driver);
}
