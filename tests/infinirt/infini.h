/* What the tests of the InfiniRT interface share: the fixture of ctxrt's own tests, and
 * statuses. */
#ifndef INFINIRT_TEST_INFINI_H
#define INFINIRT_TEST_INFINI_H

#include "fixture.h"
#include "test.h"

#include <infinirt.h>

/* Starts the runtime with 4 emulated GPUs; infini_start_lazy with nothing running until it is
 * waited for. */
void infini_start(void);
void infini_start_lazy(void);

/* Takes the device off the thread that the interface has set; then nothing may be left. */
void infini_end(void);

#define infini_assert_status(call, expected)                                                      \
    do {                                                                                          \
        infiniStatus_t infini_status_ = (call);                                                   \
        ck_assert_msg(infini_status_ == (expected), "%s gave %d, not %d: %s", #call,              \
                      infini_status_, (expected), ctxrt_last_error()->message);                   \
    } while (0)
#define infini_assert_ok(call) infini_assert_status(call, INFINI_STATUS_SUCCESS)

/* The calling thread's device. */
#define infini_assert_device(type_, index_)                                                       \
    do {                                                                                          \
        infiniDevice_t infini_type_;                                                              \
        int infini_index_;                                                                        \
        infini_assert_ok(infinirtGetDevice(&infini_type_, &infini_index_));                       \
        ck_assert_int_eq(infini_type_, type_);                                                    \
        ck_assert_int_eq(infini_index_, index_);                                                  \
    } while (0)

static inline infinirtStream_t infini_stream(void)
{
    infinirtStream_t stream;
    infini_assert_ok(infinirtStreamCreate(&stream));
    return stream;
}

static inline void *infini_memory(size_t bytes)
{
    void *pointer;
    infini_assert_ok(infinirtMalloc(&pointer, bytes));
    return pointer;
}

/* The first byte of memory of any kind, read behind all work of the thread's device. */
static inline int infini_byte(const void *memory)
{
    unsigned char byte;
    infini_assert_ok(infinirtMemcpy(&byte, memory, 1, INFINIRT_MEMCPY_D2H));
    return byte;
}

#endif
