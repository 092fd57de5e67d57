/*
 * The embedded driver, as the rest of ctxrt sees it: a driver table, and the configuration of its
 * devices. There is one instance in a process (one more in the stand-in libcuda.so.1).
 */
#ifndef CX_EMU_EMU_H
#define CX_EMU_EMU_H

#include "driver/table.h"
#include "emu/base/gpu.h"
#include <stdbool.h>

/* Ordinals: the host device first, if there is one, then the GPUs that CUDA_VISIBLE_DEVICES
 * leaves. */
typedef struct cx_emu_config {
    bool host_device;        /* device 0 is the host itself: memory the host may touch, no quota */
    int gpus;                /* 0 to CX_EMU_GPUS_MAX */
    cx_emu_gpu gpu;          /* which GPU all of them are */
    size_t gpu_memory_bytes; /* quota of each, enforced; a multiple of CX_EMU_MEMORY_UNIT */
    int driver_version;      /* the result of cuDriverGetVersion: 12090, 13000 */
    bool host_access;        /* the host may dereference GPU memory */
    size_t context_bytes;    /* of its GPU's memory, for each open context; 0: nothing */
} cx_emu_config;

#define CX_EMU_DRIVER_VERSION 13000
#define CX_EMU_GPUS_MAX 64
#define CX_EMU_DEVICES_MAX (1 + CX_EMU_GPUS_MAX) /* the host device and GPUs */
#define CX_EMU_MEMORY_GRANULARITY ((size_t)2 << 20)
#define CX_EMU_MEMORY_UNIT ((size_t)64 << 10)
#define CX_EMU_MEMORY_MAX ((size_t)1 << 40)

/* The configuration that the environment asks for: CTXRT_EMU_DEVICES (4), CTXRT_EMU_GPU (default),
 * CTXRT_EMU_MEMORY (the GPU's, 4 GiB; at most 1 TiB), CTXRT_EMU_HOST_ACCESS (0 or 1),
 * CTXRT_EMU_CONTEXT_BYTES (0); no host device, CX_EMU_DRIVER_VERSION. False if a variable is
 * malformed, CTXRT_EMU_SCHEDULE, _STICKY and _FAULT included: *out_reason says which, until the
 * thread's next call of this function. Those three are read again when the driver starts and when
 * it is configured. */
bool cx_emu_config_from_environment(cx_emu_config *out_config, const char **out_reason);

/* Sets the configuration; before cuInit, or later while no context exists, no primary context is
 * retained and no memory is held. No other call may run meanwhile. False, with nothing changed, if
 * something exists and the configuration differs, or if a number is out of range. */
bool cx_emu_configure(const cx_emu_config *config);

/* Every row of symbols.def. */
extern const cx_driver_table cx_emu_table;

/* The table to use: cx_emu_table, or one that also counts and names calls if CTXRT_EMU_FAULT or
 * CTXRT_EMU_SCHEDULE=lazy ask for it at this moment. */
const cx_driver_table *cx_emu_driver(void);

/* The entry points themselves: cx_emu_call_init, ... with the signatures of symbols.def. */
#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) \
    cxu_result cx_emu_call_##slot CX_DECLARE(arity, parameters);
#include "driver/symbols.def"

/* Explains a failure beyond its result, in a sentence without a capital: why the system refused
 * memory for the calling thread's latest request, or which work failed first with a sticky error.
 * False: nothing to say. */
bool cx_emu_explain(cxu_result result, char *text, size_t size);

/* What a user can do about a failure of the calling thread's latest call; NULL: nothing known. */
const char *cx_emu_advise(cxu_result result);

/* True if a created stream neither captures nor has unfinished work. This is no call of the
 * driver's interface: it is not counted, runs nothing and leaves captures alone. */
bool cx_emu_stream_is_idle(CUstream handle);

/* Free and total memory of a device, with a context or without one. This is no call of the driver's
 * interface. */
cxu_result cx_emu_memory_info(CUdevice device, size_t *out_free, size_t *out_total);

/* Copies bytes of an allocation as they are at this moment, whatever work is still to be done. This
 * is no call of the driver's interface: it is not counted, waits for nothing and runs nothing.
 * False, with nothing written: no allocation, or mapping, holds them all. */
bool cx_emu_debug_read(uint64_t address, size_t bytes, unsigned char *out);

/*
 * Work that is queued and that nothing has waited for so far, under CTXRT_EMU_SCHEDULE=lazy: a
 * synchronisation may be missing. Oldest first; event records and frees are left out. `call` is
 * NULL if the call did not come through the table of cx_emu_driver(). `visit` must not call the
 * driver.
 */
typedef struct cx_emu_never_synchronized_work {
    const char *call; /* cuMemcpyDtoHAsync_v2 */
    CUcontext context;
    CUstream stream; /* as the program knows it; NULL: a piece of a graph */
} cx_emu_never_synchronized_work;

void cx_emu_never_synchronized(void (*visit)(const cx_emu_never_synchronized_work *work,
                                             void *argument),
                               void *argument);

/* For the duration of a call made through a _ptds or _ptsz symbol: the calling thread's default
 * stream is its per-thread one. Set it, call, set it back. */
void cx_emu_set_per_thread_default(bool per_thread);

#endif
