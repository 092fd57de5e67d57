/*
 * A driver of this process: its table, its origin, and the reason if it is not loaded.
 */
#ifndef CX_DRIVER_DRIVER_H
#define CX_DRIVER_DRIVER_H

#include "base/error.h"
#include "driver/table.h"
#include <ctxrt/status.h>
#include <stdbool.h>

typedef struct cx_driver {
    cx_driver_table table;
    const char *name; /* "libcuda", "embedded" */
    char path[512];   /* the file that was loaded, as the dynamic linker names it; "" if none */
    bool loaded;      /* every required call is there and cuInit succeeded */
    bool missing[CX_SLOT_COUNT]; /* optional calls that it lacks; their slots return
                                    CXU_NOT_SUPPORTED */
    int version;                 /* CUDA version, 13000 for 13.0; 0 if unknown */
    int device_count;
    char reason[512];   /* why it is not loaded, or what hides devices; else "" */
    cxu_result refusal; /* of the call that kept it from being loaded; CXU_SUCCESS: none did */
    void *library;      /* from dlopen; NULL for the embedded driver */
    /* Explains a failure beyond its result; false: it has nothing to say. NULL: the driver cannot
     * explain. */
    bool (*explain)(cxu_result result, char *text, size_t size);
    /* What a user can do about a failure of the calling thread's latest call, a text that stays;
     * NULL: nothing known. NULL itself: the driver gives no advice. */
    const char *(*advise)(cxu_result result);
    /* True if a created stream neither captures nor has unfinished work. Only looks: it disturbs no
     * capture, runs nothing and waits for nothing. NULL: ask cuStreamQuery. */
    bool (*stream_is_idle)(CUstream stream);
    /* cuMemGetInfo of a device that need have no context. NULL: the driver needs one. */
    cxu_result (*memory_info)(CUdevice device, size_t *out_free, size_t *out_total);
} cx_driver;

/*
 * Opens a libcuda by path (NULL: "libcuda.so.1", never the unversioned name), fills the table
 * through cuGetProcAddress where there is one and by dlsym of the versioned symbol where not, calls
 * cuInit and counts the devices. Returns out_driver->loaded; on false, reason says what failed (the
 * dynamic linker's message, the missing required call, or the name and text of cuInit's error),
 * every slot returns CXU_NOT_SUPPORTED, and version and path are kept if they are known. Each row
 * comes with exactly the ABI that symbols.def names. A library without devices
 * (CUDA_ERROR_NO_DEVICE from cuInit) is not loaded. The library is never closed: drivers do not
 * survive that. A call newer than the driver's own version counts as missing unless its versioned
 * symbol is there: cuGetProcAddress might return an older ABI.
 */
bool cx_driver_load(const char *path, cx_driver *out_driver);

/* Adopts a table that is in this process already: calls init, asks for version and devices. */
bool cx_driver_adopt(const char *name, const cx_driver_table *table, cx_driver *out_driver);

/* Like the two above, without cuInit: true once every required call is there. The driver is not
 * `loaded`, the version is the library's (0 for a table), and no devices are counted. For callers
 * of cuInit. */
bool cx_driver_open(const char *path, cx_driver *out_driver);
bool cx_driver_open_table(const char *name, const cx_driver_table *table, cx_driver *out_driver);

/*
 * The table of a libcuda that is open, in which the default stream is the calling thread's: the
 * per-thread variant of each call that has one. A variant that the library lacks returns
 * CXU_NOT_SUPPORTED: the plain call would mean another stream.
 */
void cx_driver_fill_per_thread(const cx_driver *driver, cx_driver_table *out_table);

/* A symbol of the library, for what the table has no row for; NULL: it has none. */
void *cx_driver_symbol(const cx_driver *driver, const char *symbol);

/* A table without any calls: every slot returns CXU_NOT_SUPPORTED. */
extern const cx_driver_table cx_driver_missing;

/* The name and the text of a result; if results.def does not know it, the driver's own. Never
 * NULL. */
const char *cx_driver_result_name(const cx_driver *driver, cxu_result result);
const char *cx_driver_result_text(const cx_driver *driver, cxu_result result);

/* The public status that a driver's result maps to: OUT_OF_MEMORY, NOT_SUPPORTED, NOT_READY,
 * INVALID_DEVICE, CONTEXT_DESTROYED, NOT_PERMITTED, SHUTDOWN (DEINITIALIZED); else ERROR_DRIVER. */
ctxrt_status cx_driver_status(cxu_result result);

/* Explains a failure beyond its result; "" if nothing is known. */
void cx_driver_explain(const cx_driver *driver, cxu_result result, char *text, size_t size);

/* Explains why the current context's device refused the calling thread's latest request for memory:
 * by the driver's explanation, or by how much is free. */
void cx_driver_room_text(const cx_driver *driver, char *text, size_t size);

/* What a user can do about a failure of the calling thread's latest call; "": nothing known. */
const char *cx_driver_advice(const cx_driver *driver, cxu_result result);

/* A context was destroyed or reset: its sticky errors count as new again. */
void cx_driver_forget_errors(void);

/* Records a failed call as the thread's last error: "cuMemAlloc_v2 failed:
 * CUDA_ERROR_OUT_OF_MEMORY, 2 (out of memory)", or that this driver does not
 * have the call, or why the driver is not loaded. Returns its status. */
__attribute__((cold)) ctxrt_status cx_driver_error(const cx_driver *driver, cx_slot slot,
                                                   cxu_result result);

/* Calls through the table: CX_DRIVER_CALL(driver, ctx_push, (context)) is CTXRT_SUCCESS, or the
 * status of the recorded error. */
#define CX_DRIVER_CALL(driver, slot, arguments) \
    cx_driver_check((driver), CX_SLOT_##slot, (driver)->table.slot arguments)

static inline ctxrt_status cx_driver_check(const cx_driver *driver, cx_slot slot, cxu_result result)
{
    return __builtin_expect(result == CXU_SUCCESS, 1) ? CTXRT_SUCCESS
                                                      : cx_driver_error(driver, slot, result);
}

#endif
