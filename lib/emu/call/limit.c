#include "emu/call/limit.h"

#include "emu/base/state.h"
#include "emu/device/device.h"
#include "emu/graph/capture.h"

#include <string.h>

/* The limits of a GPU of compute capability 7.5 (Q4). Values below `least` become that; values
 * above `most` become that too, or are refused. */
typedef struct limit_row {
    bool supported;
    size_t initial, least, most;
    size_t multiple; /* rounded up to; 0: any value */
    bool strict;     /* above `most` is refused */
    bool fixed;      /* it can be read only */
} limit_row;

static const limit_row limits[CX_EMU_LIMITS] = {
    [CXU_LIMIT_STACK_SIZE] = {true, 1024, 0, (size_t)512 << 10, .multiple = 16, .strict = true},
    [CXU_LIMIT_PRINTF_FIFO_SIZE] = {.supported = true,
                                    .initial = (size_t)1 << 20,
                                    .least = (size_t)384 << 10,
                                    .most = (size_t)1 << 30},
    [CXU_LIMIT_MALLOC_HEAP_SIZE] = {.supported = true,
                                    .initial = (size_t)8 << 20,
                                    .least = (size_t)4 << 20,
                                    .most = (size_t)4 << 30},
    [CXU_LIMIT_DEV_RUNTIME_SYNC_DEPTH] = {true, 2, 0, 24, .strict = true},
    [CXU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = {.supported = true,
                                                    .initial = 2048,
                                                    .most = 65536},
    [CXU_LIMIT_MAX_L2_FETCH_GRANULARITY] = {true, 64, 0, 128, .strict = true},
    [CXU_LIMIT_SHMEM_SIZE] = {true, (size_t)48 << 10, .fixed = true},
    [CXU_LIMIT_CIG_ENABLED] = {true, 0, .fixed = true},
};

static cxu_result check_limit(cxu_limit limit)
{
    if ((unsigned int)limit >= CX_EMU_LIMITS)
        return CXU_INVALID_VALUE;
    return limits[limit].supported ? CXU_SUCCESS : CXU_UNSUPPORTED_LIMIT;
}

bool cx_emu_limits_open(cx_emu_context *context)
{
    for (int i = 0; i < CX_EMU_LIMITS; i++)
        context->limits[i] = limits[i].initial;
    context->output_asked = context->limits[CXU_LIMIT_PRINTF_FIFO_SIZE];
    memset(context->limit_used, 0, sizeof context->limit_used);
    return true;
}

static cxu_result set_limit(cxu_limit limit, size_t value)
{
    const limit_row *row = &limits[limit];
    cx_emu_context *context;
    cxu_result result = cx_emu_context_current(&context);

    if (result != CXU_SUCCESS)
        return result;
    if (row->fixed)
        return CXU_NOT_PERMITTED;
    if ((row->strict && value > row->most) || context->limit_used[limit])
        return CXU_INVALID_VALUE;
    result = cx_emu_capture_check_unsafe();
    if (result != CXU_SUCCESS)
        return result;
    if (limit == CXU_LIMIT_PRINTF_FIFO_SIZE)
        context->output_asked = value;
    if (row->multiple != 0)
        value = (value + row->multiple - 1) / row->multiple * row->multiple;
    context->limits[limit] = value < row->least  ? row->least
                             : value > row->most ? row->most
                                                 : value;
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_ctx_set_limit(cxu_limit limit, size_t value)
{
    cxu_result result = cx_emu_enter();
    if (result == CXU_SUCCESS)
        result = check_limit(limit);
    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = set_limit(limit, value);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_ctx_get_limit(size_t *out_value, cxu_limit limit)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (out_value == NULL)
        return CXU_INVALID_VALUE;
    result = check_limit(limit);
    if (result != CXU_SUCCESS)
        return result;

    cx_emu_context *context;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_context_current(&context);
    if (result == CXU_SUCCESS)
        *out_value = context->limits[limit];
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_ctx_get_cache_config(cxu_func_cache *out_config)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (out_config == NULL)
        return CXU_INVALID_VALUE;
    cx_emu_context *context;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_context_current(&context);
    if (result == CXU_SUCCESS)
        *out_config = context->cache_config;
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_ctx_set_cache_config(cxu_func_cache config)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if ((unsigned int)config > CXU_FUNC_CACHE_PREFER_EQUAL)
        return CXU_INVALID_VALUE;
    cx_emu_context *context;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_context_current(&context);
    if (result == CXU_SUCCESS)
        context->cache_config = config;
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* The bank size is fixed: any known value is accepted and ignored. */
cxu_result cx_emu_call_ctx_get_shared_mem_config(cxu_shared_config *out_config)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (out_config == NULL)
        return CXU_INVALID_VALUE;
    result = cx_emu_context_check_current();
    if (result == CXU_SUCCESS)
        *out_config = CXU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    return result;
}

cxu_result cx_emu_call_ctx_set_shared_mem_config(cxu_shared_config config)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if ((unsigned int)config > CXU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE)
        return CXU_INVALID_VALUE;
    return cx_emu_context_check_current();
}

cxu_result cx_emu_call_ctx_get_stream_priority_range(int *out_least, int *out_greatest)
{
    cxu_result result = cx_emu_enter();
    if (result == CXU_SUCCESS)
        result = cx_emu_context_check_current();
    if (result != CXU_SUCCESS)
        return result;
    if (out_least != NULL)
        *out_least = CX_EMU_PRIORITY_LEAST;
    if (out_greatest != NULL)
        *out_greatest = CX_EMU_PRIORITY_GREATEST;
    return CXU_SUCCESS;
}
