/* Changed handles of memory, events and pools, while their process lives (T21, T22, T23). */
#include "emu/memory/shared.h"
#include "emu/schedule/shared_event.h"
#include "file_passing.h"
#include "footprint.h"
#include "partner.h"

#include <limits.h>
#include <string.h>

#define FILES CXU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
#define BYTES ((size_t)256 << 10)
#define FILL 0x5a

/* What an exporting process tells. */
typedef struct exports {
    cxu_ipc_mem_handle memory, second;
    cxu_ipc_event_handle event;
    cxu_mem_pool_pointer pooled;
    int link;                /* its descriptor */
    uint64_t private_offset; /* of memory that it does not export */
} exports;

static CUdeviceptr allocate_filled(void)
{
    CUdeviceptr memory;
    MUST(CU(mem_alloc, &memory, BYTES));
    MUST(CU(memset_d8, memory, FILL, BYTES));
    MUST(CU(ctx_synchronize));
    return memory;
}

static void must_be_filled(CUdeviceptr memory)
{
    static unsigned char bytes[BYTES];
    MUST(CU(memcpy_dtoh, bytes, memory, BYTES));
    for (size_t i = 0; i < BYTES; i++)
        if (bytes[i] != FILL)
            _exit(244);
}

static cxu_ipc_mem_handle handle_of(CUdeviceptr memory)
{
    cxu_ipc_mem_handle handle;
    MUST(CU(ipc_get_mem_handle, &handle, memory));
    return handle;
}

static void export_pool(int link, exports *told)
{
    const cxu_mem_pool_properties properties = {.type = CXU_MEM_ALLOCATION_TYPE_PINNED,
                                                .location = {CXU_MEM_LOCATION_TYPE_DEVICE, 0},
                                                .handle_types = FILES};
    CUmemoryPool pool;
    CUdeviceptr memory;
    int file;
    MUST(CU(mem_pool_create, &pool, &properties));
    MUST(CU(mem_alloc_from_pool_async, &memory, BYTES, pool, NULL));
    MUST(CU(stream_synchronize, NULL));
    MUST(CU(mem_pool_export_to_shareable_handle, &file, pool, FILES, 0));
    MUST(CU(mem_pool_export_pointer, &told->pooled, memory));
    if (!send_file(link, file))
        _exit(245);
}

/* Exports something of each kind, and later finds its memory as it was. */
static void export_all(int link)
{
    exports told = {.link = link};
    cx_emu_shared_place place;
    CUcontext context;
    CUevent event;
    char word;
    MUST(CU(init, 0));
    MUST(CU(ctx_create_v2, &context, 0, 0));
    CUdeviceptr memory = allocate_filled(), private = allocate_filled(), second = allocate_filled();
    told.memory = handle_of(memory);
    told.second = handle_of(second);
    memcpy(&place, &told.memory, sizeof place);
    told.private_offset = place.offset + (private - memory);
    MUST(CU(event_create, &event, CXU_EVENT_INTERPROCESS | CXU_EVENT_DISABLE_TIMING));
    MUST(CU(ipc_get_event_handle, &told.event, event));
    export_pool(link, &told);
    if (write(link, &told, sizeof told) != (ssize_t)sizeof told || read(link, &word, 1) != 1)
        _exit(246);
    must_be_filled(memory);
    must_be_filled(private);
    must_be_filled(second);
}

/* ---- the importing process ---- */

static partner other;
static CUcontext context;
static CUmemoryPool pool;
static exports told;
static footprint before;

static void open_and_close_the_true_ones(void)
{
    CUdeviceptr memory, pooled;
    CUevent event;
    EXPECT(SUCCESS, ipc_open_mem_handle, &memory, told.memory, 1);
    EXPECT(SUCCESS, ipc_open_event_handle, &event, told.event);
    EXPECT(SUCCESS, mem_pool_import_pointer, &pooled, pool, &told.pooled);
    EXPECT(SUCCESS, event_query, event);
    EXPECT(SUCCESS, event_destroy, event);
    EXPECT(SUCCESS, mem_free, pooled);
    EXPECT(SUCCESS, ipc_close_mem_handle, memory);
}

static void setup(void)
{
    other = start_partner(export_all);
    start_gpus();
    context = create_on(0);
    int file = receive_file(other.link);
    EXPECT(SUCCESS, mem_pool_import_from_shareable_handle, &pool, (void *)(intptr_t)file, FILES, 0);
    close(file);
    hear(other.link, &told, sizeof told);
    open_and_close_the_true_ones();
    before = footprint_now();
}

static void teardown(void)
{
    const footprint after = footprint_now();
    ck_assert_int_eq(after.files, before.files);
    ck_assert_int_eq(after.mappings, before.mappings);
    open_and_close_the_true_ones();
    say(other.link, "x", 1);
    end_partner(&other);
    EXPECT(SUCCESS, mem_pool_destroy, pool);
    EXPECT(SUCCESS, ctx_destroy, context);
    expect_nothing_left();
}

static void refuse_memory(cxu_ipc_mem_handle handle)
{
    CUdeviceptr memory = 77;
    EXPECT(INVALID_HANDLE, ipc_open_mem_handle, &memory, handle, 1);
    ck_assert_uint_eq(memory, 77);
}

static void refuse_event(cxu_ipc_event_handle handle)
{
    CUevent event = (CUevent)&event;
    EXPECT(INVALID_HANDLE, ipc_open_event_handle, &event, handle);
    ck_assert_ptr_eq(event, (CUevent)&event);
}

static void refuse_pooled(cxu_mem_pool_pointer handle)
{
    CUdeviceptr memory = 77;
    EXPECT(INVALID_VALUE, mem_pool_import_pointer, &memory, pool, &handle);
    ck_assert_uint_eq(memory, 77);
}

static const unsigned char changes[] = {0x01, 0x40, 0xff};

START_TEST(a_handle_of_memory_with_any_byte_changed_is_refused)
{
    for (size_t i = 0; i < sizeof told.memory; i++) {
        cxu_ipc_mem_handle forged = told.memory;
        forged.bytes[i] ^= (char)changes[_i];
        refuse_memory(forged);
    }
}
END_TEST

START_TEST(a_handle_of_an_event_with_any_byte_changed_is_refused)
{
    for (size_t i = 0; i < sizeof told.event; i++) {
        cxu_ipc_event_handle forged = told.event;
        forged.bytes[i] ^= (char)changes[_i];
        refuse_event(forged);
    }
}
END_TEST

START_TEST(a_pointer_of_a_pool_with_any_byte_changed_is_refused)
{
    for (size_t i = 0; i < sizeof told.pooled; i++) {
        cxu_mem_pool_pointer forged = told.pooled;
        forged.bytes[i] ^= changes[_i];
        refuse_pooled(forged);
    }
}
END_TEST

/* Opening again finds the memory by its handle, and believes no more of it. */
START_TEST(a_changed_handle_of_memory_that_is_open_is_refused_too)
{
    CUdeviceptr memory, pooled;
    EXPECT(SUCCESS, ipc_open_mem_handle, &memory, told.memory, 1);
    EXPECT(SUCCESS, mem_pool_import_pointer, &pooled, pool, &told.pooled);
    for (size_t i = 0; i < sizeof told.memory; i++) {
        cxu_ipc_mem_handle forged = told.memory;
        cxu_mem_pool_pointer forged_pointer = told.pooled;
        forged.bytes[i] ^= 0x10;
        forged_pointer.bytes[i] ^= 0x10;
        refuse_memory(forged);
        refuse_pooled(forged_pointer);
    }
    EXPECT(SUCCESS, mem_free, pooled);
    EXPECT(SUCCESS, ipc_close_mem_handle, memory);
}
END_TEST

static void refuse_place(cx_emu_shared_place place)
{
    cxu_ipc_mem_handle forged;
    memcpy(&forged, &place, sizeof place);
    refuse_memory(forged);
}

static cx_emu_shared_place true_place(void)
{
    cx_emu_shared_place place;
    memcpy(&place, &told.memory, sizeof place);
    return place;
}

START_TEST(other_processes_and_descriptors_are_refused)
{
    const int processes[] = {0, -1, 1, INT_MAX, INT_MIN, (int)getpid(), (int)getppid()};
    const int files[] = {-1, 0, 1, 2, told.link, INT_MAX, INT_MIN};
    for (size_t i = 0; i < sizeof processes / sizeof *processes; i++) {
        cx_emu_shared_place forged = true_place();
        forged.where.process = processes[i];
        refuse_place(forged);
    }
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        cx_emu_shared_place forged = true_place();
        forged.where.file = files[i];
        refuse_place(forged);
    }
}
END_TEST

START_TEST(memory_that_was_not_exported_is_refused)
{
    const uint64_t offsets[] = {told.private_offset, true_place().offset + CX_EMU_ALIGNMENT,
                                (uint64_t)1 << 40, UINT64_MAX, UINT64_MAX - 511};
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        cx_emu_shared_place forged = true_place();
        forged.offset = offsets[i];
        refuse_place(forged);
        forged.id = 0;
        refuse_place(forged);
    }
}
END_TEST

START_TEST(the_number_of_another_export_is_refused)
{
    cx_emu_shared_place forged = true_place(), second;
    memcpy(&second, &told.second, sizeof second);
    ck_assert_mem_eq(&forged.where, &second.where, sizeof second.where);
    forged.id = second.id;
    refuse_place(forged);
    forged = true_place();
    forged.offset = second.offset;
    refuse_place(forged);
}
END_TEST

START_TEST(a_handle_of_another_type_is_refused)
{
    cxu_ipc_mem_handle memory;
    cxu_ipc_event_handle event;
    cxu_mem_pool_pointer pooled;
    memcpy(&memory, &told.event, sizeof memory);
    refuse_memory(memory);
    memcpy(&memory, &told.pooled, sizeof memory);
    refuse_memory(memory);
    memcpy(&event, &told.memory, sizeof event);
    refuse_event(event);
    memcpy(&pooled, &told.memory, sizeof pooled);
    refuse_pooled(pooled);
    memcpy(&pooled, &told.event, sizeof pooled);
    refuse_pooled(pooled);
    memset(&memory, 0, sizeof memory);
    refuse_memory(memory);
    memset(&event, 0, sizeof event);
    refuse_event(event);
    memset(&pooled, 0, sizeof pooled);
    refuse_pooled(pooled);
}
END_TEST

/* ---- freed memory ---- */

static void free_what_is_exported(int link)
{
    CUcontext made;
    char word;
    MUST(CU(init, 0));
    MUST(CU(ctx_create_v2, &made, 0, 0));
    CUdeviceptr wall = allocate_filled(), memory = allocate_filled(), again;
    cxu_ipc_mem_handle handles[2] = {handle_of(memory), handle_of(wall)};
    MUST(CU(mem_free, memory));
    if (write(link, handles, sizeof *handles) != (ssize_t)sizeof *handles ||
        read(link, &word, 1) != 1)
        _exit(247);
    again = allocate_filled();
    if (again != memory)
        _exit(248);
    if (write(link, "x", 1) != 1 || read(link, &word, 1) != 1)
        _exit(249);
    handles[1] = handle_of(again);
    if (memcmp(&handles[0], &handles[1], sizeof *handles) == 0)
        _exit(250);
    if (write(link, &handles[1], sizeof *handles) != (ssize_t)sizeof *handles ||
        read(link, &word, 1) != 1)
        _exit(251);
    must_be_filled(again);
}

START_TEST(a_handle_of_freed_memory_does_not_open_what_takes_its_place)
{
    partner freeing = start_partner(free_what_is_exported);
    cxu_ipc_mem_handle handle;
    CUdeviceptr memory;
    char word;
    start_gpus();
    CUcontext own = create_on(0);
    hear(freeing.link, &handle, sizeof handle);
    refuse_memory(handle);
    say(freeing.link, "x", 1);
    hear(freeing.link, &word, 1);
    refuse_memory(handle);
    say(freeing.link, "x", 1);
    hear(freeing.link, &handle, sizeof handle);
    EXPECT(SUCCESS, ipc_open_mem_handle, &memory, handle, 1);
    EXPECT(SUCCESS, ipc_close_mem_handle, memory);
    say(freeing.link, "x", 1);
    end_partner(&freeing);
    EXPECT(SUCCESS, ctx_destroy, own);
    expect_nothing_left();
}
END_TEST

/* ---- a process of its own program ---- */

/* In a program that exec started: the second of the devices is its only one. */
static int fill_from_another_program(int link)
{
    cxu_ipc_mem_handle handle;
    CUcontext own;
    CUdeviceptr memory;
    unsigned int device = 9;
    if (recv(link, &handle, sizeof handle, MSG_WAITALL) != (ssize_t)sizeof handle)
        return 1;
    MUST(CU(init, 0));
    MUST(CU(ctx_create_v2, &own, 0, 0));
    MUST(CU(ipc_open_mem_handle, &memory, handle, 1));
    MUST(CU(pointer_get_attribute, &device, CXU_POINTER_DEVICE_ORDINAL, memory));
    MUST(CU(memset_d8, memory, 3, BYTES));
    MUST(CU(ctx_synchronize));
    MUST(CU(ipc_close_mem_handle, memory));
    MUST(CU(ctx_destroy, own));
    return device == 0 ? 0 : 2;
}

static void run_another_program(int link)
{
    char text[16];
    snprintf(text, sizeof text, "%d", link);
    setenv("CUDA_VISIBLE_DEVICES", "1", 1);
    execl("/proc/self/exe", "check_ipc_forged", "fill", text, (char *)NULL);
    _exit(252);
}

START_TEST(another_program_that_sees_fewer_devices_opens_the_memory)
{
    partner program = start_partner(run_another_program);
    unsigned char byte = 0;
    start_gpus();
    CUcontext own = create_on(1);
    CUdeviceptr memory = allocate_filled();
    cxu_ipc_mem_handle handle = handle_of(memory);
    say(program.link, &handle, sizeof handle);
    end_partner(&program);
    EXPECT(SUCCESS, memcpy_dtoh, &byte, memory + BYTES - 1, 1);
    ck_assert_int_eq(byte, 3);
    EXPECT(SUCCESS, ctx_destroy, own);
    expect_nothing_left();
}
END_TEST

static Suite *forged_suite(void)
{
    Suite *suite = suite_create("forged handles");
    TCase *changed = tcase_create("changed"), *plain = tcase_create("plain");
    tcase_add_checked_fixture(changed, setup, teardown);
    tcase_add_loop_test(changed, a_handle_of_memory_with_any_byte_changed_is_refused, 0,
                        sizeof changes);
    tcase_add_loop_test(changed, a_handle_of_an_event_with_any_byte_changed_is_refused, 0,
                        sizeof changes);
    tcase_add_loop_test(changed, a_pointer_of_a_pool_with_any_byte_changed_is_refused, 0,
                        sizeof changes);
    tcase_add_test(changed, a_changed_handle_of_memory_that_is_open_is_refused_too);
    tcase_add_test(changed, other_processes_and_descriptors_are_refused);
    tcase_add_test(changed, memory_that_was_not_exported_is_refused);
    tcase_add_test(changed, the_number_of_another_export_is_refused);
    tcase_add_test(changed, a_handle_of_another_type_is_refused);
    tcase_add_test(plain, a_handle_of_freed_memory_does_not_open_what_takes_its_place);
    tcase_add_test(plain, another_program_that_sees_fewer_devices_opens_the_memory);
    suite_add_tcase(suite, changed);
    suite_add_tcase(suite, plain);
    return suite;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "fill") == 0)
        return fill_from_another_program(atoi(argv[2]));
    return cx_test_run((Suite *(*const[])(void)){forged_suite, NULL});
}
