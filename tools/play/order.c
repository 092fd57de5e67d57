#include "play/order.h"

#include "play/print.h"
#include "play/stacks.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define WORK_MAX 1024 /* work items that are followed; later ones are not explained */
#define WORDS (WORK_MAX / 64)
#define THINGS_MAX 512
#define STEP_TEXT 256

/* A set of work items. */
typedef struct set {
    uint64_t words[WORDS];
} set;

typedef struct range {
    uint64_t first, bytes; /* no bytes: nothing */
} range;

typedef struct work {
    const cx_line *line;
    int stream; /* index */
    range writes, reads;
    set before;                 /* done before it begins, under any schedule */
    const cx_line *overwritten; /* host memory that it reads was changed before it was waited for */
} work;

typedef struct stream {
    uint64_t handle, context; /* legacy: handle 0 */
    bool blocking;
    set waits; /* from events that it waited for */
} stream;

typedef struct event {
    uint64_t handle;
    set behind;
} event;

struct cx_order {
    work works[WORK_MAX];
    stream streams[THINGS_MAX];
    event events[THINGS_MAX];
    int work_count, stream_count, event_count;
    bool lost; /* there was no room: the record is incomplete */
    set known; /* waited for by the host */
};

/* ---- sets ---- */

static bool set_has(const set *in, int index)
{
    return (in->words[index / 64] >> index % 64 & 1) != 0;
}

static void set_add(set *to, int index)
{
    to->words[index / 64] |= UINT64_C(1) << index % 64;
}

static void set_join(set *to, const set *more)
{
    for (int i = 0; i < WORDS; i++)
        to->words[i] |= more->words[i];
}

static void add_with_before(set *to, const cx_order *self, int index)
{
    set_add(to, index);
    set_join(to, &self->works[index].before);
}

/* ---- streams and events ---- */

cx_order *cx_order_create(void)
{
    return calloc(1, sizeof(cx_order));
}

static int add_stream(cx_order *self, uint64_t handle, uint64_t context, bool blocking)
{
    if (self->stream_count == THINGS_MAX) {
        self->lost = true;
        return 0;
    }
    self->streams[self->stream_count] =
        (stream){.handle = handle, .context = context, .blocking = blocking};
    return self->stream_count++;
}

/* Searches the youngest first, since handles are reused. The default streams are made when they are
 * first named. */
static int find_stream(cx_order *self, uint64_t handle, uint64_t current)
{
    bool is_default = handle <= 2;
    if (handle == (uint64_t)(uintptr_t)CXU_STREAM_LEGACY)
        handle = 0;
    for (int i = self->stream_count - 1; i >= 0; i--)
        if (self->streams[i].handle == handle &&
            (!is_default || self->streams[i].context == current))
            return i;
    return add_stream(self, handle, current, true);
}

static event *find_event(cx_order *self, uint64_t handle)
{
    for (int i = 0; i < self->event_count; i++)
        if (self->events[i].handle == handle)
            return &self->events[i];
    if (self->event_count == THINGS_MAX) {
        self->lost = true;
        return &self->events[0];
    }
    self->events[self->event_count].handle = handle;
    return &self->events[self->event_count++];
}

static bool in_context(const cx_order *self, int index, uint64_t context)
{
    return self->streams[self->works[index].stream].context == context;
}

/* True if work in one stream comes before later work in another without an event: rule T11. */
static bool is_ordered(const cx_order *self, int earlier, int later)
{
    const stream *a = &self->streams[earlier], *b = &self->streams[later];
    bool legacy = (a->handle == 0 && b->blocking) || (b->handle == 0 && a->blocking);
    return earlier == later || (legacy && a->context == b->context);
}

/* All work that is done once the present work of a stream is. */
static set behind_stream(const cx_order *self, int index)
{
    set behind = self->known;
    for (int i = 0; i < self->work_count; i++)
        if (is_ordered(self, self->works[i].stream, index))
            add_with_before(&behind, self, i);
    set_join(&behind, &self->streams[index].waits);
    return behind;
}

static set behind_context(const cx_order *self, uint64_t context)
{
    set behind = self->known;
    for (int i = 0; i < self->work_count; i++)
        if (in_context(self, i, context))
            add_with_before(&behind, self, i);
    return behind;
}

/* ---- memory ---- */

static bool ranges_overlap(range a, range b)
{
    return a.bytes != 0 && b.bytes != 0 && a.first < b.first + b.bytes &&
           b.first < a.first + a.bytes;
}

static uint64_t bytes_of(const cx_call *call)
{
    const cx_operand_rule *rules = call->line->step.verb->operands;
    for (int i = 0; rules[i].role != CX_ROLE_NONE; i++)
        if (strcmp(rules[i].name, "bytes") == 0)
            return call->in[i].size;
        else if (strcmp(rules[i].name, "count") == 0)
            return call->in[i].size * 4;
    return 0;
}

static range range_of(const cx_call *call, const char *operand)
{
    const cx_operand_rule *rules = call->line->step.verb->operands;
    for (int i = 0; rules[i].role != CX_ROLE_NONE; i++)
        if (strcmp(rules[i].name, operand) == 0)
            return (range){call->in[i].bits, bytes_of(call)};
    return (range){0, 0};
}

/* ---- effects of steps ---- */

static int stream_of(cx_order *self, const cx_call *call, uint64_t current)
{
    const cx_operand_rule *rules = call->line->step.verb->operands;
    for (int i = 0; rules[i].role != CX_ROLE_NONE; i++)
        if (rules[i].kind == CX_KIND_STREAM && rules[i].role == CX_ROLE_USE)
            return find_stream(self, call->in[i].bits, current);
    return find_stream(self, 0, current);
}

static int submit_work(cx_order *self, const cx_call *call, uint64_t current)
{
    if (self->work_count == WORK_MAX) {
        self->lost = true;
        return WORK_MAX - 1;
    }
    int in = stream_of(self, call, current);
    work *added = &self->works[self->work_count];
    *added = (work){.line = call->line,
                    .stream = in,
                    .writes = range_of(call, "to"),
                    .reads = range_of(call, "from"),
                    .before = behind_stream(self, in)};
    return self->work_count++;
}

static void submit_and_wait(cx_order *self, const cx_call *call, uint64_t current)
{
    add_with_before(&self->known, self, submit_work(self, call, current));
}

static void free_memory(cx_order *self, const cx_call *call)
{
    range freed = {call->in[0].bits, 1};
    for (int i = 0; i < self->work_count; i++)
        if (ranges_overlap(self->works[i].writes, freed) ||
            ranges_overlap(self->works[i].reads, freed))
            add_with_before(&self->known, self, i);
}

static void fill_on_host(cx_order *self, const cx_call *call)
{
    range filled = {call->in[0].bits, call->in[2].size};
    for (int i = 0; i < self->work_count; i++)
        if (ranges_overlap(self->works[i].reads, filled) && !set_has(&self->known, i))
            self->works[i].overwritten = call->line;
}

static void wait_function(cx_order *self, const cx_call *call)
{
    const cx_function *function = call->in[0].host;
    for (int i = 0; i < self->work_count; i++)
        if (function != NULL && self->works[i].line == function->line)
            add_with_before(&self->known, self, i);
}

static void wait_in_context(cx_order *self, uint64_t context, const event *behind)
{
    find_stream(self, 0, context);
    for (int i = 0; i < self->stream_count; i++)
        if (self->streams[i].context == context)
            set_join(&self->streams[i].waits, &behind->behind);
}

/* Follows calls that synchronise, events, and calls that create streams; true if it was one of
 * them. */
static bool take_order(cx_order *self, const cx_call *call, uint64_t current)
{
    const cx_cell *in = call->in;
    set behind;
    switch (cx_verb_number(call->line->step.verb)) {
    case CX_VERB_stream_create:
        add_stream(self, call->out[0].bits, current, (in[1].flags & CXU_STREAM_NON_BLOCKING) == 0);
        return true;
    case CX_VERB_stream_create_priority:
        add_stream(self, call->out[0].bits, current, (in[2].flags & CXU_STREAM_NON_BLOCKING) == 0);
        return true;
    case CX_VERB_stream_sync:
    case CX_VERB_stream_query:
        behind = behind_stream(self, find_stream(self, in[0].bits, current));
        set_join(&self->known, &behind);
        return true;
    case CX_VERB_stream_wait:
        set_join(&self->streams[find_stream(self, in[0].bits, current)].waits,
                 &find_event(self, in[1].bits)->behind);
        return true;
    case CX_VERB_event_record:
    case CX_VERB_event_record_flags:
        find_event(self, in[0].bits)->behind =
            behind_stream(self, find_stream(self, in[1].bits, current));
        return true;
    case CX_VERB_event_sync:
    case CX_VERB_event_query:
        set_join(&self->known, &find_event(self, in[0].bits)->behind);
        return true;
    case CX_VERB_ctx_record:
        find_event(self, in[1].bits)->behind = behind_context(self, in[0].bits);
        return true;
    case CX_VERB_ctx_wait:
        wait_in_context(self, in[0].bits, find_event(self, in[1].bits));
        return true;
    case CX_VERB_ctx_sync:
    case CX_VERB_ctx_sync_of:
        behind = behind_context(self, call->line->step.verb == &cx_verbs[CX_VERB_ctx_sync] ||
                                              in[0].bits == 0
                                          ? current
                                          : in[0].bits);
        set_join(&self->known, &behind);
        return true;
    case CX_VERB_capture_begin:
    case CX_VERB_graph_launch:
        self->lost = true; /* captured work is not done, and launches are not followed */
        return true;
    case CX_VERB_ctx_destroy:
        behind = behind_context(self, in[0].bits);
        set_join(&self->known, &behind);
        return true;
    default:
        return false;
    }
}

static void take_work(cx_order *self, const cx_call *call, uint64_t current)
{
    switch (cx_verb_number(call->line->step.verb)) {
    case CX_VERB_copy:
    case CX_VERB_copy_htod:
    case CX_VERB_copy_dtoh:
        submit_and_wait(self, call, current);
        break;
    case CX_VERB_copy_dtod:
    case CX_VERB_copy_peer:
    case CX_VERB_copy_async:
    case CX_VERB_copy_htod_async:
    case CX_VERB_copy_dtoh_async:
    case CX_VERB_copy_dtod_async:
    case CX_VERB_copy_peer_async:
    case CX_VERB_mem_fill:
    case CX_VERB_mem_fill16:
    case CX_VERB_mem_fill32:
    case CX_VERB_mem_fill16_async:
    case CX_VERB_mem_fill32_async:
    case CX_VERB_mem_fill_async:
    case CX_VERB_stream_host:
    case CX_VERB_stream_callback:
    case CX_VERB_kernel_launch:
    case CX_VERB_kernel_launch_together:
    case CX_VERB_kernel_launch_buffer:
        submit_work(self, call, current);
        break;
    case CX_VERB_mem_free:
    case CX_VERB_host_free:
        free_memory(self, call);
        break;
    case CX_VERB_host_fill:
        fill_on_host(self, call);
        break;
    case CX_VERB_function_wait:
        wait_function(self, call);
        break;
    default:
        break;
    }
}

/* ---- explaining ---- */

__attribute__((format(printf, 2, 3))) static void say(cx_tape *tape, const char *format, ...)
{
    size_t length = strlen(tape->explanation);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(tape->explanation + length, sizeof tape->explanation - length, format, arguments);
    va_end(arguments);
}

static void say_step(cx_tape *tape, const cx_line *line)
{
    char text[STEP_TEXT];
    cx_step bare = line->step;
    bare.outcomes = NULL;
    cx_step_print(&bare, text, sizeof text);
    say(tape, "line %d (%s)", line->number, text);
}

/* The youngest item below `limit` that writes some of the range; -1: none. */
static int last_writer(const cx_order *self, range place, int limit)
{
    for (int i = limit - 1; i >= 0; i--)
        if (ranges_overlap(self->works[i].writes, place))
            return i;
    return -1;
}

static const char *stream_name(const cx_player *player, const stream *of)
{
    const char *name =
        cx_value_name(&player->values, CX_KIND_STREAM, (cx_cell){.bits = of->handle});
    return of->handle == 0 ? "the legacy stream" : name != NULL ? name : "a stream without a name";
}

/* Reports that the host has waited for nothing behind this item. */
static void say_not_waited_for(const cx_order *self, cx_player *player, int index)
{
    const stream *in = &self->streams[self->works[index].stream];
    cx_tape *tape = player->tape;
    say(tape, "    why       ");
    say_step(tape, self->works[index].line);
    say(tape,
        " writes it, and was never waited for:\n"
        "              no step behind it synchronises %s, its context, or an event recorded "
        "behind it\n",
        stream_name(player, in));
}

static void say_not_ordered(const cx_order *self, cx_player *player, int writer,
                            const cx_line *reader)
{
    cx_tape *tape = player->tape;
    say(tape, "    why       ");
    say_step(tape, self->works[writer].line);
    say(tape, " writes in %s what ",
        stream_name(player, &self->streams[self->works[writer].stream]));
    say_step(tape, reader);
    say(tape, " reads,\n              and nothing makes the second wait for the first\n");
}

static void say_overwritten(const cx_order *self, cx_tape *tape, int reader)
{
    say(tape, "    why       ");
    say_step(tape, self->works[reader].overwritten);
    say(tape, " changes memory that ");
    say_step(tape, self->works[reader].line);
    say(tape, " reads,\n              and that one was not waited for before\n");
}

/* Follows the data back to its source, as long as each step was waited for. */
static void explain_memory(const cx_order *self, cx_player *player, range place, const set *known,
                           const cx_line *reader)
{
    int limit = self->work_count;
    for (;;) {
        int writer = last_writer(self, place, limit);
        if (writer < 0)
            return;
        const work *found = &self->works[writer];
        if (!set_has(known, writer)) {
            if (known == &self->known)
                say_not_waited_for(self, player, writer);
            else
                say_not_ordered(self, player, writer, reader);
            return;
        }
        if (found->overwritten != NULL) {
            say_overwritten(self, player->tape, writer);
            return;
        }
        place = (range){found->reads.first, found->reads.bytes};
        known = &found->before;
        reader = found->line;
        limit = writer;
    }
}

static void explain_difference(cx_order *self, cx_player *player, const cx_call *call,
                               uint64_t current)
{
    range place = {call->in[0].bits + call->out[0].size, 1};
    set behind = self->known;
    bool on_device = call->line->step.verb == &cx_verbs[CX_VERB_mem_expect];
    if (self->lost || player->tape->explanation[0] != '\0')
        return;
    if (on_device) {
        behind = behind_stream(self, find_stream(self, 0, current));
        explain_memory(self, player, place, &behind, call->line);
    } else {
        explain_memory(self, player, place, &self->known, call->line);
    }
}

void cx_order_step(cx_order *self, cx_player *player, const cx_call *call)
{
    uint64_t current = cx_stacks_current(&player->stacks, call->line->step.thread).bits;
    const cx_came *came = &player->tape->came[call->line->index];
    bool on_device = call->line->step.verb == &cx_verbs[CX_VERB_mem_expect];
    if (call->result == CX_PLAY_DIFFERS && !came->matched)
        explain_difference(self, player, call, current);
    if (call->result != CXU_SUCCESS)
        return;
    if (on_device) {
        set behind = behind_stream(self, find_stream(self, 0, current));
        set_join(&self->known, &behind);
    } else if (!take_order(self, call, current)) {
        take_work(self, call, current);
    }
}

/* ---- pending work ---- */

void cx_order_pending(const cx_order *self, cx_order_visit *visit, void *argument)
{
    for (int i = 0; i < self->work_count; i++) {
        const stream *in = &self->streams[self->works[i].stream];
        if (!set_has(&self->known, i))
            visit(self->works[i].line, (cx_cell){.bits = in->handle},
                  (cx_cell){.bits = in->context}, argument);
    }
}

bool cx_order_event_pending(const cx_order *self, cx_cell cell)
{
    for (int i = 0; i < self->event_count; i++)
        for (int j = 0; self->events[i].handle == cell.bits && j < self->work_count; j++)
            if (set_has(&self->events[i].behind, j) && !set_has(&self->known, j))
                return true;
    return false;
}

bool cx_order_is_lost(const cx_order *self)
{
    return self->lost;
}
