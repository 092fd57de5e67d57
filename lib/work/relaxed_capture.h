/*
 * Exempts calls from captures of the calling thread that forbid them though they are no part of the
 * capture: allocating, waiting. Between begin and end the thread's capture mode is RELAXED.
 */
#ifndef CX_WORK_RELAXED_CAPTURE_H
#define CX_WORK_RELAXED_CAPTURE_H

#include "driver/driver.h"

typedef struct cx_relaxed_capture {
    const cx_driver *driver; /* NULL: it has no captures */
    cxu_stream_capture_mode mode;
} cx_relaxed_capture;

static inline cx_relaxed_capture cx_relaxed_capture_begin(const cx_driver *driver)
{
    cx_relaxed_capture self = {driver, CXU_STREAM_CAPTURE_MODE_RELAXED};
    if (driver->table.thread_exchange_stream_capture_mode(&self.mode) != CXU_SUCCESS)
        self.driver = NULL;
    return self;
}

/* True if queries of the stream's work and event records in it are safe: it does not capture. False
 * too if the driver does not say. */
static inline bool cx_relaxed_capture_may_query(const cx_driver *driver, CUstream native)
{
    cxu_stream_capture_status status;
    return driver->table.stream_is_capturing(native, &status) == CXU_SUCCESS &&
           status == CXU_STREAM_CAPTURE_STATUS_NONE;
}

static inline void cx_relaxed_capture_end(cx_relaxed_capture *self)
{
    if (self->driver != NULL)
        (void)self->driver->table.thread_exchange_stream_capture_mode(&self->mode);
}

#endif
