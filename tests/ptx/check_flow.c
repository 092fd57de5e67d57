/* Random control flow, and locks in it: warps give the same whether their lanes run together, one
 * by one, or in a random order. */
#include "../support/random.h"
#include "ptx/ptx.h"
#include "test.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ADDRESS 0x10000
#define THREADS 48
#define WORDS (THREADS + 2) /* behind those of the threads, a lock and what it guards */
#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
#define PROGRAMS 100
#else
#define PROGRAMS 400
#endif
#define FUNCTIONS 3
#define LOCK (ADDRESS + THREADS * 4)

static uint32_t memory[WORDS];
static unsigned stop_after; /* times that a launch asks whether to stop */

static bool find(void *self, uint64_t address, cx_ptx_range *out_range)
{
    (void)self;
    *out_range = (cx_ptx_range){ADDRESS, sizeof memory, (unsigned char *)memory, false, NULL, NULL};
    return address >= ADDRESS && address < ADDRESS + sizeof memory;
}

static bool stopped(void *self)
{
    (void)self;
    return stop_after-- == 0;
}

static void run(const char *text, bool independent, uint64_t seed, uint32_t *out)
{
    const uint64_t parameters[] = {ADDRESS};
    const cx_ptx_environment environment = {
        .find = find, .stopped = stopped, .independent = independent, .seed = seed};
    const cx_ptx_launch launch = {
        .grid = {1, 1, 1}, .block = {THREADS, 1, 1}, .parameters = parameters};
    cx_ptx_error error = {0};
    cx_ptx_module *module = NULL;
    cx_ptx_fault fault = {0};
    cx_ptx_status status = cx_ptx_load(text, strlen(text), &module, &error);

    ck_assert_msg(status == CX_PTX_SUCCESS, "line %d: %s\n%s", error.line, error.message, text);
    memset(memory, 0, sizeof memory);
    stop_after = 100000;
    cx_ptx_outcome outcome =
        cx_ptx_run(module, cx_ptx_kernel_find(module, "k"), &launch, &environment, &fault);
    ck_assert_msg(outcome == CX_PTX_DONE, "outcome %d, line %d\n%s", outcome, fault.line, text);
    cx_ptx_unload(module);
    memcpy(out, memory, sizeof memory);
}

/* ---- programs ---- */

typedef struct program {
    char text[1 << 16];
    size_t length;
    uint64_t state;
    unsigned locks;
} program;

static uint32_t pick(program *self, uint32_t below)
{
    return (uint32_t)((next_random(&self->state) >> 16) % below);
}

static __attribute__((format(printf, 2, 3))) void put(program *self, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    self->length += (size_t)vsnprintf(self->text + self->length,
                                      sizeof self->text - self->length, format, list);
    va_end(list);
    ck_assert_uint_lt(self->length, sizeof self->text);
}

/* The work of a block: on %x, and on the thread's own word. */
static void put_work(program *self, int function)
{
    put(self, "mad.lo.u32 %%x, %%x, %u, %u;\n", pick(self, 1000) * 2 + 1, pick(self, 1000));
    switch (pick(self, 7)) {
    case 0:
        put(self, "setp.gt.u32 %%q, %%x, %u;\n@%%q xor.b32 %%x, %%x, %u;\n",
            pick(self, UINT32_MAX), pick(self, UINT32_MAX));
        break;
    case 1:
        put(self, "ld.global.u32 %%y, [%%own];\nadd.u32 %%x, %%x, %%y;\n"
                  "st.global.u32 [%%own], %%x;\n");
        break;
    case 2:
        put(self, "and.b32 %%y, %%x, 64;\nsetp.eq.u32 %%q, %%y, 0;\n"
                  "@!%%q atom.global.add.u32 %%y, [%%own], %%x;\n");
        break;
    case 3:
    case 4:
        if (function == 0)
            break;
        put(self, "{\n.param .b32 a;\n.param .b32 r;\nst.param.b32 [a], %%x;\n"
                  "call (r), f%u, (a);\nld.param.b32 %%x, [r];\n}\n",
            pick(self, (uint32_t)function));
        break;
    case 5:
        self->locks++;
        put(self, "W%u: atom.global.cas.b32 %%y, [%u], 0, 1;\nsetp.ne.u32 %%q, %%y, 0;\n"
                  "@%%q bra W%u;\nld.global.u32 %%y, [%u];\nadd.u32 %%y, %%y, 1;\n"
                  "st.global.u32 [%u], %%y;\natom.global.exch.b32 %%y, [%u], 0;\n",
            self->locks, LOCK, self->locks, LOCK + 4, LOCK + 4, LOCK);
        break;
    default:
        break;
    }
}

static void put_way_on(program *self, uint32_t blocks, int block, bool kernel)
{
    put(self, "shr.u32 %%y, %%x, %u;\n", 5 + pick(self, 20));
    switch (pick(self, 8)) {
    case 0:
        put(self, "and.b32 %%y, %%y, 3;\nmin.u32 %%y, %%y, 2;\n"
                  "T%d: .branchtargets B%u, B%u, B%u;\nbrx.idx %%y, T%d;\n",
            block, pick(self, blocks), pick(self, blocks), pick(self, blocks), block);
        break;
    case 1:
        put(self, "and.b32 %%y, %%y, 7;\nsetp.eq.u32 %%p, %%y, 0;\n@%%p %s;\n",
            kernel ? "exit" : "bra END");
        break;
    case 2:
        put(self, "bra B%u;\n", pick(self, blocks));
        break;
    default:
        put(self, "and.b32 %%y, %%y, %u;\nsetp.eq.u32 %%p, %%y, 0;\n@%s%%p bra B%u;\n",
            1 + pick(self, 3), pick(self, 2) ? "!" : "", pick(self, blocks));
    }
}

static void put_blocks(program *self, int function, uint32_t fuel, bool kernel)
{
    uint32_t blocks = 2 + pick(self, 8);

    put(self, "mov.u32 %%fuel, %u;\n", fuel);
    for (uint32_t i = 0; i < blocks; i++) {
        put(self, "B%u:\nsub.u32 %%fuel, %%fuel, 1;\nsetp.eq.u32 %%p, %%fuel, 0;\n"
                  "@%%p bra END;\n",
            i);
        put_work(self, function);
        put_way_on(self, blocks, (int)i, kernel);
    }
    put(self, "END:\n");
}

#define REGISTERS                                                                        \
    ".reg .pred %%p, %%q;\n.reg .b32 %%x, %%y, %%fuel, %%t;\n.reg .b64 %%own, %%out;\n"   \
    "mov.u32 %%t, %%tid.x;\nmul.wide.u32 %%own, %%t, 4;\nadd.u64 %%own, %%own, 65536;\n"

static void write_program(program *self, uint64_t seed)
{
    self->state = seed;
    self->length = 0;
    self->locks = 0;
    put(self, ".version 7.0\n.target sm_75\n.address_size 64\n");
    for (int i = 0; i < FUNCTIONS; i++) {
        put(self, ".func (.param .b32 r) f%d(.param .b32 a)\n{\n" REGISTERS
                  "ld.param.u32 %%x, [a];\n",
            i);
        put_blocks(self, i, 5, false);
        put(self, "st.param.b32 [r], %%x;\nret;\n}\n");
    }
    put(self, ".visible .entry k(.param .u64 out)\n{\n" REGISTERS
              "mad.lo.u32 %%x, %%t, %u, 17;\n",
        pick(self, UINT32_MAX));
    put_blocks(self, FUNCTIONS, 30, true);
    put(self, "atom.global.xor.b32 %%y, [%%own], %%x;\nret;\n}\n");
}

static void compare(const uint32_t *found, const uint32_t *right, uint64_t number, const char *text)
{
    for (int t = 0; t < WORDS; t++)
        ck_assert_msg(found[t] == right[t], "program %llu, thread %d: %#x, not %#x\n%s",
                      (unsigned long long)number, t, found[t], right[t], text);
}

START_TEST(all_ways_give_the_same)
{
    static program made;
    uint32_t together[WORDS], apart[WORDS], random[WORDS];

    for (uint64_t i = 0; i < PROGRAMS; i++) {
        write_program(&made, (uint64_t)_i * PROGRAMS + i + 1);
        run(made.text, true, 0, apart);
        run(made.text, false, 0, together);
        compare(together, apart, i, made.text);
        if (i % 4 != 0)
            continue;
        run(made.text, true, i + 1, random);
        compare(random, apart, i, made.text);
    }
}
END_TEST

static Suite *flow_suite(void)
{
    Suite *suite = suite_create("flow");
    TCase *all = tcase_create("all");

    tcase_set_timeout(all, 120);
    tcase_add_loop_test(all, all_ways_give_the_same, 0, 4);
    suite_add_tcase(suite, all);
    return suite;
}

CX_TESTS(flow_suite);
