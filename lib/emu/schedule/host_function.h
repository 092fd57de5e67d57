/*
 * Host functions and callbacks in streams.
 */
#ifndef CX_EMU_HOST_FUNCTION_H
#define CX_EMU_HOST_FUNCTION_H

#include "emu/schedule/work.h"

typedef struct cx_emu_callback {
    cxu_stream_callback function;
    CUstream stream; /* as the user named it */
    cx_emu_context *context;
    void *user_data;
} cx_emu_callback;

/* Makes the request for a piece of work that calls a host function; its argument is `host`. */
cx_emu_work_request cx_emu_host_request(cxu_host_node_params *host);

/* Makes the request for one that calls a callback, which unlike a host function also runs in a
 * useless context; its argument is `host`. */
cx_emu_work_request cx_emu_callback_request(cx_emu_callback *host);

#endif
