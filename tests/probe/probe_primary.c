/* P1 to P7: primary contexts. */
#include "probes.h"
#include "steps.h"

#include <stdio.h>

/* "flags 0x0, active 0", or the error. */
static void see_state(const char *word)
{
    unsigned int flags = 0;
    int active = -1;
    CUresult code = cuDevicePrimaryCtxGetState(0, &flags, &active);
    if (code == SUCCESS)
        see(word, "flags 0x%x, active %d", flags, active);
    else
        see_result(word, code);
}

static void retain_on_thread(void *unused)
{
    CUcontext context = NULL;
    (void)unused;
    see_result("thread-retain", cuDevicePrimaryCtxRetain(&context, 0));
    see("thread-handle", "%s", who(context));
    see("thread-current", "%s", who(current()));
}

static void retaining(void)
{
    CUcontext again = NULL;
    init();
    see_state("before");
    CUcontext primary = retain();
    see("current", "%s", who(current()));
    see("depth", "%d", depth());
    see_state("after");
    see_result("again", cuDevicePrimaryCtxRetain(&again, 0));
    see("again-handle", "%s", who(again));
    elsewhere(retain_on_thread, NULL);
    see_result("null-pointer", cuDevicePrimaryCtxRetain(NULL, 0));
    see_result("push", cuCtxPushCurrent_v2(primary));
    see_alloc("alloc");
    see_result("state-null-flags", cuDevicePrimaryCtxGetState(0, NULL, &(int){0}));
    see_result("state-null-active", cuDevicePrimaryCtxGetState(0, &(unsigned int){0}, NULL));
}

static void releasing(void)
{
    init();
    see_result("without-retain", cuDevicePrimaryCtxRelease_v2(0));
    retain();
    retain();
    see_result("first", cuDevicePrimaryCtxRelease_v2(0));
    see_state("first-state");
    see_result("last", cuDevicePrimaryCtxRelease_v2(0));
    see_state("last-state");
    see_result("too-many", cuDevicePrimaryCtxRelease_v2(0));
    see_state("too-many-state");
    CUcontext context = NULL;
    see_result("retain-again", cuDevicePrimaryCtxRetain(&context, 0));
    see("retain-again-handle", "%s", who(context));
}

static void release_current(void)
{
    CUdevice device = 0;
    init();
    CUcontext primary = retain();
    unsigned long long id = id_of(primary);
    need("cuCtxPushCurrent", cuCtxPushCurrent_v2(primary));
    see_result("release", cuDevicePrimaryCtxRelease_v2(0));
    see("current", "%s", who(current()));
    see_alloc("alloc");
    see_result("get-device", cuCtxGetDevice(&device));
    see_result("synchronize", cuCtxSynchronize());
    CUcontext context = NULL;
    see_result("retain", cuDevicePrimaryCtxRetain(&context, 0));
    see_id("retain-id", context, id);
    see_alloc("alloc-after-retain");
    see_pop("pop");
    see_pop("pop-again");
}

static void reset_inactive(void)
{
    init();
    see_result("never-retained", cuDevicePrimaryCtxReset_v2(0));
    retain();
    cuDevicePrimaryCtxRelease_v2(0);
    see_result("released", cuDevicePrimaryCtxReset_v2(0));
    retain();
    see_result("active", cuDevicePrimaryCtxReset_v2(0));
    see_result("again", cuDevicePrimaryCtxReset_v2(0));
    see_state("state");
}

static void reset_destroys(void)
{
    unsigned int type = 0;
    init();
    CUcontext primary = retain();
    need("cuCtxPushCurrent", cuCtxPushCurrent_v2(primary));
    CUdeviceptr plain = memory(4 * KIB);
    see_result("reset", cuDevicePrimaryCtxReset_v2(0));
    retain();
    see_result("memory-type", cuPointerGetAttribute(&type, POINTER_MEMORY_TYPE, plain));
    see_result("memory-free", cuMemFree_v2(plain));
    see_alloc("alloc");
}

static void reset_stream(void)
{
    init();
    CUcontext primary = retain();
    need("cuCtxPushCurrent", cuCtxPushCurrent_v2(primary));
    CUstream before = stream(STREAM_BLOCKING);
    see_result("reset", cuDevicePrimaryCtxReset_v2(0));
    retain();
    see_result("stream-query", cuStreamQuery(before));
}

static void see_inactive(void *context)
{
    CUdevice device = 0;
    see("thread-current", "%s", who(current()));
    see_alloc("thread-alloc");
    see_result("thread-get-device", cuCtxGetDevice(&device));
    (void)context;
}

static void push_primary(void *context)
{
    cuCtxPushCurrent_v2(context);
}

static void see_revived(void *context)
{
    (void)context;
    see("thread-current-after-retain", "%s", who(current()));
    see_alloc("thread-alloc-after-retain");
}

static void reset_current(void)
{
    struct actor actor;
    CUcontext again = NULL;
    init();
    CUcontext primary = retain();
    unsigned long long id = id_of(primary);
    need("cuCtxPushCurrent", cuCtxPushCurrent_v2(primary));
    actor_start(&actor);
    actor_do(&actor, push_primary, primary);
    see_result("reset", cuDevicePrimaryCtxReset_v2(0));
    see_state("state");
    see("current", "%s", who(current()));
    see_alloc("alloc");
    see_result("synchronize", cuCtxSynchronize());
    actor_do(&actor, see_inactive, NULL);
    see_result("push-inactive", cuCtxPushCurrent_v2(primary));
    see_result("retain", cuDevicePrimaryCtxRetain(&again, 0));
    see("retain-handle", "%s", who(again));
    see_id("retain-id", again, id);
    actor_do(&actor, see_revived, NULL);
    actor_stop(&actor);
}

static void inactive(void)
{
    CUcontext out = NULL;
    init();
    CUcontext primary = retain();
    cuDevicePrimaryCtxRelease_v2(0);
    see_result("push", cuCtxPushCurrent_v2(primary));
    see("current", "%s", who(current()));
    see_alloc("alloc");
    see_result("get-device", cuCtxGetDevice(&(CUdevice){0}));
    see_state("state");
    see_result("set", cuCtxSetCurrent(primary));
    see("depth", "%d", depth());
    cuCtxPopCurrent_v2(&out);
    see("pop", "%s", who(out));
    see_result("set-on-empty", cuCtxSetCurrent(primary));
    see("set-on-empty-current", "%s", who(current()));
}

static void retain_after_reset(void)
{
    CUcontext again = NULL;
    init();
    CUcontext primary = retain();
    need("cuCtxPushCurrent", cuCtxPushCurrent_v2(primary));
    need("cuCtxPushCurrent", cuCtxPushCurrent_v2(primary));
    see_result("reset", cuDevicePrimaryCtxReset_v2(0));
    see_alloc("alloc-before");
    see_result("retain", cuDevicePrimaryCtxRetain(&again, 0));
    see("current", "%s", who(current()));
    see_alloc("alloc-after");
    see("depth", "%d", depth());
    see_pop("pop");
    see_alloc("alloc-of-lower");
    see_result("synchronize", cuCtxSynchronize());
}

static void retain_after_last_release(void)
{
    CUcontext again = NULL;
    init();
    CUcontext primary = retain();
    need("cuCtxPushCurrent", cuCtxPushCurrent_v2(primary));
    see_result("release", cuDevicePrimaryCtxRelease_v2(0));
    see_alloc("alloc-before");
    see_result("retain", cuDevicePrimaryCtxRetain(&again, 0));
    see("handle", "%s", who(again));
    see_alloc("alloc-after");
}

static void flags(void)
{
    unsigned int of_context = 0;
    init();
    see_result("inactive", cuDevicePrimaryCtxSetFlags_v2(0, 4));
    see_state("inactive-state");
    CUcontext primary = retain();
    see_state("retained-state");
    need("cuCtxPushCurrent", cuCtxPushCurrent_v2(primary));
    cuCtxGetFlags(&of_context);
    see("of-context", "0x%x", of_context);
    see_result("active", cuDevicePrimaryCtxSetFlags_v2(0, 2));
    see_state("active-state");
    cuCtxGetFlags(&of_context);
    see("of-context-after", "0x%x", of_context);
    see_result("same-again", cuDevicePrimaryCtxSetFlags_v2(0, 2));
    see_result("zero", cuDevicePrimaryCtxSetFlags_v2(0, 0));
    see_state("zero-state");
    see_result("first-abi", cuDevicePrimaryCtxSetFlags(0, 1));
    see_state("first-abi-state");
    see_result("context-set-flags", cuCtxSetFlags(4));
    see_state("context-set-flags-state");
}

static void bad_flags(void)
{
    init();
    see_result("two-schedules", cuDevicePrimaryCtxSetFlags_v2(0, 3));
    see_result("schedule-mask", cuDevicePrimaryCtxSetFlags_v2(0, 7));
    see_result("0x100", cuDevicePrimaryCtxSetFlags_v2(0, 0x100));
    see_result("map-host", cuDevicePrimaryCtxSetFlags_v2(0, 8));
    see_state("map-host-state");
    see_result("lmem", cuDevicePrimaryCtxSetFlags_v2(0, 0x10));
    see_state("lmem-state");
}

static void flags_last(void)
{
    init();
    cuDevicePrimaryCtxSetFlags_v2(0, 4);
    retain();
    see_result("reset", cuDevicePrimaryCtxReset_v2(0));
    see_state("state-after-reset");
    retain();
    see_state("state-after-retain");
    cuDevicePrimaryCtxRelease_v2(0);
    cuDevicePrimaryCtxRelease_v2(0);
    see_state("state-after-release");
    retain();
    see_state("state-after-new-retain");
}

static void owed(void)
{
    char word[32];
    init();
    retain();
    retain();
    see_result("reset", cuDevicePrimaryCtxReset_v2(0));
    see_state("state");
    for (int i = 1; i <= 3; i++) {
        snprintf(word, sizeof word, "release-%d", i);
        see_result(word, cuDevicePrimaryCtxRelease_v2(0));
    }
}

static void owed_after_retain(void)
{
    char word[32];
    init();
    retain();
    retain();
    see_result("reset", cuDevicePrimaryCtxReset_v2(0));
    retain();
    for (int i = 1; i <= 4; i++) {
        snprintf(word, sizeof word, "release-%d", i);
        see_result(word, cuDevicePrimaryCtxRelease_v2(0));
        snprintf(word, sizeof word, "state-%d", i);
        see_state(word);
    }
}

const struct experiment primary_experiments[] = {
    {"P1.retain", retaining,
     "before current depth after again again-handle thread-retain thread-handle thread-current "
     "null-pointer push "
     "alloc state-null-flags state-null-active"},
    {"P2.release", releasing,
     "without-retain first first-state last last-state too-many too-many-state retain-again "
     "retain-again-handle"},
    {"P2.release-current", release_current,
     "release current alloc get-device synchronize retain retain-id alloc-after-retain pop "
     "pop-again"},
    {"P3.reset-inactive", reset_inactive, "never-retained released active again state"},
    {"P3.reset-destroys", reset_destroys, "reset memory-type memory-free alloc"},
    {"P3.reset-stream", reset_stream, "reset stream-query"},
    {"P4.reset-current", reset_current,
     "reset state current alloc synchronize thread-current thread-alloc thread-get-device "
     "push-inactive retain "
     "retain-handle retain-id thread-current-after-retain thread-alloc-after-retain"},
    {"P4.inactive", inactive,
     "push current alloc get-device state set depth pop set-on-empty set-on-empty-current"},
    {"P5.retain-after-reset", retain_after_reset,
     "reset alloc-before retain current alloc-after depth pop alloc-of-lower synchronize"},
    {"P5.retain-after-last-release", retain_after_last_release,
     "release alloc-before retain handle alloc-after"},
    {"P6.flags", flags,
     "inactive inactive-state retained-state of-context active active-state of-context-after "
     "same-again zero "
     "zero-state first-abi first-abi-state context-set-flags context-set-flags-state"},
    {"P6.bad-flags", bad_flags,
     "two-schedules schedule-mask 0x100 map-host map-host-state lmem lmem-state"},
    {"P6.flags-last", flags_last,
     "reset state-after-reset state-after-retain state-after-release state-after-new-retain"},
    {"P7.owed", owed, "reset state release-1 release-2 release-3"},
    {"P7.owed-after-retain", owed_after_retain,
     "reset release-1 state-1 release-2 state-2 release-3 state-3 release-4 state-4"},
    {NULL, NULL, NULL},
};
