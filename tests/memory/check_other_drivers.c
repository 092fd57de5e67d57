/*
 * Drivers that the embedded one is not: functions in the place of its own share memory between
 * processes, cannot pin or map any, report other errors, and lack calls.
 */
#include "device/runtime.h"
#include "fixture.h"
#include "gate.h"
#include "log_lines.h"
#include "memory/block.h"
#include "test.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)

static cx_driver_table beneath;
static log_lines lines = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint64_t live_bytes(void)
{
    cx_context *context;
    ctxrt_context *handle;
    cx_assert_ok(ctxrt_context_current(&handle));
    cx_assert_ok(cx_context_find(handle, &context));
    return cx_context_memory_of(context).bytes;
}

/* ---- memory between processes ---- */

#define OTHER_ADDRESS ((CUdeviceptr)0x7a0000000000u)

static CUdeviceptr exported, closed;
static CUcontext closed_in;
static int opens, closes;
static cxu_result open_result, close_result;

static void name_token(cxu_ipc_mem_handle *out)
{
    for (size_t i = 0; i < sizeof out->bytes; i++)
        out->bytes[i] = (char)(i * 7 + 1);
}

static cxu_result get_handle(cxu_ipc_mem_handle *out, CUdeviceptr pointer)
{
    exported = pointer;
    name_token(out);
    return CXU_SUCCESS;
}

static cxu_result open_handle(CUdeviceptr *out, cxu_ipc_mem_handle handle, unsigned int flags)
{
    cxu_ipc_mem_handle wanted;
    name_token(&wanted);
    if (memcmp(&handle, &wanted, sizeof wanted) != 0 || flags != 1)
        return CXU_INVALID_VALUE;
    opens++;
    if (open_result == CXU_SUCCESS)
        *out = OTHER_ADDRESS;
    return open_result;
}

static cxu_result close_handle(CUdeviceptr pointer)
{
    closed = pointer;
    closes++;
    (void)beneath.ctx_get_current(&closed_in);
    return close_result;
}

static ctxrt_memory *allocate(size_t size_bytes)
{
    ctxrt_memory *memory;
    cx_assert_ok(ctxrt_memory_alloc(size_bytes, &memory));
    return memory;
}

static void export_some(size_t size_bytes, ctxrt_exported_memory *out)
{
    ctxrt_memory *memory = allocate(size_bytes);
    cx_assert_ok(ctxrt_memory_export(memory, out));
    ck_assert_uint_eq(exported, (uintptr_t)ctxrt_memory_pointer(memory));
    ck_assert_uint_eq(out->size_bytes, size_bytes);
    cx_assert_ok(ctxrt_memory_release(memory));
}

static ctxrt_memory *import_some(size_t size_bytes)
{
    ctxrt_memory *memory;
    ctxrt_exported_memory token;
    export_some(size_bytes, &token);
    cx_assert_ok(ctxrt_memory_import(&token, &memory));
    return memory;
}

START_TEST(imported_memory_is_device_memory_until_its_last_count_is_given_back)
{
    ctxrt_memory_info info;
    ctxrt_context *context;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_context_current(&context));
    uint64_t before = live_bytes();
    ctxrt_memory *memory = import_some(3 * MIB);
    cx_assert_ok(ctxrt_memory_describe(memory, &info));
    ck_assert_ptr_eq(info.pointer, (void *)(uintptr_t)OTHER_ADDRESS);
    ck_assert_uint_eq(info.size_bytes, 3 * MIB);
    ck_assert_int_eq(info.kind, CTXRT_MEMORY_DEVICE);
    ck_assert_int_eq(info.device.type, CTXRT_DEVICE_CUDA);
    ck_assert_int_eq(info.device.index, 1);
    ck_assert_ptr_eq(info.context, context);
    ck_assert_int_eq(info.pinned, 0);
    ck_assert_uint_eq(live_bytes(), before + 3 * MIB);
    cx_assert_ok(ctxrt_memory_retain(memory));
    cx_assert_ok(ctxrt_memory_release(memory));
    ck_assert_int_eq(closes, 0);
    cx_assert_ok(ctxrt_memory_release(memory));
    ck_assert_int_eq(closes, 1);
    ck_assert_uint_eq(closed, OTHER_ADDRESS);
    ck_assert_uint_eq(live_bytes(), before);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(imported_memory_that_went_with_a_reset_is_not_closed)
{
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    ctxrt_memory *memory = import_some(MIB);
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_memory_release(memory));
    ck_assert_int_eq(closes, 0);
    ck_assert_uint_eq(live_bytes(), 0);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(imported_memory_that_the_driver_does_not_close_is_gone_all_the_same)
{
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    ctxrt_memory *memory = import_some(MIB);
    close_result = CXU_UNKNOWN;
    cx_assert_error(ctxrt_memory_release(memory), CTXRT_ERROR_DRIVER);
    ck_assert_str_eq(ctxrt_last_error()->driver_call, "cuIpcCloseMemHandle");
    cx_assert_error(ctxrt_memory_release(memory), CTXRT_ERROR_INVALID_HANDLE);
    ck_assert_int_eq(closes, 1);
    ck_assert_uint_eq(live_bytes(), 0);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(imported_memory_is_closed_in_its_context_whatever_is_current)
{
    ctxrt_context *context;
    CUcontext native, before, after;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_context_current(&context));
    cx_assert_ok(ctxrt_context_native(context, &native));
    ctxrt_memory *memory = import_some(MIB);
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    ck_assert_int_eq(beneath.ctx_get_current(&before), CXU_SUCCESS);
    cx_assert_ok(ctxrt_memory_release(memory));
    ck_assert_int_eq(closes, 1);
    ck_assert_ptr_eq(closed_in, native);
    ck_assert_int_eq(beneath.ctx_get_current(&after), CXU_SUCCESS);
    ck_assert_ptr_eq(after, before);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(an_import_that_the_driver_refuses_leaves_nothing)
{
    ctxrt_exported_memory token;
    ctxrt_memory *memory = NULL;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    export_some(MIB, &token);
    uint64_t before = live_bytes();
    open_result = CXU_OUT_OF_MEMORY;
    cx_assert_error(ctxrt_memory_import(&token, &memory), CTXRT_ERROR_OUT_OF_MEMORY);
    token.token[63]++;
    cx_assert_error(ctxrt_memory_import(&token, &memory), CTXRT_ERROR_DRIVER);
    ck_assert_ptr_null(memory);
    ck_assert_int_eq(opens, 1);
    ck_assert_int_eq(closes, 0);
    ck_assert_uint_eq(live_bytes(), before);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

static void assert_not_exported(ctxrt_memory *memory)
{
    ctxrt_exported_memory token = {.size_bytes = 17};
    exported = 0;
    cx_assert_error(ctxrt_memory_export(memory, &token), CTXRT_ERROR_INVALID_ARGUMENT);
    ck_assert_uint_eq(exported, 0);
    ck_assert_uint_eq(token.size_bytes, 17);
}

START_TEST(only_device_memory_is_exported)
{
    ctxrt_memory *host, *pinned;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_memory_alloc_host(64, &host));
    cx_assert_ok(ctxrt_memory_alloc_pinned(64, &pinned));
    assert_not_exported(host);
    assert_not_exported(pinned);
    cx_assert_ok(ctxrt_memory_release(host));
    cx_assert_ok(ctxrt_memory_release(pinned));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(memory_that_begins_inside_an_allocation_of_the_driver_is_not_exported)
{
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    ctxrt_memory *first = allocate(64), *second = allocate(64);
    assert_not_exported(second);
    ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, "begins 256 bytes into"));
    cx_assert_ok(ctxrt_memory_release(first));
    cx_assert_ok(ctxrt_memory_release(second));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* ---- no pinned memory ---- */

static cxu_result pin_nothing(void **out_pointer, size_t size_bytes, unsigned int flags)
{
    (void)out_pointer, (void)size_bytes, (void)flags;
    return CXU_NOT_SUPPORTED;
}

START_TEST(where_the_cpu_s_driver_cannot_pin_it_has_plain_host_memory)
{
    enum { COUNT = 3 };
    ctxrt_memory *memories[COUNT], *none = NULL;
    ctxrt_memory_info info;
    ctxrt_context *context;
    cx_drivers[0].table.mem_host_alloc = pin_nothing;
    cx_assert_ok(ctxrt_device_push(CTXRT_CPU(0)));
    cx_assert_ok(ctxrt_context_current(&context));
    for (int i = 0; i < COUNT; i++) {
        cx_assert_ok(ctxrt_memory_alloc_pinned(1000, &memories[i]));
        cx_assert_ok(ctxrt_memory_describe(memories[i], &info));
        ck_assert_int_eq(info.kind, CTXRT_MEMORY_HOST);
        ck_assert_int_eq(info.pinned, 0);
        ck_assert_uint_eq(info.size_bytes, 1000);
        ck_assert_int_eq(info.device.type, CTXRT_DEVICE_CPU);
        ck_assert_ptr_eq(info.context, context);
        ck_assert_uint_eq((uintptr_t)info.pointer % 64, 0);
        for (int byte = 0; byte < 1000; byte++)
            ck_assert_int_eq(((unsigned char *)info.pointer)[byte], 0);
        memset(info.pointer, 0xff, 1000);
    }
    ck_assert_int_eq(log_lines_with(&lines, "cannot pin memory"), 1);
    ck_assert_uint_eq(live_bytes(), COUNT * 1000);
    cx_assert_error(ctxrt_memory_alloc_pinned(SIZE_MAX - 5, &none), CTXRT_ERROR_OUT_OF_MEMORY);
    ck_assert_ptr_null(none);
    ck_assert_uint_eq(live_bytes(), COUNT * 1000);
    cx_assert_error(ctxrt_device_release(CTXRT_CPU(0)), CTXRT_ERROR_IN_USE);
    for (int i = 0; i < COUNT; i++)
        cx_assert_ok(ctxrt_memory_release(memories[i]));
    ck_assert_uint_eq(live_bytes(), 0);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_gpu_whose_driver_cannot_pin_has_none)
{
    ctxrt_memory *none = NULL;
    cx_drivers[0].table.mem_host_alloc = pin_nothing;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_error(ctxrt_memory_alloc_pinned(1000, &none), CTXRT_ERROR_NOT_SUPPORTED);
    ck_assert_ptr_null(none);
    ck_assert_int_eq(log_lines_with(&lines, "cannot pin memory"), 0);
    ck_assert_uint_eq(live_bytes(), 0);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* ---- no mapped memory ---- */

static cxu_result create_nothing(CUmemGenericAllocationHandle *out_handle, size_t size_bytes,
                                 const cxu_mem_properties *properties, unsigned long long flags)
{
    (void)out_handle, (void)size_bytes, (void)properties, (void)flags;
    return CXU_UNKNOWN;
}

START_TEST(what_keeps_a_driver_from_mapping_is_what_the_error_says)
{
    ctxrt_allocator *allocator;
    ctxrt_memory *none = NULL;
    ctxrt_allocator_info info = CTXRT_ALLOCATOR_INFO_INIT;
    ctxrt_allocator_options options = CTXRT_ALLOCATOR_OPTIONS_INIT;
    options.source = CTXRT_ALLOCATOR_SOURCE_VMM;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_allocator_create(&options, &allocator));
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    cx_drivers[0].table.mem_create = create_nothing;
    cx_assert_error(ctxrt_memory_alloc(MIB, &none), CTXRT_ERROR_DRIVER);
    ck_assert_ptr_null(none);
    ck_assert_str_eq(ctxrt_last_error()->driver_call, "cuMemCreate");
    ck_assert_int_eq(ctxrt_last_error()->driver_result, CXU_UNKNOWN);
    cx_assert_ok(ctxrt_allocator_describe(allocator, &info));
    ck_assert_uint_eq(info.out_of_memory, 0);
    ck_assert_uint_eq(info.reserved.current_bytes, 0);
    cx_drivers[0].table.mem_create = beneath.mem_create;
    cx_assert_ok(ctxrt_memory_release(allocate(MIB)));
    cx_assert_ok(ctxrt_frame_set_allocator(NULL));
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* ---- errors ---- */

/* A context that other code took away took its memory along. */
START_TEST(a_free_fails_unless_the_context_is_gone)
{
    static const cxu_result good[] = {CXU_SUCCESS, CXU_CONTEXT_IS_DESTROYED, CXU_INVALID_CONTEXT};
    static const cxu_result bad[] = {CXU_INVALID_VALUE, CXU_UNKNOWN, CXU_ILLEGAL_ADDRESS};
    cx_context *context;
    ctxrt_context *handle;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(2)));
    cx_assert_ok(ctxrt_context_current(&handle));
    cx_assert_ok(cx_context_find(handle, &context));
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        cx_assert_ok(cx_block_check_freed(context, CX_SLOT_mem_free, good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_int_ne(cx_block_check_freed(context, CX_SLOT_mem_free, bad[i]), CTXRT_SUCCESS);
        ck_assert_int_eq(ctxrt_last_error()->driver_result, bad[i]);
        ck_assert_str_eq(ctxrt_last_error()->driver_call, "cuMemFree_v2");
    }
    ck_assert_int_eq(beneath.primary_reset(3), CXU_SUCCESS);
    cx_assert_ok(cx_block_check_freed(context, CX_SLOT_mem_free, CXU_INVALID_VALUE));
    ck_assert_int_ne(cx_block_check_freed(context, CX_SLOT_mem_free, CXU_UNKNOWN), CTXRT_SUCCESS);
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(2)));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

static cxu_result tell_nothing(void *out_value, cxu_pointer_attribute attribute,
                               CUdeviceptr pointer)
{
    (void)out_value, (void)attribute, (void)pointer;
    return CXU_UNKNOWN;
}

START_TEST(memory_of_which_a_driver_tells_nothing_is_not_copied)
{
    char from[] = "these", to[] = "there";
    cx_drivers[0].table.pointer_get_attribute = tell_nothing;
    cx_assert_error(ctxrt_copy(to, from, sizeof from, CTXRT_COPY_ANY), CTXRT_ERROR_DRIVER);
    cx_drivers[0].table.pointer_get_attribute = beneath.pointer_get_attribute;
    ck_assert_str_eq(to, "there");
    cx_assert_ok(ctxrt_copy(to, from, sizeof from, CTXRT_COPY_ANY));
    ck_assert_str_eq(to, "these");
}
END_TEST

static cxu_result push_nothing(CUcontext context)
{
    (void)context;
    return CXU_UNKNOWN;
}

static int custom_frees;

static ctxrt_status custom_alloc(void *user_data, size_t size_bytes, ctxrt_stream *stream,
                                 void **out_pointer)
{
    (void)size_bytes, (void)stream;
    *out_pointer = user_data;
    return CTXRT_SUCCESS;
}

static ctxrt_status custom_free(void *user_data, void *pointer, size_t size_bytes)
{
    (void)size_bytes;
    ck_assert_ptr_eq(pointer, user_data);
    custom_frees++;
    return CTXRT_SUCCESS;
}

START_TEST(a_custom_allocator_frees_nothing_where_its_context_cannot_be_current)
{
    static char bytes[64];
    const ctxrt_allocator_vtable vtable = {sizeof vtable, custom_alloc, custom_free, NULL};
    ctxrt_allocator *allocator;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_allocator_create_custom(&vtable, bytes, &allocator));
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    ctxrt_memory *refused = allocate(sizeof bytes), *freed = allocate(sizeof bytes);
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    cx_drivers[0].table.ctx_push = push_nothing;
    cx_assert_error(ctxrt_memory_release(refused), CTXRT_ERROR_DRIVER);
    cx_drivers[0].table.ctx_push = beneath.ctx_push;
    ck_assert_int_eq(custom_frees, 0);
    cx_assert_ok(ctxrt_memory_release(freed));
    ck_assert_int_eq(custom_frees, 1);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_frame_set_allocator(NULL));
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* ---- calls that are not there ---- */

enum { WIDTH = 40, HEIGHT = 3, DEPTH = 4, PITCH = 48, ROWS = 5, BOX = PITCH * ROWS * DEPTH };

static bool is_within(size_t at, size_t depth)
{
    return at % PITCH < WIDTH && at / PITCH % ROWS < HEIGHT && at / (PITCH * ROWS) < depth;
}

static void assert_region(const unsigned char *copied, size_t depth)
{
    for (size_t at = 0; at < BOX; at++)
        ck_assert_int_eq(copied[at], is_within(at, depth) ? (int)(at % 251) : 0xee);
}

static ctxrt_status copy_region(void *to, const void *from, size_t depth)
{
    const ctxrt_copy_region region = {
        .destination = to,
        .destination_pitch_bytes = PITCH,
        .destination_slice_height = ROWS,
        .source = from,
        .source_pitch_bytes = PITCH,
        .source_slice_height = ROWS,
        .width_bytes = WIDTH,
        .height = HEIGHT,
        .depth = depth,
    };
    return depth == 1 ? ctxrt_copy_2d(&region) : ctxrt_copy_3d(&region);
}

static void copy_regions(void *device, size_t depth)
{
    unsigned char source[BOX], seen[BOX];
    for (size_t at = 0; at < BOX; at++)
        source[at] = (unsigned char)(at % 251);
    cx_assert_ok(ctxrt_fill(device, 0xee, BOX));
    cx_assert_ok(copy_region(device, source, depth));
    cx_assert_ok(ctxrt_copy(seen, device, BOX, CTXRT_COPY_ANY));
    assert_region(seen, depth);
    memset(seen, 0xee, BOX);
    cx_assert_ok(copy_region(seen, device, depth));
    assert_region(seen, depth);
}

static int region_calls;

/* Drivers refuse a pitch that is less than a row, even of a single row. */
static cxu_result count_2d(const cxu_memcpy_2d *copy, CUstream stream)
{
    region_calls++;
    if (copy->source_pitch_bytes < copy->width_bytes ||
        copy->destination_pitch_bytes < copy->width_bytes)
        return CXU_INVALID_VALUE;
    return beneath.memcpy_2d_async(copy, stream);
}

static cxu_result count_3d(const cxu_memcpy_3d *copy, CUstream stream)
{
    region_calls++;
    if (copy->source_pitch_bytes < copy->width_bytes ||
        copy->destination_pitch_bytes < copy->width_bytes)
        return CXU_INVALID_VALUE;
    return beneath.memcpy_3d_async(copy, stream);
}

START_TEST(regions_arrive_at_once_or_row_by_row_where_a_driver_lacks_them)
{
    void *managed;
    ctxrt_memory *memory;
    cx_driver *driver = &cx_drivers[0];
    driver->table.memcpy_2d_async = count_2d;
    driver->table.memcpy_3d_async = count_3d;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    memory = allocate(BOX);
    cx_assert_ok(ctxrt_alloc_managed(BOX, &managed));
    for (int lacks = 0; lacks < 2; lacks++) {
        driver->missing[CX_SLOT_memcpy_2d_async] = lacks;
        driver->missing[CX_SLOT_memcpy_3d_async] = lacks;
        region_calls = 0;
        for (size_t depth = 1; depth <= DEPTH; depth += DEPTH - 1) {
            copy_regions(ctxrt_memory_pointer(memory), depth);
            copy_regions(managed, depth);
        }
        ck_assert_int_eq(region_calls, lacks ? 0 : 8);
    }
    driver->missing[CX_SLOT_memcpy_2d_async] = driver->missing[CX_SLOT_memcpy_3d_async] = false;
    cx_assert_ok(ctxrt_free(managed));
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_single_row_has_a_pitch_where_it_is_given_to_a_driver)
{
    unsigned char row[WIDTH] = {[0 ... WIDTH - 1] = 7}, seen[WIDTH] = {0};
    cx_drivers[0].table.memcpy_2d_async = count_2d;
    cx_drivers[0].table.memcpy_3d_async = count_3d;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    ctxrt_memory *memory = allocate(WIDTH);
    ctxrt_copy_region one = {.destination = ctxrt_memory_pointer(memory),
                             .source = row,
                             .width_bytes = WIDTH,
                             .height = 1,
                             .depth = 1};
    cx_assert_ok(ctxrt_copy_2d(&one));
    one.source = one.destination;
    one.destination = seen;
    cx_assert_ok(ctxrt_copy_3d(&one));
    ck_assert_int_eq(memcmp(seen, row, WIDTH), 0);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

static int peer_calls, unified_calls;

static cxu_result count_peer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                             CUcontext from_context, size_t bytes, CUstream stream)
{
    peer_calls++;
    return beneath.memcpy_peer_async(to, to_context, from, from_context, bytes, stream);
}

static cxu_result count_unified(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    unified_calls++;
    return beneath.memcpy_unified_async(to, from, bytes, stream);
}

/* The call for memory of one context may refuse another device's. */
START_TEST(between_two_gpus_the_call_for_two_contexts_is_made_where_there_is_one)
{
    int byte = 0;
    ctxrt_memory *memories[2];
    void *pointers[2];
    cx_driver *driver = &cx_drivers[0];
    driver->table.memcpy_peer_async = count_peer;
    driver->table.memcpy_unified_async = count_unified;
    for (int i = 0; i < 2; i++) {
        cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(i)));
        memories[i] = allocate(64);
        pointers[i] = ctxrt_memory_pointer(memories[i]);
        cx_assert_ok(ctxrt_fill(pointers[i], i, 64));
    }
    for (int lacks = 0; lacks < 2; lacks++) {
        driver->missing[CX_SLOT_memcpy_peer_async] = lacks;
        peer_calls = unified_calls = 0;
        cx_assert_ok(ctxrt_copy(pointers[0], pointers[1], 64, CTXRT_COPY_ANY));
        ck_assert_int_eq(peer_calls, !lacks);
        ck_assert_int_eq(unified_calls, lacks);
        cx_assert_ok(ctxrt_copy(&byte, (char *)pointers[0] + 63, 1, CTXRT_COPY_ANY));
        ck_assert_int_eq(byte, 1);
        cx_assert_ok(ctxrt_fill(pointers[0], 0, 64));
    }
    driver->missing[CX_SLOT_memcpy_peer_async] = false;
    peer_calls = unified_calls = 0;
    cx_assert_ok(ctxrt_copy(pointers[0], (char *)pointers[0] + 32, 16, CTXRT_COPY_ANY));
    ck_assert_int_eq(peer_calls + unified_calls, 0);
    for (int i = 0; i < 2; i++) {
        cx_assert_ok(ctxrt_memory_release(memories[i]));
        cx_assert_ok(ctxrt_stack_pop());
    }
}
END_TEST

static void start(void)
{
    cx_fixture_start();
    cx_fixture_needs_emulated("a table that can be replaced");
    beneath = cx_drivers[0].table;
    cx_drivers[0].table.ipc_get_mem_handle = get_handle;
    cx_drivers[0].table.ipc_open_mem_handle = open_handle;
    cx_drivers[0].table.ipc_close_mem_handle = close_handle;
    opens = closes = 0;
    open_result = close_result = CXU_SUCCESS;
    cx_assert_ok(ctxrt_log_set(log_lines_take, &lines, CTXRT_LOG_WARNING));
}

static void end(void)
{
    cx_drivers[0].table = beneath;
    cx_fixture_end();
    cx_assert_ok(ctxrt_log_set(NULL, NULL, CTXRT_LOG_WARNING));
}

static Suite *other_drivers_suite(void)
{
    Suite *suite = suite_create("other_drivers");
    TCase *tcase = tcase_create("other drivers");
    tcase_add_checked_fixture(tcase, start, end);
    tcase_add_test(tcase, imported_memory_is_device_memory_until_its_last_count_is_given_back);
    tcase_add_test(tcase, imported_memory_that_went_with_a_reset_is_not_closed);
    tcase_add_test(tcase, imported_memory_that_the_driver_does_not_close_is_gone_all_the_same);
    tcase_add_test(tcase, imported_memory_is_closed_in_its_context_whatever_is_current);
    tcase_add_test(tcase, an_import_that_the_driver_refuses_leaves_nothing);
    tcase_add_test(tcase, only_device_memory_is_exported);
    tcase_add_test(tcase, memory_that_begins_inside_an_allocation_of_the_driver_is_not_exported);
    tcase_add_test(tcase, where_the_cpu_s_driver_cannot_pin_it_has_plain_host_memory);
    tcase_add_test(tcase, a_gpu_whose_driver_cannot_pin_has_none);
    tcase_add_test(tcase, what_keeps_a_driver_from_mapping_is_what_the_error_says);
    tcase_add_test(tcase, a_free_fails_unless_the_context_is_gone);
    tcase_add_test(tcase, memory_of_which_a_driver_tells_nothing_is_not_copied);
    tcase_add_test(tcase, a_custom_allocator_frees_nothing_where_its_context_cannot_be_current);
    tcase_add_test(tcase, regions_arrive_at_once_or_row_by_row_where_a_driver_lacks_them);
    tcase_add_test(tcase, a_single_row_has_a_pitch_where_it_is_given_to_a_driver);
    tcase_add_test(tcase, between_two_gpus_the_call_for_two_contexts_is_made_where_there_is_one);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(other_drivers_suite);
