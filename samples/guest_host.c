/*
 * A program that uses ctxrt, and two libraries on its thread that do not. What a change of the
 * driver's stack behind ctxrt's back looks like under each policy, how ctxrt_stack_resync puts it
 * right, and what a scope makes of it.
 *
 *   cc guest_*.c $(pkg-config --cflags --libs ctxrt) -lcuda
 *   ./a.out                         (or: ctxrt run ./a.out)
 * Where there is no libcuda to link with, write instead of -lcuda:
 *   -L$(pkg-config --variable=libdir ctxrt)/ctxrt/cuda-13 -l:libcuda.so.1
 *
 * The host works on cuda:0 above cuda:2, the rude guest's device is cuda:1.
 */
#include "guest.h"

#include <ctxrt/ctxrt.h>
#include <stdbool.h>
#include <stdio.h>

#define OK(call) ok((call), #call)

static bool ok(ctxrt_status status, const char *call)
{
    if (status != CTXRT_SUCCESS)
        fprintf(stderr, "%s: %s: %s\n", call, ctxrt_status_name(status),
                ctxrt_last_error()->message);
    return status == CTXRT_SUCCESS;
}

static CUresult be_polite(void)
{
    return guest_polite(3);
}

static const struct guest_case {
    const char *name;
    CUresult (*act)(void);
} cases[] = {
    {"the polite guest", be_polite},
    {"the rude one sets", guest_rude_set},
    {"it leaks a push", guest_rude_push},
    {"it pops one too many", guest_rude_pop},
};

static bool act(const struct guest_case *guest)
{
    CUresult result = guest->act();
    if (result != CUDA_SUCCESS)
        fprintf(stderr, "%s: the driver said %d\n", guest->name, (int)result);
    return result == CUDA_SUCCESS;
}

/* Shows the device that work goes to now. */
static bool show_work(void)
{
    ctxrt_memory *memory = NULL;
    ctxrt_memory_info info;
    ctxrt_status status = ctxrt_memory_alloc(64, &memory);
    if (status != CTXRT_SUCCESS) {
        printf("  work   %s\n", ctxrt_status_name(status));
        return true;
    }
    bool described = OK(ctxrt_memory_describe(memory, &info));
    if (described)
        printf("  work   goes to cuda:%d\n", info.device.index);
    return OK(ctxrt_memory_release(memory)) && described;
}

static bool show_resync(void)
{
    static const char *const findings[] = {"in step", "pushed", "set", "popped", "ambiguous"};
    ctxrt_resync_report report;
    ctxrt_device device;
    if (!OK(ctxrt_stack_resync(&report)) || !OK(ctxrt_device_get(&device)))
        return false;
    printf("  resync %s %d; current is cuda:%d, depth %d\n", findings[report.finding], report.count,
           device.index, (int)ctxrt_stack_depth());
    return true;
}

/* The guest comes between a push and its pop. */
static bool after_a_push(const struct guest_case *guest)
{
    size_t depth = ctxrt_stack_depth();
    if (!OK(ctxrt_device_push(CTXRT_CUDA(0))))
        return false;
    bool good = act(guest) && show_work();
    ctxrt_status popped = ctxrt_stack_pop();
    printf("  pop    %s\n", ctxrt_status_name(popped));
    if (popped == CTXRT_SUCCESS)
        return good;
    good = show_resync() && good; /* the frame is gone if the guest has popped it */
    return (ctxrt_stack_depth() == depth || OK(ctxrt_stack_pop())) && good;
}

/* The guest comes within a scope. */
static bool within_a_scope(const struct guest_case *guest)
{
    ctxrt_scope scope = CTXRT_SCOPE_INIT;
    ctxrt_device device;
    if (!OK(ctxrt_scope_enter(CTXRT_CUDA(0), &scope)))
        return false;
    bool acted = act(guest);
    ctxrt_status left = ctxrt_scope_leave(&scope);
    if (!OK(ctxrt_device_get(&device)))
        return false;
    printf("  scope  left with %s; current is cuda:%d, depth %d\n", ctxrt_status_name(left),
           device.index, (int)ctxrt_stack_depth());
    return acted;
}

static bool visit(void)
{
    CTXRT_SCOPE ctxrt_scope all = CTXRT_SCOPE_INIT;
    bool good = OK(ctxrt_scope_enter(CTXRT_CUDA(2), &all));
    for (size_t i = 0; good && i < sizeof cases / sizeof cases[0]; i++) {
        printf("%s\n", cases[i].name);
        good = after_a_push(&cases[i]) && within_a_scope(&cases[i]);
    }
    return good;
}

static bool under(ctxrt_foreign_policy policy)
{
    ctxrt_options options = CTXRT_OPTIONS_INIT;
    options.foreign = policy;
    if (!OK(ctxrt_init(&options)))
        return false;
    bool good = visit();
    return OK(ctxrt_shutdown()) && good;
}

int main(void)
{
    if (guest_rude_open(1) != CUDA_SUCCESS) {
        fprintf(stderr, "the rude guest has no device 1\n");
        return 1;
    }
    printf("POLICY FOLLOW\n");
    bool good = under(CTXRT_FOREIGN_FOLLOW);
    printf("POLICY ERROR\n");
    good = under(CTXRT_FOREIGN_ERROR) && good;
    return guest_rude_close() == CUDA_SUCCESS && good ? 0 : 1;
}
