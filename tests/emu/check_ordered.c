/*
 * Random programs without races, under every schedule: what comes out is what their text says. The
 * test keeps a clock of its own for what is ordered with what (streams, T11, events, waits), shares
 * no code with the driver, and adds an event wherever two operations would race. So an order that
 * the driver forgets shows as wrong bytes.
 */
#include "work_fixture.h"

#include "emu/base/state.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONTEXTS 2
#define STREAMS 5 /* of each context: legacy, per-thread, two blocking ones, a free one */
#define LANES (CONTEXTS * STREAMS)
#define BUFFERS 8
#define WORDS 64
#define STEPS 120
#define PROGRAMS 40

typedef struct vector {
    int seen[LANES]; /* how much of each stream is known to be done */
} vector;

typedef struct lane {
    CUstream stream;
    int context;
    bool legacy, blocking;
    int length; /* operations so far */
    vector now; /* what is done when its last operation is done */
} lane;

typedef struct use {
    int lane, at; /* at 0: none yet */
} use;

typedef struct buffer {
    bool pinned;
    CUdeviceptr address;
    uint32_t value; /* of each word, by the text of the program */
    use writer, readers[LANES];
} buffer;

typedef struct program {
    unsigned int seed;
    CUcontext contexts[CONTEXTS];
    lane lanes[LANES];
    buffer buffers[BUFFERS];
    vector host; /* what the program has waited for */
    int races;   /* that an event prevented */
} program;

static int pick(program *self, int count)
{
    return (int)((unsigned int)rand_r(&self->seed) >> 4) % count;
}

/* ---- clocks ---- */

static void join(vector *to, const vector *from)
{
    for (int i = 0; i < LANES; i++)
        if (from->seen[i] > to->seen[i])
            to->seen[i] = from->seen[i];
}

/* T11: what a new operation of the lane comes behind. */
static vector clock_of(const program *self, int index)
{
    const lane *own = &self->lanes[index];
    vector result = own->now;

    join(&result, &self->host);
    for (int i = 0; i < LANES; i++) {
        const lane *other = &self->lanes[i];

        if (other->context != own->context || i == index)
            continue;
        if ((own->legacy && other->blocking) || (other->legacy && own->blocking))
            join(&result, &other->now);
    }
    return result;
}

static use advance(program *self, int index, vector known)
{
    lane *own = &self->lanes[index];

    own->now = known;
    own->now.seen[index] = ++own->length;
    return (use){index, own->length};
}

/* ---- what the program does ---- */

static void enter(program *self, int context)
{
    ck_success(cx_emu_call_ctx_set_current(self->contexts[context]));
}

static void wait_for_lane(program *self, int index, int other, vector *known)
{
    CUevent event;

    enter(self, self->lanes[other].context);
    event = make_event();
    /* The record is an operation of its own, which in the legacy stream comes behind others. */
    advance(self, other, clock_of(self, other));
    ck_success(cx_emu_call_event_record(event, self->lanes[other].stream));
    join(known, &self->lanes[other].now);
    enter(self, self->lanes[index].context);
    ck_success(cx_emu_call_stream_wait_event(self->lanes[index].stream, event, 0));
    ck_success(cx_emu_call_event_destroy(event));
    self->races++;
}

static void come_behind(program *self, int index, use before, vector *known)
{
    if (before.at > known->seen[before.lane])
        wait_for_lane(self, index, before.lane, known);
    /* The wait is an operation as well, and its own lane may have moved on meanwhile. */
    vector again = clock_of(self, index);
    join(known, &again);
}

static void begin_read(program *self, int index, buffer *from, vector *known)
{
    come_behind(self, index, from->writer, known);
}

static void begin_write(program *self, int index, buffer *to, vector *known)
{
    come_behind(self, index, to->writer, known);
    for (int i = 0; i < LANES; i++)
        come_behind(self, index, to->readers[i], known);
}

static void end_write(buffer *to, use done, uint32_t value)
{
    to->writer = done;
    memset(to->readers, 0, sizeof to->readers);
    to->value = value;
}

static void fill(program *self, int index, buffer *to)
{
    uint32_t value = (uint32_t)rand_r(&self->seed);
    vector known = clock_of(self, index);

    begin_write(self, index, to, &known);
    enter(self, self->lanes[index].context);
    ck_success(cx_emu_call_memset_d32_async(to->address, value, WORDS, self->lanes[index].stream));
    end_write(to, advance(self, index, known), value);
}

static void copy(program *self, int index, buffer *to, buffer *from)
{
    vector known = clock_of(self, index);
    use done;

    if (to == from)
        return;
    begin_read(self, index, from, &known);
    begin_write(self, index, to, &known);
    enter(self, self->lanes[index].context);
    ck_success(cx_emu_call_memcpy_unified_async(to->address, from->address, WORDS * 4,
                                                self->lanes[index].stream));
    done = advance(self, index, known);
    from->readers[index] = done;
    end_write(to, done, from->value);
}

static void scramble(void *words)
{
    for (int i = 0; i < WORDS; i++)
        ((uint32_t *)words)[i] = ((uint32_t *)words)[i] * 31 + 7;
}

static void call_host(program *self, int index, buffer *to)
{
    vector known = clock_of(self, index);

    begin_write(self, index, to, &known);
    enter(self, self->lanes[index].context);
    ck_success(cx_emu_call_launch_host_func(self->lanes[index].stream, scramble,
                                            (void *)(uintptr_t)to->address));
    end_write(to, advance(self, index, known), to->value * 31 + 7);
}

static void synchronize(program *self, int index)
{
    vector known = clock_of(self, index);

    enter(self, self->lanes[index].context);
    ck_success(cx_emu_call_stream_synchronize(self->lanes[index].stream));
    join(&self->host, self->lanes[index].legacy ? &known : &self->lanes[index].now);
}

static void look(program *self, int index)
{
    cxu_result result;

    enter(self, self->lanes[index].context);
    result = cx_emu_call_stream_query(self->lanes[index].stream);
    ck_assert(result == CXU_SUCCESS || result == CXU_NOT_READY);
}

static void step(program *self)
{
    int index = pick(self, LANES);
    buffer *to = &self->buffers[pick(self, BUFFERS)], *from = &self->buffers[pick(self, BUFFERS)];

    switch (pick(self, 12)) {
    case 0:
        synchronize(self, index);
        break;
    case 1:
        look(self, index);
        break;
    case 2:
    case 3:
    case 4:
        fill(self, index, to);
        break;
    case 5:
    case 6:
        if (to->pinned)
            call_host(self, index, to);
        break;
    default:
        copy(self, index, to, from);
    }
}

/* ---- life ---- */

static void make_lanes(program *self, int context)
{
    lane *lanes = &self->lanes[context * STREAMS];

    for (int i = 0; i < STREAMS; i++)
        lanes[i] = (lane){.context = context, .blocking = i > 0 && i < STREAMS - 1};
    lanes[0].legacy = true;
    lanes[0].stream = CXU_STREAM_LEGACY;
    lanes[1].stream = CXU_STREAM_PER_THREAD;
    lanes[2].stream = make_stream(CXU_STREAM_DEFAULT);
    lanes[3].stream = make_stream(CXU_STREAM_DEFAULT);
    lanes[4].stream = make_stream(CXU_STREAM_NON_BLOCKING);
}

/* A fill needs access to memory of another context. */
static void open_to_peers(program *self)
{
    for (int i = 0; i < CONTEXTS; i++) {
        enter(self, i);
        for (int peer = 0; peer < CONTEXTS; peer++)
            if (peer != i)
                ck_success(cx_emu_call_ctx_enable_peer_access(self->contexts[peer], 0));
    }
}

static void start(program *self, unsigned int seed)
{
    *self = (program){.seed = seed};
    for (int i = 0; i < CONTEXTS; i++) {
        ck_success(cx_emu_call_ctx_create_v4(&self->contexts[i], NULL, 0, i));
        make_lanes(self, i);
        if (i > 0)
            ck_success(cx_emu_call_ctx_pop(NULL));
    }
    open_to_peers(self);
    for (int i = 0; i < BUFFERS; i++) {
        buffer *one = &self->buffers[i];
        void *pinned;

        enter(self, i % CONTEXTS);
        one->pinned = i % 4 == 0;
        if (one->pinned) {
            ck_success(cx_emu_call_mem_alloc_host(&pinned, WORDS * 4));
            one->address = (uintptr_t)pinned;
        } else {
            one->address = make_memory(WORDS * 4);
        }
        ck_success(cx_emu_call_memset_d32(one->address, (uint32_t)i, WORDS));
        ck_success(cx_emu_call_ctx_synchronize());
        one->value = (uint32_t)i;
    }
}

static void ck_values(program *self)
{
    for (int i = 0; i < CONTEXTS; i++)
        ck_success(cx_emu_call_ctx_synchronize_v2(self->contexts[i]));
    for (int i = 0; i < BUFFERS; i++) {
        uint32_t out[WORDS];

        read_device(out, self->buffers[i].address, sizeof out);
        for (int word = 0; word < WORDS; word++)
            ck_assert_uint_eq(out[word], self->buffers[i].value);
    }
}

static void stop(program *self)
{
    for (int i = 0; i < CONTEXTS; i++)
        ck_success(cx_emu_call_ctx_destroy(self->contexts[i]));
    ck_success(cx_emu_call_ctx_set_current(NULL));
}

static const char *const schedules[] = {"threads",  "lazy",     "random:1", "random:2",
                                        "random:3", "random:4", "random:5"};

START_TEST(programs_without_races_give_what_their_text_says)
{
    const cx_emu_config config = {
        .gpus = CONTEXTS, .gpu_memory_bytes = (size_t)64 << 20, .driver_version = 13000};
    static program self;
    int races = 0;

    ck_assert_int_eq(setenv("CTXRT_EMU_SCHEDULE", schedules[_i], 1), 0);
    ck_assert(cx_emu_configure(&config));
    ck_success(cx_emu_call_init(0));
    for (unsigned int seed = 1; seed <= PROGRAMS; seed++) {
        start(&self, seed);
        for (int i = 0; i < STEPS; i++)
            step(&self);
        ck_values(&self);
        stop(&self);
        races += self.races;
    }
    ck_assert_int_gt(races, PROGRAMS); /* else nothing was tried */
}
END_TEST

static Suite *ordered_suite(void)
{
    Suite *suite = suite_create("ordered");
    TCase *tcase = tcase_create("ordered");

    tcase_add_loop_test(tcase, programs_without_races_give_what_their_text_says, 0,
                        (int)(sizeof schedules / sizeof schedules[0]));
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(ordered_suite);
