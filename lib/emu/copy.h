/*
 * Copies of every shape: a box of bytes, `depth` slices of `height` rows of `width_bytes`.
 */
#ifndef CX_EMU_COPY_H
#define CX_EMU_COPY_H

#include "emu/stream.h"

typedef struct cx_emu_copy_side {
    cxu_memory_type
        type;           /* HOST: any memory; DEVICE: inside one known allocation; UNIFIED: either */
    uintptr_t address;  /* of the first byte of the box */
    size_t pitch_bytes; /* from row to row */
    size_t slice_bytes; /* from slice to slice */
    const cx_emu_device *device; /* that reaches it; NULL: that of the stream or node */
} cx_emu_copy_side;

typedef struct cx_emu_copy {
    cx_emu_copy_side destination, source;
    size_t width_bytes, height, depth;
} cx_emu_copy;

/* Whether the caller may go on before the copy is done (T13). */
typedef enum cx_emu_copy_mode { CX_EMU_COPY_SYNC, CX_EMU_COPY_ASYNC } cx_emu_copy_mode;

/* Where the driver reaches a range of memory, and what it is. */
typedef enum cx_emu_place {
    CX_EMU_PLACE_PAGEABLE, /* host memory that the driver does not know */
    CX_EMU_PLACE_PINNED,   /* pinned or registered */
    CX_EMU_PLACE_DEVICE,
    CX_EMU_PLACE_MANAGED
} cx_emu_place;

typedef struct cx_emu_span {
    unsigned char *bytes;
    cx_emu_use use; /* without an allocation: pageable */
    cx_emu_place place;
} cx_emu_span;

/* Who reaches a range, and whether it writes there. */
typedef struct cx_emu_reach {
    const cx_emu_device *device;
    bool writes;
} cx_emu_reach;

/* Number of bytes from the first to behind the last of a box, which is not empty; false: too many.
 */
bool cx_emu_box_bytes(size_t pitch_bytes, size_t slice_bytes, size_t width_bytes, size_t height,
                      size_t depth, size_t *out_bytes);

/* Finds a range. CXU_INVALID_VALUE: unknown, runs over an end, NULL, or a mapping that is not
 * reached (V5); the error that made its context useless (F2). Lock held. */
cxu_result cx_emu_span_find(cxu_memory_type type, uintptr_t address, size_t bytes,
                            cx_emu_reach reach, cx_emu_span *out_span);

/*
 * Copies in a stream as the user named it; takes the lock. An empty box is a success. A capturing
 * stream gets a node for it. CXU_INVALID_VALUE, the errors of capture, what cx_emu_stream_find and
 * cx_emu_work_submit return.
 */
cxu_result cx_emu_copy_submit(const cx_emu_copy *copy, CUstream stream, cx_emu_copy_mode mode);

/* What a piece of work takes that copies. */
typedef struct cx_emu_box {
    unsigned char *bytes;
    size_t pitch_bytes, slice_bytes;
} cx_emu_box;

typedef struct cx_emu_transfer {
    cx_emu_box destination, source;
    size_t width_bytes, height, depth;
    void *staged; /* what the source was copied to; freed when done */
} cx_emu_transfer;

/*
 * Makes of a copy, which is not empty, the request for a piece of work that `device` does, and
 * that reads and writes in place; its argument is `out_transfer`. CXU_INVALID_VALUE: a range that
 * is not there, or not reached. Lock held.
 */
cxu_result cx_emu_copy_request(const cx_emu_copy *copy, const cx_emu_device *device,
                               cx_emu_transfer *out_transfer, cx_emu_work_request *out_request);

/* Reads the user's descriptor of a copy. CXU_INVALID_VALUE; CXU_NOT_SUPPORTED for arrays, naming
 * `call`. */
cxu_result cx_emu_copy_of_3d(const char *call, const cxu_memcpy_3d *descriptor,
                             cx_emu_copy *out_copy);

/* A descriptor of the same copy. */
cxu_memcpy_3d cx_emu_copy_describe(const cx_emu_copy *copy);

#endif
