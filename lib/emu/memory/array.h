/*
 * Arrays and mipmapped arrays: memory that the user's code reaches by copies, textures and surfaces
 * only. Rows, slices and layers lie tight, one behind the other. All functions: lock held, unless
 * they say otherwise.
 */
#ifndef CX_EMU_ARRAY_H
#define CX_EMU_ARRAY_H

#include "driver/cuda_abi_array.h"
#include "emu/base/handle.h"
#include "emu/memory/allocation.h"

/* The largest size of a dimension is 2^17. */
enum { CX_EMU_ARRAY_LEVELS_MAX = 18 };

typedef struct cx_emu_mipmapped_array cx_emu_mipmapped_array;

typedef struct cx_emu_array {
    cx_emu_handle_slot slot;
    cxu_array_3d_descriptor descriptor; /* as the user gave it; of a level: its own size */
    cx_emu_allocation *memory;
    size_t offset; /* of its first byte in the memory */
    size_t element_bytes;
    size_t width_bytes, height, depth; /* of a row; rows of a slice; slices or layers: at least 1 */
    cx_emu_mipmapped_array *whole;     /* that it is a level of, or NULL */
    struct cx_emu_array *previous, *next; /* all that are no level */
} cx_emu_array;

struct cx_emu_mipmapped_array {
    cx_emu_handle_slot slot;
    cxu_array_3d_descriptor descriptor;
    cx_emu_allocation *memory;
    unsigned int level_count;
    cx_emu_array *levels[CX_EMU_ARRAY_LEVELS_MAX];
    cx_emu_mipmapped_array *previous, *next;
};

/* The bytes of an element, or 0: there is no such format with so many channels here. Needs no
 * lock. */
size_t cx_emu_array_element_bytes(cxu_array_format format, unsigned int channels);

/* True for a format of cuda.h of compressed blocks or planes of video. Needs no lock. */
bool cx_emu_array_format_is_foreign(cxu_array_format format);

/*
 * Creates an array, or a mipmapped one with so many levels, or as many as it can have. The caller
 * has checked the descriptor. Errors of cx_emu_allocation_create.
 */
cxu_result cx_emu_array_create(cx_emu_context *owner, const cxu_array_3d_descriptor *descriptor,
                               cx_emu_array **out_array);
cxu_result cx_emu_mipmapped_array_create(cx_emu_context *owner,
                                         const cxu_array_3d_descriptor *descriptor,
                                         unsigned int levels,
                                         cx_emu_mipmapped_array **out_mipmapped);

/* CXU_INVALID_HANDLE, or the error that made its context useless. */
cxu_result cx_emu_array_find(CUarray handle, cx_emu_array **out_array);
cxu_result cx_emu_mipmapped_array_find(CUmipmappedArray handle,
                                       cx_emu_mipmapped_array **out_mipmapped);

/* Destroys them, and returns when work no longer uses the memory; the lock is released meanwhile.
 */
void cx_emu_array_destroy(cx_emu_array *array);
void cx_emu_mipmapped_array_destroy(cx_emu_mipmapped_array *mipmapped);

/* The handles of a context that is being closed become stale; its memory is freed apart. */
void cx_emu_arrays_release(cx_emu_context *context);

static inline size_t cx_emu_array_slice_bytes(const cx_emu_array *array)
{
    return array->width_bytes * array->height;
}

static inline CUarray cx_emu_array_handle(cx_emu_array *array)
{
    return (CUarray)(void *)array;
}

#endif
