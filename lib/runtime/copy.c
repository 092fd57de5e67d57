#include "runtime/copy.h"

#include "runtime/calls.h"
#include "runtime/driver.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- the driver's descriptions ---- */

typedef struct sides {
    cxu_memory_type source, destination;
} sides;

static cxr_error find_sides(cxr_copy_kind kind, sides *out_sides)
{
    static const sides of_kind[] = {
        [CXR_HOST_TO_HOST] = {CXU_MEMORYTYPE_HOST, CXU_MEMORYTYPE_HOST},
        [CXR_HOST_TO_DEVICE] = {CXU_MEMORYTYPE_HOST, CXU_MEMORYTYPE_DEVICE},
        [CXR_DEVICE_TO_HOST] = {CXU_MEMORYTYPE_DEVICE, CXU_MEMORYTYPE_HOST},
        [CXR_DEVICE_TO_DEVICE] = {CXU_MEMORYTYPE_DEVICE, CXU_MEMORYTYPE_DEVICE},
        [CXR_COPY_DEFAULT] = {CXU_MEMORYTYPE_UNIFIED, CXU_MEMORYTYPE_UNIFIED}};
    if ((unsigned int)kind > CXR_COPY_DEFAULT)
        return CXR_INVALID_MEMCPY_DIRECTION;
    *out_sides = of_kind[kind];
    return CXR_SUCCESS;
}

cxr_error cx_cudart_copy_2d(void *destination, size_t destination_pitch, const void *source,
                            size_t source_pitch, size_t width, size_t height, cxr_copy_kind kind,
                            cxu_memcpy_2d *out_copy)
{
    sides of;
    cxr_error error = find_sides(kind, &of);
    if (error != CXR_SUCCESS)
        return error;
    if (width > destination_pitch || width > source_pitch)
        return CXR_INVALID_PITCH_VALUE;
    *out_copy = (cxu_memcpy_2d){.source_type = of.source,
                                .source_host = source,
                                .source_device = cx_cudart_address(source),
                                .source_pitch_bytes = source_pitch,
                                .destination_type = of.destination,
                                .destination_host = destination,
                                .destination_device = cx_cudart_address(destination),
                                .destination_pitch_bytes = destination_pitch,
                                .width_bytes = width,
                                .height = height};
    return CXR_SUCCESS;
}

cxr_error cx_cudart_copy_3d(const cxr_copy_3d *params, cxu_memcpy_3d *out_copy)
{
    sides of;
    if (params == NULL)
        return CXR_INVALID_VALUE;
    cxr_error error = find_sides(params->kind, &of);
    if (error != CXR_SUCCESS)
        return error;
    if (params->source_array != NULL || params->destination_array != NULL)
        return CXR_NOT_SUPPORTED;
    const cxr_pitched_pointer *from = &params->source;
    const cxr_pitched_pointer *to = &params->destination;
    /* Exactly one of an array and a pointer describes each side. */
    if (from->pointer == NULL || to->pointer == NULL)
        return CXR_INVALID_VALUE;
    if (params->extent.width > from->pitch_bytes || params->extent.width > to->pitch_bytes)
        return CXR_INVALID_PITCH_VALUE;
    *out_copy = (cxu_memcpy_3d){.source_x_bytes = params->source_position.x,
                                .source_y = params->source_position.y,
                                .source_z = params->source_position.z,
                                .source_type = of.source,
                                .source_host = from->pointer,
                                .source_device = cx_cudart_address(from->pointer),
                                .source_pitch_bytes = from->pitch_bytes,
                                .source_height = from->height,
                                .destination_x_bytes = params->destination_position.x,
                                .destination_y = params->destination_position.y,
                                .destination_z = params->destination_position.z,
                                .destination_type = of.destination,
                                .destination_host = to->pointer,
                                .destination_device = cx_cudart_address(to->pointer),
                                .destination_pitch_bytes = to->pitch_bytes,
                                .destination_height = to->height,
                                .width_bytes = params->extent.width,
                                .height = params->extent.height,
                                .depth = params->extent.depth};
    return CXR_SUCCESS;
}

static bool is_host(cxu_memory_type type)
{
    return type == CXU_MEMORYTYPE_HOST;
}

void cx_cudart_copy_of_driver(const cxu_memcpy_3d *copy, cxr_copy_3d *out_params)
{
    const void *from = is_host(copy->source_type) ? copy->source_host
                                                  : (const void *)(uintptr_t)copy->source_device;
    void *to = is_host(copy->destination_type) ? copy->destination_host
                                               : (void *)(uintptr_t)copy->destination_device;
    cxr_copy_kind kind = CXR_COPY_DEFAULT;
    if (copy->source_type != CXU_MEMORYTYPE_UNIFIED &&
        copy->destination_type != CXU_MEMORYTYPE_UNIFIED)
        kind = is_host(copy->source_type)
                   ? (is_host(copy->destination_type) ? CXR_HOST_TO_HOST : CXR_HOST_TO_DEVICE)
                   : (is_host(copy->destination_type) ? CXR_DEVICE_TO_HOST : CXR_DEVICE_TO_DEVICE);
    *out_params =
        (cxr_copy_3d){.source_position = {copy->source_x_bytes, copy->source_y, copy->source_z},
                      .source = {(void *)(uintptr_t)from, copy->source_pitch_bytes,
                                 copy->width_bytes, copy->source_height},
                      .destination_position = {copy->destination_x_bytes, copy->destination_y,
                                               copy->destination_z},
                      .destination = {to, copy->destination_pitch_bytes, copy->width_bytes,
                                      copy->destination_height},
                      .extent = {copy->width_bytes, copy->height, copy->depth},
                      .kind = kind};
}

cxr_error cx_cudart_copy_1d(void *destination, const void *source, size_t bytes, cxr_copy_kind kind,
                            cxu_memcpy_3d *out_copy)
{
    sides of;
    cxr_error error = find_sides(kind, &of);
    if (error != CXR_SUCCESS)
        return error;
    *out_copy = (cxu_memcpy_3d){.source_type = of.source,
                                .source_host = source,
                                .source_device = cx_cudart_address(source),
                                .source_pitch_bytes = bytes,
                                .source_height = 1,
                                .destination_type = of.destination,
                                .destination_host = destination,
                                .destination_device = cx_cudart_address(destination),
                                .destination_pitch_bytes = bytes,
                                .destination_height = 1,
                                .width_bytes = bytes,
                                .height = 1,
                                .depth = 1};
    return CXR_SUCCESS;
}

/* ---- one dimension ---- */

/* Nothing is copied for 0 bytes, whatever the pointers are. */
static cxr_error begin_copy(cxr_copy_kind kind, const cx_driver_table **out_driver)
{
    cxr_error error = cx_cudart_use_context(out_driver);
    if (error != CXR_SUCCESS)
        return error;
    return (unsigned int)kind <= CXR_COPY_DEFAULT ? CXR_SUCCESS : CXR_INVALID_MEMCPY_DIRECTION;
}

cxr_error cxr_cudaMemcpy(void *destination, const void *source, size_t bytes, cxr_copy_kind kind)
{
    const cx_driver_table *driver;
    cxr_error error = begin_copy(kind, &driver);
    if (error != CXR_SUCCESS || bytes == 0)
        return error;
    CUdeviceptr to = cx_cudart_address(destination);
    CUdeviceptr from = cx_cudart_address(source);
    switch (kind) {
    case CXR_HOST_TO_DEVICE:
        return (cxr_error)driver->memcpy_htod(to, source, bytes);
    case CXR_DEVICE_TO_HOST:
        return (cxr_error)driver->memcpy_dtoh(destination, from, bytes);
    case CXR_DEVICE_TO_DEVICE:
        return (cxr_error)driver->memcpy_dtod(to, from, bytes);
    default:
        return (cxr_error)driver->memcpy_unified(to, from, bytes);
    }
}

cxr_error cxr_cudaMemcpyAsync(void *destination, const void *source, size_t bytes,
                              cxr_copy_kind kind, CUstream stream)
{
    const cx_driver_table *driver;
    cxr_error error = begin_copy(kind, &driver);
    if (error != CXR_SUCCESS || bytes == 0)
        return error;
    CUdeviceptr to = cx_cudart_address(destination);
    CUdeviceptr from = cx_cudart_address(source);
    switch (kind) {
    case CXR_HOST_TO_DEVICE:
        return (cxr_error)driver->memcpy_htod_async(to, source, bytes, stream);
    case CXR_DEVICE_TO_HOST:
        return (cxr_error)driver->memcpy_dtoh_async(destination, from, bytes, stream);
    case CXR_DEVICE_TO_DEVICE:
        return (cxr_error)driver->memcpy_dtod_async(to, from, bytes, stream);
    default:
        return (cxr_error)driver->memcpy_unified_async(to, from, bytes, stream);
    }
}

/* ---- more dimensions ---- */

cxr_error cxr_cudaMemcpy2D(void *destination, size_t destination_pitch, const void *source,
                           size_t source_pitch, size_t width, size_t height, cxr_copy_kind kind)
{
    const cx_driver_table *driver;
    cxu_memcpy_2d copy;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error == CXR_SUCCESS)
        error = cx_cudart_copy_2d(destination, destination_pitch, source, source_pitch, width,
                                  height, kind, &copy);
    if (error != CXR_SUCCESS || width == 0 || height == 0)
        return error;
    return (cxr_error)driver->memcpy_2d_unaligned(&copy);
}

cxr_error cxr_cudaMemcpy2DAsync(void *destination, size_t destination_pitch, const void *source,
                                size_t source_pitch, size_t width, size_t height,
                                cxr_copy_kind kind, CUstream stream)
{
    const cx_driver_table *driver;
    cxu_memcpy_2d copy;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error == CXR_SUCCESS)
        error = cx_cudart_copy_2d(destination, destination_pitch, source, source_pitch, width,
                                  height, kind, &copy);
    if (error != CXR_SUCCESS || width == 0 || height == 0)
        return error;
    return (cxr_error)driver->memcpy_2d_async(&copy, stream);
}

static bool is_nothing(cxr_extent extent)
{
    return extent.width == 0 || extent.height == 0 || extent.depth == 0;
}

cxr_error cxr_cudaMemcpy3D(const cxr_copy_3d *params)
{
    const cx_driver_table *driver;
    cxu_memcpy_3d copy;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error == CXR_SUCCESS)
        error = cx_cudart_copy_3d(params, &copy);
    if (error != CXR_SUCCESS || is_nothing(params->extent))
        return error;
    return (cxr_error)driver->memcpy_3d(&copy);
}

cxr_error cxr_cudaMemcpy3DAsync(const cxr_copy_3d *params, CUstream stream)
{
    const cx_driver_table *driver;
    cxu_memcpy_3d copy;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error == CXR_SUCCESS)
        error = cx_cudart_copy_3d(params, &copy);
    if (error != CXR_SUCCESS || is_nothing(params->extent))
        return error;
    return (cxr_error)driver->memcpy_3d_async(&copy, stream);
}

/* ---- between devices ---- */

cxr_error cxr_cudaMemcpyPeer(void *destination, int destination_device, const void *source,
                             int source_device, size_t bytes)
{
    const cx_driver_table *driver;
    CUcontext to, from;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error == CXR_SUCCESS)
        error = cx_cudart_primary(destination_device, &to);
    if (error == CXR_SUCCESS)
        error = cx_cudart_primary(source_device, &from);
    if (error != CXR_SUCCESS || bytes == 0)
        return error;
    return (cxr_error)driver->memcpy_peer(cx_cudart_address(destination), to,
                                          cx_cudart_address(source), from, bytes);
}

cxr_error cxr_cudaMemcpyPeerAsync(void *destination, int destination_device, const void *source,
                                  int source_device, size_t bytes, CUstream stream)
{
    const cx_driver_table *driver;
    CUcontext to, from;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error == CXR_SUCCESS)
        error = cx_cudart_primary(destination_device, &to);
    if (error == CXR_SUCCESS)
        error = cx_cudart_primary(source_device, &from);
    if (error != CXR_SUCCESS || bytes == 0)
        return error;
    return (cxr_error)driver->memcpy_peer_async(cx_cudart_address(destination), to,
                                                cx_cudart_address(source), from, bytes, stream);
}

static cxr_error to_driver_3d_peer(const cxr_copy_3d_peer *params, cxu_memcpy_3d_peer *out_copy)
{
    CUcontext to, from;
    if (params == NULL)
        return CXR_INVALID_VALUE;
    if (params->source_array != NULL || params->destination_array != NULL)
        return CXR_NOT_SUPPORTED;
    if (params->source.pointer == NULL || params->destination.pointer == NULL)
        return CXR_INVALID_VALUE;
    cxr_error error = cx_cudart_primary(params->destination_device, &to);
    if (error == CXR_SUCCESS)
        error = cx_cudart_primary(params->source_device, &from);
    if (error != CXR_SUCCESS)
        return error;
    *out_copy =
        (cxu_memcpy_3d_peer){.source_x_bytes = params->source_position.x,
                             .source_y = params->source_position.y,
                             .source_z = params->source_position.z,
                             .source_type = CXU_MEMORYTYPE_DEVICE,
                             .source_device = cx_cudart_address(params->source.pointer),
                             .source_context = from,
                             .source_pitch_bytes = params->source.pitch_bytes,
                             .source_height = params->source.height,
                             .destination_x_bytes = params->destination_position.x,
                             .destination_y = params->destination_position.y,
                             .destination_z = params->destination_position.z,
                             .destination_type = CXU_MEMORYTYPE_DEVICE,
                             .destination_device = cx_cudart_address(params->destination.pointer),
                             .destination_context = to,
                             .destination_pitch_bytes = params->destination.pitch_bytes,
                             .destination_height = params->destination.height,
                             .width_bytes = params->extent.width,
                             .height = params->extent.height,
                             .depth = params->extent.depth};
    return CXR_SUCCESS;
}

cxr_error cxr_cudaMemcpy3DPeer(const cxr_copy_3d_peer *params)
{
    const cx_driver_table *driver;
    cxu_memcpy_3d_peer copy;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error == CXR_SUCCESS)
        error = to_driver_3d_peer(params, &copy);
    if (error != CXR_SUCCESS || is_nothing(params->extent))
        return error;
    return (cxr_error)driver->memcpy_3d_peer(&copy);
}

cxr_error cxr_cudaMemcpy3DPeerAsync(const cxr_copy_3d_peer *params, CUstream stream)
{
    const cx_driver_table *driver;
    cxu_memcpy_3d_peer copy;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error == CXR_SUCCESS)
        error = to_driver_3d_peer(params, &copy);
    if (error != CXR_SUCCESS || is_nothing(params->extent))
        return error;
    return (cxr_error)driver->memcpy_3d_peer_async(&copy, stream);
}
