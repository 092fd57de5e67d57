/* What the tests of modules share: loading, launching, words in device memory. */
#ifndef CX_TEST_MODULE_CODE_H
#define CX_TEST_MODULE_CODE_H

#include "../emu/kernels.h"
#include "../graph/place.h"

enum { WORDS = 100, WORD_BYTES = WORDS * sizeof(uint32_t) };

static inline ctxrt_module *load(const char *text)
{
    ctxrt_module *module;
    cx_assert_ok(ctxrt_module_load(text, 0, &module));
    return module;
}

static inline ctxrt_kernel *kernel_of(ctxrt_module *module, const char *name)
{
    ctxrt_kernel *kernel;
    cx_assert_ok(ctxrt_module_get_kernel(module, name, &kernel));
    return kernel;
}

static inline void assert_says(const char *wanted)
{
    ck_assert_msg(strstr(ctxrt_last_error()->message, wanted) != NULL, "\"%s\" is not in: %s",
                  wanted, ctxrt_last_error()->message);
}

static inline void *make_words(uint32_t value)
{
    void *words;
    uint32_t values[WORDS];
    for (size_t i = 0; i < WORDS; i++)
        values[i] = value;
    cx_assert_ok(ctxrt_alloc(WORD_BYTES, &words));
    cx_assert_ok(ctxrt_copy(words, values, WORD_BYTES, CTXRT_COPY_HOST_TO_DEVICE));
    return words;
}

static inline void assert_words(const void *words, uint32_t wanted)
{
    uint32_t found[WORDS];
    cx_assert_ok(ctxrt_copy(found, words, WORD_BYTES, CTXRT_COPY_DEVICE_TO_HOST));
    for (size_t i = 0; i < WORDS; i++)
        ck_assert_msg(found[i] == wanted, "word %zu is %u, not %u", i, found[i], wanted);
}

/* add_one on all the words. Uses no Check: for any thread. */
static inline ctxrt_status launch_add_one(ctxrt_kernel *add_one, void *words, ctxrt_stream *stream)
{
    uint32_t count = WORDS;
    void *arguments[] = {&words, &count};
    ctxrt_launch_config config = CTXRT_LAUNCH_CONFIG_INIT;
    config.grid[0] = 4;
    config.block[0] = 32;
    config.stream = stream;
    return ctxrt_launch(&config, add_one, arguments, 2);
}

#endif
