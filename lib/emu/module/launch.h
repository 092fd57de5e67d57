/*
 * Launches of kernels. All functions: lock "emu.state" held.
 */
#ifndef CX_EMU_LAUNCH_H
#define CX_EMU_LAUNCH_H

#include "emu/memory/access_log.h"
#include "emu/memory/texture.h"
#include "emu/module/launch_hint.h"
#include "emu/module/module.h"
#include "emu/schedule/work.h"

/* The arguments of a launch: counted, and constant. */
typedef struct cx_emu_arguments {
    int references;
    unsigned char *content;
    void **each; /* the address of each argument in `content`, for queries of a node */
} cx_emu_arguments;

void cx_emu_arguments_retain(cx_emu_arguments *arguments); /* NULL is harmless */
void cx_emu_arguments_drop(cx_emu_arguments *arguments);

/* A launch: plain values, except the arguments, which the owner of a copy retains. */
typedef struct cx_emu_launch {
    CUfunction function; /* looked up at each launch; never a CUkernel */
    uint32_t grid[3], block[3];
    uint32_t shared_bytes;
    bool cooperative;
    uint32_t cluster[3]; /* blocks of a cluster; 0: it names none */
    int priority; /* told to whoever asks the node; nothing depends on it */
    cx_emu_launch_hints hints;
    cx_emu_arguments *arguments;
    CUkernel kernel; /* that the function came from, where the user named that */
} cx_emu_launch;

enum { CX_EMU_RUN_USES = 8 };

/* The argument of a piece of work that runs a kernel. */
typedef struct cx_emu_run {
    cx_emu_context *context;
    cx_emu_code *code;
    const cx_ptx_function *kernel;
    cx_emu_launch launch;
    const cx_emu_allocation *memory; /* the module's variables, in use by the work; or NULL */
    const cx_emu_allocation *managed; /* its managed variables, the same */
    cx_emu_bindings *bindings; /* of its references to textures; or NULL */
    cx_emu_texture_user texture_user; /* where its code names textures */
    cx_emu_use first_uses[CX_EMU_RUN_USES]; /* memory that it has reached so far, */
    cx_emu_use *more_uses;                  /* and what has no room there */
    size_t use_count, more_capacity;
    uint64_t deadline; /* watchdog.h */
    size_t pending_grids; /* the context's limit when it was launched */
    uint64_t ticket;      /* of who watches what it touches (driver/access_log.h); 0: nobody */
    size_t part;          /* of the call's work, which has the ticket */
    cx_emu_access_log *access_log; /* NULL: nobody watches, or it does not run */
    size_t lost_texts; /* of kernels, since there was no room for what this one printed */
    size_t output_most; /* bytes of text that waited for the host meanwhile */
    uint64_t heap_begin, heap_end; /* of the kernels' own heap, which is not told of */
    atomic_bool timed_out;
} cx_emu_run;

/*
 * Fills in the arguments of a launch from the user's; the caller drops them. The context is that of
 * the stream or node.
 *
 * CXU_INVALID_HANDLE: no function, or one of another context. CXU_INVALID_VALUE: arguments are
 * missing, or come twice. CXU_OUT_OF_MEMORY.
 */
cxu_result cx_emu_launch_take(cx_emu_launch *launch, cx_emu_context *context, CUfunction function,
                              void **parameters, void **extra);

/*
 * Makes the request for a piece of work that launches in the function's context; its argument is
 * `out_run`. CXU_INVALID_HANDLE: the function is gone. CXU_INVALID_VALUE: dimensions or shared
 * memory that the device does not have, or threads that the kernel does not allow;
 * CXU_COOPERATIVE_LAUNCH_TOO_LARGE; errors of cx_emu_cluster_resolve; CXU_OUT_OF_MEMORY: a kernel
 * that was launched finds the memory that it needs.
 */
cxu_result cx_emu_launch_request(const cx_emu_launch *launch, cx_emu_run *out_run,
                                 cx_emu_work_request *out_request);

/* True if the device has blocks of that size. */
bool cx_emu_launch_block_valid(const cx_emu_device *device, const uint32_t block[3]);

/* The context of the launch's function. CXU_INVALID_HANDLE. */
cxu_result cx_emu_launch_context(const cx_emu_launch *launch, cx_emu_context **out_context);

#endif
