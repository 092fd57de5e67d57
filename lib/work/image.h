/*
 * Images of code for a driver, which does not get their length.
 */
#ifndef CX_WORK_IMAGE_H
#define CX_WORK_IMAGE_H

#include <ctxrt/status.h>
#include <stddef.h>

typedef struct cx_image {
    const void *start; /* for the driver */
    void *copy;        /* ours; NULL: the user's own memory is used */
    char what[256];    /* for messages: "the image", "the file 'add.ptx'" */
} cx_image;

/* Takes an image of the user's. size_bytes 0: unknown. CTXRT_ERROR_INVALID_ARGUMENT: a binary is
 * longer than that; CTXRT_ERROR_OUT_OF_MEMORY. */
ctxrt_status cx_image_take(const void *image, size_t size_bytes, cx_image *out_image);

/* Reads an image from a file. Also CTXRT_ERROR_SYSTEM: it could not be read. */
ctxrt_status cx_image_read(const char *path, cx_image *out_image);

void cx_image_drop(cx_image *image);

#endif
