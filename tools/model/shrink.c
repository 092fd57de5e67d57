#include "model/random.h"

#include <stdlib.h>
#include <string.h>

/* ---- predicting anew ---- */

static const char *copy_text(cx_scenario *to, const char *text)
{
    return text != NULL ? cx_scenario_text(to, text, strlen(text)) : NULL;
}

static bool copy_block(cx_scenario *to, cx_line_block *block, const cx_line_block *from);

/* Copies a step without its expectations. */
static bool copy_step(cx_scenario *to, cx_step *step, const cx_step *from)
{
    step->thread = copy_text(to, from->thread);
    step->verb = from->verb;
    step->mode = from->mode;
    for (int i = 0; i < CX_OPERANDS_MAX; i++) {
        step->operands[i] = from->operands[i];
        step->operands[i].name = copy_text(to, from->operands[i].name);
    }
    step->has_block = from->has_block;
    return copy_block(to, &step->block, &from->block);
}

static bool copy_block(cx_scenario *to, cx_line_block *block, const cx_line_block *from)
{
    for (const cx_line *line = from->first; line != NULL; line = line->next) {
        cx_line *copy = cx_line_block_add(to, block, line->kind);
        if (copy == NULL || !copy_step(to, &copy->step, &line->step))
            return false;
    }
    return true;
}

static int devices_of(const cx_scenario *scenario, bool *out_initialised)
{
    int devices = 1;
    *out_initialised = true;
    for (const cx_line *line = scenario->lines.first; line != NULL; line = line->next) {
        if (line->kind == CX_LINE_DIRECTIVE && line->directive == CX_DIRECTIVE_DEVICES)
            devices = line->devices;
        if (line->kind == CX_LINE_DIRECTIVE && line->directive == CX_DIRECTIVE_UNINITIALISED)
            *out_initialised = false;
    }
    return devices;
}

static bool tell_line(cx_scenario *to, cx_model *model, const cx_line *line, cx_coverage *coverage)
{
    cx_line *last = to->lines.last;
    int count = to->line_count;
    cx_line *copy = cx_line_block_add(to, &to->lines, line->kind);
    if (copy == NULL)
        return false;
    if (line->kind == CX_LINE_DIRECTIVE) {
        copy->directive = line->directive;
        copy->devices = line->devices;
        copy->text = copy_text(to, line->text);
        return true;
    }
    if (!copy_step(to, &copy->step, &line->step))
        return false;
    if (!cx_model_step(model, to, &copy->step, coverage)) {
        to->lines.last = last;
        to->line_count = count;
        if (last != NULL)
            last->next = NULL;
        else
            to->lines.first = NULL;
    }
    return true;
}

cx_scenario *cx_model_retell(const cx_scenario *from, const bool *keep, cx_coverage *coverage)
{
    bool initialised;
    int devices = devices_of(from, &initialised);
    cx_scenario *to = cx_scenario_create(from->file);
    cx_model *model = cx_model_create(devices, initialised);
    bool told = to != NULL && model != NULL;
    for (const cx_line *line = from->lines.first; line != NULL && told; line = line->next)
        if (line->kind == CX_LINE_DIRECTIVE ||
            (line->kind == CX_LINE_STEP && (keep == NULL || keep[line->index])))
            told = tell_line(to, model, line, coverage);
    cx_model_destroy(model);
    if (!told) {
        cx_scenario_destroy(to);
        return NULL;
    }
    return to;
}

/* ---- leaving steps out ---- */

static int count_steps(const cx_scenario *scenario)
{
    int count = 0;
    for (const cx_line *line = scenario->lines.first; line != NULL; line = line->next)
        count += line->kind == CX_LINE_STEP;
    return count;
}

/* The scenario without the steps from `first` to before `end`, counted among steps. */
static cx_scenario *without_steps(const cx_scenario *from, int first, int end)
{
    bool *keep = calloc((size_t)from->line_count + 1, sizeof *keep);
    int step = 0;
    if (keep == NULL)
        return NULL;
    for (const cx_line *line = from->lines.first; line != NULL; line = line->next)
        if (line->kind == CX_LINE_STEP) {
            keep[line->index] = step < first || step >= end;
            step++;
        }
    cx_scenario *left = cx_model_retell(from, keep, NULL);
    free(keep);
    return left;
}

/* Tries to leave out each run of `length` steps. */
static cx_scenario *leave_out(cx_scenario *best, int length,
                              bool (*fails)(const cx_scenario *, void *), void *argument)
{
    for (int first = 0; first < count_steps(best);) {
        cx_scenario *less = without_steps(best, first, first + length);
        if (less == NULL)
            return best;
        if (count_steps(less) < count_steps(best) && fails(less, argument)) {
            cx_scenario_destroy(best);
            best = less;
        } else {
            cx_scenario_destroy(less);
            first += length;
        }
    }
    return best;
}

cx_scenario *cx_model_shrink(const cx_scenario *from,
                             bool (*fails)(const cx_scenario *scenario, void *argument),
                             void *argument)
{
    cx_scenario *best = cx_model_retell(from, NULL, NULL);
    if (best == NULL)
        return NULL;
    for (int length = count_steps(best) / 2; length > 0; length /= 2)
        best = leave_out(best, length, fails, argument);
    for (int before = count_steps(best) + 1; count_steps(best) < before;) {
        before = count_steps(best);
        best = leave_out(best, 1, fails, argument);
    }
    return best;
}
