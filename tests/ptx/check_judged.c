/* Right and wrong forms of instructions: the engine takes those that NVIDIA's assembler takes.
 * judged.def has what that said; where it is installed it is asked again. */
#include "ptx/ptx.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD                                                                                     \
    ".version 8.6\n.target sm_90\n.address_size 64\n.shared .align 8 .b8 sh[64];\n"              \
    ".visible .entry k(.param .u64 out)\n{\n"                                                    \
    ".reg .pred %p<10>; .reg .b16 %h<10>; .reg .b32 %u<10>; .reg .f32 %f<10>; .reg .b64 %d<10>; " \
    ".reg .f64 %g<10>; .reg .u32 %i<10>; .reg .f16 %e<10>;\n"
#define LINE 8 /* of the first statement */
#define ASSEMBLER "/usr/local/cuda/bin/ptxas"

typedef enum verdict { RIGHT, WRONG, STRICTER, LAXER, REFUSED } verdict;

static const struct {
    const char *text;
    verdict verdict;
} rows[] = {
#define CX_JUDGED(verdict, text) {text, verdict},
#include "judged.def"
#undef CX_JUDGED
};

#define ROWS (sizeof rows / sizeof rows[0])

START_TEST(the_engine_takes_what_the_table_calls_right)
{
    unsigned wrong = 0;

    for (size_t i = 0; i < ROWS; i++) {
        bool right = rows[i].verdict == RIGHT || rows[i].verdict == LAXER;
        cx_ptx_error error = {0};
        cx_ptx_module *module = NULL;
        cx_ptx_status status;
        char text[2048];

        snprintf(text, sizeof text, "%s%s\nret;\n}\n", HEAD, rows[i].text);
        status = cx_ptx_load(text, strlen(text), &module, &error);
        if (status == CX_PTX_SUCCESS)
            cx_ptx_unload(module);
        if (right == (status == CX_PTX_SUCCESS) && (right || error.line == LINE) &&
            (rows[i].verdict != REFUSED || status == CX_PTX_UNSUPPORTED))
            continue;
        wrong++;
        printf("# %s: %s\n", rows[i].text, status == CX_PTX_SUCCESS ? "taken" : error.message);
    }
    fflush(stdout);
    ck_assert_uint_eq(wrong, 0);
}
END_TEST

/* Asks the assembler about all rows in one text: it names the line of each wrong one. */
static bool ask_assembler(bool refused[ROWS])
{
    char path[] = "/tmp/judged.XXXXXX", command[256], line[512];
    int file = mkstemp(path);
    FILE *text = file >= 0 ? fdopen(file, "w") : NULL, *answer;
    unsigned at;

    if (!text)
        return false;
    fputs(HEAD, text);
    for (size_t i = 0; i < ROWS; i++)
        fprintf(text, "%s\n", rows[i].text);
    fputs("ret;\n}\n", text);
    fclose(text);
    snprintf(command, sizeof command, ASSEMBLER " -arch=sm_90 -o /dev/null %s 2>&1", path);
    answer = popen(command, "r");
    while (answer && fgets(line, sizeof line, answer)) {
        const char *place = strstr(line, ", line ");

        if (place && strstr(line, "; error") && sscanf(place, ", line %u", &at) == 1 &&
            at >= LINE && at < LINE + ROWS)
            refused[at - LINE] = true;
    }
    if (answer)
        pclose(answer);
    unlink(path);
    return answer != NULL;
}

START_TEST(the_table_says_what_the_assembler_says)
{
    static bool refused[ROWS];
    unsigned wrong = 0;

    if (access(ASSEMBLER, X_OK) != 0) {
        printf("# skipped: " ASSEMBLER " is not here\n");
        return;
    }
    ck_assert(ask_assembler(refused));
    for (size_t i = 0; i < ROWS; i++) {
        bool right = rows[i].verdict == RIGHT || rows[i].verdict == STRICTER ||
                     rows[i].verdict == REFUSED;

        if (right != refused[i])
            continue;
        wrong++;
        printf("# %s: %s\n", rows[i].text, refused[i] ? "refused" : "taken");
    }
    fflush(stdout);
    ck_assert_uint_eq(wrong, 0);
}
END_TEST

static Suite *judged_suite(void)
{
    Suite *suite = suite_create("judged");
    TCase *forms = tcase_create("forms");

    tcase_set_timeout(forms, 120);
    tcase_add_test(forms, the_engine_takes_what_the_table_calls_right);
    tcase_add_test(forms, the_table_says_what_the_assembler_says);
    suite_add_tcase(suite, forms);
    return suite;
}

CX_TESTS(judged_suite);
