#include "runtime/origin.h"

#include "layer/handshake.h"

#include <stdatomic.h>
#include <stddef.h>

/* Threads may begin calls while the driver is opened. */
static _Atomic(const cx_handshake *) standin;

/* Written once, before the first thread is told that the driver is open. */
static cxu_result (*get_current)(CUcontext *out_context);

void cx_cudart_origin_open(const cx_driver *driver)
{
    const cx_handshake *found = cx_handshake_with(driver->library);
    get_current = found != NULL ? found->get_current : driver->table.ctx_get_current;
    atomic_store_explicit(&standin, found, memory_order_release);
}

void cx_cudart_origin_set(const cx_entry_origin *origin)
{
    const cx_handshake *found = atomic_load_explicit(&standin, memory_order_acquire);
    if (found != NULL)
        found->called_by(origin);
}

cxr_error cx_cudart_get_current(CUcontext *out_context)
{
    return (cxr_error)get_current(out_context);
}
