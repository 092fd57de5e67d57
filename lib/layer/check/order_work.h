/*
 * Work in the order of its submission: it is judged when all work before it has told what it
 * touches. Every function needs the lock "check", except those that a driver calls.
 */
#ifndef CX_LAYER_CHECK_ORDER_WORK_H
#define CX_LAYER_CHECK_ORDER_WORK_H

#include "layer/check/access.h"
#include "layer/check/order_launch.h"

typedef struct cx_order_work cx_order_work;

/* Watches the driver; once. */
void cx_order_work_watch(void);

/* A piece of work at the end of a line, ordered after the line's clock. NULL: no memory. */
cx_order_work *cx_order_work_begin(cx_check_call *call, int line, cx_order_what what);

/* The driver's work for this thread's calls counts to it, until it is submitted. `exec`: the
 * executable graph that it launches; 0: it is no graph. */
void cx_order_work_ask(cx_order_work *work, uintptr_t exec);

int cx_order_work_line(const cx_order_work *work);

/* The launch of a graph as the driver told it; NULL: it has told nothing. */
const cx_order_launch *cx_order_work_launch(const cx_order_work *work);

/* The launch of a graph has been submitted: its events are recorded, and the host may be told. */
void cx_order_work_launched(const cx_order_work *work);

/* The host's accesses to this pinned memory are watched until it runs, if that is asked for. */
void cx_order_work_guard(const cx_order_work *work, const cx_check_access *access);

/* The call waits for it. */
void cx_order_work_by_host(cx_order_work *work);

void cx_order_work_touch(cx_order_work *work, const cx_access *touch);
void cx_order_work_touch_rows(cx_order_work *work, const cx_check_access *access);

/* It is ordered after the work that the host has waited for, and not after the rest of its line. */
void cx_order_work_after_host(cx_order_work *work);

/* The bytes are of other memory now: after the work of an allocation, before that of a free. */
void cx_order_work_forget(cx_order_work *work, uintptr_t begin, uintptr_t end);

/* The driver refused it. True: a finding tells why: a node of the graph that it launches uses
 * memory that was freed. NULL is harmless. */
bool cx_order_work_refused(cx_order_work *work, cx_origin where);

/* The call is over. `where`: its place; failed: there is no such work. NULL is harmless. */
void cx_order_work_submit(cx_order_work *work, cx_origin where, bool failed);

#endif
