#include "ptx/builtin.h"

#include "ptx/dynamic_parallelism.h"
#include "ptx/shadow.h"

#include <stdio.h>
#include <string.h>

#define NAME_BYTES 512

cx_ptx_builtin cx_ptx_builtin_find(const char *name)
{
    static const struct {
        const char *name;
        cx_ptx_builtin builtin;
    } rows[] = {{"__assertfail", CX_PTX_BUILTIN_ASSERTION},
                {"vprintf", CX_PTX_BUILTIN_PRINT},
                {"malloc", CX_PTX_BUILTIN_ALLOCATE},
                {"free", CX_PTX_BUILTIN_RELEASE},
                {"__ctxrt_prepare_child", CX_PTX_BUILTIN_PREPARE_CHILD},
                {"__ctxrt_launch_child", CX_PTX_BUILTIN_LAUNCH_CHILD},
                {"__ctxrt_last_error", CX_PTX_BUILTIN_LAST_ERROR},
                {"__ctxrt_create_stream", CX_PTX_BUILTIN_CREATE_STREAM},
                {"__ctxrt_ask_device", CX_PTX_BUILTIN_ASK_DEVICE},
                {"__ctxrt_ask_kernel", CX_PTX_BUILTIN_ASK_KERNEL},
                {"cudaGraphSetConditional", CX_PTX_BUILTIN_SET_CONDITION}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(name, rows[i].name) == 0)
            return rows[i].builtin;
    return CX_PTX_NO_BUILTIN;
}

/* A parameter, extended with zeros; 0 if the declaration leaves it out. */
static uint64_t argument_of(const cx_ptx_function *function, const unsigned char *frame,
                            size_t index)
{
    const cx_ptx_parameter *parameter;
    uint64_t value = 0;

    index += function->result_count;
    if (index >= function->parameter_count)
        return 0;
    parameter = &function->parameters[index];
    memcpy(&value, frame + parameter->offset, parameter->bytes < 8 ? parameter->bytes : 8);
    return value;
}

static void return_value(const cx_ptx_function *function, unsigned char *frame, uint64_t value)
{
    if (function->result_count == 0)
        return;
    memcpy(frame + function->parameters[0].offset, &value,
           function->parameters[0].bytes < 8 ? function->parameters[0].bytes : 8);
}

/* __assertfail(message, file, line, function, bytes of a character) */
static void report_assertion(cx_ptx_grid *grid, cx_ptx_block *block, cx_ptx_thread *thread,
                             const cx_ptx_function *function, const unsigned char *frame)
{
    static const int strings[] = {0, 1, 3};
    const uint32_t *size = grid->launch->block;
    char names[3][NAME_BYTES] = {"?", "?", "?"}, text[4 * NAME_BYTES];
    int length;

    for (int i = 0; i < 3; i++) {
        uint64_t address = argument_of(function, frame, (size_t)strings[i]);

        if (address != 0 &&
            !cx_ptx_read_string(grid, block, thread, address, names[i], NAME_BYTES - 1))
            return;
    }
    length =
        snprintf(text, sizeof text,
                 "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
                 names[1], (unsigned)argument_of(function, frame, 2), names[2], block->index[0],
                 block->index[1], block->index[2], thread->index % size[0],
                 thread->index / size[0] % size[1], thread->index / size[0] / size[1], names[0]);
    if (length > 0 && grid->environment->print)
        grid->environment->print(grid->environment->self, text, (size_t)length, true);
    cx_ptx_thread_fail(grid, block, thread, CX_PTX_ASSERTION, 0);
}

static uint64_t allocate_memory(const cx_ptx_grid *grid, const cx_ptx_block *block,
                                const cx_ptx_thread *thread, uint64_t bytes)
{
    const cx_ptx_environment *environment = grid->environment;
    uint64_t address = environment->allocate ? environment->allocate(environment->self, bytes) : 0;

    if (grid->shadow && address && environment->allocated) {
        const cx_ptx_hazard_side by = cx_ptx_shadow_side_of(
            grid, block->index, thread->index, (uint32_t)(thread->next - grid->module->code));

        environment->allocated(environment->self, address, grid->kernel->name, &by);
    }
    return address;
}

static bool release_memory(cx_ptx_grid *grid, cx_ptx_block *block, cx_ptx_thread *thread,
                           uint64_t address)
{
    const cx_ptx_environment *environment = grid->environment;

    if (address == 0 || (environment->release && environment->release(environment->self, address)))
        return true;
    cx_ptx_thread_fail(grid, block, thread, CX_PTX_ILLEGAL_ADDRESS, address);
    return false;
}

/* A parameter that is a dim3. */
static void read_size(const cx_ptx_function *function, const unsigned char *frame, size_t index,
                      uint32_t out[3])
{
    const cx_ptx_parameter *parameter;

    memset(out, 0, 3 * sizeof *out);
    index += function->result_count;
    if (index >= function->parameter_count)
        return;
    parameter = &function->parameters[index];
    memcpy(out, frame + parameter->offset,
           parameter->bytes < 3 * sizeof *out ? parameter->bytes : 3 * sizeof *out);
}

/* prepare_child(kernel, blocks, threads, bytes of shared memory) */
static uint64_t prepare_child(cx_ptx_grid *grid, cx_ptx_thread *thread,
                              const cx_ptx_function *function, const unsigned char *frame)
{
    uint32_t blocks[3], threads[3];

    read_size(function, frame, 1, blocks);
    read_size(function, frame, 2, threads);
    return cx_ptx_child_prepare(grid, thread, argument_of(function, frame, 0), blocks, threads,
                                (uint32_t)argument_of(function, frame, 3));
}

/* last_error(whether it is forgotten) */
static uint64_t last_error(cx_ptx_thread *thread, bool forget)
{
    uint16_t error = thread->error;

    if (forget)
        thread->error = 0;
    return error;
}

/* ask_device(attribute) */
static uint64_t ask_device(const cx_ptx_environment *environment, uint32_t attribute)
{
    return environment->ask ? (uint64_t)environment->ask(environment->self, attribute)
                            : (uint64_t)INT64_MIN;
}

/* ask_kernel(kernel, attribute, threads of a block, bytes of dynamic shared memory) */
static uint64_t ask_kernel(const cx_ptx_grid *grid, const cx_ptx_function *function,
                           const unsigned char *frame)
{
    const cx_ptx_environment *environment = grid->environment;
    const cx_ptx_kernel_question question = {
        .kernel = cx_ptx_child_kernel(grid, argument_of(function, frame, 0)),
        .attribute = (uint32_t)argument_of(function, frame, 1),
        .threads = (uint32_t)argument_of(function, frame, 2),
        .shared_bytes = argument_of(function, frame, 3)};

    if (!question.kernel)
        return (uint64_t)INT64_MIN;
    if (question.attribute == CX_PTX_ASK_PARAMETERS)
        return question.kernel->parameter_bytes;
    return environment->ask_kernel
               ? (uint64_t)environment->ask_kernel(environment->self, &question)
               : (uint64_t)INT64_MIN;
}

bool cx_ptx_builtin_call(cx_ptx_grid *grid, cx_ptx_block *block, cx_ptx_thread *thread,
                         const cx_ptx_function *function, unsigned char *frame)
{
    const cx_ptx_environment *environment = grid->environment;
    uint64_t first = argument_of(function, frame, 0);
    uint32_t error;
    int32_t count;

    switch (function->builtin) {
    case CX_PTX_BUILTIN_PRINT:
        if (!cx_ptx_print(grid, block, thread, first, argument_of(function, frame, 1), &count))
            return false;
        return_value(function, frame, (uint64_t)count);
        return true;
    case CX_PTX_BUILTIN_ALLOCATE:
        return_value(function, frame, allocate_memory(grid, block, thread, first));
        return true;
    case CX_PTX_BUILTIN_RELEASE:
        return release_memory(grid, block, thread, first);
    case CX_PTX_BUILTIN_PREPARE_CHILD:
        return_value(function, frame, prepare_child(grid, thread, function, frame));
        return true;
    case CX_PTX_BUILTIN_LAUNCH_CHILD:
        if (!cx_ptx_child_launch(grid, block, thread, first, argument_of(function, frame, 1),
                                 &error))
            return false;
        return_value(function, frame, error);
        return true;
    case CX_PTX_BUILTIN_LAST_ERROR:
        return_value(function, frame, last_error(thread, first != 0));
        return true;
    case CX_PTX_BUILTIN_CREATE_STREAM:
        return_value(function, frame, cx_ptx_child_create_stream(grid));
        return true;
    case CX_PTX_BUILTIN_ASK_DEVICE:
        return_value(function, frame, ask_device(environment, (uint32_t)first));
        return true;
    case CX_PTX_BUILTIN_ASK_KERNEL:
        return_value(function, frame, ask_kernel(grid, function, frame));
        return true;
    case CX_PTX_BUILTIN_SET_CONDITION:
        if (environment->set_condition)
            environment->set_condition(environment->self, first,
                                       (uint32_t)argument_of(function, frame, 1));
        return true;
    default:
        report_assertion(grid, block, thread, function, frame);
        return false;
    }
}
