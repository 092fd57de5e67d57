/* A grid as a whole, and the threads of the host that run it. */
#include "ptx/block.h"
#include "ptx/cluster.h"
#include "ptx/dynamic_parallelism.h"
#include "ptx/lanes.h"
#include "ptx/room.h"
#include "ptx/shadow.h"
#include "ptx/worker_threads.h"

#include <stdlib.h>
#include <string.h>

#define RESIDENT_MAX 4096
#define DYNAMIC_ALIGN 16 /* of shared memory */
#define PARAMETERS_SPARE 16

/* ---- blocks ---- */

/* Takes the next cluster. False: there is none left for this thread of the host. */
static bool begin_next(cx_ptx_grid *grid, cx_ptx_cluster *cluster, unsigned rank)
{
    cx_ptx_workers *workers = grid->workers;

    if ((rank > 0 && cx_ptx_workers_is_too_large(workers, rank)) ||
        !cx_ptx_workers_take(workers, &grid->number))
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
static size_t clusters_at_once(const cx_ptx_grid *grid, uint64_t total)
{
    const size_t most = (RESIDENT_MAX + grid->blocks_in_cluster - 1) / grid->blocks_in_cluster;

    if (!grid->launch->cooperative)
        return 1;
    return total <= most ? (size_t)total : most;
}

static void run_blocks(cx_ptx_grid *grid, cx_ptx_room *room, unsigned rank)
{
    const size_t count = clusters_at_once(grid, grid->workers->total);
    cx_ptx_cluster *clusters = cx_ptx_room_take(room, count * sizeof *clusters);

    for (size_t i = 0; i < count; i++)
        cx_ptx_cluster_take(grid, room, &clusters[i]);
    run_clusters(grid, clusters, count, rank);
}

/* The bytes of the parts that run_blocks takes. */
static void count_blocks(const cx_ptx_grid *grid, uint64_t total, cx_ptx_room *room)
{
    const size_t count = clusters_at_once(grid, total);

    cx_ptx_room_take(room, count * sizeof(cx_ptx_cluster));
    for (size_t i = 0; i < count; i++)
        cx_ptx_cluster_take(grid, room, NULL);
}

static void report(const cx_ptx_grid *grid)
{
    if (grid->outcome != CX_PTX_DONE && !grid->gave_up)
        cx_ptx_workers_fail(grid->workers, grid->number, grid->outcome, grid->fault);
}

static size_t bytes_of_views(const cx_ptx_module *module)
{
    return (module->sites + 1) * sizeof(cx_ptx_view);
}

/* A helper that finds no memory leaves the blocks to others. */
void cx_ptx_help(cx_ptx_helper *helper)
{
    cx_ptx_grid grid = helper->workers->grid;
    cx_ptx_fault fault = {0};
    cx_ptx_room room = {0};

    cx_ptx_room_take(&room, bytes_of_views(grid.module));
    count_blocks(&grid, helper->workers->total, &room);
    if (!cx_ptx_room_open(&room, room.used))
        return;
    grid.helps = true;
    grid.outcome = CX_PTX_DONE;
    grid.fault = &fault;
    grid.views = cx_ptx_room_take(&room, bytes_of_views(grid.module));
    run_blocks(&grid, &room, helper->rank);
    report(&grid);
    cx_ptx_room_close(&room);
}

/* ---- the grid ---- */

static size_t round_to_unit(size_t bytes, unsigned unit)
{
    return unit > 1 ? (bytes + unit - 1) / unit * unit : bytes;
}

/* Finds the sizes of what the launch needs. */
static void measure_grid(cx_ptx_grid *grid)
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
}

/* Blocks that print or allocate run one by one, so that both happen in their order. */
static unsigned cores_for(const cx_ptx_module *module, const cx_ptx_launch *launch, unsigned cores)
{
    if (launch->cooperative || (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2] < 2 ||
        cx_ptx_uses_builtins(module))
        return 1;
    return cores > 1 ? cores : 1;
}

static uint64_t clusters_of(const cx_ptx_grid *grid)
{
    const uint32_t *blocks = grid->launch->grid;

    return (uint64_t)blocks[0] * blocks[1] * blocks[2] / grid->blocks_in_cluster;
}

static size_t bytes_of_workers(unsigned cores)
{
    return sizeof(cx_ptx_workers) + (cores - 1) * sizeof(cx_ptx_helper);
}

/* Code that reads more at once than a parameter has finds zeroes behind them. */
static size_t bytes_of_parameters(const cx_ptx_function *kernel)
{
    return kernel->parameter_bytes + PARAMETERS_SPARE;
}

/* The room of the launching thread. */
static size_t bytes_of_room(const cx_ptx_grid *grid, unsigned cores)
{
    cx_ptx_room counted = {0};

    cx_ptx_room_take(&counted, bytes_of_workers(cores));
    cx_ptx_room_take(&counted, bytes_of_views(grid->module));
    cx_ptx_room_take(&counted, bytes_of_parameters(grid->kernel));
    count_blocks(grid, clusters_of(grid), &counted);
    return counted.used;
}

static void run_in_room(cx_ptx_grid *grid, cx_ptx_room *room, unsigned cores)
{
    grid->workers = cx_ptx_room_take(room, bytes_of_workers(cores));
    grid->views = cx_ptx_room_take(room, bytes_of_views(grid->module));
    grid->parameters = cx_ptx_room_take(room, bytes_of_parameters(grid->kernel));
    if (grid->kernel->parameter_bytes > 0)
        memcpy(grid->parameters, grid->launch->parameters, grid->kernel->parameter_bytes);
    cx_ptx_workers_begin(grid->workers, grid, clusters_of(grid), cores);
    run_blocks(grid, room, 0);
    report(grid);
    cx_ptx_workers_end(grid->workers);
}

/* A launch that was accepted has its reserve: it may have to wait for that. */
static cx_ptx_outcome open_room(cx_ptx_room *room, size_t bytes,
                                const cx_ptx_environment *environment)
{
    if (cx_ptx_room_open(room, bytes))
        return CX_PTX_DONE;
    while (cx_ptx_reserve_suffices(bytes)) {
        if (cx_ptx_room_open_reserve(room, bytes))
            return CX_PTX_DONE;
        if (!cx_ptx_await_memory(environment))
            return CX_PTX_STOPPED;
    }
    return CX_PTX_OUT_OF_MEMORY;
}

static cx_ptx_outcome run_one(const cx_ptx_module *module, const cx_ptx_function *kernel,
                              const cx_ptx_launch *launch, const cx_ptx_environment *environment,
                              cx_ptx_children *children, cx_ptx_fault *out_fault)
{
    const unsigned cores =
        environment->hazard ? 1 : cores_for(module, launch, environment->cores);
    cx_ptx_fault fault = {.kernel = kernel->name};
    cx_ptx_grid grid = {.module = module,
                        .lanes = cx_ptx_lanes_find(environment->code),
                        .kernel = kernel,
                        .launch = launch,
                        .environment = environment,
                        .children = children,
                        .fault = &fault};
    cx_ptx_room room;
    cx_ptx_outcome outcome;

    measure_grid(&grid);
    outcome = open_room(&room, bytes_of_room(&grid, cores), environment);
    if (outcome != CX_PTX_DONE) {
        *out_fault = fault;
        return outcome;
    }
    grid.shadow = cx_ptx_shadow_new(&grid);
    run_in_room(&grid, &room, cores);
    cx_ptx_shadow_free(grid.shadow);
    outcome = grid.workers->outcome;
    *out_fault = grid.workers->fault;
    cx_ptx_room_close(&room);
    return outcome;
}

bool cx_ptx_launch_reserve(const cx_ptx_module *module, const cx_ptx_function *kernel,
                           const cx_ptx_launch *launch, unsigned shared_unit, unsigned cores)
{
    const cx_ptx_environment environment = {.shared_unit = shared_unit};
    cx_ptx_grid grid = {
        .module = module, .kernel = kernel, .launch = launch, .environment = &environment};

    measure_grid(&grid);
    return cx_ptx_reserve_grow(bytes_of_room(&grid, cores_for(module, launch, cores)));
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
