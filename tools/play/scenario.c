#include "play/scenario.h"

#include <stdlib.h>
#include <string.h>

#define PIECE_BYTES ((size_t)16 << 10)

typedef struct cx_scenario_chunk {
    struct cx_scenario_chunk *next;
    size_t used, size;
    _Alignas(16) char bytes[];
} cx_scenario_chunk;

cx_scenario *cx_scenario_create(const char *file)
{
    cx_scenario *self = calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    self->file = cx_scenario_text(self, file, strlen(file));
    if (self->file != NULL)
        return self;
    cx_scenario_destroy(self);
    return NULL;
}

void cx_scenario_destroy(cx_scenario *scenario)
{
    if (scenario == NULL)
        return;
    while (scenario->memory != NULL) {
        cx_scenario_chunk *next = scenario->memory->next;
        free(scenario->memory);
        scenario->memory = next;
    }
    free(scenario);
}

static cx_scenario_chunk *grow_chunks(cx_scenario *scenario, size_t bytes)
{
    size_t size = bytes > PIECE_BYTES ? bytes : PIECE_BYTES;
    cx_scenario_chunk *piece = calloc(1, sizeof *piece + size);
    if (piece == NULL)
        return NULL;
    piece->size = size;
    piece->next = scenario->memory;
    scenario->memory = piece;
    return piece;
}

void *cx_scenario_take(cx_scenario *scenario, size_t bytes)
{
    cx_scenario_chunk *piece = scenario->memory;
    bytes = (bytes + 15) & ~(size_t)15;
    if (piece == NULL || piece->size - piece->used < bytes)
        piece = grow_chunks(scenario, bytes);
    if (piece == NULL)
        return NULL;
    piece->used += bytes;
    return piece->bytes + piece->used - bytes;
}

const char *cx_scenario_text(cx_scenario *scenario, const char *text, size_t length)
{
    char *copy = cx_scenario_take(scenario, length + 1);
    if (copy != NULL)
        memcpy(copy, text, length);
    return copy;
}

cx_line *cx_line_block_add(cx_scenario *scenario, cx_line_block *block, cx_line_kind kind)
{
    cx_line *line = cx_scenario_take(scenario, sizeof *line);
    if (line == NULL)
        return NULL;
    line->kind = kind;
    line->index = scenario->line_count++;
    *(block->last != NULL ? &block->last->next : &block->first) = line;
    block->last = line;
    return line;
}

bool cx_scenario_has_step(const cx_scenario *scenario)
{
    const cx_line *line = scenario->lines.first;
    while (line != NULL && line->kind != CX_LINE_STEP)
        line = line->next;
    return line != NULL;
}

const cx_verb *cx_line_verb(const cx_line_block *block, const cx_line *line)
{
    const cx_verb *verb = line->step.verb;
    if (line->step.mode != CX_MODE_FINISH)
        return verb;
    for (const cx_line *each = block->first; each != line; each = each->next)
        if (each->kind == CX_LINE_STEP && each->step.mode == CX_MODE_BEGIN &&
            strcmp(each->step.thread, line->step.thread) == 0)
            verb = each->step.verb;
    return verb;
}

cx_step *cx_scenario_step(cx_scenario *scenario, const char *thread, cx_verb_id verb)
{
    const char *name = cx_scenario_text(scenario, thread, strlen(thread));
    cx_line *line =
        name != NULL ? cx_line_block_add(scenario, &scenario->lines, CX_LINE_STEP) : NULL;
    if (line == NULL)
        return NULL;
    line->step.thread = name;
    line->step.verb = &cx_verbs[verb];
    return &line->step;
}

bool cx_step_name(cx_scenario *scenario, cx_step *step, int operand, const char *name)
{
    const char *copy = cx_scenario_text(scenario, name, strlen(name));
    if (copy != NULL)
        step->operands[operand] = (cx_operand){.given = true, .name = copy};
    return copy != NULL;
}

void cx_step_number(cx_step *step, int operand, int64_t number)
{
    step->operands[operand] = (cx_operand){.given = true, .number = number};
}

cx_outcome *cx_step_expect(cx_scenario *scenario, cx_step *step, int result)
{
    cx_outcome *outcome = cx_scenario_take(scenario, sizeof *outcome);
    if (outcome == NULL)
        return NULL;
    outcome->result = result;
    cx_outcome **end = &step->outcomes;
    while (*end != NULL)
        end = &(*end)->next;
    return *end = outcome;
}

/* ---- names of results ---- */

static const struct result_row {
    int result;
    const char *name;
} results[] = {
#define CX_RESULT(name, value, text) {value, #name},
#include "driver/results.def"
    {CX_PLAY_DIFFERS, "DIFFERS"}, {CX_PLAY_ABSENT, "NOT_IN_THIS_DRIVER"}, {CX_PLAY_WAITS, "WAITS"},
    {CX_PLAY_STUCK, "STUCK"},     {CX_PLAY_UNBOUND, "NO_VALUE"},          {CX_PLAY_ANY, "any"},
};
#define RESULTS ((int)(sizeof results / sizeof results[0]))

const char *cx_outcome_name(int result)
{
    for (int i = 0; i < RESULTS; i++)
        if (results[i].result == result)
            return results[i].name;
    return NULL;
}

bool cx_outcome_find(const char *name, int *out_result)
{
    for (int i = 0; i < RESULTS; i++)
        if (strcmp(results[i].name, name) == 0) {
            *out_result = results[i].result;
            return true;
        }
    return false;
}

static const char *name_at(int index)
{
    return index < RESULTS ? results[index].name : NULL;
}

const char *cx_outcome_nearest(const char *name)
{
    return cx_nearest(name, name_at);
}

/* ---- comparing ---- */

static bool same_text(const char *left, const char *right)
{
    return left == right || (left != NULL && right != NULL && strcmp(left, right) == 0);
}

static bool same_outcomes(const cx_outcome *left, const cx_outcome *right)
{
    for (; left != NULL && right != NULL; left = left->next, right = right->next) {
        if (left->result != right->result || left->untouched != right->untouched ||
            left->value_count != right->value_count)
            return false;
        for (int i = 0; i < left->value_count; i++)
            if (left->values[i].kind != right->values[i].kind ||
                left->values[i].number != right->values[i].number ||
                !same_text(left->values[i].name, right->values[i].name))
                return false;
    }
    return left == right;
}

static bool same_block(const cx_line_block *left, const cx_line_block *right);

static bool same_step(const cx_step *left, const cx_step *right)
{
    if (!same_text(left->thread, right->thread) || left->mode != right->mode ||
        left->verb != right->verb || left->nowhere != right->nowhere ||
        left->unverified != right->unverified || left->has_block != right->has_block ||
        !same_outcomes(left->outcomes, right->outcomes))
        return false;
    for (int i = 0; i < CX_OPERANDS_MAX; i++)
        if (left->operands[i].given != right->operands[i].given ||
            left->operands[i].number != right->operands[i].number ||
            !same_text(left->operands[i].name, right->operands[i].name))
            return false;
    return same_block(&left->block, &right->block);
}

static bool same_block(const cx_line_block *left_block, const cx_line_block *right_block)
{
    const cx_line *left = left_block->first, *right = right_block->first;
    for (; left != NULL && right != NULL; left = left->next, right = right->next)
        if (left->kind != right->kind || !same_text(left->note, right->note) ||
            left->directive != right->directive || left->devices != right->devices ||
            !same_text(left->text, right->text) || !same_step(&left->step, &right->step))
            return false;
    return left == right;
}

bool cx_scenario_same(const cx_scenario *left, const cx_scenario *right)
{
    return same_block(&left->lines, &right->lines);
}
