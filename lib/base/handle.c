#include "base/handle.h"

#include "base/error.h"
#include "base/pool.h"

#include <string.h>

static const char *noun_of(const void *handle)
{
    uint8_t kind = (uint8_t)((uint64_t)(uintptr_t)handle >> 56);
    return kind == CX_HANDLE_KIND_CACHE_BLOCK ? "memory object" : cx_pool_noun(kind);
}

static const char *article_of(const char *noun)
{
    return strchr("aeiou", noun[0]) != NULL ? "an" : "a";
}

ctxrt_status cx_handle_error(const char *noun, const void *handle, const char *gone)
{
    if (handle == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "the %s is NULL", noun);
    if (handle == CX_HANDLE_EMPTY)
        return cx_error(CTXRT_ERROR_INVALID_HANDLE,
                        "the guard of the %s is empty: it never had one, or was moved from", noun);
    const char *other = noun_of(handle);
    if (other != NULL && strcmp(other, noun) != 0)
        return cx_error(CTXRT_ERROR_INVALID_HANDLE, "%p is %s %s, not %s %s", handle,
                        article_of(other), other, article_of(noun), noun);
    return cx_error(CTXRT_ERROR_INVALID_HANDLE, "%p is no live %s: %s", handle, noun, gone);
}
