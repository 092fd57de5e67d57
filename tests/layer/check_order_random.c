/*
 * Random programs of fills, copies, events, waits and graphs: the layer check finds the first race
 * at the call that makes it, as a model does that keeps all work and what each is ordered after.
 */
#include "layer/ordering.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    STREAMS = 4,
    EVENTS = 3,
    BUFFERS = 5,
    GRAPHS = 3,
    NODES = 7,
    STEPS = 60,
    WORKS = 640, /* STEPS launches of NODES, and the one that makes the race */
    PIECE = 32   /* bytes of a buffer */
};

/* ---- the model: all work, and what comes before it ---- */

typedef struct set {
    uint64_t bits[WORKS / 64];
} set;

typedef struct work {
    set before;
    unsigned reads, writes; /* bits of buffers */
} work;

static work works[WORKS];
static struct model {
    int work_count;
    bool is_exact; /* the layer knows as much */
    set of_stream[STREAMS], of_event[EVENTS], of_exec[GRAPHS], of_host;
} model = {.is_exact = true};

static void join(set *to, const set *from)
{
    for (int i = 0; i < WORKS / 64; i++)
        to->bits[i] |= from->bits[i];
}

static void put(set *to, int index)
{
    to->bits[index / 64] |= (uint64_t)1 << index % 64;
}

static bool has(const set *all, int index)
{
    return (all->bits[index / 64] >> index % 64 & 1) != 0;
}

static bool touch_alike(const work *one, const work *other)
{
    return (one->writes & (other->reads | other->writes)) != 0 || (one->reads & other->writes) != 0;
}

/* True if it races with earlier work. */
static bool add_work(const set *before, unsigned reads, unsigned writes)
{
    work *added = &works[model.work_count];
    *added = (work){*before, reads, writes};
    bool races = false;
    for (int i = 0; i < model.work_count; i++)
        races |= touch_alike(&works[i], added) && !has(before, i);
    model.work_count++;
    return races;
}

/* ---- graphs ---- */

typedef enum of_node { FILL, COPY, EMPTY, RECORD, WAIT, HOST, NODE_TYPES } of_node;

typedef struct node {
    of_node type;
    int to, from, event;
    unsigned after; /* bits of earlier nodes */
} node;

typedef struct recipe {
    CUgraphExec exec;
    node nodes[NODES];
    int count;
    bool is_exact; /* the layer knows for each node what it comes after */
} recipe;

static recipe recipes[GRAPHS];
static CUstream streams[STREAMS];
static CUevent events[EVENTS];

static int any(int count)
{
    return rand() % count;
}

static CUdeviceptr buffer(int index)
{
    return memory + (CUdeviceptr)index * PIECE;
}

static void nothing(void *argument)
{
    (void)argument;
}

static CUgraphNode add_node(CUgraph graph, const node *what, const CUgraphNode *after, size_t count)
{
    const cxu_memset_node_params fill = {
        .destination = buffer(what->to), .element_bytes = 1, .width = PIECE, .height = 1};
    const cxu_memcpy_3d copy = {.source_type = CXU_MEMORYTYPE_DEVICE,
                                .source_device = buffer(what->from),
                                .destination_type = CXU_MEMORYTYPE_DEVICE,
                                .destination_device = buffer(what->to),
                                .width_bytes = PIECE,
                                .height = 1,
                                .depth = 1};
    const cxu_host_node_params host = {.function = nothing};
    CUgraphNode made = NULL;
    switch (what->type) {
    case FILL:
        GOOD(table.graph_add_memset_node(&made, graph, after, count, &fill, here));
        break;
    case COPY:
        GOOD(table.graph_add_memcpy_node(&made, graph, after, count, &copy, here));
        break;
    case RECORD:
        GOOD(table.graph_add_event_record_node(&made, graph, after, count, events[what->event]));
        break;
    case WAIT:
        GOOD(table.graph_add_event_wait_node(&made, graph, after, count, events[what->event]));
        break;
    case HOST:
        GOOD(table.graph_add_host_node(&made, graph, after, count, &host));
        break;
    default:
        GOOD(table.graph_add_empty_node(&made, graph, after, count));
    }
    return made;
}

/* At most one node records an event or calls the program, in graphs that are judged exactly. */
static node any_node(int index, int *signals, int *waits)
{
    node what = {.to = any(BUFFERS), .from = any(BUFFERS), .event = any(EVENTS)};
    what.type = (of_node)any(any(2) > 0 ? 2 : NODE_TYPES);
    if (what.from == what.to)
        what.from = (what.to + 1) % BUFFERS;
    *signals += what.type == RECORD || what.type == HOST ? 1 : 0;
    *waits += what.type == WAIT;
    for (int i = 0; i < index; i++)
        what.after |= any(3) == 0 ? 1u << i : 0;
    return what;
}

/* Without a race in itself more often than not: nodes mostly come one after the other. */
static void make_graph(recipe *out)
{
    CUgraph graph;
    CUgraphNode made[NODES];
    int signals = 0, waits = 0;
    GOOD(table.graph_create(&graph, 0));
    out->count = 2 + any(NODES - 1);
    for (int i = 0; i < out->count; i++) {
        CUgraphNode after[NODES];
        size_t count = 0;
        out->nodes[i] = any_node(i, &signals, &waits);
        if (i > 0 && any(5) > 0)
            out->nodes[i].after |= 1u << (i - 1);
        for (int k = 0; k < i; k++)
            if ((out->nodes[i].after >> k & 1) != 0)
                after[count++] = made[k];
        made[i] = add_node(graph, &out->nodes[i], after, count);
    }
    out->is_exact = signals == 0 || (signals == 1 && waits == 0);
    GOOD(table.graph_instantiate_with_flags(&out->exec, graph, 0));
    GOOD(table.graph_destroy(graph));
}

/* ---- steps ---- */

typedef enum of_step {
    FILLS,
    COPIES,
    LAUNCHES,
    RECORDS,
    WAITS,
    AWAITS_EVENT,
    AWAITS_STREAM
} of_step;

typedef struct step {
    of_step type;
    int stream, event, to, from, graph;
} step;

static step any_step(void)
{
    static const of_step types[] = {FILLS, COPIES, LAUNCHES,     LAUNCHES,     RECORDS,
                                    WAITS, WAITS,  AWAITS_EVENT, AWAITS_STREAM};
    step chosen = {.type = types[any(9)],
                   .stream = any(STREAMS),
                   .event = any(EVENTS),
                   .to = any(BUFFERS),
                   .graph = any(GRAPHS)};
    chosen.from = (chosen.to + 1 + any(BUFFERS - 1)) % BUFFERS;
    return chosen;
}

static void drive(const step *now)
{
    const CUstream stream = streams[now->stream];
    switch (now->type) {
    case FILLS:
        GOOD(table.memset_d8_async(buffer(now->to), 1, PIECE, stream));
        break;
    case COPIES:
        GOOD(table.memcpy_dtod_async(buffer(now->to), buffer(now->from), PIECE, stream));
        break;
    case LAUNCHES:
        GOOD(table.graph_launch(recipes[now->graph].exec, stream));
        break;
    case RECORDS:
        GOOD(table.event_record(events[now->event], stream));
        break;
    case WAITS:
        GOOD(table.stream_wait_event(stream, events[now->event], 0));
        break;
    case AWAITS_EVENT:
        GOOD(table.event_synchronize(events[now->event]));
        break;
    case AWAITS_STREAM:
        GOOD(table.stream_synchronize(stream));
        break;
    }
}

/* ---- what the model makes of them; true: a race ---- */

static bool model_move(const step *now)
{
    set before = model.of_stream[now->stream];
    join(&before, &model.of_host);
    const bool races = add_work(&before, now->type == COPIES ? 1u << now->from : 0, 1u << now->to);
    put(&before, model.work_count - 1);
    model.of_stream[now->stream] = before;
    return races;
}

static bool add_node_work(const node *what, const set *before)
{
    const bool moves = what->type == FILL || what->type == COPY;
    return add_work(before, what->type == COPY ? 1u << what->from : 0, moves ? 1u << what->to : 0);
}

/* All that the node comes after. */
static set before_node(const recipe *graph, int index, const set *base, const set *waited)
{
    const node *what = &graph->nodes[index];
    const int first_work = model.work_count - index;
    set before = *base;
    for (int i = 0; i < index; i++)
        if ((what->after >> i & 1) != 0) {
            join(&before, &works[first_work + i].before);
            put(&before, first_work + i);
        }
    if (what->type == WAIT)
        join(&before, &waited[what->event]);
    return before;
}

static bool model_launch(const step *now)
{
    const recipe *graph = &recipes[now->graph];
    const set waited[EVENTS] = {model.of_event[0], model.of_event[1], model.of_event[2]};
    set base = model.of_stream[now->stream], all;
    bool races = false;
    join(&base, &model.of_host);
    join(&base, &model.of_exec[now->graph]);
    all = base;
    for (int i = 0; i < graph->count; i++) {
        const node *what = &graph->nodes[i];
        const set before = before_node(graph, i, &base, waited);
        races |= add_node_work(what, &before);
        if (what->type == RECORD)
            model.of_event[what->event] = before;
        if (what->type == HOST)
            join(&model.of_host, &before);
        join(&all, &before);
        put(&all, model.work_count - 1);
    }
    model.of_stream[now->stream] = model.of_exec[now->graph] = all;
    model.is_exact &= graph->is_exact;
    return races;
}

static bool model_step(const step *now)
{
    switch (now->type) {
    case FILLS:
    case COPIES:
        return model_move(now);
    case LAUNCHES:
        return model_launch(now);
    case RECORDS:
        model.of_event[now->event] = model.of_stream[now->stream];
        join(&model.of_event[now->event], &model.of_host);
        break;
    case WAITS:
        join(&model.of_stream[now->stream], &model.of_event[now->event]);
        break;
    case AWAITS_EVENT:
        join(&model.of_host, &model.of_event[now->event]);
        break;
    case AWAITS_STREAM:
        join(&model.of_host, &model.of_stream[now->stream]);
        break;
    }
    return false;
}

/* Mostly one without a race, so that programs come far. */
static step choose_step(bool *out_races)
{
    for (;;) {
        const step chosen = any_step();
        const struct model before = model;
        *out_races = model_step(&chosen);
        if (!*out_races || any(40) == 0)
            return chosen;
        model = before;
    }
}

START_TEST(the_first_race_of_a_random_program_is_found_where_it_is_made)
{
    char schedule[24];
    if (_i % 2 == 0)
        snprintf(schedule, sizeof schedule, "lazy");
    else
        snprintf(schedule, sizeof schedule, "random:%d", _i);
    ck_assert_int_eq(setenv("CTXRT_EMU_SCHEDULE", schedule, 1), 0);
    srand((unsigned)_i);
    set_up();
    for (int i = 0; i < STREAMS; i++)
        GOOD(table.stream_create(&streams[i], CXU_STREAM_NON_BLOCKING));
    for (int i = 0; i < EVENTS; i++)
        GOOD(table.event_create(&events[i], 0));
    for (int i = 0; i < GRAPHS; i++)
        make_graph(&recipes[i]);
    for (int i = 0; i < STEPS; i++) {
        bool races;
        const step now = choose_step(&races);
        drive(&now);
        if (found_at_all() > 0)
            ck_assert_msg(races, "step %d is no race", i);
        else if (model.is_exact)
            ck_assert_msg(!races, "step %d is a race", i);
        if (races)
            return;
    }
}
END_TEST

static Suite *order_random_suite(void)
{
    Suite *suite = suite_create("order_random");
    TCase *tcase = tcase_create("order_random");
    tcase_add_loop_test(tcase, the_first_race_of_a_random_program_is_found_where_it_is_made, 0,
                        300);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(order_random_suite);
