/* A grid as a whole, and the threads of the host that run it. */
#include "ptx/block.h"
#include "ptx/child.h"
#include "ptx/cluster.h"
#include "ptx/crew.h"
#include "ptx/lanes.h"

#include <stdlib.h>
#include <string.h>

#define RESIDENT_MAX 4096
#define DYNAMIC_ALIGN 16 /* of shared memory */

/* ---- blocks ---- */

/* Takes the next cluster. False: there is none left for this thread of the host. */
static bool begin_next(cx_ptx_grid *grid, cx_ptx_cluster *cluster, unsigned rank)
{
    cx_ptx_crew *crew = grid->crew;

    if ((rank > 0 && cx_ptx_crew_is_too_large(crew, rank)) ||
        !cx_ptx_crew_take(crew, &grid->number))
        return false;
    cx_ptx_cluster_begin(grid, cluster, grid->number);
    return true;
}

/* Runs so many clusters at the same time, in turns, until none is left. */
static void run_clusters(cx_ptx_grid *grid, cx_ptx_cluster *clusters, size_t count, unsigned rank)
{
    size_t running;
    bool more = true;

    do {
        running = 0;
        for (size_t i = 0; i < count; i++) {
            if (cx_ptx_cluster_ended(&clusters[i]) &&
                (!more || !(more = begin_next(grid, &clusters[i], rank))))
                continue;
            running++;
            cx_ptx_cluster_turn(grid, &clusters[i]);
            if (grid->outcome != CX_PTX_DONE)
                return;
        }
    } while (running > 0);
}

/* The blocks of a cooperative grid wait for each other; else only those of a cluster do. */
static void run_blocks(cx_ptx_grid *grid, unsigned rank)
{
    const size_t most = (RESIDENT_MAX + grid->blocks_in_cluster - 1) / grid->blocks_in_cluster;
    const uint64_t total = grid->launch->cooperative ? grid->crew->total : 1;
    const size_t count = total <= most ? (size_t)total : most;
    size_t allocated = 0;
    cx_ptx_cluster one = {0};
    cx_ptx_cluster *clusters = count > 1 ? calloc(count, sizeof *clusters) : &one;

    if (clusters)
        while (allocated < count && cx_ptx_cluster_allocate(grid, &clusters[allocated]))
            allocated++;
    if (allocated == count)
        run_clusters(grid, clusters, count, rank);
    else
        grid->outcome = CX_PTX_OUT_OF_MEMORY;
    while (allocated > 0)
        cx_ptx_cluster_free(&clusters[--allocated]);
    if (clusters != &one)
        free(clusters);
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
        run_blocks(grid, helper->rank);
        if (grid->outcome != CX_PTX_OUT_OF_MEMORY)
            report(grid);
    }
    free(grid->views);
    free(grid);
}

/* ---- the grid ---- */

static size_t round_to_unit(size_t bytes, unsigned unit)
{
    return unit > 1 ? (bytes + unit - 1) / unit * unit : bytes;
}

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
    grid->dynamic_begin = (kernel->shared_bytes + DYNAMIC_ALIGN - 1) & ~(size_t)(DYNAMIC_ALIGN - 1);
    grid->shared_bytes = round_to_unit(grid->dynamic_begin + launch->shared_bytes,
                                       grid->environment->shared_unit);
    grid->shared_spare = grid->shared_bytes - grid->dynamic_begin - launch->shared_bytes;
    cx_ptx_cluster_size(grid);
    if (kernel->parameter_bytes > 0)
        memcpy(grid->parameters, launch->parameters, kernel->parameter_bytes);
}

/* Blocks that print or allocate run one by one, so that both happen in their order. */
static unsigned cores_for(const cx_ptx_module *module, const cx_ptx_launch *launch,
                          const cx_ptx_environment *environment, uint64_t blocks)
{
    if (launch->cooperative || blocks < 2 || cx_ptx_uses_builtins(module))
        return 1;
    return environment->cores > 1 ? environment->cores : 1;
}

static void run_grid(cx_ptx_grid *grid, uint64_t total, unsigned cores)
{
    cx_ptx_crew_begin(grid->crew, grid, total, cores);
    run_blocks(grid, 0);
    report(grid);
    cx_ptx_crew_end(grid->crew);
}

static cx_ptx_outcome run_one(const cx_ptx_module *module, const cx_ptx_function *kernel,
                              const cx_ptx_launch *launch, const cx_ptx_environment *environment,
                              cx_ptx_children *children, cx_ptx_fault *out_fault)
{
    uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    unsigned cores = cores_for(module, launch, environment, blocks);
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
        run_grid(grid, blocks / grid->blocks_in_cluster, cores);
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
