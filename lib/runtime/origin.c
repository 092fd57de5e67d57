#include "runtime/origin.h"

#include "layer/handshake.h"

#include <stddef.h>

/* Written once, before the first thread is told that the driver is open. */
static const cx_handshake *standin;
static cxu_result (*get_current)(CUcontext *out_context);

void cx_cudart_origin_open(const cx_driver *driver)
{
    standin = cx_handshake_with(driver->library);
    get_current = standin != NULL ? standin->get_current : driver->table.ctx_get_current;
}

void cx_cudart_origin_set(const cx_entry_origin *origin)
{
    if (standin != NULL)
        standin->called_by(origin);
}

cxr_error cx_cudart_get_current(CUcontext *out_context)
{
    return (cxr_error)get_current(out_context);
}
