#include "device/layers.h"

#include "base/log.h"
#include "base/option.h"
#include "layer/check/check.h"
#include "layer/chosen.h"
#include "layer/count/count.h"
#include "layer/handshake.h"
#include "layer/names.h"
#include "layer/trace/trace.h"

#include <errno.h>
#include <string.h>

ctxrt_status cx_device_check_layers(void)
{
    cx_layers_chosen chosen;
    const char *text = cx_option("CTXRT_LAYERS");
    return cx_layers_parse(text, &chosen)
               ? CTXRT_SUCCESS
               : cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                          "CTXRT_LAYERS=%s: " CX_LAYERS_THERE_ARE, text);
}

/* A stand-in has the layers itself and sees the calls of other code too. */
static void leave_out_those_below(const cx_driver *driver, cx_layers_chosen *chosen)
{
    const cx_handshake *shake =
        driver->library != NULL ? cx_handshake_with(driver->library) : NULL;
    if (shake == NULL)
        return;
    chosen->check = !shake->checks_with(&cx_layer_names_own) && chosen->check;
    chosen->trace = !shake->traces() && chosen->trace;
    chosen->count = !shake->counts() && chosen->count;
}

/* The layers are told of cuInit, which the driver has seen already. */
static void put_layers(cx_driver *driver, const cx_layers_chosen *chosen)
{
    static cx_driver_table bare;
    bare = driver->table;
    cx_check_explain = driver->explain;
    if (chosen->check && !cx_check_put(&bare, CX_CHECK_IN_RUNTIME, &driver->table))
        cx_log(CTXRT_LOG_ERROR, "CTXRT_LAYERS: no memory for the layer check");
    if (chosen->trace && !cx_trace_put(&bare, driver->library == NULL, &driver->table))
        cx_log(CTXRT_LOG_ERROR, "CTXRT_LAYERS: the layer trace cannot make its file: %s",
               strerror(errno));
    if (chosen->count && !cx_count_put(&bare, &driver->table))
        cx_log(CTXRT_LOG_ERROR, "CTXRT_LAYERS: the layer count cannot make its file in "
                                "CTXRT_REPORT_FOLDER: %s", strerror(errno));
    (void)driver->table.init(0);
}

void cx_device_put_layers(cx_driver *driver, int host_devices)
{
    static const cx_driver *watched;
    cx_layers_chosen chosen;
    if (!driver->loaded || !cx_layers_parse(cx_option("CTXRT_LAYERS"), &chosen))
        return;
    if (cx_layers_any(&chosen))
        leave_out_those_below(driver, &chosen);
    if (!cx_layers_any(&chosen))
        return;
    if (watched != NULL && watched != driver) {
        cx_log(CTXRT_LOG_WARNING, "CTXRT_LAYERS: the layers stay at the driver %s: calls of %s are "
                                  "not seen", watched->name, driver->name);
        return;
    }
    watched = driver;
    cx_layer_names_own.host_devices = host_devices;
    put_layers(driver, &chosen);
}
