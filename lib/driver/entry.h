/*
 * The symbol by which the program made a call. Rows of symbols.def have up to three: their own, one
 * for the thread's default stream, and an older one that means the same. The stand-in's exports set
 * this; a layer reads it; a driver behind that has all three symbols picks the same one.
 */
#ifndef CX_DRIVER_ENTRY_H
#define CX_DRIVER_ENTRY_H

typedef enum cx_entry {
    CX_ENTRY_PLAIN,
    CX_ENTRY_PER_THREAD, /* _ptds or _ptsz */
    CX_ENTRY_OLD,        /* a CX_ALIAS of served.def */
    CX_ENTRY_KINDS
} cx_entry;

/* The calling thread's present call came by this one. Never reached through a function call. */
extern __attribute__((tls_model("initial-exec"))) _Thread_local cx_entry cx_entry_now;

/* A call of a library above the driver, which makes calls of the driver for the program: a call of
 * the CUDA Runtime API. */
typedef struct cx_entry_origin {
    const char *name;   /* "cudaMemcpyAsync"; it stays */
    const void *caller; /* where the program made it: a return address */
} cx_entry_origin;

/* The calling thread's calls of the driver come from this one; NULL: from the program itself. */
extern __attribute__((
    tls_model("initial-exec"))) _Thread_local const cx_entry_origin *cx_entry_origin_now;

/* Where the program made it: a return address. NULL: not by an export of the stand-in. */
extern __attribute__((tls_model("initial-exec"))) _Thread_local const void *cx_entry_caller;

#endif
