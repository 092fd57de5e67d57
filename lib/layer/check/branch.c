#include "layer/check/branch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PER_THREAD = 2 };

cx_capture *cx_captures;

/* An event whose last record is captured, and the work that this is behind. */
typedef struct captured_event {
    CUevent event;
    cx_capture *capture;
    uint64_t behind[CX_BRANCHES];
    UT_hash_handle hh;
} captured_event;

static captured_event *events;

/* ---- branches ---- */

/* The branch that the stream is, or would be. */
static cx_branch identify(const cx_check_call *call, CUstream stream)
{
    const cx_object *made = cx_check_stream(stream);
    return (cx_branch){.stream = stream,
                       .number = made != NULL ? made->number : 0,
                       .thread = (uintptr_t)stream == PER_THREAD ? call->thread->number : 0};
}

static cx_branch *find_branch(cx_capture *capture, const cx_branch *wanted)
{
    for (unsigned i = 0; i < capture->count; i++)
        if (capture->all[i].stream == wanted->stream && capture->all[i].number == wanted->number &&
            capture->all[i].thread == wanted->thread)
            return &capture->all[i];
    return NULL;
}

static cx_branch *branch_of(const cx_check_call *call, CUstream stream, cx_capture **out_capture)
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

cx_capture *cx_capture_of_stream(const cx_check_call *call, CUstream stream)
{
    cx_capture *capture;
    return branch_of(call, stream, &capture) != NULL ? capture : NULL;
}

bool cx_branch_is_joined(const cx_capture *capture, unsigned branch)
{
    return capture->all[0].behind[branch] >= capture->all[branch].works;
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
    else if (branch->number != 0)
        snprintf(text, size, "stream %u", (unsigned)branch->number);
    else
        snprintf(text, size, "%s", branch->thread != 0 ? "a default stream" : "an unknown stream");
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
    free(event);
}

void cx_capture_forget(CUevent event)
{
    captured_event *found = find_event(event);
    if (found != NULL)
        drop_event(found);
}

/* ---- work ---- */

void cx_capture_work(const cx_check_call *call, CUstream stream)
{
    cx_capture *capture;
    cx_branch *branch = branch_of(call, stream, &capture);
    if (branch != NULL)
        branch->behind[branch - capture->all] = ++branch->works;
}

void cx_capture_record(const cx_check_call *call, CUstream stream, CUevent event)
{
    cx_capture *capture;
    const cx_branch *branch = branch_of(call, stream, &capture);
    cx_capture_forget(event);
    captured_event *made = branch != NULL ? calloc(1, sizeof *made) : NULL;
    if (made == NULL)
        return;
    made->event = event;
    made->capture = capture;
    memcpy(made->behind, branch->behind, sizeof made->behind);
    HASH_ADD(hh, events, event, sizeof made->event, made);
}

static void join(uint64_t *clock, const uint64_t *other)
{
    for (unsigned i = 0; i < CX_BRANCHES; i++)
        clock[i] = other[i] > clock[i] ? other[i] : clock[i];
}

void cx_capture_wait(const cx_check_call *call, CUstream stream, CUevent event)
{
    const captured_event *found = find_event(event);
    if (found == NULL)
        return;
    cx_capture *capture = found->capture;
    const cx_branch joining = identify(call, stream);
    cx_branch *branch = find_branch(capture, &joining);
    if (branch == NULL && capture->count < CX_BRANCHES) {
        branch = &capture->all[capture->count++];
        *branch = joining;
        branch->joined = call->origin;
    }
    if (branch != NULL)
        join(branch->behind, found->behind);
}

/* ---- captures ---- */

void cx_capture_begin(const cx_check_call *call, cx_object *object, CUstream stream)
{
    cx_capture *capture = calloc(1, sizeof *capture);
    if (capture == NULL) {
        cx_object_end(object, -1, 0);
        return;
    }
    capture->object = object;
    capture->thread = call->thread->number;
    capture->count = 1;
    capture->all[0] = identify(call, stream);
    capture->all[0].joined = object->made;
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
    free(capture);
}
