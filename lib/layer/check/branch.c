#include "layer/check/branch.h"

#include "layer/check/stream_clock.h"

#include <stdlib.h>
#include <string.h>

cx_capture *cx_captures;

/* An event whose last record is captured, with the clock of that. */
typedef struct captured_event {
    CUevent event;
    cx_capture *capture;
    cx_branch_clock clock;
    UT_hash_handle hh;
} captured_event;

static captured_event *events;

/* ---- clocks ---- */

/* False: no memory. */
static bool extend(cx_branch_clock *clock, unsigned count)
{
    if (clock->count >= count)
        return true;
    uint64_t *works = reallocarray(clock->works, count, sizeof *works);
    if (works == NULL) {
        cx_region_give_up();
        return false;
    }
    memset(works + clock->count, 0, (count - clock->count) * sizeof *works);
    *clock = (cx_branch_clock){works, count};
    return true;
}

static void join(cx_branch_clock *clock, const cx_branch_clock *other)
{
    if (!extend(clock, other->count))
        return;
    for (unsigned i = 0; i < other->count; i++)
        clock->works[i] = other->works[i] > clock->works[i] ? other->works[i] : clock->works[i];
}

static uint64_t works_of(const cx_branch_clock *clock, unsigned branch)
{
    return branch < clock->count ? clock->works[branch] : 0;
}

/* ---- branches ---- */

/* The branch that the stream is, or would be. */
static cx_branch identify(cx_check_call *call, CUstream stream)
{
    const CUstream named = cx_check_named(call, stream);
    const cx_object *made = cx_check_stream(named);
    const bool of_thread = named == CXU_STREAM_PER_THREAD;
    return (cx_branch){.stream = named,
                       .number = made != NULL ? made->number : 0,
                       .thread = of_thread ? call->thread->number : 0,
                       .context = of_thread ? cx_check_context(call) : NULL};
}

static bool same_stream(const cx_branch *one, const cx_branch *other)
{
    return one->stream == other->stream && one->number == other->number &&
           one->thread == other->thread && one->context == other->context;
}

static cx_branch *find_branch(cx_capture *capture, const cx_branch *wanted)
{
    for (unsigned i = 0; i < capture->count; i++)
        if (same_stream(&capture->all[i], wanted))
            return &capture->all[i];
    return NULL;
}

/* NULL: no memory. */
static cx_branch *add_branch(cx_capture *capture, const cx_branch *joining, cx_origin joined)
{
    if (capture->count == capture->capacity) {
        const unsigned more = capture->capacity != 0 ? 2 * capture->capacity : 4;
        cx_branch *all = reallocarray(capture->all, more, sizeof *all);
        if (all == NULL) {
            cx_region_give_up();
            return NULL;
        }
        capture->all = all;
        capture->capacity = more;
    }
    cx_branch *branch = &capture->all[capture->count++];
    *branch = *joining;
    branch->joined = joined;
    return branch;
}

static cx_branch *branch_of(cx_check_call *call, CUstream stream, cx_capture **out_capture)
{
    const cx_branch wanted = identify(call, stream);
    for (cx_capture *capture = cx_captures; capture != NULL; capture = capture->next) {
        cx_branch *branch = find_branch(capture, &wanted);
        *out_capture = capture;
        if (branch != NULL)
            return branch;
    }
    return NULL;
}

cx_capture *cx_capture_of_stream(cx_check_call *call, CUstream stream)
{
    cx_capture *capture;
    return branch_of(call, stream, &capture) != NULL ? capture : NULL;
}

bool cx_branch_is_joined(const cx_capture *capture, unsigned branch)
{
    if (branch < capture->left_count)
        return !capture->left[branch];
    return works_of(&capture->all[0].clock, branch) >= capture->all[branch].works;
}

const cx_object *cx_branch_stream(const cx_branch *branch)
{
    const cx_object *stream = cx_check_stream(branch->stream);
    return stream != NULL && stream->number == branch->number ? stream : NULL;
}

void cx_branch_text(const cx_branch *branch, char *text, size_t size)
{
    const cx_object *stream = cx_branch_stream(branch);
    if (stream != NULL)
        cx_object_text(stream, text, size);
    else
        cx_stream_clock_stream_text(
            (cx_stream_clock_stream){branch->number, branch->thread != 0 ? branch->thread : -1},
            text, size);
}

/* ---- events ---- */

static captured_event *find_event(CUevent event)
{
    captured_event *found;
    HASH_FIND(hh, events, &event, sizeof event, found);
    return found;
}

cx_capture *cx_capture_of_event(CUevent event)
{
    const captured_event *found = find_event(event);
    return found != NULL ? found->capture : NULL;
}

static void drop_event(captured_event *event)
{
    HASH_DEL(events, event);
    free(event->clock.works);
    free(event);
}

void cx_capture_forget(CUevent event)
{
    captured_event *found = find_event(event);
    if (found != NULL)
        drop_event(found);
}

/* ---- work ---- */

void cx_capture_work(cx_check_call *call, CUstream stream)
{
    cx_capture *capture;
    cx_branch *branch = branch_of(call, stream, &capture);
    if (branch == NULL)
        return;
    const unsigned own = (unsigned)(branch - capture->all);
    branch->works++;
    if (extend(&branch->clock, own + 1))
        branch->clock.works[own] = branch->works;
}

void cx_capture_record(cx_check_call *call, CUstream stream, CUevent event)
{
    cx_capture *capture;
    const cx_branch *branch = branch_of(call, stream, &capture);
    cx_capture_forget(event);
    if (branch == NULL)
        return;
    captured_event *made = calloc(1, sizeof *made);
    if (made == NULL) {
        cx_region_give_up();
        return;
    }
    made->event = event;
    made->capture = capture;
    join(&made->clock, &branch->clock);
    bool added = true;
    HASH_ADD(hh, events, event, sizeof made->event, made);
    if (added)
        return;
    cx_region_give_up();
    free(made->clock.works);
    free(made);
}

void cx_capture_wait(cx_check_call *call, CUstream stream, CUevent event)
{
    const captured_event *found = find_event(event);
    if (found == NULL)
        return;
    cx_capture *capture = found->capture;
    const cx_branch joining = identify(call, stream);
    cx_branch *branch = find_branch(capture, &joining);
    if (branch == NULL)
        branch = add_branch(capture, &joining, call->origin);
    if (branch != NULL)
        join(&branch->clock, &found->clock);
}

/* ---- captures ---- */

void cx_capture_begin(cx_check_call *call, cx_object *object, CUstream stream)
{
    const cx_branch first = identify(call, stream);
    cx_capture *capture = calloc(1, sizeof *capture);
    if (capture == NULL || add_branch(capture, &first, object->made) == NULL) {
        cx_region_give_up();
        free(capture);
        cx_object_end(object, -1, 0);
        return;
    }
    capture->object = object;
    capture->thread = call->thread->number;
    capture->next = cx_captures;
    cx_captures = capture;
}

void cx_capture_end(cx_capture *capture)
{
    captured_event *event, *after;
    cx_capture **link = &cx_captures;
    HASH_ITER (hh, events, event, after)
        if (event->capture == capture)
            drop_event(event);
    while (*link != capture)
        link = &(*link)->next;
    *link = capture->next;
    for (unsigned i = 0; i < capture->count; i++)
        free(capture->all[i].clock.works);
    free(capture->all);
    free(capture->left);
    free(capture);
}
