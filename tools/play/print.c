#include "play/print.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define STEP_TEXT 2048
#define NOTE_COLUMN 56
#define ARROW_COLUMN 32

typedef struct writer {
    char *text;
    size_t size, length;
} writer;

__attribute__((format(printf, 2, 3))) static void put(writer *to, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int more = vsnprintf(to->text + to->length, to->size - to->length, format, arguments);
    va_end(arguments);
    if (more > 0)
        to->length +=
            (size_t)more < to->size - to->length ? (size_t)more : to->size - to->length - 1;
}

static void put_number(writer *to, cx_words words, int64_t number)
{
    char text[256];
    cx_word_print(words, number, text, sizeof text);
    put(to, "%s", text);
}

static void put_operand(writer *to, const cx_operand_rule *rule, const cx_operand *operand)
{
    if (rule->role == CX_ROLE_KEY || rule->role == CX_ROLE_KEY_USE) {
        if (!operand->given)
            return;
        put(to, " %s=", rule->name);
    } else {
        put(to, " ");
    }
    if (operand->name == NULL && rule->kind == CX_KIND_MEMORY)
        put(to, "0x%llx", (unsigned long long)operand->number);
    else if (operand->name == NULL)
        put_number(to, rule->words, operand->number);
    else if (operand->number != 0)
        put(to, "%s+%lld", operand->name, (long long)operand->number);
    else
        put(to, "%s", operand->name);
}

static void put_expected(writer *to, const cx_result_rule *rule, const cx_expected *value)
{
    switch (value->kind) {
    case CX_EXPECTED_ANY:
        put(to, " _");
        break;
    case CX_EXPECTED_NUMBER:
        put(to, " ");
        put_number(to, rule->words, value->number);
        break;
    case CX_EXPECTED_NAME:
        put(to, " %s", value->name);
        break;
    case CX_EXPECTED_SAME:
        put(to, " @%s", value->name);
        break;
    case CX_EXPECTED_DIFFERENT:
        put(to, " !@%s", value->name);
        break;
    }
}

static void put_outcomes(writer *to, const cx_step *step, const cx_verb *verb)
{
    for (const cx_outcome *each = step->outcomes; each != NULL; each = each->next) {
        put(to, "%s%s", each == step->outcomes ? "" : " | ", cx_outcome_name(each->result));
        for (int i = 0; i < each->value_count; i++)
            put_expected(to, &verb->results[i], &each->values[i]);
        if (each->untouched)
            put(to, " untouched");
    }
}

void cx_outcomes_print(const cx_step *step, const cx_verb *verb, char *text, size_t size)
{
    writer to = {text, size, 0};
    put(&to, "%s", "");
    put_outcomes(&to, step, verb);
}

/* `verb`: of the step, or of the one that a finish waits for. */
static void put_step(writer *to, const cx_step *step, const cx_verb *verb)
{
    if (step->thread != NULL)
        put(to, "%s: ", step->thread);
    if (step->mode == CX_MODE_BEGIN)
        put(to, "begin ");
    put(to, "%s", step->mode == CX_MODE_FINISH ? "finish" : step->verb->name);
    for (int i = 0; step->verb != NULL && step->verb->operands[i].role != CX_ROLE_NONE; i++)
        put_operand(to, &step->verb->operands[i], &step->operands[i]);
    for (int i = 0; step->nowhere >> i != 0; i++)
        if ((step->nowhere >> i & 1) != 0)
            put(to, " null=%s", cx_verb_out_name(step->verb, i));
    if (step->outcomes != NULL) {
        put(to, "%*s -> ", to->length < ARROW_COLUMN ? (int)(ARROW_COLUMN - to->length) : 0, "");
        put_outcomes(to, step, verb);
    }
    if (step->unverified)
        put(to, " unverified");
}

void cx_step_print(const cx_step *step, char *text, size_t size)
{
    writer to = {text, size, 0};
    put(&to, "%s", "");
    put_step(&to, step, step->verb != NULL ? step->verb : &cx_verbs[0]);
}

static void put_directive(writer *to, const cx_line *line)
{
    static const char *const words[] = {[CX_DIRECTIVE_NEEDS] = "needs",
                                        [CX_DIRECTIVE_SET] = "set",
                                        [CX_DIRECTIVE_SCHEDULE] = "schedule"};
    if (line->directive == CX_DIRECTIVE_DEVICES)
        put(to, "devices %d", line->devices);
    else if (line->directive == CX_DIRECTIVE_UNINITIALISED)
        put(to, "uninitialised");
    else
        put(to, "%s %s", words[line->directive], line->text);
}

static void print_block(const cx_line_block *block, int depth, FILE *to)
{
    for (const cx_line *line = block->first; line != NULL; line = line->next) {
        char text[STEP_TEXT] = "";
        writer step = {text, sizeof text, 0};
        if (line->kind == CX_LINE_DIRECTIVE)
            put_directive(&step, line);
        else if (line->kind == CX_LINE_STEP)
            put_step(&step, &line->step, cx_line_verb(block, line));
        bool block_follows = line->kind == CX_LINE_STEP && line->step.has_block;
        if (block_follows)
            put(&step, " {");
        int indent = line->kind == CX_LINE_BLANK && line->note == NULL ? 0 : 4 * depth;
        fprintf(to, "%*s%s", indent, "", text);
        if (line->note != NULL)
            fprintf(to, "%*s#%s",
                    step.length == 0            ? 0
                    : step.length < NOTE_COLUMN ? (int)(NOTE_COLUMN - step.length)
                                                : 1,
                    "", line->note);
        fputc('\n', to);
        if (block_follows) {
            print_block(&line->step.block, depth + 1, to);
            fprintf(to, "%*s}\n", 4 * depth, "");
        }
    }
}

bool cx_scenario_print(const cx_scenario *scenario, FILE *to)
{
    print_block(&scenario->lines, 0, to);
    return !ferror(to);
}
