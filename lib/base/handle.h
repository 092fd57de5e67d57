/*
 * Messages for refused handles.
 */
#ifndef CX_BASE_HANDLE_H
#define CX_BASE_HANDLE_H

#include <ctxrt/status.h>

/* Kind of the handles of a cache's memory, which has no pool. */
#define CX_HANDLE_KIND_CACHE_BLOCK 0x40

/* What guards of ctxrt.hpp give for a handle while they are empty: no object has it. */
#define CX_HANDLE_EMPTY ((void *)2)

/* Records why a handle is no live object of the kind `noun`: it is NULL, of another kind, or
 * `gone`: "it was destroyed, or never was one". Returns CTXRT_ERROR_NULL_POINTER or
 * _INVALID_HANDLE. */
__attribute__((cold)) ctxrt_status cx_handle_error(const char *noun, const void *handle,
                                                   const char *gone);

#endif
