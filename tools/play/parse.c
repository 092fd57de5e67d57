#include "play/parse.h"

#include "play/parser.h"
#include <string.h>

#define DEVICES_MAX 64

/* A block, with the rules for its steps. */
typedef struct place {
    cx_line_block *block;
    int depth;
    const cx_line *last_step;
    const char *thread; /* the only thread that may have steps; NULL: any */
    cx_verb_id inside;  /* the verb of the block; CX_VERB_process also for the scenario itself */
    int opened_line, opened_column;
} place;

/* ---- steps ---- */

static bool take_verb(cx_parser *self, cx_step *step)
{
    cx_token token = self->token;
    if (token.kind != CX_TOKEN_WORD)
        return CX_PARSER_FAIL(self, &token, "a verb should stand here, not %s",
                              cx_parser_quote(&token).text);
    const char *name = cx_parser_keep(self, &token);
    if (name == NULL)
        return false;
    step->verb = cx_verb_find(name);
    if (step->verb == NULL) {
        const char *near = cx_verb_nearest(name);
        return CX_PARSER_FAIL(self, &token, "there is no verb %s%s%s%s",
                              cx_parser_quote(&token).text, near != NULL ? "; did you mean '" : "",
                              near != NULL ? near : "", near != NULL ? "'?" : "");
    }
    cx_parser_advance(self);
    return true;
}

static bool is_verb(const cx_step *step, cx_verb_id id)
{
    return step->verb == &cx_verbs[id];
}

/* Checks that a verb may stand here, and whether it may only be begun. */
static bool check_place(cx_parser *self, const place *in, const cx_step *step, const cx_token *verb)
{
    bool ends = is_verb(step, CX_VERB_exit) || is_verb(step, CX_VERB_fork) ||
                is_verb(step, CX_VERB_thread_end) || is_verb(step, CX_VERB_process);
    if (is_verb(step, CX_VERB_process) && step->thread != NULL)
        return CX_PARSER_FAIL(self, verb, "process belongs to no thread: it stands alone");
    if (step->mode == CX_MODE_BEGIN && (ends || step->verb->takes_block))
        return CX_PARSER_FAIL(self, verb, "%s cannot be begun and finished", step->verb->name);
    if (ends && in->inside != CX_VERB_process)
        return CX_PARSER_FAIL(self, verb, "%s cannot stand in the block of %s", step->verb->name,
                              cx_verbs[in->inside].name);
    if (is_verb(step, CX_VERB_process) && in->depth > 0)
        return CX_PARSER_FAIL(self, verb, "process cannot stand in a block");
    return true;
}

static bool take_begun(cx_parser *self, cx_step *step, const cx_token *first,
                       const cx_verb **out_verb)
{
    cx_thread_name *thread = cx_names_thread(self->names, step->thread);
    if (thread == NULL)
        return cx_parser_no_memory(self);
    if (step->mode == CX_MODE_FINISH) {
        if (thread->begun == NULL)
            return CX_PARSER_FAIL(self, first, "%s has begun nothing that it could finish",
                                  step->thread);
        *out_verb = thread->begun;
        thread->begun = NULL;
        return true;
    }
    if (thread->begun != NULL)
        return CX_PARSER_FAIL(self, first, "%s has begun %s in line %d, and must finish it first",
                              step->thread, thread->begun->name, thread->line);
    if (step->mode == CX_MODE_BEGIN) {
        thread->begun = step->verb;
        thread->line = self->line;
    }
    *out_verb = step->verb;
    return true;
}

static bool take_block(cx_parser *self, const place *outer, cx_step *step);

/* Takes a step, after "THREAD:". */
static bool take_step(cx_parser *self, const place *in, cx_step *step)
{
    if (cx_token_is_word(&self->token, "begin")) {
        step->mode = CX_MODE_BEGIN;
        cx_parser_advance(self);
    } else if (cx_token_is_word(&self->token, "finish")) {
        step->mode = CX_MODE_FINISH;
    }
    cx_token first = self->token;
    const cx_verb *verb = NULL;
    if (step->mode != CX_MODE_PLAIN && in->inside != CX_VERB_process)
        return CX_PARSER_FAIL(self, &first, "begin and finish cannot stand in the block of %s",
                              cx_verbs[in->inside].name);
    if (step->mode == CX_MODE_FINISH)
        cx_parser_advance(self);
    else if (!take_verb(self, step) || !check_place(self, in, step, &first) ||
             !cx_parser_operands(self, step))
        return false;
    if (step->thread == NULL)
        verb = step->verb;
    else if (!take_begun(self, step, &first, &verb))
        return false;
    if (self->token.kind == CX_TOKEN_ARROW && !cx_parser_outcomes(self, step, verb))
        return false;
    if (cx_token_is_word(&self->token, "unverified")) {
        step->unverified = true;
        cx_parser_advance(self);
    }
    step->has_block =
        step->verb != NULL && step->verb->takes_block && cx_token_is(&self->token, '{');
    if (step->verb != NULL && step->verb->takes_block && !step->has_block &&
        !cx_verb_makes(step->verb))
        return CX_PARSER_FAIL(self, &self->token, "'{' and the steps of %s should follow",
                              step->verb->name);
    return true;
}

static bool take_thread(cx_parser *self, const place *in, cx_step *step)
{
    cx_token token = self->token;
    step->thread = cx_parser_name(self, "a thread");
    if (step->thread == NULL || !cx_parser_expect(self, ':', "behind the name of a thread"))
        return false;
    if (in->thread != NULL && strcmp(in->thread, step->thread) != 0)
        return CX_PARSER_FAIL(self, &token, "only %s has steps in the block of %s", in->thread,
                              cx_verbs[in->inside].name);
    return true;
}

/* ---- directives ---- */

static bool take_devices(cx_parser *self, cx_line *line)
{
    cx_token token = self->token;
    int64_t number = 0;
    if (!cx_parser_number(self, "how many devices", CX_KIND_INTEGER, CX_WORDS_NONE, &number))
        return false;
    line->devices = (int)number;
    return (number >= 1 && number <= DEVICES_MAX) ||
           CX_PARSER_FAIL(self, &token, "there can be 1 to %d devices", DEVICES_MAX);
}

static bool check_text(cx_parser *self, const cx_line *line, const cx_token *token)
{
    if (line->directive == CX_DIRECTIVE_SET &&
        (strncmp(line->text, "CTXRT_EMU_", 10) != 0 || strchr(line->text, '=') == NULL))
        return CX_PARSER_FAIL(self, token, "set takes CTXRT_EMU_NAME=VALUE");
    if (line->directive == CX_DIRECTIVE_SCHEDULE && strcmp(line->text, "threads") != 0 &&
        strcmp(line->text, "lazy") != 0 && strncmp(line->text, "random:", 7) != 0)
        return CX_PARSER_FAIL(self, token, "a schedule is threads, lazy or random:SEED");
    for (const char *each = line->text; *each != '\0'; each++)
        if (*each < ' ' || *each > '~')
            return CX_PARSER_FAIL(self, token, "the byte 0x%02x cannot stand here",
                                  (unsigned char)*each);
    return true;
}

static bool take_text(cx_parser *self, cx_line *line, const char *word)
{
    self->lexer.next = self->token.text;
    cx_token token = cx_lex_rest(&self->lexer);
    if (token.kind == CX_TOKEN_END)
        return CX_PARSER_FAIL(self, &token, "'%s' lacks what it is about", word);
    if (memchr(token.text, '\0', token.length) != NULL)
        return CX_PARSER_FAIL(self, &token, "the byte 0x00 cannot stand here");
    line->text = cx_parser_keep(self, &token);
    cx_parser_advance(self);
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
        if (cx_token_is_word(token, directive_words[i].word))
            return &directive_words[i];
    return NULL;
}

static bool take_directive(cx_parser *self, const place *in, const struct directive_word *word,
                           cx_line *line)
{
    cx_token token = self->token;
    line->directive = word->kind;
    if (in->inside != CX_VERB_process)
        return CX_PARSER_FAIL(self, &token, "'%s' cannot stand in this block", word->word);
    if (in->last_step != NULL)
        return CX_PARSER_FAIL(self, &token, "'%s' stands before the first step", word->word);
    if (in->depth > 0 && word->kind != CX_DIRECTIVE_UNINITIALISED)
        return CX_PARSER_FAIL(self, &token, "'%s' stands at the beginning of the scenario",
                              word->word);
    cx_parser_advance(self);
    if (word->kind == CX_DIRECTIVE_DEVICES)
        return take_devices(self, line);
    return word->kind == CX_DIRECTIVE_UNINITIALISED || take_text(self, line, word->word);
}

/* ---- lines and blocks ---- */

static bool next_line(cx_parser *self)
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
    cx_parser_advance(self);
    return true;
}

static bool end_line(cx_parser *self, cx_line *line)
{
    const char *note;
    size_t length;
    if (self->token.kind != CX_TOKEN_END)
        return CX_PARSER_FAIL(self, &self->token, "%s is one word too many",
                              cx_parser_quote(&self->token).text);
    if (!cx_lex_note(&self->lexer, &note, &length))
        return true;
    if (memchr(note, '\0', length) != NULL)
        return CX_PARSER_FAIL(self, &self->token, "there is a byte 0x00 in this comment");
    line->note = cx_scenario_text(self->scenario, note, length);
    return line->note != NULL || cx_parser_no_memory(self);
}

static bool take_step_line(cx_parser *self, place *in, cx_line *line)
{
    if (in->last_step != NULL && is_verb(&in->last_step->step, CX_VERB_exit))
        return CX_PARSER_FAIL(self, &self->token, "the process has ended in line %d",
                              in->last_step->number);
    line->kind = CX_LINE_STEP;
    in->last_step = line;
    bool alone = cx_token_is_word(&self->token, "process");
    if (!alone && !take_thread(self, in, &line->step))
        return false;
    if (!take_step(self, in, &line->step))
        return false;
    if (line->step.has_block)
        cx_parser_advance(self);
    return end_line(self, line) && (!line->step.has_block || take_block(self, in, &line->step));
}

static bool take_line(cx_parser *self, place *in)
{
    cx_line *line = cx_line_block_add(self->scenario, in->block, CX_LINE_BLANK);
    if (line == NULL)
        return cx_parser_no_memory(self);
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

/* Takes the lines of a block, up to its '}'; of the scenario, up to the end. */
static bool take_lines(cx_parser *self, place *in)
{
    while (next_line(self)) {
        if (!cx_token_is(&self->token, '}')) {
            if (!take_line(self, in))
                return false;
            continue;
        }
        if (in->depth == 0)
            return CX_PARSER_FAIL(self, &self->token, "there is no block that '}' could end");
        cx_parser_advance(self);
        if (self->token.kind != CX_TOKEN_END || self->lexer.next != self->lexer.end)
            return CX_PARSER_FAIL(self, &self->token, "'}' stands alone on its line");
        return true;
    }
    return in->depth == 0 || cx_parser_fail(self, in->opened_line, in->opened_column,
                                            "the block that begins here has no '}'");
}

static bool check_finished(cx_parser *self)
{
    const cx_thread_name *open = cx_names_begun(self->names);
    return open == NULL ||
           cx_parser_fail(self, open->line, 1, "%s begins %s here and never finishes it",
                          open->name, open->begun->name);
}

/* A process has names of its own, but handles for processes are known to all. */
static bool take_process(cx_parser *self, place *in)
{
    cx_names *names = self->names, *own = cx_names_create();
    if (own == NULL || !cx_names_carry(own, names, CX_KIND_IPC)) {
        cx_names_destroy(own);
        return cx_parser_no_memory(self);
    }
    self->names = own;
    bool taken = take_lines(self, in) && check_finished(self);
    self->names = names;
    if (taken && !cx_names_carry(names, own, CX_KIND_IPC))
        taken = cx_parser_no_memory(self);
    cx_names_destroy(own);
    return taken;
}

static bool take_block(cx_parser *self, const place *outer, cx_step *step)
{
    cx_verb_id inside = cx_verb_number(step->verb);
    place in = {.block = &step->block,
                .depth = outer->depth + 1,
                .inside = inside,
                .opened_line = self->line,
                .opened_column = 1,
                .thread = cx_verb_makes(step->verb) ? step->operands[0].name : step->thread};
    if (in.depth > CX_DEPTH_MAX)
        return CX_PARSER_FAIL(self, &self->token, "there are at most %d blocks in each other",
                              CX_DEPTH_MAX);
    return inside == CX_VERB_process ? take_process(self, &in) : take_lines(self, &in);
}

static bool parse_scenario(cx_parser *self)
{
    place in = {.block = &self->scenario->lines, .inside = CX_VERB_process};
    return take_lines(self, &in) && check_finished(self);
}

cx_scenario *cx_scenario_parse(const char *file, const char *text, size_t length,
                               cx_parse_error *out_error)
{
    cx_parser self = {.error = out_error, .next = text, .end = text + length, .line = 0};
    *out_error = (cx_parse_error){.line = 1, .column = 1};
    if (length > CX_TEXT_MAX) {
        cx_parser_fail(&self, 1, 1, "a scenario has at most %zu bytes", CX_TEXT_MAX);
        return NULL;
    }
    self.scenario = cx_scenario_create(file);
    self.names = cx_names_create();
    bool parsed = self.scenario != NULL && self.names != NULL ? parse_scenario(&self)
                                                              : cx_parser_no_memory(&self);
    cx_names_destroy(self.names);
    if (parsed)
        return self.scenario;
    cx_scenario_destroy(self.scenario);
    return NULL;
}
