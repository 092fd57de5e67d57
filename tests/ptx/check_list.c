/* The list of PTX's instructions: the engine takes those that it serves, refuses others by name,
 * and the assembler, where it is installed, takes them all. */
#include "ptx/ptx.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD                                                                                      \
    "\n.address_size 64\n.shared .align 8 .b8 sh[64];\n.visible .entry k(.param .u64 out)\n{\n"   \
    ".reg .pred %p<10>; .reg .b16 %h<10>; .reg .b32 %u<10>; .reg .f32 %f<10>; .reg .b64 %d<10>; " \
    ".reg .f64 %g<10>; .reg .b8 %b<4>;\n"
#define ASSEMBLER "/usr/local/cuda/bin/ptxas"
#define FORM_BYTES 512

typedef enum verdict { SERVED, REFUSED } verdict;

static const struct {
    verdict verdict;
    const char *target, *pattern;
} rows[] = {
#define CX_LISTED(verdict, target, pattern) {verdict, target, pattern},
#include "list.def"
#undef CX_LISTED
};

#define ROWS (sizeof rows / sizeof rows[0])

/* Writes form number `number` of the pattern; false: there are not so many. */
static bool write_form(const char *pattern, unsigned number, char *out)
{
    while (*pattern) {
        const char *end = *pattern == '<' ? strchr(pattern, '>') : NULL, *at;
        unsigned choices = 1, chosen;

        if (!end) {
            *out++ = *pattern++;
            continue;
        }
        for (at = pattern; at < end; at++)
            choices += *at == '|';
        chosen = number % choices;
        number /= choices;
        for (at = pattern + 1; chosen > 0; at++)
            chosen -= *at == '|';
        while (at < end && *at != '|')
            *out++ = *at++;
        pattern = end + 1;
    }
    *out = '\0';
    return number == 0;
}

static cx_ptx_status load_form(const char *target, const char *form, cx_ptx_error *out_error)
{
    char text[2048];
    cx_ptx_module *module = NULL;
    cx_ptx_status status;

    snprintf(text, sizeof text, ".version 9.0\n.target %s%s%s\nret;\n}\n", target, HEAD, form);
    status = cx_ptx_load(text, strlen(text), &module, out_error);
    if (status == CX_PTX_SUCCESS)
        cx_ptx_unload(module);
    return status;
}

static unsigned forms_of(size_t row)
{
    char form[FORM_BYTES];
    unsigned count = 0;

    while (write_form(rows[row].pattern, count, form))
        count++;
    return count;
}

START_TEST(each_instruction_is_served_or_refused_by_name)
{
    unsigned wrong = 0;

    for (size_t row = 0; row < ROWS; row++)
        for (unsigned number = 0; number < forms_of(row); number++) {
            char form[FORM_BYTES];
            cx_ptx_error error = {0};
            cx_ptx_status status;

            write_form(rows[row].pattern, number, form);
            status = load_form(rows[row].target, form, &error);
            if (rows[row].verdict == SERVED
                    ? status == CX_PTX_SUCCESS
                    : status == CX_PTX_UNSUPPORTED && strstr(error.message, "is not supported"))
                continue;
            wrong++;
            printf("# %s: %s\n", form, status == CX_PTX_SUCCESS ? "taken" : error.message);
        }
    fflush(stdout);
    ck_assert_uint_eq(wrong, 0);
}
END_TEST

/* All forms of a target in one text. */
static unsigned ask_assembler(const char *target)
{
    char path[] = "/tmp/listed.XXXXXX", command[256], line[512], form[FORM_BYTES];
    int file = mkstemp(path);
    FILE *text = file >= 0 ? fdopen(file, "w") : NULL, *answer;
    unsigned wrong = 0;

    ck_assert_ptr_nonnull(text);
    fprintf(text, ".version 9.0\n.target %s%s", target, HEAD);
    for (size_t row = 0; row < ROWS; row++)
        for (unsigned i = 0; strcmp(rows[row].target, target) == 0 && i < forms_of(row); i++) {
            write_form(rows[row].pattern, i, form);
            fprintf(text, "%s\n", form);
        }
    fputs("ret;\n}\n", text);
    fclose(text);
    snprintf(command, sizeof command, ASSEMBLER " -arch=%s -o /dev/null %s 2>&1", target, path);
    answer = popen(command, "r");
    while (answer && fgets(line, sizeof line, answer))
        if (strstr(line, "error") || strstr(line, "fatal")) {
            printf("# %s: %s", target, line);
            wrong++;
        }
    ck_assert(answer && pclose(answer) >= 0);
    if (wrong == 0)
        unlink(path);
    fflush(stdout);
    return wrong;
}

START_TEST(the_assembler_takes_the_forms_of_the_list)
{
    static const char *const targets[] = {"sm_75",  "sm_90",   "sm_90a",
                                          "sm_100", "sm_100a", "sm_120a"};
    unsigned wrong = 0;

    if (access(ASSEMBLER, X_OK) != 0)
        return;
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
        wrong += ask_assembler(targets[i]);
    ck_assert_uint_eq(wrong, 0);
}
END_TEST

static Suite *list_suite(void)
{
    Suite *suite = suite_create("list");
    TCase *all = tcase_create("all");

    tcase_set_timeout(all, 120);
    tcase_add_test(all, each_instruction_is_served_or_refused_by_name);
    tcase_add_test(all, the_assembler_takes_the_forms_of_the_list);
    suite_add_tcase(suite, all);
    return suite;
}

CX_TESTS(list_suite);
