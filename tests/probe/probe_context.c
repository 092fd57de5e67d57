/* C1 to C6: creating and destroying contexts. */
#include "probes.h"
#include "steps.h"

#include <stdio.h>
#include <string.h>

static void create_and_pop(void)
{
    CUcontext a = NULL, b = NULL;
    init();
    see_result("first", cuCtxCreate_v2(&a, 0, 0));
    know(a, "a");
    see("current-after-first", "%s", who(current()));
    see_result("second", cuCtxCreate_v2(&b, 0, 0));
    know(b, "b");
    see("current-after-second", "%s", who(current()));
    see("depth", "%d", depth());
    see_pop("pop");
    see("current-after-pop", "%s", who(current()));
    see_result("null-pointer", cuCtxCreate_v2(NULL, 0, 0));
    see("depth-after-null-pointer", "%d", depth());
}

static void create_variants(void)
{
    CUcontext context = NULL;
    init();
    see_result("v2", cuCtxCreate_v2(&context, 0, 0));
    see_result("v3-no-affinity", cuCtxCreate_v3(&context, NULL, 0, 0, 0));
    see("v3-current", "%s", current() == context ? "the new one" : "another");
    see_result("v4-null", cuCtxCreate_v4(&context, NULL, 0, 0));
    see("v4-current", "%s", current() == context ? "the new one" : "another");
    see("depth", "%d", depth());
}

/* Makes a context with the flags, and says which flags it then has. */
static void see_created(const char *word, unsigned int flags)
{
    CUcontext context = NULL;
    unsigned int now = 0;
    CUresult code = cuCtxCreate_v2(&context, flags, 0);
    if (code != SUCCESS) {
        see_result(word, code);
        return;
    }
    code = cuCtxGetFlags(&now);
    see(word, "SUCCESS(0), flags 0x%x by %s", now, result_text(code));
    cuCtxDestroy_v2(context);
}

static void create_flags(void)
{
    init();
    see_created("flags-0", 0);
    see_created("flags-spin", 1);
    see_created("flags-yield", 2);
    see_created("flags-blocking", 4);
    see_created("flags-spin-yield", 3);
    see_created("flags-schedule-mask", 7);
    see_created("flags-map-host", 8);
    see_created("flags-lmem", 0x10);
    see_created("flags-sync-memops", 0x80);
    see_created("flags-0x100", 0x100);
    see_created("flags-all", ~0u);
    see("current", "%s", who(current()));
}

static void destroy_here(void)
{
    init();
    CUcontext a = create("a"), b = create("b");
    see_result("destroy", cuCtxDestroy_v2(b));
    see("current", "%s", who(current()));
    see("depth", "%d", depth());
    see_alloc("alloc");
    see_result("destroy-last", cuCtxDestroy_v2(a));
    see("current-after-last", "%s", who(current()));
    see("depth-after-last", "%d", depth());
    see_alloc("alloc-after-last");
}

static void push_it(void *context)
{
    see_result("thread-push", cuCtxPushCurrent_v2(context));
}

static void use_destroyed(void *unused)
{
    CUdevice device = 0;
    unsigned int flags = 0;
    size_t free_bytes = 0, total_bytes = 0;
    CUstream made = NULL;
    (void)unused;
    see("thread-current", "%s", who(current()));
    see_alloc("thread-alloc");
    see_result("thread-synchronize", cuCtxSynchronize());
    see_result("thread-get-device", cuCtxGetDevice(&device));
    see_result("thread-get-flags", cuCtxGetFlags(&flags));
    see_result("thread-memory-info", cuMemGetInfo_v2(&free_bytes, &total_bytes));
    see_result("thread-stream-create", cuStreamCreate(&made, 0));
    see_result("thread-stream-synchronize", cuStreamSynchronize(NULL));
    see_result("thread-get-id-null", cuCtxGetId(NULL, &(unsigned long long){0}));
    see_result("thread-priority-range", cuCtxGetStreamPriorityRange(NULL, NULL));
    see_pop("thread-pop");
    see("thread-current-after-pop", "%s", who(current()));
    see_pop("thread-pop-again");
}

static void destroy_elsewhere(void)
{
    struct actor actor;
    init();
    CUcontext a = create("a");
    pop_all();
    actor_start(&actor);
    actor_do(&actor, push_it, a);
    see_result("destroy", cuCtxDestroy_v2(a));
    actor_do(&actor, use_destroyed, NULL);
    actor_stop(&actor);
}

static void push_quietly(void *context)
{
    cuCtxPushCurrent_v2(context);
}

static void see_first(void *unused)
{
    (void)unused;
    see("first-current", "%s", who(current()));
    see_alloc("first-alloc");
}

static void see_second(void *context)
{
    CUcontext other = context;
    see("second-current", "%s", who(current()));
    see_alloc("second-alloc");
    see_result("second-set-other", cuCtxSetCurrent(other));
    see_alloc("second-alloc-of-other");
}

static void destroy_on_many(void)
{
    struct actor first, second;
    init();
    CUcontext a = create("a"), b = create("b");
    actor_start(&first);
    actor_start(&second);
    actor_do(&first, push_quietly, b);
    actor_do(&second, push_quietly, b);
    see_result("destroy", cuCtxDestroy_v2(b));
    see("current", "%s", who(current()));
    see_alloc("alloc");
    actor_do(&first, see_first, NULL);
    actor_do(&second, see_second, a);
    actor_stop(&first);
    actor_stop(&second);
}

static CUdeviceptr address_of(void *host)
{
    return (CUdeviceptr)(size_t)host;
}

static void see_type(const char *word, CUdeviceptr of)
{
    unsigned int type = 0;
    CUresult code = cuPointerGetAttribute(&type, POINTER_MEMORY_TYPE, of);
    if (code == SUCCESS)
        see(word, "known, type %u", type);
    else
        see_result(word, code);
}

static void destroy_frees(void)
{
    CUdeviceptr pitched = 0, managed = 0;
    size_t pitch = 0, before = 0, after = 0, total = 0;
    void *host = NULL;
    init();
    create("beneath");
    memory(64);
    cuMemGetInfo_v2(&before, &total);
    CUcontext a = create("a");
    CUdeviceptr plain = memory(64 * 1024 * KIB);
    CUresult pitch_code = cuMemAllocPitch_v2(&pitched, &pitch, 256, 16, 4);
    CUresult managed_code = cuMemAllocManaged(&managed, 4 * KIB, 1);
    CUresult host_code = cuMemAllocHost_v2(&host, 4 * KIB);
    see_type("alloc-before", plain);
    see_result("destroy", cuCtxDestroy_v2(a));
    see_type("alloc", plain);
    if (pitch_code == SUCCESS)
        see_type("alloc-pitch", pitched);
    else
        see_result("alloc-pitch", pitch_code);
    if (managed_code == SUCCESS)
        see_type("alloc-managed", managed);
    else
        see_result("alloc-managed", managed_code);
    if (host_code == SUCCESS)
        see_type("alloc-host", address_of(host));
    else
        see_result("alloc-host", host_code);
    cuMemGetInfo_v2(&after, &total);
    see("memory-comes-back", "%s", after + 32 * 1024 * KIB > before ? "yes" : "no");
}

static void destroy_keeps_async(void)
{
    CUdeviceptr made = 0;
    init();
    create("b");
    CUcontext a = create("a");
    CUstream in_a = stream(STREAM_BLOCKING);
    need("cuMemAllocAsync", cuMemAllocAsync(&made, 4 * KIB, in_a));
    need("cuStreamSynchronize", cuStreamSynchronize(in_a));
    see_result("destroy", cuCtxDestroy_v2(a));
    see("current", "%s", who(current()));
    see_type("memory", made);
    see_result("memset", cuMemsetD8_v2(made, 1, 64));
    see_result("synchronize", cuCtxSynchronize());
    see_result("free", cuMemFree_v2(made));
    see_result("free-again", cuMemFree_v2(made));
}

static void destroy_keeps_pool(void)
{
    CUdeviceptr made = 0;
    CUmemoryPool pool = NULL;
    init();
    create("b");
    CUcontext a = create("a");
    CUstream in_a = stream(STREAM_BLOCKING);
    need("cuDeviceGetDefaultMemPool", cuDeviceGetDefaultMemPool(&pool, 0));
    need("cuMemAllocFromPoolAsync", cuMemAllocFromPoolAsync(&made, 4 * KIB, pool, in_a));
    need("cuStreamSynchronize", cuStreamSynchronize(in_a));
    see_result("destroy", cuCtxDestroy_v2(a));
    see_type("memory", made);
    see_result("free-async", cuMemFreeAsync(made, NULL));
    see_result("synchronize", cuCtxSynchronize());
}

static void destroy_keeps_created(void)
{
    CUmemAllocationProp properties;
    unsigned long long handle = 0;
    size_t bytes = 0;
    init();
    CUcontext a = create("a");
    memset(&properties, 0, sizeof properties);
    properties.type = 1;
    properties.location_type = 1;
    need("cuMemGetAllocationGranularity", cuMemGetAllocationGranularity(&bytes, &properties, 0));
    need("cuMemCreate", cuMemCreate(&handle, bytes, &properties, 0));
    see_result("destroy", cuCtxDestroy_v2(a));
    see_result("release", cuMemRelease(handle));
}

static void stream_of_destroyed(void)
{
    init();
    create("beneath");
    CUcontext a = create("a");
    CUstream in_a = stream(STREAM_BLOCKING);
    see_result("destroy", cuCtxDestroy_v2(a));
    see_result("stream-query", cuStreamQuery(in_a));
}

static void stream_of_destroyed_destroyed(void)
{
    init();
    create("beneath");
    CUcontext a = create("a");
    CUstream in_a = stream(STREAM_BLOCKING);
    see_result("destroy", cuCtxDestroy_v2(a));
    see_result("stream-destroy", cuStreamDestroy_v2(in_a));
}

static void event_of_destroyed(void)
{
    init();
    create("beneath");
    CUcontext a = create("a");
    CUevent in_a = event(EVENT_DEFAULT);
    see_result("destroy", cuCtxDestroy_v2(a));
    see_result("event-query", cuEventQuery(in_a));
}

static void event_of_destroyed_destroyed(void)
{
    init();
    create("beneath");
    CUcontext a = create("a");
    CUevent in_a = event(EVENT_DEFAULT);
    see_result("destroy", cuCtxDestroy_v2(a));
    see_result("event-destroy", cuEventDestroy_v2(in_a));
}

/* A handle that was a context once, with another context current. */
static CUcontext stale(void)
{
    init();
    create("beneath");
    CUcontext a = create("a");
    need("cuCtxDestroy", cuCtxDestroy_v2(a));
    return a;
}

static void stale_destroy(void)
{
    see_result("result", cuCtxDestroy_v2(stale()));
    see("current", "%s", who(current()));
}

static void stale_id(void)
{
    see_result("result", cuCtxGetId(stale(), &(unsigned long long){0}));
}

static void stale_api_version(void)
{
    see_result("result", cuCtxGetApiVersion(stale(), &(unsigned int){0}));
}

static void stale_synchronize(void)
{
    see_result("result", cuCtxSynchronize_v2(stale()));
}

static void stale_device(void)
{
    see_result("result", cuCtxGetDevice_v2(&(CUdevice){0}, stale()));
}

static void stale_peer(void)
{
    see_result("result", cuCtxEnablePeerAccess(stale(), 0));
}

static void stale_record(void)
{
    CUcontext a = stale();
    see_result("result", cuCtxRecordEvent(a, event(EVENT_DEFAULT)));
}

static void garbage_destroy(void)
{
    static long long bytes[512];
    init();
    create("beneath");
    see_result("result", cuCtxDestroy_v2((CUcontext)(void *)bytes));
    see("current", "%s", who(current()));
}

static void ids(void)
{
    init();
    CUcontext a = create("a");
    unsigned long long first = id_of(a), again = 0;
    see("has-id", "%s", first != 0 ? "yes" : "no");
    int reused = 0, repeated = 0;
    for (int i = 0; i < 8; i++) {
        cuCtxDestroy_v2(a);
        CUcontext next = create("next");
        again = id_of(next);
        reused += next == a;
        repeated += again == first;
        a = next;
    }
    see("handle-comes-again", "%s", reused > 0 ? "yes" : "no");
    see("id-comes-again", "%s", repeated > 0 ? "yes" : "no");
}

static void destroy_primary(void)
{
    unsigned int flags = 0;
    int active = -1;
    init();
    CUcontext primary = retain();
    see_result("destroy", cuCtxDestroy_v2(primary));
    cuDevicePrimaryCtxGetState(0, &flags, &active);
    see("active", "%d", active);
    see_result("push", cuCtxPushCurrent_v2(primary));
    see_alloc("alloc");
    see_result("release", cuDevicePrimaryCtxRelease_v2(0));
    see_result("release-again", cuDevicePrimaryCtxRelease_v2(0));
}

static void destroy_current_primary(void)
{
    unsigned int flags = 0;
    int active = -1;
    init();
    CUcontext primary = retain();
    need("cuCtxPushCurrent", cuCtxPushCurrent_v2(primary));
    see_result("destroy", cuCtxDestroy_v2(primary));
    see("current", "%s", who(current()));
    see_alloc("alloc");
    cuDevicePrimaryCtxGetState(0, &flags, &active);
    see("active", "%d", active);
    see_result("release", cuDevicePrimaryCtxRelease_v2(0));
}

/* Pops five times, and says what came and what is current after each. */
static void see_pops(void)
{
    for (int i = 1; i <= 5; i++) {
        char word[32];
        snprintf(word, sizeof word, "pop-%d", i);
        CUcontext popped = NULL;
        CUresult code = cuCtxPopCurrent_v2(&popped);
        see(word, "%s, then %s", code == SUCCESS ? who(popped) : result_text(code), who(current()));
    }
}

static void destroy_lower(void)
{
    init();
    CUcontext a = create("a");
    create("b");
    see_result("destroy", cuCtxDestroy_v2(a));
    see("current", "%s", who(current()));
    see_alloc("alloc");
    see_pop("pop");
    see("current-after-pop", "%s", who(current()));
    see_alloc("alloc-after-pop");
    see_pop("pop-again");
    see_pop("pop-third");
}

static void destroy_twice_lower(void)
{
    init();
    CUcontext a = create("a"), b = create("b");
    cuCtxPushCurrent_v2(a);
    cuCtxPushCurrent_v2(b);
    see_result("destroy", cuCtxDestroy_v2(a));
    see("current", "%s", who(current()));
    see_pops();
}

static void destroy_twice_on_top(void)
{
    init();
    create("beneath");
    CUcontext a = create("a");
    cuCtxPushCurrent_v2(a);
    cuCtxPushCurrent_v2(a);
    see_result("destroy", cuCtxDestroy_v2(a));
    see("current", "%s", who(current()));
    see_alloc("alloc");
    see_pops();
}

static void set_over_destroyed(void)
{
    init();
    CUcontext b = create("b"), a = create("a");
    cuCtxPushCurrent_v2(b);
    see_result("destroy", cuCtxDestroy_v2(a));
    see_pop("pop");
    see("current", "%s", who(current()));
    see_result("set", cuCtxSetCurrent(b));
    see("current-after-set", "%s", who(current()));
    see_alloc("alloc");
    see_result("set-null", cuCtxSetCurrent(NULL));
    see("current-after-set-null", "%s", who(current()));
}

#define POPS "pop-1 pop-2 pop-3 pop-4 pop-5"

const struct experiment context_experiments[] = {
    {"C1.create", create_and_pop,
     "first current-after-first second current-after-second depth pop current-after-pop "
     "null-pointer "
     "depth-after-null-pointer"},
    {"C1.variants", create_variants, "v2 v3-no-affinity v3-current v4-null v4-current depth"},
    {"C1.flags", create_flags,
     "flags-0 flags-spin flags-yield flags-blocking flags-spin-yield flags-schedule-mask "
     "flags-map-host flags-lmem "
     "flags-sync-memops flags-0x100 flags-all current"},
    {"C2.destroy-current-here", destroy_here,
     "destroy current depth alloc destroy-last current-after-last depth-after-last "
     "alloc-after-last"},
    {"C2.destroy-current-elsewhere", destroy_elsewhere,
     "thread-push destroy thread-current thread-alloc thread-synchronize thread-get-device "
     "thread-get-flags "
     "thread-memory-info thread-stream-create thread-stream-synchronize thread-get-id-null "
     "thread-priority-range "
     "thread-pop thread-current-after-pop thread-pop-again"},
    {"C2.destroy-current-on-many", destroy_on_many,
     "destroy current alloc first-current first-alloc second-current second-alloc second-set-other "
     "second-alloc-of-other"},
    {"C3.destroy-frees", destroy_frees,
     "alloc-before destroy alloc alloc-pitch alloc-managed alloc-host memory-comes-back"},
    {"C3.destroy-keeps-async", destroy_keeps_async,
     "destroy current memory memset synchronize free free-again"},
    {"C3.destroy-keeps-pool", destroy_keeps_pool, "destroy memory free-async synchronize"},
    {"C3.destroy-keeps-created", destroy_keeps_created, "destroy release"},
    {"C3.stream-query", stream_of_destroyed, "destroy stream-query"},
    {"C3.stream-destroy", stream_of_destroyed_destroyed, "destroy stream-destroy"},
    {"C3.event-query", event_of_destroyed, "destroy event-query"},
    {"C3.event-destroy", event_of_destroyed_destroyed, "destroy event-destroy"},
    {"C4.ids", ids, "has-id handle-comes-again id-comes-again"},
    {"C4.stale-destroy", stale_destroy, "result current"},
    {"C4.stale-id", stale_id, "result"},
    {"C4.stale-api-version", stale_api_version, "result"},
    {"C4.stale-synchronize", stale_synchronize, "result"},
    {"C4.stale-device", stale_device, "result"},
    {"C4.stale-peer", stale_peer, "result"},
    {"C4.stale-record", stale_record, "result"},
    {"C4.garbage-destroy", garbage_destroy, "result current"},
    {"C5.destroy-primary", destroy_primary, "destroy active push alloc release release-again"},
    {"C5.destroy-current-primary", destroy_current_primary, "destroy current alloc active release"},
    {"C6.lower", destroy_lower,
     "destroy current alloc pop current-after-pop alloc-after-pop pop-again pop-third"},
    {"C6.twice-lower", destroy_twice_lower, "destroy current " POPS},
    {"C6.twice-on-top", destroy_twice_on_top, "destroy current alloc " POPS},
    {"C6.set-over-destroyed", set_over_destroyed,
     "destroy pop current set current-after-set alloc set-null current-after-set-null"},
    {NULL, NULL, NULL},
};
