/*
 * Sticky errors: failed asynchronous work leaves them behind. All functions: lock "emu.state" held,
 * unless they say otherwise.
 *
 *   F1  ILLEGAL_ADDRESS and its like leave the process useless: work on every GPU returns the error
 *       until the process ends. CTXRT_EMU_STICKY=context limits them to the context. The host
 *       device is no GPU: a failure there is limited to its context, and it goes on when GPUs fail.
 *   F2  ASSERT: the context is useless and must be destroyed; others go on.
 *   F4  ECC_UNCORRECTABLE and NVLINK_UNCORRECTABLE: the headers do not say how far they reach. By
 *       default it is the context; CTXRT_EMU_STICKY=ecc:process, or ecc:once: reported once, and
 *       things go on.
 *
 * The first error stays. Work queued in a useless context ends without running, so that every wait
 * ends. Calls that use the context return the error (F5). Calls that only check handles, move them
 * on the stack, or end contexts go on: destroying and resetting always works.
 */
#ifndef CX_EMU_STICKY_H
#define CX_EMU_STICKY_H

#include "emu/base/context_record.h"
#include "emu/device/device.h"

/* Checks CTXRT_EMU_STICKY, without a lock; and applies it. */
bool cx_emu_sticky_valid(void);
bool cx_emu_sticky_choose(void);

/* True if work can fail with this error at all. Needs no lock. */
bool cx_emu_error_is_asynchronous(cxu_result error);

/* Work of the context failed; cx_emu_explain reports `what`. Errors that work cannot have change
 * nothing. */
void cx_emu_context_fail(cx_emu_context *context, cxu_result error, const char *what);

/* The end of the context has lost patience with its work: none of it begins any more. */
void cx_emu_context_abandon(cx_emu_context *context);

/* The device is lost: calls on it and on its contexts return the error from now on. */
void cx_emu_device_lose(cx_emu_device *device, cxu_result error);

/* True once anything failed: without failures the checks below cost nothing. */
extern bool cx_emu_failures;

/* The error that a call using the device or the context must return, or CXU_SUCCESS. An error that
 * is reported once is reported now. */
cxu_result cx_emu_device_error_slowly(const cx_emu_device *device);
cxu_result cx_emu_context_error_slowly(cx_emu_context *context);

static inline cxu_result cx_emu_device_error(const cx_emu_device *device)
{
    return __builtin_expect(cx_emu_failures, 0) ? cx_emu_device_error_slowly(device) : CXU_SUCCESS;
}

static inline cxu_result cx_emu_context_error(cx_emu_context *context)
{
    return __builtin_expect(cx_emu_failures, 0) ? cx_emu_context_error_slowly(context)
                                                : CXU_SUCCESS;
}

/* The error that keeps queued work of the context from running. */
cxu_result cx_emu_context_blocked(const cx_emu_context *context);

#endif
