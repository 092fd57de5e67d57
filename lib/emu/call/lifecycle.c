/* The life of the embedded driver in a process: cuInit, another configuration, a fork, the end of
 * the process. */
#include "base/fork.h"
#include "base/lock.h"
#include "base/log.h"
#include "emu/base/sealed_file.h"
#include "emu/base/slot.h"
#include "emu/base/state.h"
#include "emu/base/warp.h"
#include "emu/call/limit.h"
#include "emu/context/context.h"
#include "emu/context/output.h"
#include "emu/device/device.h"
#include "emu/device/sticky.h"
#include "emu/memory/allocation.h"
#include "emu/memory/arena.h"
#include "emu/memory/array.h"
#include "emu/memory/mapping.h"
#include "emu/memory/physical.h"
#include "emu/memory/pool.h"
#include "emu/memory/quarantine.h"
#include "emu/memory/shared.h"
#include "emu/memory/texture.h"
#include "emu/module/heap.h"
#include "emu/module/loading.h"
#include "emu/module/module.h"
#include "emu/module/watchdog.h"
#include "emu/schedule/cores.h"
#include "emu/schedule/event.h"
#include "emu/schedule/fault.h"
#include "emu/schedule/never_synchronized.h"
#include "emu/schedule/schedule.h"
#include "emu/schedule/stream.h"
#include "emu/schedule/work.h"
#include <stdlib.h>

static void release_textures(cx_emu_context *context)
{
    cx_emu_textures_release(context);
}

/* The parts of a context. Its end closes them from the last to the first: work names events,
 * modules and memory, so it ends before them. */
static const cx_emu_context_part parts_of_contexts[] = {
    {.open = cx_emu_limits_open},
    {.close = cx_emu_allocations_release},
    {.close = cx_emu_arrays_release},
    {.close = release_textures},
    {.close = cx_emu_heap_close},
    {.close = cx_emu_output_flush},
    {.close = cx_emu_modules_release},
    {.close = cx_emu_events_release},
    {.open = cx_emu_streams_open, .close = cx_emu_streams_close},
    {.close = cx_emu_never_synchronized_closing},
};

static const cx_emu_memory_hooks hooks_of_memory = {
    .dispose = {[CX_EMU_MEMORY_MAPPED] = cx_emu_mapping_close,
                [CX_EMU_MEMORY_SHARED] = cx_emu_shared_close},
    .leave_pool = cx_emu_pool_give,
    .reclaim = cx_emu_pools_release,
    .wait_unused = cx_emu_work_wait_allocation,
    .wait_unreached = cx_emu_work_wait_unreached,
};

static bool configured; /* cx_emu_configure was called */
static bool hooked;

static bool change_phase(int from, int to)
{
    return atomic_compare_exchange_strong(&cx_emu_current_phase, &from, to);
}

/* A forked child keeps FORKED, and a driver that was never initialised must not start this late. */
__attribute__((destructor)) static void end(void)
{
    if (change_phase(CX_EMU_RUNNING, CX_EMU_ENDING))
        cx_emu_never_synchronized_log();
    change_phase(CX_EMU_UNINITIALIZED, CX_EMU_ENDING);
}

static void begin_in_child(void)
{
    change_phase(CX_EMU_RUNNING, CX_EMU_FORKED);
}

CX_FORK_CONSTRUCTOR static void watch_forks(void)
{
    static cx_fork_hook hook = {
        .rank = CX_RANK_EMU_STATE, .lock = &cx_emu_lock, .in_child = begin_in_child};
    cx_fork_watch(&hook);
}

static bool hook_process(void)
{
    hooked = hooked || atexit(end) == 0;
    return cx_forks_are_watched() && hooked;
}

static cxu_result configure_from_environment(void)
{
    const char *reason;
    cx_emu_config config;
    if (cx_emu_config_from_environment(&config, &reason)) {
        cx_emu_configuration_set(&config);
        return CXU_SUCCESS;
    }
    cx_log(CTXRT_LOG_ERROR, "the embedded driver does not start: %s", reason);
    return CXU_INVALID_VALUE;
}

/* Reads the settings that always come from the environment. */
static bool choose_behaviour(void)
{
    return cx_emu_schedule_choose() && cx_emu_sticky_choose() && cx_emu_warp_choose() &&
           cx_emu_loading_choose() && cx_emu_cores_choose() && cx_emu_watchdog_choose();
}

/* Nothing is in the devices of before, nor in their default pools. */
static void build_devices(const cx_emu_config *config)
{
    cx_emu_quarantine_end();
    for (int i = 0; i < cx_emu_device_total(); i++)
        cx_emu_arena_destroy(cx_emu_device_find(i)->arena);
    cx_emu_pools_close_default();
    cx_emu_devices_build(config);
}

static cxu_result start_driver(void)
{
    if (atomic_load(&cx_emu_current_phase) == CX_EMU_RUNNING)
        return cx_emu_device_total() > 0 ? CXU_SUCCESS : CXU_NO_DEVICE;

    if (!configured) {
        cxu_result result = configure_from_environment();
        if (result != CXU_SUCCESS)
            return result;
    }
    if (!choose_behaviour()) {
        cx_log(CTXRT_LOG_ERROR, "the embedded driver does not start: %s",
               "CTXRT_EMU_SCHEDULE or CTXRT_EMU_STICKY is malformed");
        return CXU_INVALID_VALUE;
    }
    cxu_result chosen = cx_emu_faults_choose();
    if (chosen == CXU_INVALID_VALUE)
        cx_log(CTXRT_LOG_ERROR, "the embedded driver does not start: CTXRT_EMU_FAULT is malformed");
    if (chosen != CXU_SUCCESS)
        return chosen;
    if (!hook_process() || !cx_emu_slots_map() || !cx_emu_sealed_files_begin())
        return CXU_OUT_OF_MEMORY;
    cx_emu_allocation_set_hooks(&hooks_of_memory);
    cx_emu_context_set_parts(parts_of_contexts,
                             sizeof parts_of_contexts / sizeof parts_of_contexts[0]);
    build_devices(cx_emu_configuration());
    if (cx_emu_device_total() == 0)
        return CXU_NO_DEVICE;
    change_phase(CX_EMU_UNINITIALIZED, CX_EMU_RUNNING);
    return cx_emu_enter_slowly();
}

cxu_result cx_emu_call_init(unsigned int flags)
{
    if (atomic_load(&cx_emu_current_phase) != CX_EMU_UNINITIALIZED) {
        cxu_result result = cx_emu_enter();
        if (result != CXU_SUCCESS)
            return result;
    }
    if (flags != 0)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    cxu_result result = start_driver();
    cx_lock_leave(&cx_emu_lock);
    return result;
}

static bool same_config(const cx_emu_config *a, const cx_emu_config *b)
{
    return a->host_device == b->host_device && a->gpus == b->gpus && a->gpu == b->gpu &&
           a->gpu_memory_bytes == b->gpu_memory_bytes && a->driver_version == b->driver_version &&
           a->host_access == b->host_access && a->context_bytes == b->context_bytes;
}

static bool config_valid(const cx_emu_config *config)
{
    return config->gpus >= 0 && config->gpus < CX_EMU_DEVICES_MAX && config->gpu_memory_bytes > 0 &&
           config->gpu_memory_bytes <= CX_EMU_MEMORY_MAX &&
           config->context_bytes <= CX_EMU_MEMORY_MAX &&
           config->gpu_memory_bytes % CX_EMU_MEMORY_UNIT == 0;
}

static bool reconfigure(const cx_emu_config *config)
{
    if (atomic_load(&cx_emu_current_phase) == CX_EMU_RUNNING) {
        bool used = cx_emu_context_count() != 0 || cx_emu_devices_busy() ||
                    cx_emu_physical_exists() || cx_emu_pool_exists();

        if (!used && !choose_behaviour())
            return false;
        if (same_config(config, cx_emu_configuration()))
            return true;
        if (used)
            return false;
        build_devices(config);
    }
    cx_emu_configuration_set(config);
    configured = true;
    return true;
}

bool cx_emu_configure(const cx_emu_config *config)
{
    if (!config_valid(config))
        return false;
    cx_lock_enter(&cx_emu_lock);
    bool done = reconfigure(config);
    cx_lock_leave(&cx_emu_lock);
    return done;
}

cxu_result cx_emu_call_driver_get_version(int *out_version)
{
    if (out_version == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    const int version = cx_emu_configuration()->driver_version;
    *out_version = version != 0 ? version : CX_EMU_DRIVER_VERSION;
    cx_lock_leave(&cx_emu_lock);
    return CXU_SUCCESS;
}
