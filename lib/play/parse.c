#include "play/parse.h"

#include "play/lex.h"
#include "play/names.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define DEVICES_MAX 64
#define OUTCOMES_MAX 8

typedef struct parser {
    cx_scenario *scenario;
    cx_parse_error *error;
    const char *next, *end; /* the text from the next line on */
    int line;
    cx_lexer lexer;
    cx_token token; /* the one that is looked at */
    cx_names *names;
} parser;

/* What the steps of a block may do. */
typedef struct place {
    cx_block *block;
    int depth;
    const cx_line *last_step;
    const char *thread; /* the only one that may have steps; NULL: any */
    cx_verb_id inside;  /* whose block it is; CX_VERB_process also for the scenario itself */
    int opened_line, opened_column;
} place;

__attribute__((format(printf, 4, 5))) static bool fail_at(parser *self, int line, int column,
                                                          const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    self->error->line = line;
    self->error->column = column;
    vsnprintf(self->error->message, sizeof self->error->message, format, arguments);
    va_end(arguments);
    return false;
}

#define FAIL(self, token, ...) fail_at(self, (self)->line, (token)->column, __VA_ARGS__)

static bool no_memory(parser *self)
{
    return fail_at(self, self->line, 1, "there is not enough memory for this scenario");
}

/* For messages: a token as it stands, cut. */
typedef struct quoted {
    char text[72];
} quoted;

static quoted quote(const cx_token *token)
{
    quoted self;
    unsigned char first = token->length > 0 ? (unsigned char)token->text[0] : 0;
    if (token->kind == CX_TOKEN_END)
        snprintf(self.text, sizeof self.text, "the end of the line");
    else if (token->kind == CX_TOKEN_BAD && (first < ' ' || first > '~'))
        snprintf(self.text, sizeof self.text, "the byte 0x%02x", first);
    else
        snprintf(self.text, sizeof self.text, "'%.*s'",
                 token->length < 60 ? (int)token->length : 60, token->text);
    return self;
}

static void advance(parser *self)
{
    self->token = cx_lex(&self->lexer);
}

static bool token_is_word(const cx_token *token, const char *word)
{
    return token->kind == CX_TOKEN_WORD && token->length == strlen(word) &&
           memcmp(token->text, word, token->length) == 0;
}

static bool expect_sign(parser *self, char sign, const char *why)
{
    if (!cx_token_is(&self->token, sign))
        return FAIL(self, &self->token, "'%c' should stand here, %s, not %s", sign, why,
                    quote(&self->token).text);
    advance(self);
    return true;
}

static const char *keep(parser *self, const cx_token *token)
{
    const char *text = cx_scenario_text(self->scenario, token->text, token->length);
    if (text == NULL)
        no_memory(self);
    return text;
}

/* A word as a C string, if it can be a name: no dots, not too long. */
static const char *take_name(parser *self, const char *what)
{
    cx_token token = self->token;
    if (token.kind != CX_TOKEN_WORD || memchr(token.text, '.', token.length) != NULL) {
        FAIL(self, &token, "the name of %s should stand here, not %s", what, quote(&token).text);
        return NULL;
    }
    if (token.length > CX_NAME_MAX) {
        FAIL(self, &token, "a name has at most %d letters", CX_NAME_MAX);
        return NULL;
    }
    advance(self);
    return keep(self, &token);
}

static bool is_built_in(cx_kind kind, const char *name)
{
    return strcmp(name, "none") == 0 ||
           (kind == CX_KIND_STREAM &&
            (strcmp(name, "legacy") == 0 || strcmp(name, "per_thread") == 0));
}

/* ---- operands ---- */

static bool check_range(parser *self, const cx_token *token, cx_kind kind, int64_t number)
{
    bool fits = kind == CX_KIND_INTEGER ? number >= INT32_MIN && number <= INT32_MAX
                : kind == CX_KIND_FLAGS ? number >= 0 && number <= UINT32_MAX
                                        : number >= 0;
    return fits ||
           FAIL(self, token, "%s does not fit: %s is a number %s", quote(token).text, "this",
                kind == CX_KIND_INTEGER ? "of 32 bits with sign"
                : kind == CX_KIND_FLAGS ? "of 32 bits without sign"
                                        : "from 0 on");
}

static bool take_words(parser *self, cx_words words, int64_t *out_number)
{
    *out_number = 0;
    for (;;) {
        int64_t value;
        cx_token token = self->token;
        const char *word = token.kind == CX_TOKEN_WORD ? keep(self, &token) : NULL;
        if (token.kind == CX_TOKEN_WORD && word == NULL)
            return false;
        if (word == NULL || !cx_word_value(words, word, &value))
            return FAIL(self, &token, "%s is none of the words for this number",
                        quote(&token).text);
        *out_number |= value;
        advance(self);
        if (!cx_token_is(&self->token, '+'))
            return true;
        advance(self);
    }
}

static bool take_number(parser *self, const char *name, cx_kind kind, cx_words words,
                        int64_t *out_number)
{
    cx_token token = self->token;
    if (token.kind == CX_TOKEN_WORD && words != CX_WORDS_NONE)
        return take_words(self, words, out_number);
    if (token.kind == CX_TOKEN_BAD && token.length > 1)
        return FAIL(self, &token, "%s is no number of 63 bits", quote(&token).text);
    if (token.kind != CX_TOKEN_NUMBER)
        return FAIL(self, &token, "a number should stand here, %s, not %s", name,
                    quote(&token).text);
    if (!check_range(self, &token, kind, token.number))
        return false;
    *out_number = token.number;
    advance(self);
    return true;
}

static bool check_known(parser *self, const cx_token *token, cx_kind kind, const char *name)
{
    cx_kind known;
    if (is_built_in(kind, name))
        return true;
    if (!cx_names_kind(self->names, name, &known))
        return FAIL(self, token, "nothing before this line has the name '%s'", name);
    if (known != kind)
        return FAIL(self, token, "'%s' is a name of %s, and %s is wanted", name,
                    cx_kind_word(known), cx_kind_word(kind));
    return true;
}

/* A gate is there once it is named. */
static bool take_use(parser *self, const cx_operand_rule *rule, cx_operand *operand)
{
    cx_token token = self->token;
    bool address = rule->kind == CX_KIND_MEMORY || rule->kind == CX_KIND_HOST;
    if (rule->kind == CX_KIND_MEMORY && token.kind == CX_TOKEN_NUMBER)
        return take_number(self, "an address", CX_KIND_WIDE, CX_WORDS_NONE, &operand->number);
    operand->name = take_name(self, cx_kind_word(rule->kind));
    if (operand->name == NULL)
        return false;
    cx_kind known;
    if (rule->kind == CX_KIND_GATE && !is_built_in(rule->kind, operand->name) &&
        !cx_names_kind(self->names, operand->name, &known) &&
        !cx_names_declare(self->names, operand->name, CX_KIND_GATE))
        return no_memory(self);
    if (!check_known(self, &token, rule->kind, operand->name))
        return false;
    if (!address || !cx_token_is(&self->token, '+'))
        return true;
    advance(self);
    return take_number(self, "an offset", CX_KIND_SIZE, CX_WORDS_NONE, &operand->number);
}

static bool take_new(parser *self, const cx_operand_rule *rule, cx_operand *operand)
{
    cx_token token = self->token;
    operand->name = take_name(self, cx_kind_word(rule->kind));
    if (operand->name == NULL)
        return false;
    if (is_built_in(CX_KIND_STREAM, operand->name) || strcmp(operand->name, "_") == 0 ||
        strcmp(operand->name, "untouched") == 0)
        return FAIL(self, &token, "'%s' cannot be a name: it means something", operand->name);
    return true;
}

static bool take_operand(parser *self, const cx_operand_rule *rule, cx_operand *operand)
{
    operand->given = true;
    if (rule->role == CX_ROLE_NEW)
        return take_new(self, rule, operand);
    if (rule->role == CX_ROLE_USE || rule->role == CX_ROLE_KEY_USE)
        return take_use(self, rule, operand);
    return take_number(self, rule->name, rule->kind, rule->words, &operand->number);
}

static bool take_key(parser *self, cx_step *step)
{
    cx_token token = self->token;
    const cx_operand_rule *rules = step->verb->operands;
    for (int i = 0; rules[i].role != CX_ROLE_NONE; i++) {
        if ((rules[i].role != CX_ROLE_KEY && rules[i].role != CX_ROLE_KEY_USE) ||
            !token_is_word(&token, rules[i].name))
            continue;
        if (step->operands[i].given)
            return FAIL(self, &token, "'%s' is said twice", rules[i].name);
        advance(self);
        return expect_sign(self, '=', "before the value") &&
               take_operand(self, &rules[i], &step->operands[i]);
    }
    return FAIL(self, &token, "%s is one word too many for %s", quote(&token).text,
                step->verb->name);
}

static bool at_end_of_operands(const parser *self)
{
    return self->token.kind == CX_TOKEN_END || self->token.kind == CX_TOKEN_ARROW ||
           cx_token_is(&self->token, '{') || token_is_word(&self->token, "unverified");
}

static bool take_operands(parser *self, cx_step *step)
{
    const cx_operand_rule *rules = step->verb->operands;
    for (int i = 0; rules[i].role != CX_ROLE_NONE; i++)
        if (rules[i].role != CX_ROLE_KEY && rules[i].role != CX_ROLE_KEY_USE &&
            !take_operand(self, &rules[i], &step->operands[i]))
            return false;
    while (!at_end_of_operands(self))
        if (!take_key(self, step))
            return false;
    return !cx_verb_makes(step->verb) ||
           cx_names_declare(self->names, step->operands[0].name, rules[0].kind) || no_memory(self);
}

/* ---- what comes back ---- */

static bool take_seen(parser *self, cx_expected *value)
{
    bool different = cx_token_is(&self->token, '!');
    cx_token token = self->token;
    if (different) {
        advance(self);
        if (!expect_sign(self, '@', "before the name of a value"))
            return false;
    } else {
        advance(self);
    }
    value->kind = different ? CX_EXPECTED_DIFFERENT : CX_EXPECTED_SAME;
    value->name = take_name(self, "a value");
    if (value->name == NULL)
        return false;
    if (different && !cx_names_seen(self->names, value->name))
        return FAIL(self, &token, "no line before this one has given '@%s' a value", value->name);
    return cx_names_see(self->names, value->name) || no_memory(self);
}

static bool take_expected(parser *self, const cx_result_rule *rule, cx_expected *value)
{
    cx_token token = self->token;
    if (token_is_word(&token, "_")) {
        advance(self);
        return true;
    }
    if (cx_token_is(&token, '@') || cx_token_is(&token, '!'))
        return take_seen(self, value);
    if (cx_kind_is_number(rule->kind)) {
        value->kind = CX_EXPECTED_NUMBER;
        return take_number(self, rule->name, rule->kind, rule->words, &value->number);
    }
    value->kind = CX_EXPECTED_NAME;
    value->name = take_name(self, cx_kind_word(rule->kind));
    return value->name != NULL && check_known(self, &token, rule->kind, value->name);
}

static bool take_result(parser *self, int *out_result)
{
    cx_token token = self->token;
    if (token.kind != CX_TOKEN_WORD)
        return FAIL(self, &token, "a result should stand here, as SUCCESS, not %s",
                    quote(&token).text);
    const char *name = keep(self, &token);
    if (name == NULL)
        return false;
    if (!cx_outcome_find(name, out_result)) {
        const char *near = cx_outcome_nearest(name);
        return FAIL(self, &token, "there is no result %s%s%s%s", quote(&token).text,
                    near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
                    near != NULL ? "'?" : "");
    }
    advance(self);
    return true;
}

static bool take_outcome(parser *self, cx_step *step, const cx_verb *verb)
{
    int result;
    if (!take_result(self, &result))
        return false;
    cx_outcome *outcome = cx_step_expect(self->scenario, step, result);
    if (outcome == NULL)
        return no_memory(self);
    while (!at_end_of_operands(self) && !cx_token_is(&self->token, '|')) {
        if (token_is_word(&self->token, "untouched")) {
            if (!cx_verb_makes(verb) && verb->results[0].name == NULL)
                return FAIL(self, &self->token, "%s writes nothing that could stay untouched",
                            verb->name);
            outcome->untouched = true;
            advance(self);
            continue;
        }
        if (verb->results[outcome->value_count].name == NULL)
            return FAIL(self, &self->token, "%s is more than %s gives back",
                        quote(&self->token).text, verb->name);
        if (!take_expected(self, &verb->results[outcome->value_count],
                           &outcome->values[outcome->value_count]))
            return false;
        outcome->value_count++;
    }
    return true;
}

static bool take_outcomes(parser *self, cx_step *step, const cx_verb *verb)
{
    int count = 0;
    do {
        advance(self);
        if (count++ == OUTCOMES_MAX)
            return FAIL(self, &self->token, "there are at most %d alternatives", OUTCOMES_MAX);
        if (!take_outcome(self, step, verb))
            return false;
    } while (cx_token_is(&self->token, '|'));
    return true;
}

/* ---- steps ---- */

static bool take_verb(parser *self, cx_step *step)
{
    cx_token token = self->token;
    if (token.kind != CX_TOKEN_WORD)
        return FAIL(self, &token, "a verb should stand here, not %s", quote(&token).text);
    const char *name = keep(self, &token);
    if (name == NULL)
        return false;
    step->verb = cx_verb_find(name);
    if (step->verb == NULL) {
        const char *near = cx_verb_nearest(name);
        return FAIL(self, &token, "there is no verb %s%s%s%s", quote(&token).text,
                    near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
                    near != NULL ? "'?" : "");
    }
    advance(self);
    return true;
}

static bool is_verb(const cx_step *step, cx_verb_id id)
{
    return step->verb == &cx_verbs[id];
}

/* Where a verb may stand, and whether it may be begun only. */
static bool check_place(parser *self, const place *in, const cx_step *step, const cx_token *verb)
{
    bool ends = is_verb(step, CX_VERB_exit) || is_verb(step, CX_VERB_fork) ||
                is_verb(step, CX_VERB_thread_end) || is_verb(step, CX_VERB_process);
    if (is_verb(step, CX_VERB_process) && step->thread != NULL)
        return FAIL(self, verb, "process belongs to no thread: it stands alone");
    if (step->mode == CX_MODE_BEGIN && (ends || step->verb->takes_block))
        return FAIL(self, verb, "%s cannot be begun and finished", step->verb->name);
    if (ends && in->inside != CX_VERB_process)
        return FAIL(self, verb, "%s cannot stand in the block of %s", step->verb->name,
                    cx_verbs[in->inside].name);
    if (is_verb(step, CX_VERB_process) && in->depth > 0)
        return FAIL(self, verb, "process cannot stand in a block");
    return true;
}

static bool take_begun(parser *self, cx_step *step, const cx_token *first, const cx_verb **out_verb)
{
    cx_thread_name *thread = cx_names_thread(self->names, step->thread);
    if (thread == NULL)
        return no_memory(self);
    if (step->mode == CX_MODE_FINISH) {
        if (thread->begun == NULL)
            return FAIL(self, first, "%s has begun nothing that it could finish", step->thread);
        *out_verb = thread->begun;
        thread->begun = NULL;
        return true;
    }
    if (thread->begun != NULL)
        return FAIL(self, first, "%s has begun %s in line %d, and must finish it first",
                    step->thread, thread->begun->name, thread->line);
    if (step->mode == CX_MODE_BEGIN) {
        thread->begun = step->verb;
        thread->line = self->line;
    }
    *out_verb = step->verb;
    return true;
}

static bool take_block(parser *self, const place *outer, cx_step *step);

/* From behind "THREAD:". */
static bool take_step(parser *self, const place *in, cx_step *step)
{
    if (token_is_word(&self->token, "begin")) {
        step->mode = CX_MODE_BEGIN;
        advance(self);
    } else if (token_is_word(&self->token, "finish")) {
        step->mode = CX_MODE_FINISH;
    }
    cx_token first = self->token;
    const cx_verb *verb = NULL;
    if (step->mode != CX_MODE_PLAIN && in->inside != CX_VERB_process)
        return FAIL(self, &first, "begin and finish cannot stand in the block of %s",
                    cx_verbs[in->inside].name);
    if (step->mode == CX_MODE_FINISH)
        advance(self);
    else if (!take_verb(self, step) || !check_place(self, in, step, &first) ||
             !take_operands(self, step))
        return false;
    if (step->thread == NULL)
        verb = step->verb;
    else if (!take_begun(self, step, &first, &verb))
        return false;
    if (self->token.kind == CX_TOKEN_ARROW && !take_outcomes(self, step, verb))
        return false;
    if (token_is_word(&self->token, "unverified")) {
        step->unverified = true;
        advance(self);
    }
    step->has_block =
        step->verb != NULL && step->verb->takes_block && cx_token_is(&self->token, '{');
    if (step->verb != NULL && step->verb->takes_block && !step->has_block &&
        !cx_verb_makes(step->verb))
        return FAIL(self, &self->token, "'{' and the steps of %s should follow", step->verb->name);
    return true;
}

static bool take_thread(parser *self, const place *in, cx_step *step)
{
    cx_token token = self->token;
    step->thread = take_name(self, "a thread");
    if (step->thread == NULL || !expect_sign(self, ':', "behind the name of a thread"))
        return false;
    if (in->thread != NULL && strcmp(in->thread, step->thread) != 0)
        return FAIL(self, &token, "only %s has steps in the block of %s", in->thread,
                    cx_verbs[in->inside].name);
    return true;
}

/* ---- directives ---- */

static bool take_devices(parser *self, cx_line *line)
{
    cx_token token = self->token;
    int64_t number = 0;
    if (!take_number(self, "how many devices", CX_KIND_INTEGER, CX_WORDS_NONE, &number))
        return false;
    line->devices = (int)number;
    return (number >= 1 && number <= DEVICES_MAX) ||
           FAIL(self, &token, "there can be 1 to %d devices", DEVICES_MAX);
}

static bool check_text(parser *self, const cx_line *line, const cx_token *token)
{
    if (line->directive == CX_DIRECTIVE_SET &&
        (strncmp(line->text, "CTXRT_EMU_", 10) != 0 || strchr(line->text, '=') == NULL))
        return FAIL(self, token, "set takes CTXRT_EMU_NAME=VALUE");
    if (line->directive == CX_DIRECTIVE_SCHEDULE && strcmp(line->text, "threads") != 0 &&
        strcmp(line->text, "lazy") != 0 && strncmp(line->text, "random:", 7) != 0)
        return FAIL(self, token, "a schedule is threads, lazy or random:SEED");
    for (const char *each = line->text; *each != '\0'; each++)
        if (*each < ' ' || *each > '~')
            return FAIL(self, token, "the byte 0x%02x cannot stand here", (unsigned char)*each);
    return true;
}

static bool take_text(parser *self, cx_line *line, const char *word)
{
    self->lexer.next = self->token.text;
    cx_token token = cx_lex_rest(&self->lexer);
    if (token.kind == CX_TOKEN_END)
        return FAIL(self, &token, "'%s' lacks what it is about", word);
    if (memchr(token.text, '\0', token.length) != NULL)
        return FAIL(self, &token, "the byte 0x00 cannot stand here");
    line->text = keep(self, &token);
    advance(self);
    return line->text != NULL && check_text(self, line, &token);
}

static const struct directive_word {
    const char *word;
    cx_directive_kind kind;
} directive_words[] = {
    {"devices", CX_DIRECTIVE_DEVICES},
    {"needs", CX_DIRECTIVE_NEEDS},
    {"set", CX_DIRECTIVE_SET},
    {"schedule", CX_DIRECTIVE_SCHEDULE},
    {"uninitialised", CX_DIRECTIVE_UNINITIALISED},
};

static const struct directive_word *find_directive(const cx_token *token)
{
    for (size_t i = 0; i < sizeof directive_words / sizeof directive_words[0]; i++)
        if (token_is_word(token, directive_words[i].word))
            return &directive_words[i];
    return NULL;
}

static bool take_directive(parser *self, const place *in, const struct directive_word *word,
                           cx_line *line)
{
    cx_token token = self->token;
    line->directive = word->kind;
    if (in->inside != CX_VERB_process)
        return FAIL(self, &token, "'%s' cannot stand in this block", word->word);
    if (in->last_step != NULL)
        return FAIL(self, &token, "'%s' stands before the first step", word->word);
    if (in->depth > 0 && word->kind != CX_DIRECTIVE_UNINITIALISED)
        return FAIL(self, &token, "'%s' stands at the beginning of the scenario", word->word);
    advance(self);
    if (word->kind == CX_DIRECTIVE_DEVICES)
        return take_devices(self, line);
    return word->kind == CX_DIRECTIVE_UNINITIALISED || take_text(self, line, word->word);
}

/* ---- lines and blocks ---- */

static bool next_line(parser *self)
{
    if (self->next == NULL || self->next == self->end)
        return false;
    const char *end = memchr(self->next, '\n', (size_t)(self->end - self->next));
    const char *after = end != NULL ? end + 1 : self->end;
    if (end == NULL)
        end = self->end;
    self->lexer = (cx_lexer){self->next, end, self->next};
    self->next = after;
    self->line++;
    advance(self);
    return true;
}

static bool end_line(parser *self, cx_line *line)
{
    const char *note;
    size_t length;
    if (self->token.kind != CX_TOKEN_END)
        return FAIL(self, &self->token, "%s is one word too many", quote(&self->token).text);
    if (!cx_lex_note(&self->lexer, &note, &length))
        return true;
    if (memchr(note, '\0', length) != NULL)
        return FAIL(self, &self->token, "there is a byte 0x00 in this comment");
    line->note = cx_scenario_text(self->scenario, note, length);
    return line->note != NULL || no_memory(self);
}

static bool take_step_line(parser *self, place *in, cx_line *line)
{
    if (in->last_step != NULL && is_verb(&in->last_step->step, CX_VERB_exit))
        return FAIL(self, &self->token, "the process has ended in line %d", in->last_step->number);
    line->kind = CX_LINE_STEP;
    in->last_step = line;
    bool alone = token_is_word(&self->token, "process");
    if (!alone && !take_thread(self, in, &line->step))
        return false;
    if (!take_step(self, in, &line->step))
        return false;
    if (line->step.has_block)
        advance(self);
    return end_line(self, line) && (!line->step.has_block || take_block(self, in, &line->step));
}

static bool take_line(parser *self, place *in)
{
    cx_line *line = cx_block_add(self->scenario, in->block, CX_LINE_BLANK);
    if (line == NULL)
        return no_memory(self);
    line->number = self->line;
    if (self->token.kind == CX_TOKEN_END)
        return end_line(self, line);
    const struct directive_word *word = find_directive(&self->token);
    cx_lexer behind = self->lexer;
    cx_token after = cx_lex(&behind);
    if (word == NULL || cx_token_is(&after, ':'))
        return take_step_line(self, in, line);
    line->kind = CX_LINE_DIRECTIVE;
    return take_directive(self, in, word, line) && end_line(self, line);
}

/* The lines of a block, up to its '}'; of the scenario, up to the end. */
static bool take_lines(parser *self, place *in)
{
    while (next_line(self)) {
        if (!cx_token_is(&self->token, '}')) {
            if (!take_line(self, in))
                return false;
            continue;
        }
        if (in->depth == 0)
            return FAIL(self, &self->token, "there is no block that '}' could end");
        advance(self);
        if (self->token.kind != CX_TOKEN_END || self->lexer.next != self->lexer.end)
            return FAIL(self, &self->token, "'}' stands alone on its line");
        return true;
    }
    return in->depth == 0 || fail_at(self, in->opened_line, in->opened_column,
                                     "the block that begins here has no '}'");
}

static bool check_finished(parser *self)
{
    const cx_thread_name *open = cx_names_begun(self->names);
    return open == NULL || fail_at(self, open->line, 1, "%s begins %s here and never finishes it",
                                   open->name, open->begun->name);
}

static bool take_block(parser *self, const place *outer, cx_step *step)
{
    cx_verb_id inside = cx_verb_number(step->verb);
    bool own_names = inside == CX_VERB_process;
    cx_names *names = self->names;
    place in = {.block = &step->block,
                .depth = outer->depth + 1,
                .inside = inside,
                .opened_line = self->line,
                .opened_column = 1,
                .thread = cx_verb_makes(step->verb) ? step->operands[0].name : step->thread};
    if (in.depth > CX_DEPTH_MAX)
        return FAIL(self, &self->token, "there are at most %d blocks in each other", CX_DEPTH_MAX);
    if (own_names && (self->names = cx_names_create()) == NULL) {
        self->names = names;
        return no_memory(self);
    }
    bool taken = take_lines(self, &in) && (!own_names || check_finished(self));
    if (own_names) {
        cx_names_destroy(self->names);
        self->names = names;
    }
    return taken;
}

static bool parse(parser *self)
{
    place in = {.block = &self->scenario->lines, .inside = CX_VERB_process};
    return take_lines(self, &in) && check_finished(self);
}

cx_scenario *cx_scenario_parse(const char *file, const char *text, size_t length,
                               cx_parse_error *out_error)
{
    parser self = {.error = out_error, .next = text, .end = text + length, .line = 0};
    *out_error = (cx_parse_error){.line = 1, .column = 1};
    if (length > CX_TEXT_MAX) {
        fail_at(&self, 1, 1, "a scenario has at most %zu bytes", CX_TEXT_MAX);
        return NULL;
    }
    self.scenario = cx_scenario_create(file);
    self.names = cx_names_create();
    bool parsed = self.scenario != NULL && self.names != NULL ? parse(&self) : no_memory(&self);
    cx_names_destroy(self.names);
    if (parsed)
        return self.scenario;
    cx_scenario_destroy(self.scenario);
    return NULL;
}
