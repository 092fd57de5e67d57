/* Requests by the calls of the driver, through its real binary interface. */
#include "request.h"

#include "driver/driver.h"

#include <stdio.h>
#include <stdlib.h>

#define CALL(slot, ...) ok(driver.table.slot(__VA_ARGS__), #slot)

enum { BYTES = 16 << 10, RANGE_BYTES = 2 << 20 };

static const char code[] = ".version 7.0\n.target sm_50\n.address_size 64\n"
                           ".visible .global .align 4 .u32 count = 7;\n"
                           ".visible .entry put(.param .u64 at)\n{\n"
                           "    .reg .b32 %r;\n    .reg .b64 %rd<3>;\n"
                           "    ld.param.u64 %rd1, [at];\n"
                           "    cvta.to.global.u64 %rd2, %rd1;\n"
                           "    mov.u32 %r, 5;\n"
                           "    st.global.u32 [%rd2], %r;\n    ret;\n}\n";

static cx_driver driver;

static bool ok(cxu_result result, const char *call)
{
    if (result != CXU_SUCCESS)
        request_failed(call, cx_driver_result_name(&driver, result));
    return result == CXU_SUCCESS;
}

/* ---- memory ---- */

static void use_memory(CUstream stream)
{
    CUdeviceptr address;
    size_t pitch;

    if (CALL(mem_alloc, &address, BYTES)) {
        (void)CALL(memset_d8_async, address, 1, BYTES, stream);
        (void)CALL(mem_free, address);
    }
    if (CALL(mem_alloc_pitch, &address, &pitch, 100, 10, 4))
        (void)CALL(mem_free, address);
    if (CALL(mem_alloc_managed, &address, BYTES, CXU_MEM_ATTACH_GLOBAL)) {
        (void)CALL(mem_prefetch_async, address, BYTES, -1, stream);
        (void)CALL(mem_free, address);
    }
}

static void use_ordered_memory(int device, CUstream stream)
{
    const cxu_mem_pool_properties properties = {.type = CXU_MEM_ALLOCATION_TYPE_PINNED,
                                                .location = {CXU_MEM_LOCATION_TYPE_DEVICE, device}};
    CUmemoryPool pool;
    CUdeviceptr address;

    if (CALL(mem_alloc_async, &address, BYTES, stream)) {
        (void)CALL(memset_d8_async, address, 1, BYTES, stream);
        (void)CALL(mem_free_async, address, stream);
    }
    if (!CALL(mem_pool_create, &pool, &properties))
        return;
    if (CALL(mem_alloc_from_pool_async, &address, BYTES, pool, stream))
        (void)CALL(mem_free_async, address, stream);
    (void)CALL(mem_pool_trim_to, pool, 0);
    (void)CALL(mem_pool_destroy, pool);
}

static void use_host_memory(CUstream stream)
{
    void *pinned, *own = malloc(BYTES);
    CUdeviceptr address;

    if (CALL(mem_host_alloc, &pinned, BYTES, 0)) {
        if (CALL(mem_alloc, &address, BYTES)) {
            (void)CALL(memcpy_htod_async, address, pinned, BYTES, stream);
            (void)CALL(memcpy_dtoh_async, pinned, address, BYTES, stream);
            (void)CALL(mem_free, address);
        }
        (void)CALL(mem_free_host, pinned);
    }
    if (own != NULL && CALL(mem_host_register, own, BYTES, 0))
        (void)CALL(mem_host_unregister, own);
    free(own);
}

static void use_mapped_memory(int device, CUstream stream)
{
    const cxu_mem_properties properties = {.type = CXU_MEM_ALLOCATION_TYPE_PINNED,
                                           .location = {CXU_MEM_LOCATION_TYPE_DEVICE, device}};
    const cxu_mem_access access = {properties.location, CXU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle physical;
    CUdeviceptr range;

    if (!CALL(mem_address_reserve, &range, RANGE_BYTES, 0, 0, 0))
        return;
    if (CALL(mem_create, &physical, RANGE_BYTES, &properties, 0)) {
        if (CALL(mem_map, range, RANGE_BYTES, 0, physical, 0)) {
            (void)CALL(mem_set_access, range, RANGE_BYTES, &access, 1);
            (void)CALL(memset_d8_async, range, 1, BYTES, stream);
            (void)CALL(mem_unmap, range, RANGE_BYTES);
        }
        (void)CALL(mem_release, physical);
    }
    (void)CALL(mem_address_free, range, RANGE_BYTES);
}

/* ---- streams, code, graphs ---- */

static void use_events(CUstream stream)
{
    CUevent first, second;

    if (!CALL(event_create, &first, CXU_EVENT_DEFAULT))
        return;
    if (CALL(event_create, &second, CXU_EVENT_DEFAULT)) {
        (void)CALL(event_record, first, stream);
        (void)CALL(stream_wait_event, stream, first, 0);
        (void)CALL(event_record, second, stream);
        (void)CALL(event_synchronize, second);
        (void)CALL(event_destroy, second);
    }
    (void)CALL(event_destroy, first);
}

static void use_code(CUstream stream)
{
    CUmodule module;
    CUfunction put;
    CUdeviceptr count;
    size_t bytes;

    if (!CALL(module_load_data, &module, code))
        return;
    if (CALL(module_get_function, &put, module, "put") &&
        CALL(module_get_global, &count, &bytes, module, "count")) {
        void *parameters[] = {&count};
        (void)CALL(launch_kernel, put, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL);
    }
    (void)CALL(module_unload, module);
}

static void use_values(CUstream stream)
{
    CUdeviceptr address;

    if (!CALL(mem_alloc, &address, BYTES))
        return;
    (void)CALL(stream_write_value_32, stream, address, 4, 0);
    (void)CALL(stream_wait_value_32, stream, address, 4, CXU_STREAM_WAIT_VALUE_EQ);
    (void)CALL(mem_free, address);
}

static void count_call(void *argument)
{
    __atomic_add_fetch((int *)argument, 1, __ATOMIC_RELAXED);
}

/* With memory of its own. */
static void capture(CUstream stream)
{
    static int calls;
    CUdeviceptr address;
    CUgraph graph;
    CUgraphExec exec;

    if (!CALL(stream_begin_capture, stream, CXU_STREAM_CAPTURE_MODE_RELAXED))
        return;
    if (CALL(mem_alloc_async, &address, BYTES, stream)) {
        (void)CALL(memset_d8_async, address, 1, BYTES, stream);
        (void)CALL(launch_host_func, stream, count_call, &calls);
        (void)CALL(mem_free_async, address, stream);
    }
    if (!CALL(stream_end_capture, stream, &graph))
        return;
    if (CALL(graph_instantiate_with_flags, &exec, graph, 0)) {
        (void)CALL(graph_launch, exec, stream);
        (void)CALL(graph_exec_destroy, exec);
    }
    (void)CALL(graph_destroy, graph);
}

/* ---- requests ---- */

static void use_context(uint64_t *random, int device)
{
    CUstream stream;

    if (!CALL(stream_create, &stream, CXU_STREAM_NON_BLOCKING))
        return;
    switch (request_pick(random, 8)) {
    case 0:
        use_memory(stream);
        break;
    case 1:
        use_ordered_memory(device, stream);
        break;
    case 2:
        use_host_memory(stream);
        break;
    case 3:
        use_mapped_memory(device, stream);
        break;
    case 4:
        use_events(stream);
        break;
    case 5:
        use_code(stream);
        break;
    case 6:
        use_values(stream);
        break;
    default:
        capture(stream);
    }
    use_events(CXU_STREAM_PER_THREAD);
    if (request_pick(random, 2) == 0)
        (void)CALL(stream_synchronize, stream);
    (void)CALL(stream_destroy, stream);
}

static void serve(uint64_t *random)
{
    int device = (int)request_pick(random, REQUEST_DEVICES);
    CUcontext context;

    if (request_pick(random, 2) == 0) {
        if (!CALL(ctx_create_v2, &context, 0, device))
            return;
        for (int i = 0; i < 3; i++)
            use_context(random, device);
        (void)CALL(ctx_destroy, context);
        return;
    }
    if (!CALL(primary_retain, &context, device))
        return;
    if (CALL(ctx_push, context)) {
        use_context(random, device);
        (void)CALL(ctx_pop, NULL);
    }
    (void)CALL(primary_release, device);
}

static bool open_driver(void)
{
    if (!cx_driver_load(getenv("CTXRT_LIBCUDA"), &driver))
        printf("# %s\n", driver.reason);
    return driver.loaded;
}

static void rest(uint64_t generation)
{
    if (generation % 4 == 1)
        (void)CALL(primary_reset, (CUdevice)(generation / 4 % REQUEST_DEVICES));
}

static void close_driver(void)
{
}

const request_kind request_served = {"driver", open_driver, serve, rest, close_driver};
