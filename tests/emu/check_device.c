#include "gpus.h"

#include "emu/device/board.h"
#include "emu/device/visible_devices.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* I5 */
START_TEST(a_bad_ordinal_is_invalid_device)
{
    static const int bad[] = {-1, GPUS, 999};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CUdevice device = 77;
        int value;
        char text[64];
        EXPECT(INVALID_DEVICE, device_get, &device, bad[i]);
        ck_assert_int_eq(device, 77);
        EXPECT(INVALID_DEVICE, device_can_access_peer, &value, 0, bad[i]);
        EXPECT(INVALID_DEVICE, device_can_access_peer, &value, bad[i], 0);
        EXPECT(INVALID_DEVICE, device_get_attribute, &value, CXU_ATTRIBUTE_WARP_SIZE, bad[i]);
        EXPECT(INVALID_DEVICE, device_get_name, text, sizeof text, bad[i]);
        EXPECT(INVALID_DEVICE, device_total_mem, &(size_t){0}, bad[i]);
        EXPECT(INVALID_DEVICE, device_get_uuid, &(cxu_uuid){{0}}, bad[i]);
        EXPECT(INVALID_DEVICE, device_get_pci_bus_id, text, sizeof text, bad[i]);
    }
    EXPECT(INVALID_VALUE, device_get, NULL, 0);
    EXPECT(INVALID_VALUE, device_get_count, NULL);
}
END_TEST

START_TEST(a_device_has_a_name_cut_to_fit)
{
    char name[64], shorter[6];
    EXPECT(SUCCESS, device_get_name, name, sizeof name, 0);
    ck_assert_str_eq(name, "ctxrt emulated GPU");
    EXPECT(SUCCESS, device_get_name, shorter, sizeof shorter, 0);
    ck_assert_str_eq(shorter, "ctxrt");
    EXPECT(INVALID_VALUE, device_get_name, name, 0, 0);
    EXPECT(INVALID_VALUE, device_get_name, NULL, 5, 0);
}
END_TEST

START_TEST(every_device_has_a_uuid_of_its_own)
{
    cxu_uuid uuids[GPUS], again;
    for (int i = 0; i < GPUS; i++) {
        EXPECT(SUCCESS, device_get_uuid, &uuids[i], i);
        EXPECT(SUCCESS, device_get_uuid_v2, &again, i);
        ck_assert_mem_eq(&uuids[i], &again, sizeof again);
        for (int j = 0; j < i; j++)
            ck_assert_mem_ne(&uuids[i], &uuids[j], sizeof again);
    }
}
END_TEST

START_TEST(a_pci_address_leads_back_to_its_device)
{
    for (int i = 0; i < GPUS; i++) {
        char text[13], expected[13];
        CUdevice device = -1;
        snprintf(expected, sizeof expected, "0000:%02x:00.0", (unsigned int)i % 16 + 1);
        EXPECT(SUCCESS, device_get_pci_bus_id, text, sizeof text, i);
        ck_assert_str_eq(text, expected);
        EXPECT(SUCCESS, device_get_by_pci_bus_id, &device, text);
        ck_assert_int_eq(device, i);
        EXPECT(SUCCESS, device_get_by_pci_bus_id, &device, text + 5);
        ck_assert_int_eq(device, i);
        char wide[17] = "0000"; /* as nvidia-smi prints it */
        strcat(wide, text);
        EXPECT(SUCCESS, device_get_by_pci_bus_id, &device, wide);
        ck_assert_int_eq(device, i);
    }
    CUdevice device = -1;
    EXPECT(SUCCESS, device_get_by_pci_bus_id, &device, "0:2:0");
    ck_assert_int_eq(device, 1);
    EXPECT(INVALID_VALUE, device_get_pci_bus_id, (char[12]){""}, 12, 0);
}
END_TEST

START_TEST(what_is_no_pci_address_is_an_error)
{
    static const char *const malformed[] = {"", "gpu", "0000:01:00.0x", "0000:01", "-1:01:00.0",
                                            "000000000:01:00.0"};
    static const char *const absent[] = {"0000:40:00.0", "0001:01:00.0", "0000:01:01.0",
                                         "0000:01:00.1"};
    CUdevice device = 77;
    for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++)
        EXPECT(INVALID_VALUE, device_get_by_pci_bus_id, &device, malformed[i]);
    for (size_t i = 0; i < sizeof absent / sizeof absent[0]; i++)
        EXPECT(INVALID_DEVICE, device_get_by_pci_bus_id, &device, absent[i]);
    EXPECT(INVALID_VALUE, device_get_by_pci_bus_id, &device, NULL);
    ck_assert_int_eq(device, 77);
}
END_TEST

START_TEST(a_luid_is_not_supported_here)
{
    char luid[8];
    unsigned int mask;
    EXPECT(NOT_SUPPORTED, device_get_luid, luid, &mask, 0);
    EXPECT(INVALID_DEVICE, device_get_luid, luid, &mask, GPUS);
}
END_TEST

static int attribute_of(CUdevice device, cxu_device_attribute attribute)
{
    int value = 0;
    EXPECT(SUCCESS, device_get_attribute, &value, attribute, device);
    return value;
}
#define A(name) attribute_of(0, CXU_ATTRIBUTE_##name)

START_TEST(every_attribute_is_answered)
{
    int last = 0;
#define CX_ATTRIBUTE(name, value) \
    A(name);                      \
    last = value;
#include "driver/attributes.def"
    int value = 77;
    EXPECT(INVALID_VALUE, device_get_attribute, &value, (cxu_device_attribute)0, 0);
    EXPECT(INVALID_VALUE, device_get_attribute, &value, (cxu_device_attribute)(last + 1), 0);
    EXPECT(INVALID_VALUE, device_get_attribute, &value, (cxu_device_attribute)-1, 0);
    EXPECT(INVALID_VALUE, device_get_attribute, NULL, CXU_ATTRIBUTE_WARP_SIZE, 0);
    ck_assert_int_eq(value, 77);
}
END_TEST

START_TEST(the_attributes_agree_with_each_other)
{
    int major = 0, minor = 0;
    EXPECT(SUCCESS, device_compute_capability, &major, &minor, 0);
    ck_assert_int_eq(major, A(COMPUTE_CAPABILITY_MAJOR));
    ck_assert_int_eq(minor, A(COMPUTE_CAPABILITY_MINOR));
    ck_assert_int_eq(A(WARP_SIZE), 32);
    ck_assert_int_eq(A(MAX_THREADS_PER_MULTIPROCESSOR) % A(WARP_SIZE), 0);
    ck_assert_int_ge(A(MAX_THREADS_PER_MULTIPROCESSOR), A(MAX_THREADS_PER_BLOCK));
    ck_assert_int_ge(A(MAX_REGISTERS_PER_MULTIPROCESSOR), A(MAX_REGISTERS_PER_BLOCK));
    ck_assert_int_ge(A(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN), A(MAX_SHARED_MEMORY_PER_BLOCK));
    ck_assert_int_ge(A(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR), A(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
    ck_assert_int_gt(A(TEXTURE_ALIGNMENT), 0);
    ck_assert_int_gt(A(SURFACE_ALIGNMENT), 0);
    ck_assert_int_gt(A(TEXTURE_PITCH_ALIGNMENT), 0);
    ck_assert_int_eq(A(UNIFIED_ADDRESSING), 1);
    ck_assert_int_eq(A(INTEGRATED), 0);
    for (int i = 0; i < GPUS; i++)
        ck_assert_int_eq(attribute_of(i, CXU_ATTRIBUTE_PCI_BUS_ID), i + 1);
}
END_TEST

START_TEST(the_host_device_comes_first_and_is_no_gpu)
{
    cx_emu_config config = *cx_emu_configuration();
    char name[64];
    size_t bytes = 0;
    config.host_device = true;
    ck_assert(cx_emu_configure(&config));
    EXPECT(SUCCESS, device_get_name, name, sizeof name, 0);
    ck_assert_str_eq(name, "ctxrt host device");
    EXPECT(SUCCESS, device_get_name, name, sizeof name, 1);
    ck_assert_str_eq(name, "ctxrt emulated GPU");
    EXPECT(SUCCESS, device_total_mem, &bytes, 0);
    ck_assert_uint_gt(bytes, (size_t)64 << 20);
    ck_assert_int_eq(A(INTEGRATED), 1);
    ck_assert_int_eq(A(MAXIMUM_TEXTURE2D_WIDTH), 0);
    ck_assert_int_ge(A(MULTIPROCESSOR_COUNT), 1);
    ck_assert_int_eq(A(PCI_BUS_ID), 0);
    ck_assert_int_eq(attribute_of(1, CXU_ATTRIBUTE_PCI_BUS_ID), 1);
}
END_TEST

/* What a value of CUDA_VISIBLE_DEVICES leaves of four boards; -1 ends. */
static const struct {
    const char *value;
    int boards[5];
} visible[] = {
    {"0,1,2,3", {0, 1, 2, 3, -1}},
    {"2", {2, -1}},
    {"3,1", {3, 1, -1}},
    {" 1 , 0 ", {1, 0, -1}},
    {"", {-1}},
    {"-1", {-1}},
    {"NoDevFiles", {-1}},
    {"0,4,1", {0, -1}},
    {"0,-1,1", {0, -1}},
    {"0,,1", {0, -1}},
    {"1,0,1", {-1}},
    {"0,1x", {0, 1, -1}},
    {"1gpu2,2ampere", {1, 2, -1}},
    {"+1,0x3", {1, 0, -1}},
    {"0,x1", {0, -1}},
    {"99999999999999999999", {-1}},
    {"GPU-", {-1}},
    {"GPU-zz,1", {-1}},
    {"MIG-1", {-1}},
};

START_TEST(cuda_visible_devices_chooses_and_orders)
{
    int boards[CX_EMU_DEVICES_MAX];
    int count = cx_emu_visible_devices(visible[_i].value, 4, boards);
    for (int i = 0; i < count; i++)
        ck_assert_int_eq(boards[i], visible[_i].boards[i]);
    ck_assert_int_eq(visible[_i].boards[count], -1);
}
END_TEST

START_TEST(a_visible_device_may_be_named_by_the_beginning_of_its_uuid)
{
    char first[CX_EMU_UUID_TEXT_BYTES], list[64];
    int boards[CX_EMU_DEVICES_MAX];
    cx_emu_board_uuid_text(2, first);
    ck_assert_uint_eq(strlen(first), 40);
    ck_assert_int_eq(cx_emu_visible_devices(first, 4, boards), 1);
    ck_assert_int_eq(boards[0], 2);
    snprintf(list, sizeof list, "%.12s,0", first);
    ck_assert_int_eq(cx_emu_visible_devices(list, 4, boards), 2);
    ck_assert_int_eq(boards[0], 2);
    ck_assert_int_eq(boards[1], 0);
    snprintf(list, sizeof list, "%.12s,2", first);
    ck_assert_int_eq(cx_emu_visible_devices(list, 4, boards), 0);
}
END_TEST

START_TEST(a_board_keeps_its_identity_under_cuda_visible_devices)
{
    cx_emu_config config = *cx_emu_configuration();
    cxu_uuid before, after;
    int count = 0;
    char text[13];
    EXPECT(SUCCESS, device_get_uuid, &before, 3);
    setenv("CUDA_VISIBLE_DEVICES", "3,1", 1);
    config.host_device = true;
    ck_assert(cx_emu_configure(&config));
    EXPECT(SUCCESS, device_get_count, &count);
    ck_assert_int_eq(count, 3);
    EXPECT(SUCCESS, device_get_uuid, &after, 1);
    ck_assert_mem_eq(&before, &after, sizeof before);
    EXPECT(SUCCESS, device_get_pci_bus_id, text, sizeof text, 1);
    ck_assert_str_eq(text, "0000:04:00.0");
}
END_TEST

static Suite *device_suite(void)
{
    Suite *suite = suite_create("device");
    TCase *tests = tcase_create("device");
    tcase_add_checked_fixture(tests, start_gpus, expect_nothing_left);
    tcase_add_test(tests, a_bad_ordinal_is_invalid_device);
    tcase_add_test(tests, a_device_has_a_name_cut_to_fit);
    tcase_add_test(tests, every_device_has_a_uuid_of_its_own);
    tcase_add_test(tests, a_pci_address_leads_back_to_its_device);
    tcase_add_test(tests, what_is_no_pci_address_is_an_error);
    tcase_add_test(tests, a_luid_is_not_supported_here);
    tcase_add_test(tests, every_attribute_is_answered);
    tcase_add_test(tests, the_attributes_agree_with_each_other);
    tcase_add_test(tests, the_host_device_comes_first_and_is_no_gpu);
    tcase_add_loop_test(tests, cuda_visible_devices_chooses_and_orders, 0,
                        sizeof visible / sizeof visible[0]);
    tcase_add_test(tests, a_visible_device_may_be_named_by_the_beginning_of_its_uuid);
    tcase_add_test(tests, a_board_keeps_its_identity_under_cuda_visible_devices);
    suite_add_tcase(suite, tests);
    return suite;
}

CX_TESTS(device_suite);
