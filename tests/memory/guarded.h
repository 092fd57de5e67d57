/* What tests of the debug mode of allocators share. */
#ifndef CX_TEST_GUARDED_H
#define CX_TEST_GUARDED_H

#include "fixture.h"
#include "test.h"

#include <string.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

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
