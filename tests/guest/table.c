/*
 * What ctxrt answers after other code changed the driver's stack: every act of the guest, at every
 * level of a stack of four, for both policies and every kind of top frame, with each call that may
 * come next. Prints the table of docs/frames.md, and fails where a rule that holds for all rows
 * does not.
 */
#include "device/device.h"
#include "play.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static play_stage stage;
static int broken_rules;

__attribute__((format(printf, 2, 3))) static void broken(const play *self, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    printf("# %s at level %d (%s), then %s: ", guest_act_text(self->act), self->level,
           play_kind_text(self->kind), play_call_text(self->next));
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

/* ---- rules that hold for every row ---- */

static bool changes_nothing(const play *self)
{
    return self->status != CTXRT_SUCCESS && self->status != CTXRT_ERROR_STACK_LEFTOVER;
}

static void check_rules(const play *self, const play *before)
{
    const char *last = self->stack + strlen(self->stack) - 1;
    /* taken in as a frame though the work itself was refused */
    int foreign = self->next == PLAY_WORK;
    if (changes_nothing(self) && (strcmp(self->stack, before->stack) != 0 ||
                                  self->depth_after > self->depth_before + foreign))
        broken(self, "a refused call changed the stack, which was %s", before->stack);
    if ((self->next == PLAY_SET_TARGET || self->next == PLAY_PUSH_TARGET) &&
        self->status == CTXRT_SUCCESS && *last != 'T')
        broken(self, "the device is not current");
    if (self->next == PLAY_CLOSE && self->status == CTXRT_ERROR_STACK_LEFTOVER && self->level > 1 &&
        *last != 'b')
        broken(self, "the scope did not restore what was beneath it");
    if (self->next == PLAY_CLOSE && self->status == CTXRT_SUCCESS &&
        self->depth_after >= self->depth_before)
        broken(self, "nothing was popped");
    if (self->next == PLAY_CLOSE && play_is_scope(self) && changes_nothing(self))
        broken(self, "a scope was not left");
}

/* ---- the table ---- */

typedef struct row {
    char cells[PLAY_CALLS][96];
    bool possible;
} row;

static row play_row(guest_act act, play_kind kind, int level)
{
    row made = {0};
    play before, after;
    if (!play_case(&stage, act, kind, level, PLAY_NOTHING, &before) || !before.possible)
        return made;
    made.possible = true;
    play_write_cell(&before, made.cells[PLAY_NOTHING], sizeof made.cells[0]);
    for (play_call next = PLAY_WORK; next < PLAY_CALLS; next++) {
        if (!play_case(&stage, act, kind, level, next, &after))
            broken(&after, "there are too few devices");
        check_rules(&after, &before);
        play_write_cell(&after, made.cells[next], sizeof made.cells[next]);
    }
    if (!play_unwinding(&stage, act, kind, level, &after) || after.fault[0] != '\0')
        broken(&after, "%s", after.fault);
    return made;
}

/* A level that was pushed and one that is a scope differ only in how they are closed. */
typedef struct both_ways {
    row pushed, scope;
} both_ways;

static both_ways play_both_ways(guest_act act, play_kind kind, int level)
{
    play_kind scope = play_scope_of(kind);
    both_ways made = {.pushed = play_row(act, kind, level)};
    if (scope != PLAY_KINDS)
        made.scope = play_row(act, scope, level);
    for (play_call next = 0; made.scope.possible && next < PLAY_CALLS; next++)
        if (next != PLAY_CLOSE && strcmp(made.pushed.cells[next], made.scope.cells[next]) != 0) {
            printf("# %s at level %d: with a scope, %s gives %s\n", guest_act_text(act), level,
                   play_call_text(next), made.scope.cells[next]);
            broken_rules++;
        }
    return made;
}

/* A call that leaves the stack as the guest left it gives no stack. */
static void print_cell(const char *cell, const char *stack)
{
    size_t answer = strcspn(cell, ":");
    bool changed = cell[answer] == '\0' || strcmp(cell + answer + 2, stack) != 0;
    printf(" %.*s |", changed ? (int)strlen(cell) : (int)answer, cell);
}

/* Under `error` either nothing differs, or all but leave and resync is refused. */
static const char *under_error(const both_ways *follow, const both_ways *error)
{
    const row *was = &follow->pushed, *is = &error->pushed;
    char refused[sizeof is->cells[0]];
    if (memcmp(follow, error, sizeof *follow) == 0)
        return "same";
    snprintf(refused, sizeof refused, "STACK_MISMATCH: %.40s", was->cells[PLAY_NOTHING]);
    for (play_call next = PLAY_WORK; next <= PLAY_CLOSE; next++)
        if (strcmp(is->cells[next], refused) != 0)
            return NULL;
    if (strcmp(was->cells[PLAY_NOTHING], is->cells[PLAY_NOTHING]) != 0 ||
        strcmp(was->cells[PLAY_RESYNC], is->cells[PLAY_RESYNC]) != 0 ||
        strcmp(follow->scope.cells[PLAY_CLOSE], error->scope.cells[PLAY_CLOSE]) != 0)
        return NULL;
    return "refused";
}

static void print_row(const char *acts, play_kind kind, const char *levels, const both_ways *follow,
                      const both_ways *error)
{
    static const char *const tops[PLAY_KINDS] = {
        [PLAY_PUSH] = "its frame", [PLAY_PUSH_SET] = "override", [PLAY_SET] = "override"};
    printf("| %s | %s | %s |", acts, levels, tops[kind]);
    const char *stack = follow->pushed.cells[PLAY_NOTHING];
    printf(" %s |", stack);
    for (play_call next = PLAY_WORK; next < PLAY_CALLS; next++) {
        print_cell(follow->pushed.cells[next], stack);
        if (next == PLAY_CLOSE)
            print_cell(follow->scope.possible ? follow->scope.cells[next] : "-", stack);
    }
    const char *text = under_error(follow, error);
    printf(" %s |\n", text != NULL ? text : "?");
    if (text == NULL) {
        printf("# %s at levels %s: the policy error is neither the same nor refuses\n", acts,
               levels);
        broken_rules++;
    }
}

static const play_kind kinds[] = {PLAY_PUSH, PLAY_PUSH_SET, PLAY_SET};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

typedef struct answers {
    both_ways rows[GUEST_ACTS][KINDS][PLAY_LEVELS + 1];
} answers;

static int first_level(size_t kind)
{
    return kinds[kind] == PLAY_SET ? 0 : 1;
}

static int last_level(size_t kind)
{
    return kinds[kind] == PLAY_SET ? 0 : PLAY_LEVELS;
}

/* Levels of a kind with the same answers. */
typedef struct range {
    size_t kind;
    int level, end;
} range;

static bool same_answers(const answers *both[2], size_t kind, guest_act a, int level, guest_act b,
                         int other)
{
    for (int i = 0; i < 2; i++)
        if (memcmp(&both[i]->rows[a][kind][level], &both[i]->rows[b][kind][other],
                   sizeof both[i]->rows[a][kind][level]) != 0)
            return false;
    return true;
}

static range range_at(const answers *both[2], guest_act act, size_t kind, int level)
{
    range self = {kind, level, level};
    while (self.end < last_level(kind) && same_answers(both, kind, act, self.end + 1, act, level))
        self.end++;
    return self;
}

static bool has_range(const answers *both[2], guest_act act, const range *wanted)
{
    int level = first_level(wanted->kind);
    while (level < wanted->level)
        level = range_at(both, act, wanted->kind, level).end + 1;
    return level == wanted->level && range_at(both, act, wanted->kind, level).end == wanted->end;
}

/* True if what both acts do at these levels is one line. */
static bool in_one_line(const answers *both[2], guest_act a, guest_act b, const range *levels)
{
    return has_range(both, b, levels) &&
           same_answers(both, levels->kind, a, levels->level, b, levels->level);
}

/* One line for all levels, and all acts, with the same answers. */
static void print_range(const answers *both[2], guest_act act, const range *self)
{
    char acts[512], levels[16];
    for (guest_act before = 0; before < act; before++)
        if (in_one_line(both, act, before, self))
            return;
    int length = snprintf(acts, sizeof acts, "%s", guest_act_text(act));
    for (guest_act later = act + 1; later < GUEST_ACTS; later++)
        if (in_one_line(both, act, later, self))
            length += snprintf(acts + length, sizeof acts - (size_t)length, "; %s",
                               guest_act_text(later));
    snprintf(levels, sizeof levels, self->end > self->level ? "%d\u2013%d" : "%d", self->level,
             self->end);
    print_row(acts, kinds[self->kind], levels, &both[0]->rows[act][self->kind][self->level],
              &both[1]->rows[act][self->kind][self->level]);
}

static void print_kind(const answers *both[2], guest_act act, size_t kind)
{
    for (int level = first_level(kind); level <= last_level(kind);) {
        range levels = range_at(both, act, kind, level);
        if (both[0]->rows[act][kind][level].pushed.possible)
            print_range(both, act, &levels);
        level = levels.end + 1;
    }
}

static void play_policy(ctxrt_foreign_policy policy, answers *out)
{
    ctxrt_options options = CTXRT_OPTIONS_INIT;
    options.cuda_driver = CTXRT_CUDA_DRIVER_EMULATED;
    options.foreign = policy;
    options.emulated_devices = PLAY_DEVICES;
    must(ctxrt_init(&options), "init");
    play_open(&stage, &cx_drivers[0].table, guest_do);
    for (guest_act act = 0; act < GUEST_ACTS; act++)
        for (size_t kind = 0; kind < KINDS; kind++)
            for (int level = first_level(kind); level <= last_level(kind); level++)
                out->rows[act][kind][level] = play_both_ways(act, kinds[kind], level);
    play_close(&stage);
    must(ctxrt_shutdown(), "shutdown");
}

static void print_table(const answers *follow, const answers *error)
{
    const answers *both[] = {follow, error};
    printf("| the guest | level | top | driver's stack | work | set | push | pop | leave | resync "
           "| `error` |\n");
    printf("|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (guest_act act = 0; act < GUEST_ACTS; act++)
        for (size_t kind = 0; kind < KINDS; kind++)
            print_kind(both, act, kind);
}

static void no_log(ctxrt_log_level level, const char *message, void *argument)
{
    (void)level, (void)message, (void)argument;
}

int main(void)
{
    /* threads end with what the guest has left of their stacks */
    must(ctxrt_log_set(no_log, NULL, CTXRT_LOG_ERROR), "log");
    static answers follow, error;
    play_policy(CTXRT_FOREIGN_FOLLOW, &follow);
    play_policy(CTXRT_FOREIGN_ERROR, &error);
    print_table(&follow, &error);
    return broken_rules != 0;
}
