/* What the tests of the embedded driver's core share: GPUs to begin with, nothing left at the end.
 */
#ifndef CX_TEST_GPUS_H
#define CX_TEST_GPUS_H

#include "emu/context/context.h"
#include "emu/device/device.h"
#include "emu/emu.h"
#include "emu/base/state.h"
#include "test.h"
#include <pthread.h>
#include <stdlib.h>

#define GPUS 4

#define CU(call, ...) cx_emu_call_##call(__VA_ARGS__)
#define EXPECT(result, call, ...) ck_assert_int_eq(CU(call, __VA_ARGS__), CXU_##result)

static inline void start_gpus(void)
{
    unsetenv("CUDA_VISIBLE_DEVICES");
    cx_emu_config config = {.gpus = GPUS,
                            .gpu_memory_bytes = (size_t)64 << 20,
                            .driver_version = CX_EMU_DRIVER_VERSION};
    ck_assert(cx_emu_configure(&config));
    EXPECT(SUCCESS, init, 0);
}

/* Rule 9 of the house: depth 0, no context, no retain, no memory. */
static inline void expect_nothing_left(void)
{
    EXPECT(INVALID_CONTEXT, ctx_pop, NULL);
    cx_lock_enter(&cx_emu_lock);
    int contexts = cx_emu_context_count();
    bool busy = cx_emu_devices_busy();
    cx_lock_leave(&cx_emu_lock);
    ck_assert_int_eq(contexts, 0);
    ck_assert(!busy);
}

static inline CUcontext create_on(CUdevice device)
{
    CUcontext context = NULL;
    EXPECT(SUCCESS, ctx_create_v2, &context, 0, device);
    ck_assert_ptr_nonnull(context);
    return context;
}

static inline CUcontext retain_on(CUdevice device)
{
    CUcontext context = NULL;
    EXPECT(SUCCESS, primary_retain, &context, device);
    ck_assert_ptr_nonnull(context);
    return context;
}

static inline CUcontext current(void)
{
    CUcontext context = (CUcontext)&context;
    EXPECT(SUCCESS, ctx_get_current, &context);
    return context;
}

static inline unsigned long long id_of(CUcontext context)
{
    unsigned long long id = 0;
    EXPECT(SUCCESS, ctx_get_id, context, &id);
    return id;
}

/* The use of a context that the rules mean by "use". */
static inline cxu_result use(void)
{
    return cx_emu_call_ctx_synchronize();
}

/* Runs `body` on another thread up to its first step(), and on from there with each step() here. */
typedef struct other_thread {
    pthread_t thread;
    pthread_barrier_t barrier;
    CUcontext context;
} other_thread;

static inline void step(other_thread *other)
{
    pthread_barrier_wait(&other->barrier);
}

static inline void start_other(other_thread *other, void *(*body)(void *), CUcontext context)
{
    other->context = context;
    ck_assert_int_eq(pthread_barrier_init(&other->barrier, NULL, 2), 0);
    ck_assert_int_eq(pthread_create(&other->thread, NULL, body, other), 0);
}

static inline void join_other(other_thread *other)
{
    ck_assert_int_eq(pthread_join(other->thread, NULL), 0);
    pthread_barrier_destroy(&other->barrier);
}

#endif
