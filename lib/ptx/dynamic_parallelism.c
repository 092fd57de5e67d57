#include "ptx/dynamic_parallelism.h"

#include <stdlib.h>
#include <string.h>

#define CLUSTER_MAX 8 /* blocks of a cluster that every device allows */
#define DEPTH_MAX 24
#define PENDING_DEFAULT 2048

/* cudaStreamTailLaunch, cudaStreamFireAndForget; NULL is the block's own stream. */
enum { STREAM_OF_BLOCK = 0, STREAM_TAIL = 3, STREAM_FIRE_AND_FORGET = 4 };

#define STREAM_FIRST 0x7374720000000010u /* of those that kernels create */
#define STREAM_UNIT 16

/* Values of cudaError_t. */
enum {
    ERROR_INVALID_VALUE = 1,
    ERROR_MEMORY_ALLOCATION = 2,
    ERROR_INVALID_CONFIGURATION = 9,
    ERROR_LAUNCH_MAX_DEPTH_EXCEEDED = 65,
    ERROR_LAUNCH_PENDING_COUNT_EXCEEDED = 69,
    ERROR_INVALID_DEVICE_FUNCTION = 98,
    ERROR_INVALID_RESOURCE_HANDLE = 400
};

/* ---- lists ---- */

static void append(cx_ptx_child_list *list, cx_ptx_child *child)
{
    child->next = NULL;
    *(list->last ? &list->last->next : &list->first) = child;
    list->last = child;
}

/* Moves all children of `from` behind those of `to`. */
static void move_all(cx_ptx_child_list *to, cx_ptx_child_list *from)
{
    if (from->first) {
        *(to->last ? &to->last->next : &to->first) = from->first;
        to->last = from->last;
    }
    *from = (cx_ptx_child_list){NULL, NULL};
}

static cx_ptx_child *take_first(cx_ptx_child_list *list)
{
    cx_ptx_child *first = list->first;

    if (!first)
        return NULL;
    list->first = first->next;
    if (!list->first)
        list->last = NULL;
    return first;
}

static cx_ptx_child *take_prepared(cx_ptx_child_list *list, uint64_t buffer)
{
    cx_ptx_child *each = list->first, *before = NULL;

    while (each && each->buffer != buffer) {
        before = each;
        each = each->next;
    }
    if (!each)
        return NULL;
    *(before ? &before->next : &list->first) = each->next;
    if (list->last == each)
        list->last = before;
    return each;
}

/* ---- preparing ---- */

const cx_ptx_function *cx_ptx_child_kernel(const cx_ptx_grid *grid, uint64_t address)
{
    const cx_ptx_module *module = grid->module;
    uint64_t number = address - CX_PTX_WINDOW_CODE;
    const cx_ptx_function *function;

    if (number % 16 != 0 || number == 0 || number / 16 > module->function_count)
        return NULL;
    function = &module->functions[number / 16 - 1];
    return function->kernel && function->defined ? function : NULL;
}

static bool are_within(const uint32_t size[3], const uint32_t most[3])
{
    for (int i = 0; i < 3; i++)
        if (size[i] == 0 || size[i] > most[i])
            return false;
    return true;
}

/* A child runs in the clusters that its kernel requires. */
static bool fits_clusters(const cx_ptx_function *kernel, const uint32_t blocks[3])
{
    const uint32_t *size = kernel->cluster;

    if (size[0] == 0)
        return !kernel->cluster_needed;
    if ((uint64_t)size[0] * size[1] * size[2] > CLUSTER_MAX || kernel->counts_clusters)
        return false;
    return blocks[0] % size[0] == 0 && blocks[1] % size[1] == 0 && blocks[2] % size[2] == 0;
}

static bool suits_kernel(const cx_ptx_function *kernel, const uint32_t blocks[3],
                         const uint32_t threads[3])
{
    static const uint32_t blocks_most[] = {INT32_MAX, 65535, 65535},
                          threads_most[] = {CX_PTX_THREADS_MAX, CX_PTX_THREADS_MAX, 64};
    uint64_t most = kernel->max_threads ? kernel->max_threads : CX_PTX_THREADS_MAX;

    if (!are_within(blocks, blocks_most) || !are_within(threads, threads_most) ||
        (uint64_t)threads[0] * threads[1] * threads[2] > most || !fits_clusters(kernel, blocks))
        return false;
    return kernel->required[0] == 0 ||
           memcmp(kernel->required, threads, sizeof kernel->required) == 0;
}

static uint16_t check(const cx_ptx_grid *grid, const cx_ptx_function *kernel,
                      const uint32_t blocks[3], const uint32_t threads[3], uint32_t shared_bytes)
{
    if (!kernel)
        return ERROR_INVALID_DEVICE_FUNCTION;
    if (!suits_kernel(kernel, blocks, threads))
        return ERROR_INVALID_CONFIGURATION;
    if (kernel->shared_bytes + shared_bytes > CX_PTX_SHARED_STATIC_MAX)
        return ERROR_INVALID_VALUE;
    return grid->children->depth == DEPTH_MAX ? ERROR_LAUNCH_MAX_DEPTH_EXCEEDED : 0;
}

static uint64_t allocate_buffer(const cx_ptx_environment *environment,
                                const cx_ptx_function *kernel)
{
    uint64_t bytes = kernel->parameter_bytes > 0 ? kernel->parameter_bytes : 1;

    return environment->allocate ? environment->allocate(environment->self, bytes) : 0;
}

/* A child that was launched must find host memory, as a launch of the host. */
static bool reserve(const cx_ptx_grid *grid, const cx_ptx_function *kernel,
                    const uint32_t blocks[3], const uint32_t threads[3], uint32_t shared_bytes)
{
    const cx_ptx_launch launch = {.grid = {blocks[0], blocks[1], blocks[2]},
                                  .block = {threads[0], threads[1], threads[2]},
                                  .shared_bytes = shared_bytes};

    return cx_ptx_launch_reserve(grid->module, kernel, &launch, grid->environment->shared_unit,
                                 grid->environment->cores);
}

uint64_t cx_ptx_child_prepare(cx_ptx_grid *grid, cx_ptx_thread *thread, uint64_t kernel,
                              const uint32_t blocks[3], const uint32_t threads[3],
                              uint32_t shared_bytes)
{
    const cx_ptx_function *function = cx_ptx_child_kernel(grid, kernel);
    uint16_t error = check(grid, function, blocks, threads, shared_bytes);
    uint64_t buffer = error || !reserve(grid, function, blocks, threads, shared_bytes)
                          ? 0
                          : allocate_buffer(grid->environment, function);
    cx_ptx_child *child = buffer ? calloc(1, sizeof *child + function->parameter_bytes) : NULL;

    if (!child) {
        thread->error = error ? error : ERROR_MEMORY_ALLOCATION;
        if (buffer && grid->environment->release)
            grid->environment->release(grid->environment->self, buffer);
        return 0;
    }
    child->kernel = function;
    child->launch = (cx_ptx_launch){.shared_bytes = shared_bytes,
                                    .parameters = child->parameters,
                                    .memory_address = grid->launch->memory_address,
                                    .managed_address = grid->launch->managed_address};
    memcpy(child->launch.grid, blocks, sizeof child->launch.grid);
    memcpy(child->launch.block, threads, sizeof child->launch.block);
    child->buffer = buffer;
    child->depth = grid->children->depth + 1;
    append(&grid->children->prepared, child);
    return buffer;
}

/* ---- launching ---- */

static bool read_parameters(cx_ptx_grid *grid, cx_ptx_block *block, cx_ptx_thread *thread,
                            cx_ptx_child *child)
{
    size_t left = child->kernel->parameter_bytes;

    for (size_t at = 0; left > 0;) {
        unsigned bytes = left < 8 ? (unsigned)left : 8;
        const unsigned char *memory =
            cx_ptx_resolve(grid, block, thread, child->buffer + at, bytes, 1);

        if (!memory)
            return false;
        memcpy(child->parameters + at, memory, bytes);
        at += bytes;
        left -= bytes;
    }
    return true;
}

static void release_buffer(const cx_ptx_environment *environment, const cx_ptx_child *child)
{
    if (environment->release)
        environment->release(environment->self, child->buffer);
}

uint64_t cx_ptx_child_create_stream(cx_ptx_grid *grid)
{
    return STREAM_FIRST + STREAM_UNIT * grid->children->streams++;
}

static bool is_stream(const cx_ptx_children *children, uint64_t stream)
{
    const uint64_t number = (stream - STREAM_FIRST) / STREAM_UNIT;

    return stream == STREAM_OF_BLOCK || stream == STREAM_TAIL || stream == STREAM_FIRE_AND_FORGET ||
           (stream % STREAM_UNIT == 0 && number < children->streams);
}

static uint16_t add_launched(cx_ptx_grid *grid, cx_ptx_child *child, uint64_t stream)
{
    cx_ptx_children *children = grid->children;
    size_t most = grid->environment->pending_grids;

    if (!is_stream(children, stream))
        return ERROR_INVALID_RESOURCE_HANDLE;
    if (children->count >= (most ? most : PENDING_DEFAULT))
        return ERROR_LAUNCH_PENDING_COUNT_EXCEEDED;
    append(stream == STREAM_TAIL ? &children->tail : &children->launched, child);
    children->count++;
    return 0;
}

bool cx_ptx_child_launch(cx_ptx_grid *grid, cx_ptx_block *block, cx_ptx_thread *thread,
                         uint64_t buffer, uint64_t stream, uint32_t *out_error)
{
    cx_ptx_child *child = take_prepared(&grid->children->prepared, buffer);
    bool read = child && read_parameters(grid, block, thread, child);
    uint16_t error = ERROR_INVALID_VALUE;

    if (child)
        release_buffer(grid->environment, child);
    if (read)
        error = add_launched(grid, child, stream);
    if (error) {
        free(child);
        thread->error = error;
    }
    *out_error = error;
    return grid->outcome == CX_PTX_DONE;
}

/* ---- running ---- */

cx_ptx_child *cx_ptx_children_take(cx_ptx_children *children)
{
    cx_ptx_child *first;

    move_all(&children->launched, &children->tail);
    move_all(&children->launched, &children->waiting);
    move_all(&children->waiting, &children->launched);
    first = take_first(&children->waiting);
    if (first) {
        children->count--;
        children->depth = first->depth;
    }
    return first;
}

void cx_ptx_children_drop(cx_ptx_children *children, const cx_ptx_environment *environment)
{
    cx_ptx_child *child;

    while ((child = take_first(&children->prepared)) != NULL) {
        release_buffer(environment, child);
        free(child);
    }
    while ((child = cx_ptx_children_take(children)) != NULL)
        free(child);
}
