/* What tests of the debug mode of allocators share. */
#ifndef CX_TEST_GUARDED_H
#define CX_TEST_GUARDED_H

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

static inline void assert_says(const char *wanted)
{
    ck_assert_msg(strstr(ctxrt_last_error()->message, wanted) != NULL, "\"%s\" is not in: %s",
                  wanted, ctxrt_last_error()->message);
}

#endif
