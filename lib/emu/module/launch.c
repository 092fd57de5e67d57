#include "emu/module/launch.h"

#include "base/log.h"
#include "emu/base/state.h"
#include "emu/base/warp.h"
#include "emu/context/output.h"
#include "emu/device/device.h"
#include "emu/device/sticky.h"
#include "emu/memory/texture.h"
#include "emu/module/condition_handle.h"
#include "emu/module/device_runtime.h"
#include "emu/module/hazard_text.h"
#include "emu/module/heap.h"
#include "emu/module/kernel_facts.h"
#include "emu/module/kernel_fault_text.h"
#include "emu/module/launch_check.h"
#include "emu/module/launch_memory.h"
#include "emu/module/texture_reference.h"
#include "emu/module/watchdog.h"
#include "emu/report/error_log.h"
#include "emu/schedule/cores.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- arguments ---- */

void cx_emu_arguments_retain(cx_emu_arguments *arguments)
{
    if (arguments != NULL)
        arguments->references++;
}

void cx_emu_arguments_drop(cx_emu_arguments *arguments)
{
    if (arguments != NULL && --arguments->references == 0)
        free(arguments);
}

/* One block: the header, then the address of each argument, then the arguments. */
static cx_emu_arguments *allocate_arguments(const cx_ptx_kernel_info *kernel)
{
    size_t content_at = sizeof(cx_emu_arguments) + kernel->parameter_count * sizeof(void *);
    cx_emu_arguments *arguments;

    content_at = (content_at + 15) & ~(size_t)15;
    arguments = calloc(1, content_at + kernel->parameter_bytes + 1);
    if (arguments == NULL)
        return NULL;
    arguments->references = 1;
    arguments->each = (void **)(void *)(arguments + 1);
    arguments->content = (unsigned char *)arguments + content_at;
    for (size_t i = 0; i < kernel->parameter_count; i++)
        arguments->each[i] = arguments->content + kernel->parameters[i].offset;
    return arguments;
}

/* Reads the buffer of a list {BUFFER_POINTER, p, BUFFER_SIZE, &n, END}. */
static bool read_extra(void *const *extra, const void **out_buffer, size_t *out_bytes)
{
    const int pairs_max = 16;

    *out_buffer = NULL;
    *out_bytes = 0;
    for (int i = 0; i < 2 * pairs_max; i += 2) {
        switch ((uintptr_t)extra[i]) {
        case CXU_LAUNCH_PARAM_END:
            return *out_buffer != NULL;
        case CXU_LAUNCH_PARAM_BUFFER_POINTER:
            *out_buffer = extra[i + 1];
            break;
        case CXU_LAUNCH_PARAM_BUFFER_SIZE:
            if (extra[i + 1] == NULL)
                return false;
            *out_bytes = *(const size_t *)extra[i + 1];
            break;
        default:
            return false;
        }
    }
    return false;
}

static bool fill_arguments(cx_emu_arguments *arguments, const cx_ptx_kernel_info *kernel,
                           void **parameters, void **extra)
{
    const void *buffer;
    size_t bytes;

    if (kernel->parameter_count == 0)
        return true;
    if (extra != NULL) {
        if (!read_extra(extra, &buffer, &bytes) || bytes < kernel->parameter_bytes)
            return false;
        memcpy(arguments->content, buffer, kernel->parameter_bytes);
        return true;
    }
    for (size_t i = 0; i < kernel->parameter_count; i++) {
        if (parameters[i] == NULL)
            return false;
        memcpy(arguments->each[i], parameters[i], kernel->parameters[i].bytes);
    }
    return true;
}

static cxu_result find_function(CUfunction handle, cx_emu_context *context,
                                cx_emu_function **out_function)
{
    cx_emu_kernel *kernel;
    cxu_result result;

    if (!cx_emu_is_kernel(handle)) {
        result = cx_emu_function_find(handle, out_function);
        if (result == CXU_SUCCESS && (*out_function)->module->context != context)
            result = cx_emu_refuse(CXU_INVALID_HANDLE,
                                   "the kernel was loaded in another context than the stream's");
        return result;
    }
    result = cx_emu_kernel_find((CUkernel)(void *)handle, &kernel);
    return result == CXU_SUCCESS ? cx_emu_kernel_instance(kernel, context, out_function) : result;
}

cxu_result cx_emu_launch_take(cx_emu_launch *launch, cx_emu_context *context, CUfunction handle,
                              void **parameters, void **extra)
{
    cx_emu_function *function;
    cx_ptx_kernel_info kernel;
    cx_emu_arguments *arguments;
    cxu_result result = find_function(handle, context, &function);

    if (result != CXU_SUCCESS)
        return result;
    kernel = cx_emu_function_describe(function);
    if ((parameters != NULL && extra != NULL) ||
        (kernel.parameter_count > 0 && parameters == NULL && extra == NULL))
        return cx_emu_refuse(CXU_INVALID_VALUE,
                             parameters != NULL
                                 ? "kernelParams and extra are both given"
                                 : "the kernel has parameters, and neither kernelParams nor extra "
                                   "is given");
    arguments = allocate_arguments(&kernel);
    if (arguments == NULL)
        return CXU_OUT_OF_MEMORY;
    if (!fill_arguments(arguments, &kernel, parameters, extra)) {
        cx_emu_arguments_drop(arguments);
        return cx_emu_refuse_numbers(
            CXU_INVALID_VALUE,
            extra != NULL
                ? "extra names no buffer, or one smaller than the # bytes of the kernel's "
                  "parameters"
                : "kernelParams has a NULL among the addresses of the kernel's parameters, and "
                  "they are # bytes together",
            kernel.parameter_bytes, 0);
    }
    launch->function = cx_emu_function_handle(function);
    launch->arguments = arguments;
    return CXU_SUCCESS;
}

cxu_result cx_emu_launch_context(const cx_emu_launch *launch, cx_emu_context **out_context)
{
    cx_emu_function *function;
    cxu_result result = cx_emu_function_find(launch->function, &function);

    if (result == CXU_SUCCESS)
        *out_context = function->module->context;
    return result;
}

/* ---- what kernels call ---- */

static void print_text(void *self, const char *text, size_t length, bool failed)
{
    cx_emu_run *run = self;
    bool added;

    do {
        cx_lock_enter(&cx_emu_lock);
        added = cx_emu_output_add(run->context, text, length, failed, &run->lost_texts);
        if (run->output_most < run->context->output_bytes)
            run->output_most = run->context->output_bytes;
        cx_lock_leave(&cx_emu_lock);
    } while (!added && cx_emu_run_await_memory(run));
}

static uint64_t take_heap(void *self, uint64_t bytes)
{
    cx_emu_run *run = self;
    uint64_t address;

    cx_lock_enter(&cx_emu_lock);
    address = cx_emu_heap_take(run->context, bytes);
    cx_lock_leave(&cx_emu_lock);
    return address;
}

static bool give_heap(void *self, uint64_t address)
{
    cx_emu_run *run = self;
    bool given;

    cx_lock_enter(&cx_emu_lock);
    given = cx_emu_heap_give(run->context, address);
    cx_lock_leave(&cx_emu_lock);
    return given;
}

static void note_heap(void *self, uint64_t address, const char *kernel,
                      const cx_ptx_hazard_side *by)
{
    char text[CX_EMU_HAZARD_MAX];

    cx_emu_hazard_place(kernel, by, text);
    cx_lock_enter(&cx_emu_lock);
    cx_emu_heap_note(((const cx_emu_run *)self)->context, address, text);
    cx_lock_leave(&cx_emu_lock);
}

static int64_t ask_device(void *self, uint32_t attribute)
{
    const cx_emu_context *context = ((const cx_emu_run *)self)->context;
    const cx_emu_device *device = context->device;
    int value;

    if (attribute >= CX_EMU_ASK_LIMIT)
        return attribute < CX_EMU_ASK_LIMIT + CX_EMU_LIMITS
                   ? (int64_t)context->limits[attribute - CX_EMU_ASK_LIMIT]
                   : INT64_MIN;
    if (attribute == CX_PTX_ASK_DEVICE)
        return device->ordinal;
    if (attribute == CX_PTX_ASK_COUNT)
        return cx_emu_device_total();
    return cx_emu_attribute(device, (cxu_device_attribute)attribute, &value) ? value : INT64_MIN;
}

static int64_t ask_kernel(void *self, const cx_ptx_kernel_question *question)
{
    const cx_emu_run *run = self;
    const cx_emu_kernel_place place = {run->code, question->kernel, run->context->device};
    size_t dynamic_limit = cx_emu_kernel_dynamic_limit(&place);
    int value;

    if (question->attribute == CX_PTX_ASK_BLOCKS)
        return question->threads > 0
                   ? cx_emu_kernel_occupancy(&place, question->threads, question->shared_bytes,
                                             dynamic_limit)
                   : INT64_MIN;
    if (question->attribute == CX_PTX_ASK_DYNAMIC)
        return (int64_t)dynamic_limit;
    return cx_emu_kernel_fact(&place, (cxu_func_attribute)question->attribute, &value) ? value
                                                                                       : INT64_MIN;
}

/* ---- who watches ---- */

/* A block of the kernels' heap is another one's once it is free, whatever orders the two. */
static void note_touch(void *self, const cx_ptx_touch *touch)
{
    const cx_emu_run *run = self;

    if (touch->address < run->heap_begin || touch->address >= run->heap_end)
        cx_emu_access_log_note(run->access_log, touch);
}

static void tell_hazard(void *self, const cx_ptx_hazard *hazard)
{
    char first[CX_EMU_HAZARD_MAX], second[CX_EMU_HAZARD_MAX];
    const cx_access_log_hazard told = cx_emu_hazard_describe(hazard, first, second);

    cx_access_log_watched()->hazard(((const cx_emu_run *)self)->ticket, &told);
}

/* More text than the program asked for room for: this driver may have given more. */
static void tell_output(const cx_emu_run *run)
{
    const cx_emu_context *context = run->context;
    const cx_emu_hazard_output output = {.lost = run->lost_texts,
                                         .most = run->output_most,
                                         .asked = context->output_asked,
                                         .given = context->limits[CXU_LIMIT_PRINTF_FIFO_SIZE]};
    char text[CX_EMU_HAZARD_MAX];

    if (run->lost_texts == 0 && run->output_most <= context->output_asked)
        return;
    cx_emu_hazard_output_say(cx_ptx_kernel_describe(run->code->ptx, run->kernel).name, &output,
                             text);
    cx_access_log_watched()->hazard(
        run->ticket, &(cx_access_log_hazard){.kind = CX_ACCESS_TEXT_LOST, .second = text});
}

static bool is_told_hazards(const cx_emu_run *run)
{
    return run->ticket && cx_access_log_wants_hazards();
}

static void promise_touches(cx_emu_run *run)
{
    run->ticket = cx_access_log_watched() != NULL ? cx_access_log_ticket : 0;
    cx_emu_heap_range(run->context, &run->heap_begin, &run->heap_end);
    if (run->ticket)
        cx_access_log_watched()->promised(run->ticket, run->part);
}

static bool watch(cx_emu_run *run)
{
    if (run->ticket)
        run->access_log = cx_emu_access_log_new();
    return run->access_log != NULL;
}

/* `fault` 0: there was none. */
static void tell_touches(cx_emu_run *run, uint64_t fault)
{
    cx_access *all = NULL;
    size_t count =
        run->access_log != NULL ? cx_emu_access_log_take(run->access_log, fault, &all) : 0;

    cx_access_log_watched()->told(run->ticket, run->part, all, count);
    free(all);
    cx_emu_access_log_free(run->access_log);
    run->access_log = NULL;
    run->ticket = 0;
}

static void tell_failure(const cx_emu_run *run, cxu_result error, uint64_t memory, const char *what)
{
    const cx_access_log_failure failure = {(int)error, what, memory};

    if (run->ticket)
        cx_access_log_watched()->failed(run->ticket, run->part, &failure);
}

/* ---- running ---- */

static cxu_result error_of(cx_ptx_outcome outcome)
{
    switch (outcome) {
    case CX_PTX_DONE:
    case CX_PTX_STOPPED:
        return CXU_SUCCESS;
    case CX_PTX_ILLEGAL_ADDRESS:
        return CXU_ILLEGAL_ADDRESS;
    case CX_PTX_MISALIGNED_ADDRESS:
        return CXU_MISALIGNED_ADDRESS;
    case CX_PTX_ILLEGAL_INSTRUCTION:
        return CXU_ILLEGAL_INSTRUCTION;
    case CX_PTX_ASSERTION:
        return CXU_ASSERT;
    case CX_PTX_STACK_OVERFLOW:
        return CXU_HARDWARE_STACK_ERROR;
    case CX_PTX_DEADLOCK:
        return CXU_LAUNCH_TIMEOUT;
    default:
        return CXU_LAUNCH_FAILED;
    }
}

static void abandon(const cx_emu_run *run, const cx_ptx_fault *fault)
{
    char what[CX_EMU_CULPRIT_MAX];

    cx_emu_kernel_fault_describe(run, CX_PTX_STOPPED, fault, what, sizeof what);
    cx_log(CTXRT_LOG_WARNING, "embedded driver: the end of its context ended a kernel: %s", what);
    cx_lock_enter(&cx_emu_lock);
    cx_emu_context_abandon(run->context);
    cx_lock_leave(&cx_emu_lock);
}

static unsigned shared_unit_of_gpu(const cx_emu_device *device)
{
    return cx_emu_attribute_value(device, CXU_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) < 8 ? 256 : 128;
}

/* GPUs allocate shared memory in units, and a kernel that goes a little beyond its own does not
 * fail. Whoever watches the accesses wants to know of it. */
static unsigned shared_unit_of(const cx_emu_run *run)
{
    return run->ticket ? 1 : shared_unit_of_gpu(run->context->device);
}

static cx_ptx_launch grid_of(const cx_emu_launch *launch)
{
    cx_ptx_launch grid = {.shared_bytes = launch->shared_bytes,
                          .cooperative = launch->cooperative,
                          .parameters =
                              launch->arguments != NULL ? launch->arguments->content : NULL};

    memcpy(grid.grid, launch->grid, sizeof grid.grid);
    memcpy(grid.block, launch->block, sizeof grid.block);
    memcpy(grid.cluster, launch->cluster, sizeof grid.cluster);
    return grid;
}

static void set_condition(void *self, uint64_t handle, uint32_t value)
{
    (void)self;
    cx_lock_enter(&cx_emu_lock);
    cx_emu_condition_handle_set(handle, value);
    cx_lock_leave(&cx_emu_lock);
}

static void run_kernel(void *argument)
{
    cx_emu_run *run = argument;
    const cx_ptx_environment environment = {.find = cx_emu_run_find_memory,
                                            .find_texture = cx_emu_run_find_texture,
                                            .touched = watch(run) ? note_touch : NULL,
                                            .hazard = is_told_hazards(run) ? tell_hazard : NULL,
                                            .stopped = cx_emu_run_is_stopped,
                                            .self = run,
                                            .print = print_text,
                                            .allocate = take_heap,
                                            .release = give_heap,
                                            .allocated = note_heap,
                                            .ask = ask_device,
                                            .ask_kernel = ask_kernel,
                                            .set_condition = set_condition,
                                            .independent = cx_emu_warp_is_independent(),
                                            .seed = cx_emu_warp_seed(),
                                            .shared_unit = shared_unit_of(run),
                                            .pending_grids = run->pending_grids,
                                            .cores = cx_emu_cores()};
    cx_ptx_fault fault = {0};
    cx_ptx_launch grid = grid_of(&run->launch);
    cx_ptx_outcome outcome;
    cxu_result error;

    grid.memory_address = run->memory != NULL ? run->memory->address : 0;
    grid.managed_address = run->managed != NULL ? run->managed->address : 0;
    run->deadline = cx_emu_watchdog_deadline();
    outcome = cx_ptx_run(run->code->ptx, run->kernel, &grid, &environment, &fault);
    error = error_of(outcome);
    if (error == CXU_SUCCESS && run->timed_out)
        error = CXU_LAUNCH_TIMEOUT;
    char what[CX_EMU_CULPRIT_MAX];
    if (error != CXU_SUCCESS)
        tell_failure(run, error,
                     cx_emu_kernel_fault_describe(run, outcome, &fault, what, sizeof what), what);
    if (is_told_hazards(run))
        tell_output(run);
    if (run->ticket)
        tell_touches(run, error == CXU_ILLEGAL_ADDRESS ? fault.address : 0);
    if (outcome == CX_PTX_STOPPED &&
        cx_emu_teardown_deadline_is_over(&run->context->teardown_deadline))
        abandon(run, &fault);
    if (error == CXU_SUCCESS)
        return;
    cx_log(CTXRT_LOG_INFO, "embedded driver: %s: error %d", what, (int)error);
    cx_emu_error_log(CXU_LOG_LEVEL_ERROR, "%s: error %d", what, (int)error);
    cx_lock_enter(&cx_emu_lock);
    /* Before any call returns the error: such a call does not wait for work. */
    cx_emu_output_flush(run->context);
    cx_emu_context_fail(run->context, error, what);
    cx_lock_leave(&cx_emu_lock);
}

static void retain_run(void *argument)
{
    cx_emu_run *run = argument;

    cx_emu_code_retain(run->code);
    cx_emu_arguments_retain(run->launch.arguments);
    cx_emu_bindings_retain(run->bindings);
    if (cx_ptx_uses_textures(run->code->ptx))
        cx_emu_texture_user_begin(&run->texture_user);
    run->context->limit_used[CXU_LIMIT_PRINTF_FIFO_SIZE] |= cx_ptx_kernel_prints(run->kernel);
    run->context->limit_used[CXU_LIMIT_MALLOC_HEAP_SIZE] |= cx_ptx_kernel_allocates(run->kernel);
    promise_touches(run);
}

static void release_run(void *argument)
{
    cx_emu_run *run = argument;

    if (run->ticket)
        tell_touches(run, 0);
    cx_emu_run_drop_memory(run);
    cx_emu_code_drop(run->code);
    cx_emu_arguments_drop(run->launch.arguments);
    cx_emu_bindings_drop(run->bindings);
    cx_emu_texture_user_end(&run->texture_user);
}

cxu_result cx_emu_launch_request(const cx_emu_launch *launch, cx_emu_run *out_run,
                                 cx_emu_work_request *out_request)
{
    cx_emu_launch resolved = *launch;
    cx_emu_function *function;
    const cx_emu_module *module;
    cxu_result result = cx_emu_function_find(launch->function, &function);

    if (result == CXU_SUCCESS)
        result = cx_emu_launch_check(&resolved, function);
    if (result != CXU_SUCCESS)
        return result;
    module = function->module;
    const cx_ptx_launch grid = grid_of(&resolved);
    if (!cx_ptx_launch_reserve(module->code->ptx, function->kernel, &grid,
                               shared_unit_of_gpu(module->context->device), cx_emu_cores()))
        return CXU_OUT_OF_MEMORY;
    function->loaded = true;
    *out_run = (cx_emu_run){.context = module->context,
                            .code = module->code,
                            .kernel = function->kernel,
                            .launch = resolved,
                            .bindings = module->bindings,
                            .pending_grids = module->context->limits
                                [CXU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT]};
    *out_request = (cx_emu_work_request){.kind = CX_EMU_WORK_KERNEL,
                                         .function = (uintptr_t)launch->function,
                                         .call = run_kernel,
                                         .retain = retain_run,
                                         .release = release_run,
                                         .argument = out_run,
                                         .argument_bytes = sizeof *out_run,
                                         .doer = module->context};
    if (module->memory != NULL) {
        out_run->memory = module->memory;
        out_request->uses[0] =
            (cx_emu_use){module->memory, module->memory->address + module->memory->bytes};
    }
    if (module->managed != NULL) {
        out_run->managed = module->managed;
        out_request->uses[1] =
            (cx_emu_use){module->managed, module->managed->address + module->managed->bytes};
    }
    return CXU_SUCCESS;
}
