#include "gpus.h"

START_TEST(different_gpus_can_reach_each_other)
{
    int can = 77;
    EXPECT(SUCCESS, device_can_access_peer, &can, 0, 1);
    ck_assert_int_eq(can, 1);
    EXPECT(SUCCESS, device_can_access_peer, &can, 0, 0);
    ck_assert_int_eq(can, 0);
    EXPECT(INVALID_VALUE, device_can_access_peer, NULL, 0, 1);
}
END_TEST

START_TEST(the_host_device_is_nobodys_peer)
{
    cx_emu_config config = *cx_emu_configuration();
    int can = 77;
    config.host_device = true;
    ck_assert(cx_emu_configure(&config));
    EXPECT(SUCCESS, device_can_access_peer, &can, 0, 1);
    ck_assert_int_eq(can, 0);
    EXPECT(SUCCESS, device_can_access_peer, &can, 1, 0);
    ck_assert_int_eq(can, 0);
    EXPECT(SUCCESS, device_get_p2p_attribute, &can, CXU_P2P_ACCESS_SUPPORTED, 0, 1);
    ck_assert_int_eq(can, 0);
    CUcontext host = create_on(0), gpu = create_on(1);
    EXPECT(PEER_ACCESS_UNSUPPORTED, ctx_enable_peer_access, host, 0);
    EXPECT(SUCCESS, ctx_destroy, gpu);
    EXPECT(SUCCESS, ctx_destroy, host);
}
END_TEST

/* E1 */
START_TEST(peer_access_goes_one_way)
{
    CUcontext a = create_on(0), b = create_on(1);
    EXPECT(SUCCESS, ctx_enable_peer_access, a, 0);
    EXPECT(SUCCESS, ctx_set_current, a);
    EXPECT(PEER_ACCESS_NOT_ENABLED, ctx_disable_peer_access, b);
    EXPECT(SUCCESS, ctx_enable_peer_access, b, 0);
    EXPECT(SUCCESS, ctx_disable_peer_access, b);
    EXPECT(SUCCESS, ctx_set_current, b);
    EXPECT(SUCCESS, ctx_disable_peer_access, a);
    EXPECT(SUCCESS, ctx_destroy, b);
    EXPECT(SUCCESS, ctx_destroy, a);
}
END_TEST

/* E1 */
START_TEST(peer_access_is_enabled_once_and_disabled_once)
{
    CUcontext a = create_on(0), b = create_on(1);
    EXPECT(PEER_ACCESS_NOT_ENABLED, ctx_disable_peer_access, a);
    EXPECT(SUCCESS, ctx_enable_peer_access, a, 0);
    EXPECT(PEER_ACCESS_ALREADY_ENABLED, ctx_enable_peer_access, a, 0);
    EXPECT(SUCCESS, ctx_disable_peer_access, a);
    EXPECT(PEER_ACCESS_NOT_ENABLED, ctx_disable_peer_access, a);
    EXPECT(SUCCESS, ctx_destroy, b);
    EXPECT(SUCCESS, ctx_destroy, a);
}
END_TEST

/* E1 */
START_TEST(peer_access_needs_two_good_contexts_and_no_flags)
{
    CUcontext a = create_on(0), b = create_on(1), same_device = create_on(1);
    EXPECT(INVALID_VALUE, ctx_enable_peer_access, a, 1);
    EXPECT(PEER_ACCESS_UNSUPPORTED, ctx_enable_peer_access, same_device, 0); /* current */
    EXPECT(PEER_ACCESS_NOT_ENABLED, ctx_disable_peer_access, same_device);
    EXPECT(PEER_ACCESS_UNSUPPORTED, ctx_enable_peer_access, b, 0);
    EXPECT(INVALID_CONTEXT, ctx_enable_peer_access, NULL, 0);
    EXPECT(SUCCESS, ctx_destroy, same_device);
    EXPECT(INVALID_CONTEXT, ctx_enable_peer_access, same_device, 0);
    EXPECT(SUCCESS, ctx_destroy, b);
    EXPECT(SUCCESS, ctx_pop, NULL);
    EXPECT(INVALID_CONTEXT, ctx_enable_peer_access, a, 0);
    EXPECT(INVALID_CONTEXT, ctx_disable_peer_access, a);
    EXPECT(SUCCESS, ctx_destroy, a);
}
END_TEST

/* E1, C4 */
START_TEST(peer_access_ends_with_the_peer)
{
    CUcontext a = create_on(0), b = create_on(1);
    EXPECT(SUCCESS, ctx_enable_peer_access, a, 0);
    EXPECT(SUCCESS, ctx_destroy, a);
    ck_assert_ptr_eq(create_on(0), a);
    EXPECT(SUCCESS, ctx_pop, NULL);
    EXPECT(PEER_ACCESS_NOT_ENABLED, ctx_disable_peer_access, a);
    EXPECT(SUCCESS, ctx_enable_peer_access, a, 0);
    EXPECT(SUCCESS, ctx_destroy, a);
    EXPECT(SUCCESS, ctx_destroy, b);
    EXPECT(SUCCESS, ctx_pop, NULL); /* the first a, which was below */
}
END_TEST

/* E1 */
START_TEST(a_context_has_room_for_so_many_peers)
{
    CUcontext a = create_on(0), peers[CX_EMU_PEERS_MAX + 1];
    for (int i = 0; i <= CX_EMU_PEERS_MAX; i++) {
        peers[i] = create_on(1 + i % (GPUS - 1));
        EXPECT(SUCCESS, ctx_pop, NULL);
    }
    for (int i = 0; i < CX_EMU_PEERS_MAX; i++)
        EXPECT(SUCCESS, ctx_enable_peer_access, peers[i], 0);
    EXPECT(TOO_MANY_PEERS, ctx_enable_peer_access, peers[CX_EMU_PEERS_MAX], 0);
    EXPECT(SUCCESS, ctx_destroy, peers[7]);
    EXPECT(SUCCESS, ctx_enable_peer_access, peers[CX_EMU_PEERS_MAX], 0);
    for (int i = 0; i <= CX_EMU_PEERS_MAX; i++)
        if (i != 7)
            EXPECT(SUCCESS, ctx_destroy, peers[i]);
    EXPECT(SUCCESS, ctx_destroy, a);
}
END_TEST

/* E2 */
START_TEST(a_p2p_attribute_is_checked_value_first_then_devices)
{
    cxu_p2p_attribute unknown = (cxu_p2p_attribute)99;
    int value = 77;
    EXPECT(INVALID_VALUE, device_get_p2p_attribute, NULL, CXU_P2P_ACCESS_SUPPORTED, 0, 0);
    EXPECT(INVALID_DEVICE, device_get_p2p_attribute, &value, unknown, 0, GPUS);
    EXPECT(INVALID_DEVICE, device_get_p2p_attribute, &value, unknown, -1, 0);
    EXPECT(INVALID_DEVICE, device_get_p2p_attribute, &value, unknown, 1, 1);
    EXPECT(INVALID_VALUE, device_get_p2p_attribute, &value, unknown, 0, 1);
    ck_assert_int_eq(value, 77);
    EXPECT(SUCCESS, device_get_p2p_attribute, &value, CXU_P2P_ACCESS_SUPPORTED, 0, 1);
    ck_assert_int_eq(value, 1);
    EXPECT(SUCCESS, device_get_p2p_attribute, &value, CXU_P2P_NATIVE_ATOMIC_SUPPORTED, 0, 1);
    ck_assert_int_eq(value, 0);
}
END_TEST

static Suite *peer_suite(void)
{
    Suite *suite = suite_create("peer");
    TCase *tests = tcase_create("peer");
    tcase_add_checked_fixture(tests, start_gpus, expect_nothing_left);
    tcase_add_test(tests, different_gpus_can_reach_each_other);
    tcase_add_test(tests, the_host_device_is_nobodys_peer);
    tcase_add_test(tests, peer_access_goes_one_way);
    tcase_add_test(tests, peer_access_is_enabled_once_and_disabled_once);
    tcase_add_test(tests, peer_access_needs_two_good_contexts_and_no_flags);
    tcase_add_test(tests, peer_access_ends_with_the_peer);
    tcase_add_test(tests, a_context_has_room_for_so_many_peers);
    tcase_add_test(tests, a_p2p_attribute_is_checked_value_first_then_devices);
    suite_add_tcase(suite, tests);
    return suite;
}

CX_TESTS(peer_suite);
