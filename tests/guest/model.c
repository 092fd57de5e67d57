#include "model.h"

#include <string.h>

int model_current(const model *self)
{
    return self->entry_count > 0 ? self->entries[self->entry_count - 1] : MODEL_NONE;
}

bool model_has_room(const model *self)
{
    return self->entry_count + 2 < MODEL_DEPTH && self->frame_count + 3 < MODEL_DEPTH;
}

/* ---- the driver's stack ---- */

bool model_guest_push(model *self, int context)
{
    self->entries[self->entry_count++] = context;
    return true;
}

bool model_guest_pop(model *self)
{
    if (self->entry_count == 0)
        return false;
    self->entry_count--;
    return true;
}

bool model_guest_set(model *self, int context)
{
    if (context == MODEL_NONE)
        self->entry_count -= self->entry_count > 0;
    else if (self->entry_count == 0)
        self->entries[self->entry_count++] = context;
    else
        self->entries[self->entry_count - 1] = context;
    return true;
}

static void remove_entry(model *self, int index)
{
    memmove(&self->entries[index], &self->entries[index + 1],
            (size_t)(self->entry_count - index - 1) * sizeof self->entries[0]);
    self->entry_count--;
}

/* ---- frames ---- */

static bool own(const model_frame *frame)
{
    return frame->origin != CTXRT_FRAME_FOREIGN;
}

static int top_own(const model *self)
{
    int index = self->frame_count - 1;
    while (index >= 0 && !own(&self->frames[index]))
        index--;
    return index;
}

static int own_below(const model *self, int index)
{
    for (index--; index >= 0 && !own(&self->frames[index]); index--)
        continue;
    return index;
}

static int own_count_from(const model *self, int index)
{
    int count = 0;
    for (; index < self->frame_count; index++)
        count += own(&self->frames[index]);
    return count;
}

static void add_frame(model *self, int context, ctxrt_frame_origin origin, int beneath, int scope)
{
    self->frames[self->frame_count++] = (model_frame){context, origin, beneath, scope};
}

/* Lets the top frame be what is current, as the policy allows. */
static ctxrt_status settle(model *self)
{
    int current = model_current(self);
    while (self->frame_count > 0 && self->frames[self->frame_count - 1].context != current &&
           !own(&self->frames[self->frame_count - 1]))
        self->frame_count--;
    if (self->frame_count > 0 && self->frames[self->frame_count - 1].context == current)
        return CTXRT_SUCCESS;
    if (current == MODEL_NONE)
        return self->frame_count > 0 ? CTXRT_ERROR_STACK_MISMATCH : CTXRT_ERROR_NO_DEVICE;
    if (self->policy == CTXRT_FOREIGN_ERROR)
        return CTXRT_ERROR_STACK_MISMATCH;
    add_frame(self, current, CTXRT_FRAME_FOREIGN, MODEL_NONE, MODEL_NONE);
    return CTXRT_SUCCESS;
}

ctxrt_status model_work(model *self)
{
    return settle(self);
}

ctxrt_status model_push(model *self, int context, ctxrt_frame_origin origin, int scope)
{
    ctxrt_status status = self->frame_count > 0 ? settle(self) : CTXRT_SUCCESS;
    if (status != CTXRT_SUCCESS && status != CTXRT_ERROR_NO_DEVICE)
        return status;
    add_frame(self, context, origin, model_current(self), scope);
    model_guest_push(self, context);
    return CTXRT_SUCCESS;
}

/* ---- what happened to the driver's stack ---- */

/* What should be there from its top, as far as our frames tell. */
typedef struct expectation {
    int contexts[MODEL_DEPTH + 1];
    int count;
    bool whole; /* and no more */
} expectation;

static expectation expect_from(const model *self, int index)
{
    expectation made = {.count = 0};
    for (;;) {
        const model_frame *frame = &self->frames[index];
        made.contexts[made.count++] = frame->context;
        index = own_below(self, index);
        if (index >= 0 && frame->beneath == self->frames[index].context)
            continue;
        if (frame->beneath != MODEL_NONE)
            made.contexts[made.count++] = frame->beneath;
        made.whole = frame->beneath == MODEL_NONE;
        return made;
    }
}

/* Whether the driver's lowest `count` entries are the expectation without its first `skip`. */
static bool fits(const model *self, int count, const expectation *expected, int skip)
{
    int wanted = expected->count - skip, compared = 0;
    if (count < 0 || wanted < 0 || wanted > count)
        return false;
    for (; compared < wanted; compared++)
        if (self->entries[count - 1 - compared] != expected->contexts[skip + compared])
            return false;
    return expected->whole ? wanted == count : wanted > 0;
}

typedef struct explanation {
    ctxrt_resync_finding finding;
    int count;
    bool above; /* pushed: all of it above the entry */
    bool within; /* it is about what is under the override's entry */
} explanation;

static bool among_top(const model *self, int limit, int count, int context)
{
    for (int i = limit - count; i < limit; i++)
        if (i >= 0 && self->entries[i] == context)
            return true;
    return false;
}

/* Explains the lowest `limit` entries. */
static explanation explain_entries(const model *self, int limit, const expectation *expected)
{
    explanation found = {CTXRT_RESYNC_AMBIGUOUS, 0, false, false};
    int explanations = 0;
    if (fits(self, limit, expected, 0))
        return (explanation){CTXRT_RESYNC_IN_STEP, 0, false, false};
    for (int n = 1; n < limit; n++) {
        bool above = fits(self, limit - n, expected, 0);
        bool around = among_top(self, limit, n + 1, expected->contexts[0]) &&
                      fits(self, limit - n - 1, expected, 1);
        if (above || around) {
            found = (explanation){CTXRT_RESYNC_PUSHED, n, above, false};
            explanations++;
        }
    }
    for (int n = 1; n <= expected->count; n++)
        if (fits(self, limit, expected, n)) {
            found = (explanation){CTXRT_RESYNC_POPPED, n, false, false};
            explanations++;
        }
    if (limit > 0 && fits(self, limit - 1, expected, 1)) {
        found = (explanation){CTXRT_RESYNC_SET, 1, false, false};
        explanations++;
    }
    if (explanations != 1)
        found = (explanation){CTXRT_RESYNC_AMBIGUOUS, 0, false, false};
    return found;
}

/* The explicit frame of the top level, if that has an override too. */
static int under_override(const model *self)
{
    int top = top_own(self);
    return top >= 0 && self->frames[top].origin == CTXRT_FRAME_SET ? own_below(self, top) : -1;
}

static explanation explain(const model *self)
{
    int top = top_own(self), lower = under_override(self);
    expectation expected;
    if (self->entry_count == 0)
        return (explanation){CTXRT_RESYNC_POPPED, own_count_from(self, 0), false, false};
    if (lower >= 0 && self->frames[top].beneath != self->frames[lower].context &&
        model_current(self) == self->frames[top].context) {
        expected = expect_from(self, lower);
        explanation found = explain_entries(self, self->entry_count - 1, &expected);
        found.within = true;
        if (found.finding == CTXRT_RESYNC_SET)
            found.finding = CTXRT_RESYNC_IN_STEP, found.count = 0;
        return found;
    }
    expected = expect_from(self, top);
    return explain_entries(self, self->entry_count, &expected);
}

/* ---- set ---- */

ctxrt_status model_set(model *self, int context)
{
    int top = top_own(self), old = model_current(self);
    if (top < 0 || self->frames[top].origin != CTXRT_FRAME_SET)
        return model_push(self, context, CTXRT_FRAME_SET, MODEL_NONE);
    model_frame *frame = &self->frames[top];
    if (old == frame->context && frame->context == context && top == self->frame_count - 1)
        return CTXRT_SUCCESS;
    explanation found = {CTXRT_RESYNC_IN_STEP, 0, false, false};
    if (old != frame->context) {
        if (self->policy == CTXRT_FOREIGN_ERROR)
            return CTXRT_ERROR_STACK_MISMATCH;
        found = explain(self);
    }
    switch (found.finding) {
    case CTXRT_RESYNC_IN_STEP:
    case CTXRT_RESYNC_SET:
        self->entries[self->entry_count - 1] = context;
        break;
    case CTXRT_RESYNC_PUSHED:
        if (!found.above)
            return CTXRT_ERROR_STACK_MISMATCH;
        remove_entry(self, self->entry_count - 1 - found.count);
        model_guest_push(self, context);
        frame->beneath = old;
        break;
    case CTXRT_RESYNC_POPPED:
        if (found.count > 1)
            return CTXRT_ERROR_STACK_MISMATCH;
        /* fall through */
    case CTXRT_RESYNC_AMBIGUOUS:
        model_guest_push(self, context);
        frame->beneath = old;
        break;
    }
    frame->context = context;
    self->frame_count = top + 1;
    return CTXRT_SUCCESS;
}

/* ---- pop and leave ---- */

ctxrt_status model_pop(model *self)
{
    int lowest = top_own(self);
    if (under_override(self) >= 0)
        lowest = under_override(self);
    if (lowest < 0)
        return CTXRT_ERROR_STACK_EMPTY;
    if (self->frames[lowest].origin == CTXRT_FRAME_SCOPE)
        return CTXRT_ERROR_NOT_PERMITTED;
    if (self->policy == CTXRT_FOREIGN_ERROR &&
        model_current(self) != self->frames[self->frame_count - 1].context)
        return CTXRT_ERROR_STACK_MISMATCH;
    int left = self->entry_count - own_count_from(self, lowest);
    if (left < 0 ||
        (left > 0 ? self->entries[left - 1] : MODEL_NONE) != self->frames[lowest].beneath)
        return CTXRT_ERROR_STACK_MISMATCH;
    self->entry_count = left;
    self->frame_count = lowest;
    return CTXRT_SUCCESS;
}

/* Makes `wanted` current by popping down to it, or by pushing it where it is not there. */
static void force(model *self, int wanted)
{
    int index = self->entry_count - 1;
    while (index >= 0 && self->entries[index] != wanted)
        index--;
    if (index >= 0 || wanted == MODEL_NONE)
        self->entry_count = index + 1;
    else
        model_guest_push(self, wanted);
}

ctxrt_status model_leave(model *self, int scope)
{
    int index = self->frame_count - 1, left_open = 0;
    while (index >= 0 && self->frames[index].scope != scope)
        index--;
    if (index < 0)
        return CTXRT_ERROR_WRONG_THREAD;
    for (int i = index + 1; i < self->frame_count; i++)
        left_open += own(&self->frames[i]) && self->frames[i].origin != CTXRT_FRAME_SET;

    int entries = own_count_from(self, index), beneath = self->frames[index].beneath;
    bool in_order = model_current(self) == self->frames[top_own(self)].context;
    if (!in_order) {
        explanation found = explain(self);
        if (found.finding == CTXRT_RESYNC_PUSHED && found.above)
            self->entry_count -= found.count;
        if (found.finding == CTXRT_RESYNC_POPPED)
            entries = found.count < entries ? entries - found.count : 0;
        if (found.finding == CTXRT_RESYNC_AMBIGUOUS)
            entries = 0;
    }
    self->entry_count = self->entry_count > entries ? self->entry_count - entries : 0;
    self->frame_count = index;
    if (model_current(self) != beneath) {
        in_order = false;
        force(self, beneath);
    }
    return in_order && left_open == 0 ? CTXRT_SUCCESS : CTXRT_ERROR_STACK_LEFTOVER;
}

/* ---- resync ---- */

static void drop_own(model *self, int count)
{
    while (count > 0)
        count -= own(&self->frames[--self->frame_count]);
}

/* The level's entries stand one on the other again. */
static void join_level(model *self)
{
    int top = top_own(self), lower = under_override(self);
    if (lower < 0)
        return;
    model_frame override = self->frames[top];
    override.beneath = self->frames[lower].context;
    self->frames[lower + 1] = override;
    self->frame_count = lower + 2;
}

static void take_off(model *self, const explanation *found)
{
    int kept = found->above && !found->within ? 0 : found->within ? 2 : 1;
    int top = top_own(self);
    self->entry_count -= found->count + kept;
    if (kept == 2)
        model_guest_push(self, self->frames[under_override(self)].context);
    if (kept >= 1) {
        model_guest_push(self, self->frames[top].context);
        join_level(self);
    }
}

static ctxrt_status mend(model *self, const explanation *found)
{
    switch (found->finding) {
    case CTXRT_RESYNC_IN_STEP:
        break;
    case CTXRT_RESYNC_PUSHED:
        take_off(self, found);
        break;
    case CTXRT_RESYNC_SET:
        self->entries[self->entry_count - 1] = self->frames[top_own(self)].context;
        break;
    case CTXRT_RESYNC_POPPED:
        if (found->within) {
            self->entry_count--;
            drop_own(self, 1);
        }
        drop_own(self, found->count);
        break;
    case CTXRT_RESYNC_AMBIGUOUS:
        return CTXRT_ERROR_STACK_MISMATCH;
    }
    return CTXRT_SUCCESS;
}

ctxrt_status model_resync(model *self, ctxrt_resync_report *out_report)
{
    *out_report = (ctxrt_resync_report){CTXRT_RESYNC_IN_STEP, 0};
    for (int round = 0; round < 4 && top_own(self) >= 0; round++) {
        explanation found = explain(self);
        if (out_report->finding == CTXRT_RESYNC_IN_STEP)
            *out_report = (ctxrt_resync_report){found.finding, found.count};
        else if (found.finding == CTXRT_RESYNC_AMBIGUOUS)
            break;
        ctxrt_status status = mend(self, &found);
        if (status != CTXRT_SUCCESS)
            return status;
        if (found.finding == CTXRT_RESYNC_IN_STEP)
            break;
    }
    self->frame_count = top_own(self) + 1;
    return CTXRT_SUCCESS;
}
