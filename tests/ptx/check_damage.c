/* Damaged PTX, by a generator of numbers of its own: the same damage everywhere. */
#include "../emu/kernels.h"
#include "fuzz_ptx.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS 2000

static const char whole[] = PTX_ALL;
static uint32_t state;

static size_t below(size_t limit)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % limit;
}

static void damage(char *text, size_t length)
{
    static const char letters[] = "{}()[]<>,;:=+-@!|%.0123456789 abr";
    size_t at = below(length), from = below(length), bytes = below(40);

    switch (below(3)) {
    case 0:
        text[at] = letters[below(sizeof letters - 1)];
        break;
    case 1:
        text[at] = (char)below(256);
        break;
    default:
        if (at + bytes < length && from + bytes < length)
            memmove(text + at, text + from, bytes);
    }
}

/* In a block of its own size, so that a sanitizer sees what is read behind it. */
static void try_damaged(int wounds)
{
    size_t length = sizeof whole - 1;
    char *text = malloc(length);

    ck_assert_ptr_nonnull(text);
    memcpy(text, whole, length);
    while (wounds-- > 0)
        damage(text, length);
    LLVMFuzzerTestOneInput((const uint8_t *)text, length);
    free(text);
}

START_TEST(damaged_text_is_refused_or_runs_in_its_own_memory)
{
    state = 1;
    for (int i = 0; i < ROUNDS; i++)
        try_damaged(1 + i % 4);
}
END_TEST

START_TEST(text_may_end_anywhere)
{
    for (size_t length = 0; length < sizeof whole; length += 17) {
        char *text = malloc(length + 1);

        ck_assert_ptr_nonnull(text);
        memcpy(text, whole, length);
        LLVMFuzzerTestOneInput((const uint8_t *)text, length);
        free(text);
    }
}
END_TEST

static Suite *damage_suite(void)
{
    Suite *suite = suite_create("damage");
    TCase *tcase = tcase_create("damage");

    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, damaged_text_is_refused_or_runs_in_its_own_memory);
    tcase_add_test(tcase, text_may_end_anywhere);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return cx_test_run((Suite *(*const[])(void)){damage_suite, NULL});
}
