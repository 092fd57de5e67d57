#include "trace/calls.h"

#include "base/text.h"
#include "base/utf8.h"
#include "check/names.h"
#include "driver/entry.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- values ---- */

static uint64_t value_of(const cx_trace_call *call, unsigned offset, unsigned bytes)
{
    uint64_t value = 0;
    memcpy(&value, (const char *)call + offset, bytes <= sizeof value ? bytes : sizeof value);
    return value;
}

static uint64_t argument(const cx_trace_call *call, const cx_trace_parameter *parameter)
{
    return value_of(call, (unsigned)sizeof *call + parameter->offset, parameter->bytes);
}

static const cx_trace_parameter *find_parameter(const cx_trace_call *call, const char *name)
{
    const cx_trace_layout *layout = &cx_trace_layouts[call->slot];
    for (unsigned i = 0; i < layout->count; i++)
        if (strcmp(layout->parameters[i].name, name) == 0)
            return &layout->parameters[i];
    return NULL;
}

uint64_t trace_argument(const cx_trace_call *call, const char *name)
{
    const cx_trace_parameter *parameter = find_parameter(call, name);
    return parameter != NULL ? argument(call, parameter) : 0;
}

static uint64_t number_of(const cx_trace_call *call, int which)
{
    const cx_trace_layout *layout = &cx_trace_layouts[call->slot];
    return value_of(call, layout->numbers + 8u * (unsigned)which, 8);
}

/* ---- words ---- */

static bool is_pointer(const char *type)
{
    return strchr(type, '*') != NULL;
}

static void add_address(cx_text *to, uint64_t value)
{
    if (value == 0)
        cx_text_add(to, "NULL");
    else
        cx_text_add(to, "0x%" PRIx64, value);
}

static const char *name_of_default(uint64_t stream)
{
    return stream == (uintptr_t)CXU_STREAM_PER_THREAD ? "the thread's default stream"
           : stream == (uintptr_t)CXU_STREAM_LEGACY   ? "the legacy default stream"
                                                      : "the default stream";
}

static void add_handle(const trace_process *self, cx_text *to, uint32_t kind, uint64_t handle,
                       uint64_t time)
{
    char text[128];
    const trace_object *object = trace_object_at(self, kind, handle, time);
    if (object != NULL) {
        trace_object_text(self, object, text, sizeof text);
        cx_text_add(to, "%s", text);
    } else if (kind == CX_HANDLE_STREAM && handle <= 2) {
        cx_text_add(to, "%s", name_of_default(handle));
    } else if (handle == 0) {
        cx_text_add(to, "no %s", object_name(kind));
    } else {
        cx_text_add(to, "%s 0x%" PRIx64, object_name(kind), handle);
    }
}

/* Malformed bytes and control characters become question marks. */
static void add_quoted(cx_text *to, const char *text)
{
    cx_text_add(to, "\"");
    while (*text != '\0') {
        size_t length = cx_utf8_length(text);
        if (length == 0 || cx_utf8_is_control(text, length))
            cx_text_add(to, "?");
        else
            cx_text_add(to, "%.*s", (int)length, text);
        text += length != 0 ? length : 1;
    }
    cx_text_add(to, "\"");
}

static void add_integer(cx_text *to, const cx_trace_parameter *parameter, uint64_t value)
{
    bool is_flags = strstr(parameter->name, "flags") != NULL;
    if (is_flags || strcmp(parameter->type, "CUdeviceptr") == 0)
        cx_text_add(to, "0x%" PRIx64, value);
    else if (strcmp(parameter->type, "int") == 0 || strcmp(parameter->type, "int *") == 0)
        cx_text_add(to, "%d", (int)(uint32_t)value);
    else
        cx_text_add(to, "%" PRIu64, value);
}

static void add_float(cx_text *to, uint64_t value)
{
    uint32_t bits = (uint32_t)value;
    float number;
    memcpy(&number, &bits, sizeof number);
    cx_text_add(to, "%g", (double)number);
}

/* ---- parameters ---- */

static void add_name(cx_text *to, const char *name)
{
    cx_text_add(to, "%s=", name);
}

static void add_text(cx_text *to, const cx_trace_call *call, const cx_trace_parameter *parameter)
{
    char text[CX_TRACE_TEXT];
    const cx_trace_layout *layout = &cx_trace_layouts[call->slot];
    memcpy(text, (const char *)call + layout->text, sizeof text);
    text[sizeof text - 1] = '\0';
    if (text[0] != '\0') {
        cx_utf8_trim(text);
        add_quoted(to, text);
        return;
    }
    add_name(to, parameter->name);
    add_address(to, argument(call, parameter));
}

/* A value that came back. */
static void add_back(const trace_process *self, cx_text *to, const cx_trace_call *call,
                     const cx_trace_parameter *parameter)
{
    char device[24];
    uint64_t value = value_of(call, parameter->back, parameter->back_bytes);
    uint32_t kind = trace_kind_of(parameter->type);
    cx_text_add(to, "-> ");
    if (kind != CX_HANDLE_NONE) {
        add_handle(self, to, kind, value, trace_call_end(call));
        return;
    }
    if (strcmp(parameter->type, "CUdevice *") == 0) {
        trace_device_text(self, (int)(uint32_t)value, device, sizeof device);
        cx_text_add(to, "%s", device);
        return;
    }
    add_name(to, parameter->name + 4);
    if (strcmp(parameter->type, "float *") == 0)
        add_float(to, value);
    else if (strcmp(parameter->type, "CUdeviceptr *") == 0 ||
             strcmp(parameter->type, "void **") == 0 ||
             strcmp(parameter->type, "CUgreenCtx *") == 0)
        add_address(to, value);
    else
        add_integer(to, parameter, value);
}

static void add_parameter(const trace_process *self, cx_text *to, const cx_trace_call *call,
                          const cx_trace_parameter *parameter)
{
    char device[24];
    uint64_t value = argument(call, parameter);
    uint32_t kind = is_pointer(parameter->type) ? CX_HANDLE_NONE : trace_kind_of(parameter->type);
    const cx_trace_layout *layout = &cx_trace_layouts[call->slot];
    bool good = call->result == CXU_SUCCESS && trace_call_end(call) != 0;
    if (parameter->back_bytes > 0 && good && value != 0) {
        add_back(self, to, call, parameter);
    } else if (layout->text != 0 && parameter == &layout->parameters[layout->text_parameter]) {
        add_text(to, call, parameter);
    } else if (kind != CX_HANDLE_NONE) {
        add_handle(self, to, kind, value, call->start);
    } else if (strcmp(parameter->type, "CUdevice") == 0) {
        trace_device_text(self, (int)(uint32_t)value, device, sizeof device);
        cx_text_add(to, "%s", device);
    } else if (strcmp(parameter->type, "float") == 0) {
        add_name(to, parameter->name);
        add_float(to, value);
    } else {
        add_name(to, parameter->name);
        if (is_pointer(parameter->type) || strncmp(parameter->type, "CU", 2) == 0)
            add_address(to, value);
        else
            add_integer(to, parameter, value);
    }
}

/* "grid_x" and the two behind it become "grid=(4,1,1)". Returns how many parameters were taken. */
static unsigned add_triple(cx_text *to, const cx_trace_call *call,
                           const cx_trace_parameter *parameter)
{
    static const char *const names[] = {"grid_x", "block_x"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(parameter->name, names[i]) == 0) {
            cx_text_add(to, "%.*s=(%u,%u,%u)", (int)strlen(names[i]) - 2, names[i],
                        (unsigned)argument(call, parameter),
                        (unsigned)argument(call, parameter + 1),
                        (unsigned)argument(call, parameter + 2));
            return 3;
        }
    return 0;
}

static void add_numbers(const trace_process *self, cx_text *to, const cx_trace_call *call)
{
    if (call->slot == CX_SLOT_launch_kernel_ex) {
        cx_text_add(to, ", grid=(%u,%u,%u), block=(%u,%u,%u), shared_bytes=%u, ",
                    (unsigned)number_of(call, 0), (unsigned)number_of(call, 1),
                    (unsigned)number_of(call, 2), (unsigned)number_of(call, 3),
                    (unsigned)number_of(call, 4), (unsigned)number_of(call, 5),
                    (unsigned)number_of(call, CX_TRACE_SHARED));
        add_handle(self, to, CX_HANDLE_STREAM, number_of(call, CX_TRACE_STREAM), call->start);
        return;
    }
    cx_text_add(to, ", width=%" PRIu64 " bytes, height=%" PRIu64 ", depth=%" PRIu64,
                number_of(call, CX_TRACE_WIDTH), number_of(call, CX_TRACE_HEIGHT),
                number_of(call, CX_TRACE_DEPTH));
}

void trace_arguments_text(const trace_process *self, const cx_trace_call *call, char *text,
                          size_t size)
{
    cx_text to = {text, size, 0};
    const cx_trace_layout *layout = &cx_trace_layouts[call->slot];
    text[0] = '\0';
    for (unsigned i = 0; i < layout->count; i++) {
        cx_text_add(&to, "%s", i > 0 ? ", " : "");
        unsigned taken = add_triple(&to, call, &layout->parameters[i]);
        if (taken > 0)
            i += taken - 1;
        else
            add_parameter(self, &to, call, &layout->parameters[i]);
    }
    if (layout->numbers != 0 && call->result == CXU_SUCCESS && trace_call_end(call) != 0)
        add_numbers(self, &to, call);
}

void trace_result_text(const cx_trace_call *call, char *text, size_t size)
{
    const char *name = result_name(call->result, false);
    if (trace_call_end(call) == 0)
        snprintf(text, size, "under way");
    else if (name == NULL)
        snprintf(text, size, "%d", call->result);
    else
        snprintf(text, size, "%s", name + strlen(call->result == 0 ? "CUDA_" : "CUDA_ERROR_"));
}

void trace_context_text(const trace_process *self, uint64_t handle, uint64_t time, char *text,
                        size_t size)
{
    cx_text to = {text, size, 0};
    text[0] = '\0';
    add_handle(self, &to, CX_HANDLE_CONTEXT, handle, time);
}

/* ---- streams and threads ---- */

bool trace_stream_of(const cx_trace_call *call, uint64_t *out_stream)
{
    const cx_trace_parameter *parameter = find_parameter(call, "stream");
    if (call->slot == CX_SLOT_launch_kernel_ex && call->result == CXU_SUCCESS)
        *out_stream = number_of(call, CX_TRACE_STREAM);
    else if (parameter != NULL && strcmp(parameter->type, "CUstream") == 0)
        *out_stream = argument(call, parameter);
    else
        return false;
    if (*out_stream == 0)
        *out_stream = (uintptr_t)(call->record.detail == CX_ENTRY_PER_THREAD
                                      ? CXU_STREAM_PER_THREAD
                                      : CXU_STREAM_LEGACY);
    return true;
}

void trace_thread_text(const trace_process *self, const trace_thread *thread, char *text,
                       size_t size)
{
    cx_text to = {text, size, 0};
    text[0] = '\0';
    if (thread->tid == self->head->pid)
        cx_text_add(&to, "main");
    else if (thread->name[0] == '\0' ||
             strncmp(thread->name, trace_file_name(self->head->program),
                     sizeof thread->name - 1) == 0)
        cx_text_add(&to, "thread %u", thread->number);
    else
        for (const char *at = thread->name; *at != '\0';) {
            size_t length = cx_utf8_length(at);
            bool good = length != 0 && !cx_utf8_is_control(at, length);
            cx_text_add(&to, "%.*s", good ? (int)length : 1, good ? at : "?");
            at += length != 0 ? length : 1;
        }
}

const char *trace_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}
