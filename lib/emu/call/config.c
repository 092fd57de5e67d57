#include "emu/emu.h"

#include "base/option.h"
#include "emu/base/warp.h"
#include "emu/device/sticky.h"
#include "emu/module/loading.h"
#include "emu/module/watchdog.h"
#include "emu/schedule/cores.h"
#include "emu/schedule/fault.h"
#include "emu/schedule/schedule.h"
#include <string.h>

#define GPUS 4
#define MEMORY_BYTES ((size_t)4 << 30)

static bool read_gpus(int *out_gpus)
{
    const char *text = cx_option("CTXRT_EMU_DEVICES");
    *out_gpus = GPUS;
    return text == NULL || cx_parse_int(text, 1, CX_EMU_GPUS_MAX, out_gpus);
}

static bool read_gpu(cx_emu_gpu *out_gpu)
{
    const char *text = cx_option("CTXRT_EMU_GPU");
    *out_gpu = CX_EMU_GPU_DEFAULT;
    return text == NULL || cx_emu_gpu_of(text, out_gpu);
}

static bool read_memory(cx_emu_gpu gpu, size_t *out_bytes)
{
    const char *text = cx_option("CTXRT_EMU_MEMORY");
    *out_bytes = cx_emu_gpu_memory(gpu) != 0 ? cx_emu_gpu_memory(gpu) : MEMORY_BYTES;
    if (text == NULL)
        return true;
    size_t bytes;
    if (!cx_parse_size(text, &bytes) || bytes < CX_EMU_MEMORY_GRANULARITY ||
        bytes > CX_EMU_MEMORY_MAX)
        return false;
    *out_bytes = bytes / CX_EMU_MEMORY_GRANULARITY * CX_EMU_MEMORY_GRANULARITY;
    return true;
}

static bool read_host_access(bool *out_host_access)
{
    const char *text = cx_option("CTXRT_EMU_HOST_ACCESS");
    int value = 0;
    if (text != NULL && !cx_parse_int(text, 0, 1, &value))
        return false;
    *out_host_access = value == 1;
    return true;
}

static bool read_context_bytes(size_t *out_bytes)
{
    const char *text = cx_option("CTXRT_EMU_CONTEXT_BYTES");
    *out_bytes = 0;
    return text == NULL || (cx_parse_size(text, out_bytes) && *out_bytes <= CX_EMU_MEMORY_MAX);
}

bool cx_emu_config_from_environment(cx_emu_config *out_config, const char **out_reason)
{
    cx_emu_config config = {.driver_version = CX_EMU_DRIVER_VERSION};
    const char *reason = NULL;
    if (!read_gpus(&config.gpus))
        reason = "CTXRT_EMU_DEVICES is not a number from 1 to 64";
    else if (!read_gpu(&config.gpu))
        reason = "CTXRT_EMU_GPU is none of default, rtx3060, l4, l40s, rtx-pro-6000 and tiny";
    else if (!read_memory(config.gpu, &config.gpu_memory_bytes))
        reason = "CTXRT_EMU_MEMORY is not a size from 2M to 1T, such as 512M or 4G";
    else if (!read_host_access(&config.host_access))
        reason = "CTXRT_EMU_HOST_ACCESS is neither 0 nor 1";
    else if (!read_context_bytes(&config.context_bytes))
        reason = "CTXRT_EMU_CONTEXT_BYTES is not a size up to 1T, such as 300M";
    else if (!cx_emu_schedule_valid())
        reason = "CTXRT_EMU_SCHEDULE is none of threads, lazy, and random:SEED with a number";
    else if (!cx_emu_sticky_valid())
        reason = "CTXRT_EMU_STICKY is no list of process, context, ecc:process, ecc:context and "
                 "ecc:once";
    else if (!cx_emu_warp_valid())
        reason = "CTXRT_EMU_WARP is none of lockstep, independent, and independent:SEED with a "
                 "number from 1";
    else if (!cx_emu_loading_valid())
        reason = "CTXRT_EMU_LOADING is neither free nor waits";
    else if (!cx_emu_cores_valid())
        reason = "CTXRT_EMU_CORES is not a number from 1 to 1024";
    else if (!cx_emu_watchdog_valid())
        reason = "CTXRT_EMU_WATCHDOG is not a number of seconds";
    else
        (void)cx_emu_faults_valid(&reason);
    if (reason != NULL) {
        *out_reason = reason;
        return false;
    }
    *out_config = config;
    return true;
}
