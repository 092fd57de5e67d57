/* Calls and returns of running threads. */
#include "ptx/builtin.h"
#include "ptx/grid.h"

#include <string.h>

/* Copies the slots that every function has from the caller to the callee. */
static bool enter_function(cx_ptx_grid *grid, cx_ptx_thread *thread, const cx_ptx_instruction *at,
                           size_t index)
{
    const cx_ptx_function *functions = grid->module->functions;
    const cx_ptx_function *callee = &functions[index];
    const cx_ptx_function *caller = &functions[thread->slots[CX_PTX_SLOT_FUNCTION].u64];
    cx_ptx_slot *slots = thread->slots + caller->slots;
    uint64_t frame = thread->slots[CX_PTX_SLOT_TOP].u64;

    if ((size_t)(slots - thread->first_slots) + callee->slots > grid->slots_of_thread ||
        frame + callee->frame_bytes > grid->local_of_thread)
        return false;
    memcpy(slots, thread->slots, CX_PTX_SLOTS_FIXED * sizeof *slots);
    memcpy(slots + CX_PTX_SLOTS_FIXED, callee->constant, callee->constants * sizeof *slots);
    slots[CX_PTX_SLOT_LOCAL].u64 = frame;
    slots[CX_PTX_SLOT_TOP].u64 = frame + callee->frame_bytes;
    slots[CX_PTX_SLOT_RETURN].u64 = (uint64_t)(at + 1 - grid->module->code);
    slots[CX_PTX_SLOT_CALLER].u64 = thread->slots[CX_PTX_SLOT_FUNCTION].u64;
    slots[CX_PTX_SLOT_FUNCTION].u64 = index;
    thread->slots = slots;
    thread->next = grid->module->code + callee->begin;
    return true;
}

static bool find_callee(const cx_ptx_grid *grid, const cx_ptx_thread *thread,
                        const cx_ptx_instruction *at, size_t *out_index)
{
    const cx_ptx_module *module = grid->module;
    const cx_ptx_function *prototype = &module->functions[at->immediate], *callee;
    uint64_t number;

    *out_index = (size_t)at->immediate;
    if (at->op == CX_PTX_CALL)
        return true;
    number = thread->slots[at->a].u64 - CX_PTX_WINDOW_CODE;
    if (number % 16 != 0 || number == 0 || number / 16 > module->function_count)
        return false;
    *out_index = number / 16 - 1;
    callee = &module->functions[*out_index];
    return callee->defined && !callee->kernel && cx_ptx_is_same_prototype(prototype, callee);
}

static bool call_builtin(cx_ptx_grid *grid, cx_ptx_block *block, cx_ptx_thread *thread,
                         const cx_ptx_function *callee)
{
    uint64_t frame = thread->slots[CX_PTX_SLOT_TOP].u64;

    if (frame + callee->frame_bytes > grid->local_of_thread) {
        cx_ptx_thread_fail(grid, block, thread, CX_PTX_STACK_OVERFLOW, 0);
        return false;
    }
    if (!cx_ptx_builtin_call(grid, block, thread, callee, thread->local + frame))
        return false;
    thread->next++;
    return true;
}

bool cx_ptx_call(cx_ptx_grid *grid, cx_ptx_block *block, cx_ptx_thread *thread,
                 const cx_ptx_instruction *at)
{
    const cx_ptx_function *callee;
    size_t index;

    thread->next = at;
    if (!find_callee(grid, thread, at, &index)) {
        cx_ptx_thread_fail(grid, block, thread, CX_PTX_ILLEGAL_INSTRUCTION, 0);
        return false;
    }
    callee = &grid->module->functions[index];
    if (!callee->defined)
        return call_builtin(grid, block, thread, callee);
    if (enter_function(grid, thread, at, index))
        return true;
    cx_ptx_thread_fail(grid, block, thread, CX_PTX_STACK_OVERFLOW, 0);
    return false;
}

void cx_ptx_return(cx_ptx_grid *grid, cx_ptx_thread *thread)
{
    uint64_t caller = thread->slots[CX_PTX_SLOT_CALLER].u64;

    thread->next = grid->module->code + thread->slots[CX_PTX_SLOT_RETURN].u64;
    thread->slots -= grid->module->functions[caller].slots;
}

static bool fail_frame(cx_ptx_grid *grid, const cx_ptx_block *block, cx_ptx_thread *thread,
                       const cx_ptx_instruction *at)
{
    thread->next = at;
    cx_ptx_thread_fail(grid, block, thread, CX_PTX_STACK_OVERFLOW, 0);
    return false;
}

bool cx_ptx_copy_argument(cx_ptx_grid *grid, const cx_ptx_block *block, cx_ptx_thread *thread,
                          const cx_ptx_instruction *at)
{
    uint64_t own = thread->slots[CX_PTX_SLOT_LOCAL].u64;
    uint64_t other = thread->slots[CX_PTX_SLOT_TOP].u64 + at->b;

    own += at->a;
    if (own + at->c > grid->local_of_thread || other + at->c > grid->local_of_thread)
        return fail_frame(grid, block, thread, at);
    if (at->op == CX_PTX_ARGUMENT)
        memcpy(thread->local + other, thread->local + own, at->c);
    else
        memcpy(thread->local + own, thread->local + other, at->c);
    return true;
}

bool cx_ptx_change_frame(cx_ptx_grid *grid, const cx_ptx_block *block, cx_ptx_thread *thread,
                         const cx_ptx_instruction *at)
{
    const cx_ptx_function *function =
        &grid->module->functions[thread->slots[CX_PTX_SLOT_FUNCTION].u64];
    uint64_t least = thread->slots[CX_PTX_SLOT_LOCAL].u64 + function->frame_bytes;
    uint64_t *top = &thread->slots[CX_PTX_SLOT_TOP].u64, value = thread->slots[at->a].u64;
    uint64_t begin = (*top + at->align - 1) & ~(uint64_t)(at->align - 1);

    if (at->op == CX_PTX_RESTORE) {
        if (value < least || value > *top)
            return fail_frame(grid, block, thread, at);
        *top = value;
        return true;
    }
    if (begin > grid->local_of_thread || value > grid->local_of_thread - begin)
        return fail_frame(grid, block, thread, at);
    *top = (begin + value + 15) & ~(uint64_t)15;
    thread->slots[at->d].u64 = begin;
    return true;
}
