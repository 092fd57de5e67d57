#include "layer/check/stream_clock.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct line_key {
    CUstream stream;          /* CXU_STREAM_LEGACY, _PER_THREAD, or one that was made */
    uint32_t number;          /* of the latter: a later one may have its handle */
    const cx_object *context; /* of default streams */
    int thread;               /* of CXU_STREAM_PER_THREAD */
} line_key;

typedef struct order_line {
    line_key key;
    bool used, blocking;
    const cx_object *context;
    uint64_t capture;
    uint64_t used_at;
    cx_stream_clock clock;
} order_line;

static order_line lines[CX_STREAM_CLOCK_LINES];
static unsigned line_count; /* those that were ever used */
static cx_stream_clock host;
static cx_stream_clock awaited; /* by contexts, for streams that they will have */
static uint64_t uses;

/* ---- clocks ---- */

static void join(cx_stream_clock *clock, const uint64_t *pieces, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        clock->pieces[i] = pieces[i] > clock->pieces[i] ? pieces[i] : clock->pieces[i];
}

static void join_clock(cx_stream_clock *clock, const cx_stream_clock *other)
{
    join(clock, other->pieces, line_count);
}

/* Work of streams that were destroyed counts too. */
static bool is_of(const order_line *line, const cx_object *context)
{
    return context == NULL || line->context == context;
}

static cx_stream_clock clock_of_context(const cx_object *context)
{
    cx_stream_clock all = {0};
    for (unsigned i = 0; i < line_count; i++)
        if (is_of(&lines[i], context))
            join_clock(&all, &lines[i].clock);
    return all;
}

const cx_stream_clock *cx_stream_clock_of(int line)
{
    return &lines[line].clock;
}

const cx_stream_clock *cx_stream_clock_host(void)
{
    return &host;
}

cx_stream_clock_kept *cx_stream_clock_keep(const cx_stream_clock *clock)
{
    cx_stream_clock_kept *kept = malloc(sizeof *kept + line_count * sizeof *kept->pieces);
    if (kept == NULL) {
        cx_region_give_up();
        return NULL;
    }
    kept->count = line_count;
    for (unsigned i = 0; i < line_count; i++)
        kept->pieces[i] = clock->pieces[i];
    return kept;
}

cx_stream_clock_kept *cx_stream_clock_keep_both(const cx_stream_clock_kept *kept,
                                                const cx_stream_clock_kept *other)
{
    cx_stream_clock both = {0};
    if (kept == NULL)
        return NULL;
    join(&both, kept->pieces, kept->count);
    if (other != NULL)
        join(&both, other->pieces, other->count);
    return cx_stream_clock_keep(&both);
}

/* ---- lines ---- */

static bool same_key(const line_key *one, const line_key *other)
{
    return one->stream == other->stream && one->number == other->number &&
           one->context == other->context && one->thread == other->thread;
}

static bool is_default(CUstream stream)
{
    return stream == CXU_STREAM_LEGACY || stream == CXU_STREAM_PER_THREAD;
}

static line_key key_of_made(CUstream stream)
{
    const cx_object *made = cx_check_stream(stream);
    return (line_key){.stream = stream, .number = made != NULL ? made->number : 0};
}

static line_key key_of(cx_check_call *call, CUstream stream)
{
    line_key key = {.stream = cx_check_named(call, stream)};
    if (!is_default(key.stream))
        return key_of_made(stream);
    key.context = cx_check_context(call);
    key.thread = key.stream == CXU_STREAM_PER_THREAD ? call->thread->number : 0;
    return key;
}

/* All later work is ordered after the work of the line, and after all that this is ordered after.
 */
static order_line *evict_line(order_line *line)
{
    join_clock(&host, &line->clock);
    return line;
}

/* A line that nothing uses; else the one that was used least lately. */
static order_line *take_line(void)
{
    order_line *oldest = &lines[0];
    for (unsigned i = 0; i < line_count; i++) {
        if (!lines[i].used && host.pieces[i] >= lines[i].clock.pieces[i])
            return &lines[i];
        oldest = lines[i].used_at < oldest->used_at ? &lines[i] : oldest;
    }
    return line_count < CX_STREAM_CLOCK_LINES ? &lines[line_count++] : evict_line(oldest);
}

static int make_line(const line_key *key)
{
    order_line *line = take_line();
    const int index = (int)(line - lines);
    const uint64_t pieces = line->clock.pieces[index];
    const cx_object *made = cx_check_stream(key->stream);
    *line = (order_line){.key = *key,
                         .used = true,
                         .blocking = made == NULL || (made->flags & CXU_STREAM_NON_BLOCKING) == 0,
                         .context = made != NULL ? made->context : key->context};
    line->clock.pieces[index] = pieces;
    host.pieces[index] = pieces;
    join_clock(&line->clock, &awaited);
    return index;
}

static int find_line(const line_key *key)
{
    for (unsigned i = 0; i < line_count; i++)
        if (lines[i].used && same_key(&lines[i].key, key))
            return (int)i;
    return -1;
}

int cx_stream_clock_line(cx_check_call *call, CUstream stream)
{
    const line_key key = key_of(call, stream);
    int line = find_line(&key);
    if (line < 0)
        line = make_line(&key);
    lines[line].used_at = ++uses;
    return line;
}

cx_stream_clock_stream cx_stream_clock_stream_of(int line)
{
    const line_key *key = &lines[line].key;
    return (cx_stream_clock_stream){key->number, is_default(key->stream) ? key->thread : -1};
}

void cx_stream_clock_stream_text(cx_stream_clock_stream stream, char *text, size_t size)
{
    if (stream.number != 0)
        snprintf(text, size, "stream %u", (unsigned)stream.number);
    else if (stream.thread < 0)
        snprintf(text, size, "an unknown stream");
    else if (stream.thread > 0)
        snprintf(text, size, "the default stream of thread %d", stream.thread);
    else
        snprintf(text, size, "the legacy stream");
}

void cx_stream_clock_line_end(CUstream stream)
{
    const line_key key = key_of_made(stream);
    int line = find_line(&key);
    if (line >= 0)
        lines[line].used = false;
}

/* ---- order ---- */

static bool is_legacy(const order_line *line)
{
    return line->key.stream == CXU_STREAM_LEGACY;
}

void cx_stream_clock_reach(int index)
{
    order_line *line = &lines[index];
    join_clock(&line->clock, &host);
    if (!line->blocking)
        return;
    for (unsigned i = 0; i < line_count; i++) {
        const order_line *other = &lines[i];
        if (other->context == line->context && other->blocking &&
            (is_legacy(line) || is_legacy(other)))
            join_clock(&line->clock, &other->clock);
    }
}

uint64_t cx_stream_clock_count(int line)
{
    return lines[line].clock.pieces[line] += CX_STREAM_CLOCK_PARTS;
}

cx_stream_clock_kept *cx_stream_clock_keep_context(const cx_object *context)
{
    const cx_stream_clock all = clock_of_context(context);
    return cx_stream_clock_keep(&all);
}

void cx_stream_clock_wait(int line, const cx_stream_clock_kept *kept)
{
    if (kept != NULL)
        join(&lines[line].clock, kept->pieces, kept->count);
}

void cx_stream_clock_wait_context(const cx_object *context, const cx_stream_clock_kept *kept)
{
    if (kept != NULL)
        join(&awaited, kept->pieces, kept->count);
    for (unsigned i = 0; i < line_count; i++)
        if (is_of(&lines[i], context))
            cx_stream_clock_wait((int)i, kept);
}

void cx_stream_clock_host_wait(const cx_stream_clock_kept *kept)
{
    if (kept != NULL)
        join(&host, kept->pieces, kept->count);
}

void cx_stream_clock_wait_all(int line)
{
    const cx_stream_clock all = clock_of_context(NULL);
    join_clock(&lines[line].clock, &all);
}

void cx_stream_clock_host_wait_line(int line)
{
    join_clock(&host, &lines[line].clock);
}

void cx_stream_clock_host_wait_context(const cx_object *context)
{
    const cx_stream_clock all = clock_of_context(context);
    join_clock(&host, &all);
}

void cx_stream_clock_host_wait_all(void)
{
    const cx_stream_clock all = clock_of_context(NULL);
    join_clock(&host, &all);
}

/* ---- captures ---- */

uint64_t cx_stream_clock_capture(int line)
{
    return lines[line].capture;
}

void cx_stream_clock_set_capture(int line, uint64_t capture)
{
    lines[line].capture = capture;
}

void cx_stream_clock_end_capture(uint64_t capture)
{
    for (unsigned i = 0; i < line_count; i++)
        if (lines[i].capture == capture)
            lines[i].capture = 0;
}
