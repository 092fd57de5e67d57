/*
 * Threads: what the checker knows of each thread's stack of contexts. Every function but
 * cx_check_thread_self needs the lock "check".
 */
#ifndef CX_LAYER_CHECK_THREAD_H
#define CX_LAYER_CHECK_THREAD_H

#include "layer/check/object.h"

typedef enum cx_entry_how { CX_ENTRY_PUSHED, CX_ENTRY_CREATED, CX_ENTRY_SET } cx_entry_how;

/* An entry of a stack. */
typedef struct cx_check_entry {
    cx_object *context; /* NULL: one that the checker does not know */
    cx_object *first;   /* that was pushed; set-current may have replaced it */
    cx_entry_how how;   /* the entry came */
    cx_origin pushed;   /* where it came */
    cx_origin set;      /* where its context was replaced last; 0: never */
    bool told;          /* a finding says so already */
    bool stays;         /* it needs no pop before the thread ends */
} cx_check_entry;

/* The last context that a module made current on a thread. */
typedef struct cx_check_look {
    int module;
    cx_object *context;
    cx_origin where;
} cx_check_look;

enum { CX_CHECK_LOOKS = 8, CX_CHECK_FAILED = 16 };

/* A failed call, and the value that lay where its output was to go. */
typedef struct cx_check_failed_output {
    uint32_t kind; /* of object; CX_HANDLE_NONE: the entry is free */
    uintptr_t value;
    cx_slot slot;
    cxu_result result;
    cx_origin where;
} cx_check_failed_output;

/* The call that took the last entry off a stack. */
typedef struct cx_check_removal {
    cx_object *context; /* that it had; NULL: unknown */
    cx_slot slot;
    cx_origin where; /* 0: there was none */
    cx_origin came;  /* where the entry came, or its context was replaced last */
} cx_check_removal;

typedef struct cx_check_thread {
    int number;
    char name[16];
    bool main;
    cx_check_entry *entries;
    unsigned depth, capacity;
    cx_check_removal removal; /* the last one */
    cx_check_look looks[CX_CHECK_LOOKS];
    cxu_stream_capture_mode capture_mode; /* GLOBAL at first (G5) */
    unsigned asked_again; /* questions in a row that told nothing new about any look */
    cx_check_failed_output failed[CX_CHECK_FAILED];
    unsigned failed_next;
    /* the last failure, of which nothing was said */
    cx_origin failed_at;
    cx_slot failed_slot;
    cxu_result failed_result;
    char why[200]; /* the driver's words on the failure of the present call; empty: none */
    struct cx_check_call *under_way; /* of check.c; allocated at the first call */
    struct cx_check_thread *next, **link;
} cx_check_thread;

/* The calling thread's; NULL: no memory, or the thread ends. */
cx_check_thread *cx_check_thread_self(void);

/* Calls of the driver that the calling thread is in: one, and those of callbacks from within. */
extern _Thread_local int cx_check_depth;

/* The same, if it is known already; else NULL. Allocates nothing. */
cx_check_thread *cx_check_thread_known(void);

/* The number of the calling thread; 0: it has none, and takes none. */
int cx_check_thread_number(void);

/* Called with the lock held when a thread ends that had entries. */
extern void (*cx_check_thread_ends)(cx_check_thread *thread);

/* NULL: the stack is empty. */
static inline cx_check_entry *cx_check_top(const cx_check_thread *thread)
{
    return thread->depth > 0 ? &thread->entries[thread->depth - 1] : NULL;
}

cx_check_entry *cx_check_push(cx_check_thread *thread, cx_object *context, cx_entry_how how,
                              cx_origin where);

/* Takes the top entry off; a call did that there. */
void cx_check_pop(cx_check_thread *thread, cx_slot slot, cx_origin where);

/* The context current on the thread as far as is known; NULL: none, or an unknown one. */
cx_object *cx_check_current(const cx_check_thread *thread);

/* Calls `visit` for each thread with the context on its stack, with the uppermost such entry.
 * Returns their number. */
unsigned cx_check_holders(const cx_object *context, const cx_check_thread *except,
                          void (*visit)(const cx_check_thread *thread, const cx_check_entry *entry,
                                        void *argument),
                          void *argument);

/* The main thread's; NULL: it has called nothing. */
const cx_check_thread *cx_check_thread_main(void);

/* Any thread but this one with a live context that is current; NULL: none. */
const cx_check_thread *cx_check_other_with_context(const cx_check_thread *thread);

/* In the child of a fork: the other threads are not there. */
void cx_check_threads_fork(void);

#endif
