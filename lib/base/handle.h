/*
 * What is wrong with a handle that a call was given.
 */
#ifndef CX_BASE_HANDLE_H
#define CX_BASE_HANDLE_H

#include <ctxrt/status.h>

/* Memory of a cache has handles of this kind, and no pool. */
#define CX_HANDLE_KIND_PIECE 0x40

/* Records what is wrong with a handle that is no live object of the kind `noun`: it is NULL, or of
 * another kind, or `gone`: "it was destroyed, or never was one". Returns CTXRT_ERROR_NULL_POINTER
 * or _INVALID_HANDLE. */
__attribute__((cold)) ctxrt_status cx_handle_error(const char *noun, const void *handle,
                                                   const char *gone);

#endif
