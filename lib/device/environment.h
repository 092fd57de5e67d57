/*
 * What the environment asks for of the log and of allocators. Read again each time, so that
 * allocators that are made later follow it.
 */
#ifndef CX_DEVICE_ENVIRONMENT_H
#define CX_DEVICE_ENVIRONMENT_H

#include <ctxrt/allocator.h>

/* CTXRT_ALLOCATOR; CTXRT_ALLOCATOR_SOURCE_DEFAULT where it says nothing. */
ctxrt_status cx_environment_allocator_source(ctxrt_allocator_source *out_source);

/* CTXRT_DEBUG_MEMORY, beginning from options that ask for nothing. */
ctxrt_status cx_environment_debug_memory(ctxrt_allocator_debug *options);

/* CTXRT_ERROR_INVALID_ARGUMENT: CTXRT_LOG or one of these has a bad value. */
ctxrt_status cx_environment_check(void);

#endif
