/* A stand-in keeps no last error, since no call reads it: so it takes no room in each thread. A
 * process that loads two of them late has little (the dynamic linker's "static TLS"). */
#include "base/error.h"

ctxrt_status cx_error(ctxrt_status status, const char *format, ...)
{
    (void)format;
    return status;
}

ctxrt_status cx_error_driver_call(ctxrt_status status, const char *call, int result,
                                  const char *result_name, const char *format, ...)
{
    (void)call;
    (void)result;
    (void)result_name;
    (void)format;
    return status;
}

void cx_error_save(cx_error_saved *out_saved)
{
    (void)out_saved;
}

void cx_error_restore(const cx_error_saved *saved)
{
    (void)saved;
}
