#include "runtime/copy.h"

#include "runtime/array.h"
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

/* Exactly one of an array and a pointer describes a side. */
static bool is_one_of(CUarray array, const cxr_pitched_pointer *pointer)
{
    return (array != NULL) != (pointer->pointer != NULL);
}

/* The bytes that a unit of the extent stands for: elements of the arrays, or bytes. */
static cxr_error find_unit(CUarray one, CUarray other, size_t *out_bytes)
{
    size_t second;
    cxr_error error = CXR_SUCCESS;
    *out_bytes = 1;
    if (one != NULL)
        error = cx_cudart_array_element(one, out_bytes);
    if (error != CXR_SUCCESS || other == NULL)
        return error;
    error = cx_cudart_array_element(other, &second);
    if (error == CXR_SUCCESS && one != NULL && second != *out_bytes)
        error = CXR_INVALID_VALUE;
    *out_bytes = second;
    return error;
}

/* A position in an array counts elements. */
static size_t bytes_at(CUarray array, size_t x, size_t unit)
{
    return array != NULL ? x * unit : x;
}

cxr_error cx_cudart_copy_3d(const cxr_copy_3d *params, cxu_memcpy_3d *out_copy)
{
    sides of;
    size_t unit;
    if (params == NULL)
        return CXR_INVALID_VALUE;
    cxr_error error = find_sides(params->kind, &of);
    if (error != CXR_SUCCESS)
        return error;
    const cxr_pitched_pointer *from = &params->source;
    const cxr_pitched_pointer *to = &params->destination;
    CUarray from_array = params->source_array, to_array = params->destination_array;
    if (!is_one_of(from_array, from) || !is_one_of(to_array, to))
        return CXR_INVALID_VALUE;
    error = find_unit(from_array, to_array, &unit);
    if (error != CXR_SUCCESS)
        return error;
    const size_t width = params->extent.width * unit;
    if ((from_array == NULL && width > from->pitch_bytes) ||
        (to_array == NULL && width > to->pitch_bytes))
        return CXR_INVALID_PITCH_VALUE;
    *out_copy = (cxu_memcpy_3d){
        .source_x_bytes = bytes_at(from_array, params->source_position.x, unit),
        .source_y = params->source_position.y,
        .source_z = params->source_position.z,
        .source_type = from_array != NULL ? CXU_MEMORYTYPE_ARRAY : of.source,
        .source_host = from->pointer,
        .source_device = cx_cudart_address(from->pointer),
        .source_array = from_array,
        .source_pitch_bytes = from->pitch_bytes,
        .source_height = from->height,
        .destination_x_bytes = bytes_at(to_array, params->destination_position.x, unit),
        .destination_y = params->destination_position.y,
        .destination_z = params->destination_position.z,
        .destination_type = to_array != NULL ? CXU_MEMORYTYPE_ARRAY : of.destination,
        .destination_host = to->pointer,
        .destination_device = cx_cudart_address(to->pointer),
        .destination_array = to_array,
        .destination_pitch_bytes = to->pitch_bytes,
        .destination_height = to->height,
        .width_bytes = width,
        .height = params->extent.height,
        .depth = params->extent.depth};
    return CXR_SUCCESS;
}

static bool is_host(cxu_memory_type type)
{
    return type == CXU_MEMORYTYPE_HOST;
}

static const void *pointer_of(cxu_memory_type type, const void *host, CUdeviceptr device)
{
    if (type == CXU_MEMORYTYPE_ARRAY)
        return NULL;
    return is_host(type) ? host : (const void *)(uintptr_t)device;
}

void cx_cudart_copy_of_driver(const cxu_memcpy_3d *copy, cxr_copy_3d *out_params)
{
    const void *from = pointer_of(copy->source_type, copy->source_host, copy->source_device);
    const void *to =
        pointer_of(copy->destination_type, copy->destination_host, copy->destination_device);
    CUarray from_array = from == NULL ? copy->source_array : NULL;
    CUarray to_array = to == NULL ? copy->destination_array : NULL;
    size_t unit;
    cxr_copy_kind kind = CXR_COPY_DEFAULT;
    if (copy->source_type != CXU_MEMORYTYPE_UNIFIED &&
        copy->destination_type != CXU_MEMORYTYPE_UNIFIED)
        kind = is_host(copy->source_type)
                   ? (is_host(copy->destination_type) ? CXR_HOST_TO_HOST : CXR_HOST_TO_DEVICE)
                   : (is_host(copy->destination_type) ? CXR_DEVICE_TO_HOST : CXR_DEVICE_TO_DEVICE);
    if (find_unit(from_array, to_array, &unit) != CXR_SUCCESS)
        unit = 1;
    *out_params = (cxr_copy_3d){
        .source_array = from_array,
        .source_position = {copy->source_x_bytes / (from_array != NULL ? unit : 1), copy->source_y,
                            copy->source_z},
        .destination_array = to_array,
        .destination_position = {copy->destination_x_bytes / (to_array != NULL ? unit : 1),
                                 copy->destination_y, copy->destination_z},
        .extent = {copy->width_bytes / unit, copy->height, copy->depth},
        .kind = kind};
    if (from_array == NULL)
        out_params->source = (cxr_pitched_pointer){
            (void *)(uintptr_t)from, copy->source_pitch_bytes, copy->width_bytes,
            copy->source_height};
    if (to_array == NULL)
        out_params->destination = (cxr_pitched_pointer){
            (void *)(uintptr_t)to, copy->destination_pitch_bytes, copy->width_bytes,
            copy->destination_height};
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
    CUarray from_array = params->source_array, to_array = params->destination_array;
    size_t unit;
    if (!is_one_of(from_array, &params->source) || !is_one_of(to_array, &params->destination))
        return CXR_INVALID_VALUE;
    cxr_error error = find_unit(from_array, to_array, &unit);
    if (error == CXR_SUCCESS)
        error = cx_cudart_primary(params->destination_device, &to);
    if (error == CXR_SUCCESS)
        error = cx_cudart_primary(params->source_device, &from);
    if (error != CXR_SUCCESS)
        return error;
    *out_copy =
        (cxu_memcpy_3d_peer){.source_x_bytes =
                                 bytes_at(from_array, params->source_position.x, unit),
                             .source_y = params->source_position.y,
                             .source_z = params->source_position.z,
                             .source_type = from_array != NULL ? CXU_MEMORYTYPE_ARRAY
                                                               : CXU_MEMORYTYPE_DEVICE,
                             .source_array = from_array,
                             .source_device = cx_cudart_address(params->source.pointer),
                             .source_context = from,
                             .source_pitch_bytes = params->source.pitch_bytes,
                             .source_height = params->source.height,
                             .destination_x_bytes =
                                 bytes_at(to_array, params->destination_position.x, unit),
                             .destination_y = params->destination_position.y,
                             .destination_z = params->destination_position.z,
                             .destination_type = to_array != NULL ? CXU_MEMORYTYPE_ARRAY
                                                                  : CXU_MEMORYTYPE_DEVICE,
                             .destination_array = to_array,
                             .destination_device = cx_cudart_address(params->destination.pointer),
                             .destination_context = to,
                             .destination_pitch_bytes = params->destination.pitch_bytes,
                             .destination_height = params->destination.height,
                             .width_bytes = params->extent.width * unit,
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
