/*
 * Runs kernels on a libcuda: that of CTXRT_LIBCUDA, or the machine's own. Memory is managed, so
 * that host and device have it at the same address; of a module's variables the host has copies.
 * What ends a context is left out: the process could run nothing more.
 */
#include "run.h"

#include "driver/driver.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFERS_MOST 256
#define VARIABLES_MOST 16
#define PORTABLE_CLUSTER 8 /* blocks that every GPU with clusters takes */

const kernel_way kernel_ways[] = {{"on the driver", NULL, false, 0, false}};
const size_t kernel_way_count = 1;

static cx_driver driver;
static CUcontext context;
static CUmodule module;
static char module_name[200];

/* The host's copies of variables go to the device before a launch, and come back behind it. */
static struct {
    CUdeviceptr device;
    size_t bytes;
    void *host;
} variables[VARIABLES_MOST];
static size_t variable_count;

static jmp_buf left_out; /* of a check, what would end the context */

static CUdeviceptr buffers[BUFFERS_MOST];
static size_t buffer_count;

#define MUST(call) must((call), #call)

static void must(cxu_result result, const char *call)
{
    ck_assert_msg(result == CXU_SUCCESS, "%s: %s gave %s", module_name, call,
                  cx_driver_result_name(&driver, result));
}

/* Once in a process: Check forks one for each group. */
static void open_driver(void)
{
    const char *path = getenv("CTXRT_LIBCUDA");

    if (context != NULL)
        return;
    ck_assert_msg(cx_driver_load(path != NULL && *path != '\0' ? path : NULL, &driver), "%s",
                  driver.reason);
    MUST(driver.table.primary_retain(&context, 0));
    MUST(driver.table.ctx_set_current(context));
}

/* ---- memory ---- */

void *make_memory(size_t bytes)
{
    CUdeviceptr memory = 0;

    ck_assert_uint_lt(buffer_count, BUFFERS_MOST);
    MUST(driver.table.mem_alloc_managed(&memory, bytes != 0 ? bytes : 1, CXU_MEM_ATTACH_GLOBAL));
    buffers[buffer_count++] = memory;
    return memset((void *)(uintptr_t)memory, 0, bytes);
}

void release_memory(void)
{
    while (buffer_count > 0)
        MUST(driver.table.mem_free(buffers[--buffer_count]));
    while (variable_count > 0)
        free(variables[--variable_count].host);
}

/* ---- the module ---- */

bool kernels_load(const char *file, const kernel_way *way)
{
    char log[1024] = "";
    cxu_jit_option options[] = {CXU_JIT_ERROR_LOG_BUFFER, CXU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log};
    size_t length;
    char *text;

    snprintf(module_name, sizeof module_name, "%s, %s", file, way->name);
    open_driver();
    text = kernels_read(file, &length);
    cxu_result result = driver.table.module_load_data_ex(&module, text, 2, options, values);
    free(text);
    if (result != CXU_SUCCESS)
        printf("# %s: %s %s\n", module_name, cx_driver_result_name(&driver, result), log);
    return result == CXU_SUCCESS;
}

void kernels_unload(void)
{
    MUST(driver.table.module_unload(module));
    module = NULL;
}

const char *kernels_name(void)
{
    return module_name;
}

/* Since Volta lanes may run one by one. */
bool kernels_independent(void)
{
    return true;
}

void kernels_run(void (*check)(void))
{
    if (setjmp(left_out) == 0)
        check();
}

/* Each check begins with the variables as the module has them. */
void *find_variable(const char *name)
{
    CUdeviceptr device;
    size_t bytes;

    MUST(driver.table.module_get_global(&device, &bytes, module, name));
    for (size_t i = 0; i < variable_count; i++)
        if (variables[i].device == device)
            return variables[i].host;
    ck_assert_uint_lt(variable_count, VARIABLES_MOST);
    void *host = malloc(bytes);
    ck_assert_ptr_nonnull(host);
    MUST(driver.table.memcpy_dtoh(host, device, bytes));
    variables[variable_count].device = device;
    variables[variable_count].bytes = bytes;
    variables[variable_count++].host = host;
    return host;
}

/* ---- launches ---- */

/* Kernels print to the standard output, which is this file meanwhile. */
static FILE *printed;
static char output[1 << 16];

const char *take_output(void)
{
    size_t length = 0;

    if (printed != NULL) {
        rewind(printed);
        length = fread(output, 1, sizeof output - 1, printed);
        fclose(printed);
        printed = NULL;
    }
    output[length] = '\0';
    return output;
}

static int begin_output(void)
{
    if (printed == NULL)
        printed = tmpfile();
    ck_assert_ptr_nonnull(printed);
    fflush(stdout);
    int kept = dup(STDOUT_FILENO);
    ck_assert_int_ge(kept, 0);
    ck_assert_int_ge(dup2(fileno(printed), STDOUT_FILENO), 0);
    return kept;
}

static void end_output(int kept)
{
    fflush(stdout);
    ck_assert_int_ge(dup2(kept, STDOUT_FILENO), 0);
    close(kept);
    fseek(printed, 0, SEEK_END);
}

static cxu_result run(CUfunction function, const kernel_shape *shape, void **parameters)
{
    cxu_launch_attribute attributes[2] = {0};
    cxu_launch_config config = {.grid_x = shape->grid[0],
                                .grid_y = shape->grid[1],
                                .grid_z = shape->grid[2],
                                .block_x = shape->block[0],
                                .block_y = shape->block[1],
                                .block_z = shape->block[2],
                                .shared_bytes = shape->shared_bytes,
                                .attributes = attributes};

    if (shape->cooperative) {
        attributes[config.attribute_count].id = CXU_LAUNCH_ATTRIBUTE_COOPERATIVE;
        attributes[config.attribute_count++].value.number = 1;
    }
    if (shape->cluster[0] != 0) {
        attributes[config.attribute_count].id = CXU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
        memcpy(attributes[config.attribute_count++].value.cluster, shape->cluster,
               sizeof shape->cluster);
    }
    return driver.table.launch_kernel_ex(&config, function, parameters, NULL);
}

static void copy_variables(bool to_device)
{
    for (size_t i = 0; i < variable_count; i++)
        MUST(to_device ? driver.table.memcpy_htod(variables[i].device, variables[i].host,
                                                  variables[i].bytes)
                       : driver.table.memcpy_dtoh(variables[i].host, variables[i].device,
                                                  variables[i].bytes));
}

void launch(const char *name, kernel_shape shape, const kernel_argument *arguments, size_t count)
{
    void *parameters[64];
    CUfunction function;

    ck_assert_uint_le(count, sizeof parameters / sizeof parameters[0]);
    for (size_t i = 0; i < count; i++)
        parameters[i] = (void *)(uintptr_t)arguments[i].value;
    MUST(driver.table.module_get_function(&function, module, name));
    if (shape.shared_bytes > 48 << 10)
        MUST(driver.table.func_set_attribute(
            function, CXU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)shape.shared_bytes));
    if (shape.cluster[0] * shape.cluster[1] * shape.cluster[2] > PORTABLE_CLUSTER)
        MUST(driver.table.func_set_attribute(
            function, CXU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    copy_variables(true);
    int kept = begin_output();
    cxu_result launched = run(function, &shape, parameters);
    cxu_result ended = driver.table.ctx_synchronize();
    end_output(kept);
    ck_assert_msg(launched == CXU_SUCCESS && ended == CXU_SUCCESS, "%s: %s: launch %s, end %s",
                  module_name, name, cx_driver_result_name(&driver, launched),
                  cx_driver_result_name(&driver, ended));
    copy_variables(false);
}

void launch_until(const char *name, kernel_shape shape, const kernel_argument *arguments,
                  size_t count, int outcome)
{
    (void)shape, (void)arguments, (void)count, (void)outcome;
    printf("# %s: %s ends its context: left out\n", module_name, name);
    longjmp(left_out, 1);
}
