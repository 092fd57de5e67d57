/* E1, E2: access between devices. */
#include "probes.h"
#include "steps.h"

static void one_device(void)
{
    init();
    CUcontext a = create("a"), b = create("b");
    see_result("itself", cuCtxEnablePeerAccess(b, 0));
    see_result("same-device", cuCtxEnablePeerAccess(a, 0));
    see_result("same-device-disable", cuCtxDisablePeerAccess(a));
    see_result("null", cuCtxEnablePeerAccess(NULL, 0));
    see_result("flags-1", cuCtxEnablePeerAccess(a, 1));
    see_result("null-flags-1", cuCtxEnablePeerAccess(NULL, 1));
    see_result("disable-null", cuCtxDisablePeerAccess(NULL));
    see_result("disable-itself", cuCtxDisablePeerAccess(b));
    pop_all();
    see_result("none-current", cuCtxEnablePeerAccess(a, 0));
    see_result("none-current-flags-1", cuCtxEnablePeerAccess(a, 1));
    see_result("disable-none-current", cuCtxDisablePeerAccess(a));
}

/* Without a name for the context of one side, or of both. */
static void copies_of_nobody(void)
{
    init();
    CUcontext a = create("a");
    CUdeviceptr from = memory(4 * KIB), to = memory(4 * KIB);
    CUstream in = stream(STREAM_NON_BLOCKING);
    see_result("null-to", cuMemcpyPeer(to, NULL, from, a, 64));
    see_result("null-from", cuMemcpyPeer(to, a, from, NULL, 64));
    see_result("null-both", cuMemcpyPeer(to, NULL, from, NULL, 64));
    see_result("null-both-async", cuMemcpyPeerAsync(to, NULL, from, NULL, 64, in));
    see_result("null-both-nothing", cuMemcpyPeer(to, NULL, from, NULL, 0));
    see_result("synchronize", cuCtxSynchronize());
}

static void two_devices(void)
{
    CUcontext a = NULL, b = NULL;
    int can = -1;
    init();
    need_devices(2);
    need("cuCtxCreate", cuCtxCreate_v2(&b, 0, 1));
    need("cuCtxCreate", cuCtxCreate_v2(&a, 0, 0));
    see_result("can", cuDeviceCanAccessPeer(&can, 0, 1));
    see("can-out", "%d", can);
    see_result("flags-1", cuCtxEnablePeerAccess(b, 1));
    see_result("enable", cuCtxEnablePeerAccess(b, 0));
    see_result("enable-again", cuCtxEnablePeerAccess(b, 0));
    cuCtxPushCurrent_v2(b);
    see_result("reverse-disable", cuCtxDisablePeerAccess(a));
    see_result("reverse-enable", cuCtxEnablePeerAccess(a, 0));
    cuCtxPopCurrent_v2(NULL);
    see_result("disable", cuCtxDisablePeerAccess(b));
    see_result("disable-again", cuCtxDisablePeerAccess(b));
    see_result("enable-after", cuCtxEnablePeerAccess(b, 0));
    see_result("destroy-peer", cuCtxDestroy_v2(b));
    see_alloc("alloc");
}

static void copies(void)
{
    CUcontext a = NULL, b = NULL;
    unsigned char byte = 0;
    init();
    need_devices(2);
    need("cuCtxCreate", cuCtxCreate_v2(&a, 0, 0));
    CUdeviceptr from = memory(4 * KIB);
    need("cuMemsetD8", cuMemsetD8_v2(from, 0x5a, 4 * KIB));
    need("cuCtxCreate", cuCtxCreate_v2(&b, 0, 1));
    CUdeviceptr to = memory(4 * KIB);
    see_result("copy-peer", cuMemcpyPeer(to, b, from, a, 4 * KIB));
    cuMemcpyDtoH_v2(&byte, to, 1);
    see("copy-peer-byte", "0x%x", byte);
    see_result("copy-plain", cuMemcpyDtoD_v2(to, from, 4 * KIB));
    see_result("memset-of-the-other", cuMemsetD8_v2(from, 1, 64));
    see_result("synchronize", cuCtxSynchronize());
}

static void attribute_order(void)
{
    int value = -7;
    init();
    see_result("null-pointer-first", cuDeviceGetP2PAttribute(NULL, 99, 0, 0));
    see_result("null-pointer-bad-device",
               cuDeviceGetP2PAttribute(NULL, P2P_ACCESS_SUPPORTED, 0, 9999));
    see_result("equal-devices", cuDeviceGetP2PAttribute(&value, P2P_ACCESS_SUPPORTED, 0, 0));
    see_result("equal-devices-bad-attribute", cuDeviceGetP2PAttribute(&value, 99, 0, 0));
    see_result("bad-device", cuDeviceGetP2PAttribute(&value, P2P_ACCESS_SUPPORTED, 0, 9999));
    see_result("bad-device-bad-attribute", cuDeviceGetP2PAttribute(&value, 99, 9999, 0));
    see("out", "%s", value == -7 ? "untouched" : "written");
}

static void attributes(void)
{
    int value = -7;
    init();
    need_devices(2);
    see_result("bad-attribute", cuDeviceGetP2PAttribute(&value, 99, 0, 1));
    see_result("attribute-0", cuDeviceGetP2PAttribute(&value, 0, 0, 1));
    see_result("access", cuDeviceGetP2PAttribute(&value, P2P_ACCESS_SUPPORTED, 0, 1));
    see("access-out", "%d", value);
    see_result("rank", cuDeviceGetP2PAttribute(&value, P2P_PERFORMANCE_RANK, 0, 1));
}

const struct experiment peer_experiments[] = {
    {"E1.one-device", one_device,
     "itself same-device same-device-disable null flags-1 null-flags-1 disable-null disable-itself "
     "none-current "
     "none-current-flags-1 disable-none-current"},
    {"E1.copies-of-nobody", copies_of_nobody,
     "null-to null-from null-both null-both-async null-both-nothing synchronize"},
    {"E1.two-devices", two_devices,
     "can can-out flags-1 enable enable-again reverse-disable reverse-enable disable disable-again "
     "enable-after "
     "destroy-peer alloc"},
    {"E1.copies", copies, "copy-peer copy-peer-byte copy-plain memset-of-the-other synchronize"},
    {"E2.order", attribute_order,
     "null-pointer-first null-pointer-bad-device equal-devices equal-devices-bad-attribute "
     "bad-device "
     "bad-device-bad-attribute out"},
    {"E2.two-devices", attributes, "bad-attribute attribute-0 access access-out rank"},
    {NULL, NULL, NULL},
};
