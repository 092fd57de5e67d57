#include "cases.h"
#include "cuda_calls.h"
#include "libcuda.h"
#include "play.h"
#include "tap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_BYTES = 96, LINE_BYTES = 1024, ROWS_AT_LEAST = 40 };

/* One line: a kind of level closed by a pop, and mostly the same as a scope, which is left. The
 * acts of the guest in it are played one by one. */
typedef struct row {
    char *acts;
    guest_act act;
    play_kind kind;
    bool has_scope;
    int first_level, last_level;
    char cells[PLAY_CALLS][CELL_BYTES], leave[CELL_BYTES];
} row;

typedef struct rows {
    play_stage stage;
    const char *policy;
    bool error, emulated;
    int count, cells, lacking; /* cells compared, and not for want of devices */
} rows;

/* ---- reading the table ---- */

/* The next of "sets none; pops one too many"; NULL: there is none. */
static char *next_act(char **acts)
{
    char *act = *acts, *end = act != NULL ? strstr(act, "; ") : NULL;
    *acts = end != NULL ? end + 2 : NULL;
    if (end != NULL)
        *end = '\0';
    return act;
}

static bool read_act(const char *text, guest_act *out_act)
{
    for (guest_act act = 0; act < GUEST_ACTS; act++)
        if (strcmp(text, guest_act_text(act)) == 0) {
            *out_act = act;
            return true;
        }
    return false;
}

/* Level 0 is the bottom, which has nothing but its override. */
static bool read_top(const char *text, row *out_row)
{
    bool override = strcmp(text, "override") == 0;
    out_row->kind = !override ? PLAY_PUSH : out_row->first_level == 0 ? PLAY_SET : PLAY_PUSH_SET;
    return override || (strcmp(text, "its frame") == 0 && out_row->first_level > 0);
}

/* "2", or "2–4". */
static bool read_levels(const char *text, row *out_row)
{
    int count = sscanf(text, "%d\u2013%d", &out_row->first_level, &out_row->last_level);
    if (count == 1)
        out_row->last_level = out_row->first_level;
    return count >= 1 && out_row->first_level >= 0 && out_row->last_level <= PLAY_LEVELS;
}

static char *next_cell(char **line)
{
    char *cell = *line, *end = cell != NULL ? strstr(cell, " |") : NULL;
    if (end == NULL)
        return NULL;
    *end = '\0';
    *line = end[2] == ' ' ? end + 3 : NULL;
    return cell;
}

/* A cell without a stack leaves it as it is. */
static bool read_cell(char **line, const char *stack, char out_cell[CELL_BYTES])
{
    const char *cell = next_cell(line);
    bool whole =
        stack == NULL || (cell != NULL && (strchr(cell, ':') != NULL || strcmp(cell, "-") == 0));
    return cell != NULL && snprintf(out_cell, CELL_BYTES, "%s%s%s", cell, whole ? "" : ": ",
                                    whole ? "" : stack) < CELL_BYTES;
}

/* The cells are the answers under `follow`; the last one is "same" or "refused". */
static bool read_policy(char **line, bool error, row *out_row)
{
    const char *cell = next_cell(line);
    bool refused = cell != NULL && strcmp(cell, "refused") == 0;
    if (!refused)
        return cell != NULL && strcmp(cell, "same") == 0;
    for (play_call next = PLAY_WORK; error && next <= PLAY_CLOSE; next++)
        snprintf(out_row->cells[next], CELL_BYTES, "STACK_MISMATCH: %.40s",
                 out_row->cells[PLAY_NOTHING]);
    return true;
}

static bool read_row(char *line, bool error, row *out_row)
{
    char *rest = line + 2;
    out_row->acts = next_cell(&rest);
    char *levels = next_cell(&rest), *top = next_cell(&rest);
    if (top == NULL || !read_levels(levels, out_row) || !read_top(top, out_row))
        return false;
    const char *stack = out_row->cells[PLAY_NOTHING];
    for (play_call next = 0; next < PLAY_CALLS; next++)
        if (!read_cell(&rest, next == PLAY_NOTHING ? NULL : stack, out_row->cells[next]) ||
            (next == PLAY_CLOSE && !read_cell(&rest, stack, out_row->leave)))
            return false;
    out_row->has_scope = strcmp(out_row->leave, "-") != 0;
    return read_policy(&rest, error, out_row);
}

/* ---- playing it ---- */

/* What the runtime API has a call for, the guest does with it. */
static cxu_result act_with_calls(const guest *self, guest_act act)
{
    CUdevice device;
    cxu_result result;
    switch (act) {
    case GUEST_SETS_ANOTHER:
        return (cxu_result)cuda_set_device(self->device);
    case GUEST_SETS_THE_SAME:
        result = self->driver->ctx_get_device(&device);
        return result == CXU_SUCCESS ? (cxu_result)cuda_set_device(device) : result;
    case GUEST_RESETS_CURRENT:
        return (cxu_result)cuda_reset_device();
    default:
        return guest_do(self, act);
    }
}

/* Undefined by the driver's documentation (rule C6): what a real one does is of interest, but not
 * right or wrong. */
static bool is_undefined(const rows *self, const row *wanted)
{
    return !self->emulated && wanted->act == GUEST_DESTROYS_BENEATH;
}

static bool compare_cell(rows *self, const row *wanted, int level, play_call next)
{
    play found;
    char cell[CELL_BYTES] = "the guest could not act";
    if (!play_case(&self->stage, wanted->act, wanted->kind, level, next, &found)) {
        self->lacking++;
        return true;
    }
    self->cells++;
    if (found.possible)
        play_write_cell(&found, cell, sizeof cell);
    if (strcmp(cell, wanted->cells[next]) == 0)
        return true;
    tap_note("%slevel %d, then %s: %s, not %s", is_undefined(self, wanted) ? "observed: " : "",
             level, play_call_text(next), cell, wanted->cells[next]);
    return is_undefined(self, wanted);
}

static bool check_unwinding(rows *self, const row *wanted, int level)
{
    play found;
    if (!play_unwinding(&self->stage, wanted->act, wanted->kind, level, &found) ||
        found.fault[0] == '\0')
        return true;
    tap_note("level %d: %s", level, found.fault);
    return is_undefined(self, wanted);
}

static void check_level(rows *self, const row *wanted, int level)
{
    bool good = true;
    int before = self->cells;
    for (play_call next = 0; next < PLAY_CALLS; next++)
        good = compare_cell(self, wanted, level, next) && good;
    good = check_unwinding(self, wanted, level) && good;
    if (self->cells == before)
        tap_skip("too few devices", "%s: the guest %s, level %d, %s", self->policy,
                 guest_act_text(wanted->act), level, play_kind_text(wanted->kind));
    else
        tap_report(good, "%s: the guest %s, level %d, %s", self->policy,
                   guest_act_text(wanted->act), level, play_kind_text(wanted->kind));
}

static void check_row(rows *self, row *wanted)
{
    for (int level = wanted->first_level; level <= wanted->last_level; level++)
        check_level(self, wanted, level);
    if (wanted->has_scope) {
        wanted->kind = play_scope_of(wanted->kind);
        strcpy(wanted->cells[PLAY_CLOSE], wanted->leave);
        for (int level = wanted->first_level; level <= wanted->last_level; level++)
            check_level(self, wanted, level);
    }
    self->count++;
}

static void check_line(rows *self, char *line, bool *in_table)
{
    row wanted;
    line[strcspn(line, "\n")] = '\0';
    if (line[0] == '#')
        *in_table = strcmp(line, "## Every case") == 0;
    if (!*in_table || strncmp(line, "| ", 2) != 0 || strncmp(line, "| the guest |", 13) == 0)
        return;
    if (!read_row(line, self->error, &wanted)) {
        tap_report(false, "%s: a row can be read: %s", self->policy, line);
        return;
    }
    for (char *act = next_act(&wanted.acts); act != NULL; act = next_act(&wanted.acts)) {
        row played = wanted; /* a row that is played becomes that of the scope */
        if (read_act(act, &played.act))
            check_row(self, &played);
        else
            tap_report(false, "%s: an act is known: %s", self->policy, act);
    }
}

void frames_check(ctxrt_foreign_policy policy, const char *document, bool emulated)
{
    rows self = {.policy = policy_name(policy),
                 .error = policy == CTXRT_FOREIGN_ERROR,
                 .emulated = emulated};
    char line[LINE_BYTES];
    bool in_table = false;
    FILE *file = fopen(document, "r");
    if (file == NULL) {
        tap_report(false, "%s can be read: %s", document, strerror(errno));
        return;
    }
    play_open(&self.stage, libcuda_table(), act_with_calls);
    while (fgets(line, sizeof line, file) != NULL)
        check_line(&self, line, &in_table);
    fclose(file);
    play_close(&self.stage);
    tap_report(self.count >= ROWS_AT_LEAST, "%s: the table has its rows", self.policy);
    tap_note("%s: %d rows, %d cells compared, %d need more devices", self.policy, self.count,
             self.cells, self.lacking);
}
