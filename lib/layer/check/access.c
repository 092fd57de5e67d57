#include "layer/check/access.h"

/* The extent of rows in slices; false: it overflows. */
static bool extent(size_t pitch, size_t rows, size_t width, size_t height, size_t depth,
                   size_t *out)
{
    size_t slice, down, deep;
    if (width == 0 || height == 0 || depth == 0)
        return false;
    if (pitch == 0)
        pitch = width;
    if (rows == 0)
        rows = height;
    return !__builtin_mul_overflow(pitch, rows, &slice) &&
           !__builtin_mul_overflow(slice, depth - 1, &deep) &&
           !__builtin_mul_overflow(pitch, height - 1, &down) &&
           !__builtin_add_overflow(deep, down, &deep) && !__builtin_add_overflow(deep, width, out);
}

static bool offset(size_t pitch, size_t rows, size_t x, size_t y, size_t z, size_t *out)
{
    size_t down;
    return !__builtin_mul_overflow(rows, z, &down) && !__builtin_add_overflow(down, y, &down) &&
           !__builtin_mul_overflow(down, pitch, &down) && !__builtin_add_overflow(down, x, out);
}

static int linear(cx_check_access *out, uintptr_t address, size_t bytes, bool writes, bool host)
{
    *out = (cx_check_access){address, bytes, writes, host, bytes, bytes, 1, bytes, 1};
    return bytes != 0;
}

static int copy_of(cx_check_access out[2], uintptr_t to, bool to_host, uintptr_t from,
                   bool from_host, size_t bytes)
{
    return linear(&out[0], to, bytes, true, to_host) +
           linear(&out[1], from, bytes, false, from_host);
}

/* Once the extent is known not to overflow. */
static void set_rows(cx_check_access *out, size_t pitch, size_t rows, const size_t box[3])
{
    out->width = box[0];
    out->pitch = pitch != 0 ? pitch : box[0];
    out->height = box[1];
    out->slice = out->pitch * (rows != 0 ? rows : box[1]);
    out->depth = box[2];
}

/* One side of a copy of boxes; 0: an array, or nothing. */
#define SIDE_OF_BOX(out, copy, side, pitch, z, slices, depth, write)                              \
    side_of_box(out, (copy)->side##_type, (uintptr_t)(copy)->side##_host,                        \
                (uintptr_t)(copy)->side##_device, pitch, slices,                                 \
                (const size_t[]){(copy)->side##_x_bytes, (copy)->side##_y, z},                   \
                (const size_t[]){(copy)->width_bytes, (copy)->height, depth}, write)

/* A side of a copy in three dimensions: a pitch or a number of rows of 0 means tight. */
#define SIDE_OF_3D(out, copy, side, write)                                                        \
    SIDE_OF_BOX(out, copy, side,                                                                 \
                (copy)->side##_pitch_bytes != 0 ? (copy)->side##_pitch_bytes                     \
                                                : (copy)->side##_x_bytes + (copy)->width_bytes,  \
                (copy)->side##_z,                                                                \
                (copy)->side##_height != 0 ? (copy)->side##_height                               \
                                           : (copy)->side##_y + (copy)->height,                  \
                (copy)->depth, write)

static int side_of_box(cx_check_access *out, cxu_memory_type type, uintptr_t host,
                       uintptr_t device, size_t pitch, size_t rows, const size_t at[3],
                       const size_t box[3], bool writes)
{
    size_t bytes, skipped;
    if (type == CXU_MEMORYTYPE_ARRAY ||
        !extent(pitch, rows, box[0], box[1], box[2], &bytes) ||
        !offset(pitch, rows, at[0], at[1], at[2], &skipped))
        return 0;
    uintptr_t base = type == CXU_MEMORYTYPE_HOST ? host : device;
    (void)linear(out, base + skipped, bytes, writes, type == CXU_MEMORYTYPE_HOST);
    set_rows(out, pitch, rows, box);
    return 1;
}

static int of_2d(const cxu_memcpy_2d *copy, cx_check_access *out)
{
    if (copy == NULL)
        return 0;
    int count =
        SIDE_OF_BOX(out, copy, destination, copy->destination_pitch_bytes, 0, 0, 1, true);
    return count +
           SIDE_OF_BOX(out + count, copy, source, copy->source_pitch_bytes, 0, 0, 1, false);
}

static int of_3d(const cxu_memcpy_3d *copy, cx_check_access *out)
{
    if (copy == NULL)
        return 0;
    int count = SIDE_OF_3D(out, copy, destination, true);
    return count + SIDE_OF_3D(out + count, copy, source, false);
}

static int of_fill(cx_check_access *out, CUdeviceptr to, size_t pitch, size_t element, size_t width,
                   size_t height)
{
    size_t row, bytes;
    if (__builtin_mul_overflow(width, element, &row) || !extent(pitch, 0, row, height, 1, &bytes))
        return 0;
    (void)linear(out, (uintptr_t)to, bytes, true, false);
    set_rows(out, pitch, 0, (const size_t[]){row, height, 1});
    return 1;
}

/* Addresses whose kind the driver finds out may be the host's. */
static int of_node_copy(const cxu_memcpy_3d *copy, cx_check_access *out)
{
    int count = SIDE_OF_3D(out, copy, destination, true);
    if (count != 0)
        out[0].host |= copy->destination_type == CXU_MEMORYTYPE_UNIFIED;
    const int sides = count + SIDE_OF_3D(out + count, copy, source, false);
    if (sides > count)
        out[count].host |= copy->source_type == CXU_MEMORYTYPE_UNIFIED;
    return sides;
}

int cx_check_node_accesses(const cx_access_log_node *node, cx_check_access out[CX_CHECK_ACCESSES])
{
    if (node->copy != NULL)
        return of_node_copy(node->copy, out);
    if (node->fill == NULL)
        return 0;
    return of_fill(out, node->fill->destination, node->fill->pitch_bytes,
                   node->fill->element_bytes, node->fill->width, node->fill->height);
}

#define LINEAR_COPY(slot, to_host, from_host)                                                   \
    case CX_SLOT_##slot:                                                                        \
        return copy_of(out, (uintptr_t)CX_CALL(call, slot)->destination, to_host,              \
                       (uintptr_t)CX_CALL(call, slot)->source, from_host,                      \
                       CX_CALL(call, slot)->bytes);
/* Copies to and from an array: only the other side is memory with an address. */
#define TO_ARRAY(slot, from_host)                                                          \
    case CX_SLOT_##slot:                                                                   \
        return linear(&out[0], (uintptr_t)CX_CALL(call, slot)->source,                    \
                      CX_CALL(call, slot)->bytes, false, from_host);
#define FROM_ARRAY(slot, to_host)                                                          \
    case CX_SLOT_##slot:                                                                   \
        return linear(&out[0], (uintptr_t)CX_CALL(call, slot)->destination,               \
                      CX_CALL(call, slot)->bytes, true, to_host);
#define LINEAR_FILL(slot, element)                                                            \
    case CX_SLOT_##slot:                                                                      \
        return of_fill(out, CX_CALL(call, slot)->destination, 0, element,                    \
                       CX_CALL(call, slot)->count, 1);
#define FILL_2D(slot, element)                                                                 \
    case CX_SLOT_##slot:                                                                       \
        return of_fill(out, CX_CALL(call, slot)->destination, CX_CALL(call, slot)->pitch_bytes, \
                       element, CX_CALL(call, slot)->width, CX_CALL(call, slot)->height);
#define IN_STREAM(slot)                             \
    case CX_SLOT_##slot:                            \
        *out_stream = CX_CALL(call, slot)->stream; \
        break;

static bool find_stream(const cx_check_call *call, CUstream *out_stream)
{
    switch (call->slot) {
        IN_STREAM(memcpy_unified_async)
        IN_STREAM(memcpy_peer_async)
        IN_STREAM(memcpy_htod_async)
        IN_STREAM(memcpy_dtoh_async)
        IN_STREAM(memcpy_dtod_async)
        IN_STREAM(memcpy_htoa_async)
        IN_STREAM(memcpy_atoh_async)
        IN_STREAM(memcpy_2d_async)
        IN_STREAM(memcpy_3d_async)
        IN_STREAM(memset_d8_async)
        IN_STREAM(memset_d16_async)
        IN_STREAM(memset_d32_async)
        IN_STREAM(memset_2d_d8_async)
        IN_STREAM(memset_2d_d16_async)
        IN_STREAM(memset_2d_d32_async)
    default:
        *out_stream = NULL;
        return false;
    }
    return true;
}

int cx_check_accesses(const cx_check_call *call, cx_check_access out[CX_CHECK_ACCESSES],
                      CUstream *out_stream, bool *out_async)
{
    *out_async = find_stream(call, out_stream);
    switch (call->slot) {
        LINEAR_COPY(memcpy_unified, false, false)
        LINEAR_COPY(memcpy_peer, false, false)
        LINEAR_COPY(memcpy_htod, false, true)
        LINEAR_COPY(memcpy_dtoh, true, false)
        LINEAR_COPY(memcpy_dtod, false, false)
        LINEAR_COPY(memcpy_unified_async, false, false)
        LINEAR_COPY(memcpy_peer_async, false, false)
        LINEAR_COPY(memcpy_htod_async, false, true)
        LINEAR_COPY(memcpy_dtoh_async, true, false)
        LINEAR_COPY(memcpy_dtod_async, false, false)
        TO_ARRAY(memcpy_dtoa, false)
        TO_ARRAY(memcpy_htoa, true)
        TO_ARRAY(memcpy_htoa_async, true)
        FROM_ARRAY(memcpy_atod, false)
        FROM_ARRAY(memcpy_atoh, true)
        FROM_ARRAY(memcpy_atoh_async, true)
        LINEAR_FILL(memset_d8, 1)
        LINEAR_FILL(memset_d16, 2)
        LINEAR_FILL(memset_d32, 4)
        LINEAR_FILL(memset_d8_async, 1)
        LINEAR_FILL(memset_d16_async, 2)
        LINEAR_FILL(memset_d32_async, 4)
        FILL_2D(memset_2d_d8, 1)
        FILL_2D(memset_2d_d16, 2)
        FILL_2D(memset_2d_d32, 4)
        FILL_2D(memset_2d_d8_async, 1)
        FILL_2D(memset_2d_d16_async, 2)
        FILL_2D(memset_2d_d32_async, 4)
    case CX_SLOT_memcpy_2d:
        return of_2d(CX_CALL(call, memcpy_2d)->copy, out);
    case CX_SLOT_memcpy_2d_unaligned:
        return of_2d(CX_CALL(call, memcpy_2d_unaligned)->copy, out);
    case CX_SLOT_memcpy_2d_async:
        return of_2d(CX_CALL(call, memcpy_2d_async)->copy, out);
    case CX_SLOT_memcpy_3d:
        return of_3d(CX_CALL(call, memcpy_3d)->copy, out);
    case CX_SLOT_memcpy_3d_async:
        return of_3d(CX_CALL(call, memcpy_3d_async)->copy, out);
    default:
        return 0;
    }
}
