/* Runs kernels with lib/ptx, in several ways. */
#include "run.h"

#include "ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
#define SANITIZED true
#else
#define SANITIZED false
#endif
#define BUFFERS_MOST 256

static struct {
    unsigned char *memory;
    size_t bytes;
} buffers[BUFFERS_MOST];
static size_t buffer_count;
static unsigned char *variables, *managed; /* of the module, as long as a check */

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
    variables = managed = NULL;
}

static bool find(void *self, uint64_t address, cx_ptx_range *out_range)
{
    (void)self;
    for (size_t i = 0; i < buffer_count; i++) {
        uint64_t start = (uintptr_t)buffers[i].memory;

        if (address - start < buffers[i].bytes) {
            *out_range = (cx_ptx_range){start, buffers[i].bytes, buffers[i].memory,
                                        false, NULL, NULL};
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

/* ---- the module ---- */

/* Sanitizers see the first two: the others are the same code for other processors and orders. The
 * second way plays one file of each group there, not those of every compiler. */
const kernel_way kernel_ways[] = {{"fastest", NULL, false, 0, false},
                                  {"one by one", NULL, true, 0, SANITIZED},
                                  {"baseline", "baseline", false, 0, false},
                                  {"avx2", "avx2", false, 0, false},
                                  {"in a random order", NULL, true, 17, false}};
const size_t kernel_way_count = SANITIZED ? 2 : sizeof kernel_ways / sizeof kernel_ways[0];

static cx_ptx_module *module;
static char module_name[200];
static const kernel_way *current_way;

static bool load_text(const char *text, size_t length)
{
    cx_ptx_error error = {.line = 0};

    if (cx_ptx_load(text, length, &module, &error) == CX_PTX_SUCCESS)
        return true;
    printf("# %s:%d: %s\n", module_name, error.line, error.message);
    fflush(stdout);
    return false;
}

bool kernels_load(const char *file, const kernel_way *way)
{
    size_t length;
    char *text = kernels_read(file, &length);
    bool loaded;

    snprintf(module_name, sizeof module_name, "%s, %s", file, way->name);
    current_way = way;
    loaded = load_text(text, length);
    free(text);
    return loaded;
}

const char *kernels_name(void)
{
    return module_name;
}

void kernels_run(void (*check)(void))
{
    check();
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
    managed = make_memory(cx_ptx_managed_bytes(module) + 1);
    cx_ptx_memory_init(module, (uintptr_t)variables, (uintptr_t)managed, variables);
    cx_ptx_managed_init(module, (uintptr_t)variables, (uintptr_t)managed, managed);
}

void *find_variable(const char *name)
{
    const cx_ptx_variable *variable = cx_ptx_variable_find(module, name);

    ck_assert_msg(variable, "%s: no variable %s", module_name, name);
    place_variables();
    return (variable->managed ? managed : variables) + variable->offset;
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
    launch.managed_address = (uintptr_t)managed;
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
