/* A grid as a whole, and the threads of the host that run it. */
#include "ptx/block.h"
#include "ptx/child.h"
#include "ptx/crew.h"
#include "ptx/lanes.h"

#include <stdlib.h>
#include <string.h>

#define RESIDENT_MAX 4096
#define DYNAMIC_ALIGN 16 /* of shared memory */

/* ---- all blocks together ---- */

static void run_together(cx_ptx_grid *grid, cx_ptx_block *blocks, size_t count, uint64_t total)
{
    uint64_t next = 0, left = total;

    while (left > 0)
        for (size_t i = 0; i < count; i++) {
            if (!blocks[i].used && next < total)
                cx_ptx_block_begin(grid, &blocks[i], next++);
            if (!blocks[i].used)
                continue;
            cx_ptx_block_turn(grid, &blocks[i]);
            if (grid->outcome != CX_PTX_DONE)
                return;
            left -= !blocks[i].used;
        }
}

/* The blocks of a cooperative grid wait for each other. */
static void run_cooperative(cx_ptx_grid *grid, uint64_t total)
{
    size_t count = total <= RESIDENT_MAX ? (size_t)total : RESIDENT_MAX, allocated = 0;
    cx_ptx_block *blocks = calloc(count, sizeof *blocks);

    if (blocks)
        while (allocated < count && cx_ptx_block_allocate(grid, &blocks[allocated]))
            allocated++;
    if (allocated == count)
        run_together(grid, blocks, count, total);
    else
        grid->outcome = CX_PTX_OUT_OF_MEMORY;
    while (allocated > 0)
        cx_ptx_block_free(&blocks[--allocated]);
    free(blocks);
}

/* ---- one block after the other ---- */

static void run_in_turn(cx_ptx_grid *grid, unsigned rank)
{
    cx_ptx_crew *crew = grid->crew;
    cx_ptx_block block = {0};

    if (!cx_ptx_block_allocate(grid, &block)) {
        grid->outcome = CX_PTX_OUT_OF_MEMORY;
        return;
    }
    while (grid->outcome == CX_PTX_DONE && !(rank > 0 && cx_ptx_crew_is_too_large(crew, rank)) &&
           cx_ptx_crew_take(crew, &grid->number)) {
        cx_ptx_block_begin(grid, &block, grid->number);
        while (block.used && grid->outcome == CX_PTX_DONE)
            cx_ptx_block_turn(grid, &block);
    }
    cx_ptx_block_free(&block);
}

static void report(const cx_ptx_grid *grid)
{
    if (grid->outcome != CX_PTX_DONE && !grid->gave_up)
        cx_ptx_crew_fail(grid->crew, grid->number, grid->outcome, grid->fault);
}

/* A helper that finds no memory leaves the blocks to others. */
void cx_ptx_help(cx_ptx_helper *helper)
{
    cx_ptx_grid *grid = malloc(sizeof *grid);
    cx_ptx_fault fault = {0};

    if (!grid)
        return;
    *grid = helper->crew->grid;
    grid->helps = true;
    grid->outcome = CX_PTX_DONE;
    grid->fault = &fault;
    grid->views = calloc(grid->module->sites + 1, sizeof *grid->views);
    if (grid->views) {
        run_in_turn(grid, helper->rank);
        if (grid->outcome != CX_PTX_OUT_OF_MEMORY)
            report(grid);
    }
    free(grid->views);
    free(grid);
}

/* ---- the grid ---- */

static void fill_grid(cx_ptx_grid *grid)
{
    const cx_ptx_launch *launch = grid->launch;
    const cx_ptx_function *kernel = grid->kernel;

    grid->threads_in_block = launch->block[0] * launch->block[1] * launch->block[2];
    grid->words_of_warp = kernel->stack_words;
    grid->longs_of_warp = kernel->stack_longs;
    grid->bytes_of_warp = (CX_PTX_FRAMES_BEGIN + grid->words_of_warp * CX_PTX_WORDS_BYTES +
                           grid->longs_of_warp * CX_PTX_LONGS_BYTES + CX_PTX_ROW_ALIGN) &
                          ~(size_t)(CX_PTX_ROW_ALIGN - 1);
    grid->local_of_thread = kernel->stack_bytes;
    grid->shared_bytes =
        ((kernel->shared_bytes + DYNAMIC_ALIGN - 1) & ~(size_t)(DYNAMIC_ALIGN - 1)) +
        launch->shared_bytes;
    if (kernel->parameter_bytes > 0)
        memcpy(grid->parameters, launch->parameters, kernel->parameter_bytes);
}

/* Blocks that print or allocate run one by one, so that both happen in their order. */
static unsigned cores_for(const cx_ptx_module *module, const cx_ptx_launch *launch,
                          const cx_ptx_environment *environment, uint64_t total)
{
    if (launch->cooperative || total < 2 || cx_ptx_uses_builtins(module))
        return 1;
    return environment->cores > 1 ? environment->cores : 1;
}

static void run_grid(cx_ptx_grid *grid, uint64_t total, unsigned cores)
{
    cx_ptx_crew_begin(grid->crew, grid, total, cores);
    if (grid->launch->cooperative)
        run_cooperative(grid, total);
    else
        run_in_turn(grid, 0);
    report(grid);
    cx_ptx_crew_end(grid->crew);
}

static cx_ptx_outcome run_one(const cx_ptx_module *module, const cx_ptx_function *kernel,
                              const cx_ptx_launch *launch, const cx_ptx_environment *environment,
                              cx_ptx_children *children, cx_ptx_fault *out_fault)
{
    uint64_t total = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    unsigned cores = cores_for(module, launch, environment, total);
    cx_ptx_grid *grid = calloc(1, sizeof *grid);
    cx_ptx_crew *crew = calloc(1, sizeof *crew + (cores - 1) * sizeof *crew->helpers);
    cx_ptx_view *views = calloc(module->sites + 1, sizeof *views);
    cx_ptx_outcome outcome = CX_PTX_OUT_OF_MEMORY;
    cx_ptx_fault fault = {0};

    if (grid && crew && views) {
        grid->module = module;
        grid->lanes = cx_ptx_lanes_find(environment->code);
        grid->kernel = kernel;
        grid->launch = launch;
        grid->environment = environment;
        grid->children = children;
        grid->crew = crew;
        grid->views = views;
        grid->fault = &fault;
        fill_grid(grid);
        run_grid(grid, total, cores);
        outcome = crew->outcome;
        *out_fault = crew->fault;
    }
    free(views);
    free(crew);
    free(grid);
    return outcome;
}

cx_ptx_outcome cx_ptx_run(const cx_ptx_module *module, const cx_ptx_function *kernel,
                          const cx_ptx_launch *launch, const cx_ptx_environment *environment,
                          cx_ptx_fault *out_fault)
{
    cx_ptx_children children = {0};
    cx_ptx_outcome outcome = run_one(module, kernel, launch, environment, &children, out_fault);
    cx_ptx_child *child;

    while (outcome == CX_PTX_DONE && (child = cx_ptx_children_take(&children)) != NULL) {
        outcome = run_one(module, child->kernel, &child->launch, environment, &children, out_fault);
        free(child);
    }
    cx_ptx_children_drop(&children, environment);
    return outcome;
}
