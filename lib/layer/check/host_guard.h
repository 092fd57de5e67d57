/*
 * Loads and stores of the host in memory that a copy in flight uses, if CTXRT_CHECK_HOST asks for
 * them (`ctxrt check --host`) and the driver runs the copies itself.
 *
 * Whole pages of pinned memory are protected from the call that submits a copy until the copy is
 * about to run: against stores if it reads them, against all if it writes them. A fault in them is
 * noted, and the page opened. System calls that meet such a page fail with EFAULT, which is why
 * this is off by default. Programs that order copies behind what the host does in other ways (host
 * functions, waits for values in memory, kernels that poll) may touch such memory rightly: nothing
 * is protected from then on, or told.
 *
 * Every function needs the lock "check", but for cx_host_guard_fault.
 */
#ifndef CX_LAYER_CHECK_HOST_GUARD_H
#define CX_LAYER_CHECK_HOST_GUARD_H

#include "layer/check/order_bytes.h"

/* Asked for, and nothing speaks against it so far. */
bool cx_host_guard_is_on(void);

/* The host may order its accesses in ways that nobody sees. */
void cx_host_guard_end(void);

/* The copy with the ticket has been submitted, and has not begun to run. */
void cx_host_guard_put(uint64_t ticket, uintptr_t begin, uintptr_t end_of, bool writes);

/* It begins, or will never run. */
void cx_host_guard_open(uint64_t ticket);

/* The memory is about to end: nothing of it stays protected. */
void cx_host_guard_forget(uintptr_t begin, uintptr_t end_of);

/* Raises what the host did to memory of the copy before that began. */
void cx_host_guard_tell(uint64_t ticket, const cx_order_piece *piece);

/* True while the handler of SIGSEGV is the one that calls cx_host_guard_fault: whoever puts that
 * one sets it, before the first call of the program. */
extern bool (*cx_host_guard_has_handler)(void);

/* For the handler of SIGSEGV, without the lock: true if the page is open now, and the instruction
 * can go on. `instruction` NULL: its place is unknown. */
bool cx_host_guard_fault(uintptr_t address, bool writes, void *instruction);

#endif
