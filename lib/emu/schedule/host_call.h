/*
 * Host functions in streams.
 */
#ifndef CX_EMU_HOST_CALL_H
#define CX_EMU_HOST_CALL_H

#include "emu/schedule/work.h"

/* Makes the request for a piece of work that calls a host function; its argument is `host`. */
cx_emu_work_request cx_emu_host_request(cxu_host_node_params *host);

#endif
