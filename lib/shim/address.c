#include "layer/handshake.h"
#include "shim/exports.h"
#include "shim/passthrough.h"
#include "shim/real_driver.h"
#include "shim/runtime_library.h"
#include "shim/shim.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* ---- of the embedded driver ---- */

static cxu_result query_symbol(const char *name, void **out_function, int version, uint64_t flags,
                               cx_shim_query *out_status)
{
    if (name == NULL || out_function == NULL || version > cx_shim_version)
        return CXU_INVALID_VALUE;
    if (flags != CXU_GET_PROC_ADDRESS_DEFAULT && flags != CXU_GET_PROC_ADDRESS_LEGACY_STREAM &&
        flags != CXU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
        return CXU_INVALID_VALUE;

    void (*function)(void) = NULL;
    bool per_thread = flags == CXU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    *out_status = cx_shim_find(name, version, per_thread, &function);
    *out_function = (void *)function;
    return CXU_SUCCESS;
}

/* ---- of the real driver ---- */

typedef cxu_result (*proc_address_v1)(const char *name, void **out_function, int version,
                                      uint64_t flags);
typedef cxu_result (*proc_address_v2)(const char *name, void **out_function, int version,
                                      uint64_t flags, cx_shim_query *out_status);

typedef struct question {
    const char *name;
    uint64_t flags;
    const void *answer;
} question;

/* Drivers before CUDA 12.0 have the first form alone. */
static const void *ask_real_driver(const char *name, int version, uint64_t flags)
{
    proc_address_v1 ask_v1;
    proc_address_v2 ask_v2;
    cx_shim_query status;
    void *function = NULL;
    *(void **)&ask_v2 = cx_real_driver_symbol("cuGetProcAddress_v2");
    *(void **)&ask_v1 = cx_real_driver_symbol("cuGetProcAddress");
    cxu_result result = ask_v2 != NULL   ? ask_v2(name, &function, version, flags, &status)
                        : ask_v1 != NULL ? ask_v1(name, &function, version, flags)
                                         : CXU_NOT_FOUND;
    return result == CXU_SUCCESS ? function : NULL;
}

static bool is_answer(int since, const void *asked)
{
    const question *self = asked;
    return ask_real_driver(self->name, since, self->flags) == self->answer;
}

/* The library's own answer holds: only where it is the function that it gives for the ABI of one of
 * our rows, that row's export takes its place. */
static void put_in_front(const char *name, void **function, int version, uint64_t flags)
{
    const question asked = {name, flags, *function};
    bool per_thread = flags == CXU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    cx_shim_function ours =
        *function != NULL ? cx_shim_find_in_front(name, version, per_thread, is_answer, &asked)
                          : NULL;
    if (ours != NULL)
        *function = (void *)ours;
}

static cxu_result pass_v1(const char *name, void **out_function, int version, uint64_t flags)
{
    proc_address_v1 ask;
    *(void **)&ask = cx_real_driver_symbol("cuGetProcAddress");
    if (ask == NULL)
        return cx_passthrough_absent("cuGetProcAddress");
    cxu_result result = ask(name, out_function, version, flags);
    if (result == CXU_SUCCESS && name != NULL && out_function != NULL)
        put_in_front(name, out_function, version, flags);
    return result;
}

static cxu_result pass_v2(const char *name, void **out_function, int version, uint64_t flags,
                          cx_shim_query *out_status)
{
    proc_address_v2 ask;
    *(void **)&ask = cx_real_driver_symbol("cuGetProcAddress_v2");
    if (ask == NULL)
        return cx_passthrough_absent("cuGetProcAddress_v2");
    cxu_result result = ask(name, out_function, version, flags, out_status);
    if (result == CXU_SUCCESS && name != NULL && out_function != NULL)
        put_in_front(name, out_function, version, flags);
    return result;
}

/* ---- the exports ---- */

static bool is_handshake(const char *name, void **out_function)
{
    if (name == NULL || out_function == NULL || strcmp(name, CX_HANDSHAKE_NAME) != 0)
        return false;
    *out_function = (void *)(uintptr_t)&cx_shim_handshake;
    return true;
}

static bool has_library_behind(void)
{
    (void)cx_shim_driver();
    return cx_shim_is_in_front();
}

/* The first form has no status argument, so an unknown name is an error. */
cxu_result cx_shim_call_cuGetProcAddress(const char *name, void **out_function, int version,
                                         uint64_t flags)
{
    if (is_handshake(name, out_function))
        return CXU_SUCCESS;
    if (has_library_behind())
        return pass_v1(name, out_function, version, flags);
    cx_shim_query status;
    cxu_result result = query_symbol(name, out_function, version, flags, &status);
    return result == CXU_SUCCESS && status != CX_SHIM_FOUND ? CXU_NOT_FOUND : result;
}

cxu_result cx_shim_call_cuGetProcAddress_v2(const char *name, void **out_function, int version,
                                            uint64_t flags, cx_shim_query *out_status)
{
    if (has_library_behind())
        return pass_v2(name, out_function, version, flags, out_status);
    cx_shim_query status;
    cxu_result result = query_symbol(name, out_function, version, flags, &status);
    if (result == CXU_SUCCESS && out_status != NULL)
        *out_status = status;
    return result;
}

/* The private protocol between NVIDIA's libraries and their driver is theirs: the library behind
 * answers as it does without us, and the embedded driver gives no table. */
cxu_result cx_shim_call_cuGetExportTable(const void **out_table, const cxu_uuid *id)
{
    if (has_library_behind()) {
        cxu_result (*get)(const void **, const cxu_uuid *);
        *(void **)&get = cx_real_driver_symbol("cuGetExportTable");
        return get != NULL ? get(out_table, id) : cx_passthrough_absent("cuGetExportTable");
    }
    if (out_table == NULL || id == NULL)
        return CXU_INVALID_VALUE;
    if (!cx_shim_is_compiler(__builtin_return_address(0)))
        cx_shim_warn_of_runtime_library(__builtin_return_address(0));
    return CXU_NOT_FOUND;
}

CX_SHIM_EXPORT(cuGetProcAddress, cx_shim_call_cuGetProcAddress)
CX_SHIM_EXPORT(cuGetProcAddress_v2, cx_shim_call_cuGetProcAddress_v2)
CX_SHIM_EXPORT(cuGetExportTable, cx_shim_call_cuGetExportTable)
