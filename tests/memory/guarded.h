/* What tests of the debug mode of allocators share. */
#ifndef CX_TEST_GUARDED_H
#define CX_TEST_GUARDED_H

#include "device/device.h"
#include "driver/driver.h"
#include "fixture.h"
#include "test.h"

#include <string.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

/* Of pieces that are tried. */
static const size_t sizes[] = {1, 255, 256, 1000, 100 << 10, 3 << 20};

/* How far from the piece, before it (negative) or behind it; the byte that the message names. */
static const struct {
    long distance;
    const char *says;
} strays[] = {{-1, "byte 1 before it is 0x5"},
              {-256, "byte 256 before it is 0x5"},
              {0, "byte 1 behind it is 0x5"},
              {255, "byte 256 behind it is 0x5"}};

static inline unsigned char *alloc(size_t size)
{
    void *pointer;
    cx_assert_ok(ctxrt_alloc(size, &pointer));
    return pointer;
}

/* What a kernel may do: ctxrt refuses to write and to read where it gave out no memory. */
static inline const cx_driver_table *kernels(CUstream *out_stream)
{
    cx_device *device;
    ctxrt_device current;
    ctxrt_stream *stream;
    cx_assert_ok(ctxrt_device_get(&current));
    cx_assert_ok(cx_device_find(current, &device));
    cx_assert_ok(ctxrt_stream_current(&stream));
    cx_assert_ok(ctxrt_stream_native(stream, out_stream));
    return &device->driver->table;
}

static inline void scribble_async(void *pointer, int value, size_t size)
{
    CUstream stream;
    const cx_driver_table *table = kernels(&stream);
    ck_assert_int_eq(
        table->memset_d8_async((uintptr_t)pointer, (unsigned char)value, size, stream), 0);
}

static inline void scribble(void *pointer, int value, size_t size)
{
    scribble_async(pointer, value, size);
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
}

static inline void peek(void *bytes, const void *pointer, size_t size)
{
    CUstream stream;
    const cx_driver_table *table = kernels(&stream);
    ck_assert_int_eq(table->memcpy_dtoh_async(bytes, (uintptr_t)pointer, size, stream), 0);
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
}

static inline void assert_says(const char *wanted)
{
    ck_assert_msg(strstr(ctxrt_last_error()->message, wanted) != NULL, "\"%s\" is not in: %s",
                  wanted, ctxrt_last_error()->message);
}

#endif
