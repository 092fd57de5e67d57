#include "runtime/thread.h"

#include "runtime/origin.h"
#include <stddef.h>

static _Thread_local cx_cudart_thread self;

cx_cudart_thread *cx_cudart_thread_get(void)
{
    return &self;
}

void cx_cudart_call_begin(cx_cudart_call *call)
{
    call->outer = self.call;
    self.call = call;
    cx_cudart_origin_set(&call->origin);
}

void cx_cudart_call_leave(cx_cudart_call *call)
{
    self.call = call->outer;
    cx_cudart_origin_set(self.call != NULL ? &self.call->origin : NULL);
}

cxr_error cx_cudart_call_end(cx_cudart_call *call, cxr_error error)
{
    cx_cudart_call_leave(call);
    if (error != CXR_SUCCESS)
        self.last_error = error;
    return error;
}
