/*
 * The memory that work touches: a driver that runs the work itself tells it to whoever watches. A
 * driver of a real GPU tells nothing.
 */
#ifndef CX_DRIVER_ACCESS_LOG_H
#define CX_DRIVER_ACCESS_LOG_H

#include <stddef.h>
#include <stdint.h>

typedef enum cx_access_how {
    CX_ACCESS_READ,
    CX_ACCESS_WRITE, /* whatever was there before */
    CX_ACCESS_ATOMIC,
    CX_ACCESS_FAULT /* the work ended here: nothing that it may use has the address */
} cx_access_how;

/* Bytes from `begin` to before `end`, as addresses of the device. */
typedef struct cx_access {
    uint64_t begin, end;
    cx_access_how how;
} cx_access;

/* Why work failed with an error that all later calls return. */
typedef struct cx_access_log_failure {
    int result;       /* cxu_result */
    const char *what; /* "kernel add, line 8 of its PTX, ...": who failed, where and at what */
    uint64_t memory;  /* the address of the allocation that `what` speaks of; 0: of none */
} cx_access_log_failure;

/* Called by any thread, with locks of the driver held: none of them calls the driver. */
typedef struct cx_access_log_watcher {
    /* A piece of the call's work will tell what it touches. */
    void (*promised)(uint64_t ticket);
    /* Before the piece is over, and before any call returns the error. */
    void (*failed)(uint64_t ticket, const cx_access_log_failure *failure);
    /* It is over, or will never run; in no order of addresses. */
    void (*told)(uint64_t ticket, const cx_access *all, size_t count);
} cx_access_log_watcher;

/* The work that this thread's calls submit has this number; 0: nobody watches it. */
extern _Thread_local uint64_t cx_access_log_ticket;

/* Before the first ticket, once in a process. */
void cx_access_log_watch(const cx_access_log_watcher *watcher);

/* NULL: nobody watches. */
const cx_access_log_watcher *cx_access_log_watched(void);

#endif
