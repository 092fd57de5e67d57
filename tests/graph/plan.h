/* A plan on GPU 1, made before each test, and what is asked of it. */
#ifndef TESTS_GRAPH_PLAN_H
#define TESTS_GRAPH_PLAN_H

#include "fixture.h"
#include "test.h"

static ctxrt_plan *plan;

static inline void start(void)
{
    cx_fixture_start();
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_plan_create(0, &plan));
}

static inline void finish(void)
{
    cx_assert_ok(ctxrt_plan_destroy(plan));
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}

static inline size_t add(size_t size_bytes)
{
    size_t tensor;
    cx_assert_ok(ctxrt_plan_alloc(plan, size_bytes, &tensor));
    return tensor;
}

static inline size_t offset_of(size_t tensor)
{
    size_t offset;
    cx_assert_ok(ctxrt_plan_offset(plan, tensor, &offset));
    return offset;
}

static inline size_t peak(void)
{
    size_t bytes;
    cx_assert_ok(ctxrt_plan_peak(plan, &bytes));
    return bytes;
}

static inline void *pointer_of(size_t tensor)
{
    void *pointer;
    cx_assert_ok(ctxrt_plan_pointer(plan, tensor, &pointer));
    return pointer;
}

static inline void drop(size_t tensor)
{
    cx_assert_ok(ctxrt_plan_free(plan, tensor));
}

#endif
