#include "play/record.h"

#include "play/print.h"
#include <string.h>
#include <time.h>

/* The alternative with the actual result, if the scenario has one. */
static const cx_outcome *find_same_result(const cx_step *step, int result)
{
    const cx_outcome *each = step->outcomes;
    while (each != NULL && each->result != result)
        each = each->next;
    return each;
}

static bool is_open(const cx_expected *value)
{
    return value->kind != CX_EXPECTED_NUMBER && value->kind != CX_EXPECTED_NAME;
}

static bool record_value(cx_scenario *scenario, const cx_came_value *came, cx_expected *value)
{
    *value = (cx_expected){.kind = came->kind, .number = came->number};
    if (came->kind != CX_EXPECTED_NAME)
        return true;
    value->name = cx_scenario_text(scenario, came->name, strlen(came->name));
    value->number = 0;
    return value->name != NULL;
}

/* Unlinks one of a step's alternatives; returns the others. */
static cx_outcome *unlink_outcome(cx_step *step, const cx_outcome *one)
{
    cx_outcome **link = &step->outcomes;
    while (*link != one)
        link = &(*link)->next;
    *link = one->next;
    return step->outcomes;
}

static bool record_step(cx_scenario *scenario, const cx_tape *tape, cx_line *line)
{
    const cx_came *came = &tape->came[line->index];
    const cx_outcome *said = find_same_result(&line->step, came->result);
    bool ran = atomic_load(&came->state) == CX_CAME_BACK;
    cx_outcome *outcome = cx_scenario_take(scenario, sizeof *outcome);
    if (outcome == NULL)
        return false;
    outcome->result = ran ? came->result : CX_PLAY_ANY;
    outcome->untouched = ran && came->untouched && came->result != CXU_SUCCESS;
    for (int i = 0; ran && i < came->value_count; i++, outcome->value_count++) {
        bool open =
            said != NULL && came->matched && (i >= said->value_count || is_open(&said->values[i]));
        if (open && i >= said->value_count)
            break;
        if (open)
            outcome->values[i] = said->values[i];
        else if (!record_value(scenario, &came->values[i], &outcome->values[i]))
            return false;
    }
    if (said != NULL && came->matched)
        outcome->next = unlink_outcome(&line->step, said);
    line->step.outcomes = outcome;
    return true;
}

static bool record_block(cx_scenario *scenario, const cx_tape *tape, cx_line_block *block)
{
    for (cx_line *line = block->first; line != NULL; line = line->next)
        if (line->kind == CX_LINE_STEP && (!record_step(scenario, tape, line) ||
                                           !record_block(scenario, tape, &line->step.block)))
            return false;
    return true;
}

bool cx_record_apply(cx_scenario *scenario, const cx_tape *tape)
{
    return record_block(scenario, tape, &scenario->lines);
}

bool cx_record_print(const cx_scenario *scenario, const cx_tape *tape, FILE *to)
{
    char date[32] = "";
    struct tm now;
    time_t seconds = time(NULL);
    if (gmtime_r(&seconds, &now) != NULL)
        strftime(date, sizeof date, "%Y-%m-%d", &now);
    fprintf(to, "# recorded on %s, CUDA %d.%d, %s\n",
            tape->device[0] != '\0' ? tape->device : "no device", tape->driver_version / 1000,
            tape->driver_version % 1000 / 10, date);
    return cx_scenario_print(scenario, to);
}
