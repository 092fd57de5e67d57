#include "device/layers.h"

#include "base/log.h"
#include "base/option.h"
#include "layer/check/check.h"
#include "layer/chosen.h"
#include "layer/handshake.h"
#include "layer/names.h"

ctxrt_status cx_device_check_layers(void)
{
    cx_layers_chosen chosen;
    const char *text = cx_option("CTXRT_LAYERS");
    return cx_layers_parse(text, &chosen)
               ? CTXRT_SUCCESS
               : cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                          "CTXRT_LAYERS=%s: there is only the layer check", text);
}

/* A stand-in has the layer itself and sees the calls of other code too. */
static bool is_checked_below(const cx_driver *driver)
{
    const cx_handshake *shake =
        driver->library != NULL ? cx_handshake_with(driver->library) : NULL;
    return shake != NULL && shake->checks_with(&cx_layer_names_own);
}

/* The layer is told of cuInit, which the driver has seen already. */
static void put_check(cx_driver *driver, int host_devices)
{
    static cx_driver_table bare;
    static const cx_driver *watched;
    if (is_checked_below(driver))
        return;
    if (watched != NULL && watched != driver) {
        cx_log(CTXRT_LOG_WARNING, "CTXRT_LAYERS: the layer stays at the driver %s: calls of %s are "
                                  "not seen", watched->name, driver->name);
        return;
    }
    bare = driver->table;
    cx_layer_names_own.host_devices = host_devices;
    if (!cx_check_put(&bare, CX_CHECK_IN_RUNTIME, &driver->table)) {
        cx_log(CTXRT_LOG_ERROR, "CTXRT_LAYERS: no memory for the layer check");
        return;
    }
    watched = driver;
    (void)driver->table.init(0);
}

void cx_device_put_layers(cx_driver *driver, int host_devices)
{
    cx_layers_chosen chosen;
    if (driver->loaded && cx_layers_parse(cx_option("CTXRT_LAYERS"), &chosen) && chosen.check)
        put_check(driver, host_devices);
}
