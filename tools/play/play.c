#include "play/play.h"

#include "play/print.h"
#include <string.h>

#define STEP_TEXT 1024

typedef void visitor(const cx_scenario *, const cx_tape *, const cx_line_block *, const cx_line *,
                     FILE *);

static bool is_wrong(const cx_tape *tape, const cx_line *line)
{
    const cx_came *came = &tape->came[line->index];
    if (atomic_load(&came->state) != CX_CAME_BACK)
        return true;
    return !came->matched && !(line->step.unverified && !tape->emulated);
}

static bool has_differed(const cx_tape *tape, const cx_line *line)
{
    const cx_came *came = &tape->came[line->index];
    return atomic_load(&came->state) == CX_CAME_BACK && !came->matched;
}

/* Counts the mismatches. Calls `visit`, unless NULL, in the order of the file for each step with
 * unexpected results, tolerated ones included. */
static int count_wrong(const cx_scenario *scenario, const cx_tape *tape, const cx_line_block *block,
                       visitor *visit, FILE *to)
{
    int count = 0;
    for (const cx_line *line = block->first; line != NULL; line = line->next) {
        if (line->kind != CX_LINE_STEP)
            continue;
        if (line->step.has_block)
            count += count_wrong(scenario, tape, &line->step.block, visit, to);
        if (visit != NULL && has_differed(tape, line))
            visit(scenario, tape, block, line, to);
        count += is_wrong(tape, line);
    }
    return count;
}

cx_verdict cx_play_verdict(const cx_scenario *scenario, const cx_tape *tape)
{
    if (tape->skipped)
        return CX_VERDICT_SKIPPED;
    if (tape->failed || count_wrong(scenario, tape, &scenario->lines, NULL, NULL) != 0)
        return CX_VERDICT_FAILED;
    return CX_VERDICT_PASSED;
}

static void report_line(const cx_scenario *scenario, const cx_tape *tape,
                        const cx_line_block *block, const cx_line *line, FILE *to)
{
    const cx_came *came = &tape->came[line->index];
    const cx_verb *verb = cx_line_verb(block, line);
    char text[STEP_TEXT];
    cx_step bare = line->step;
    bare.outcomes = NULL;
    cx_step_print(&bare, text, sizeof text);
    fprintf(to, "%s:%d: %s\n", scenario->file, line->number, text);
    if (line->step.outcomes != NULL)
        cx_outcomes_print(&line->step, verb, text, sizeof text);
    fprintf(to, "    expected  %s\n", line->step.outcomes != NULL ? text : "SUCCESS");
    cx_came_print(came, verb, text, sizeof text);
    fprintf(to, "    came back %s\n", text);
    if (line->note != NULL)
        fprintf(to, "    rule     %s\n", line->note);
}

static const cx_line *first_not_run(const cx_tape *tape, const cx_line_block *block)
{
    const cx_line *found = NULL;
    for (const cx_line *line = block->first; line != NULL && found == NULL; line = line->next)
        if (line->kind == CX_LINE_STEP) {
            found = line->step.has_block ? first_not_run(tape, &line->step.block) : NULL;
            if (found == NULL && atomic_load(&tape->came[line->index].state) != CX_CAME_BACK)
                found = line;
        }
    return found;
}

void cx_play_report(const cx_scenario *scenario, const cx_tape *tape, FILE *to)
{
    if (tape->why[0] != '\0')
        fprintf(to, "%s: %s\n", scenario->file, tape->why);
    if (tape->skipped)
        return;
    count_wrong(scenario, tape, &scenario->lines, report_line, to);
    if (tape->explanation[0] != '\0')
        fprintf(to, "%s", tape->explanation);
    const cx_line *left = first_not_run(tape, &scenario->lines);
    if (left != NULL)
        fprintf(to, "%s:%d: this step and those behind it were not run to their end\n",
                scenario->file, left->number);
}
