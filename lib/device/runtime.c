#include "device/runtime.h"

#include "base/cancel.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/option.h"
#include "device/device.h"
#include "device/environment.h"
#include "device/layers.h"
#include "emu/emu.h"
#include "layer/handshake.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Atomic int cx_current_phase = CX_PHASE_STOPPED;
_Atomic int cx_loose_objects;
_Atomic uint64_t cx_loose_bytes;
cx_driver cx_drivers[CX_DRIVERS_MAX];

/* Options with every default filled in; `libcuda` is our copy, or NULL for the default name. */
typedef struct settings {
    ctxrt_cuda_driver cuda_driver;
    ctxrt_foreign_policy foreign;
    char *libcuda;
    int emulated_devices;
    cx_emu_gpu emulated_gpu;
    size_t emulated_memory_bytes;
    bool host_access;
    size_t context_bytes;
} settings;

/* Lock "runtime": guards starting and stopping. Outermost. */
static cx_lock lock = CX_LOCK_INIT(RUNTIME);
static settings running; /* a stop keeps them: the same options start the same drivers again */
static bool settled;     /* `running` is valid */
static int driver_count;
static _Atomic bool begun; /* drivers were started, and these do not survive a fork */

int cx_driver_count(void)
{
    return driver_count;
}

ctxrt_foreign_policy cx_runtime_foreign_policy(void)
{
    return running.foreign;
}

const char *cx_runtime_cuda_reason(void)
{
    if (running.cuda_driver == CTXRT_CUDA_DRIVER_NONE)
        return "CTXRT_DRIVER=none leaves the type empty";
    return cx_drivers[running.cuda_driver == CTXRT_CUDA_DRIVER_LIBCUDA].reason;
}

bool cx_runtime_uses_libcuda(void)
{
    return running.cuda_driver == CTXRT_CUDA_DRIVER_LIBCUDA;
}

/* The thread that held the lock may not exist in the child. */
static void begin_in_child(void)
{
    cx_lock_init(&lock, CX_RANK_RUNTIME);
    if (atomic_load(&begun))
        atomic_store(&cx_current_phase, CX_PHASE_FORKED);
}

CX_FORK_CONSTRUCTOR static void watch_forks(void)
{
    static cx_fork_hook hook = {.rank = CX_RANK_RUNTIME, .in_child = begin_in_child};
    cx_fork_watch(&hook);
}

static void at_process_end(void)
{
    if (atomic_load(&cx_current_phase) != CX_PHASE_FORKED)
        atomic_store(&cx_current_phase, CX_PHASE_ENDING);
}

/* For a runtime that never started, and a library that is unloaded without exit(). */
__attribute__((destructor)) static void at_unload(void)
{
    at_process_end();
}

/* Handlers run last in, first out. Ours is registered after a driver's, so it runs before that
 * driver ends. */
static bool watch_exit(void)
{
    return atexit(at_process_end) == 0 && at_quick_exit(at_process_end) == 0;
}

static ctxrt_status choose_cuda_driver(ctxrt_cuda_driver asked, ctxrt_cuda_driver *out_choice)
{
    static const char *const names[] = {
        [CTXRT_CUDA_DRIVER_LIBCUDA] = "libcuda",
        [CTXRT_CUDA_DRIVER_EMULATED] = "emulated",
        [CTXRT_CUDA_DRIVER_NONE] = "none",
    };
    if (asked != CTXRT_CUDA_DRIVER_DEFAULT) {
        if ((int)asked < 0 || asked > CTXRT_CUDA_DRIVER_NONE)
            return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                            "option cuda_driver: there is no choice %d", (int)asked);
        *out_choice = asked;
        return CTXRT_SUCCESS;
    }
    const char *text = cx_option("CTXRT_DRIVER");
    if (text == NULL) {
        *out_choice = CTXRT_CUDA_DRIVER_LIBCUDA;
        return CTXRT_SUCCESS;
    }
    for (int i = CTXRT_CUDA_DRIVER_LIBCUDA; i <= CTXRT_CUDA_DRIVER_NONE; i++)
        if (strcmp(text, names[i]) == 0) {
            *out_choice = (ctxrt_cuda_driver)i;
            return CTXRT_SUCCESS;
        }
    return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                    "CTXRT_DRIVER=%s: it can be libcuda, emulated or none", text);
}

static ctxrt_status choose_foreign(ctxrt_foreign_policy asked, ctxrt_foreign_policy *out_choice)
{
    if ((int)asked < 0 || asked > CTXRT_FOREIGN_ERROR)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "option foreign: there is no policy %d",
                        (int)asked);
    const char *text = cx_option("CTXRT_FOREIGN");
    *out_choice = asked != CTXRT_FOREIGN_DEFAULT ? asked : CTXRT_FOREIGN_FOLLOW;
    if (asked != CTXRT_FOREIGN_DEFAULT || text == NULL || strcmp(text, "follow") == 0)
        return CTXRT_SUCCESS;
    if (strcmp(text, "error") != 0)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "CTXRT_FOREIGN=%s: it can be follow or error",
                        text);
    *out_choice = CTXRT_FOREIGN_ERROR;
    return CTXRT_SUCCESS;
}

static ctxrt_status choose_emulation(const ctxrt_options *options, settings *out)
{
    cx_emu_config config;
    const char *reason = "";
    if (!cx_emu_config_from_environment(&config, &reason))
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "%s", reason);
    if (options->emulated_devices < 0 || options->emulated_devices > 64)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "option emulated_devices: %d is not 1 to 64",
                        options->emulated_devices);
    const size_t granule = (size_t)2 << 20;
    if (options->emulated_memory_bytes > SIZE_MAX / 4)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "option emulated_memory_bytes: %zu is too much",
                        options->emulated_memory_bytes);
    out->emulated_devices =
        options->emulated_devices != 0 ? options->emulated_devices : config.gpus;
    out->emulated_memory_bytes =
        options->emulated_memory_bytes != 0
            ? (options->emulated_memory_bytes + granule - 1) / granule * granule
            : config.gpu_memory_bytes;
    out->emulated_gpu = config.gpu;
    out->host_access = config.host_access;
    out->context_bytes = config.context_bytes;
    return CTXRT_SUCCESS;
}

static ctxrt_status choose_settings(const ctxrt_options *options, settings *out)
{
    static const ctxrt_options from_environment = CTXRT_OPTIONS_INIT;
    if (options == NULL)
        options = &from_environment;
    else if (options->struct_size != sizeof *options)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "ctxrt_init: struct_size is %zu, not %zu: start from CTXRT_OPTIONS_INIT",
                        options->struct_size, sizeof *options);
    *out = (settings){0};
    ctxrt_status status = cx_environment_check();
    if (status == CTXRT_SUCCESS)
        status = choose_cuda_driver(options->cuda_driver, &out->cuda_driver);
    if (status == CTXRT_SUCCESS)
        status = choose_foreign(options->foreign, &out->foreign);
    if (status == CTXRT_SUCCESS)
        status = choose_emulation(options, out);
    if (status != CTXRT_SUCCESS)
        return status;
    const char *libcuda = options->libcuda != NULL ? options->libcuda : cx_option("CTXRT_LIBCUDA");
    if (libcuda != NULL && (out->libcuda = strdup(libcuda)) == NULL)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for the options");
    return CTXRT_SUCCESS;
}

static bool same_path(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* A stand-in knows why work failed. */
static void find_reasons(cx_driver *driver)
{
    const cx_handshake *shake = driver->loaded ? cx_handshake_with(driver->library) : NULL;
    driver->explain = shake != NULL ? shake->explains() : NULL;
}

/* Loads libcuda once for the life of the process: drivers do not survive being closed. False if it
 * was loaded already. */
static bool load_libcuda(const char *path)
{
    static char *loaded_path;
    static bool tried;
    if (tried && cx_drivers[1].loaded && same_path(path, loaded_path))
        return false;
    tried = true;
    free(loaded_path);
    loaded_path = path != NULL ? strdup(path) : NULL;
    if (!cx_driver_load(path, &cx_drivers[1]))
        cx_log(CTXRT_LOG_INFO, "no CUDA devices: %s", cx_drivers[1].reason);
    find_reasons(&cx_drivers[1]);
    cx_device_put_layers(&cx_drivers[1], 0);
    return true;
}

/* Counts the host's device too. */
static void name_hidden(int gpus, cx_driver *driver)
{
    int hidden = gpus - (driver->device_count - 1);
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    if (hidden > 0 && visible != NULL)
        snprintf(driver->reason, sizeof driver->reason,
                 "CUDA_VISIBLE_DEVICES=%.100s hides %s%d emulated device%s", visible,
                 hidden == gpus ? "all " : "", hidden, hidden == 1 ? "" : "s");
}

static ctxrt_status start_embedded(const settings *chosen)
{
    const cx_emu_config config = {
        .host_device = true,
        .gpus = chosen->cuda_driver == CTXRT_CUDA_DRIVER_EMULATED ? chosen->emulated_devices : 0,
        .gpu = chosen->emulated_gpu,
        .gpu_memory_bytes = chosen->emulated_memory_bytes,
        .driver_version = 13000,
        .host_access = chosen->host_access,
        .context_bytes = chosen->context_bytes,
    };
    if (!cx_emu_configure(&config))
        return cx_error(CTXRT_ERROR_IN_USE,
                        "the embedded driver has contexts already and cannot be configured anew");
    /* Faults belong to GPUs. If libcuda plays the GPUs it may be the stand-in, which reads the same
     * variable. */
    const cx_driver_table *table =
        chosen->cuda_driver == CTXRT_CUDA_DRIVER_EMULATED ? cx_emu_driver() : &cx_emu_table;
    if (!cx_driver_adopt("embedded", table, &cx_drivers[0]))
        return cx_error(cx_drivers[0].refusal == CXU_OUT_OF_MEMORY ? CTXRT_ERROR_OUT_OF_MEMORY
                                                                   : CTXRT_ERROR_SYSTEM,
                        "the embedded driver did not start: %s", cx_drivers[0].reason);
    cx_drivers[0].explain = cx_emu_explain;
    cx_drivers[0].advise = cx_emu_advise;
    cx_drivers[0].stream_is_idle = cx_emu_stream_is_idle;
    cx_drivers[0].memory_info = cx_emu_memory_info;
    name_hidden(config.gpus, &cx_drivers[0]);
    if (chosen->cuda_driver == CTXRT_CUDA_DRIVER_EMULATED)
        cx_device_put_layers(&cx_drivers[0], 1);
    return CTXRT_SUCCESS;
}

static bool same_settings(const settings *a, const settings *b)
{
    return a->cuda_driver == b->cuda_driver && a->foreign == b->foreign &&
           same_path(a->libcuda, b->libcuda) && a->emulated_devices == b->emulated_devices &&
           a->emulated_gpu == b->emulated_gpu &&
           a->emulated_memory_bytes == b->emulated_memory_bytes &&
           a->host_access == b->host_access && a->context_bytes == b->context_bytes;
}

/* True if these settings ran last time. Nothing is written then, so that a thread that is still in
 * a call does not see a driver change under it. */
static bool is_there(const settings *chosen)
{
    return settled && same_settings(&running, chosen) &&
           (chosen->cuda_driver != CTXRT_CUDA_DRIVER_LIBCUDA || cx_drivers[1].loaded);
}

static ctxrt_status start_drivers(const settings *chosen)
{
    static bool exit_watched;
    atomic_store(&begun, true);
    settled = false;
    ctxrt_status status = start_embedded(chosen);
    if (status != CTXRT_SUCCESS)
        return status;
    driver_count = 1;
    bool changed = !exit_watched;
    if (chosen->cuda_driver == CTXRT_CUDA_DRIVER_LIBCUDA) {
        changed |= load_libcuda(chosen->libcuda);
        driver_count = 2;
    }
    if (changed && !watch_exit())
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory to register an exit handler");
    exit_watched = true;
    return CTXRT_SUCCESS;
}

static ctxrt_status refuse_phase(int phase)
{
    if (phase == CX_PHASE_FORKED)
        return cx_error(CTXRT_ERROR_FORKED,
                        "the parent had started ctxrt before it forked; drivers do not survive "
                        "a fork: start ctxrt in the child only, or exec");
    return cx_error(CTXRT_ERROR_SHUTDOWN, "the process is ending, and ctxrt does nothing any more");
}

/* The process may have begun to end meanwhile; that is final. */
static ctxrt_status start_running(void)
{
    int phase = CX_PHASE_STOPPED;
    return atomic_compare_exchange_strong(&cx_current_phase, &phase, CX_PHASE_RUNNING)
               ? CTXRT_SUCCESS
               : refuse_phase(phase);
}

/* Lock held, phase STOPPED. */
static ctxrt_status start_runtime(const ctxrt_options *options)
{
    settings chosen;
    if (!cx_forks_are_watched())
        return cx_error(CTXRT_ERROR_SYSTEM, "a handler for forks could not be registered");
    ctxrt_status status = choose_settings(options, &chosen);
    if (status != CTXRT_SUCCESS)
        return status;
    if (!is_there(&chosen)) {
        status = start_drivers(&chosen);
        if (status != CTXRT_SUCCESS) {
            free(chosen.libcuda);
            return status;
        }
        char *before = running.libcuda;
        running = chosen;
        chosen.libcuda = before;
        settled = true;
        cx_devices_build(running.cuda_driver == CTXRT_CUDA_DRIVER_EMULATED);
    }
    free(chosen.libcuda);
    return start_running();
}

/* Lock held, phase RUNNING. An option that leaves a choice open agrees with any choice. */
static ctxrt_status compare_options(const ctxrt_options *options)
{
    settings chosen;
    if (options == NULL)
        return CTXRT_SUCCESS;
    ctxrt_status status = choose_settings(options, &chosen);
    if (status != CTXRT_SUCCESS)
        return status;
    const char *differs = NULL;
    if (options->cuda_driver != CTXRT_CUDA_DRIVER_DEFAULT &&
        chosen.cuda_driver != running.cuda_driver)
        differs = "cuda_driver";
    else if (options->foreign != CTXRT_FOREIGN_DEFAULT && chosen.foreign != running.foreign)
        differs = "foreign";
    else if (options->libcuda != NULL &&
             (running.libcuda == NULL || strcmp(options->libcuda, running.libcuda) != 0))
        differs = "libcuda";
    else if (options->emulated_devices != 0 && chosen.emulated_devices != running.emulated_devices)
        differs = "emulated_devices";
    else if (options->emulated_memory_bytes != 0 &&
             chosen.emulated_memory_bytes != running.emulated_memory_bytes)
        differs = "emulated_memory_bytes";
    free(chosen.libcuda);
    if (differs != NULL)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "the runtime runs already, with another value of option %s: call "
                        "ctxrt_init before any other call",
                        differs);
    return CTXRT_SUCCESS;
}

static bool is_over(int phase)
{
    return phase == CX_PHASE_FORKED || phase == CX_PHASE_ENDING;
}

/* Calls `change` with the lock held, unless the process's end or a fork came first. */
static ctxrt_status change_phase(ctxrt_status (*change)(int phase, const void *argument),
                                 const void *argument)
{
    int phase = atomic_load(&cx_current_phase);
    if (is_over(phase))
        return refuse_phase(phase);
    int cancel = cx_cancel_hold();
    cx_lock_enter(&lock);
    phase = atomic_load(&cx_current_phase);
    ctxrt_status status = is_over(phase) ? refuse_phase(phase) : change(phase, argument);
    cx_lock_leave(&lock);
    cx_cancel_restore(cancel);
    return status;
}

static ctxrt_status start_or_compare(int phase, const void *options)
{
    return phase == CX_PHASE_RUNNING ? compare_options(options) : start_runtime(options);
}

ctxrt_status ctxrt_init(const ctxrt_options *options)
{
    return change_phase(start_or_compare, options);
}

ctxrt_status cx_runtime_enter_slowly(void)
{
    return ctxrt_init(NULL);
}

bool cx_runtime_enter_release_slowly(ctxrt_status *out_status)
{
    *out_status = CTXRT_SUCCESS;
    if (atomic_load(&cx_current_phase) == CX_PHASE_ENDING)
        return false;
    *out_status = cx_runtime_enter();
    if (*out_status == CTXRT_SUCCESS)
        return true;
    if (atomic_load(&cx_current_phase) == CX_PHASE_ENDING)
        *out_status = CTXRT_SUCCESS;
    return false;
}

ctxrt_status cx_runtime_still(void)
{
    int phase = atomic_load(&cx_current_phase);
    if (phase == CX_PHASE_STOPPED)
        return cx_error(CTXRT_ERROR_SHUTDOWN,
                        "another thread shut the runtime down during the call");
    return phase == CX_PHASE_RUNNING ? CTXRT_SUCCESS : refuse_phase(phase);
}

static ctxrt_status stop_runtime(int phase, const void *argument)
{
    const cx_runtime_end *end = argument;
    if (phase == CX_PHASE_STOPPED)
        return CTXRT_SUCCESS;
    ctxrt_status status = end->check();
    if (status != CTXRT_SUCCESS)
        return status;
    if (!atomic_compare_exchange_strong(&cx_current_phase, &phase, CX_PHASE_STOPPED))
        return refuse_phase(phase);
    status = end->release();
    if (status != CTXRT_SUCCESS)
        (void)start_running();
    return status;
}

ctxrt_status cx_runtime_stop(const cx_runtime_end *end)
{
    return change_phase(stop_runtime, end);
}

int ctxrt_version(void)
{
    return 100 * (100 * CTXRT_VERSION_MAJOR + CTXRT_VERSION_MINOR) + CTXRT_VERSION_PATCH;
}

static ctxrt_driver_info describe_driver(const cx_driver *driver)
{
    bool embedded = driver == &cx_drivers[0];
    return (ctxrt_driver_info){
        .name = driver->name,
        .path = driver->path,
        .type = embedded && running.cuda_driver != CTXRT_CUDA_DRIVER_EMULATED ? CTXRT_DEVICE_CPU
                                                                               : CTXRT_DEVICE_CUDA,
        .loaded = driver->loaded,
        .version = driver->version,
        .device_count = driver->device_count,
        .reason = driver->reason,
    };
}

ctxrt_status ctxrt_drivers(size_t capacity, ctxrt_driver_info *out_drivers, size_t *out_count)
{
    if (out_count == NULL || (out_drivers == NULL && capacity != 0))
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_drivers: %s is NULL",
                        out_count == NULL ? "out_count" : "out_drivers");
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    for (int i = 0; i < driver_count && (size_t)i < capacity; i++)
        out_drivers[i] = describe_driver(&cx_drivers[i]);
    *out_count = (size_t)driver_count;
    return CTXRT_SUCCESS;
}
