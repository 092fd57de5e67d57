#include "shim/shim.h"

#include "base/log.h"
#include "base/option.h"
#include "emu/emu.h"
#include "layer/check/check.h"
#include "shim/runtime_library.h"
#include <pthread.h>
#include <string.h>

static cx_driver_table bare, layered;
static const cx_driver_table *table = &bare;
static pthread_once_t table_once = PTHREAD_ONCE_INIT;
static pthread_once_t configure_once = PTHREAD_ONCE_INIT;
static cxu_result configured;

static void configure_driver(void)
{
    cx_emu_config config;
    const char *reason;
    configured = CXU_SUCCESS;
    cx_shim_look_for_runtime_library();
    if (!cx_emu_config_from_environment(&config, &reason)) {
        cx_log(CTXRT_LOG_ERROR, "the stand-in driver does not start: %s", reason);
        configured = CXU_SYSTEM_NOT_READY;
        return;
    }
    config.driver_version = cx_shim_version;
    if (!cx_emu_configure(&config))
        configured = CXU_UNKNOWN;
}

static cxu_result init_driver(unsigned int flags)
{
    if (flags == 0) {
        pthread_once(&configure_once, configure_driver);
        if (configured != CXU_SUCCESS)
            return configured;
    }
    return cx_emu_driver()->init(flags);
}

/* Before cuInit the embedded driver does not know which export set it serves. */
static cxu_result get_version(int *out_version)
{
    if (out_version == NULL)
        return CXU_INVALID_VALUE;
    *out_version = cx_shim_version;
    return CXU_SUCCESS;
}

/* Without a layer the table is the driver's own. */
static void put_layers(void)
{
    const char *layers = cx_option("CTXRT_LAYERS");
    if (layers == NULL)
        return;
    if (strcmp(layers, "check") != 0)
        cx_log(CTXRT_LOG_ERROR, "CTXRT_LAYERS=%s: there is only the layer \"check\"", layers);
    else if (cx_check_put(&bare, &layered))
        table = &layered;
    else
        cx_log(CTXRT_LOG_ERROR, "CTXRT_LAYERS: no memory for the layer \"check\"");
}

static void fill_table(void)
{
    bare = *cx_emu_driver();
    bare.init = init_driver;
    bare.driver_get_version = get_version;
    put_layers();
}

const cx_driver_table *cx_shim_driver(void)
{
    pthread_once(&table_once, fill_table);
    return table;
}
