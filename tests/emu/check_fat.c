/* Fat binaries: compressed code, and code for several devices (K1). */
#include "config.h"
#include "emu/module/unpack.h"
#include "kernels.h"
#include "random.h"
#include "work_fixture.h"

#include <stdlib.h>
#include <string.h>

#ifdef HAVE_LZ4
#include <lz4.h>
#endif
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#define FAT_BYTES ((size_t)64 << 10)
#define HEADER_BYTES 16
#define ENTRY_BYTES 64

enum { PTX = 1, MACHINE = 2, PLAIN = 0, LZ4 = 0x2000, ZSTD = 0x8000 };

static struct {
    _Alignas(8) unsigned char bytes[FAT_BYTES];
    size_t used;
} fat;

static void set(size_t at, uint64_t value, size_t size)
{
    memcpy(fat.bytes + at, &value, size);
}

static void begin_fat(void)
{
    memset(&fat, 0, sizeof fat);
    set(0, 0xba55ed50, 4);
    set(4, 1, 2);
    set(6, HEADER_BYTES, 2);
    fat.used = HEADER_BYTES;
}

/* Where it begins. */
static size_t add_entry(int kind, int architecture, uint64_t flags, const void *bytes, size_t size)
{
    size_t at = fat.used, padded = (size + 7) / 8 * 8;
    set(at, (uint64_t)kind, 2);
    set(at + 4, ENTRY_BYTES, 4);
    set(at + 8, padded, 8);
    set(at + 28, (uint64_t)architecture, 4);
    set(at + 40, flags, 8);
    memcpy(fat.bytes + at + ENTRY_BYTES, bytes, size);
    fat.used += ENTRY_BYTES + padded;
    set(8, fat.used - HEADER_BYTES, 8);
    return at;
}

static size_t pack(uint64_t flags, const char *text, void *packed, size_t room)
{
    (void)flags, (void)text, (void)packed, (void)room;
#ifdef HAVE_LZ4
    if (flags == LZ4)
        return (size_t)LZ4_compress_default(text, packed, (int)strlen(text) + 1, (int)room);
#endif
#ifdef HAVE_ZSTD
    if (flags == ZSTD)
        return ZSTD_compress(packed, room, text, strlen(text) + 1, 3);
#endif
    return 0;
}

static size_t add_packed(int architecture, uint64_t flags, const char *text)
{
    static unsigned char packed[FAT_BYTES / 2];
    size_t size = pack(flags, text, packed, sizeof packed);
    ck_assert(size > 0 && size < strlen(text));
    size_t at = add_entry(PTX, architecture, flags, packed, size);
    set(at + 16, size, 4);
    set(at + 56, strlen(text) + 1, 8);
    return at;
}

static cxu_result load(CUmodule *out_module)
{
    return cx_emu_call_module_load_data(out_module, fat.bytes);
}

static bool has(CUmodule module, const char *kernel)
{
    CUfunction function;
    return cx_emu_call_module_get_function(&function, module, kernel) == CXU_SUCCESS;
}

#define KERNEL(target, name)                                      \
    ".version 6.3\n.target " target "\n.address_size 64\n.visible" \
    " .entry " name "()\n{\n    ret;\n}\n"

/* ---- compressed ---- */

static const struct {
    uint64_t flags;
    cx_emu_packing packing;
} packings[] = {{LZ4, CX_EMU_PACKING_LZ4}, {ZSTD, CX_EMU_PACKING_ZSTD}};

START_TEST(compressed_code_is_loaded_and_runs)
{
    CUmodule module = NULL;
    CUfunction function = NULL;
    uint32_t count = 8, found[8];
    CUdeviceptr at = make_memory(sizeof found);
    void *parameters[] = {&at, &count};

    if (!cx_emu_unpacks(packings[_i].packing))
        return;
    begin_fat();
    add_entry(MACHINE, 75, PLAIN, "\177ELF", 4);
    add_packed(75, packings[_i].flags, PTX_ALL);
    ck_success(load(&module));
    memset(fat.bytes, 0xff, sizeof fat.bytes);
    ck_success(cx_emu_call_module_get_function(&function, module, "add_one"));
    ck_success(cx_emu_call_memset_d32(at, 5, count));
    ck_success(
        cx_emu_call_launch_kernel(function, 1, 1, 1, 8, 1, 1, 0, NULL, parameters, NULL));
    ck_success(cx_emu_call_ctx_synchronize());
    read_device(found, at, sizeof found);
    for (uint32_t i = 0; i < count; i++)
        ck_assert_uint_eq(found[i], 6);
}
END_TEST

START_TEST(compressed_code_can_be_linked)
{
    CUlinkState state = NULL;
    CUmodule module = NULL;
    void *image;
    size_t size;

    if (!cx_emu_unpacks(packings[_i].packing))
        return;
    begin_fat();
    add_packed(75, packings[_i].flags, PTX_ALL);
    ck_success(cx_emu_call_link_create(0, NULL, NULL, &state));
    ck_success(cx_emu_call_link_add_data(state, CXU_JIT_INPUT_FATBINARY, fat.bytes, fat.used,
                                         "fat", 0, NULL, NULL));
    ck_success(cx_emu_call_link_complete(state, &image, &size));
    ck_success(cx_emu_call_module_load_data(&module, image));
    ck_assert(has(module, "add_one"));
    ck_success(cx_emu_call_link_destroy(state));
}
END_TEST

START_TEST(sizes_that_are_not_so_make_no_image)
{
    CUmodule module;
    const size_t bytes = strlen(PTX_ALL) + 1;

    if (!cx_emu_unpacks(packings[_i].packing))
        return;
    const uint64_t wrong_sizes[] = {0, bytes - 1, bytes + 1, (uint64_t)1 << 40, UINT64_MAX};
    for (size_t i = 0; i < sizeof wrong_sizes / sizeof wrong_sizes[0]; i++) {
        begin_fat();
        set(add_packed(75, packings[_i].flags, PTX_ALL) + 56, wrong_sizes[i], 8);
        ck_result(load(&module), INVALID_IMAGE);
    }
    for (int i = 0; i < 3; i++) {
        uint32_t packed;
        begin_fat();
        size_t at = add_packed(75, packings[_i].flags, PTX_ALL) + 16;
        memcpy(&packed, fat.bytes + at, sizeof packed);
        set(at, i == 0 ? 0 : i == 1 ? packed - 1 : packed + 8, 4);
        ck_result(load(&module), INVALID_IMAGE);
    }
}
END_TEST

START_TEST(compressed_code_ends_with_its_entry)
{
    CUmodule module;

    if (!cx_emu_unpacks(packings[_i].packing))
        return;
    begin_fat();
    set(add_packed(75, packings[_i].flags, PTX_ALL) + 8, 8, 8);
    set(8, ENTRY_BYTES + 8, 8);
    ck_result(load(&module), INVALID_IMAGE);
}
END_TEST

START_TEST(what_is_built_without_is_said_to_be_compressed)
{
    char said[256] = "";
    cxu_jit_option options[] = {CXU_JIT_ERROR_LOG_BUFFER, CXU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {said, (void *)(uintptr_t)sizeof said};
    CUmodule module;

    begin_fat();
    set(add_entry(PTX, 75, packings[_i].flags, "nothing", 7) + 16, 7, 4);
    cxu_result result =
        cx_emu_call_module_load_data_ex(&module, fat.bytes, 2, options, values);
    ck_assert_ptr_nonnull(strstr(said, cx_emu_packing_name(packings[_i].packing)));
    if (cx_emu_unpacks(packings[_i].packing))
        ck_result(result, INVALID_IMAGE);
    else
        ck_result(result, NOT_SUPPORTED);
}
END_TEST

START_TEST(damaged_code_is_refused_or_is_code)
{
    uint64_t state = 0x9e3779b97f4a7c15u;
    CUmodule module;

    if (!cx_emu_unpacks(packings[_i].packing))
        return;
    for (int round = 0; round < 300; round++) {
        begin_fat();
        add_packed(75, packings[_i].flags, KERNEL("sm_75", "that_has_a_long_name_a_long_name"));
        fat.bytes[HEADER_BYTES + next_random(&state) % (fat.used - HEADER_BYTES)] ^=
            (unsigned char)(1 + next_random(&state) % 255);
        if (load(&module) == CXU_SUCCESS)
            ck_success(cx_emu_call_module_unload(module));
    }
}
END_TEST

/* ---- for several devices ---- */

static void add_for(int architecture)
{
    static const struct {
        int architecture;
        const char *text;
    } texts[] = {{50, KERNEL("sm_50", "of_50")},
                 {70, KERNEL("sm_70", "of_70")},
                 {75, KERNEL("sm_75", "of_75")},
                 {90, KERNEL("sm_90", "of_90")},
                 {120, KERNEL("sm_120", "of_120")}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (texts[i].architecture == architecture)
            add_entry(PTX, architecture, PLAIN, texts[i].text, strlen(texts[i].text) + 1);
}

START_TEST(of_code_for_several_devices_the_newest_that_fits_is_taken)
{
    static const struct {
        int first, second, third;
        const char *taken;
    } orders[] = {{50, 70, 90, "of_70"}, {70, 90, 50, "of_70"},  {90, 70, 50, "of_70"},
                  {90, 50, 70, "of_70"}, {120, 90, 75, "of_75"}, {75, 120, 90, "of_75"},
                  {70, 75, 90, "of_75"}, {75, 70, 90, "of_75"}};
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        CUmodule module = NULL;
        begin_fat();
        add_for(orders[i].first);
        add_for(orders[i].second);
        add_entry(MACHINE, 86, PLAIN, "\177ELF", 4);
        add_for(orders[i].third);
        ck_success(load(&module));
        ck_assert_msg(has(module, orders[i].taken), "%s, order %zu", orders[i].taken, i);
        ck_success(cx_emu_call_module_unload(module));
    }
}
END_TEST

START_TEST(where_none_fits_the_nearest_is_taken)
{
    CUmodule module = NULL;

    begin_fat();
    add_for(_i == 0 ? 120 : 90);
    add_for(_i == 0 ? 90 : 120);
    ck_success(load(&module));
    ck_assert(has(module, "of_90"));
    ck_success(cx_emu_call_module_unload(module));
}
END_TEST

static Suite *fat_suite(void)
{
    const int count = sizeof packings / sizeof packings[0];
    Suite *suite = suite_create("fat");
    TCase *packed = tcase_create("compressed"), *several = tcase_create("several");

    tcase_add_checked_fixture(packed, work_setup, work_teardown);
    tcase_add_loop_test(packed, compressed_code_is_loaded_and_runs, 0, count);
    tcase_add_loop_test(packed, compressed_code_can_be_linked, 0, count);
    tcase_add_loop_test(packed, sizes_that_are_not_so_make_no_image, 0, count);
    tcase_add_loop_test(packed, compressed_code_ends_with_its_entry, 0, count);
    tcase_add_loop_test(packed, what_is_built_without_is_said_to_be_compressed, 0, count);
    tcase_add_loop_test(packed, damaged_code_is_refused_or_is_code, 0, count);
    suite_add_tcase(suite, packed);
    tcase_add_checked_fixture(several, work_setup, work_teardown);
    tcase_add_test(several, of_code_for_several_devices_the_newest_that_fits_is_taken);
    tcase_add_loop_test(several, where_none_fits_the_nearest_is_taken, 0, 2);
    suite_add_tcase(suite, several);
    return suite;
}

CX_TESTS(fat_suite);
