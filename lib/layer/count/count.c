#include "layer/count/count.h"

#include "base/clock.h"
#include "layer/arguments.h"
#include "layer/count/region.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const cx_driver_table *driver;
static bool begun;

static void add(atomic_ullong *to, uint64_t amount)
{
    (void)atomic_fetch_add_explicit(to, amount, memory_order_relaxed);
}

/* ---- failures ---- */

/* A thread that loses a free entry to another one looks at that entry again. */
static cx_count_failure *find_failure(cx_count_region *self, uint64_t key)
{
    for (int i = 0; i < CX_COUNT_FAILURES; i++) {
        cx_count_failure *each = &self->failures[i];
        uint64_t there = atomic_load(&each->key);
        if (there == 0 && atomic_compare_exchange_strong(&each->key, &there, key)) {
            each->tid = (int32_t)gettid();
            each->first = cx_clock_ns() - self->begun;
            return each;
        }
        if (there == key)
            return each;
    }
    return NULL;
}

static void count_failure(cx_count_region *self, const cx_layer_call *call)
{
    cx_count_failure *failure = find_failure(self, cx_count_key(call->slot, call->result));
    add(failure != NULL ? &failure->count : &self->failures_beyond, 1);
}

/* ---- devices ---- */

static cx_count_device *device_at(cx_count_region *self, CUdevice device)
{
    return device >= 0 && device < CX_COUNT_DEVICES ? &self->devices[device] : NULL;
}

#define COUNT_ON_DEVICE(slot, counter)                                                  \
    case CX_SLOT_##slot:                                                                \
        made_on = device_at(self, ((const cx_arguments_##slot *)call->arguments)->device); \
        if (made_on != NULL)                                                            \
            add(&made_on->counter, 1);                                                  \
        break

static void count_contexts(cx_count_region *self, const cx_layer_call *call)
{
    cx_count_device *made_on;
    switch ((int)call->slot) {
        COUNT_ON_DEVICE(ctx_create_v2, contexts);
        COUNT_ON_DEVICE(ctx_create_v3, contexts);
        COUNT_ON_DEVICE(ctx_create_v4, contexts);
        COUNT_ON_DEVICE(green_ctx_create, green_contexts);
        COUNT_ON_DEVICE(primary_retain, primary_retains);
    default:
        break;
    }
}

/* Calls that may take memory of the current context's device. */
static bool takes_memory(cx_slot slot)
{
    static const bool all[CX_SLOT_COUNT] = {
        [CX_SLOT_ctx_create_v2] = true,       [CX_SLOT_ctx_create_v3] = true,
        [CX_SLOT_ctx_create_v4] = true,       [CX_SLOT_mem_get_info] = true,
        [CX_SLOT_mem_alloc] = true,           [CX_SLOT_mem_alloc_pitch] = true,
        [CX_SLOT_mem_alloc_managed] = true,   [CX_SLOT_mem_alloc_async] = true,
        [CX_SLOT_mem_create] = true,          [CX_SLOT_mem_alloc_from_pool_async] = true,
        [CX_SLOT_module_load] = true,         [CX_SLOT_module_load_data] = true,
        [CX_SLOT_module_load_data_ex] = true, [CX_SLOT_module_load_fat_binary] = true,
        [CX_SLOT_graph_launch] = true,
    };
    return all[slot];
}

static void raise_peak(atomic_ullong *peak, unsigned long long bytes)
{
    unsigned long long before = atomic_load_explicit(peak, memory_order_relaxed);
    while (before < bytes && !atomic_compare_exchange_weak(peak, &before, bytes))
        continue;
}

static void look_at_memory(cx_count_region *self)
{
    CUdevice device;
    size_t available, total;
    if (driver->ctx_get_device(&device) != CXU_SUCCESS ||
        driver->mem_get_info(&available, &total) != CXU_SUCCESS || device < self->host_devices)
        return;
    cx_count_device *at = device_at(self, device);
    if (at == NULL)
        return;
    atomic_store_explicit(&at->total_bytes, total, memory_order_relaxed);
    raise_peak(&at->peak_bytes, total - available);
}

/* ---- calls ---- */

static void begin_call(const cx_layer_call *call)
{
    *call->began = cx_clock_ns();
}

/* Shares have counters of their own, so that processors that call at once are not in each other's
 * way. */
static cx_count_row *row_of(cx_count_region *self, cx_slot slot)
{
    return &self->rows[(unsigned)sched_getcpu() % CX_COUNT_SHARES][slot];
}

static void end_call(const cx_layer_call *call)
{
    const uint64_t ns = cx_clock_ns() - *call->began;
    cx_count_region *self = cx_count_region_here();
    if (self == NULL)
        return;
    cx_count_row *row = row_of(self, call->slot);
    add(&row->calls, 1);
    add(&row->ns, ns);
    if (__builtin_expect(call->result == CXU_SUCCESS, 1)) {
        count_contexts(self, call);
        if (takes_memory(call->slot))
            look_at_memory(self);
        return;
    }
    if (call->result == CXU_NOT_READY)
        return;
    add(&row->failed, 1);
    if (call->result == CXU_NOT_SUPPORTED)
        add(&row->unsupported, 1);
    else
        count_failure(self, call);
}

void cx_count_unserved(const char *symbol)
{
    cx_count_region *self = begun ? cx_count_region_here() : NULL;
    for (int i = 0; self != NULL && i < CX_COUNT_ABSENT; i++) {
        cx_count_absent *each = &self->absent[i];
        unsigned state = 0;
        if (atomic_compare_exchange_strong(&each->state, &state, 1)) {
            (void)snprintf(each->symbol, sizeof each->symbol, "%s", symbol);
            atomic_store(&each->state, 2);
        }
        while (atomic_load(&each->state) == 1)
            (void)sched_yield();
        if (strncmp(each->symbol, symbol, sizeof each->symbol - 1) == 0) {
            atomic_fetch_add(&each->count, 1);
            return;
        }
    }
}

static const cx_layer layer = {begin_call, end_call};

bool cx_count_put(const cx_driver_table *below, cx_driver_table *out_table)
{
    if (!begun && !cx_count_open())
        return false;
    begun = true;
    driver = below;
    cx_layer_put(&layer, below, out_table);
    return true;
}
