#include "run.h"

#include "../../support/random.h"
#include "ptx/ptx.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

#define BUFFERS_MOST 256

static struct {
    unsigned char *memory;
    size_t bytes;
} buffers[BUFFERS_MOST];
static size_t buffer_count;
static unsigned char *variables; /* of the module, as long as a check */

void *make_memory(size_t bytes)
{
    unsigned char *memory = calloc(1, bytes ? bytes : 1);

    ck_assert_ptr_nonnull(memory);
    ck_assert_uint_lt(buffer_count, BUFFERS_MOST);
    buffers[buffer_count].memory = memory;
    buffers[buffer_count++].bytes = bytes;
    return memory;
}

void release_memory(void)
{
    while (buffer_count > 0)
        free(buffers[--buffer_count].memory);
    variables = NULL;
}

void *copy_memory(const void *from, size_t bytes)
{
    return memcpy(make_memory(bytes), from, bytes);
}

static bool find(void *self, uint64_t address, cx_ptx_range *out_range)
{
    (void)self;
    for (size_t i = 0; i < buffer_count; i++) {
        uint64_t start = (uintptr_t)buffers[i].memory;

        if (address - start < buffers[i].bytes) {
            *out_range = (cx_ptx_range){start, buffers[i].bytes, buffers[i].memory, false};
            return true;
        }
    }
    return false;
}

static uint64_t allocate(void *self, uint64_t bytes)
{
    (void)self;
    return bytes > 1 << 16 ? 0 : (uintptr_t)make_memory(bytes);
}

static bool release(void *self, uint64_t address)
{
    (void)self;
    for (size_t i = 0; i < buffer_count; i++)
        if ((uintptr_t)buffers[i].memory == address) {
            free(buffers[i].memory);
            buffers[i] = buffers[--buffer_count];
            return true;
        }
    return false;
}

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

/* ---- the module ---- */

static cx_ptx_module *module;
static char module_name[200];
static const kernel_way *current_way;

static char *read_file(const char *path, size_t *out_length)
{
    FILE *file = fopen(path, "r");
    char *text;

    ck_assert_msg(file, "%s cannot be read", path);
    fseek(file, 0, SEEK_END);
    *out_length = (size_t)ftell(file);
    rewind(file);
    text = malloc(*out_length + 1);
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_eq(fread(text, 1, *out_length, file), *out_length);
    fclose(file);
    return text;
}

static bool load_text(const char *text, size_t length)
{
    cx_ptx_error error = {.line = 0};

    if (cx_ptx_load(text, length, &module, &error) == CX_PTX_SUCCESS)
        return true;
    printf("# %s:%d: %s\n", module_name, error.line, error.message);
    fflush(stdout);
    return false;
}

const char *kernels_folder(void)
{
    static char folder[4000];
    const char *other = getenv("CTXRT_TEST_KERNELS");

    snprintf(folder, sizeof folder, "%s%s", other ? other : getenv("top_srcdir"),
             other ? "" : "/tests/ptx/kernels");
    return folder;
}

bool kernels_load(const char *file, const kernel_way *way)
{
    char path[4096], *text;
    size_t length;
    bool loaded;

    snprintf(path, sizeof path, "%s/%.80s", kernels_folder(), file);
    snprintf(module_name, sizeof module_name, "%s, %s", file, way->name);
    current_way = way;
    text = read_file(path, &length);
    loaded = load_text(text, length);
    free(text);
    return loaded;
}

bool kernels_independent(void)
{
    return current_way->independent;
}

void kernels_unload(void)
{
    cx_ptx_unload(module);
    module = NULL;
}

static void place_variables(void)
{
    if (variables)
        return;
    variables = make_memory(cx_ptx_memory_bytes(module) + 1);
    cx_ptx_memory_init(module, (uintptr_t)variables, variables);
}

void *find_variable(const char *name)
{
    const cx_ptx_variable *variable = cx_ptx_variable_find(module, name);

    ck_assert_msg(variable, "%s: no variable %s", module_name, name);
    place_variables();
    return variables + variable->offset;
}

/* ---- launches ---- */

static char output[1 << 16];
static size_t output_length;
static uint64_t questions;

static bool stopped(void *self)
{
    (void)self;
    return ++questions > 10000000;
}

static void print(void *self, const char *text, size_t length, bool failed)
{
    (void)self, (void)failed;
    ck_assert_uint_lt(output_length + length, sizeof output);
    memcpy(output + output_length, text, length);
    output_length += length;
}

const char *take_output(void)
{
    output[output_length] = '\0';
    output_length = 0;
    return output;
}

kernel_shape line_over(size_t count, uint32_t threads)
{
    return (kernel_shape){.grid = {(uint32_t)((count + threads - 1) / threads), 1, 1},
                          .block = {threads, 1, 1}};
}

static void pack(const char *name, const kernel_argument *arguments, size_t count,
                 const cx_ptx_function *kernel, unsigned char *packed)
{
    cx_ptx_kernel_info info = cx_ptx_kernel_describe(module, kernel);

    ck_assert_msg(info.parameter_count == count, "%s: %s has %zu parameters", module_name, name,
                  info.parameter_count);
    for (size_t i = 0; i < count; i++) {
        ck_assert_msg(info.parameters[i].bytes == arguments[i].bytes,
                      "%s: parameter %zu of %s has %u bytes, not %zu", module_name, i, name,
                      info.parameters[i].bytes, arguments[i].bytes);
        memcpy(packed + info.parameters[i].offset, arguments[i].value, arguments[i].bytes);
    }
}

void launch_until(const char *name, kernel_shape shape, const kernel_argument *arguments,
                  size_t count, int wanted)
{
    static unsigned char packed[CX_PTX_PARAMETER_BYTES_MAX];
    const cx_ptx_environment environment = {.find = find,
                                            .stopped = stopped,
                                            .print = print,
                                            .allocate = allocate,
                                            .release = release,
                                            .code = current_way->code,
                                            .seed = current_way->seed,
                                            .independent = current_way->independent};
    const cx_ptx_function *kernel = cx_ptx_kernel_find(module, name);
    cx_ptx_launch launch = {.shared_bytes = shape.shared_bytes,
                            .cooperative = shape.cooperative,
                            .parameters = packed};
    cx_ptx_fault fault = {.line = 0};
    cx_ptx_outcome outcome;

    ck_assert_msg(kernel, "%s: no kernel %s", module_name, name);
    place_variables();
    memcpy(launch.grid, shape.grid, sizeof launch.grid);
    memcpy(launch.block, shape.block, sizeof launch.block);
    memcpy(launch.cluster, shape.cluster, sizeof launch.cluster);
    launch.memory_address = (uintptr_t)variables;
    pack(name, arguments, count, kernel, packed);
    questions = 0;
    outcome = cx_ptx_run(module, kernel, &launch, &environment, &fault);
    ck_assert_msg((int)outcome == wanted,
                  "%s: %s ends with %d at line %d, block %u, thread %u, address %#llx", module_name,
                  name, outcome, fault.line, fault.block[0], fault.thread[0],
                  (unsigned long long)fault.address);
}

void launch(const char *name, kernel_shape shape, const kernel_argument *arguments, size_t count)
{
    launch_until(name, shape, arguments, count, CX_PTX_DONE);
}

/* ---- results ---- */

void expect_same(const char *what, size_t at, uint64_t found, uint64_t expected)
{
    ck_assert_msg(found == expected, "%s: %s, number %zu: %lld (%#llx), not %lld (%#llx)",
                  module_name, what, at, (long long)found, (unsigned long long)found,
                  (long long)expected, (unsigned long long)expected);
}

void expect_near(const char *what, size_t at, double found, double expected, double tolerance)
{
    bool near = (isnan(found) && isnan(expected)) || found == expected ||
                fabs(found - expected) <= tolerance * (1 + fabs(expected));

    ck_assert_msg(near, "%s: %s, number %zu: %.17g, not %.17g", module_name, what, at, found,
                  expected);
}
