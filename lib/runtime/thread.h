/*
 * What the runtime library keeps for each thread: the device that it set, its last error, and the
 * call that it is in.
 */
#ifndef CX_RUNTIME_THREAD_H
#define CX_RUNTIME_THREAD_H

#include "driver/entry.h"
#include "runtime/cudart_abi.h"
#include <stdbool.h>

/* A call of the Runtime API, in the frame of its entry. */
typedef struct cx_cudart_call {
    cx_entry_origin origin;
    bool per_thread;              /* its default stream is the calling thread's */
    struct cx_cudart_call *outer; /* the call that ran the callback which makes this one */
} cx_cudart_call;

/* The configuration of a launch, between <<<>>> and the host stub of the kernel. */
typedef struct cx_cudart_launch {
    cxr_dim3 grid;
    cxr_dim3 block;
    size_t shared_bytes;
    CUstream stream;
} cx_cudart_launch;

/* Arguments of a launch may launch kernels themselves, so configurations form a stack. The first
 * few are variables of the thread, which are scarce in a library that is opened late. */
enum { CX_CUDART_FEW_LAUNCHES = 2, CX_CUDART_MAX_LAUNCHES = 16 };

typedef struct cx_cudart_thread {
    cx_cudart_call *call; /* NULL: the thread is in no call */
    cxr_error last_error;
    int device;        /* the ordinal of cudaSetDevice; 0 at first */
    bool must_switch;  /* the device was set and its context is not current yet */
    CUcontext context; /* the primary context that this library made current last */
    CUcontext current; /* the context of the present call */
    unsigned int launches;
    cx_cudart_launch few[CX_CUDART_FEW_LAUNCHES];
    cx_cudart_launch *more; /* those behind them; NULL: there are none */
} cx_cudart_thread;

cx_cudart_thread *cx_cudart_thread_get(void);

/* Every entry begins and leaves its call. */
void cx_cudart_call_begin(cx_cudart_call *call);
void cx_cudart_call_leave(cx_cudart_call *call);

/* Leaves it, keeps an error as the thread's last one, and returns it. */
cxr_error cx_cudart_call_end(cx_cudart_call *call, cxr_error error);

#endif
