#include "ptx/stack.h"

#include "ptx/liveness.h"
#include <stdlib.h>

#define RECURSIONS 48
#define ALLOCATED_BYTES ((size_t)16 << 10) /* room for alloca */

enum { UNSEEN, OPEN, MEASURED };

/* A function whose calls are being measured. */
typedef struct visit {
    size_t function, next_call;
} visit;

/* The call's number in the caller. */
static void count_call(cx_ptx_function *caller, const cx_ptx_function *callee, size_t call)
{
    size_t words = caller->words + callee->stack_words;
    size_t longs = caller->longs + callee->stack_longs;
    size_t bytes = caller->frame_bytes + callee->stack_bytes;
    size_t registers = caller->live_at_calls[call] + callee->stack_registers;

    if (words > caller->stack_words)
        caller->stack_words = words;
    if (longs > caller->stack_longs)
        caller->stack_longs = longs;
    if (bytes > caller->stack_bytes)
        caller->stack_bytes = bytes;
    if (registers > caller->stack_registers)
        caller->stack_registers = registers;
    caller->prints |= callee->prints;
    caller->uses_heap |= callee->uses_heap;
}

static void note_builtin(cx_ptx_function *function)
{
    cx_ptx_builtin own = function->defined ? CX_PTX_NO_BUILTIN : function->builtin;

    function->prints = own == CX_PTX_BUILTIN_PRINT;
    function->uses_heap = own == CX_PTX_BUILTIN_ALLOCATE || own == CX_PTX_BUILTIN_RELEASE;
}

/* True if a function that `root` can reach is recursive. */
static bool measure_from(cx_ptx_module *module, size_t root, visit *path)
{
    size_t depth = 0;
    bool recursive = false;

    path[depth++] = (visit){root, 0};
    while (depth > 0) {
        visit *top = &path[depth - 1];
        cx_ptx_function *function = &module->functions[top->function];

        if (top->next_call == 0 && function->mark == UNSEEN) {
            function->mark = OPEN;
            note_builtin(function);
            function->stack_words = function->words;
            function->stack_longs = function->longs;
            function->stack_registers = cx_ptx_live_registers(function);
            function->stack_bytes =
                function->frame_bytes + (function->allocates ? ALLOCATED_BYTES : 0);
        }
        if (top->next_call == function->call_count) {
            function->mark = MEASURED;
            if (--depth > 0)
                count_call(&module->functions[path[depth - 1].function], function,
                           path[depth - 1].next_call - 1);
            continue;
        }
        size_t callee = function->calls[top->next_call++];
        if (module->functions[callee].mark == UNSEEN)
            path[depth++] = (visit){callee, 0};
        else if (module->functions[callee].mark == OPEN)
            recursive = true;
        else
            count_call(function, &module->functions[callee], top->next_call - 1);
    }
    return recursive;
}

static void make_room_for_recursion(cx_ptx_module *module)
{
    size_t words = 0, longs = 0, bytes = 0;

    for (size_t i = 0; i < module->function_count; i++) {
        if (module->functions[i].words > words)
            words = module->functions[i].words;
        if (module->functions[i].longs > longs)
            longs = module->functions[i].longs;
        if (module->functions[i].frame_bytes > bytes)
            bytes = module->functions[i].frame_bytes;
    }
    for (size_t i = 0; i < module->function_count; i++) {
        if (module->functions[i].call_count == 0 && !module->functions[i].calls_indirectly)
            continue;
        module->functions[i].stack_words += words * RECURSIONS;
        module->functions[i].stack_longs += longs * RECURSIONS;
        module->functions[i].stack_bytes += bytes * RECURSIONS;
    }
}

/* Any function may be called by its address. */
static void count_indirect_calls(cx_ptx_module *module)
{
    cx_ptx_function any = {.stack_registers = CX_PTX_REGISTERS_OF_CALLEE};

    for (size_t i = 0; i < module->function_count; i++) {
        const cx_ptx_function *callee = &module->functions[i];

        if (callee->kernel)
            continue;
        if (callee->stack_registers > any.stack_registers)
            any.stack_registers = callee->stack_registers;
        any.prints |= callee->prints;
        any.uses_heap |= callee->uses_heap;
    }
    for (size_t i = 0; i < module->function_count; i++) {
        cx_ptx_function *caller = &module->functions[i];

        if (!caller->calls_indirectly)
            continue;
        if (caller->stack_registers < any.stack_registers)
            caller->stack_registers = any.stack_registers;
        caller->prints |= any.prints;
        caller->uses_heap |= any.uses_heap;
    }
}

/* Callees must be defined, or those that every device has. */
static bool check_callees(cx_ptx_parser *self)
{
    for (size_t i = 0; i < self->module->function_count; i++) {
        cx_ptx_function *caller = &self->module->functions[i];

        for (size_t call = 0; call < caller->call_count; call++) {
            const cx_ptx_function *callee = &self->module->functions[caller->calls[call]];

            if (!callee->defined && callee->builtin == CX_PTX_NO_BUILTIN)
                return CX_PTX_INVALID_AT(self, "unresolved extern function '%.60s'",
                                         callee->name);
        }
    }
    return true;
}

bool cx_ptx_measure_stacks(cx_ptx_parser *self)
{
    cx_ptx_module *module = self->module;
    visit *path = calloc(module->function_count + 1, sizeof *path);
    bool recursive = false;

    if (!path)
        return cx_ptx_no_memory(self);
    for (size_t i = 0; i < module->function_count; i++)
        if (module->functions[i].mark == UNSEEN)
            recursive |= measure_from(module, i, path);
    for (size_t i = 0; i < module->function_count; i++)
        recursive |= module->functions[i].calls_indirectly;
    count_indirect_calls(module);
    free(path);
    if (recursive)
        make_room_for_recursion(module);
    return check_callees(self);
}
