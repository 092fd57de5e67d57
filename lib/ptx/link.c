/*
 * Linking works on text. It cuts the text outside functions into items, drops duplicates, and
 * renames private names that another source has too.
 */
#include "ptx/link.h"

#include "base/text.h"
#include "ptx/growth.h"
#include "ptx/parser.h"
#include <stdio.h>
#include <string.h>

typedef enum linkage { LOCAL, EXTERN, VISIBLE, WEAK } linkage;

/* The order of kinds in the result: names are known before they are used. */
typedef enum item_kind { DECLARATION, VARIABLE, DEFINITION, ITEM_KINDS } item_kind;

typedef struct item {
    size_t source;
    const char *begin, *end;
    cx_ptx_token name;
    linkage linkage;
    item_kind kind;
    const char *body; /* of a kernel without a limit of registers; NULL: it is none */
    bool kernel;
    bool left_out;
    bool renamed;
    bool shared; /* a variable in shared memory */
} item;

typedef struct linker {
    const cx_ptx_source *sources;
    item *items;
    size_t count, capacity;
    int version, target;
    unsigned max_registers;

    cx_ptx_parser parser; /* of the source being cut */
    cx_ptx_module header;
} linker;

/* ---- cutting a source ---- */

static bool unfinished(cx_ptx_parser *self)
{
    return CX_PTX_INVALID_AT(self, "the text ends in the middle");
}

/* Skips from an opening bracket to behind its closing one. */
static bool skip_brackets(cx_ptx_parser *self, const char *open, const char *close)
{
    size_t depth = 0;

    do {
        if (self->token.kind == CX_PTX_END)
            return unfinished(self);
        depth += cx_ptx_at(self, open);
        depth -= cx_ptx_at(self, close);
        cx_ptx_advance(self);
    } while (depth > 0);
    return true;
}

static bool skip_to(cx_ptx_parser *self, const char *end)
{
    while (!cx_ptx_at(self, end)) {
        if (self->token.kind == CX_PTX_END)
            return unfinished(self);
        cx_ptx_advance(self);
    }
    return true;
}

static bool take_name(cx_ptx_parser *self, cx_ptx_token *out_name)
{
    if (self->token.kind != CX_PTX_WORD || self->token.text[0] == '.')
        return CX_PTX_INVALID_AT(self, "a name is missing");
    *out_name = self->token;
    cx_ptx_advance(self);
    return true;
}

/* After .entry or .func. */
static bool cut_function(cx_ptx_parser *self, item *out_item)
{
    bool limited = false;

    if (cx_ptx_at(self, "(") && !skip_brackets(self, "(", ")"))
        return false;
    if (!take_name(self, &out_item->name))
        return false;
    while (!cx_ptx_at(self, "{") && !cx_ptx_at(self, ";")) {
        if (self->token.kind == CX_PTX_END)
            return unfinished(self);
        limited |= cx_ptx_at(self, ".maxnreg");
        cx_ptx_advance(self);
    }
    out_item->kind = cx_ptx_at(self, "{") ? DEFINITION : DECLARATION;
    if (out_item->kernel && out_item->kind == DEFINITION && !limited)
        out_item->body = self->token.text;
    return true;
}

/* After .global, .const or .shared: .align 4 .b8 name[4] = {1, 2}; */
static bool cut_variable(cx_ptx_parser *self, item *out_item)
{
    int depth = 0;

    out_item->kind = VARIABLE;
    while (self->token.kind == CX_PTX_INTEGER ||
           (self->token.kind == CX_PTX_WORD && self->token.text[0] == '.') ||
           cx_ptx_at(self, "(")) {
        if (!cx_ptx_at(self, "("))
            cx_ptx_advance(self);
        else if (!skip_brackets(self, "(", ")"))
            return false;
    }
    if (!take_name(self, &out_item->name))
        return false;
    for (; !cx_ptx_at(self, ";"); cx_ptx_advance(self)) {
        if (self->token.kind == CX_PTX_END)
            return unfinished(self);
        depth += cx_ptx_at(self, "{");
        depth -= cx_ptx_at(self, "}");
        if (depth == 0 && cx_ptx_at(self, ","))
            return cx_ptx_fail(self, CX_PTX_UNSUPPORTED,
                               "several variables in one declaration, to be linked");
    }
    return true;
}

static linkage take_linkage(cx_ptx_parser *self)
{
    if (cx_ptx_take(self, ".visible"))
        return VISIBLE;
    if (cx_ptx_take(self, ".weak") || cx_ptx_take(self, ".common"))
        return WEAK;
    return cx_ptx_take(self, ".extern") ? EXTERN : LOCAL;
}

static bool cut_one(cx_ptx_parser *self, item *out_item)
{
    bool cut;

    out_item->begin = self->token.text;
    out_item->linkage = take_linkage(self);
    out_item->kernel = cx_ptx_at(self, ".entry");
    if (out_item->kernel || cx_ptx_at(self, ".func")) {
        cx_ptx_advance(self);
        cut = cut_function(self, out_item);
    } else if (cx_ptx_at(self, ".global") || cx_ptx_at(self, ".const") ||
               cx_ptx_at(self, ".shared")) {
        out_item->shared = cx_ptx_at(self, ".shared");
        cx_ptx_advance(self);
        cut = cut_variable(self, out_item);
    } else {
        cut = CX_PTX_INVALID_AT(self, "'%.*s' outside a function", CX_PTX_QUOTE(&self->token));
    }
    if (!cut || (!cx_ptx_take(self, ";") && !skip_brackets(self, "{", "}")))
        return false;
    out_item->end = self->token.text;
    return true;
}

static bool cut_item(linker *self, size_t source)
{
    void *items = self->items;
    item cut = {.source = source};

    if (!cut_one(&self->parser, &cut))
        return false;
    if (!cx_ptx_grow(&items, self->count, &self->capacity, sizeof cut))
        return cx_ptx_no_memory(&self->parser);
    self->items = items;
    self->items[self->count++] = cut;
    return true;
}

/* Leaves out debugging information. */
static bool cut_next(linker *self, size_t source)
{
    cx_ptx_parser *parser = &self->parser;

    if (cx_ptx_at(parser, ".file") || cx_ptx_at(parser, ".loc")) {
        cx_ptx_skip_line(parser);
        return true;
    }
    if (cx_ptx_at(parser, ".section"))
        return skip_to(parser, "{") && skip_brackets(parser, "{", "}");
    if (cx_ptx_at(parser, ".pragma")) {
        if (!skip_to(parser, ";"))
            return false;
        cx_ptx_advance(parser);
        return true;
    }
    return cut_item(self, source);
}

/* The result has the newest version and the highest target of all sources. */
static bool cut_source(linker *self, size_t source)
{
    const char *text = self->sources[source].text;

    self->header = (cx_ptx_module){0};
    self->parser.lexer = (cx_ptx_lexer){text, text + self->sources[source].length, 1};
    self->parser.module = &self->header;
    bool done = cx_ptx_parse_header(&self->parser);
    self->version = self->header.version > self->version ? self->header.version : self->version;
    self->target = self->header.target > self->target ? self->header.target : self->target;
    while (done && self->parser.token.kind != CX_PTX_END)
        done = cut_next(self, source);
    return done;
}

/* ---- relations between items ---- */

static bool is_definition(const item *self)
{
    return self->kind != DECLARATION && self->linkage != EXTERN;
}

static bool same_word(const cx_ptx_token *one, const cx_ptx_token *other)
{
    return one->length == other->length && memcmp(one->text, other->text, one->length) == 0;
}

/* Settles two items of the same name from different sources. */
static bool settle_items(linker *self, item *earlier, item *later)
{
    bool one = earlier->linkage == LOCAL && !earlier->kernel;
    bool two = later->linkage == LOCAL && !later->kernel;

    if (one || two) {
        earlier->renamed |= one;
        later->renamed |= two;
        return true;
    }
    if (earlier->kind == VARIABLE && later->kind == VARIABLE &&
        (earlier->linkage == EXTERN || later->linkage == EXTERN)) {
        *(later->linkage == EXTERN ? &later->left_out : &earlier->left_out) = true;
        return true;
    }
    if (!is_definition(earlier) || !is_definition(later))
        return true;
    if (later->linkage == WEAK || earlier->linkage == WEAK) {
        *(later->linkage == WEAK ? &later->left_out : &earlier->left_out) = true;
        return true;
    }
    self->parser.token = later->name;
    return CX_PTX_INVALID_AT(&self->parser, "'%.*s' is defined twice", CX_PTX_QUOTE(&later->name));
}

static bool settle_all(linker *self)
{
    for (size_t i = 0; i < self->count; i++)
        for (size_t j = i + 1; j < self->count; j++)
            if (self->items[i].source != self->items[j].source && !self->items[i].left_out &&
                !self->items[j].left_out && same_word(&self->items[i].name, &self->items[j].name) &&
                !settle_items(self, &self->items[i], &self->items[j]))
                return false;
    return true;
}

/* Refuses a variable that no source defines. */
static bool check_externals(linker *self)
{
    for (size_t i = 0; i < self->count; i++) {
        const item *each = &self->items[i];
        bool found = each->kind != VARIABLE || each->linkage != EXTERN || each->shared;

        for (size_t j = 0; j < self->count && !found; j++)
            found = self->items[j].kind == VARIABLE && is_definition(&self->items[j]) &&
                    (self->items[j].linkage != LOCAL || self->items[j].source == each->source) &&
                    same_word(&each->name, &self->items[j].name);
        if (found)
            continue;
        self->parser.token = each->name;
        return CX_PTX_INVALID_AT(&self->parser, "unresolved extern variable '%.*s'",
                                 CX_PTX_QUOTE(&each->name));
    }
    return true;
}

/* ---- the result ---- */

static bool is_renamed(const linker *self, size_t source, const cx_ptx_token *word)
{
    for (size_t i = 0; i < self->count; i++)
        if (self->items[i].source == source && self->items[i].renamed &&
            same_word(&self->items[i].name, word))
            return true;
    return false;
}

static void write_until(const char **written, const char *end, FILE *out)
{
    fwrite(*written, 1, (size_t)(end - *written), out);
    *written = end;
}

static void write_item(const linker *self, const item *what, FILE *out)
{
    cx_ptx_lexer lexer = {what->begin, what->end, 1};
    const char *written = what->begin;
    cx_ptx_token token;

    while ((token = cx_ptx_lex(&lexer)).kind != CX_PTX_END) {
        if (token.text == what->body && self->max_registers > 0) {
            write_until(&written, token.text, out);
            fprintf(out, ".maxnreg %u\n", self->max_registers);
        }
        if (token.kind != CX_PTX_WORD || !is_renamed(self, what->source, &token))
            continue;
        write_until(&written, token.text + token.length, out);
        fprintf(out, "$%zu", what->source);
    }
    write_until(&written, what->end, out);
    fputc('\n', out);
}

static bool write_all(linker *self, char **out_text, size_t *out_length)
{
    cx_text_file text;
    FILE *out = cx_text_open(&text);

    if (!out)
        return cx_ptx_no_memory(&self->parser);
    fprintf(out, ".version %d.%d\n.target sm_%d\n.address_size 64\n", self->version / 10,
            self->version % 10, self->target);
    for (int kind = DECLARATION; kind < ITEM_KINDS; kind++)
        for (size_t i = 0; i < self->count; i++)
            if ((int)self->items[i].kind == kind && !self->items[i].left_out)
                write_item(self, &self->items[i], out);
    *out_text = cx_text_close(&text, out_length);
    return *out_text || cx_ptx_no_memory(&self->parser);
}

/* A single text stays as it is, with its lines. */
static cx_ptx_status copy_source(const cx_ptx_source *source, char **out_text, size_t *out_length,
                                 cx_ptx_error *out_error)
{
    char *text = strndup(source->text, source->length);

    if (!text) {
        *out_error = (cx_ptx_error){.message = "out of memory"};
        return CX_PTX_NO_MEMORY;
    }
    *out_text = text;
    *out_length = strlen(text);
    return CX_PTX_SUCCESS;
}

cx_ptx_status cx_ptx_link(const cx_ptx_source *sources, size_t count, unsigned max_registers,
                          char **out_text, size_t *out_length, cx_ptx_error *out_error)
{
    cx_ptx_error error = {0};
    linker self = {
        .sources = sources, .max_registers = max_registers, .parser.error = &error};
    bool done = true;

    if (count == 1 && max_registers == 0)
        return copy_source(sources, out_text, out_length, out_error);
    for (size_t i = 0; done && i < count; i++)
        done = cut_source(&self, i);
    done = done && settle_all(&self) && check_externals(&self) &&
           write_all(&self, out_text, out_length);
    free(self.items);
    if (!done)
        *out_error = error;
    return done ? CX_PTX_SUCCESS : self.parser.status;
}
