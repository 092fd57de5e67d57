/* Q1 to Q6: questions about contexts. */
#include "probes.h"
#include "steps.h"

#include <stdio.h>

static void none_current(void)
{
    CUdevice device = -7;
    unsigned int flags = 0;
    int value = 0;
    size_t bytes = 0, more = 0;
    unsigned long long id = 0;
    CUstream made = NULL;
    CUevent made_event = NULL;
    CUcontext context = NULL;
    init();
    see_result("get-device", cuCtxGetDevice(&device));
    see("get-device-out", "%s", device == -7 ? "untouched" : "written");
    see_result("get-flags", cuCtxGetFlags(&flags));
    see_result("set-flags", cuCtxSetFlags(0));
    see_result("synchronize", cuCtxSynchronize());
    see_result("get-cache-config", cuCtxGetCacheConfig(&value));
    see_result("set-cache-config", cuCtxSetCacheConfig(0));
    see_result("get-shared-config", cuCtxGetSharedMemConfig(&value));
    see_result("get-limit", cuCtxGetLimit(&bytes, LIMIT_STACK_SIZE));
    see_result("set-limit", cuCtxSetLimit(LIMIT_STACK_SIZE, 1024));
    see_result("priority-range", cuCtxGetStreamPriorityRange(&value, &value));
    see_result("priority-range-null", cuCtxGetStreamPriorityRange(NULL, NULL));
    see_result("get-id-null", cuCtxGetId(NULL, &id));
    see_result("api-version-null", cuCtxGetApiVersion(NULL, &flags));
    see_result("attach", cuCtxAttach(&context, 0));
    see_result("memory-info", cuMemGetInfo_v2(&bytes, &more));
    see_alloc("alloc");
    see_result("stream-create", cuStreamCreate(&made, 0));
    see_result("event-create", cuEventCreate(&made_event, 0));
    see_result("stream-synchronize-null", cuStreamSynchronize(NULL));
    see_result("stream-query-null", cuStreamQuery(NULL));
    see_result("get-device-v2-null", cuCtxGetDevice_v2(&device, NULL));
    see_result("synchronize-v2-null", cuCtxSynchronize_v2(NULL));
}

static void with_context(void)
{
    CUdevice device = -7;
    init();
    CUcontext a = create("a");
    create("b");
    see_result("get-device-v2-null", cuCtxGetDevice_v2(&device, NULL));
    see_result("get-device-v2-other", cuCtxGetDevice_v2(&device, a));
    see("get-device-v2-out", "%d", device);
    see_result("synchronize-v2-null", cuCtxSynchronize_v2(NULL));
    see_result("synchronize-v2-other", cuCtxSynchronize_v2(a));
    see("current", "%s", who(current()));
    pop_all();
    see_result("get-device-v2-none-current", cuCtxGetDevice_v2(&device, a));
    see_result("synchronize-v2-none-current", cuCtxSynchronize_v2(a));
}

static void context_flags(void)
{
    unsigned int flags = 0x7777;
    init();
    create("a");
    see_result("get", cuCtxGetFlags(&flags));
    see("get-out", "0x%x", flags);
    see_result("set-blocking", cuCtxSetFlags(4));
    cuCtxGetFlags(&flags);
    see("set-blocking-out", "0x%x", flags);
    see_result("set-sync-memops", cuCtxSetFlags(0x80));
    cuCtxGetFlags(&flags);
    see("set-sync-memops-out", "0x%x", flags);
    see_result("set-two-schedules", cuCtxSetFlags(3));
    see_result("set-0x100", cuCtxSetFlags(0x100));
    see_result("get-null-pointer", cuCtxGetFlags(NULL));
}

static void reset_primary(void)
{
    CUdevice device = -7;
    unsigned int value = 0;
    size_t bytes = 0;
    init();
    CUcontext primary = retain();
    need("cuCtxPushCurrent", cuCtxPushCurrent_v2(primary));
    see_result("reset", cuDevicePrimaryCtxReset_v2(0));
    see_result("get-device", cuCtxGetDevice(&device));
    see("get-device-out", "%d", device);
    see_result("get-device-v2", cuCtxGetDevice_v2(&device, primary));
    see_result("get-flags", cuCtxGetFlags(&value));
    see_result("get-id", cuCtxGetId(primary, &(unsigned long long){0}));
    see_result("get-id-null", cuCtxGetId(NULL, &(unsigned long long){0}));
    see_result("api-version", cuCtxGetApiVersion(primary, &value));
    see_result("get-limit", cuCtxGetLimit(&bytes, LIMIT_STACK_SIZE));
    see_result("priority-range", cuCtxGetStreamPriorityRange(NULL, NULL));
    see_result("synchronize", cuCtxSynchronize());
    see_result("stream-query-null", cuStreamQuery(NULL));
    see_alloc("alloc");
}

struct identified {
    CUcontext context;
    unsigned long long id;
};

static void push_and_see_id(void *argument)
{
    struct identified *a = argument;
    cuCtxPushCurrent_v2(a->context);
    see_id("on-another-thread", NULL, a->id);
}

static void identity(void)
{
    struct identified a;
    unsigned int version = 0;
    init();
    a.context = create("a");
    a.id = id_of(a.context);
    see_result("get-id", cuCtxGetId(a.context, &(unsigned long long){0}));
    see_id("null-is-current", NULL, a.id);
    see_id("second-context", create("b"), a.id);
    see_id("null-is-second", NULL, a.id);
    see_id("first-again", a.context, a.id);
    elsewhere(push_and_see_id, &a);
    see_result("get-id-null-pointer", cuCtxGetId(a.context, NULL));
    see_result("api-version", cuCtxGetApiVersion(a.context, &version));
    see("api-version-out", "%u", version);
    version = 0;
    see_result("api-version-null", cuCtxGetApiVersion(NULL, &version));
    see("api-version-null-out", "%u", version);
    see_result("api-version-null-pointer", cuCtxGetApiVersion(a.context, NULL));
}

static void limits(void)
{
    size_t value = 0, after = 0;
    char word[32];
    init();
    create("a");
    for (int limit = 0; limit < LIMIT_COUNT; limit++) {
        snprintf(word, sizeof word, "get-%d", limit);
        see_result(word, cuCtxGetLimit(&value, limit));
    }
    see_result("get-99", cuCtxGetLimit(&value, 99));
    see_result("get-negative", cuCtxGetLimit(&value, -1));
    see_result("get-null-pointer", cuCtxGetLimit(NULL, LIMIT_STACK_SIZE));
    see_result("set-99", cuCtxSetLimit(99, 1024));
    see_result("set-negative", cuCtxSetLimit(-1, 1024));
    see_result("set-stack-2048", cuCtxSetLimit(LIMIT_STACK_SIZE, 2048));
    cuCtxGetLimit(&after, LIMIT_STACK_SIZE);
    see("set-stack-2048-out", "%zu", after);
    CUresult code = cuCtxSetLimit(LIMIT_STACK_SIZE, (size_t)1 << 40);
    see_result("set-stack-huge", code);
    cuCtxGetLimit(&after, LIMIT_STACK_SIZE);
    see("set-stack-huge-out", "%s",
        after == 2048             ? "unchanged"
        : after < (size_t)1 << 40 ? "clamped"
                                  : "taken");
    cuCtxGetLimit(&value, LIMIT_MALLOC_HEAP_SIZE);
    see_result("set-heap-1", cuCtxSetLimit(LIMIT_MALLOC_HEAP_SIZE, 1));
    cuCtxGetLimit(&after, LIMIT_MALLOC_HEAP_SIZE);
    see("set-heap-1-out", "%s", after == value ? "unchanged" : after == 1 ? "taken" : "clamped");
    see_result("set-pending-1", cuCtxSetLimit(LIMIT_PENDING_LAUNCHES, 1));
    cuCtxGetLimit(&after, LIMIT_PENDING_LAUNCHES);
    see("set-pending-1-out", "%zu", after);
}

static void priorities(void)
{
    int least = -77, greatest = -77, only = -77;
    init();
    create("a");
    see_result("both", cuCtxGetStreamPriorityRange(&least, &greatest));
    see("both-out", "least %d, greatest %d", least, greatest);
    see_result("least-only", cuCtxGetStreamPriorityRange(&only, NULL));
    see("least-only-out", "%s", only == least ? "same" : "other");
    see_result("greatest-only", cuCtxGetStreamPriorityRange(NULL, &only));
    see("greatest-only-out", "%s", only == greatest ? "same" : "other");
    see_result("neither", cuCtxGetStreamPriorityRange(NULL, NULL));
}

static void configs(void)
{
    int value = -7;
    init();
    create("a");
    see_result("get", cuCtxGetCacheConfig(&value));
    see("get-out", "%d", value);
    see_result("set-3", cuCtxSetCacheConfig(3));
    cuCtxGetCacheConfig(&value);
    see("set-3-out", "%d", value);
    see_result("set-4", cuCtxSetCacheConfig(4));
    see_result("set-negative", cuCtxSetCacheConfig(-1));
    see_result("get-null-pointer", cuCtxGetCacheConfig(NULL));
    see_result("shared-get", cuCtxGetSharedMemConfig(&value));
    see("shared-get-out", "%d", value);
    see_result("shared-set-2", cuCtxSetSharedMemConfig(2));
    see_result("shared-set-3", cuCtxSetSharedMemConfig(3));
}

static void attach(void)
{
    CUcontext out = NULL;
    init();
    CUcontext a = create("a");
    see_result("flags-1", cuCtxAttach(&out, 1));
    see_result("attach", cuCtxAttach(&out, 0));
    see("attach-out", "%s", who(out));
    see("attach-depth", "%d", depth());
    see_result("detach", cuCtxDetach(a));
    see("detach-current", "%s", who(current()));
    see_alloc("detach-alloc");
    see_result("detach-last", cuCtxDetach(a));
    see("detach-last-current", "%s", who(current()));
}

static void detach_not_current(void)
{
    init();
    CUcontext a = create("a");
    create("b");
    see_result("lower", cuCtxDetach(a));
    pop_all();
    see_result("none-current", cuCtxDetach(a));
    see_result("null", cuCtxDetach(NULL));
    see_result("push", cuCtxPushCurrent_v2(a));
    see_result("attach-null-pointer", cuCtxAttach(NULL, 0));
}

static void destroy_attached(void)
{
    CUcontext out = NULL;
    init();
    CUcontext a = create("a");
    cuCtxAttach(&out, 0);
    see_result("destroy", cuCtxDestroy_v2(a));
    see("current", "%s", who(current()));
    see_alloc("alloc");
}

const struct experiment query_experiments[] = {
    {"Q1.none-current", none_current,
     "get-device get-device-out get-flags set-flags synchronize get-cache-config set-cache-config "
     "get-shared-config "
     "get-limit set-limit priority-range priority-range-null get-id-null api-version-null attach "
     "memory-info alloc "
     "stream-create event-create stream-synchronize-null stream-query-null get-device-v2-null "
     "synchronize-v2-null"},
    {"Q1.with-context", with_context,
     "get-device-v2-null get-device-v2-other get-device-v2-out synchronize-v2-null "
     "synchronize-v2-other current "
     "get-device-v2-none-current synchronize-v2-none-current"},
    {"Q1.flags", context_flags,
     "get get-out set-blocking set-blocking-out set-sync-memops set-sync-memops-out "
     "set-two-schedules set-0x100 "
     "get-null-pointer"},
    {"Q2.reset-primary", reset_primary,
     "reset get-device get-device-out get-device-v2 get-flags get-id get-id-null api-version "
     "get-limit "
     "priority-range synchronize stream-query-null alloc"},
    {"Q3.identity", identity,
     "get-id null-is-current second-context null-is-second first-again on-another-thread "
     "get-id-null-pointer "
     "api-version api-version-out api-version-null api-version-null-out api-version-null-pointer"},
    {"Q4.limits", limits,
     "get-0 get-1 get-2 get-3 get-4 get-5 get-6 get-7 get-8 get-9 get-99 get-negative "
     "get-null-pointer set-99 "
     "set-negative set-stack-2048 set-stack-2048-out set-stack-huge set-stack-huge-out set-heap-1 "
     "set-heap-1-out set-pending-1 set-pending-1-out"},
    {"Q5.priorities", priorities,
     "both both-out least-only least-only-out greatest-only greatest-only-out neither"},
    {"Q5.configs", configs,
     "get get-out set-3 set-3-out set-4 set-negative get-null-pointer shared-get shared-get-out "
     "shared-set-2 "
     "shared-set-3"},
    {"Q6.attach", attach,
     "flags-1 attach attach-out attach-depth detach detach-current detach-alloc detach-last "
     "detach-last-current"},
    {"Q6.detach-not-current", detach_not_current,
     "lower none-current null push attach-null-pointer"},
    {"Q6.destroy-attached", destroy_attached, "destroy current alloc"},
    {NULL, NULL, NULL},
};
