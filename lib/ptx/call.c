/* Calls and returns of running threads. */
#include "ptx/builtin.h"
#include "ptx/grid.h"

#include <string.h>

static uint64_t get(const cx_ptx_grid *grid, const cx_ptx_block *block, const cx_ptx_thread *thread,
                    uint32_t fixed)
{
    return cx_ptx_thread_get(grid, block, thread, cx_ptx_fixed_place(fixed));
}

static void put(const cx_ptx_grid *grid, const cx_ptx_block *block, const cx_ptx_thread *thread,
                uint32_t fixed, uint64_t value)
{
    cx_ptx_thread_put(grid, block, thread, cx_ptx_fixed_place(fixed), value);
}

static bool enter_function(cx_ptx_grid *grid, const cx_ptx_block *block, cx_ptx_thread *thread,
                           const cx_ptx_instruction *at, size_t index)
{
    const cx_ptx_function *functions = grid->module->functions;
    const cx_ptx_function *callee = &functions[index];
    uint32_t caller = thread->function;
    uint32_t words = thread->words + functions[caller].words;
    uint32_t longs = thread->longs + functions[caller].longs;
    uint64_t frame = get(grid, block, thread, CX_PTX_SLOT_TOP);

    if ((size_t)words + callee->words > grid->words_of_warp ||
        (size_t)longs + callee->longs > grid->longs_of_warp ||
        frame + callee->frame_bytes > grid->local_of_thread)
        return false;
    thread->words = words;
    thread->longs = longs;
    thread->function = (uint32_t)index;
    thread->next = grid->module->code + callee->begin;
    put(grid, block, thread, CX_PTX_SLOT_LOCAL, frame);
    put(grid, block, thread, CX_PTX_SLOT_TOP, frame + callee->frame_bytes);
    put(grid, block, thread, CX_PTX_SLOT_RETURN, (uint64_t)(at + 1 - grid->module->code));
    put(grid, block, thread, CX_PTX_SLOT_CALLER, caller);
    return true;
}

static bool find_callee(const cx_ptx_grid *grid, const cx_ptx_block *block,
                        const cx_ptx_thread *thread, const cx_ptx_instruction *at,
                        size_t *out_index)
{
    const cx_ptx_module *module = grid->module;
    const cx_ptx_function *prototype = &module->functions[at->immediate], *callee;
    uint64_t number;

    *out_index = (size_t)at->immediate;
    if (at->op == CX_PTX_CALL)
        return true;
    number = cx_ptx_thread_get(grid, block, thread, at->a) - CX_PTX_WINDOW_CODE;
    if (number % 16 != 0 || number == 0 || number / 16 > module->function_count)
        return false;
    *out_index = number / 16 - 1;
    callee = &module->functions[*out_index];
    return callee->defined && !callee->kernel && cx_ptx_is_same_prototype(prototype, callee);
}

static bool call_builtin(cx_ptx_grid *grid, cx_ptx_block *block, cx_ptx_thread *thread,
                         const cx_ptx_function *callee)
{
    uint64_t frame = get(grid, block, thread, CX_PTX_SLOT_TOP);

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
    if (!find_callee(grid, block, thread, at, &index)) {
        cx_ptx_thread_refuse(grid, block, thread, "no function has the address that is called");
        return false;
    }
    callee = &grid->module->functions[index];
    if (!callee->defined)
        return call_builtin(grid, block, thread, callee);
    if (enter_function(grid, block, thread, at, index))
        return true;
    cx_ptx_thread_fail(grid, block, thread, CX_PTX_STACK_OVERFLOW, 0);
    return false;
}

void cx_ptx_return(const cx_ptx_grid *grid, const cx_ptx_block *block, cx_ptx_thread *thread)
{
    uint32_t caller = (uint32_t)get(grid, block, thread, CX_PTX_SLOT_CALLER);

    thread->next = grid->module->code + get(grid, block, thread, CX_PTX_SLOT_RETURN);
    thread->words -= grid->module->functions[caller].words;
    thread->longs -= grid->module->functions[caller].longs;
    thread->function = caller;
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
    uint64_t own = get(grid, block, thread, CX_PTX_SLOT_LOCAL);
    uint64_t other = get(grid, block, thread, CX_PTX_SLOT_TOP) + at->b;

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
    const cx_ptx_function *function = &grid->module->functions[thread->function];
    uint64_t least = get(grid, block, thread, CX_PTX_SLOT_LOCAL) + function->frame_bytes;
    uint64_t top = get(grid, block, thread, CX_PTX_SLOT_TOP);
    uint64_t value = cx_ptx_thread_get(grid, block, thread, at->a);
    uint64_t begin = (top + at->align - 1) & ~(uint64_t)(at->align - 1);

    if (at->op == CX_PTX_RESTORE) {
        if (value < least || value > top)
            return fail_frame(grid, block, thread, at);
        put(grid, block, thread, CX_PTX_SLOT_TOP, value);
        return true;
    }
    if (begin > grid->local_of_thread || value > grid->local_of_thread - begin)
        return fail_frame(grid, block, thread, at);
    put(grid, block, thread, CX_PTX_SLOT_TOP, (begin + value + 15) & ~(uint64_t)15);
    cx_ptx_thread_put(grid, block, thread, at->d, begin);
    return true;
}
