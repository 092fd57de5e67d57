/* Finds memory that a thread names by its address. */
#include "ptx/address_resolve.h"

#include "ptx/cluster.h"
#include "ptx/wide.h"
#include "ptx/written.h"

/* Memory that is no global memory. */
typedef struct own_memory {
    const char *name;
    unsigned char *memory;
    size_t size, spare; /* the latter, of the former: nobody asked for them */
} own_memory;

/* The block of the cluster whose shared memory has the address; NULL: it has ended, or there is
 * none. */
static const cx_ptx_block *find_in_cluster(const cx_ptx_block *block, uint64_t address)
{
    const cx_ptx_cluster *cluster = block->cluster;
    uint32_t rank = cx_ptx_cluster_rank_of(address);

    return rank < cluster->count && cluster->blocks[rank].left > 0 ? &cluster->blocks[rank] : NULL;
}

/* Shared memory of the cluster: that of the block whose rank is in the address. */
static own_memory cluster_memory_of(const cx_ptx_grid *grid, const cx_ptx_block *block,
                                    uint64_t address)
{
    const cx_ptx_block *found = find_in_cluster(block, address);

    if (found == block)
        return (own_memory){"shared", block->shared, grid->shared_bytes, grid->shared_spare};
    if (found)
        return (own_memory){"another block's shared", found->shared, grid->shared_bytes,
                            grid->shared_spare};
    return (own_memory){cx_ptx_cluster_rank_of(address) < block->cluster->count
                            ? "an ended block's shared"
                            : "no block's shared",
                        NULL, 0, 0};
}

static own_memory own_memory_of(cx_ptx_space space, cx_ptx_grid *grid, const cx_ptx_block *block,
                                const cx_ptx_thread *thread, uint64_t address)
{
    switch (space) {
    case CX_PTX_CLUSTER:
        return cluster_memory_of(grid, block, address);
    case CX_PTX_SHARED:
        return cx_ptx_cluster_rank_of(address) == block->rank
                   ? (own_memory){"shared", block->shared, grid->shared_bytes, grid->shared_spare}
                   : (own_memory){"another block's shared", NULL, 0, 0};
    case CX_PTX_LOCAL:
        return (own_memory){"local", thread->local, grid->local_of_thread, 0};
    case CX_PTX_WORKSPACE:
        return (own_memory){"grid", (unsigned char *)grid->workspace,
                            grid->launch->cooperative ? sizeof grid->workspace : 0, 0};
    default:
        return (own_memory){"parameter", grid->parameters, grid->kernel->parameter_bytes, 0};
    }
}

static unsigned char *reach_own(const own_memory *own, uint64_t offset, unsigned bytes)
{
    return own->size >= bytes && offset <= own->size - bytes ? own->memory + offset : NULL;
}

static void narrow_view(cx_ptx_view *view, uint64_t begin, uint64_t end)
{
    view->memory += begin - view->address;
    view->written = view->held = NULL;
    view->address = begin;
    view->bytes = end - begin;
}

/* Kernels only read constants: their view holds nothing else, and others end before them. */
static void cut_at_constants(const cx_ptx_grid *grid, cx_ptx_view *view, uint64_t address)
{
    const cx_ptx_module *module = grid->module;
    uint64_t begin = grid->launch->memory_address + module->constant_begin;
    uint64_t end = begin + module->constant_space, last = view->address + view->bytes;

    if (module->constant_space == 0 || last <= begin || view->address >= end)
        return;
    if (address < begin) {
        narrow_view(view, view->address, begin);
    } else if (address < end) {
        narrow_view(view, begin, end < last ? end : last);
        view->read_only = true;
    } else {
        narrow_view(view, end, last);
    }
}

static bool find_view(cx_ptx_grid *grid, cx_ptx_view *view, uint64_t address)
{
    const cx_ptx_environment *environment = grid->environment;
    cx_ptx_range range;

    if (!environment->find(environment->self, address, &range))
        return false;
    *view = (cx_ptx_view){range.address,   range.bytes,   range.memory,
                          range.read_only, range.written, range.held};
    cut_at_constants(grid, view, address);
    return true;
}

static bool in_window(uint64_t address, cx_ptx_space *out_space)
{
    switch (address & CX_PTX_WINDOW_MASK) {
    case CX_PTX_WINDOW_SHARED:
        *out_space = CX_PTX_CLUSTER;
        return true;
    case CX_PTX_WINDOW_LOCAL:
        *out_space = CX_PTX_LOCAL;
        return true;
    case CX_PTX_WINDOW_PARAMETER:
        *out_space = CX_PTX_PARAMETER;
        return true;
    case CX_PTX_WINDOW_WORKSPACE:
        *out_space = CX_PTX_WORKSPACE;
        return true;
    default:
        return false;
    }
}

static bool is_atomic(const cx_ptx_instruction *at)
{
    return at->op == CX_PTX_ATOMIC ||
           (at->op == CX_PTX_ACCESS_128 && at->mode >= CX_PTX_WIDE_EXCHANGE);
}

/* The mode of a load says so. */
bool cx_ptx_polls(const cx_ptx_instruction *at)
{
    return at->op >= CX_PTX_LOAD_U8 && at->op <= CX_PTX_LOAD_U64 && at->mode != 0;
}

/* True for an instruction of the module: not for a copy, which reads at another address. */
static bool is_code(const cx_ptx_module *module, const cx_ptx_instruction *at)
{
    return (uintptr_t)at - (uintptr_t)module->code < module->code_count * sizeof *at;
}

/* `own`: NULL for global memory. The thread is at the instruction, or is there already. */
static unsigned char *fail_at(cx_ptx_grid *grid, const cx_ptx_block *block, cx_ptx_thread *thread,
                              const cx_ptx_instruction *at, cx_ptx_outcome outcome,
                              uint64_t address, bool writes, const own_memory *own)
{
    if (is_code(grid->module, at))
        thread->next = at;
    if (grid->outcome != CX_PTX_DONE)
        return NULL;
    cx_ptx_thread_fail(grid, block, thread, outcome, address);
    grid->fault->bytes = at->size;
    grid->fault->writes = writes;
    grid->fault->atomic = is_atomic(at);
    grid->fault->space = own ? own->name : NULL;
    grid->fault->space_bytes = own ? own->size - own->spare : 0;
    return NULL;
}

static unsigned char *reach_by(cx_ptx_grid *grid, cx_ptx_view *view, const cx_ptx_instruction *at,
                               uint64_t address, bool writes)
{
    if (!cx_ptx_in_view(view, address, at->size) && !find_view(grid, view, address))
        return NULL;
    return cx_ptx_in_view(view, address, at->size) && !(writes && view->read_only)
               ? view->memory + (address - view->address)
               : NULL;
}

/* The sites of a watched grid have no views, so that all their accesses come here. */
static unsigned char *reach_watched(cx_ptx_grid *grid, const cx_ptx_instruction *at,
                                    uint64_t address, const void *value)
{
    const cx_ptx_environment *environment = grid->environment;
    unsigned char *memory =
        reach_by(grid, &grid->watched[at->site % CX_PTX_WATCHED], at, address, value != NULL);
    cx_ptx_touch touch = {address, memory, at->size, is_atomic(at), cx_ptx_polls(at), value};

    if (memory)
        environment->touched(environment->self, &touch);
    return memory;
}

const cx_ptx_view *cx_ptx_reach_range(cx_ptx_grid *grid, uint32_t site, uint64_t address,
                                      unsigned bytes)
{
    cx_ptx_view *view = &grid->watched[site % CX_PTX_WATCHED];

    if (!cx_ptx_in_view(view, address, bytes) && !find_view(grid, view, address))
        return NULL;
    return cx_ptx_in_view(view, address, bytes) ? view : NULL;
}

/* The shadow of a grid tells these accesses itself, for all lanes at once. */
static bool is_told(const cx_ptx_grid *grid, const cx_ptx_block *block,
                    const cx_ptx_instruction *at)
{
    return grid->shadow && block->shadow && is_code(grid->module, at) &&
           ((at->op >= CX_PTX_LOAD_U8 && at->op <= CX_PTX_STORE_64) || at->op == CX_PTX_MBARRIER ||
            at->op == CX_PTX_ATOMIC || at->op == CX_PTX_ACCESS_128);
}

/* cx_ptx_shadow_piece says what it does. */
static bool is_followed(const cx_ptx_instruction *at)
{
    return at->op == CX_PTX_MATRIX || at->op == CX_PTX_BULK || at->op == CX_PTX_COPY_ASYNC;
}

/* Other instructions that are not told may write wherever they look. */
static void mark_written(cx_ptx_grid *grid, const cx_ptx_instruction *at, uint64_t address)
{
    const cx_ptx_view *view = cx_ptx_reach_range(grid, at->site, address, at->size);

    if (view && view->written)
        cx_ptx_written_mark(view->written, address - view->address, at->size);
}

static unsigned char *reach_global(cx_ptx_grid *grid, const cx_ptx_block *block,
                                   const cx_ptx_instruction *at, uint64_t address,
                                   const void *value)
{
    if (grid->shadow && !is_told(grid, block, at) && !is_followed(at))
        mark_written(grid, at, address);
    return grid->environment->touched && !is_told(grid, block, at)
               ? reach_watched(grid, at, address, value)
               : reach_by(grid, &grid->views[at->site], at, address, value != NULL);
}

unsigned char *cx_ptx_resolve_slowly(cx_ptx_grid *grid, cx_ptx_block *block, cx_ptx_thread *thread,
                                     const cx_ptx_instruction *at, uint64_t address,
                                     const void *value)
{
    cx_ptx_space space = (cx_ptx_space)at->space;
    bool global = space == CX_PTX_GLOBAL ||
                  (space == CX_PTX_GENERIC && !in_window(address, &space));
    own_memory own = own_memory_of(space, grid, block, thread, address);
    uint64_t offset = address & ~CX_PTX_WINDOW_MASK;
    unsigned char *memory = NULL;
    cx_ptx_outcome outcome = CX_PTX_MISALIGNED_ADDRESS;

    if (space == CX_PTX_SHARED || space == CX_PTX_CLUSTER)
        offset &= ~CX_PTX_RANK_MASK;
    if (!(address & (at->align - 1u))) {
        outcome = CX_PTX_ILLEGAL_ADDRESS;
        memory = global ? reach_global(grid, block, at, address, value)
                        : reach_own(&own, offset, at->size);
    }
    return memory ? memory
                  : fail_at(grid, block, thread, at, outcome, global ? address : offset,
                            value != NULL, global ? NULL : &own);
}

unsigned char *cx_ptx_resolve(cx_ptx_grid *grid, cx_ptx_block *block, cx_ptx_thread *thread,
                              uint64_t address, unsigned bytes, unsigned align)
{
    const cx_ptx_instruction *next = thread->next;
    const cx_ptx_instruction access = {.space = CX_PTX_GENERIC,
                                       .size = (uint8_t)bytes,
                                       .align = (uint8_t)align,
                                       .site = grid->module->sites,
                                       .line = next->line};
    unsigned char *memory = cx_ptx_resolve_slowly(grid, block, thread, &access, address, NULL);

    thread->next = next;
    return memory;
}
