#include "allocation_trace.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool hold_slot(allocation_trace *trace, uint32_t slot)
{
    uint32_t capacity = trace->slot_capacity != 0 ? trace->slot_capacity : 1024;
    if (slot < trace->slot_capacity)
        return true;
    while (capacity <= slot)
        capacity *= 2;
    uint64_t *bytes = realloc(trace->slot_bytes, capacity * sizeof *bytes);
    if (bytes == NULL)
        return false;
    memset(bytes + trace->slot_capacity, 0, (capacity - trace->slot_capacity) * sizeof *bytes);
    trace->slot_bytes = bytes;
    trace->slot_capacity = capacity;
    return true;
}

static bool hold_one_more(allocation_trace *trace)
{
    if (trace->count < trace->capacity)
        return true;
    size_t capacity = trace->capacity != 0 ? 2 * trace->capacity : 1024;
    allocation_operation *operations = realloc(trace->operations, capacity * sizeof *operations);
    if (operations == NULL)
        return false;
    trace->operations = operations;
    trace->capacity = capacity;
    return true;
}

static void count_operation(allocation_trace *trace, uint32_t slot, uint64_t bytes)
{
    if (bytes != 0) {
        trace->live++;
        trace->live_bytes += bytes;
    } else {
        trace->live--;
        trace->live_bytes -= trace->slot_bytes[slot];
    }
    trace->slot_bytes[slot] = bytes;
    if (slot >= trace->slots)
        trace->slots = slot + 1;
    if (trace->live_bytes > trace->peak_bytes)
        trace->peak_bytes = trace->live_bytes;
    if (trace->live > trace->peak_live)
        trace->peak_live = trace->live;
}

allocation_verdict allocation_trace_add(allocation_trace *trace, uint32_t slot, uint64_t bytes)
{
    if (slot >= ALLOCATION_SLOTS_MAX)
        return ALLOCATION_SLOT_TOO_HIGH;
    if (!hold_slot(trace, slot) || !hold_one_more(trace))
        return ALLOCATION_NO_MEMORY;
    if ((trace->slot_bytes[slot] != 0) == (bytes != 0))
        return bytes != 0 ? ALLOCATION_SLOT_TAKEN : ALLOCATION_SLOT_EMPTY;
    trace->operations[trace->count++] = (allocation_operation){.bytes = bytes, .slot = slot};
    count_operation(trace, slot, bytes);
    return ALLOCATION_GOOD;
}

/* Takes a whole decimal number; the text behind it must begin with `end`. */
static bool take_number(const char **text, char end, uint64_t *out_number)
{
    char *after;
    if (!isdigit((unsigned char)**text))
        return false;
    errno = 0;
    unsigned long long number = strtoull(*text, &after, 10);
    if (errno != 0 || *after != end)
        return false;
    *text = after + 1;
    *out_number = number;
    return true;
}

/* The sum of live bytes must not overflow either: no device has 2^63 bytes. */
static allocation_verdict add_line(allocation_trace *trace, const char *line)
{
    uint64_t slot, bytes = 0;
    const char *rest = line + 2;
    bool allocates = strncmp(line, "a,", 2) == 0;
    if (!allocates && strncmp(line, "f,", 2) != 0)
        return ALLOCATION_MALFORMED;
    if (!take_number(&rest, allocates ? ',' : '\0', &slot))
        return ALLOCATION_MALFORMED;
    if (allocates && (!take_number(&rest, '\0', &bytes) || bytes == 0 ||
                      bytes > (UINT64_C(1) << 63) - 1 - trace->live_bytes))
        return ALLOCATION_MALFORMED;
    return slot < ALLOCATION_SLOTS_MAX ? allocation_trace_add(trace, (uint32_t)slot, bytes)
                                       : ALLOCATION_SLOT_TOO_HIGH;
}

allocation_verdict allocation_trace_read(allocation_trace *trace, FILE *file, size_t *out_line)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    allocation_verdict verdict = ALLOCATION_GOOD;
    *trace = (allocation_trace){0};
    while (verdict == ALLOCATION_GOOD && (length = getline(&line, &room, file)) > 0) {
        if (line[length - 1] == '\n')
            line[--length] = '\0';
        verdict = strlen(line) == (size_t)length ? add_line(trace, line) : ALLOCATION_MALFORMED;
    }
    free(line);
    if (verdict != ALLOCATION_GOOD) {
        *out_line = trace->count + 1;
        allocation_trace_clear(trace);
    }
    return verdict;
}

const char *allocation_verdict_text(allocation_verdict verdict)
{
    static const char *const texts[] = {
        [ALLOCATION_GOOD] = "it is good",
        [ALLOCATION_NO_MEMORY] = "there is not enough memory for the trace",
        [ALLOCATION_SLOT_TAKEN] = "the slot holds memory already",
        [ALLOCATION_SLOT_EMPTY] = "the slot that is freed is empty",
        [ALLOCATION_SLOT_TOO_HIGH] = "slots are numbered from 0 to 16777215",
        [ALLOCATION_MALFORMED] = "neither a,SLOT,BYTES with BYTES above 0 nor f,SLOT",
    };
    return texts[verdict];
}

void allocation_trace_clear(allocation_trace *trace)
{
    free(trace->operations);
    free(trace->slot_bytes);
    *trace = (allocation_trace){0};
}
