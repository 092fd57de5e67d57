/* Numbers and files that kernels are given, and comparisons of what they leave. */
#include "run.h"

#include "../../support/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers ---- */

static uint64_t state;

void restart_random(void)
{
    state = 1;
}

uint32_t below(uint32_t limit)
{
    return (uint32_t)((next_random(&state) >> 16) % limit);
}

float *make_floats(size_t count)
{
    float *all = make_memory(count * sizeof *all);

    for (size_t i = 0; i < count; i++)
        all[i] = (float)((int)below(1025) - 512) / 8;
    return all;
}

int32_t *make_ints(size_t count)
{
    int32_t *all = make_memory(count * sizeof *all);

    for (size_t i = 0; i < count; i++)
        all[i] = (int32_t)below(2001) - 1000;
    return all;
}

uint32_t *make_words(size_t count)
{
    uint32_t *all = make_memory(count * sizeof *all);

    for (size_t i = 0; i < count; i++)
        all[i] = (uint32_t)(next_random(&state) >> 20);
    return all;
}

void *copy_memory(const void *from, size_t bytes)
{
    return memcpy(make_memory(bytes), from, bytes);
}

kernel_shape line_over(size_t count, uint32_t threads)
{
    return (kernel_shape){.grid = {(uint32_t)((count + threads - 1) / threads), 1, 1},
                          .block = {threads, 1, 1}};
}

/* ---- files ---- */

const char *kernels_folder(void)
{
    static char folder[4000];
    const char *other = getenv("CTXRT_TEST_KERNELS");

    snprintf(folder, sizeof folder, "%s%s", other ? other : getenv("top_builddir"),
             other ? "" : "/tests/ptx/kernels");
    return folder;
}

char *kernels_read(const char *name, size_t *out_length)
{
    char path[4096], *text;

    snprintf(path, sizeof path, "%s/%.80s", kernels_folder(), name);
    FILE *file = fopen(path, "r");

    ck_assert_msg(file, "%s cannot be read", path);
    fseek(file, 0, SEEK_END);
    *out_length = (size_t)ftell(file);
    rewind(file);
    text = malloc(*out_length + 1);
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_eq(fread(text, 1, *out_length, file), *out_length);
    fclose(file);
    text[*out_length] = '\0';
    return text;
}

/* ---- results ---- */

void expect_same(const char *what, size_t at, uint64_t found, uint64_t expected)
{
    ck_assert_msg(found == expected, "%s: %s, number %zu: %lld (%#llx), not %lld (%#llx)",
                  kernels_name(), what, at, (long long)found, (unsigned long long)found,
                  (long long)expected, (unsigned long long)expected);
}

void expect_near(const char *what, size_t at, double found, double expected, double tolerance)
{
    bool near = (isnan(found) && isnan(expected)) || found == expected ||
                fabs(found - expected) <= tolerance * (1 + fabs(expected));

    ck_assert_msg(near, "%s: %s, number %zu: %.17g, not %.17g", kernels_name(), what, at, found,
                  expected);
}
