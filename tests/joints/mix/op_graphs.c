/* Captures, recordings and launches. A graph writes to a block that it keeps. */
#include "blocks.h"

#include <stdlib.h>

/* What a graph does: it fills its target, by way of scratch memory if it has some. */
typedef struct work {
    block *target;
    block *scratch; /* freed while it was recorded: the graph's own */
    unsigned char value;
} work;

static ctxrt_status run_fill(void *argument)
{
    const work *self = argument;
    const block *first = self->scratch != NULL ? self->scratch : self->target;
    return ctxrt_fill_async(first->pointer, self->value, first->size, NULL);
}

static ctxrt_status run_copy(void *argument)
{
    const work *self = argument;
    return ctxrt_copy_async(self->target->pointer, self->scratch->pointer, self->target->size,
                            CTXRT_COPY_DEVICE_TO_DEVICE, NULL);
}

static unsigned may_end_by(const actor *self, int place)
{
    unsigned may = 0;
    if (actor_met(self, place, TROUBLE_WAIT))
        may |= MAY(CTXRT_ERROR_DRIVER) | MAY(CTXRT_ERROR_NOT_PERMITTED);
    if (actor_met(self, place, TROUBLE_RESET))
        may |= MAY(CTXRT_ERROR_CONTEXT_DESTROYED) | MAY(CTXRT_ERROR_DRIVER) |
               MAY(CTXRT_ERROR_INVALID_ARGUMENT);
    return may;
}

/* ---- keeping graphs ---- */

static void end_work(actor *self, work *own)
{
    if (own->scratch != NULL) {
        shadow_remove(own->scratch);
        users_drop(&all.places[own->scratch->place].users);
        free(own->scratch);
    }
    block_end(self, own->target);
    free(own);
}

/* Before the graph is gone its scratch memory is nobody else's. */
static void release(actor *self, ctxrt_graph *graph, work *own)
{
    if (own->scratch != NULL)
        shadow_remove(own->scratch);
    (void)OK(self, ctxrt_graph_release(graph));
    atomic_fetch_sub(&all.keepers, 1);
}

/* True if no reset came between the making of the memory and that of the graph: a later one ends
 * both. */
static bool is_whole(const work *own)
{
    return block_is_live(own->target) && (own->scratch == NULL || block_is_live(own->scratch));
}

static void keep(actor *self, ctxrt_graph *graph, work *own, const life *made)
{
    thing *one = &all.things[GRAPH][pick(self, THINGS)];
    if (is_whole(own) && users_claim(&one->users, EMPTY)) {
        one->place = own->target->place;
        one->life = *made;
        one->object = graph;
        one->extra = own;
        atomic_fetch_add(&all.places[one->place].users, 1); /* the target holds it */
        atomic_store(&one->users, 0);
        return;
    }
    release(self, graph, own);
    end_work(self, own);
}

/* A block of device memory that a graph may keep: nothing is under way with it. */
static block *take_target(actor *self, int place)
{
    for (int i = 0; i < POCKET; i++) {
        block *one = self->pocket[i];
        if (one == NULL || one->place != place || one->source > RAW || !block_is_live(one))
            continue;
        self->pocket[i] = NULL;
        block_settle(self, one);
        one->known = 0;
        return one;
    }
    return NULL;
}

static work *work_make(actor *self, block *target)
{
    work *made = calloc(1, sizeof *made);
    if (made == NULL)
        abort();
    made->target = target;
    made->value = (unsigned char)pick(self, 256);
    return made;
}

/* ---- captures ---- */

/* A stream that nobody else uses. */
static thing *claim_stream(actor *self, int place)
{
    uint64_t first = pick(self, THINGS);
    for (uint64_t i = 0; i < THINGS; i++) {
        thing *one = &all.things[STREAM][(first + i) % THINGS];
        if (!users_claim(&one->users, 0))
            continue;
        if (one->place == place && life_look(&one->life) == LIVE)
            return one;
        atomic_store(&one->users, 0);
    }
    return NULL;
}

/* Other calls of this thread, which a relaxed capture leaves alone. */
static void act_beside(actor *self)
{
    for (uint64_t i = pick(self, 4); i > 0; i--)
        if (chance(self, 50))
            op_free(self);
        else
            op_allocate(self);
}

static void capture_into(actor *self, const thing *stream, work *own, ctxrt_capture_mode mode)
{
    ctxrt_graph *graph;
    const int place = stream->place;
    life made = life_begin(place);
    ctxrt_status status = ctxrt_stream_capture_begin(stream->object, mode);
    if (!actor_expect(self, status, may_be_gone(&stream->life), "ctxrt_stream_capture_begin")) {
        end_work(self, own);
        return;
    }
    status = ctxrt_fill_async(own->target->pointer, own->value, own->target->size, stream->object);
    (void)actor_expect(self, status, may_end_by(self, place), "a fill that is captured");
    if (mode == CTXRT_CAPTURE_RELAXED)
        act_beside(self);
    status = ctxrt_stream_capture_end(stream->object, &graph);
    life_made(&made);
    if (actor_expect(self, status, may_end_by(self, place), "ctxrt_stream_capture_end")) {
        atomic_fetch_add(&all.keepers, 1);
        keep(self, graph, own, &made);
    } else {
        end_work(self, own);
    }
}

static void capture(actor *self, ctxrt_capture_mode mode)
{
    const frame *top = actor_top(self);
    thing *stream = top != NULL ? claim_stream(self, top->place) : NULL;
    if (stream == NULL)
        return;
    block *target = take_target(self, top->place);
    if (target != NULL) {
        int place = top->place;
        trouble_begin(place, TROUBLE_CAPTURE);
        capture_into(self, stream, work_make(self, target), mode);
        trouble_end(place, TROUBLE_CAPTURE);
    }
    atomic_store(&stream->users, 0);
}

void op_capture(actor *self)
{
    capture(self, chance(self, 60) ? CTXRT_CAPTURE_RELAXED : CTXRT_CAPTURE_THREAD_LOCAL);
}

void op_capture_global(actor *self)
{
    capture(self, CTXRT_CAPTURE_GLOBAL);
}

/* ---- recordings ---- */

static bool submit(actor *self, work *own, ctxrt_status (*run)(void *), const char *type)
{
    ctxrt_operator submitted = CTXRT_OPERATOR_INIT;
    submitted.type = type;
    submitted.run = run;
    submitted.user_data = own;
    submitted.capturable = chance(self, 70);
    return OK(self, ctxrt_operator_submit(&submitted));
}

/* Memory of the recorded place comes and goes while it is recorded; that of others too. */
static void use_memory(actor *self, int place)
{
    for (uint64_t i = pick(self, 4); i > 0; i--) {
        block *one = chance(self, 50) ? block_make(self, chance(self, 50) ? OBJECT : RAW) : NULL;
        if (one != NULL) {
            one->recorded = true;
            pocket_put(self, MENDED_RECORDING_FREES_ELSEWHERE ? one : NULL);
            if (!MENDED_RECORDING_FREES_ELSEWHERE)
                block_end(self, one);
        }
        int which = (int)pick(self, POCKET);
        one = self->pocket[which];
        if (one == NULL || (!MENDED_RECORDING_FREES_ELSEWHERE && one->place != place))
            continue;
        self->pocket[which] = NULL;
        self->wanted = chance(self, 50) ? one->size : 0; /* of what it was, the next may be */
        block_end(self, one);
    }
    self->wanted = chance(self, 50) ? self->wanted : 0;
}

/* The scratch memory: a block that is freed before the recording stops. */
static void free_scratch(actor *self, block *one)
{
    shadow_remove(one);
    (void)(one->memory != NULL ? OK(self, ctxrt_memory_release(one->memory))
                               : OK(self, ctxrt_free(one->pointer)));
    thing_drop(one->order_thing);
    thing_drop(one->allocator);
    one->order_thing = one->allocator = NULL;
}

static void drop_scratch(work *own)
{
    if (own->scratch == NULL)
        return;
    users_drop(&all.places[own->scratch->place].users);
    free(own->scratch);
    own->scratch = NULL;
}

static bool submit_work(actor *self, work *own)
{
    return submit(self, own, run_fill, "fill") &&
           (own->scratch == NULL || submit(self, own, run_copy, "copy"));
}

static work *make_recorded_work(actor *self, int place)
{
    block *target = chance(self, 50) ? take_target(self, place) : NULL;
    if (target == NULL)
        target = block_make(self, chance(self, 50) ? OBJECT : RAW);
    if (target == NULL)
        return NULL;
    target->recorded = true;
    block_settle(self, target);
    work *own = work_make(self, target);
    own->scratch = chance(self, 60) ? block_make(self, RAW) : NULL;
    if (own->scratch != NULL && own->scratch->size < target->size) {
        block_end(self, own->scratch);
        own->scratch = NULL;
    }
    return own;
}

/* Whether it has become a graph, which is kept. */
static bool record_in(actor *self, int place, bool cancels)
{
    ctxrt_graph *graph;
    life made = life_begin(place);
    if (!OK(self, ctxrt_recording_start(NULL)))
        return false;
    use_memory(self, place);
    work *own = make_recorded_work(self, place);
    bool submitted = own != NULL && submit_work(self, own);
    if (own != NULL && own->scratch != NULL)
        free_scratch(self, own->scratch);
    if (own == NULL || !submitted || cancels) {
        (void)OK(self, ctxrt_recording_cancel());
        if (own != NULL) {
            drop_scratch(own);
            end_work(self, own);
        }
        return false;
    }
    trouble_begin(place, TROUBLE_CAPTURE);
    ctxrt_status status = ctxrt_recording_stop(&graph);
    bool stopped = actor_expect(self, status, may_end_by(self, place), "ctxrt_recording_stop");
    trouble_end(place, TROUBLE_CAPTURE);
    life_made(&made);
    if (!stopped) {
        drop_scratch(own);
        end_work(self, own);
        return false;
    }
    if (own->scratch != NULL) {
        own->scratch->freed = true;
        shadow_add(self, own->scratch);
    }
    keep(self, graph, own, &made);
    return true;
}

static void record_somewhere(actor *self, bool cancels)
{
    const frame *top = actor_top(self);
    if (top == NULL || !actor_push(self, top->place))
        return;
    life made = life_begin(top->place);
    atomic_fetch_add(&all.keepers, 1);
    if (!record_in(self, actor_top(self)->place, cancels))
        atomic_fetch_sub(&all.keepers, 1);
    life_settle(self, &made);
    actor_pop(self);
}

void op_record_graph(actor *self)
{
    record_somewhere(self, false);
}

void op_cancel_recording(actor *self)
{
    record_somewhere(self, true);
}

/* ---- launches ---- */

static thing *claim_graph(actor *self)
{
    thing *one = &all.things[GRAPH][pick(self, THINGS)];
    return users_claim(&one->users, 0) ? one : NULL;
}

static unsigned may_of_launch(const actor *self, const thing *graph, const route *by)
{
    const work *own = graph->extra;
    unsigned may = may_be_gone(&graph->life) | may_be_gone(&by->life);
    /* The first launch waits for work of before, which a capture does not allow. */
    if (actor_met(self, graph->place, TROUBLE_CAPTURE))
        may |= MAY(CTXRT_ERROR_NOT_PERMITTED);
    if (!block_is_live(own->target))
        may |= MAY(CTXRT_ERROR_INVALID_ARGUMENT) | MAY(CTXRT_ERROR_CONTEXT_DESTROYED) |
               MAY(CTXRT_ERROR_DRIVER);
    return may;
}

static void launch(actor *self, thing *graph, route *by)
{
    work *own = graph->extra;
    block *target = own->target;
    block_join(self, target, by);
    target->known = 0;
    if (block_is_live(target) && target->place == by->life.made.place) {
        ctxrt_status filled =
            ctxrt_fill_async(target->pointer, own->value ^ 0x55, target->size, by->stream);
        (void)actor_expect(self, filled, may_of_launch(self, graph, by), "a fill before a launch");
    }
    bool launched = false;
    for (int i = 0; i < (all.faults && MENDED_FAILED_LAUNCH ? 3 : 1) && !launched; i++) {
        ctxrt_status status = ctxrt_graph_launch(graph->object, by->stream);
        launched = actor_expect(self, status, may_of_launch(self, graph, by), "ctxrt_graph_launch");
    }
    block_used(self, target, by);
    block_has(self, target, own->value, launched ? target->size : 0, by);
    if (chance(self, 60))
        block_look(self, target);
    if (target->order_thing == NULL)
        block_settle(self, target);
}

void op_launch_graph(actor *self)
{
    thing *graph = claim_graph(self);
    if (graph == NULL)
        return;
    route by = route_pick(self, graph->place);
    if (by.stream != NULL)
        launch(self, graph, &by);
    route_drop(&by);
    atomic_store(&graph->users, 0);
}

void op_clone_graph(actor *self)
{
    thing *graph = claim_graph(self);
    ctxrt_graph *clone;
    if (graph == NULL)
        return;
    ctxrt_status status = ctxrt_graph_clone(graph->object, &clone);
    if (actor_expect(self, status, may_be_gone(&graph->life), "ctxrt_graph_clone")) {
        void *other = chance(self, 50) ? graph->object : clone;
        graph->object = other == clone ? graph->object : clone;
        (void)OK(self, ctxrt_graph_describe(graph->object, self->nowhere, CTXRT_GRAPH_TEXT));
        (void)OK(self, ctxrt_graph_release(other));
    }
    atomic_store(&graph->users, 0);
}

void op_end_graph(actor *self)
{
    thing *graph = claim_graph(self);
    void *stale = self->stale[GRAPH][pick(self, STALE)];
    if (stale != NULL)
        REFUSED(self, ctxrt_graph_retain(stale), CTXRT_ERROR_INVALID_HANDLE);
    if (graph == NULL)
        return;
    release(self, graph->object, graph->extra);
    self->stale[GRAPH][pick(self, STALE)] = graph->object;
    end_work(self, graph->extra);
    users_drop(&all.places[graph->place].users);
    atomic_store(&graph->users, EMPTY);
}
