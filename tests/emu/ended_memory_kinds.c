/* The kinds of memory, and the ways in which each ends. */
#include "ended_memory.h"

#include <sys/mman.h>

#define RANGE_BYTES CX_EMU_MEMORY_GRANULARITY

static const char variable_code[] = ".version 6.3\n.target sm_75\n.address_size 64\n"
                                    ".visible .global .align 16 .b8 variable[4096];\n";

void ended_enter(CUcontext context)
{
    ck_success(cx_emu_call_ctx_set_current(context));
}

/* ---- ways for all kinds ---- */

static void end_owner(ended_world *self)
{
    CUcontext owner = self->owner;

    self->owner = NULL;
    if (self->owner_is_primary)
        ck_success(cx_emu_call_primary_reset(self->owner_device));
    else
        ck_success(cx_emu_call_ctx_destroy(owner));
}

static void end_worker(ended_world *self)
{
    CUcontext worker = self->worker;

    self->worker = NULL;
    ck_success(cx_emu_call_ctx_destroy(worker));
}

static void free_now(ended_world *self)
{
    ck_success(cx_emu_call_mem_free(self->address));
}

static void free_behind(ended_world *self)
{
    ck_success(cx_emu_call_mem_free_async(self->address, self->stream));
}

static void free_beside(ended_world *self)
{
    ck_success(cx_emu_call_mem_free_async(self->address, self->other));
    ck_success(cx_emu_call_stream_synchronize(self->other));
}

#define COMPLETE                         \
    {                                    \
        ENDED_COMPLETES, ENDED_COMPLETES \
    }
#define FAIL                     \
    {                            \
        ENDED_FAILS, ENDED_FAILS \
    }
#define WAIT       \
    {              \
        true, true \
    }
#define WAY_FREE_BEHIND                                            \
    {                                                              \
        "a free behind the work", free_behind, .outcome = COMPLETE \
    }
#define WAY_FREE_BESIDE                                                                \
    {                                                                                  \
        "a free in another stream", free_beside, .outcome = FAIL, .waits_beside = true \
    }
#define WAY_WORKER                                                            \
    {                                                                         \
        "the end of the work's context", end_worker,                          \
            .waits = WAIT, .outcome = {ENDED_OVER, ENDED_OVER}, .keeps = true \
    }
#define WAY_OWNER                                            \
    {                                                        \
        "the end of its context", end_owner, .outcome = FAIL \
    }
#define WAY_RESET                                                     \
    {                                                                 \
        "a reset", end_owner, .outcome = FAIL, .of_the_primary = true \
    }
#define WAY_OWNER_IS_NONE                                                                    \
    {                                                                                        \
        "the end of the context that made it", end_owner, .outcome = COMPLETE, .keeps = true \
    }

/* ---- memory of cuMemAlloc ---- */

static CUdeviceptr next_device(ended_world *self)
{
    CUdeviceptr address;

    (void)self;
    ck_success(cx_emu_call_mem_alloc(&address, ENDED_BYTES));
    return address;
}

static void make_device(ended_world *self)
{
    self->address = next_device(self);
}

static const ended_way ways_of_device[] = {
    {"a free", free_now, .waits = WAIT, .outcome = COMPLETE},
    WAY_FREE_BEHIND,
    WAY_FREE_BESIDE,
    WAY_OWNER,
    WAY_RESET,
    WAY_WORKER,
    {0},
};

static void withdraw_peer(ended_world *self)
{
    ended_enter(self->worker);
    ck_success(cx_emu_call_ctx_disable_peer_access(self->owner));
}

static const ended_way ways_of_peer[] = {
    {"a free", free_now, .waits = WAIT, .outcome = COMPLETE},
    WAY_FREE_BESIDE,
    WAY_OWNER,
    WAY_RESET,
    {"access withdrawn", withdraw_peer, .outcome = {ENDED_COMPLETES, ENDED_FAILS}, .keeps = true,
     .lets_copies = true},
    WAY_WORKER,
    {0},
};

/* ---- memory in stream order ---- */

static CUdeviceptr allocate_ordered(CUmemoryPool pool, CUstream stream)
{
    CUdeviceptr address;

    if (pool)
        ck_success(cx_emu_call_mem_alloc_from_pool_async(&address, ENDED_BYTES, pool, stream));
    else
        ck_success(cx_emu_call_mem_alloc_async(&address, ENDED_BYTES, stream));
    ck_success(cx_emu_call_stream_synchronize(stream));
    return address;
}

static void make_ordered(ended_world *self)
{
    self->address = allocate_ordered(self->pool, self->other);
}

static CUdeviceptr next_ordered(ended_world *self)
{
    return allocate_ordered(NULL, self->of_bystander);
}

static void free_and_trim(ended_world *self)
{
    CUmemoryPool pool = self->pool;

    if (!pool)
        ck_success(cx_emu_call_device_get_default_mem_pool(&pool, 0));
    free_beside(self);
    ck_success(cx_emu_call_mem_pool_trim_to(pool, 0));
}

static const ended_way ways_of_ordered[] = {
    {"a free", free_now, .outcome = FAIL},
    WAY_FREE_BEHIND,
    WAY_FREE_BESIDE,
    {"a free and a trim", free_and_trim, .outcome = FAIL, .waits_beside = true},
    WAY_OWNER_IS_NONE,
    WAY_WORKER,
    {0},
};

static void make_pool(ended_world *self, cxu_mem_allocation_type type,
                      cxu_mem_location_type location)
{
    const cxu_mem_pool_properties properties = {.type = type, .location = {location, 0}};

    ck_success(cx_emu_call_mem_pool_create(&self->pool, &properties));
    if (location == CXU_MEM_LOCATION_TYPE_HOST && type == CXU_MEM_ALLOCATION_TYPE_PINNED) {
        const cxu_mem_access access = {{CXU_MEM_LOCATION_TYPE_DEVICE, 0},
                                       CXU_MEM_ACCESS_FLAGS_PROT_READWRITE};
        ck_success(cx_emu_call_mem_pool_set_access(self->pool, &access, 1));
    }
    make_ordered(self);
}

static void make_pooled(ended_world *self)
{
    make_pool(self, CXU_MEM_ALLOCATION_TYPE_PINNED, CXU_MEM_LOCATION_TYPE_DEVICE);
}

static void make_pooled_of_host(ended_world *self)
{
    make_pool(self, CXU_MEM_ALLOCATION_TYPE_PINNED, CXU_MEM_LOCATION_TYPE_HOST);
}

static void make_pooled_managed(ended_world *self)
{
    make_pool(self, CXU_MEM_ALLOCATION_TYPE_MANAGED, CXU_MEM_LOCATION_TYPE_DEVICE);
}

static void destroy_pool(ended_world *self)
{
    ck_success(cx_emu_call_mem_pool_destroy(self->pool));
    self->pool = NULL;
}

static void free_and_destroy_pool(ended_world *self)
{
    free_now(self);
    destroy_pool(self);
}

static void close_pool_access(ended_world *self)
{
    const cxu_mem_access none = {{CXU_MEM_LOCATION_TYPE_DEVICE, 0}, CXU_MEM_ACCESS_FLAGS_PROT_NONE};

    ck_success(cx_emu_call_mem_pool_set_access(self->pool, &none, 1));
}

#define WAYS_OF_POOLED                                                               \
    {"a free", free_now, .outcome = FAIL}, WAY_FREE_BEHIND, WAY_FREE_BESIDE,         \
        {"a free and a trim", free_and_trim, .outcome = FAIL, .waits_beside = true}, \
        {"a free and the end of its pool", free_and_destroy_pool, .outcome = FAIL},  \
        {"the end of its pool", destroy_pool, .outcome = COMPLETE, .keeps = true},   \
        WAY_OWNER_IS_NONE, WAY_WORKER

static const ended_way ways_of_pooled[] = {WAYS_OF_POOLED, {0}};

static const ended_way ways_of_pooled_of_host[] = {
    WAYS_OF_POOLED,
    {"access withdrawn", close_pool_access, .outcome = {ENDED_COMPLETES, ENDED_FAILS},
     .keeps = true, .lets_copies = true},
    {0},
};

static void drop_ordered(ended_world *self)
{
    (void)cx_emu_call_mem_free(self->address);
    if (self->next)
        (void)cx_emu_call_mem_free(self->next);
    if (self->pool)
        (void)cx_emu_call_mem_pool_destroy(self->pool);
}

/* ---- memory of the host ---- */

static CUdeviceptr next_pinned(ended_world *self)
{
    void *pointer;

    (void)self;
    ck_success(cx_emu_call_mem_alloc_host(&pointer, ENDED_BYTES));
    return (uintptr_t)pointer;
}

static void make_pinned(ended_world *self)
{
    self->address = next_pinned(self);
}

static void free_pinned(ended_world *self)
{
    ck_success(cx_emu_call_mem_free_host((void *)(uintptr_t)self->address));
}

static const ended_way ways_of_pinned[] = {
    {"a free", free_pinned, .waits = WAIT, .outcome = COMPLETE},
    WAY_OWNER,
    WAY_RESET,
    WAY_WORKER,
    {0}};

static void make_registered(ended_world *self)
{
    self->pages =
        mmap(NULL, ENDED_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(self->pages, MAP_FAILED);
    self->address = (uintptr_t)self->pages;
    ck_success(cx_emu_call_mem_host_register(self->pages, ENDED_BYTES, 0));
}

/* The next one to have these pages notices each access. */
static CUdeviceptr close_pages(ended_world *self)
{
    ck_assert_int_eq(mprotect(self->pages, ENDED_BYTES, PROT_NONE), 0);
    return 0;
}

static void unregister(ended_world *self)
{
    ck_success(cx_emu_call_mem_host_unregister(self->pages));
}

static void drop_registered(ended_world *self)
{
    (void)cx_emu_call_mem_host_unregister(self->pages);
    munmap(self->pages, ENDED_BYTES);
}

static const ended_way ways_of_registered[] = {
    {"an unregistration", unregister, .waits = WAIT, .outcome = COMPLETE},
    WAY_OWNER,
    WAY_RESET,
    WAY_WORKER,
    {0}};

static CUdeviceptr next_managed(ended_world *self)
{
    CUdeviceptr address;

    (void)self;
    ck_success(cx_emu_call_mem_alloc_managed(&address, ENDED_BYTES, CXU_MEM_ATTACH_GLOBAL));
    return address;
}

static void make_managed(ended_world *self)
{
    self->address = next_managed(self);
}

static const ended_way ways_of_managed[] = {
    {"a free", free_now, .waits = WAIT, .outcome = COMPLETE},
    WAY_OWNER,
    WAY_RESET,
    WAY_WORKER,
    {0}};

/* ---- mapped memory ---- */

static CUmemGenericAllocationHandle map_new(CUdeviceptr range)
{
    const cxu_mem_properties properties = {.type = CXU_MEM_ALLOCATION_TYPE_PINNED,
                                           .location = {CXU_MEM_LOCATION_TYPE_DEVICE, 0}};
    const cxu_mem_access access = {properties.location, CXU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle physical;

    ck_success(cx_emu_call_mem_create(&physical, RANGE_BYTES, &properties, 0));
    ck_success(cx_emu_call_mem_map(range, RANGE_BYTES, 0, physical, 0));
    ck_success(cx_emu_call_mem_set_access(range, RANGE_BYTES, &access, 1));
    return physical;
}

static void make_mapped(ended_world *self)
{
    ck_success(cx_emu_call_mem_address_reserve(&self->range, RANGE_BYTES, 0, 0, 0));
    self->address = self->range;
    self->physical = map_new(self->range);
}

static CUdeviceptr next_mapped(ended_world *self)
{
    if (!self->range)
        return 0;
    self->next_physical = map_new(self->range);
    return self->range;
}

static void unmap(ended_world *self)
{
    ck_success(cx_emu_call_mem_unmap(self->range, RANGE_BYTES));
}

static void unmap_all(ended_world *self)
{
    ck_success(cx_emu_call_mem_release(self->physical));
    unmap(self);
    ck_success(cx_emu_call_mem_address_free(self->range, RANGE_BYTES));
    self->range = 0;
    self->physical = 0;
}

static void close_access(ended_world *self)
{
    const cxu_mem_access none = {{CXU_MEM_LOCATION_TYPE_DEVICE, 0}, CXU_MEM_ACCESS_FLAGS_PROT_NONE};

    ck_success(cx_emu_call_mem_set_access(self->range, RANGE_BYTES, &none, 1));
}

static void release_handle(ended_world *self)
{
    ck_success(cx_emu_call_mem_release(self->physical));
    self->physical = 0;
}

static void drop_mapped(ended_world *self)
{
    if (self->range) {
        (void)cx_emu_call_mem_unmap(self->range, RANGE_BYTES);
        (void)cx_emu_call_mem_address_free(self->range, RANGE_BYTES);
    }
    if (self->physical)
        (void)cx_emu_call_mem_release(self->physical);
    if (self->next_physical)
        (void)cx_emu_call_mem_release(self->next_physical);
}

static const ended_way ways_of_mapped[] = {
    {"an unmapping", unmap, .waits = {true, false}, .outcome = {ENDED_COMPLETES, ENDED_FAILS}},
    {"an unmapping of all there is", unmap_all, .waits = {true, false},
     .outcome = {ENDED_COMPLETES, ENDED_FAILS}},
    {"access withdrawn", close_access, .outcome = {ENDED_COMPLETES, ENDED_FAILS}, .keeps = true},
    {"a release of its handle", release_handle, .outcome = COMPLETE, .keeps = true},
    WAY_OWNER_IS_NONE,
    WAY_WORKER,
    {0},
};

/* ---- variables of a module ---- */

static void make_variable(ended_world *self)
{
    size_t bytes;

    ck_success(cx_emu_call_module_load_data(&self->module, variable_code));
    ck_success(cx_emu_call_module_get_global(&self->address, &bytes, self->module, "variable"));
    ck_assert_uint_ge(bytes, ENDED_BYTES);
}

static void unload(ended_world *self)
{
    ended_enter(self->owner);
    ck_success(cx_emu_call_module_unload(self->module));
}

static const ended_way ways_of_variable[] = {
    {"an unloading", unload, .outcome = {ENDED_COMPLETES, ENDED_FAILS}},
    {"the end of its context", end_owner, .outcome = {ENDED_COMPLETES, ENDED_FAILS}},
    {"a reset", end_owner, .outcome = {ENDED_COMPLETES, ENDED_FAILS}, .of_the_primary = true},
    WAY_WORKER,
    {0},
};

static void make_variable_of_library(ended_world *self)
{
    size_t bytes;

    ck_success(
        cx_emu_call_library_load_data(&self->library, variable_code, NULL, NULL, 0, NULL, NULL, 0));
    ck_success(cx_emu_call_library_get_global(&self->address, &bytes, self->library, "variable"));
}

static void unload_library(ended_world *self)
{
    ck_success(cx_emu_call_library_unload(self->library));
    self->library = NULL;
}

static void drop_library(ended_world *self)
{
    if (self->library)
        unload_library(self);
}

static const ended_way ways_of_variable_of_library[] = {
    {"an unloading", unload_library, .outcome = {ENDED_COMPLETES, ENDED_FAILS}},
    {"the end of its context", end_owner, .outcome = {ENDED_COMPLETES, ENDED_FAILS}},
    WAY_WORKER,
    {0},
};

/* ---- memory of graphs ---- */

static void make_of_graph(ended_world *self)
{
    cxu_mem_alloc_node_params params = {.pool = {.type = CXU_MEM_ALLOCATION_TYPE_PINNED,
                                                 .location = {CXU_MEM_LOCATION_TYPE_DEVICE, 0}},
                                        .bytes = ENDED_BYTES};
    CUgraphNode node;

    ck_success(cx_emu_call_graph_create(&self->memory_graph, 0));
    ck_success(cx_emu_call_graph_add_mem_alloc_node(&node, self->memory_graph, NULL, 0, &params));
    self->address = params.address;
    ck_success(cx_emu_call_graph_instantiate_with_flags(&self->memory_exec, self->memory_graph, 0));
    ck_success(cx_emu_call_graph_launch(self->memory_exec, self->other));
    ck_success(cx_emu_call_stream_synchronize(self->other));
}

static void drop_graphs(ended_world *self)
{
    if (self->memory_exec)
        ck_success(cx_emu_call_graph_exec_destroy(self->memory_exec));
    if (self->memory_graph)
        ck_success(cx_emu_call_graph_destroy(self->memory_graph));
    self->memory_exec = NULL;
    self->memory_graph = NULL;
}

static void free_with_graphs(ended_world *self)
{
    drop_graphs(self);
    free_now(self);
}

static void free_with_graphs_behind(ended_world *self)
{
    drop_graphs(self);
    free_behind(self);
}

static void free_with_graphs_beside(ended_world *self)
{
    drop_graphs(self);
    free_beside(self);
}

static void free_and_trim_graphs(ended_world *self)
{
    free_now(self);
    ck_success(cx_emu_call_device_graph_mem_trim(0));
}

static void drop_of_graph(ended_world *self)
{
    drop_graphs(self);
    (void)cx_emu_call_mem_free(self->address);
}

static const ended_way ways_of_graph[] = {
    {"a free while its graph is there", free_now, .outcome = COMPLETE, .keeps = true},
    {"a free and a trim", free_and_trim_graphs, .outcome = COMPLETE, .keeps = true},
    {"a free without its graphs", free_with_graphs, .outcome = FAIL},
    {"a free behind the work without its graphs", free_with_graphs_behind, .outcome = COMPLETE,
     .keeps = true},
    {"a free in another stream without its graphs", free_with_graphs_beside, .outcome = FAIL,
     .waits_beside = true},
    WAY_OWNER_IS_NONE,
    WAY_WORKER,
    {0},
};

/* ---- memory of another process ---- */

cxu_ipc_mem_handle ended_exported;

static void open_foreign(ended_world *self)
{
    ck_success(cx_emu_call_ipc_open_mem_handle(&self->address, ended_exported, 1));
}

static void close_foreign(ended_world *self)
{
    ended_enter(self->owner);
    ck_success(cx_emu_call_ipc_close_mem_handle(self->address));
}

static const ended_way ways_of_foreign[] = {
    {"a close", close_foreign, .waits = WAIT, .outcome = COMPLETE},
    WAY_OWNER,
    WAY_RESET,
    WAY_WORKER,
    {0},
};

/* ---- all ---- */

static void drop_nothing(ended_world *self)
{
    (void)self; /* its context took it along */
}

const ended_kind ended_kinds[] = {
    {"memory", ENDED_ANYWHERE, make_device, drop_nothing, next_device, ways_of_device},
    {"memory of a peer", ENDED_PEER, make_device, drop_nothing, next_device, ways_of_peer},
    {"memory in stream order", ENDED_ANYWHERE, make_ordered, drop_ordered, next_ordered,
     ways_of_ordered},
    {"memory of a pool", 0, make_pooled, drop_ordered, next_ordered, ways_of_pooled},
    {"memory of a pool of the host", ENDED_HOST, make_pooled_of_host, drop_ordered, next_pinned,
     ways_of_pooled_of_host},
    {"memory of a managed pool", ENDED_HOST | ENDED_MANAGED, make_pooled_managed, drop_ordered,
     next_managed, ways_of_pooled},
    {"pinned memory", ENDED_HOST | ENDED_ANYWHERE, make_pinned, drop_nothing, next_pinned,
     ways_of_pinned},
    {"registered memory", ENDED_HOST | ENDED_USERS | ENDED_ANYWHERE, make_registered,
     drop_registered, close_pages, ways_of_registered},
    {"managed memory", ENDED_HOST | ENDED_MANAGED | ENDED_ANYWHERE, make_managed, drop_nothing,
     next_managed, ways_of_managed},
    {"mapped memory", 0, make_mapped, drop_mapped, next_mapped, ways_of_mapped},
    {"a variable", 0, make_variable, drop_nothing, next_device, ways_of_variable},
    {"a variable of a library", 0, make_variable_of_library, drop_library, next_device,
     ways_of_variable_of_library},
    {"memory of another process", ENDED_FOREIGN, open_foreign, drop_nothing, next_device,
     ways_of_foreign},
    {"memory of a graph", 0, make_of_graph, drop_of_graph, next_device, ways_of_graph},
};
const size_t ended_kind_count = sizeof ended_kinds / sizeof ended_kinds[0];
