#include "trace/pieces.h"

#include "check/names.h"
#include "check/symbols.h"
#include "driver/work_timestamps.h"
#include "trace/calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *trace_piece_kind(const trace_piece *piece)
{
    static const char *const kinds[CX_TIMED_KINDS] = {
        [CX_TIMED_MOVE] = "move",     [CX_TIMED_ORDER] = "order", [CX_TIMED_HOST] = "host",
        [CX_TIMED_KERNEL] = "kernel", [CX_TIMED_WAIT] = "wait",
    };
    if (piece->work == NULL)
        return "submission";
    unsigned kind = piece->work->record.detail;
    return kind < CX_TIMED_KINDS ? kinds[kind] : "work";
}

/* The kernel that a launch names, or that a node of a graph has; NULL: its name is unknown. */
static const char *kernel_of(const trace_process *self, const trace_piece *piece)
{
    const cx_trace_call *call = piece->call;
    uint64_t function = trace_argument(call, "function");
    if (function == 0 && piece->work != NULL)
        function = piece->work->function;
    const trace_object *object =
        trace_object_at(self, CX_HANDLE_FUNCTION, function, call->start);
    if (object == NULL)
        object = trace_object_at(self, CX_HANDLE_KERNEL, function, call->start);
    return object != NULL ? object->text : NULL;
}

const char *trace_call_way(const cx_trace_call *call)
{
    static const struct {
        const char *part, *name;
    } ways[] = {{"Memset", "fill"},
                {"HtoD", "copy host to device"},
                {"DtoH", "copy device to host"},
                {"DtoD", "copy device to device"},
                {"Peer", "copy between devices"},
                {"HtoA", "copy host to array"},
                {"AtoH", "copy array to host"},
                {"2D", "copy of rows"},
                {"3D", "copy of slices"}};
    const char *symbol = call != NULL ? call_name(call->slot) : NULL;
    for (size_t i = 0; symbol != NULL && i < sizeof ways / sizeof ways[0]; i++)
        if (strstr(symbol, ways[i].part) != NULL)
            return ways[i].name;
    return symbol != NULL && strstr(symbol, "Memcpy") == NULL ? "copy or fill of a graph" : "copy";
}

uint64_t trace_call_bytes(const cx_trace_call *call)
{
    const char *symbol = call != NULL ? call_name(call->slot) : "";
    uint64_t bytes = call != NULL ? trace_argument(call, "bytes") : 0;
    uint64_t element = strstr(symbol, "D32") != NULL ? 4 : strstr(symbol, "D16") != NULL ? 2 : 1;
    if (call == NULL || bytes != 0 || strstr(symbol, "Memset") == NULL)
        return bytes;
    return element * trace_argument(call, "count");
}

static void name_move(const cx_trace_call *call, char *text, size_t size)
{
    const char *name = call_name(call->slot);
    uint64_t bytes = trace_argument(call, "bytes");
    if (strstr(name, "Memset") != NULL)
        snprintf(text, size, "fill");
    else if (strstr(name, "Memcpy") == NULL)
        snprintf(text, size, "work of %s", name);
    else if (bytes != 0)
        snprintf(text, size, "copy of %" PRIu64 " bytes", bytes);
    else
        snprintf(text, size, "copy");
}

static void name_order(const cx_trace_call *call, char *text, size_t size)
{
    const char *name = call_name(call->slot);
    if (strstr(name, "EventRecord") != NULL || strstr(name, "RecordEvent") != NULL)
        snprintf(text, size, "event record");
    else if (strstr(name, "WaitEvent") != NULL)
        snprintf(text, size, "event wait");
    else
        snprintf(text, size, "%s", name);
}

void trace_piece_text(const trace_process *self, const trace_piece *piece, char *text, size_t size)
{
    const cx_trace_call *call = piece->call;
    const char *kernel = call != NULL ? kernel_of(self, piece) : NULL;
    if (piece->work == NULL) {
        snprintf(text, size, "%s", call_name(call->slot));
        return;
    }
    switch (piece->work->record.detail) {
    case CX_TIMED_KERNEL:
        symbols_readable(kernel != NULL ? kernel : "kernel", text, size);
        return;
    case CX_TIMED_HOST:
        snprintf(text, size, "host function");
        return;
    case CX_TIMED_WAIT:
        snprintf(text, size, "wait for a value");
        return;
    default:
        break;
    }
    if (call == NULL)
        snprintf(text, size, "%s", trace_piece_kind(piece));
    else if (piece->work->record.detail == CX_TIMED_MOVE)
        name_move(call, text, size);
    else
        name_order(call, text, size);
}
