/* The calls that copy memory. */
#include "emu/base/state.h"
#include "emu/context/context.h"
#include "emu/context/output.h"
#include "emu/graph/capture.h"
#include "emu/schedule/copy.h"

/* ---- submitting ---- */

static cxu_result check_stream(cx_emu_stream *stream, cx_emu_copy_mode mode)
{
    return mode == CX_EMU_COPY_SYNC ? cx_emu_capture_check_synchronous(stream)
                                    : cx_emu_capture_check(stream);
}

/* An invalid copy is refused when it is captured, as it is when it is made. */
static cxu_result capture_copy(cx_emu_stream *stream, const cx_emu_copy *copy)
{
    const cx_emu_node_params node_params = {.type = CXU_GRAPH_NODE_TYPE_MEMCPY,
                                            .of.copy = cx_emu_copy_describe(copy)};
    const cxu_result result = cx_emu_copy_check(copy, stream->context->device);

    if (result != CXU_SUCCESS)
        return result;
    return copy->destination.device != NULL ? cx_emu_capture_refuse(stream) /* between contexts */
                                            : cx_emu_capture_add(stream, &node_params);
}

static cxu_result submit_locked(const cx_emu_copy *copy, CUstream handle, cx_emu_copy_mode mode)
{
    cx_emu_stream *stream;
    cxu_result result = cx_emu_stream_find(handle, &stream);

    if (result == CXU_SUCCESS)
        result = check_stream(stream, mode);
    if (result != CXU_SUCCESS)
        return result;
    if (copy->width_bytes == 0 || copy->height == 0 || copy->depth == 0)
        return CXU_SUCCESS;
    if (stream->branch != NULL)
        return capture_copy(stream, copy);
    return cx_emu_copy_submit(copy, handle, stream, mode);
}

static cxu_result submit_copy(const cx_emu_copy *copy, CUstream stream, cx_emu_copy_mode mode)
{
    cxu_result result;

    if (mode == CX_EMU_COPY_SYNC)
        cx_emu_output_show();
    cx_lock_enter(&cx_emu_lock);
    result = submit_locked(copy, stream, mode);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* ---- bytes ---- */

static cxu_result copy_bytes(cxu_memory_type to_type, uintptr_t to, cxu_memory_type from_type,
                             uintptr_t from, size_t bytes, CUstream stream, cx_emu_copy_mode mode)
{
    const cx_emu_copy copy = {.destination = {.type = to_type, .address = to},
                              .source = {.type = from_type, .address = from},
                              .width_bytes = bytes,
                              .height = 1,
                              .depth = 1};
    cxu_result result = cx_emu_enter();

    return result == CXU_SUCCESS ? submit_copy(&copy, stream, mode) : result;
}

cxu_result cx_emu_call_memcpy_unified(CUdeviceptr destination, CUdeviceptr source, size_t bytes)
{
    return copy_bytes(CXU_MEMORYTYPE_UNIFIED, destination, CXU_MEMORYTYPE_UNIFIED, source, bytes,
                      NULL, CX_EMU_COPY_SYNC);
}

cxu_result cx_emu_call_memcpy_unified_async(CUdeviceptr destination, CUdeviceptr source,
                                            size_t bytes, CUstream stream)
{
    return copy_bytes(CXU_MEMORYTYPE_UNIFIED, destination, CXU_MEMORYTYPE_UNIFIED, source, bytes,
                      stream, CX_EMU_COPY_ASYNC);
}

cxu_result cx_emu_call_memcpy_htod(CUdeviceptr destination, const void *source, size_t bytes)
{
    return copy_bytes(CXU_MEMORYTYPE_DEVICE, destination, CXU_MEMORYTYPE_HOST, (uintptr_t)source,
                      bytes, NULL, CX_EMU_COPY_SYNC);
}

cxu_result cx_emu_call_memcpy_htod_async(CUdeviceptr destination, const void *source, size_t bytes,
                                         CUstream stream)
{
    return copy_bytes(CXU_MEMORYTYPE_DEVICE, destination, CXU_MEMORYTYPE_HOST, (uintptr_t)source,
                      bytes, stream, CX_EMU_COPY_ASYNC);
}

cxu_result cx_emu_call_memcpy_dtoh(void *destination, CUdeviceptr source, size_t bytes)
{
    return copy_bytes(CXU_MEMORYTYPE_HOST, (uintptr_t)destination, CXU_MEMORYTYPE_DEVICE, source,
                      bytes, NULL, CX_EMU_COPY_SYNC);
}

cxu_result cx_emu_call_memcpy_dtoh_async(void *destination, CUdeviceptr source, size_t bytes,
                                         CUstream stream)
{
    return copy_bytes(CXU_MEMORYTYPE_HOST, (uintptr_t)destination, CXU_MEMORYTYPE_DEVICE, source,
                      bytes, stream, CX_EMU_COPY_ASYNC);
}

cxu_result cx_emu_call_memcpy_dtod(CUdeviceptr destination, CUdeviceptr source, size_t bytes)
{
    return copy_bytes(CXU_MEMORYTYPE_DEVICE, destination, CXU_MEMORYTYPE_DEVICE, source, bytes,
                      NULL, CX_EMU_COPY_SYNC);
}

cxu_result cx_emu_call_memcpy_dtod_async(CUdeviceptr destination, CUdeviceptr source, size_t bytes,
                                         CUstream stream)
{
    return copy_bytes(CXU_MEMORYTYPE_DEVICE, destination, CXU_MEMORYTYPE_DEVICE, source, bytes,
                      stream, CX_EMU_COPY_ASYNC);
}

static cxu_result find_devices(CUcontext to, CUcontext from, const cx_emu_device **out_to,
                               const cx_emu_device **out_from)
{
    cx_emu_context *context;
    cxu_result result;

    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_context_find(to, &context);
    if (result == CXU_SUCCESS) {
        *out_to = context->device;
        result = cx_emu_context_find(from, &context);
    }
    if (result == CXU_SUCCESS)
        *out_from = context->device;
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* The contexts only name the devices that reach the two sides; a copy of nothing needs none, as
 * recorded of cuMemcpy3DPeer. */
static cxu_result copy_between(uintptr_t to, CUcontext to_context, uintptr_t from,
                               CUcontext from_context, size_t bytes, CUstream stream,
                               cx_emu_copy_mode mode)
{
    cx_emu_copy copy = {.destination = {.type = CXU_MEMORYTYPE_DEVICE, .address = to},
                        .source = {.type = CXU_MEMORYTYPE_DEVICE, .address = from},
                        .width_bytes = bytes,
                        .height = 1,
                        .depth = 1};
    cxu_result result = cx_emu_enter();

    if (mode == CX_EMU_COPY_SYNC) {
        copy.alone[0] = to_context;
        copy.alone[1] = from_context;
    }
    if (result == CXU_SUCCESS && bytes > 0)
        result =
            find_devices(to_context, from_context, &copy.destination.device, &copy.source.device);
    return result == CXU_SUCCESS ? submit_copy(&copy, stream, mode) : result;
}

cxu_result cx_emu_call_memcpy_peer(CUdeviceptr destination, CUcontext destination_context,
                                   CUdeviceptr source, CUcontext source_context, size_t bytes)
{
    return copy_between(destination, destination_context, source, source_context, bytes, NULL,
                        CX_EMU_COPY_SYNC);
}

cxu_result cx_emu_call_memcpy_peer_async(CUdeviceptr destination, CUcontext destination_context,
                                         CUdeviceptr source, CUcontext source_context, size_t bytes,
                                         CUstream stream)
{
    return copy_between(destination, destination_context, source, source_context, bytes, stream,
                        CX_EMU_COPY_ASYNC);
}

/* ---- rows of arrays ---- */

static cx_emu_copy_side side_of_array(CUarray array, size_t offset)
{
    return (cx_emu_copy_side){.type = CXU_MEMORYTYPE_ARRAY, .array = array, .x_bytes = offset};
}

static cx_emu_copy_side side_of_memory(cxu_memory_type type, uintptr_t address)
{
    return (cx_emu_copy_side){.type = type, .address = address};
}

static cxu_result copy_row(cx_emu_copy_side to, cx_emu_copy_side from, size_t bytes,
                           CUstream stream, cx_emu_copy_mode mode)
{
    const cx_emu_copy copy = {
        .destination = to, .source = from, .width_bytes = bytes, .height = 1, .depth = 1};
    cxu_result result = cx_emu_enter();

    return result == CXU_SUCCESS ? submit_copy(&copy, stream, mode) : result;
}

cxu_result cx_emu_call_memcpy_dtoa(CUarray destination, size_t offset, CUdeviceptr source,
                                   size_t bytes)
{
    return copy_row(side_of_array(destination, offset),
                    side_of_memory(CXU_MEMORYTYPE_DEVICE, source), bytes, NULL,
                    CX_EMU_COPY_SYNC);
}

cxu_result cx_emu_call_memcpy_atod(CUdeviceptr destination, CUarray source, size_t offset,
                                   size_t bytes)
{
    return copy_row(side_of_memory(CXU_MEMORYTYPE_DEVICE, destination),
                    side_of_array(source, offset), bytes, NULL, CX_EMU_COPY_SYNC);
}

cxu_result cx_emu_call_memcpy_htoa(CUarray destination, size_t offset, const void *source,
                                   size_t bytes)
{
    return copy_row(side_of_array(destination, offset),
                    side_of_memory(CXU_MEMORYTYPE_HOST, (uintptr_t)source), bytes, NULL,
                    CX_EMU_COPY_SYNC);
}

cxu_result cx_emu_call_memcpy_atoh(void *destination, CUarray source, size_t offset, size_t bytes)
{
    return copy_row(side_of_memory(CXU_MEMORYTYPE_HOST, (uintptr_t)destination),
                    side_of_array(source, offset), bytes, NULL, CX_EMU_COPY_SYNC);
}

cxu_result cx_emu_call_memcpy_atoa(CUarray destination, size_t destination_offset, CUarray source,
                                   size_t source_offset, size_t bytes)
{
    return copy_row(side_of_array(destination, destination_offset),
                    side_of_array(source, source_offset), bytes, NULL, CX_EMU_COPY_SYNC);
}

cxu_result cx_emu_call_memcpy_htoa_async(CUarray destination, size_t offset, const void *source,
                                         size_t bytes, CUstream stream)
{
    return copy_row(side_of_array(destination, offset),
                    side_of_memory(CXU_MEMORYTYPE_HOST, (uintptr_t)source), bytes, stream,
                    CX_EMU_COPY_ASYNC);
}

cxu_result cx_emu_call_memcpy_atoh_async(void *destination, CUarray source, size_t offset,
                                         size_t bytes, CUstream stream)
{
    return copy_row(side_of_memory(CXU_MEMORYTYPE_HOST, (uintptr_t)destination),
                    side_of_array(source, offset), bytes, stream, CX_EMU_COPY_ASYNC);
}

/* ---- 2D ---- */

static cxu_result copy_2d(const cxu_memcpy_2d *copy, CUstream stream,
                          cx_emu_copy_mode mode)
{
    cx_emu_copy shape;
    cxu_result result = cx_emu_enter();

    if (result == CXU_SUCCESS)
        result = cx_emu_copy_of_2d(copy, &shape);
    return result == CXU_SUCCESS ? submit_copy(&shape, stream, mode) : result;
}

cxu_result cx_emu_call_memcpy_2d(const cxu_memcpy_2d *copy)
{
    return copy_2d(copy, NULL, CX_EMU_COPY_SYNC);
}

cxu_result cx_emu_call_memcpy_2d_unaligned(const cxu_memcpy_2d *copy)
{
    return copy_2d(copy, NULL, CX_EMU_COPY_SYNC);
}

cxu_result cx_emu_call_memcpy_2d_async(const cxu_memcpy_2d *copy, CUstream stream)
{
    return copy_2d(copy, stream, CX_EMU_COPY_ASYNC);
}

/* ---- 3D ---- */

static cxu_result copy_3d(const cxu_memcpy_3d *copy, CUstream stream,
                          cx_emu_copy_mode mode)
{
    cx_emu_copy shape;
    cxu_result result = cx_emu_enter();

    if (result == CXU_SUCCESS)
        result = cx_emu_copy_of_3d(copy, &shape);
    return result == CXU_SUCCESS ? submit_copy(&shape, stream, mode) : result;
}

cxu_result cx_emu_call_memcpy_3d(const cxu_memcpy_3d *copy)
{
    return copy_3d(copy, NULL, CX_EMU_COPY_SYNC);
}

cxu_result cx_emu_call_memcpy_3d_async(const cxu_memcpy_3d *copy, CUstream stream)
{
    return copy_3d(copy, stream, CX_EMU_COPY_ASYNC);
}

/* ---- between contexts ---- */

static bool is_empty(const cxu_memcpy_3d_peer *copy)
{
    return copy->width_bytes == 0 || copy->height == 0 || copy->depth == 0;
}

static cxu_memcpy_3d without_contexts(const cxu_memcpy_3d_peer *copy)
{
    return (cxu_memcpy_3d){.source_x_bytes = copy->source_x_bytes,
                           .source_y = copy->source_y,
                           .source_z = copy->source_z,
                           .source_lod = copy->source_lod,
                           .source_type = copy->source_type,
                           .source_host = copy->source_host,
                           .source_device = copy->source_device,
                           .source_array = copy->source_array,
                           .source_pitch_bytes = copy->source_pitch_bytes,
                           .source_height = copy->source_height,
                           .destination_x_bytes = copy->destination_x_bytes,
                           .destination_y = copy->destination_y,
                           .destination_z = copy->destination_z,
                           .destination_lod = copy->destination_lod,
                           .destination_type = copy->destination_type,
                           .destination_host = copy->destination_host,
                           .destination_device = copy->destination_device,
                           .destination_array = copy->destination_array,
                           .destination_pitch_bytes = copy->destination_pitch_bytes,
                           .destination_height = copy->destination_height,
                           .width_bytes = copy->width_bytes,
                           .height = copy->height,
                           .depth = copy->depth};
}

/* As recorded: a copy of nothing is a success whatever else the descriptor says. */
static cxu_result copy_3d_peer(const cxu_memcpy_3d_peer *copy, CUstream stream,
                               cx_emu_copy_mode mode)
{
    cxu_memcpy_3d plain;
    cx_emu_copy shape = {0};
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (copy == NULL)
        return CXU_INVALID_VALUE;
    if (is_empty(copy))
        return submit_copy(&shape, stream, mode);
    plain = without_contexts(copy);
    result = cx_emu_copy_of_3d(&plain, &shape);
    if (result == CXU_SUCCESS && mode == CX_EMU_COPY_SYNC) {
        shape.alone[0] = copy->destination_context;
        shape.alone[1] = copy->source_context;
    }
    if (result == CXU_SUCCESS)
        result = find_devices(copy->destination_context, copy->source_context,
                              &shape.destination.device, &shape.source.device);
    return result == CXU_SUCCESS ? submit_copy(&shape, stream, mode) : result;
}

cxu_result cx_emu_call_memcpy_3d_peer(const cxu_memcpy_3d_peer *copy)
{
    return copy_3d_peer(copy, NULL, CX_EMU_COPY_SYNC);
}

cxu_result cx_emu_call_memcpy_3d_peer_async(const cxu_memcpy_3d_peer *copy, CUstream stream)
{
    return copy_3d_peer(copy, stream, CX_EMU_COPY_ASYNC);
}
