#include "ptx/builtin.h"

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
                {"free", CX_PTX_BUILTIN_RELEASE}};

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
    length = snprintf(text, sizeof text,
                      "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
                      names[1], (unsigned)argument_of(function, frame, 2), names[2],
                      block->index[0], block->index[1], block->index[2], thread->index % size[0],
                      thread->index / size[0] % size[1], thread->index / size[0] / size[1],
                      names[0]);
    if (length > 0 && grid->environment->print)
        grid->environment->print(grid->environment->self, text, (size_t)length, true);
    cx_ptx_thread_fail(grid, block, thread, CX_PTX_ASSERTION, 0);
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

bool cx_ptx_builtin_call(cx_ptx_grid *grid, cx_ptx_block *block, cx_ptx_thread *thread,
                         const cx_ptx_function *function, unsigned char *frame)
{
    const cx_ptx_environment *environment = grid->environment;
    uint64_t first = argument_of(function, frame, 0);
    int32_t count;

    switch (function->builtin) {
    case CX_PTX_BUILTIN_PRINT:
        if (!cx_ptx_print(grid, block, thread, first, argument_of(function, frame, 1), &count))
            return false;
        return_value(function, frame, (uint64_t)count);
        return true;
    case CX_PTX_BUILTIN_ALLOCATE:
        return_value(function, frame,
                     environment->allocate ? environment->allocate(environment->self, first) : 0);
        return true;
    case CX_PTX_BUILTIN_RELEASE:
        return release_memory(grid, block, thread, first);
    default:
        report_assertion(grid, block, thread, function, frame);
        return false;
    }
}
