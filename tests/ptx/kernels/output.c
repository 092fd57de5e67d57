#include "run.h"

#include "ptx/ptx.h"

#include <stdio.h>
#include <string.h>

static void same_output(const char *expected)
{
    const char *found = take_output();

    ck_assert_msg(strcmp(found, expected) == 0, "found:\n%s\nexpected:\n%s", found, expected);
}

static void check_print_all(void)
{
    int number = 42;
    double real = 2.5;
    const char *found;

    LAUNCH("print_all", line_over(66, 33), VALUE(number), VALUE(real));
    found = take_output();
    ck_assert_msg(strstr(found, "-42    42|2a    |420000000000 az text %\n"), "%s", found);
    ck_assert_msg(strstr(found, "-42    42|2a    |420000000000 bz text %\n"), "%s", found);
    ck_assert_msg(strstr(found, "2.500 -2.5 2.500000e+10 "), "%s", found);
}

static void check_print_formats(void)
{
    char expected[1024];
    int n = -1234, length;
    double real = 3.14159265;
    long long wide = 123456789012345;

    LAUNCH("print_formats", line_over(1, 1), VALUE(n), VALUE(real), VALUE(wide));
    length = snprintf(expected, sizeof expected,
                      "%*d|%-*d|%+d|% d|%05d|%*d\n"
                      "%.*f|%10.3e|%-12g|%#x|%#o|%X|%.*f\n",
                      7, n, 6, n, n, n, n, -8, n, 2, real, real, real, (unsigned)n, (unsigned)n,
                      (unsigned)n, -1, real);
    snprintf(expected + length, sizeof expected - (size_t)length,
             "%ld|%lld|%llu|%hd|%hhu|%li|%llx\n%5s|%-5s|%.2s|%c|%3c|%%\n", (long)wide, wide,
             (unsigned long long)wide, (short)n, (unsigned char)n, (long)n,
             (unsigned long long)wide, "abc", "abc", "abc", 'x', 'y');
    same_output(expected);
}

static void check_print_in_loop(void)
{
    int n = 4;

    LAUNCH("print_in_loop", line_over(20, 20), VALUE(n));
    same_output("0 of 4\n1 of 4\n2 of 4\n3 of 4\n");
}

static void check_check_all(void)
{
    int32_t *in = make_ints(40), *out = make_memory(40 * 4), limit = 2000;
    const char *found;

    LAUNCH("check_all", line_over(40, 40), VALUE(in), VALUE(out), VALUE(limit));
    SAME(39, out[39], in[39]);
    in[17] = 2000;
    LAUNCH_FAILS("check_all", line_over(40, 40), CX_PTX_ASSERTION, VALUE(in), VALUE(out),
                 VALUE(limit));
    found = take_output();
    ck_assert_msg(strstr(found, "output.cu") && strstr(found, "value < limit") &&
                      strstr(found, "[17,0,0]"),
                  "%s", found);
}

static void check_trap_at(void)
{
    int where = 33, nowhere = 100;

    LAUNCH("trap_at", line_over(40, 40), VALUE(nowhere));
    LAUNCH_FAILS("trap_at", line_over(40, 40), CX_PTX_TRAP, VALUE(where));
}

static void check_write_far(void)
{
    int32_t *out = make_memory(16);
    int64_t near = 3, far = 4, before = -1;

    LAUNCH("write_far", line_over(1, 1), VALUE(out), VALUE(near));
    SAME(3, out[3], 1);
    LAUNCH_FAILS("write_far", line_over(1, 1), CX_PTX_ILLEGAL_ADDRESS, VALUE(out), VALUE(far));
    LAUNCH_FAILS("write_far", line_over(5, 5), CX_PTX_ILLEGAL_ADDRESS, VALUE(out), VALUE(before));
}

static void check_write_oddly(void)
{
    char *out = make_memory(64);

    LAUNCH("write_oddly", line_over(1, 1), VALUE(out));
    LAUNCH_FAILS("write_oddly", line_over(5, 5), CX_PTX_MISALIGNED_ADDRESS, VALUE(out));
}

static void check_leave_early(void)
{
    int32_t *out = make_memory(77 * 4), left = 0;

    for (int i = 0; i < 77; i++)
        left += i % 5 > 1;
    LAUNCH("leave_early", line_over(77, 77), VALUE(out));
    for (int i = 0; i < 77; i++)
        SAME((size_t)i, out[i], i % 5 > 1 ? left : 0);
}

static void check_look_around(void)
{
    uint32_t *out = make_memory(70 * 4);

    LAUNCH("look_around", line_over(140, 70), VALUE(out));
    for (size_t i = 0; i < 70; i++)
        SAME(i, out[i], 1);
}

static const kernel_case cases[] = {
    {"print_all", check_print_all},     {"print_formats", check_print_formats},
    {"print_in_loop", check_print_in_loop},
    {"check_all", check_check_all},     {"trap_at", check_trap_at},
    {"write_far", check_write_far},     {"write_oddly", check_write_oddly},
    {"leave_early", check_leave_early}, {"look_around", check_look_around},
};
KERNEL_GROUP(output, cases);
