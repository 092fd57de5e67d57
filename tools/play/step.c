#include "play/player.h"

#include <string.h>

/* ---- before the call ---- */

/* A handle that another process of the scenario has made. */
static bool find_letter(const cx_player *player, const char *name, cx_cell *out_cell)
{
    out_cell->host = cx_tape_letter(player->tape, name, false);
    return out_cell->host != NULL;
}

static bool resolve_one(const cx_player *player, const cx_operand_rule *rule,
                        const cx_operand *operand, cx_cell *out_cell)
{
    const char *name = operand->given ? operand->name : rule->default_name;
    if (rule->role == CX_ROLE_NEW)
        return true;
    if (name == NULL) {
        *out_cell = cx_cell_of(rule->kind, operand->given ? operand->number : rule->number);
        return true;
    }
    if (!cx_value_find(&player->values, rule->kind, name, out_cell))
        return rule->kind == CX_KIND_IPC ? find_letter(player, name, out_cell)
                                         : rule->kind == CX_KIND_GATE;
    if (rule->kind == CX_KIND_MEMORY)
        out_cell->pointer += (CUdeviceptr)operand->number;
    else if (rule->kind == CX_KIND_HOST && operand->number != 0)
        out_cell->host = (char *)out_cell->host + operand->number;
    return true;
}

static bool resolve_operands(cx_player *player, const cx_step *step, cx_cell *in)
{
    bool bound = true;
    cx_lock_enter(&player->lock);
    for (int i = 0; step->verb->operands[i].role != CX_ROLE_NONE; i++) {
        in[i].bits = 0;
        bound = resolve_one(player, &step->verb->operands[i], &step->operands[i], &in[i]) && bound;
    }
    cx_lock_leave(&player->lock);
    return bound;
}

static int call_driver(const cx_player *player, cx_call *call)
{
    const cx_step *step = &call->line->step;
    bool entered = cx_host_enter(player);
    cxu_result result =
        step->verb->call(&player->driver.table, call->in, call->out, step->nowhere);
    cx_host_leave(player, entered);
    return (int)result;
}

void cx_step_run(cx_player *player, cx_call *call)
{
    const cx_line *line = call->line;
    const cx_verb *verb = line->step.verb;
    atomic_store(&player->tape->running, line->index);
    atomic_store(&player->tape->came[line->index].state, CX_CAME_RUNNING);
    for (int i = 0; i < 1 + CX_RESULTS_MAX; i++)
        call->out[i].bits = CX_CELL_UNTOUCHED;
    if (!resolve_operands(player, &line->step, call->in))
        call->result = CX_PLAY_UNBOUND;
    else if (verb->action)
        call->result = cx_action_run(player, call);
    else if (player->driver.missing[verb->slot])
        call->result = CX_PLAY_ABSENT;
    else
        call->result = call_driver(player, call);
    atomic_fetch_add(&player->tape->progress, 1);
}

/* ---- after it ---- */

static bool untouched(const cx_verb *verb, const cx_call *call)
{
    for (int i = 0; i < 1 + CX_RESULTS_MAX && cx_verb_out_kind(verb, i) != CX_KIND_COUNT; i++)
        if (call->out[i].bits != CX_CELL_UNTOUCHED)
            return false;
    return true;
}

/* Lock held. */
static void keep_value(const cx_player *player, const cx_result_rule *rule, cx_cell cell,
                       cx_came_value *value)
{
    value->kind = CX_EXPECTED_ANY;
    if (cell.bits == CX_CELL_UNTOUCHED)
        return;
    cell = cx_cell_settle(rule->kind, cell);
    value->number = cx_cell_number(rule->kind, cell);
    if (cx_kind_is_number(rule->kind)) {
        value->kind = CX_EXPECTED_NUMBER;
        return;
    }
    const char *name = cx_value_name(&player->values, rule->kind, cell);
    if (name == NULL)
        return;
    value->kind = CX_EXPECTED_NAME;
    memcpy(value->name, name, strnlen(name, CX_NAME_MAX));
}

static bool value_matches(cx_player *player, const cx_result_rule *rule, cx_cell cell,
                          const cx_expected *expected)
{
    cx_cell other;
    if (expected->kind == CX_EXPECTED_ANY)
        return true;
    if (cell.bits == CX_CELL_UNTOUCHED)
        return false;
    cell = cx_cell_settle(rule->kind, cell);
    switch (expected->kind) {
    case CX_EXPECTED_NUMBER:
        return cell.bits == cx_cell_of(rule->kind, expected->number).bits;
    case CX_EXPECTED_SAME:
        return cx_value_see(&player->values, expected->name, cell);
    case CX_EXPECTED_DIFFERENT:
        return cx_value_seen(&player->values, expected->name, &other) && other.bits != cell.bits;
    default:
        return cx_value_find(&player->values, rule->kind, expected->name, &other) &&
               other.bits == cell.bits;
    }
}

static bool gives_values(int result)
{
    return result == CXU_SUCCESS || result == CX_PLAY_DIFFERS;
}

static bool outcome_matches(cx_player *player, const cx_verb *verb, const cx_call *call,
                            const cx_outcome *outcome)
{
    const cx_cell *values = call->out + (cx_verb_makes(verb) ? 1 : 0);
    if (outcome->result != CX_PLAY_ANY && outcome->result != call->result)
        return false;
    if (outcome->untouched && !untouched(verb, call))
        return false;
    for (int i = 0; i < outcome->value_count; i++)
        if (!value_matches(player, &verb->results[i], values[i], &outcome->values[i]))
            return false;
    return true;
}

static bool matches_expected(cx_player *player, const cx_line *line, const cx_verb *verb,
                             const cx_call *call)
{
    const cx_outcome *outcome = line->step.outcomes;
    if (outcome == NULL)
        return call->result == CXU_SUCCESS || line->step.mode == CX_MODE_BEGIN;
    for (; outcome != NULL; outcome = outcome->next)
        if (outcome_matches(player, verb, call, outcome))
            return true;
    return false;
}

/* Lock held. */
static void keep_results(cx_player *player, const cx_verb *verb, const cx_call *call, cx_came *came)
{
    const cx_cell *values = call->out + (cx_verb_makes(verb) ? 1 : 0);
    came->result = call->result;
    came->untouched =
        verb->results[0].name != NULL || cx_verb_makes(verb) ? untouched(verb, call) : false;
    came->value_count = 0;
    if (!gives_values(call->result))
        return;
    for (int i = 0; verb->results[i].name != NULL; i++, came->value_count++)
        keep_value(player, &verb->results[i], values[i], &came->values[i]);
}

bool cx_step_judge(cx_player *player, const cx_line *line, const cx_call *call)
{
    const cx_step *made_by = &call->line->step;
    const cx_verb *verb = made_by->verb;
    cx_tape *tape = player->tape;
    cx_came *came = &tape->came[line->index];

    cx_lock_enter(&player->lock);
    if (cx_verb_makes(verb) && call->result == CXU_SUCCESS &&
        call->out[0].bits != CX_CELL_UNTOUCHED)
        cx_value_bind(&player->values, verb->operands[0].kind, made_by->operands[0].name,
                      call->out[0]);
    keep_results(player, verb, call, came);
    came->matched = matches_expected(player, line, verb, call);
    if (call->result == CX_PLAY_ABSENT && !came->matched)
        cx_tape_say(tape, true, "line %d: %s is not in this driver", line->number,
                    verb->action ? verb->name : cx_symbols[verb->slot].symbol);
    bool good = came->matched || (line->step.unverified && !tape->emulated);
    if ((!good && !player->options->record) || call->result == CX_PLAY_STUCK)
        player->stopped = true;
    cx_lock_leave(&player->lock);
    atomic_store(&came->state, CX_CAME_BACK);
    return good;
}

bool cx_line_block_run(cx_player *player, const cx_line_block *block)
{
    bool good = true;
    for (const cx_line *line = block->first; line != NULL; line = line->next) {
        cx_call call = {.line = line};
        if (line->kind != CX_LINE_STEP)
            continue;
        cx_step_run(player, &call);
        good = cx_step_judge(player, line, &call) && good;
        if (!good && !player->options->record)
            return false;
    }
    return good;
}
