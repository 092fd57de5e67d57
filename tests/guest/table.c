/*
 * What ctxrt answers after other code changed the driver's stack: every act of the guest, at every level of a stack
 * of four, for both policies and every kind of top frame, with each call that may come next. Prints the
 * table of docs/frames.md, and fails where a rule that holds for all rows does not.
 *
 * A case is played on a thread of its own, so that it begins and ends with an empty stack; it is played once for
 * each column, since looking at the driver's stack takes it apart.
 */
#include "device/device.h"
#include "guest.h"
#include <ctxrt/ctxrt.h>

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS = 4, OVERRIDE = LEVELS, GUEST, TARGET, GPUS, ENTRIES = 32 };

typedef enum top_kind { TOP_PUSH, TOP_PUSH_SET, TOP_SCOPE, TOP_SCOPE_SET, TOP_SET, TOP_KINDS } top_kind;

static const char *const kind_texts[TOP_KINDS] = {"push", "push, set", "scope", "scope, set", "set"};

typedef enum next_call { NEXT_NOTHING, NEXT_WORK, NEXT_SET, NEXT_PUSH, NEXT_CLOSE, NEXT_RESYNC, NEXT_CALLS } next_call;

typedef struct play {
    guest_act act;
    top_kind kind;
    int level; /* the stack's depth when the guest acts; 0: only the bottom's override */
    next_call next;
    guest other;
    CUcontext natives[LEVELS];
    ctxrt_context *contexts[LEVELS];
    ctxrt_scope scopes[LEVELS];
    char answer[64];   /* what the next call said */
    ctxrt_status status;
    int depth_before, depth_after;
    char stack[ENTRIES + 8];  /* the driver's, from the bottom */
    bool possible;     /* the guest could act */
} play;

static int broken_rules;

__attribute__((format(printf, 2, 3))) static void broken(const play *self, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    printf("# %s at level %d (%s), then call %d: ", guest_act_text(self->act), self->level, kind_texts[self->kind],
           self->next);
    vprintf(format, arguments);
    printf(" [%s, %s]\n", self->answer, self->stack);
    va_end(arguments);
    broken_rules++;
}

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

/* ---- the stack that the guest finds ---- */

static bool destroys(guest_act act)
{
    return act == GUEST_DESTROYS_CURRENT || act == GUEST_DESTROYS_BENEATH;
}

/* Primary contexts; where the guest is going to destroy one, contexts that it has made itself. */
static void make_contexts(play *self)
{
    const cx_driver_table *driver = self->other.driver;
    for (int i = 0; i < LEVELS; i++) {
        if (!destroys(self->act)) {
            must(ctxrt_context_retain_primary(CTXRT_CUDA(i), &self->contexts[i]), "retain");
            must(ctxrt_context_native(self->contexts[i], &self->natives[i]), "native");
            continue;
        }
        must_driver(driver->ctx_create_v2(&self->natives[i], 0, i + 1), "create");
        must_driver(driver->ctx_pop(NULL), "pop");
        must(ctxrt_context_from_native(CTXRT_DEVICE_CUDA, self->natives[i], &self->contexts[i]), "adopt");
    }
}

/* Other code's reset leaves the primary dead until somebody retains it anew; ours does. */
static void revive_primaries(void)
{
    for (int i = 0; i < GPUS; i++)
        must(ctxrt_device_reset(CTXRT_CUDA(i)), "reset");
}

static void end_contexts(play *self)
{
    if (self->act == GUEST_RESETS_CURRENT)
        revive_primaries();
    for (int i = 0; i < LEVELS; i++) {
        must(ctxrt_context_release(self->contexts[i]), "release");
        if (destroys(self->act))
            (void)self->other.driver->ctx_destroy(self->natives[i]);
    }
}

static bool has_override(const play *self)
{
    return self->kind == TOP_PUSH_SET || self->kind == TOP_SCOPE_SET || self->kind == TOP_SET;
}

static bool is_scope(const play *self)
{
    return self->kind == TOP_SCOPE || self->kind == TOP_SCOPE_SET;
}

static void build(play *self)
{
    for (int i = 0; i < self->level; i++) {
        if (i == self->level - 1 && is_scope(self))
            must(ctxrt_scope_enter_context(self->contexts[i], &self->scopes[i]), "enter");
        else
            must(ctxrt_stack_push(self->contexts[i]), "push");
    }
    if (has_override(self))
        must(ctxrt_device_set(CTXRT_CUDA(OVERRIDE)), "set");
}

/* ---- the next call ---- */

static ctxrt_status work(play *self)
{
    ctxrt_memory *memory;
    (void)self;
    ctxrt_status status = ctxrt_memory_alloc(64, &memory);
    return status == CTXRT_SUCCESS ? ctxrt_memory_release(memory) : status;
}

static ctxrt_status close_level(play *self)
{
    return is_scope(self) ? ctxrt_scope_leave(&self->scopes[self->level - 1]) : ctxrt_stack_pop();
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
        snprintf(self->answer, sizeof self->answer, "%s %d", findings[report.finding], report.count);
    else
        snprintf(self->answer, sizeof self->answer, "%s", findings[report.finding]);
}

static void call_next(play *self)
{
    switch (self->next) {
    case NEXT_WORK:
        answer_with(self, work(self));
        break;
    case NEXT_SET:
        answer_with(self, ctxrt_device_set(CTXRT_CUDA(TARGET)));
        break;
    case NEXT_PUSH:
        answer_with(self, ctxrt_device_push(CTXRT_CUDA(TARGET)));
        break;
    case NEXT_CLOSE:
        answer_with(self, close_level(self));
        break;
    case NEXT_RESYNC:
        resync(self);
        break;
    case NEXT_NOTHING:
    case NEXT_CALLS:
        answer_with(self, CTXRT_SUCCESS);
        break;
    }
}

/* ---- what came of it ---- */

static CUcontext primary_of(int device)
{
    ctxrt_context *context;
    CUcontext native;
    must(ctxrt_context_retain_primary(CTXRT_CUDA(device), &context), "retain");
    must(ctxrt_context_native(context, &native), "native");
    must(ctxrt_context_release(context), "release");
    return native;
}

static char letter_of(const play *self, CUcontext native)
{
    for (int i = 0; i < LEVELS; i++)
        if (native == self->natives[i])
            return (char)(i < self->level - 2 ? 'a' + i : i == self->level - 2 ? 'b' : 'L');
    return (char)(native == primary_of(OVERRIDE) ? 'O' : native == primary_of(TARGET) ? 'T' : 'X');
}

/* Takes the driver's stack apart: the last thing to do. Levels that are all there below the one beneath the
 * guest's are one sign. */
static void read_stack(play *self)
{
    CUcontext natives[ENTRIES];
    int count = 0, lower = self->level > 1 ? self->level - 2 : 0, from = 0;
    char *out = self->stack;
    while (count < ENTRIES && self->other.driver->ctx_pop(&natives[count]) == CXU_SUCCESS)
        count++;
    while (from < count && from < lower && natives[count - 1 - from] == self->natives[from])
        from++;
    if (self->level > 1 && from == lower)
        out = stpcpy(out, "\u2026");
    else
        from = 0;
    for (; from < count; from++)
        *out++ = letter_of(self, natives[count - 1 - from]);
    *out = '\0';
    if (count == 0)
        strcpy(self->stack, "none");
}

static void *play_through(void *argument)
{
    play *self = argument;
    make_contexts(self);
    build(self);
    self->depth_before = (int)ctxrt_stack_depth();
    self->possible = guest_do(&self->other, self->act) == CXU_SUCCESS;
    if (self->possible) {
        call_next(self);
        self->depth_after = (int)ctxrt_stack_depth();
    }
    read_stack(self);
    return NULL;
}

static play play_case(guest_act act, top_kind kind, int level, next_call next)
{
    play self = {.act = act, .kind = kind, .level = level, .next = next};
    pthread_t thread;
    must_driver(guest_open(&self.other, &cx_drivers[0].table, GUEST + 1), "guest");
    if (pthread_create(&thread, NULL, play_through, &self) != 0 || pthread_join(thread, NULL) != 0)
        exit(1);
    end_contexts(&self);
    must_driver(guest_close(&self.other), "guest");
    return self;
}

/* ---- rules that hold for every row ---- */

static bool changes_nothing(const play *self)
{
    return self->status != CTXRT_SUCCESS && self->status != CTXRT_ERROR_STACK_LEFTOVER;
}

static void check_rules(const play *self, const play *before)
{
    const char *last = self->stack + strlen(self->stack) - 1;
    int foreign = self->next == NEXT_WORK; /* taken in as a frame though the work itself was refused */
    if (changes_nothing(self) &&
        (strcmp(self->stack, before->stack) != 0 || self->depth_after > self->depth_before + foreign))
        broken(self, "a refused call changed the stack, which was %s", before->stack);
    if ((self->next == NEXT_SET || self->next == NEXT_PUSH) && self->status == CTXRT_SUCCESS && *last != 'T')
        broken(self, "the device is not current");
    if (self->next == NEXT_CLOSE && self->status == CTXRT_ERROR_STACK_LEFTOVER && self->level > 1 && *last != 'b')
        broken(self, "the scope did not restore what was beneath it");
    if (self->next == NEXT_CLOSE && self->status == CTXRT_SUCCESS && self->depth_after >= self->depth_before)
        broken(self, "nothing was popped");
    if (self->next == NEXT_CLOSE && is_scope(self) && changes_nothing(self))
        broken(self, "a scope was not left");
}

/* What the guest had pushed before our first explicit frame is its own to pop. */
static bool leaves_its_own(const play *self)
{
    return self->level == 0 && (self->act == GUEST_LEAKS_ANOTHER || self->act == GUEST_LEAKS_THREE);
}

/* After a resync that found the answer every level can be popped, down to the empty stack. */
static void *unwind(void *argument)
{
    play *self = argument;
    make_contexts(self);
    build(self);
    self->possible = guest_do(&self->other, self->act) == CXU_SUCCESS;
    if (!self->possible)
        return NULL;
    ctxrt_status followed = ctxrt_device_set(CTXRT_CUDA(TARGET)); /* or not, where the policy refuses it */
    resync(self);
    bool found = self->status == CTXRT_SUCCESS;
    while (found && self->status == CTXRT_SUCCESS && ctxrt_stack_depth() > 0)
        answer_with(self, ctxrt_stack_depth() >= (size_t)self->level && is_scope(self) &&
                                  self->scopes[self->level - 1].serial != 0 && self->level > 0
                              ? close_level(self)
                              : ctxrt_stack_pop());
    if (found && ctxrt_stack_depth() != 0)
        broken(self, "after set (%s) and resync, the stack could not be unwound: %s", ctxrt_status_name(followed),
               ctxrt_last_error()->message);
    read_stack(self);
    if (found && !leaves_its_own(self) && strcmp(self->stack, "none") != 0)
        broken(self, "after set (%s), resync and all pops something is left", ctxrt_status_name(followed));
    return NULL;
}

/* ---- the table ---- */

typedef struct row {
    char cells[NEXT_CALLS][96];
    bool possible;
} row;

static void write_cell(char *cell, size_t size, const play *self)
{
    int gained = self->depth_after - self->depth_before;
    char change[16] = "";
    if (gained != 0)
        snprintf(change, sizeof change, " (%+d)", gained);
    snprintf(cell, size, "%s: %s%s", self->answer, self->stack, change);
}

static row play_row(guest_act act, top_kind kind, int level)
{
    row made = {0};
    play before = play_case(act, kind, level, NEXT_NOTHING);
    made.possible = before.possible;
    if (!made.possible)
        return made;
    snprintf(made.cells[NEXT_NOTHING], sizeof made.cells[0], "%s", before.stack);
    for (next_call next = NEXT_WORK; next < NEXT_CALLS; next++) {
        play self = play_case(act, kind, level, next);
        check_rules(&self, &before);
        write_cell(made.cells[next], sizeof made.cells[next], &self);
    }
    return made;
}

static void check_unwinding(guest_act act, top_kind kind, int level)
{
    play self = {.act = act, .kind = kind, .level = level, .next = NEXT_RESYNC};
    pthread_t thread;
    must_driver(guest_open(&self.other, &cx_drivers[0].table, GUEST + 1), "guest");
    if (pthread_create(&thread, NULL, unwind, &self) != 0 || pthread_join(thread, NULL) != 0)
        exit(1);
    end_contexts(&self);
    must_driver(guest_close(&self.other), "guest");
}

static void print_row(guest_act act, top_kind kind, const char *levels, const row *made)
{
    printf("| %s | %s | %s |", guest_act_text(act), levels, kind_texts[kind]);
    for (next_call next = NEXT_NOTHING; next < NEXT_CALLS; next++)
        printf(" %s |", made->cells[next]);
    printf("\n");
}

/* One line for all levels with the same answers. */
static void print_kind(guest_act act, top_kind kind)
{
    int first = kind == TOP_SET ? 0 : 1, last = kind == TOP_SET ? 0 : LEVELS;
    row rows[LEVELS + 1];
    for (int level = first; level <= last; level++) {
        rows[level] = play_row(act, kind, level);
        check_unwinding(act, kind, level);
    }
    for (int level = first; level <= last;) {
        int end = level;
        char levels[16];
        while (end < last && memcmp(&rows[end + 1], &rows[level], sizeof rows[level]) == 0)
            end++;
        snprintf(levels, sizeof levels, end > level ? "%d\u2013%d" : "%d", level, end);
        if (rows[level].possible)
            print_row(act, kind, levels, &rows[level]);
        level = end + 1;
    }
}

static void print_policy(ctxrt_foreign_policy policy, const char *name)
{
    ctxrt_options options = CTXRT_OPTIONS_INIT;
    options.cuda_driver = CTXRT_CUDA_DRIVER_EMULATED;
    options.foreign = policy;
    options.emulated_devices = GPUS;
    must(ctxrt_init(&options), "init");
    printf("### Policy `%s`\n\n", name);
    printf("| the guest | level | top | driver's stack | work | set | push | pop or leave | resync |\n");
    printf("|---|---|---|---|---|---|---|---|---|\n");
    for (guest_act act = 0; act < GUEST_ACTS; act++)
        for (top_kind kind = 0; kind < TOP_KINDS; kind++)
            print_kind(act, kind);
    printf("\n");
    must(ctxrt_shutdown(), "shutdown");
}

static void no_log(ctxrt_log_level level, const char *message, void *argument)
{
    (void)level, (void)message, (void)argument;
}

int main(void)
{
    must(ctxrt_log_set(no_log, NULL, CTXRT_LOG_ERROR), "log"); /* threads end with what the guest has left of their stacks */
    print_policy(CTXRT_FOREIGN_FOLLOW, "follow");
    print_policy(CTXRT_FOREIGN_ERROR, "error");
    return broken_rules != 0;
}
