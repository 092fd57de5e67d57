/*
 * A libcuda that shares nothing with ctxrt's driver: one context, one stream, and calls that no
 * table of ours knows. It keeps what was called last, for tests that have it behind the stand-in.
 */
#include "other.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define EXPORT __attribute__((visibility("default")))
enum { INVALID_VALUE = 1, INVALID_CONTEXT = 201, INVALID_HANDLE = 400, NOT_FOUND = 500 };
enum { PER_THREAD = 2 };

static const char *called = "";
static void *current, *stream;
static int one_context, one_stream;

EXPORT const char *other_called(void)
{
    return called;
}

static int say(const char *symbol, int result)
{
    called = symbol;
    return result;
}

/* ---- the version is 12.4 ---- */

EXPORT int cuInit(unsigned int flags)
{
    return say("cuInit", flags == 0 ? 0 : INVALID_VALUE);
}

EXPORT int cuDriverGetVersion(int *out_version)
{
    *out_version = OTHER_VERSION;
    return 0;
}

EXPORT int cuDeviceGetCount(int *out_count)
{
    *out_count = 1;
    return 0;
}

EXPORT int cuDeviceGet(int *out_device, int ordinal)
{
    *out_device = 0;
    return say("cuDeviceGet", ordinal == 0 ? 0 : 101);
}

/* ---- contexts ---- */

EXPORT int cuCtxCreate_v2(void **out_context, unsigned int flags, int device)
{
    (void)flags;
    current = *out_context = &one_context;
    return say("cuCtxCreate_v2", device == 0 ? 0 : 101);
}

EXPORT int cuCtxGetCurrent(void **out_context)
{
    *out_context = current;
    return say("cuCtxGetCurrent", 0);
}

static int pop(const char *symbol, void **out_context)
{
    int result = current != NULL ? 0 : INVALID_CONTEXT;
    if (current != NULL && out_context != NULL)
        *out_context = current;
    current = NULL;
    return say(symbol, result);
}

EXPORT int cuCtxPopCurrent(void **out_context)
{
    return pop("cuCtxPopCurrent", out_context);
}

EXPORT int cuCtxPopCurrent_v2(void **out_context)
{
    return pop("cuCtxPopCurrent_v2", out_context);
}

EXPORT int cuCtxPushCurrent_v2(void *context)
{
    current = context;
    return say("cuCtxPushCurrent_v2", 0);
}

/* ---- streams ---- */

EXPORT int cuStreamCreate(void **out_stream, unsigned int flags)
{
    stream = *out_stream = &one_stream;
    return say("cuStreamCreate", flags <= 1 ? 0 : INVALID_VALUE);
}

EXPORT int cuStreamDestroy_v2(void *handle)
{
    int result = handle == stream && handle != NULL ? 0 : INVALID_HANDLE;
    stream = NULL;
    return say("cuStreamDestroy_v2", result);
}

EXPORT int cuStreamQuery(void *handle)
{
    return say("cuStreamQuery", handle == stream ? 0 : INVALID_HANDLE);
}

EXPORT int cuStreamQuery_ptsz(void *handle)
{
    return say("cuStreamQuery_ptsz", handle == stream ? 0 : INVALID_HANDLE);
}

/* An ABI of a later version than any of ours, which only cuGetProcAddress gives. */
static int query_later(void *handle, int more)
{
    return say("query_later", handle == stream ? more : INVALID_HANDLE);
}

/* ---- calls without a row ---- */

/* Its arguments fill the registers and go on on the stack; its result says whether each came. */
EXPORT int cuGraphicsResourceGetMappedMipmappedArray(long a, long b, long c, long d, long e,
                                                     long f, double g, double h, double i,
                                                     double j, double k, double l, double m,
                                                     double n, double o, long p, const char *q)
{
    bool whole = a == 1 && b == 2 && c == 3 && d == 4 && e == 5 && f == 6 && g == .5 && h == 1.5 &&
                 i == 2.5 && j == 3.5 && k == 4.5 && l == 5.5 && m == 6.5 && n == 7.5 && o == 8.5 &&
                 p == 9 && strcmp(q, "last") == 0;
    return say("cuGraphicsResourceGetMappedMipmappedArray", whole ? OTHER_WHOLE : INVALID_VALUE);
}

static int of_tomorrow(int number)
{
    return say("of_tomorrow", 2 * number);
}

EXPORT int cuGetExportTable(const void **out_table, const void *id)
{
    *out_table = id;
    return say("cuGetExportTable", OTHER_WHOLE);
}

/* ---- by name ---- */

EXPORT int cuGetProcAddress(const char *name, void **out_function, int version, uint64_t flags);
EXPORT int cuGetProcAddress_v2(const char *name, void **out_function, int version, uint64_t flags,
                               int *out_status);

static const struct {
    const char *name;
    int since;
    uint64_t flags;
    void *function;
} rows[] = {
    {"cuInit", 2000, 0, (void *)cuInit},
    {"cuCtxPopCurrent", 2000, 0, (void *)cuCtxPopCurrent},
    {"cuCtxPopCurrent", 4000, 0, (void *)cuCtxPopCurrent_v2},
    {"cuStreamQuery", 2000, 0, (void *)cuStreamQuery},
    {"cuStreamQuery", 7000, PER_THREAD, (void *)cuStreamQuery_ptsz},
    {"cuStreamQuery", 12030, 0, (void *)query_later},
    {"cuGraphicsResourceGetMappedMipmappedArray", 5000, 0,
     (void *)cuGraphicsResourceGetMappedMipmappedArray},
    {"cuOfTomorrow", 12040, 0, (void *)of_tomorrow},
    {"cuGetProcAddress", 11030, 0, (void *)cuGetProcAddress},
    {"cuGetProcAddress", 12000, 0, (void *)cuGetProcAddress_v2},
};

/* The last row that fits. */
static void *find(const char *name, int version, uint64_t flags)
{
    void *found = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].name, name) == 0 && rows[i].since <= version &&
            (rows[i].flags == 0 || rows[i].flags == flags))
            found = rows[i].function;
    return found;
}

int cuGetProcAddress(const char *name, void **out_function, int version, uint64_t flags)
{
    *out_function = find(name, version, flags);
    return *out_function != NULL ? 0 : NOT_FOUND;
}

int cuGetProcAddress_v2(const char *name, void **out_function, int version, uint64_t flags,
                        int *out_status)
{
    *out_function = find(name, version, flags);
    if (out_status != NULL)
        *out_status = *out_function != NULL ? 0 : OTHER_STATUS;
    return 0;
}
