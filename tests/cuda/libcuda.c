#include "libcuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the tests of this folder and of tests/guest call. */
static const cx_slot used[] = {
    CX_SLOT_init,
    CX_SLOT_driver_get_version,
    CX_SLOT_get_error_name,
    CX_SLOT_primary_retain,
    CX_SLOT_primary_release,
    CX_SLOT_primary_reset,
    CX_SLOT_ctx_create_v2,
    CX_SLOT_ctx_destroy,
    CX_SLOT_ctx_push,
    CX_SLOT_ctx_pop,
    CX_SLOT_ctx_set_current,
    CX_SLOT_ctx_get_current,
    CX_SLOT_ctx_get_device,
    CX_SLOT_mem_alloc,
    CX_SLOT_mem_free,
    CX_SLOT_memcpy_unified,
    CX_SLOT_stream_create,
    CX_SLOT_stream_destroy,
    CX_SLOT_stream_synchronize,
    CX_SLOT_memset_d32_async,
};

static const char *const symbols[CX_SLOT_COUNT] = {
#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) \
    [CX_SLOT_##slot] = #name #suffix,
#include "driver/symbols.def"
};

static cx_driver_table table;
static char reason[256];

const cx_driver_table *libcuda_table(void)
{
    return &table;
}

const char *libcuda_open(void)
{
    const char *path = getenv("CTXRT_LIBCUDA");
    void *library =
        dlopen(path != NULL && *path != '\0' ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        snprintf(reason, sizeof reason, "%s", dlerror());
        return reason;
    }
    for (int slot = 0; slot < CX_SLOT_COUNT; slot++) {
        void *function = dlsym(library, symbols[slot]);
        memcpy((char *)&table + (size_t)slot * sizeof function, &function, sizeof function);
    }
    for (size_t i = 0; i < sizeof used / sizeof used[0]; i++)
        if (dlsym(library, symbols[used[i]]) == NULL) {
            snprintf(reason, sizeof reason, "libcuda does not have the call %s", symbols[used[i]]);
            return reason;
        }
    return table.init(0) == CXU_SUCCESS ? NULL : "cuInit failed";
}
