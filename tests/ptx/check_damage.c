/* Damaged PTX, by a generator of numbers of its own: the same damage everywhere (K1). */
#include "../emu/kernels.h"
#include "fuzz_ptx.h"
#include "test.h"

#include "ptx/parser.h"
#include "ptx/ptx.h"
#include <stdio.h>
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

/* As behind a guard at the end of a text. */
START_TEST(no_opcode_is_a_word_of_an_earlier_one)
{
    const cx_ptx_token nothing = {.kind = CX_PTX_END, .text = whole + sizeof whole - 1};
    const cx_ptx_token branch = {.kind = CX_PTX_WORD, .text = "bra.uni", .length = 7};
    cx_ptx_token word = cx_ptx_first_word(&branch);

    ck_assert(cx_ptx_token_is(&word, "bra"));
    word = cx_ptx_first_word(&nothing);
    ck_assert_int_eq(word.kind, CX_PTX_WORD);
    ck_assert_uint_eq(word.length, 0);
    ck_assert_str_eq(word.text, "");
}
END_TEST

/* What the fuzzer begins with: all of it is good. */
static const char *const seeds[] = {"clusters", "forms", "histogram", "matrix_product", "next",
                                    "reduce",   "saxpy", "textures",  "vector_add",     "warps"};

static char *read_seed(const char *name, size_t *out_length)
{
    char path[4096], *text = malloc(1 << 16);
    FILE *file;

    snprintf(path, sizeof path, "%s/tests/ptx/corpus/%s.ptx", getenv("top_srcdir"), name);
    file = fopen(path, "r");
    ck_assert_msg(file && text, "%s cannot be read", path);
    *out_length = fread(text, 1, 1 << 16, file);
    fclose(file);
    return text;
}

START_TEST(every_seed_is_taken)
{
    size_t length;
    char *text = read_seed(seeds[_i], &length);
    cx_ptx_error error;
    cx_ptx_module *module;
    cx_ptx_status status = cx_ptx_load(text, length, &module, &error);

    ck_assert_msg(status == CX_PTX_SUCCESS, "%s, line %d: %s", seeds[_i], error.line,
                  error.message);
    ck_assert_ptr_nonnull(cx_ptx_kernel_find(module, seeds[_i]));
    cx_ptx_unload(module);
    LLVMFuzzerTestOneInput((const uint8_t *)text, length);
    free(text);
}
END_TEST

static Suite *damage_suite(void)
{
    Suite *suite = suite_create("damage");
    TCase *tcase = tcase_create("damage");

    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, damaged_text_is_refused_or_runs_in_its_own_memory);
    tcase_add_test(tcase, text_may_end_anywhere);
    tcase_add_test(tcase, no_opcode_is_a_word_of_an_earlier_one);
    tcase_add_loop_test(tcase, every_seed_is_taken, 0, sizeof seeds / sizeof seeds[0]);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(damage_suite);
