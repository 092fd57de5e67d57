/* S1 to S6: the stack of current contexts. */
#include "probes.h"
#include "steps.h"

static void push(void)
{
    init();
    CUcontext a = create("a"), b = create("b");
    see_result("same-again", cuCtxPushCurrent_v2(b));
    see("depth", "%d", depth());
    see_result("lower-again", cuCtxPushCurrent_v2(a));
    see("current", "%s", who(current()));
    see("depth-after", "%d", depth());
    see_pop("pop-1");
    see_pop("pop-2");
    see_pop("pop-3");
    see_pop("pop-4");
    see_pop("pop-5");
}

static void push_many(void)
{
    int pushed = 0;
    init();
    CUcontext a = create("a");
    CUresult code = SUCCESS;
    while (pushed < 2000 && (code = cuCtxPushCurrent_v2(a)) == SUCCESS)
        pushed++;
    see("result", "%s", result_text(code));
    see("depth", "%d", depth());
}

static void pop(void)
{
    CUcontext a, out;
    init();
    out = (CUcontext)&out;
    see_result("empty", cuCtxPopCurrent_v2(&out));
    see("empty-out", "%s", out == (CUcontext)&out ? "untouched" : "written");
    see_result("empty-null-pointer", cuCtxPopCurrent_v2(NULL));
    a = create("a");
    create("b");
    cuCtxPushCurrent_v2(a);
    see_result("null-pointer", cuCtxPopCurrent_v2(NULL));
    see("current", "%s", who(current()));
    see_pop("handle");
    see_pop("handle-beneath");
    see("current-at-end", "%s", who(current()));
}

static void set(void)
{
    init();
    see_result("null-on-empty", cuCtxSetCurrent(NULL));
    see("depth-after-null-on-empty", "%d", depth());
    CUcontext a = create("a"), b = create("b");
    see_result("replace", cuCtxSetCurrent(a));
    see("replace-current", "%s", who(current()));
    see("replace-depth", "%d", depth());
    see_result("same", cuCtxSetCurrent(a));
    see("same-depth", "%d", depth());
    see_result("back", cuCtxSetCurrent(b));
    see_result("null", cuCtxSetCurrent(NULL));
    see("null-current", "%s", who(current()));
    see("null-depth", "%d", depth());
    pop_all();
    see_result("on-empty", cuCtxSetCurrent(b));
    see("on-empty-current", "%s", who(current()));
    see("on-empty-depth", "%d", depth());
    see_result("null-last", cuCtxSetCurrent(NULL));
    see("null-last-current", "%s", who(current()));
    see_pop("null-last-pop");
}

static void see_current(void *unused)
{
    CUcontext context = (CUcontext)&unused;
    (void)unused;
    see_result("new-thread", cuCtxGetCurrent(&context));
    see("new-thread-out", "%s", who(context));
}

static void get(void)
{
    CUcontext context = (CUcontext)&context;
    init();
    see_result("none", cuCtxGetCurrent(&context));
    see("none-out", "%s", who(context));
    create("a");
    see_result("one", cuCtxGetCurrent(&context));
    see("one-out", "%s", who(context));
    elsewhere(see_current, NULL);
    see_result("null-pointer", cuCtxGetCurrent(NULL));
}

static void work_on_thread(void *context)
{
    see_result("second-push", cuCtxPushCurrent_v2(context));
    see("second-current", "%s", who(current()));
    see_alloc("second-alloc");
    see_result("second-synchronize", cuCtxSynchronize());
    see_pop("second-pop");
    see_pop("second-pop-again");
}

static void two_threads(void)
{
    init();
    CUcontext a = create("a");
    elsewhere(work_on_thread, a);
    see("first-current", "%s", who(current()));
    see_alloc("first-alloc");
    see("first-depth", "%d", depth());
}

static void push_green(void *context)
{
    see_result("second-push", cuCtxPushCurrent_v2(context));
    see("second-current", "%s", who(current()));
    see_result("second-set", cuCtxSetCurrent(context));
    see("second-current-after-set", "%s", who(current()));
    see_alloc("second-alloc");
}

static void green(void)
{
    enum { MULTIPROCESSORS = 1, DEFAULT_STREAM = 1 };
    static CUdevResource resource;
    CUdevResourceDesc description = NULL;
    CUgreenCtx made = NULL;
    CUcontext context = NULL;
    init();
    need("cuDeviceGetDevResource", cuDeviceGetDevResource(0, &resource, MULTIPROCESSORS));
    need("cuDevResourceGenerateDesc", cuDevResourceGenerateDesc(&description, &resource, 1));
    need("cuGreenCtxCreate", cuGreenCtxCreate(&made, description, 0, DEFAULT_STREAM));
    need("cuCtxFromGreenCtx", cuCtxFromGreenCtx(&context, made));
    know(context, "green");
    see_result("push", cuCtxPushCurrent_v2(context));
    see("current", "%s", who(current()));
    elsewhere(push_green, context);
    see_result("push-again", cuCtxPushCurrent_v2(context));
    see("depth", "%d", depth());
}

static void push_null(void)
{
    init();
    see_result("on-empty", cuCtxPushCurrent_v2(NULL));
    see("on-empty-depth", "%d", depth());
    create("a");
    see_result("on-one", cuCtxPushCurrent_v2(NULL));
    see("on-one-current", "%s", who(current()));
    see_pop("pop-1");
    see_pop("pop-2");
}

static CUcontext stale(void)
{
    init();
    create("beneath");
    CUcontext a = create("destroyed");
    need("cuCtxDestroy", cuCtxDestroy_v2(a));
    return a;
}

static void push_stale(void)
{
    see_result("result", cuCtxPushCurrent_v2(stale()));
    see("current", "%s", who(current()));
    see_alloc("alloc");
}

static void set_stale(void)
{
    see_result("result", cuCtxSetCurrent(stale()));
    see("current", "%s", who(current()));
    see_alloc("alloc");
}

static void push_garbage(void)
{
    static long long bytes[512];
    init();
    create("beneath");
    see_result("result", cuCtxPushCurrent_v2((CUcontext)(void *)bytes));
    see("current", "%s", who(current()));
}

static void set_garbage(void)
{
    static long long bytes[512];
    init();
    create("beneath");
    see_result("result", cuCtxSetCurrent((CUcontext)(void *)bytes));
    see("current", "%s", who(current()));
}

const struct experiment stack_experiments[] = {
    {"S1.push", push,
     "same-again depth lower-again current depth-after pop-1 pop-2 pop-3 pop-4 pop-5"},
    {"S1.push-many", push_many, "result depth"},
    {"S2.pop", pop,
     "empty empty-out empty-null-pointer null-pointer current handle handle-beneath "
     "current-at-end"},
    {"S3.set", set,
     "null-on-empty depth-after-null-on-empty replace replace-current replace-depth same "
     "same-depth back null "
     "null-current null-depth on-empty on-empty-current on-empty-depth null-last null-last-current "
     "null-last-pop"},
    {"S4.get", get, "none none-out one one-out new-thread new-thread-out null-pointer"},
    {"S5.two-threads", two_threads,
     "second-push second-current second-alloc second-synchronize second-pop second-pop-again "
     "first-current "
     "first-alloc first-depth"},
    {"S5.green", green,
     "push current second-push second-current second-set second-current-after-set second-alloc "
     "push-again depth"},
    {"S6.push-null", push_null, "on-empty on-empty-depth on-one on-one-current pop-1 pop-2"},
    {"S6.push-destroyed", push_stale, "result current alloc"},
    {"S6.set-destroyed", set_stale, "result current alloc"},
    {"S6.push-garbage", push_garbage, "result current"},
    {"S6.set-garbage", set_garbage, "result current"},
    {NULL, NULL, NULL},
};
