#include "play.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES = 32, NO_DEVICE = -1, SPARE_TARGET = PLAY_LEVELS, SPARE_GUEST };

/* ---- for what the play itself does ---- */

static void must(ctxrt_status status, const char *what)
{
    if (status == CTXRT_SUCCESS)
        return;
    printf("Bail out! %s: %s: %s\n", what, ctxrt_status_name(status), ctxrt_last_error()->message);
    exit(1);
}

static void must_driver(cxu_result result, const char *what)
{
    if (result == CXU_SUCCESS)
        return;
    printf("Bail out! %s: %d\n", what, (int)result);
    exit(1);
}

const char *play_kind_text(play_kind kind)
{
    static const char *const texts[PLAY_KINDS] = {"push", "push, set", "scope", "scope, set",
                                                  "set"};
    return texts[kind];
}

play_kind play_scope_of(play_kind kind)
{
    return kind == PLAY_PUSH ? PLAY_SCOPE : kind == PLAY_PUSH_SET ? PLAY_SCOPE_SET : PLAY_KINDS;
}

const char *play_call_text(play_call call)
{
    static const char *const texts[PLAY_CALLS] = {"nothing", "work",         "set",
                                                  "push",    "pop or leave", "resync"};
    return texts[call];
}

static bool has_override(play_kind kind)
{
    return kind == PLAY_PUSH_SET || kind == PLAY_SCOPE_SET || kind == PLAY_SET;
}

bool play_is_scope(const play *self)
{
    return self->kind == PLAY_SCOPE || self->kind == PLAY_SCOPE_SET;
}

/* ---- devices and contexts ---- */

static bool destroys(guest_act act)
{
    return act == GUEST_DESTROYS_CURRENT || act == GUEST_DESTROYS_BENEATH;
}

static bool needs_primary_on_top(guest_act act)
{
    return act == GUEST_SETS_THE_SAME || act == GUEST_LEAKS_THE_SAME || act == GUEST_RESETS_CURRENT;
}

static bool uses_its_own(guest_act act)
{
    return act == GUEST_SETS_ANOTHER || act == GUEST_LEAKS_ANOTHER || act == GUEST_LEAKS_THREE ||
           act == GUEST_REPLACES_TWO;
}

static bool uses_target(play_call call)
{
    return call == PLAY_SET_TARGET || call == PLAY_PUSH_TARGET;
}

/* Who gets a primary context, and who a context of the test's own: first those that need a primary
 * one. */
static bool give_devices(play *self)
{
    int count = self->stage->device_count, given = 0, top = self->level - 1;
    for (int i = 0; i < PLAY_LEVELS; i++)
        self->level_devices[i] = NO_DEVICE;
    self->override = has_override(self->kind) ? given++ : NO_DEVICE;
    self->other_device = self->act == GUEST_SETS_ANOTHER ? given++ : NO_DEVICE;
    if (top >= 0 && !has_override(self->kind) && needs_primary_on_top(self->act))
        self->level_devices[top] = given++;
    self->target = self->next == PLAY_SET_TARGET ? given++ : NO_DEVICE;
    if (given > count)
        return false;
    if (self->next == PLAY_PUSH_TARGET && given < count)
        self->target = given++;
    if (self->other_device == NO_DEVICE && uses_its_own(self->act) && given < count)
        self->other_device = given++;
    for (int i = top; i >= 0 && !destroys(self->act); i--)
        if (self->level_devices[i] == NO_DEVICE && given < count)
            self->level_devices[i] = given++;
    return true;
}

static CUdevice ordinal_of(int device)
{
    ctxrt_device_info info;
    must(ctxrt_device_properties(CTXRT_CUDA(device), &info), "properties");
    return info.driver_ordinal;
}

static CUcontext spare_native(play_stage *stage, int index)
{
    if (stage->spares[index] == NULL) {
        CUdevice ordinal = ordinal_of(index % stage->device_count);
        must_driver(stage->driver->ctx_create_v2(&stage->spares[index], 0, ordinal), "create");
        must_driver(stage->driver->ctx_pop(NULL), "pop");
    }
    return stage->spares[index];
}

/* The primary context of the device, or else a spare one. */
static ctxrt_context *take_context(play *self, int device, int spare, CUcontext *out_native)
{
    ctxrt_context *context;
    if (device != NO_DEVICE)
        must(ctxrt_context_retain_primary(CTXRT_CUDA(device), &context), "retain");
    else
        must(ctxrt_context_from_native(CTXRT_DEVICE_CUDA, spare_native(self->stage, spare),
                                       &context),
             "adopt");
    must(ctxrt_context_native(context, out_native), "native");
    return context;
}

static void take_contexts(play *self)
{
    for (int i = 0; i < self->level; i++)
        self->contexts[i] = take_context(self, self->level_devices[i], i, &self->natives[i]);
    if (uses_target(self->next))
        self->target_context = take_context(self, self->target, SPARE_TARGET, &self->target_native);
    if (self->override != NO_DEVICE)
        must(ctxrt_context_release(take_context(self, self->override, 0, &self->override_native)),
             "release");
    self->other = (guest){.driver = self->stage->driver};
    if (self->other_device != NO_DEVICE)
        must_driver(guest_open(&self->other, self->stage->driver, ordinal_of(self->other_device)),
                    "guest");
    else if (uses_its_own(self->act))
        self->other.context = spare_native(self->stage, SPARE_GUEST);
}

/* Other code's reset leaves the primary dead until somebody retains it anew; ours does. */
static void revive(const play *self)
{
    int device = has_override(self->kind) ? self->override : self->level_devices[self->level - 1];
    must(ctxrt_device_reset(CTXRT_CUDA(device)), "reset");
}

static void forget_destroyed(play *self)
{
    int beneath = self->act == GUEST_DESTROYS_BENEATH;
    int index = self->level - 1 - beneath + has_override(self->kind);
    if (index >= 0 && index < self->level)
        self->stage->spares[index] = NULL;
}

static void give_contexts_back(play *self)
{
    if (self->possible && self->act == GUEST_RESETS_CURRENT)
        revive(self);
    for (int i = 0; i < PLAY_LEVELS; i++)
        must(ctxrt_context_release(self->contexts[i]), "release");
    must(ctxrt_context_release(self->target_context), "release");
    if (self->possible && destroys(self->act))
        forget_destroyed(self);
    if (self->other_device != NO_DEVICE)
        must_driver(guest_close(&self->other), "guest");
}

/* ---- the stack that the guest finds ---- */

static void build(play *self)
{
    for (int i = 0; i < self->level; i++) {
        if (i == self->level - 1 && play_is_scope(self))
            must(ctxrt_scope_enter_context(self->contexts[i], &self->scopes[i]), "enter");
        else
            must(ctxrt_stack_push(self->contexts[i]), "push");
    }
    if (has_override(self->kind))
        must(ctxrt_device_set(CTXRT_CUDA(self->override)), "set");
}

/* ---- the next call ---- */

static ctxrt_status work(void)
{
    ctxrt_memory *memory;
    ctxrt_status status = ctxrt_memory_alloc(64, &memory);
    return status == CTXRT_SUCCESS ? ctxrt_memory_release(memory) : status;
}

static ctxrt_status set_target(play *self)
{
    return ctxrt_device_set(CTXRT_CUDA(self->target));
}

static ctxrt_status push_target(play *self)
{
    return self->target != NO_DEVICE ? ctxrt_device_push(CTXRT_CUDA(self->target))
                                     : ctxrt_stack_push(self->target_context);
}

static ctxrt_status close_level(play *self)
{
    return play_is_scope(self) ? ctxrt_scope_leave(&self->scopes[self->level - 1])
                               : ctxrt_stack_pop();
}

static void answer_with(play *self, ctxrt_status status)
{
    self->status = status;
    snprintf(self->answer, sizeof self->answer, "%s",
             status == CTXRT_SUCCESS ? "ok" : ctxrt_status_name(status) + strlen("CTXRT_ERROR_"));
}

static void resync(play *self)
{
    static const char *const findings[] = {"in step", "pushed", "set", "popped", "ambiguous"};
    ctxrt_resync_report report = {CTXRT_RESYNC_IN_STEP, 0};
    self->status = ctxrt_stack_resync(&report);
    if (self->status != CTXRT_SUCCESS && report.finding != CTXRT_RESYNC_AMBIGUOUS)
        answer_with(self, self->status);
    else if (report.count > 0)
        snprintf(self->answer, sizeof self->answer, "%s %d", findings[report.finding],
                 report.count);
    else
        snprintf(self->answer, sizeof self->answer, "%s", findings[report.finding]);
}

static void call_next(play *self)
{
    switch (self->next) {
    case PLAY_WORK:
        answer_with(self, work());
        break;
    case PLAY_SET_TARGET:
        answer_with(self, set_target(self));
        break;
    case PLAY_PUSH_TARGET:
        answer_with(self, push_target(self));
        break;
    case PLAY_CLOSE:
        answer_with(self, close_level(self));
        break;
    case PLAY_RESYNC:
        resync(self);
        break;
    case PLAY_NOTHING:
    case PLAY_CALLS:
        answer_with(self, CTXRT_SUCCESS);
        break;
    }
}

/* ---- what came of it ---- */

static char letter_of(const play *self, CUcontext native)
{
    for (int i = 0; i < PLAY_LEVELS; i++)
        if (native == self->natives[i])
            return (char)(i < self->level - 2 ? 'a' + i : i == self->level - 2 ? 'b' : 'L');
    return (char)(native == self->override_native ? 'O'
                  : native == self->target_native ? 'T'
                  : native == self->other.context ? 'X'
                                                  : '?');
}

/* Takes the driver's stack apart: the last thing to do. Levels that are all there below the one
 * beneath the guest's are one sign. Where there are no such levels, the signs stand for nothing, so
 * that stacks of all depths read alike. */
static void read_stack(play *self)
{
    CUcontext natives[ENTRIES];
    int count = 0, lower = self->level > 1 ? self->level - 2 : 0, from = 0;
    char *out = self->stack;
    while (count < ENTRIES && self->stage->driver->ctx_pop(&natives[count]) == CXU_SUCCESS)
        count++;
    while (from < count && from < lower && natives[count - 1 - from] == self->natives[from])
        from++;
    if (self->level == 1)
        out = stpcpy(out, "\u2026b");
    else if (self->level > 1 && from == lower)
        out = stpcpy(out, "\u2026");
    else
        from = 0;
    for (; from < count; from++)
        *out++ = letter_of(self, natives[count - 1 - from]);
    *out = '\0';
    if (out == self->stack)
        strcpy(self->stack, "none");
    self->entries = count;
}

static void let_guest_act(play *self)
{
    self->depth_before = (int)ctxrt_stack_depth();
    self->possible = self->stage->act(&self->other, self->act) == CXU_SUCCESS;
}

static void *play_through(void *argument)
{
    play *self = argument;
    take_contexts(self);
    build(self);
    let_guest_act(self);
    if (self->possible) {
        call_next(self);
        self->depth_after = (int)ctxrt_stack_depth();
    }
    read_stack(self);
    return NULL;
}

/* What the guest had pushed before our first explicit frame is its own to pop. */
static bool leaves_its_own(const play *self)
{
    return self->level == 0 && (self->act == GUEST_LEAKS_ANOTHER || self->act == GUEST_LEAKS_THREE);
}

static bool is_at_scope(const play *self)
{
    return play_is_scope(self) && self->level > 0 && ctxrt_stack_depth() >= (size_t)self->level &&
           self->scopes[self->level - 1].serial != 0;
}

static void *unwind(void *argument)
{
    play *self = argument;
    take_contexts(self);
    build(self);
    let_guest_act(self);
    if (!self->possible) {
        read_stack(self);
        return NULL;
    }
    ctxrt_status followed = self->next == PLAY_SET_TARGET ? set_target(self) : CTXRT_SUCCESS;
    resync(self);
    bool found = self->status == CTXRT_SUCCESS;
    while (found && self->status == CTXRT_SUCCESS && ctxrt_stack_depth() > 0)
        answer_with(self, is_at_scope(self) ? close_level(self) : ctxrt_stack_pop());
    if (found && ctxrt_stack_depth() != 0)
        snprintf(self->fault, sizeof self->fault,
                 "after %s (%s) and resync, the stack could not be unwound: %.200s",
                 play_call_text(self->next), ctxrt_status_name(followed),
                 ctxrt_last_error()->message);
    read_stack(self);
    if (found && !leaves_its_own(self) && self->entries != 0)
        snprintf(self->fault, sizeof self->fault, "after %s (%s), resync and all pops %s is left",
                 play_call_text(self->next), ctxrt_status_name(followed), self->stack);
    return NULL;
}

static bool play_on_thread(play *self, void *(*part)(void *))
{
    pthread_t thread;
    if (!give_devices(self))
        return false;
    if (pthread_create(&thread, NULL, part, self) != 0 || pthread_join(thread, NULL) != 0) {
        printf("Bail out! no thread\n");
        exit(1);
    }
    give_contexts_back(self);
    return true;
}

bool play_case(play_stage *stage, guest_act act, play_kind kind, int level, play_call next,
               play *out_play)
{
    *out_play = (play){.stage = stage, .act = act, .kind = kind, .level = level, .next = next};
    return play_on_thread(out_play, play_through);
}

bool play_unwinding(play_stage *stage, guest_act act, play_kind kind, int level, play *out_play)
{
    *out_play =
        (play){.stage = stage, .act = act, .kind = kind, .level = level, .next = PLAY_SET_TARGET};
    if (play_on_thread(out_play, unwind))
        return true;
    out_play->next = PLAY_NOTHING;
    return play_on_thread(out_play, unwind);
}

void play_write_cell(const play *self, char *cell, size_t size)
{
    int gained = self->depth_after - self->depth_before;
    char change[16] = "";
    if (gained != 0)
        snprintf(change, sizeof change, " (%+d)", gained);
    if (self->next == PLAY_NOTHING)
        snprintf(cell, size, "%s", self->stack);
    else
        snprintf(cell, size, "%s: %s%s", self->answer, self->stack, change);
}

void play_open(play_stage *stage, const cx_driver_table *driver,
               cxu_result (*act)(const guest *, guest_act))
{
    *stage = (play_stage){.driver = driver, .act = act};
    must(ctxrt_device_count(CTXRT_DEVICE_CUDA, &stage->device_count), "count");
}

void play_close(play_stage *stage)
{
    for (int i = 0; i < PLAY_SPARES; i++)
        if (stage->spares[i] != NULL)
            must_driver(stage->driver->ctx_destroy(stage->spares[i]), "destroy");
}
