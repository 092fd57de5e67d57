#include "layer/check/crash.h"

#include "layer/check/check.h"
#include "layer/check/host_guard.h"

#include <signal.h>
#include <string.h>
#include <ucontext.h>

static struct sigaction before;

/* The instruction that faulted; NULL: unknown on this machine. */
static void *instruction(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (void *)(uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (void *)(uintptr_t)context->uc_mcontext.pc;
#else
    (void)context;
    return NULL;
#endif
}

static bool is_write(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (context->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#else
    (void)context;
    return true;
#endif
}

static const char *verb(const ucontext_t *context)
{
#if defined(__x86_64__)
    return is_write(context) ? "wrote" : "read";
#else
    (void)context;
    return "touched";
#endif
}

/* Lock held. */
static void tell_fault(uintptr_t address, const ucontext_t *context, cx_check_thread *thread,
                       cx_origin where)
{
    const cx_object *memory = cx_object_find_memory(address);
    if (memory == NULL)
        memory = cx_object_find_ended_memory(address);
    if (memory == NULL)
        return;
    cx_finding finding =
        cx_finding_begin(CX_KIND_MEMORY_HOST_FAULT, thread, -1, CXU_SUCCESS, where);
    cx_finding_note(&finding, "fault", where, "the host %s %#llx, byte %zu", verb(context),
                    (unsigned long long)address, (size_t)(address - memory->key.value));
    cx_finding_note_object(&finding, memory);
    cx_finding_raise(&finding);
}

/* A handler waits for no lock that its own thread may hold: a fault within a call of the driver
 * stays unexplained. */
static void note_fault(const siginfo_t *information, const ucontext_t *context)
{
    cx_check_thread *thread = cx_check_thread_known();
    if (cx_region_gave_up() || atomic_load(&cx_region_of_parent) || cx_check_depth != 0)
        return;
    cx_origin where = cx_origin_of_fault(instruction(context));
    cx_lock_enter(&cx_check_lock);
    tell_fault((uintptr_t)information->si_addr, context, thread, where);
    cx_lock_leave(&cx_check_lock);
}

/* Returns to the instruction, which faults again under the earlier handler. Another handler that
 * was put since, and calls this one, stays. */
static void faulted(int number, siginfo_t *information, void *context)
{
    struct sigaction now;
    if (information->si_code == SEGV_ACCERR &&
        cx_host_guard_fault((uintptr_t)information->si_addr, is_write(context),
                            instruction(context)))
        return;
    if (information->si_code > 0)
        note_fault(information, context);
    if (sigaction(number, NULL, &now) == 0 && now.sa_sigaction == faulted)
        (void)sigaction(number, &before, NULL);
    if (information->si_code <= 0) /* sent, not raised by an instruction: it does not come again */
        (void)raise(number);
}

/* False if the program has put a handler of its own since. */
static bool is_put(void)
{
    struct sigaction now;
    return sigaction(SIGSEGV, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
           now.sa_sigaction == faulted;
}

void cx_check_watch_crashes(void)
{
    struct sigaction action = {.sa_sigaction = faulted, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    (void)sigaction(SIGSEGV, &action, &before);
    cx_host_guard_has_handler = is_put;
}
