#include "play/parser.h"

#include <string.h>

#define OUTCOMES_MAX 8

static bool is_built_in(cx_kind kind, const char *name)
{
    return strcmp(name, "none") == 0 ||
           (kind == CX_KIND_STREAM &&
            (strcmp(name, "legacy") == 0 || strcmp(name, "per_thread") == 0));
}

/* ---- operands ---- */

static bool check_range(cx_parser *self, const cx_token *token, cx_kind kind, int64_t number)
{
    bool fits = kind == CX_KIND_INTEGER ? number >= INT32_MIN && number <= INT32_MAX
                : kind == CX_KIND_FLAGS ? number >= 0 && number <= UINT32_MAX
                                        : number >= 0;
    return fits || CX_PARSER_FAIL(self, token, "%s does not fit: %s is a number %s",
                                  cx_parser_quote(token).text, "this",
                                  kind == CX_KIND_INTEGER ? "of 32 bits with sign"
                                  : kind == CX_KIND_FLAGS ? "of 32 bits without sign"
                                                          : "from 0 on");
}

static bool take_words(cx_parser *self, cx_words words, int64_t *out_number)
{
    *out_number = 0;
    for (;;) {
        int64_t value;
        cx_token token = self->token;
        const char *word = token.kind == CX_TOKEN_WORD ? cx_parser_keep(self, &token) : NULL;
        if (token.kind == CX_TOKEN_WORD && word == NULL)
            return false;
        if (word == NULL || !cx_word_value(words, word, &value))
            return CX_PARSER_FAIL(self, &token, "%s is none of the words for this number",
                                  cx_parser_quote(&token).text);
        *out_number |= value;
        cx_parser_advance(self);
        if (!cx_token_is(&self->token, '+'))
            return true;
        cx_parser_advance(self);
    }
}

bool cx_parser_number(cx_parser *self, const char *name, cx_kind kind, cx_words words,
                      int64_t *out_number)
{
    cx_token token = self->token;
    if (token.kind == CX_TOKEN_WORD && words != CX_WORDS_NONE)
        return take_words(self, words, out_number);
    if (token.kind == CX_TOKEN_BAD && token.length > 1)
        return CX_PARSER_FAIL(self, &token, "%s is no number of 63 bits",
                              cx_parser_quote(&token).text);
    if (token.kind != CX_TOKEN_NUMBER)
        return CX_PARSER_FAIL(self, &token, "a number should stand here, %s, not %s", name,
                              cx_parser_quote(&token).text);
    if (!check_range(self, &token, kind, token.number))
        return false;
    *out_number = token.number;
    cx_parser_advance(self);
    return true;
}

static bool check_known(cx_parser *self, const cx_token *token, cx_kind kind, const char *name)
{
    cx_kind known;
    if (is_built_in(kind, name))
        return true;
    if (!cx_names_kind(self->names, name, &known))
        return CX_PARSER_FAIL(self, token, "nothing before this line has the name '%s'", name);
    if (known != kind)
        return CX_PARSER_FAIL(self, token, "'%s' is a name of %s, and %s is wanted", name,
                              cx_kind_word(known), cx_kind_word(kind));
    return true;
}

/* A gate exists as soon as it is named. */
static bool take_use(cx_parser *self, const cx_operand_rule *rule, cx_operand *operand)
{
    cx_token token = self->token;
    bool address = rule->kind == CX_KIND_MEMORY || rule->kind == CX_KIND_HOST;
    if (rule->kind == CX_KIND_MEMORY && token.kind == CX_TOKEN_NUMBER)
        return cx_parser_number(self, "an address", CX_KIND_WIDE, CX_WORDS_NONE, &operand->number);
    operand->name = cx_parser_name(self, cx_kind_word(rule->kind));
    if (operand->name == NULL)
        return false;
    cx_kind known;
    if (rule->kind == CX_KIND_GATE && !is_built_in(rule->kind, operand->name) &&
        !cx_names_kind(self->names, operand->name, &known) &&
        !cx_names_declare(self->names, operand->name, CX_KIND_GATE))
        return cx_parser_no_memory(self);
    if (!check_known(self, &token, rule->kind, operand->name))
        return false;
    if (!address || !cx_token_is(&self->token, '+'))
        return true;
    cx_parser_advance(self);
    return cx_parser_number(self, "an offset", CX_KIND_SIZE, CX_WORDS_NONE, &operand->number);
}

static bool take_new(cx_parser *self, const cx_operand_rule *rule, cx_operand *operand)
{
    cx_token token = self->token;
    operand->name = cx_parser_name(self, cx_kind_word(rule->kind));
    if (operand->name == NULL)
        return false;
    if (is_built_in(CX_KIND_STREAM, operand->name) || strcmp(operand->name, "_") == 0 ||
        strcmp(operand->name, "untouched") == 0)
        return CX_PARSER_FAIL(self, &token, "'%s' cannot be a name: it means something",
                              operand->name);
    return true;
}

static bool take_operand(cx_parser *self, const cx_operand_rule *rule, cx_operand *operand)
{
    operand->given = true;
    if (rule->role == CX_ROLE_NEW)
        return take_new(self, rule, operand);
    if (rule->role == CX_ROLE_USE || rule->role == CX_ROLE_KEY_USE)
        return take_use(self, rule, operand);
    return cx_parser_number(self, rule->name, rule->kind, rule->words, &operand->number);
}

/* Takes null=NAME, with the name of a result. */
static bool take_null(cx_parser *self, cx_step *step)
{
    cx_parser_advance(self);
    if (!cx_parser_expect(self, '=', "before the name of what is not wanted"))
        return false;
    cx_token token = self->token;
    for (int i = 0; !step->verb->action && cx_verb_out_kind(step->verb, i) != CX_KIND_COUNT; i++)
        if (cx_token_is_word(&token, cx_verb_out_name(step->verb, i))) {
            step->nowhere |= 1u << i;
            cx_parser_advance(self);
            return true;
        }
    return CX_PARSER_FAIL(self, &token, "%s is nothing that %s writes",
                          cx_parser_quote(&token).text, step->verb->name);
}

static bool take_key(cx_parser *self, cx_step *step)
{
    cx_token token = self->token;
    if (cx_token_is_word(&token, "null"))
        return take_null(self, step);
    const cx_operand_rule *rules = step->verb->operands;
    for (int i = 0; rules[i].role != CX_ROLE_NONE; i++) {
        if ((rules[i].role != CX_ROLE_KEY && rules[i].role != CX_ROLE_KEY_USE) ||
            !cx_token_is_word(&token, rules[i].name))
            continue;
        if (step->operands[i].given)
            return CX_PARSER_FAIL(self, &token, "'%s' is said twice", rules[i].name);
        cx_parser_advance(self);
        return cx_parser_expect(self, '=', "before the value") &&
               take_operand(self, &rules[i], &step->operands[i]);
    }
    return CX_PARSER_FAIL(self, &token, "%s is one word too many for %s",
                          cx_parser_quote(&token).text, step->verb->name);
}

bool cx_parser_at_end(const cx_parser *self)
{
    return self->token.kind == CX_TOKEN_END || self->token.kind == CX_TOKEN_ARROW ||
           cx_token_is(&self->token, '{') || cx_token_is_word(&self->token, "unverified");
}

bool cx_parser_operands(cx_parser *self, cx_step *step)
{
    const cx_operand_rule *rules = step->verb->operands;
    for (int i = 0; rules[i].role != CX_ROLE_NONE; i++)
        if (rules[i].role != CX_ROLE_KEY && rules[i].role != CX_ROLE_KEY_USE &&
            !take_operand(self, &rules[i], &step->operands[i]))
            return false;
    while (!cx_parser_at_end(self))
        if (!take_key(self, step))
            return false;
    return !cx_verb_makes(step->verb) ||
           cx_names_declare(self->names, step->operands[0].name, rules[0].kind) ||
           cx_parser_no_memory(self);
}

/* ---- results ---- */

static bool take_seen(cx_parser *self, cx_expected *value)
{
    bool different = cx_token_is(&self->token, '!');
    cx_token token = self->token;
    if (different) {
        cx_parser_advance(self);
        if (!cx_parser_expect(self, '@', "before the name of a value"))
            return false;
    } else {
        cx_parser_advance(self);
    }
    value->kind = different ? CX_EXPECTED_DIFFERENT : CX_EXPECTED_SAME;
    value->name = cx_parser_name(self, "a value");
    if (value->name == NULL)
        return false;
    if (different && !cx_names_seen(self->names, value->name))
        return CX_PARSER_FAIL(self, &token, "no line before this one has given '@%s' a value",
                              value->name);
    return cx_names_see(self->names, value->name) || cx_parser_no_memory(self);
}

static bool take_expected(cx_parser *self, const cx_result_rule *rule, cx_expected *value)
{
    cx_token token = self->token;
    if (cx_token_is_word(&token, "_")) {
        cx_parser_advance(self);
        return true;
    }
    if (cx_token_is(&token, '@') || cx_token_is(&token, '!'))
        return take_seen(self, value);
    if (cx_kind_is_number(rule->kind)) {
        value->kind = CX_EXPECTED_NUMBER;
        return cx_parser_number(self, rule->name, rule->kind, rule->words, &value->number);
    }
    value->kind = CX_EXPECTED_NAME;
    value->name = cx_parser_name(self, cx_kind_word(rule->kind));
    return value->name != NULL && check_known(self, &token, rule->kind, value->name);
}

static bool take_result(cx_parser *self, int *out_result)
{
    cx_token token = self->token;
    if (token.kind != CX_TOKEN_WORD)
        return CX_PARSER_FAIL(self, &token, "a result should stand here, as SUCCESS, not %s",
                              cx_parser_quote(&token).text);
    const char *name = cx_parser_keep(self, &token);
    if (name == NULL)
        return false;
    if (!cx_outcome_find(name, out_result)) {
        const char *near = cx_outcome_nearest(name);
        return CX_PARSER_FAIL(self, &token, "there is no result %s%s%s%s",
                              cx_parser_quote(&token).text, near != NULL ? "; did you mean '" : "",
                              near != NULL ? near : "", near != NULL ? "'?" : "");
    }
    cx_parser_advance(self);
    return true;
}

static bool take_outcome(cx_parser *self, cx_step *step, const cx_verb *verb)
{
    int result;
    if (!take_result(self, &result))
        return false;
    cx_outcome *outcome = cx_step_expect(self->scenario, step, result);
    if (outcome == NULL)
        return cx_parser_no_memory(self);
    while (!cx_parser_at_end(self) && !cx_token_is(&self->token, '|')) {
        if (cx_token_is_word(&self->token, "untouched")) {
            if (!cx_verb_makes(verb) && verb->results[0].name == NULL)
                return CX_PARSER_FAIL(self, &self->token,
                                      "%s writes nothing that could stay untouched", verb->name);
            outcome->untouched = true;
            cx_parser_advance(self);
            continue;
        }
        if (verb->results[outcome->value_count].name == NULL)
            return CX_PARSER_FAIL(self, &self->token, "%s is more than %s gives back",
                                  cx_parser_quote(&self->token).text, verb->name);
        if (!take_expected(self, &verb->results[outcome->value_count],
                           &outcome->values[outcome->value_count]))
            return false;
        outcome->value_count++;
    }
    return true;
}

bool cx_parser_outcomes(cx_parser *self, cx_step *step, const cx_verb *verb)
{
    int count = 0;
    do {
        cx_parser_advance(self);
        if (count++ == OUTCOMES_MAX)
            return CX_PARSER_FAIL(self, &self->token, "there are at most %d alternatives",
                                  OUTCOMES_MAX);
        if (!take_outcome(self, step, verb))
            return false;
    } while (cx_token_is(&self->token, '|'));
    return true;
}
