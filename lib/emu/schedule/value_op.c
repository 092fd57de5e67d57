#include "emu/schedule/value_op.h"
#include "emu/schedule/schedule.h"
#include "emu/base/state.h"
#include "emu/device/sticky.h"
#include "emu/report/not_supported.h"
#include "emu/schedule/stream.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WAIT_CONDITION_MASK 3u
#define POLL_US_MAX 500u

/* ---- making and counting ---- */

static bool is_wait(const cxu_stream_mem_op *operation)
{
    return operation->type == CXU_STREAM_MEM_OP_WAIT_VALUE_32 ||
           operation->type == CXU_STREAM_MEM_OP_WAIT_VALUE_64;
}

/* The width of the value; 0: the operation has none. */
static size_t value_bytes(const cxu_stream_mem_op *operation)
{
    switch (operation->type) {
    case CXU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CXU_STREAM_MEM_OP_WRITE_VALUE_32:
        return sizeof(uint32_t);
    case CXU_STREAM_MEM_OP_WAIT_VALUE_64:
    case CXU_STREAM_MEM_OP_WRITE_VALUE_64:
        return sizeof(uint64_t);
    default:
        return 0;
    }
}

static cxu_result check_operation(const char *call, const cxu_stream_mem_op *operation)
{
    if (operation->type == CXU_STREAM_MEM_OP_BARRIER)
        return operation->order_flags <= 1 ? CXU_SUCCESS : CXU_INVALID_VALUE;
    if (operation->type == CXU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES)
        return cx_emu_not_supported(call, "flushing remote writes");
    if (value_bytes(operation) == 0)
        return CXU_INVALID_VALUE;
    if (!is_wait(operation))
        return operation->flags <= CXU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER ? CXU_SUCCESS
                                                                           : CXU_INVALID_VALUE;
    if (operation->flags & CXU_STREAM_WAIT_VALUE_FLUSH)
        return cx_emu_not_supported(call, "flushing remote writes");
    return operation->flags <= WAIT_CONDITION_MASK ? CXU_SUCCESS : CXU_INVALID_VALUE;
}

cxu_result cx_emu_values_create(const char *call, unsigned int count,
                                const cxu_stream_mem_op *operations, cx_emu_values **out_values)
{
    cx_emu_values *values;

    if (count == 0 || count > CX_EMU_VALUES_MAX || operations == NULL)
        return CXU_INVALID_VALUE;
    for (unsigned int i = 0; i < count; i++) {
        cxu_result result = check_operation(call, &operations[i]);

        if (result != CXU_SUCCESS)
            return result;
    }
    values = malloc(sizeof *values + count * sizeof *operations);
    if (values == NULL)
        return CXU_OUT_OF_MEMORY;
    values->references = 1;
    values->count = count;
    memcpy(values->operations, operations, count * sizeof *operations);
    *out_values = values;
    return CXU_SUCCESS;
}

void cx_emu_values_retain(cx_emu_values *values)
{
    values->references++;
}

void cx_emu_values_drop(cx_emu_values *values)
{
    if (values != NULL && --values->references == 0)
        free(values);
}

/* ---- running ---- */

/* False also for no allocation. */
static bool reaches(const cx_emu_context *context, cx_emu_allocation *allocation,
                    const cxu_stream_mem_op *operation)
{
    cx_emu_use use = {allocation, operation->address + value_bytes(operation)};

    return allocation != NULL && cx_emu_allocation_reachable(allocation, context) &&
           cx_emu_allocation_accessible(use, context->device, !is_wait(operation));
}

/* The address of the value for the driver, or NULL: not in memory that the context reaches. */
static void *locate(const cxu_stream_mem_op *operation, const cx_emu_values_run *run)
{
    cx_emu_allocation *allocation =
        cx_emu_allocation_find_for_work(operation->address, value_bytes(operation), run->latest);

    if (!reaches(run->context, allocation, operation))
        return NULL;
    cx_emu_allocation_mark_written(allocation, operation->address, value_bytes(operation));
    return cx_emu_allocation_at(allocation, operation->address);
}

static bool holds(uint64_t found, uint64_t wanted, unsigned int condition, size_t bytes)
{
    switch (condition) {
    case CXU_STREAM_WAIT_VALUE_EQ:
        return found == wanted;
    case CXU_STREAM_WAIT_VALUE_AND:
        return (found & wanted) != 0;
    case CXU_STREAM_WAIT_VALUE_NOR:
        return bytes == sizeof(uint32_t) ? (uint32_t)~(found | wanted) != 0
                                         : ~(found | wanted) != 0;
    default: /* "greater" in the sense of counters that wrap around */
        return bytes == sizeof(uint32_t) ? (int32_t)((uint32_t)found - (uint32_t)wanted) >= 0
                                         : (int64_t)(found - wanted) >= 0;
    }
}

/* Does one operation; false: it has to wait. */
static bool perform(const cxu_stream_mem_op *operation, void *at)
{
    size_t bytes = value_bytes(operation);
    bool narrow = bytes == sizeof(uint32_t);
    uint64_t found;

    if (!is_wait(operation)) {
        if (narrow)
            __atomic_store_n((uint32_t *)at, operation->value.narrow, __ATOMIC_SEQ_CST);
        else
            __atomic_store_n((uint64_t *)at, operation->value.wide, __ATOMIC_SEQ_CST);
        return true;
    }
    found = narrow ? __atomic_load_n((uint32_t *)at, __ATOMIC_SEQ_CST)
                   : __atomic_load_n((uint64_t *)at, __ATOMIC_SEQ_CST);
    return holds(found, narrow ? operation->value.narrow : operation->value.wide,
                 operation->flags, bytes);
}

/* True: all is done, or the context ends and the value to wait for is not there. Memory that was
 * freed meanwhile is an unknown address, as for a kernel. Lock held. */
static bool advance(cx_emu_values_run *run)
{
    bool ends = !cx_emu_context_opened(run->context, run->opening);

    if (cx_emu_context_blocked(run->context) != CXU_SUCCESS ||
        atomic_load_explicit(&cx_emu_current_phase, memory_order_relaxed) != CX_EMU_RUNNING)
        return true;
    for (; run->at < run->values->count; run->at++) {
        const cxu_stream_mem_op *operation = &run->values->operations[run->at];
        void *at;

        if (value_bytes(operation) == 0)
            continue;
        at = locate(operation, run);
        if (at == NULL) {
            cx_emu_context_fail(run->context, CXU_ILLEGAL_ADDRESS,
                                "a stream wrote or awaited a value in memory that was freed");
            return true;
        }
        if (!perform(operation, at))
            return ends;
    }
    return true;
}

static void run_values(void *argument)
{
    useconds_t pause = 1;

    for (;;) {
        cx_lock_enter(&cx_emu_lock);
        bool over = advance(argument);
        cx_lock_leave(&cx_emu_lock);
        if (over)
            return;
        usleep(pause);
        if (cx_emu_schedule_one_at_a_time()) {
            cx_emu_work_call_again();
            return;
        }
        pause = pause < POLL_US_MAX ? 2 * pause : POLL_US_MAX;
    }
}

static void retain(void *argument)
{
    cx_emu_values_retain(((cx_emu_values_run *)argument)->values);
}

static void release(void *argument)
{
    cx_emu_values_drop(((cx_emu_values_run *)argument)->values);
}

static bool valid(const cxu_stream_mem_op *operation, const cx_emu_context *context)
{
    size_t bytes = value_bytes(operation);
    cx_emu_allocation *allocation = cx_emu_allocation_find(operation->address, bytes);

    return bytes == 0 ||
           (operation->address % bytes == 0 && reaches(context, allocation, operation) &&
            allocation->kind != CX_EMU_MEMORY_MANAGED);
}

cxu_result cx_emu_values_request(cx_emu_values *values, cx_emu_context *context,
                                 cx_emu_values_run *out_run, cx_emu_work_request *out_request)
{
    for (unsigned int i = 0; i < values->count; i++)
        if (!valid(&values->operations[i], context))
            return CXU_INVALID_VALUE;
    *out_run = (cx_emu_values_run){.values = values,
                                   .context = context,
                                   .opening = context->legacy->opening,
                                   .latest = cx_emu_memory_latest()};
    *out_request = (cx_emu_work_request){.kind = CX_EMU_WORK_KERNEL,
                                         .call = run_values,
                                         .retain = retain,
                                         .release = release,
                                         .argument = out_run,
                                         .argument_bytes = sizeof *out_run,
                                         .doer = context};
    return CXU_SUCCESS;
}
