/* The calls that fill memory. */
#include "emu/base/state.h"
#include "emu/graph/node_params.h"
#include "emu/schedule/capture_check.h"
#include "emu/schedule/fill.h"

typedef cxu_memset_node_params fill;

static cxu_result check_stream(cx_emu_stream *stream, cx_emu_copy_mode mode)
{
    return mode == CX_EMU_COPY_SYNC ? cx_emu_capture_check_synchronous(stream)
                                    : cx_emu_capture_check(stream);
}

static cxu_result submit_locked(const fill *shape, CUstream handle, cx_emu_copy_mode mode)
{
    const cx_emu_node_params node_params = {.type = CXU_GRAPH_NODE_TYPE_MEMSET, .of.fill = *shape};
    cx_emu_stream *stream;
    cxu_result result = cx_emu_stream_find(handle, &stream);

    if (result == CXU_SUCCESS)
        result = check_stream(stream, mode);
    if (result != CXU_SUCCESS || shape->width == 0 || shape->height == 0)
        return result;
    return stream->branch != NULL ? cx_emu_node_params_submit(stream, &node_params)
                                  : cx_emu_fill_submit(shape, stream, mode);
}

static cxu_result paint_shape(fill shape, CUstream stream, cx_emu_copy_mode mode)
{
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = submit_locked(&shape, stream, mode);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_memset_d8(CUdeviceptr destination, unsigned char value, size_t count)
{
    return paint_shape((fill){destination, 0, value, 1, count, 1}, NULL, CX_EMU_COPY_SYNC);
}

cxu_result cx_emu_call_memset_d16(CUdeviceptr destination, unsigned short value, size_t count)
{
    return paint_shape((fill){destination, 0, value, 2, count, 1}, NULL, CX_EMU_COPY_SYNC);
}

cxu_result cx_emu_call_memset_d32(CUdeviceptr destination, unsigned int value, size_t count)
{
    return paint_shape((fill){destination, 0, value, 4, count, 1}, NULL, CX_EMU_COPY_SYNC);
}

cxu_result cx_emu_call_memset_d8_async(CUdeviceptr destination, unsigned char value, size_t count,
                                       CUstream stream)
{
    return paint_shape((fill){destination, 0, value, 1, count, 1}, stream, CX_EMU_COPY_ASYNC);
}

cxu_result cx_emu_call_memset_d16_async(CUdeviceptr destination, unsigned short value, size_t count,
                                        CUstream stream)
{
    return paint_shape((fill){destination, 0, value, 2, count, 1}, stream, CX_EMU_COPY_ASYNC);
}

cxu_result cx_emu_call_memset_d32_async(CUdeviceptr destination, unsigned int value, size_t count,
                                        CUstream stream)
{
    return paint_shape((fill){destination, 0, value, 4, count, 1}, stream, CX_EMU_COPY_ASYNC);
}

cxu_result cx_emu_call_memset_2d_d8(CUdeviceptr destination, size_t pitch_bytes,
                                    unsigned char value, size_t width, size_t height)
{
    return paint_shape((fill){destination, pitch_bytes, value, 1, width, height}, NULL,
                       CX_EMU_COPY_SYNC);
}

cxu_result cx_emu_call_memset_2d_d16(CUdeviceptr destination, size_t pitch_bytes,
                                     unsigned short value, size_t width, size_t height)
{
    return paint_shape((fill){destination, pitch_bytes, value, 2, width, height}, NULL,
                       CX_EMU_COPY_SYNC);
}

cxu_result cx_emu_call_memset_2d_d32(CUdeviceptr destination, size_t pitch_bytes,
                                     unsigned int value, size_t width, size_t height)
{
    return paint_shape((fill){destination, pitch_bytes, value, 4, width, height}, NULL,
                       CX_EMU_COPY_SYNC);
}

cxu_result cx_emu_call_memset_2d_d8_async(CUdeviceptr destination, size_t pitch_bytes,
                                          unsigned char value, size_t width, size_t height,
                                          CUstream stream)
{
    return paint_shape((fill){destination, pitch_bytes, value, 1, width, height}, stream,
                       CX_EMU_COPY_ASYNC);
}

cxu_result cx_emu_call_memset_2d_d16_async(CUdeviceptr destination, size_t pitch_bytes,
                                           unsigned short value, size_t width, size_t height,
                                           CUstream stream)
{
    return paint_shape((fill){destination, pitch_bytes, value, 2, width, height}, stream,
                       CX_EMU_COPY_ASYNC);
}

cxu_result cx_emu_call_memset_2d_d32_async(CUdeviceptr destination, size_t pitch_bytes,
                                           unsigned int value, size_t width, size_t height,
                                           CUstream stream)
{
    return paint_shape((fill){destination, pitch_bytes, value, 4, width, height}, stream,
                       CX_EMU_COPY_ASYNC);
}
