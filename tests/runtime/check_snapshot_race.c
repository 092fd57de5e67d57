/*
 * Snapshots of threads that do not rest. Every frame carries, in its line, what it is and a check
 * of the frame beneath: a frame that was read in two halves, or a stack put together from two, does
 * not fit.
 */
#include "context/view.h"
#include "gate.h"
#include "snapshot.h"

#include <stdbool.h>

#ifdef __SANITIZE_THREAD__
enum { SHOTS = 30, LOOKS = 20000, DEEP_LOOKS = 2000, CHURN = 40 };
#else
enum { SHOTS = 300, LOOKS = 100000, DEEP_LOOKS = 20000, CHURN = 400 };
#endif
enum { WORKERS = 4, GPUS = 4, KINDS = 2, HEIGHT = 12 };

static const char *const files[GPUS] = {"zero.c", "one-device.c", "two/devices.c", "three.c"};
static ctxrt_context *contexts[KINDS][GPUS]; /* primary, created */
static uint64_t ids[KINDS][GPUS];
static ctxrt_stream *streams[KINDS][GPUS];
static atomic_int takers_left;

/* Assertions of Check are slow, and would keep the threads apart: what is wrong is counted, and
 * asserted at the end. */
static atomic_int wrong;
static _Atomic(const char *) first_wrong;

static void expect(bool good, const char *what)
{
    if (!good && atomic_fetch_add(&wrong, 1) == 0)
        atomic_store(&first_wrong, what);
}

static void expect_ok(ctxrt_status status)
{
    expect(status == CTXRT_SUCCESS, ctxrt_status_name(status));
}

static void assert_nothing_wrong(void)
{
    ck_assert_msg(atomic_load(&wrong) == 0, "%d times: %s", atomic_load(&wrong),
                  atomic_load(&first_wrong));
}

/* ---- what a line says ---- */

typedef enum frame_way { SET, PUSH, SCOPE } frame_way;

static unsigned int check_of(unsigned int line)
{
    return line * 2654435761u >> 22; /* 10 bits */
}

static unsigned int make_line(unsigned int nonce, unsigned int beneath, frame_way way, int kind,
                              int gpu)
{
    return (nonce & 0x7ffu) << 16 | check_of(beneath) << 6 | (unsigned int)way << 3 |
           (unsigned int)kind << 2 | (unsigned int)gpu;
}

static void check_frame(const cx_frame_view *frame)
{
    unsigned int line = (unsigned int)frame->line, gpu = line & 3, kind = line >> 2 & 1;
    expect(frame->device.type == CTXRT_DEVICE_CUDA && frame->device.index == (int)gpu,
           "another frame's device");
    expect(frame->file == files[gpu], "another frame's file");
    expect(frame->kind == (kind == 0 ? CX_CONTEXT_PRIMARY : CX_CONTEXT_CREATED),
           "another frame's kind of context");
    expect(frame->context_id == ids[kind][gpu], "another frame's context");
    expect(frame->stream == NULL || frame->stream == streams[kind][gpu], "another frame's stream");
}

/* A frame that was handed over had a stream of its own, and has it wherever it is seen. */
static void check_origin(const cx_frame_view *frame)
{
    static const ctxrt_frame_origin origins[] = {CTXRT_FRAME_SET, CTXRT_FRAME_PUSH,
                                                 CTXRT_FRAME_SCOPE};
    unsigned int way = (unsigned int)frame->line >> 3 & 7;
    if (frame->origin == CTXRT_FRAME_ATTACH)
        expect(way == PUSH && frame->stream != NULL, "an attached frame without its stream");
    else
        expect(frame->origin == origins[way], "another frame's origin");
}

static void check_stack(const cx_frame_view *frames, size_t depth)
{
    unsigned int beneath = 0;
    for (size_t level = 0; level < depth; level++) {
        unsigned int line = (unsigned int)frames[level].line;
        check_frame(&frames[level]);
        check_origin(&frames[level]);
        expect((line >> 6 & 0x3ff) == check_of(beneath),
               "a frame that never stood on the one beneath it");
        beneath = line;
    }
}

/* ---- the same in JSON ---- */

static int index_of(const char *const *names, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    ck_abort_msg("%s is none of what is expected", name);
    return -1;
}

static cx_frame_view read_frame(const json_t *frame)
{
    static const char *const devices[] = {"cuda:0", "cuda:1", "cuda:2", "cuda:3"};
    static const char *const kinds[] = {"primary", "created"};
    static const char *const origins[] = {"set", "push", "scope", "attach"};
    const json_t *origin = json_object_get(frame, "origin");
    const char *stream = json_string_value(json_object_get(frame, "stream"));
    return (cx_frame_view){
        .device = CTXRT_CUDA(index_of(devices, GPUS, text_of(frame, "device"))),
        .context_id = (uint64_t)number_of(frame, "context"),
        .kind = (cx_context_kind)index_of(kinds, KINDS, text_of(frame, "context_kind")),
        .origin = origin != NULL
                      ? (ctxrt_frame_origin)index_of(origins, 4, json_string_value(origin))
                      : CTXRT_FRAME_ATTACH,
        .stream = stream != NULL ? (ctxrt_stream *)(uintptr_t)strtoull(stream, NULL, 16) : NULL,
        .file = files[index_of(files, GPUS, text_of(frame, "file"))],
        .line = (int)number_of(frame, "line"),
    };
}

static void check_json_stack(const json_t *frames)
{
    cx_frame_view views[CTXRT_STACK_DEPTH_MAX];
    size_t depth = json_array_size(frames);
    for (size_t level = 0; level < depth; level++) {
        const json_t *frame = json_array_get(frames, depth - 1 - level);
        ck_assert_int_eq(number_of(frame, "level"), (int)level);
        views[level] = read_frame(frame);
    }
    check_stack(views, depth);
}

/* ---- threads that do not rest ---- */

typedef struct worker {
    unsigned int state;
    unsigned int nonce;
    int depth;
    struct {
        unsigned int line;
        frame_way way;
        int kind, gpu;
        bool handed_over; /* keeps its stream */
        ctxrt_scope scope;
    } frames[HEIGHT + 2];
} worker;

static unsigned int draw(worker *self, unsigned int bound)
{
    self->state = self->state * 1664525u + 1013904223u;
    return (self->state >> 8) % bound;
}

static void note(worker *self, int level, frame_way way, int kind, int gpu)
{
    unsigned int beneath = level != 0 ? self->frames[level - 1].line : 0;
    self->frames[level].line = make_line(self->nonce++, beneath, way, kind, gpu);
    self->frames[level].way = way;
    self->frames[level].kind = kind;
    self->frames[level].gpu = gpu;
    self->frames[level].handed_over = false;
    self->depth = level + 1;
}

static void set(worker *self)
{
    int gpu = (int)draw(self, GPUS), top = self->depth - 1;
    bool again = top >= 0 && self->frames[top].way == SET;
    if (again && self->frames[top].gpu == gpu)
        return; /* nothing changes, not even the place */
    note(self, again ? top : top + 1, SET, 0, gpu);
    expect_ok(
        ctxrt_device_set_at(CTXRT_CUDA(gpu), files[gpu], (int)self->frames[self->depth - 1].line));
}

static void push(worker *self)
{
    int gpu = (int)draw(self, GPUS), kind = (int)draw(self, KINDS), level = self->depth;
    note(self, level, PUSH, kind, gpu);
    int line = (int)self->frames[level].line;
    expect_ok(kind == 0 ? ctxrt_device_push_at(CTXRT_CUDA(gpu), files[gpu], line)
                           : ctxrt_stack_push_at(contexts[kind][gpu], files[gpu], line));
}

static void enter(worker *self)
{
    int gpu = (int)draw(self, GPUS), level = self->depth;
    note(self, level, SCOPE, 0, gpu);
    self->frames[level].scope = (ctxrt_scope){0};
    expect_ok(ctxrt_scope_enter_at(CTXRT_CUDA(gpu), &self->frames[level].scope, files[gpu],
                                      (int)self->frames[level].line));
}

static void leave(worker *self)
{
    int level = self->depth - 1;
    if (level < 0)
        return;
    if (self->frames[level].way == SET && level > 0)
        level--;
    if (self->frames[level].way == SCOPE)
        expect_ok(ctxrt_scope_leave(&self->frames[level].scope));
    else
        expect_ok(ctxrt_stack_pop());
    self->depth = level;
}

static void choose_stream(worker *self)
{
    int top = self->depth - 1;
    if (top < 0 || self->frames[top].handed_over)
        return;
    ctxrt_stream *stream = streams[self->frames[top].kind][self->frames[top].gpu];
    expect_ok(ctxrt_frame_set_stream(draw(self, 2) == 0 ? stream : NULL));
}

/* With a stream of its own, which the frame must have wherever it is seen. */
static void hand_over_to_itself(worker *self)
{
    int top = self->depth - 1;
    ctxrt_detached_frame *detached;
    if (top < 0 || self->frames[top].way != PUSH)
        return;
    expect_ok(ctxrt_frame_set_stream(streams[self->frames[top].kind][self->frames[top].gpu]));
    expect_ok(ctxrt_stack_detach(&detached));
    expect_ok(ctxrt_stack_attach(detached));
    self->frames[top].handed_over = true;
}

static void *work(void *argument)
{
    worker *self = argument;
    while (atomic_load(&takers_left) > 0) {
        unsigned int choice = draw(self, 12);
        if (self->depth > HEIGHT - 2 || choice < 4)
            leave(self);
        else if (choice < 6)
            set(self);
        else if (choice < 8)
            push(self);
        else if (choice < 10)
            enter(self);
        else if (choice < 11)
            choose_stream(self);
        else
            hand_over_to_itself(self);
    }
    while (self->depth > 0)
        leave(self);
    return NULL;
}

static void *take_shots(void *argument)
{
    size_t index;
    json_t *thread, *frame;
    (void)argument;
    for (int i = 0; i < SHOTS; i++) {
        json_t *root = take_json();
        json_array_foreach(json_object_get(root, "threads"), index, thread)
            check_json_stack(json_object_get(thread, "frames"));
        json_array_foreach(json_object_get(root, "detached"), index, frame) {
            cx_frame_view view = read_frame(frame);
            check_frame(&view);
            check_origin(&view);
        }
        json_decref(root);
    }
    atomic_fetch_sub(&takers_left, 1);
    return NULL;
}

static bool look_at(cx_thread *thread, void *argument)
{
    cx_stack_view *view = argument;
    cx_stack_look(thread, view);
    check_stack(view->frames, view->depth);
    return true;
}

/* Without the writing, which takes a thousand times as long. */
static void *take_looks(void *argument)
{
    static cx_stack_view view;
    (void)argument;
    for (int i = 0; i < LOOKS; i++)
        cx_threads_each(look_at, &view);
    atomic_fetch_sub(&takers_left, 1);
    return NULL;
}

static void make_contexts(void)
{
    for (int gpu = 0; gpu < GPUS; gpu++) {
        cx_assert_ok(ctxrt_context_retain_primary(CTXRT_CUDA(gpu), &contexts[0][gpu]));
        cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(gpu), 0, &contexts[1][gpu]));
        for (int kind = 0; kind < KINDS; kind++) {
            cx_assert_ok(ctxrt_context_id(contexts[kind][gpu], &ids[kind][gpu]));
            cx_assert_ok(ctxrt_stack_push(contexts[kind][gpu]));
            streams[kind][gpu] = create_stream(0);
            cx_assert_ok(ctxrt_stack_pop());
        }
    }
}

static void destroy_contexts(void)
{
    for (int gpu = 0; gpu < GPUS; gpu++) {
        for (int kind = 0; kind < KINDS; kind++)
            cx_assert_ok(ctxrt_stream_destroy(streams[kind][gpu]));
        cx_assert_ok(ctxrt_context_release(contexts[0][gpu]));
        cx_assert_ok(ctxrt_context_destroy(contexts[1][gpu]));
    }
}

START_TEST(no_frame_and_no_stack_is_torn_however_fast_it_changes)
{
    static worker workers[WORKERS];
    static void *(*const takers[])(void *) = {take_shots, take_looks};
    enum { TAKERS = sizeof takers / sizeof takers[0] };
    pthread_t working[WORKERS], taking[TAKERS];
    make_contexts();
    atomic_store(&takers_left, TAKERS);
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = (worker){.state = 77u * (unsigned int)(i + 1)};
        ck_assert_int_eq(pthread_create(&working[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < TAKERS; i++)
        ck_assert_int_eq(pthread_create(&taking[i], NULL, takers[i], NULL), 0);
    for (int i = 0; i < TAKERS; i++)
        pthread_join(taking[i], NULL);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(working[i], NULL);
    assert_nothing_wrong();
    destroy_contexts();
}
END_TEST

/* ---- a deep stack, changed at its top again and again ---- */

enum { DEEP = CTXRT_STACK_DEPTH_MAX - 1 };
static atomic_bool go_on;
static sem_t deep_enough;

static void *set_without_rest(void *argument)
{
    (void)argument;
    for (int i = 0; i < DEEP; i++)
        expect_ok(ctxrt_device_push_at(CTXRT_CUDA(i % 3), files[i % 3], i));
    expect_ok(ctxrt_device_set_at(CTXRT_CUDA(0), files[0], DEEP));
    sem_post(&deep_enough);
    for (int i = 0; atomic_load_explicit(&go_on, memory_order_relaxed); i++)
        expect_ok(ctxrt_device_set_at(CTXRT_CUDA(i & 1), files[i & 1], DEEP));
    for (int i = 0; i < DEEP; i++)
        expect_ok(ctxrt_stack_pop());
    return NULL;
}

static bool look_at_deep(cx_thread *thread, void *argument)
{
    cx_stack_view *view = argument;
    cx_stack_look(thread, view);
    if (view->depth == 0)
        return true; /* this thread */
    expect(view->depth == DEEP + 1, "not the whole stack");
    for (int level = 0; level <= DEEP; level++) {
        const cx_frame_view *frame = &view->frames[level];
        expect(frame->line == level, "another frame's line");
        expect(frame->origin == (level == DEEP ? CTXRT_FRAME_SET : CTXRT_FRAME_PUSH),
               "another frame's origin");
        expect(frame->file == files[frame->device.index], "another frame's file");
    }
    return true;
}

START_TEST(a_deep_stack_that_changes_faster_than_it_can_be_read_is_shown)
{
    static cx_stack_view view;
    pthread_t thread;
    ck_assert_int_eq(sem_init(&deep_enough, 0, 0), 0);
    atomic_store(&go_on, true);
    ck_assert_int_eq(pthread_create(&thread, NULL, set_without_rest, NULL), 0);
    sem_wait(&deep_enough);
    for (int i = 0; i < DEEP_LOOKS; i++)
        cx_threads_each(look_at_deep, &view);
    free(take_snapshot(CTXRT_SNAPSHOT_TEXT));
    atomic_store(&go_on, false);
    pthread_join(thread, NULL);
    assert_nothing_wrong();
}
END_TEST

/* ---- threads and contexts that come and go ---- */

static void *come_and_go(void *argument)
{
    int gpu = *(int *)argument;
    expect_ok(
        ctxrt_device_push_at(CTXRT_CUDA(gpu), files[gpu], (int)make_line(1, 0, PUSH, 0, gpu)));
    expect_ok(ctxrt_stack_pop());
    return NULL;
}

static void *start_threads(void *argument)
{
    (void)argument;
    for (int i = 0; atomic_load(&takers_left) > 0; i++) {
        int gpu = i % GPUS;
        ctxrt_context *context;
        on_a_thread(come_and_go, &gpu);
        expect_ok(ctxrt_context_create(CTXRT_CUDA(gpu), 0, &context));
        expect_ok(ctxrt_context_destroy(context));
    }
    return NULL;
}

START_TEST(threads_and_contexts_may_end_while_a_snapshot_is_taken)
{
    pthread_t starting[WORKERS];
    make_contexts();
    atomic_store(&takers_left, 1);
    for (int i = 0; i < WORKERS; i++)
        ck_assert_int_eq(pthread_create(&starting[i], NULL, start_threads, NULL), 0);
    for (int i = 0; i < CHURN; i++) {
        size_t index;
        json_t *thread, *context, *root = take_json();
        json_array_foreach(json_object_get(root, "threads"), index, thread) {
            ck_assert_int_gt(number_of(thread, "thread"), 0);
            check_json_stack(json_object_get(thread, "frames"));
        }
        json_array_foreach(json_object_get(root, "contexts"), index, context) {
            const char *kind = text_of(context, "context_kind");
            ck_assert(strcmp(kind, "primary") == 0 || strcmp(kind, "created") == 0);
            ck_assert_int_eq(strncmp(text_of(context, "device"), "cuda:", 5), 0);
            ck_assert_int_eq(number_of(context, "memory_bytes"), 0);
        }
        json_decref(root);
    }
    atomic_store(&takers_left, 0);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(starting[i], NULL);
    assert_nothing_wrong();
    destroy_contexts();
}
END_TEST

static Suite *snapshot_race_suite(void)
{
    Suite *suite = suite_create("snapshot race");
    TCase *tcase = tcase_create("snapshot race");
    tcase_add_checked_fixture(tcase, cx_fixture_start, cx_fixture_end);
    tcase_add_test(tcase, no_frame_and_no_stack_is_torn_however_fast_it_changes);
    tcase_add_test(tcase, a_deep_stack_that_changes_faster_than_it_can_be_read_is_shown);
    tcase_add_test(tcase, threads_and_contexts_may_end_while_a_snapshot_is_taken);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(snapshot_race_suite);
