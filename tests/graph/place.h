/*
 * Where the tests of graphs run: the embedded driver's GPUs, the CPU device, and GPUs served by a
 * libcuda beside it, which is the stand-in unless the environment names another one.
 */
#ifndef CX_TEST_PLACE_H
#define CX_TEST_PLACE_H

#include "fixture.h"
#include "gate.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ctxrt_device here;  /* current at the beginning of each test */
static ctxrt_device there; /* another device */

static inline void place_set(ctxrt_device first, ctxrt_device second)
{
    here = first;
    there = second;
    cx_assert_ok(ctxrt_device_set(here));
}

static inline void place_cuda(void)
{
    cx_fixture_start();
    place_set(CTXRT_CUDA(1), CTXRT_CUDA(0));
}

static inline void place_cpu(void)
{
    cx_fixture_start();
    place_set(CTXRT_CPU(0), CTXRT_CUDA(0));
}

static inline void place_standin(void)
{
    char path[4096];
    ctxrt_options options = CTXRT_OPTIONS_INIT;
    snprintf(path, sizeof path, "%s/lib/shim/cuda-13/.libs/libcuda.so.1", getenv("top_builddir"));
    setenv("CTXRT_LIBCUDA", path, cx_fixture_is_emulated());
    options.cuda_driver = CTXRT_CUDA_DRIVER_LIBCUDA;
    cx_assert_ok(ctxrt_init(&options));
    place_set(CTXRT_CUDA(0), CTXRT_CPU(0));
}

static inline void place_end(void)
{
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}

/* The same tests at each place. */
static inline void place_add_everywhere(Suite *suite, void (*add)(TCase *tests))
{
    static const struct {
        const char *name;
        void (*start)(void);
    } places[] = {{"cuda", place_cuda}, {"cpu", place_cpu}, {"stand-in", place_standin}};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        TCase *tests = tcase_create(places[i].name);
        tcase_add_checked_fixture(tests, places[i].start, place_end);
        add(tests);
        suite_add_tcase(suite, tests);
    }
}

#endif
