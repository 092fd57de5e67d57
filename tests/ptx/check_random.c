/*
 * Random PTX programs give, bit for bit, what an evaluator of one thread at a time computes from
 * their description. By hand: check_random --programs N --seed S; --print prints them instead.
 */
#include "random/program.h"

#include "ptx/ptx.h"
#include "test.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
#define CHECKED 600 /* programs */
#else
#define CHECKED 3000
#endif
#define PARTS 4
#define MEMORY (1 << 18)
#define CONSTANTS UINT64_C(0x4000000)

static _Alignas(16) unsigned char memory[MEMORY], before[MEMORY], expected[MEMORY];
static _Alignas(16) unsigned char constants[4096];
static char text[1 << 18];
static unsigned questions;
static uint64_t range_bytes; /* the memory is as many ranges as it takes */

static bool find(void *self, uint64_t address, cx_ptx_range *out_range)
{
    uint64_t offset = (address - RANDOM_ADDRESS) / range_bytes * range_bytes;

    (void)self;
    if (address - CONSTANTS < sizeof constants) {
        *out_range = (cx_ptx_range){CONSTANTS, sizeof constants, constants, true,
                                    NULL, NULL};
        return true;
    }
    *out_range = (cx_ptx_range){RANDOM_ADDRESS + offset, range_bytes, memory + offset,
                                false, NULL, NULL};
    return address - RANDOM_ADDRESS < MEMORY;
}

static bool stopped(void *self)
{
    (void)self;
    return ++questions > 1000000;
}

/* ---- one program ---- */

/* Ways to run a program: lanes together, in the code of each processor, or each by itself. */
static const struct {
    const char *name, *code;
    bool independent;
    uint64_t seed;
} ways[] = {{"", NULL, false, 0},
            {", baseline", "baseline", false, 0},
            {", avx2", "avx2", false, 0},
            {", lanes one by one", NULL, true, 0},
            {", lanes in a random order", NULL, true, 7}};

#define WAYS (sizeof ways / sizeof ways[0])
#define ALL_WAYS ((1u << WAYS) - 1)

typedef struct finding {
    size_t way;
    char words[400];
} finding;

static __attribute__((format(printf, 2, 3))) bool tell(finding *self, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vsnprintf(self->words, sizeof self->words, format, list);
    va_end(list);
    return false;
}

static bool compare(const random_program *program, finding *out)
{
    random_layout layout = random_layout_of(program);
    uint64_t at = 0;

    if (memcmp(memory, expected, layout.bytes) == 0)
        return true;
    for (int c = 0; c < RANDOM_CLASSES; c++)
        for (int i = 0; i < RANDOM_REGISTERS; i++) {
            random_place place = {(random_class)c, i};

            if (!program->used[RANDOM_FUNCTIONS][c][i])
                continue;
            at = layout.out + random_register_at(program, place);
            for (uint64_t t = 0; t < layout.threads; t++, at += 8) {
                uint64_t found, right;

                memcpy(&found, memory + at, sizeof found);
                memcpy(&right, expected + at, sizeof right);
                if (found != right)
                    return tell(out, "%%%c%d of thread %u in block %u: %#llx, not %#llx",
                                "phwdfgxyvz"[c], i, (unsigned)t % program->threads,
                                (unsigned)t / program->threads, (unsigned long long)found,
                                (unsigned long long)right);
            }
        }
    for (at = 0; memory[at] == expected[at];)
        at++;
    return tell(out, "memory at %#llx: %#x, not %#x", (unsigned long long)(RANDOM_ADDRESS + at),
                memory[at], expected[at]);
}

static random_failures failures;

static bool check_outcome(const random_program *program, cx_ptx_outcome outcome,
                          const cx_ptx_fault *fault, finding *out)
{
    cx_ptx_outcome wanted = !failures.any  ? CX_PTX_DONE
                            : failures.odd ? CX_PTX_MISALIGNED_ADDRESS
                                           : CX_PTX_ILLEGAL_ADDRESS;
    unsigned thread = (fault->thread[2] * program->height + fault->thread[1]) * program->width +
                      fault->thread[0];
    bool right = outcome == wanted;

    if (right && failures.any)
        right = fault->block[0] < program->blocks && thread < program->threads &&
                failures.at[fault->block[0]][thread] &&
                fault->address == random_failing_address(failures.odd, thread);
    return right || tell(out, "outcome %d, not %d, at line %d, thread %u, block %u, address %#llx",
                         outcome, wanted, fault->line, thread, fault->block[0],
                         (unsigned long long)fault->address);
}

static bool run(const random_program *program, const cx_ptx_module *module, size_t way,
                finding *out)
{
    random_layout layout = random_layout_of(program);
    const cx_ptx_environment environment = {.find = find,
                                            .stopped = stopped,
                                            .code = ways[way].code,
                                            .independent = ways[way].independent,
                                            .seed = ways[way].seed};
    const cx_ptx_launch launch = {.grid = {program->blocks, 1, 1},
                                  .block = {program->width, program->height,
                                            program->threads / program->width / program->height},
                                  .parameters = before + layout.parameter,
                                  .memory_address = CONSTANTS};
    cx_ptx_fault fault = {.line = 0};
    cx_ptx_outcome outcome;

    memcpy(memory, before, layout.bytes);
    memset(constants, 0, sizeof constants);
    cx_ptx_memory_init(module, CONSTANTS, 0, constants);
    questions = 0;
    out->way = way;
    outcome = cx_ptx_run(module, cx_ptx_kernel_find(module, "k"), &launch, &environment, &fault);
    return check_outcome(program, outcome, &fault, out) &&
           (failures.any || compare(program, out));
}

static bool check(random_program *program, unsigned which_ways, finding *out)
{
    random_layout layout = random_layout_of(program);
    cx_ptx_error error = {.line = 0};
    cx_ptx_module *module;
    size_t length;
    bool right;

    if (layout.bytes > MEMORY)
        return tell(out, "%llu bytes of memory", (unsigned long long)layout.bytes);
    range_bytes = program->seed % 3 ? MEMORY : (uint64_t)16 << program->seed / 3 % 8;
    random_fill(program, before);
    memcpy(expected, before, layout.bytes);
    random_evaluate(program, expected, &failures);
    length = random_write(program, before, text, sizeof text);
    if (length == 0)
        return tell(out, "its text is too long");
    if (cx_ptx_load(text, length, &module, &error) != CX_PTX_SUCCESS)
        return tell(out, "line %d: %s", error.line, error.message);
    right = cx_ptx_memory_bytes(module) <= sizeof constants;
    for (size_t way = 0; way < WAYS && right; way++)
        right = !(which_ways >> way & 1) || run(program, module, way, out);
    cx_ptx_unload(module);
    return right;
}

/* Leaves out steps as long as something is wrong. */
static void shrink(random_program *program, finding *out)
{
    bool smaller = true;

    while (smaller) {
        smaller = false;
        for (int i = program->count - 1; i >= 0; i--) {
            finding found = *out;

            if (program->steps[i].off)
                continue;
            program->steps[i].off = true;
            random_find_used(program);
            if (check(program, ALL_WAYS, &found)) {
                program->steps[i].off = false;
            } else {
                smaller = true;
                *out = found;
            }
        }
    }
    random_find_used(program);
    check(program, ALL_WAYS, out);
}

static bool check_seed(uint64_t seed, unsigned which_ways)
{
    static random_program program;
    finding found = {.way = 0};

    random_make(&program, seed);
    if (check(&program, which_ways, &found))
        return true;
    printf("# seed %llu, %u blocks of %u threads%s: %s\n", (unsigned long long)seed, program.blocks,
           program.threads, ways[found.way].name, found.words);
    fflush(stdout);
    shrink(&program, &found);
    printf("# the smallest%s: %s\n%s", ways[found.way].name, found.words, text);
    fflush(stdout);
    return false;
}

/* ---- the test, and by hand ---- */

START_TEST(random_programs_give_what_their_description_says)
{
    unsigned wrong = 0;

    for (int i = 0; i < CHECKED / PARTS && wrong < 3; i++)
        wrong += !check_seed((uint64_t)(_i * (CHECKED / PARTS) + i), 1u << i % WAYS);
    ck_assert_uint_eq(wrong, 0);
}
END_TEST

static Suite *random_suite(void)
{
    Suite *suite = suite_create("random");
    TCase *all = tcase_create("all");

    tcase_set_timeout(all, 120);
    tcase_add_loop_test(all, random_programs_give_what_their_description_says, 0, PARTS);
    suite_add_tcase(suite, all);
    return suite;
}

static int by_hand(int count, char **words)
{
    uint64_t programs = 1, seed = 0, wrong = 0;
    bool print = false;

    for (int i = 1; i < count; i++) {
        if (strcmp(words[i], "--print") == 0)
            print = true;
        else if (strcmp(words[i], "--programs") == 0 && i + 1 < count)
            programs = strtoull(words[++i], NULL, 0);
        else if (strcmp(words[i], "--seed") == 0 && i + 1 < count)
            seed = strtoull(words[++i], NULL, 0);
    }
    for (uint64_t i = 0; i < programs && wrong < 10; i++) {
        wrong += !check_seed(seed + i, ALL_WAYS);
        if (print)
            fputs(text, stdout);
    }
    if (!print)
        printf("%llu programs from seed %llu on: %llu wrong\n", (unsigned long long)programs,
               (unsigned long long)seed, (unsigned long long)wrong);
    return wrong != 0;
}

int main(int count, char **words)
{
    if (count > 1)
        return by_hand(count, words);
    return cx_test_run((Suite *(*const[])(void)){random_suite, NULL});
}
