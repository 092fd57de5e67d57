#include "shim/shim.h"

#include "base/log.h"
#include "base/option.h"
#include "driver/entry.h"
#include "emu/emu.h"
#include "layer/check/check.h"
#include "layer/chosen.h"
#include "layer/count/count.h"
#include "layer/trace/trace.h"
#include "shim/failure.h"
#include "shim/passthrough.h"
#include "shim/real_driver.h"
#include "shim/runtime_library.h"
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static cx_driver_table bare, layered;
static const cx_driver_table *_Atomic table; /* NULL until it is filled */
static pthread_once_t table_once = PTHREAD_ONCE_INIT;
static pthread_once_t configure_once = PTHREAD_ONCE_INIT;
static cxu_result configured;
static bool in_front;            /* of another library */
static atomic_bool told_to_play; /* by a stand-in in front of this one */
static char reason[768];         /* why there is no driver */

bool cx_shim_is_in_front(void)
{
    return in_front;
}

/* ---- the embedded driver ---- */

static void configure_driver(void)
{
    cx_emu_config config;
    const char *wrong;
    configured = CXU_SUCCESS;
    cx_shim_look_for_runtime_library();
    if (!cx_emu_config_from_environment(&config, &wrong)) {
        cx_log(CTXRT_LOG_ERROR, "the stand-in driver does not start: %s", wrong);
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

static void fill_embedded(cx_driver_table *out_table)
{
    *out_table = *cx_emu_driver();
    out_table->init = init_driver;
    out_table->driver_get_version = get_version;
}

/* ---- no driver ---- */

/* The embedded driver has not been started, so the other calls return NOT_INITIALIZED. */
static cxu_result refuse_init(unsigned int flags)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    (void)flags;
    if (!atomic_flag_test_and_set(&said))
        cx_log(CTXRT_LOG_ERROR, "the stand-in has no driver behind it: CTXRT_STANDIN_LIBCUDA=%s",
               reason);
    return CXU_SYSTEM_NOT_READY;
}

static cxu_result refuse_version(int *out_version)
{
    (void)out_version;
    return refuse_init(0);
}

static void fill_refusing(cx_driver_table *out_table)
{
    *out_table = cx_emu_table;
    out_table->init = refuse_init;
    out_table->driver_get_version = refuse_version;
}

/* ---- choosing ---- */

static void *find_nothing(const char *symbol)
{
    (void)symbol;
    return NULL;
}

static void fill_bare(void)
{
    const char *path = atomic_load(&told_to_play) ? NULL : cx_option("CTXRT_STANDIN_LIBCUDA");
    in_front = path != NULL && cx_real_driver_open(path, reason, sizeof reason);
    if (in_front)
        cx_passthrough_fill(&bare);
    else if (path != NULL)
        fill_refusing(&bare);
    else
        fill_embedded(&bare);
}

static bool checks, counts, traces; /* the layers that are in front */

static cx_layers_chosen choose_layers(void)
{
    const char *layers = atomic_load(&told_to_play) ? NULL : cx_option("CTXRT_LAYERS");
    cx_layers_chosen chosen;
    if (!cx_layers_parse(layers, &chosen))
        cx_log(CTXRT_LOG_ERROR, "CTXRT_LAYERS=%s: " CX_LAYERS_THERE_ARE, layers);
    return chosen;
}

/* Without a layer the table is the driver's own. The layers that measure are nearest to the driver,
 * so that the work of the others is no part of the times. */
static const cx_driver_table *put_layers(const cx_layers_chosen *chosen,
                                         const cx_driver_table *below)
{
    if (!in_front)
        cx_check_explain = cx_emu_explain;
    checks = chosen->check && cx_check_put(below, CX_CHECK_AT_EXPORTS, &layered);
    if (chosen->check && !checks)
        cx_log(CTXRT_LOG_ERROR, "CTXRT_LAYERS: no memory for the layer check");
    traces = chosen->trace && cx_trace_put(below, !in_front, &layered);
    if (chosen->trace && !traces)
        cx_log(CTXRT_LOG_ERROR, "CTXRT_LAYERS: the layer trace cannot make its file: %s",
               strerror(errno));
    counts = chosen->count && cx_count_put(below, &layered);
    if (chosen->count && !counts)
        cx_log(CTXRT_LOG_ERROR, "CTXRT_LAYERS: the layer count cannot make its file in "
                                "CTXRT_REPORT_FOLDER: %s", strerror(errno));
    return checks || counts || traces ? &layered : below;
}

/* True on the thread that fills the table: the library behind may call the driver while it loads.
 */
static __attribute__((tls_model("initial-exec"))) _Thread_local bool filling;

static void fill_table(void)
{
    const cx_layers_chosen chosen = choose_layers();
    filling = true;
    fill_bare();
    cx_shim_fill_slots(in_front ? cx_real_driver_symbol : find_nothing);
    /* Another stand-in knows the reasons, and the layer check explains failures itself. */
    if ((in_front && cx_real_driver_is_stand_in()) || chosen.check)
        cx_shim_tell_failures(false);
    atomic_store(&table, put_layers(&chosen, &bare));
    filling = false;
}

static const cx_driver_table *settle_table(void)
{
    static cx_driver_table refusing;
    if (!filling) {
        pthread_once(&table_once, fill_table);
        return atomic_load(&table);
    }
    snprintf(reason, sizeof reason, "%s: it calls the stand-in while it loads",
             cx_option("CTXRT_STANDIN_LIBCUDA"));
    fill_refusing(&refusing);
    return &refusing;
}

const cx_driver_table *cx_shim_driver(void)
{
    const cx_driver_table *filled = atomic_load_explicit(&table, memory_order_acquire);
    return __builtin_expect(filled != NULL, 1) ? filled : settle_table();
}

/* ---- the handshake ---- */

static void play(void)
{
    atomic_store(&told_to_play, true);
}

static bool checks_with(const cx_layer_names_list *names)
{
    bool layer = cx_shim_driver() == &layered;
    if (layer && names->size >= sizeof *names)
        cx_layer_names_use(names);
    return layer && checks;
}

static bool is_tracing(void)
{
    return cx_shim_driver() == &layered && traces;
}

static bool is_counting(void)
{
    return cx_shim_driver() == &layered && counts;
}

static void set_origin(const cx_entry_origin *origin)
{
    cx_entry_origin_now = origin;
    if (traces)
        cx_trace_change_api();
}

static cxu_result get_current(CUcontext *out_context)
{
    return bare.ctx_get_current(out_context);
}

/* Another driver behind this one has its own reasons. */
static bool (*explains(void))(cxu_result result, char *text, size_t size)
{
    return cx_shim_is_in_front() ? NULL : cx_emu_explain;
}

const cx_handshake cx_shim_handshake = {
    sizeof(cx_handshake), play, checks_with, is_tracing, is_counting, set_origin, get_current,
    explains};
