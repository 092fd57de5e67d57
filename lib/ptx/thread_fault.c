/* A thread fails: the first one ends its grid, and says where it was. */
#include "ptx/grid.h"

void cx_ptx_thread_fail(cx_ptx_grid *grid, const cx_ptx_block *block, const cx_ptx_thread *thread,
                        cx_ptx_outcome outcome, uint64_t address)
{
    const uint32_t *size = grid->launch->block;
    const cx_ptx_module *module = grid->module;
    size_t code = ((uintptr_t)thread->next - (uintptr_t)module->code) / sizeof *module->code;

    if (grid->outcome != CX_PTX_DONE)
        return;
    grid->outcome = outcome;
    *grid->fault = (cx_ptx_fault){
        .kernel = grid->kernel->name,
        .block = {block->index[0], block->index[1], block->index[2]},
        .thread = {thread->index % size[0], thread->index / size[0] % size[1],
                   thread->index / size[0] / size[1]},
        .line = thread->next->line,
        .address = address,
    };
    if (code < module->code_count)
        grid->fault->source = cx_ptx_source_of(module, code, &grid->fault->source_line);
}

void cx_ptx_thread_refuse(cx_ptx_grid *grid, const cx_ptx_block *block, const cx_ptx_thread *thread,
                          const char *reason)
{
    bool first = grid->outcome == CX_PTX_DONE;

    cx_ptx_thread_fail(grid, block, thread, CX_PTX_ILLEGAL_INSTRUCTION, 0);
    if (first)
        grid->fault->reason = reason;
}
