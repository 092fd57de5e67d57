/*
 * Settings of the environment for the log and for allocators. They are read again each time, so
 * that allocators made later follow a change.
 */
#ifndef CX_DEVICE_ENVIRONMENT_H
#define CX_DEVICE_ENVIRONMENT_H

#include <ctxrt/allocator.h>

/* CTXRT_ALLOCATOR; CTXRT_ALLOCATOR_SOURCE_DEFAULT if it is not set. */
ctxrt_status cx_environment_allocator_source(ctxrt_allocator_source *out_source);

/* CTXRT_DEBUG_MEMORY; starts from options that are all off. */
ctxrt_status cx_environment_debug_memory(ctxrt_allocator_debug *options);

/* CTXRT_ERROR_INVALID_ARGUMENT: CTXRT_LOG, CTXRT_LAYERS or one of these has a bad value. */
ctxrt_status cx_environment_check(void);

#endif
