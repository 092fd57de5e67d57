/*
 * Copies of every shape: a box of bytes, `depth` slices of `height` rows of `width_bytes`.
 */
#ifndef CX_EMU_COPY_H
#define CX_EMU_COPY_H

#include "emu/schedule/stream.h"

typedef struct cx_emu_copy_side {
    cxu_memory_type
        type;           /* HOST: any memory; DEVICE: inside one known allocation; UNIFIED: either */
    uintptr_t address;  /* of the first byte of the box */
    size_t pitch_bytes; /* from row to row */
    size_t slice_bytes; /* from slice to slice */
    CUarray array;      /* of ARRAY: looked up like memory; it has no address and no pitches, */
    size_t x_bytes, y, z; /* and the box begins here */
    const cx_emu_device *device; /* the device that reaches it; NULL: the one of the stream or
                                  * node */
} cx_emu_copy_side;

typedef struct cx_emu_copy {
    cx_emu_copy_side destination, source;
    size_t width_bytes, height, depth;
    CUcontext alone[2]; /* behind all earlier and before all later work of these contexts and of the
                         * stream's; NULL: none */
} cx_emu_copy;

/* Tells whether the caller may go on before the copy is done (T13). */
typedef enum cx_emu_copy_mode { CX_EMU_COPY_SYNC, CX_EMU_COPY_ASYNC } cx_emu_copy_mode;

/* The kinds of memory that copies distinguish. */
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

/* The device that accesses a range, and whether it writes. For work that runs now, `latest` is as
 * of cx_emu_allocation_find_for_work; 0: a call looks for the memory. */
typedef struct cx_emu_reach {
    const cx_emu_device *device;
    bool writes;
    uint64_t latest;
} cx_emu_reach;

/* The number of bytes from the first to the last byte of a box, which is not empty; false: too
 * many. */
bool cx_emu_box_bytes(size_t pitch_bytes, size_t slice_bytes, size_t width_bytes, size_t height,
                      size_t depth, size_t *out_bytes);

/* Finds a range. CXU_INVALID_VALUE: unknown, over an end, NULL, or a mapping without access (V5);
 * or the error that made its context useless (F2). Lock held. */
cxu_result cx_emu_span_find(cxu_memory_type type, uintptr_t address, size_t bytes,
                            cx_emu_reach reach, cx_emu_span *out_span);

/* Finds both sides of a copy that is not empty, without copying. CXU_INVALID_VALUE; or the error
 * that made a context useless. Lock held. */
cxu_result cx_emu_copy_check(const cx_emu_copy *copy, const cx_emu_device *device);

/*
 * Copies in a stream that does not capture, which `handle` names, and waits if the mode and the
 * memory ask for that. The copy is not empty. The lock may be released meanwhile.
 * CXU_INVALID_VALUE, and the errors of cx_emu_stream_find and cx_emu_work_submit. Lock held.
 */
cxu_result cx_emu_copy_submit(const cx_emu_copy *copy, CUstream handle, cx_emu_stream *stream,
                              cx_emu_copy_mode mode);

/* The argument of a piece of work that copies. */
typedef struct cx_emu_box {
    unsigned char *bytes;
    size_t pitch_bytes, slice_bytes;
} cx_emu_box;

typedef struct cx_emu_transfer {
    cx_emu_box destination, source;
    size_t width_bytes, height, depth;
    void *staged; /* a copy of the source; freed when done */
    uint64_t ticket; /* of the call, if somebody wants to know when it runs; else 0 */
    const cx_emu_allocation *watched; /* the source's, if somebody wants to know what of it nothing
                                       * has written; else NULL */
    uintptr_t address;                /* where the box begins in it */
} cx_emu_transfer;

/*
 * Makes the request for a piece of work that copies in place on `device`; the copy is not empty.
 * `latest` is as in cx_emu_reach. The request's argument is `out_transfer`. CXU_INVALID_VALUE: a
 * range is unknown, or not reached. Lock held.
 */
cxu_result cx_emu_copy_request(const cx_emu_copy *copy, const cx_emu_device *device,
                               uint64_t latest, cx_emu_transfer *out_transfer,
                               cx_emu_work_request *out_request);

/* Reads the source of such a request now, to a buffer that goes with the request's work.
 * CXU_OUT_OF_MEMORY. Lock held. */
cxu_result cx_emu_copy_stage(cx_emu_work_request *request);

/* Frees the buffer, if there is one, of a request that was not submitted. */
void cx_emu_copy_unstage(cx_emu_work_request *request);

/* Reads the user's descriptor of a copy, or NULL. CXU_INVALID_VALUE. */
cxu_result cx_emu_copy_of_2d(const cxu_memcpy_2d *descriptor, cx_emu_copy *out_copy);
cxu_result cx_emu_copy_of_3d(const cxu_memcpy_3d *descriptor, cx_emu_copy *out_copy);

/* Makes a descriptor of a copy. */
cxu_memcpy_3d cx_emu_copy_describe(const cx_emu_copy *copy);

#endif
