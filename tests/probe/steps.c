#include "steps.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

void need(const char *step, CUresult code)
{
    if (code != SUCCESS)
        give_up("not reached: %s %s", step, result_text(code));
}

void need_devices(int count)
{
    int have = 0;
    need("cuDeviceGetCount", cuDeviceGetCount(&have));
    if (have < count)
        give_up("needs %d devices", count);
}

void init(void)
{
    need("cuInit", cuInit(0));
}

static struct {
    const void *handle;
    const char *name;
} known[16];

void know(const void *handle, const char *name)
{
    size_t i = 0;
    while (i < 15 && known[i].handle != NULL && known[i].handle != handle)
        i++;
    known[i].handle = handle;
    known[i].name = name;
}

const char *who(const void *handle)
{
    if (handle == NULL)
        return "none";
    for (size_t i = 0; i < 16; i++)
        if (known[i].handle == handle)
            return known[i].name;
    return "other";
}

CUcontext create(const char *name)
{
    CUcontext context = NULL;
    CUresult code = cuCtxCreate_v2(&context, 0, 0);
    if (code == MISSING)
        code = cuCtxCreate_v4(&context, NULL, 0, 0);
    need("cuCtxCreate", code);
    know(context, name);
    return context;
}

CUcontext retain(void)
{
    CUcontext context = NULL;
    need("cuDevicePrimaryCtxRetain", cuDevicePrimaryCtxRetain(&context, 0));
    know(context, "primary");
    return context;
}

CUcontext current(void)
{
    CUcontext context = NULL;
    need("cuCtxGetCurrent", cuCtxGetCurrent(&context));
    return context;
}

CUstream stream(unsigned int flags)
{
    CUstream made = NULL;
    need("cuStreamCreate", cuStreamCreate(&made, flags));
    return made;
}

CUevent event(unsigned int flags)
{
    CUevent made = NULL;
    need("cuEventCreate", cuEventCreate(&made, flags));
    return made;
}

CUdeviceptr memory(size_t bytes)
{
    CUdeviceptr made = 0;
    need("cuMemAlloc", cuMemAlloc_v2(&made, bytes));
    return made;
}

void pop_all(void)
{
    for (int i = 0; i < 10000 && cuCtxPopCurrent_v2(NULL) == SUCCESS; i++)
        continue;
}

int depth(void)
{
    static _Thread_local CUcontext entries[4096];
    int count = 0;
    while (count < 4096 && cuCtxPopCurrent_v2(&entries[count]) == SUCCESS)
        count++;
    for (int i = count; i > 0; i--)
        need("pushing back", cuCtxPushCurrent_v2(entries[i - 1]));
    return count;
}

void see_pop(const char *word)
{
    CUcontext popped = NULL;
    CUresult code = cuCtxPopCurrent_v2(&popped);
    if (code == SUCCESS)
        see(word, "%s", who(popped));
    else
        see_result(word, code);
}

void see_alloc(const char *word)
{
    CUdeviceptr made = 0;
    see_result(word, cuMemAlloc_v2(&made, 64));
}

unsigned long long id_of(CUcontext context)
{
    unsigned long long id = 0;
    return cuCtxGetId(context, &id) == SUCCESS ? id : 0;
}

void see_id(const char *word, CUcontext context, unsigned long long before)
{
    unsigned long long id = 0;
    CUresult code = cuCtxGetId(context, &id);
    if (code == SUCCESS)
        see(word, "%s", id == before ? "same" : "new");
    else
        see_result(word, code);
}

static void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0)
        continue;
}

static void *act(void *argument)
{
    struct actor *actor = argument;
    for (;;) {
        wait_for(&actor->go);
        if (actor->step == NULL)
            return NULL;
        actor->step(actor->argument);
        sem_post(&actor->done);
    }
}

void actor_start(struct actor *actor)
{
    sem_init(&actor->go, 0, 0);
    sem_init(&actor->done, 0, 0);
    if (pthread_create(&actor->thread, NULL, act, actor) != 0)
        give_up("not reached: no thread");
}

void actor_begin(struct actor *actor, void (*step)(void *), void *argument)
{
    actor->step = step;
    actor->argument = argument;
    sem_post(&actor->go);
}

_Bool actor_ends_in_time(struct actor *actor)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += patience_ms / 1000;
    until.tv_nsec += (long)(patience_ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    return sem_timedwait(&actor->done, &until) == 0;
}

void actor_end(struct actor *actor)
{
    wait_for(&actor->done);
}

void actor_do(struct actor *actor, void (*step)(void *), void *argument)
{
    actor_begin(actor, step, argument);
    actor_end(actor);
}

void actor_stop(struct actor *actor)
{
    actor_begin(actor, NULL, NULL);
    pthread_join(actor->thread, NULL);
}

void elsewhere(void (*step)(void *), void *argument)
{
    struct actor actor;
    actor_start(&actor);
    actor_do(&actor, step, argument);
    actor_stop(&actor);
}

static sem_t gate;

static void wait_at_gate(void *argument)
{
    (void)argument;
    wait_for(&gate);
}

void gate_close(CUstream on)
{
    sem_init(&gate, 0, 0);
    need("cuLaunchHostFunc", cuLaunchHostFunc(on, wait_at_gate, NULL));
}

void gate_open(void)
{
    sem_post(&gate);
}

const char *settles(CUevent recorded)
{
    struct timespec pause = {0, 1000000};
    for (unsigned int waited = 0; waited < patience_ms; waited++) {
        CUresult code = cuEventQuery(recorded);
        if (code != NOT_READY)
            return code == SUCCESS ? "done" : result_text(code);
        nanosleep(&pause, NULL);
    }
    return "pending";
}

struct returning {
    CUcontext context;
    CUresult (*call)(void);
    CUresult code;
};

static void make_call(void *argument)
{
    struct returning *returning = argument;
    if (returning->context != NULL)
        cuCtxPushCurrent_v2(returning->context);
    returning->code = returning->call();
    if (returning->context != NULL)
        cuCtxPopCurrent_v2(NULL);
}

void see_returns(const char *word, CUcontext context, CUresult (*call)(void))
{
    struct actor actor;
    struct returning returning = {.context = context, .call = call};
    actor_start(&actor);
    actor_begin(&actor, make_call, &returning);
    _Bool returned = actor_ends_in_time(&actor);
    gate_open();
    if (!returned)
        actor_end(&actor);
    actor_stop(&actor);
    see(word, "%s %s", returned ? "returns" : "waits", result_text(returning.code));
}
