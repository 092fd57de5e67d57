#include "driver/driver.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The two forms of cuGetProcAddress: CUDA 11.3 and 12.0. */
typedef cxu_result (*proc_address_v1)(const char *name, void **out_function, int version,
                                      uint64_t flags);
typedef cxu_result (*proc_address_v2)(const char *name, void **out_function, int version,
                                      uint64_t flags, int *out_status);

typedef struct source {
    void *library;
    int version;
    proc_address_v1 proc_address;
    proc_address_v2 proc_address_v2;
} source;

_Static_assert(sizeof(cx_driver_table) == CX_SLOT_COUNT * sizeof(void *),
               "a table is nothing but its slots, in the order of cx_slot");

static void *get_slot(const cx_driver_table *table, int slot)
{
    void *function;
    memcpy(&function, (const char *)table + (size_t)slot * sizeof function, sizeof function);
    return function;
}

static void set_slot(cx_driver_table *table, int slot, void *function)
{
    memcpy((char *)table + (size_t)slot * sizeof function, &function, sizeof function);
}

/* Marks the driver as unavailable. Missing calls stay marked: they are part of the reason. */
static bool refuse_driver(cx_driver *driver)
{
    driver->table = cx_driver_missing;
    driver->loaded = false;
    driver->device_count = 0;
    return false;
}

/* Per-thread default streams, and the variants of older calls for them, are of CUDA 7.0. */
enum { FIRST_PER_THREAD = 7000 };

static void *ask_for_symbol(const source *from, const cx_symbol *symbol, uint64_t stream)
{
    int since = symbol->since;
    void *function = NULL;
    cxu_result result = CXU_NOT_FOUND;
    /* Asked for an ABI newer than itself, a driver may return an older one. */
    if (stream == CXU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM && since < FIRST_PER_THREAD)
        since = FIRST_PER_THREAD;
    if (since > from->version)
        return NULL;
    if (from->proc_address_v2 != NULL) {
        int status = 0;
        result = from->proc_address_v2(symbol->name, &function, since, stream, &status);
    } else if (from->proc_address != NULL) {
        result = from->proc_address(symbol->name, &function, since, stream);
    }
    return result == CXU_SUCCESS ? function : NULL;
}

static void *resolve_symbol(const source *from, const cx_symbol *symbol)
{
    void *function = ask_for_symbol(from, symbol, CXU_GET_PROC_ADDRESS_LEGACY_STREAM);
    return function != NULL ? function : dlsym(from->library, symbol->symbol);
}

/* Takes a function for a slot, or its stub; false if the slot is required. */
static bool take_function(cx_driver *driver, int slot, void *function)
{
    driver->missing[slot] = function == NULL;
    set_slot(&driver->table, slot,
             function != NULL ? function : get_slot(&cx_driver_missing, slot));
    return function != NULL || !cx_symbols[slot].required;
}

/* A variable that hides devices from every driver is the first suspect if there are none. */
static void name_visible(cx_driver *driver)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    size_t length = strlen(driver->reason);
    if (visible != NULL)
        snprintf(driver->reason + length, sizeof driver->reason - length,
                 "%sCUDA_VISIBLE_DEVICES=%.100s is set, which hides devices",
                 length != 0 ? "; " : "", visible);
}

static bool start_driver(cx_driver *driver)
{
    cx_slot slot = CX_SLOT_init;
    cxu_result result = driver->table.init(0);
    if (result == CXU_SUCCESS) {
        slot = CX_SLOT_driver_get_version;
        result = driver->table.driver_get_version(&driver->version);
    }
    if (result == CXU_SUCCESS) {
        slot = CX_SLOT_device_get_count;
        result = driver->table.device_get_count(&driver->device_count);
    }
    if (result == CXU_SUCCESS) {
        driver->loaded = true;
        if (driver->device_count == 0)
            name_visible(driver);
        return true;
    }
    driver->refusal = result;
    snprintf(driver->reason, sizeof driver->reason, "%s failed: %s, %d (%s)",
             cx_symbols[slot].symbol, cx_driver_result_name(driver, result), (int)result,
             cx_driver_result_text(driver, result));
    if (result == CXU_NO_DEVICE)
        name_visible(driver);
    return refuse_driver(driver);
}

/* The file that has the calls: the library that was opened, or one that comes with it. */
static void name_path(cx_driver *driver)
{
    struct link_map *map;
    Dl_info calls;
    void *init = dlsym(driver->library, "cuInit");
    if (init != NULL && dladdr(init, &calls) != 0 && calls.dli_fname != NULL)
        snprintf(driver->path, sizeof driver->path, "%s", calls.dli_fname);
    else if (dlinfo(driver->library, RTLD_DI_LINKMAP, &map) == 0)
        snprintf(driver->path, sizeof driver->path, "%s", map->l_name);
}

static bool lacks_call(cx_driver *driver, int slot)
{
    snprintf(driver->reason, sizeof driver->reason, "%.400s does not have the call %s",
             driver->path[0] != '\0' ? driver->path : driver->name, cx_symbols[slot].symbol);
    return refuse_driver(driver);
}

/* The version must be known before calls are resolved; cuDriverGetVersion has had one ABI ever
 * since. */
static int ask_version(void *library)
{
    cxu_result (*get_version)(int *);
    int version = 0;
    *(void **)&get_version = dlsym(library, "cuDriverGetVersion");
    return get_version != NULL && get_version(&version) == CXU_SUCCESS ? version : 0;
}

static source find_source(void *library, int version)
{
    source from = {.library = library, .version = version};
    *(void **)&from.proc_address = dlsym(library, "cuGetProcAddress");
    *(void **)&from.proc_address_v2 = dlsym(library, "cuGetProcAddress_v2");
    return from;
}

bool cx_driver_open(const char *path, cx_driver *out_driver)
{
    const char *file = path != NULL ? path : "libcuda.so.1";
    *out_driver = (cx_driver){.name = "libcuda"};

    out_driver->library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (out_driver->library == NULL) {
        const char *words = dlerror();
        snprintf(out_driver->reason, sizeof out_driver->reason, "%s could not be loaded: %s", file,
                 words != NULL ? words : "the dynamic linker gives no reason");
        return refuse_driver(out_driver);
    }
    name_path(out_driver);
    out_driver->version = ask_version(out_driver->library);

    source from = find_source(out_driver->library, out_driver->version);
    for (int slot = 0; slot < CX_SLOT_COUNT; slot++)
        if (!take_function(out_driver, slot, resolve_symbol(&from, &cx_symbols[slot])))
            return lacks_call(out_driver, slot);
    return true;
}

bool cx_driver_open_table(const char *name, const cx_driver_table *table, cx_driver *out_driver)
{
    *out_driver = (cx_driver){.name = name};
    for (int slot = 0; slot < CX_SLOT_COUNT; slot++)
        if (!take_function(out_driver, slot, get_slot(table, slot)))
            return lacks_call(out_driver, slot);
    return true;
}

static const bool is_per_stream[CX_SLOT_COUNT] = {
#define NONE false
#define PTDS true
#define PTSZ true
#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) \
    [CX_SLOT_##slot] = stream,
#include "driver/symbols.def"
#undef NONE
#undef PTDS
#undef PTSZ
};

void cx_driver_fill_per_thread(const cx_driver *driver, cx_driver_table *out_table)
{
    source from = find_source(driver->library, driver->version);
    *out_table = driver->table;
    for (int slot = 0; slot < CX_SLOT_COUNT; slot++) {
        if (!is_per_stream[slot] || driver->missing[slot])
            continue;
        void *function = ask_for_symbol(&from, &cx_symbols[slot],
                                        CXU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
        set_slot(out_table, slot, function != NULL ? function : get_slot(&cx_driver_missing, slot));
    }
}

void *cx_driver_symbol(const cx_driver *driver, const char *symbol)
{
    return driver->library != NULL ? dlsym(driver->library, symbol) : NULL;
}

bool cx_driver_load(const char *path, cx_driver *out_driver)
{
    return cx_driver_open(path, out_driver) && start_driver(out_driver);
}

bool cx_driver_adopt(const char *name, const cx_driver_table *table, cx_driver *out_driver)
{
    return cx_driver_open_table(name, table, out_driver) && start_driver(out_driver);
}
