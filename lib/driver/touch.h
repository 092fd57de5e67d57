/*
 * The memory that work touches: a driver that runs the work itself tells it to whoever watches. A
 * driver of a real GPU tells nothing.
 */
#ifndef CX_DRIVER_TOUCH_H
#define CX_DRIVER_TOUCH_H

#include <stddef.h>
#include <stdint.h>

typedef enum cx_touch_how {
    CX_TOUCH_READ,
    CX_TOUCH_WRITE, /* whole values that are different now */
    CX_TOUCH_ATOMIC,
    CX_TOUCH_FAULT /* the work ended here: nothing that it may use has the address */
} cx_touch_how;

/* Bytes from `begin` to before `end`, as addresses of the device. */
typedef struct cx_touch {
    uint64_t begin, end;
    cx_touch_how how;
} cx_touch;

/* Called by any thread, with locks of the driver held: neither calls the driver. */
typedef struct cx_touch_watcher {
    /* A piece of the call's work will tell what it touches. */
    void (*promised)(uint64_t ticket);
    /* It is over, or will never run; in no order of addresses. */
    void (*told)(uint64_t ticket, const cx_touch *all, size_t count);
} cx_touch_watcher;

/* The work that this thread's calls submit has this number; 0: nobody watches it. */
extern _Thread_local uint64_t cx_touch_ticket;

/* Before the first ticket, once in a process. */
void cx_touch_watch(const cx_touch_watcher *watcher);

/* NULL: nobody watches. */
const cx_touch_watcher *cx_touch_watched(void);

#endif
