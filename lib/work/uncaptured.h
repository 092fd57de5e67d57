/*
 * Calls that a capture of the calling thread forbids, though they are no part of it: allocating,
 * waiting. Between begin and end the driver lets them through.
 */
#ifndef CX_WORK_UNCAPTURED_H
#define CX_WORK_UNCAPTURED_H

#include "driver/driver.h"

typedef struct cx_uncaptured {
    const cx_driver *driver; /* NULL: it has no captures */
    cxu_stream_capture_mode mode;
} cx_uncaptured;

static inline cx_uncaptured cx_uncaptured_begin(const cx_driver *driver)
{
    cx_uncaptured self = {driver, CXU_STREAM_CAPTURE_MODE_RELAXED};
    if (driver->table.thread_exchange_stream_capture_mode(&self.mode) != CXU_SUCCESS)
        self.driver = NULL;
    return self;
}

static inline void cx_uncaptured_end(cx_uncaptured *self)
{
    if (self->driver != NULL)
        (void)self->driver->table.thread_exchange_stream_capture_mode(&self->mode);
}

#endif
