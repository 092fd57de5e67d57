/* Checkpoints of processes. This process always runs: it cannot be locked, so the calls that need a
 * locked one refuse its state. Nothing is known of other processes. */
#include "emu/base/state.h"
#include "emu/report/not_supported.h"
#include <unistd.h>

static cxu_result check_process(int pid)
{
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    return pid == (int)getpid() ? CXU_SUCCESS : CXU_INVALID_VALUE;
}

static cxu_result refuse_running(int pid)
{
    cxu_result result = check_process(pid);

    return result == CXU_SUCCESS ? CXU_ILLEGAL_STATE : result;
}

cxu_result cx_emu_call_checkpoint_process_get_state(int pid, cxu_process_state *out_state)
{
    cxu_result result = check_process(pid);

    if (result == CXU_SUCCESS && out_state == NULL)
        result = CXU_INVALID_VALUE;
    if (result == CXU_SUCCESS)
        *out_state = CXU_PROCESS_STATE_RUNNING;
    return result;
}

/* A restored process continues with its threads, of which none is special. */
cxu_result cx_emu_call_checkpoint_process_get_restore_thread_id(int pid, int *out_thread)
{
    cxu_result result = check_process(pid);

    if (result == CXU_SUCCESS && out_thread == NULL)
        result = CXU_INVALID_VALUE;
    return result == CXU_SUCCESS ? cx_emu_not_supported("cuCheckpointProcessGetRestoreThreadId",
                                                        "restoring a process")
                                 : result;
}

cxu_result cx_emu_call_checkpoint_process_lock(int pid, cxu_checkpoint_lock_args *args)
{
    cxu_result result = check_process(pid);

    (void)args;
    return result == CXU_SUCCESS
               ? cx_emu_not_supported("cuCheckpointProcessLock", "locking a process")
               : result;
}

cxu_result cx_emu_call_checkpoint_process_checkpoint(int pid, cxu_checkpoint_checkpoint_args *args)
{
    (void)args;
    return refuse_running(pid);
}

cxu_result cx_emu_call_checkpoint_process_restore(int pid, cxu_checkpoint_restore_args *args)
{
    (void)args;
    return refuse_running(pid);
}

cxu_result cx_emu_call_checkpoint_process_unlock(int pid, cxu_checkpoint_unlock_args *args)
{
    (void)args;
    return refuse_running(pid);
}
