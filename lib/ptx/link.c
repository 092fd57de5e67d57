/*
 * Linking is done on text: what stands outside functions is cut into items, those that say the same
 * twice are left out, and names that a source keeps to itself are changed where another has them.
 */
#include "ptx/link.h"

#include "ptx/growth.h"
#include "ptx/lex.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef enum linkage { LOCAL, EXTERN, VISIBLE, WEAK } linkage;

/* The order in which kinds stand in the result: whatever is used is known by then. */
typedef enum item_kind { DECLARATION, VARIABLE, DEFINITION, ITEM_KINDS } item_kind;

typedef struct item {
    size_t source;
    const char *begin, *end;
    cx_ptx_token name;
    linkage linkage;
    item_kind kind;
    bool kernel;
    bool left_out;
    bool renamed;
} item;

typedef struct linker {
    const cx_ptx_source *sources;
    item *items;
    size_t count, capacity;
    int version, target;

    /* The source that is cut. */
    size_t source;
    cx_ptx_lexer lexer;
    cx_ptx_token token; /* the one that is looked at */

    cx_ptx_status status;
    cx_ptx_error *error;
} linker;

__attribute__((format(printf, 4, 5))) static bool
refuse(linker *self, cx_ptx_status status, int line, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(self->error->message, sizeof self->error->message, format, arguments);
    va_end(arguments);
    self->error->line = line;
    self->status = status;
    return false;
}

static bool no_memory(linker *self)
{
    return refuse(self, CX_PTX_NO_MEMORY, 0, "out of memory");
}

/* ---- cutting a source ---- */

static void advance(linker *self)
{
    self->token = cx_ptx_lex(&self->lexer);
}

static bool at(const linker *self, const char *word)
{
    return cx_ptx_token_is(&self->token, word);
}

static bool take(linker *self, const char *word)
{
    bool there = at(self, word);

    if (there)
        advance(self);
    return there;
}

static bool unfinished(linker *self)
{
    return refuse(self, CX_PTX_INVALID, self->token.line, "the text ends in the middle");
}

/* From an opening bracket to behind the one that closes it. */
static bool skip_brackets(linker *self, const char *open, const char *close)
{
    size_t depth = 0;

    do {
        if (self->token.kind == CX_PTX_END)
            return unfinished(self);
        depth += at(self, open);
        depth -= at(self, close);
        advance(self);
    } while (depth > 0);
    return true;
}

static bool skip_to(linker *self, const char *end)
{
    while (!at(self, end)) {
        if (self->token.kind == CX_PTX_END)
            return unfinished(self);
        advance(self);
    }
    return true;
}

static bool take_name(linker *self, cx_ptx_token *out_name)
{
    if (self->token.kind != CX_PTX_WORD || self->token.text[0] == '.')
        return refuse(self, CX_PTX_INVALID, self->token.line, "a name is missing");
    *out_name = self->token;
    advance(self);
    return true;
}

/* Behind .entry or .func. */
static bool cut_function(linker *self, item *out_item)
{
    if (at(self, "(") && !skip_brackets(self, "(", ")"))
        return false;
    if (!take_name(self, &out_item->name))
        return false;
    while (!at(self, "{") && !at(self, ";")) {
        if (self->token.kind == CX_PTX_END)
            return unfinished(self);
        advance(self);
    }
    out_item->kind = at(self, "{") ? DEFINITION : DECLARATION;
    return true;
}

/* Behind .global, .const or .shared: .align 4 .b8 name[4] = {1, 2}; */
static bool cut_variable(linker *self, item *out_item)
{
    int depth = 0;

    out_item->kind = VARIABLE;
    while (self->token.kind == CX_PTX_INTEGER ||
           (self->token.kind == CX_PTX_WORD && self->token.text[0] == '.') || at(self, "(")) {
        if (!at(self, "("))
            advance(self);
        else if (!skip_brackets(self, "(", ")"))
            return false;
    }
    if (!take_name(self, &out_item->name))
        return false;
    for (; !at(self, ";"); advance(self)) {
        if (self->token.kind == CX_PTX_END)
            return unfinished(self);
        depth += at(self, "{");
        depth -= at(self, "}");
        if (depth == 0 && at(self, ","))
            return refuse(self, CX_PTX_UNSUPPORTED, self->token.line,
                          "several variables in one declaration, to be linked");
    }
    return true;
}

static linkage take_linkage(linker *self)
{
    if (take(self, ".visible"))
        return VISIBLE;
    if (take(self, ".weak") || take(self, ".common"))
        return WEAK;
    return take(self, ".extern") ? EXTERN : LOCAL;
}

static bool cut_item(linker *self)
{
    void *items = self->items;
    item cut = {.source = self->source, .begin = self->token.text, .linkage = take_linkage(self)};
    bool done;

    cut.kernel = at(self, ".entry");
    if (cut.kernel || at(self, ".func")) {
        advance(self);
        done = cut_function(self, &cut);
    } else if (take(self, ".global") || take(self, ".const") || take(self, ".shared")) {
        done = cut_variable(self, &cut);
    } else {
        done = refuse(self, CX_PTX_INVALID, self->token.line, "'%.*s' outside a function",
                      (int)(self->token.length > 60 ? 60 : self->token.length), self->token.text);
    }
    if (!done)
        return false;
    if (at(self, ";"))
        advance(self);
    else if (!skip_brackets(self, "{", "}"))
        return false;
    cut.end = self->token.text;
    if (!cx_ptx_grow(&items, self->count, &self->capacity, sizeof cut))
        return no_memory(self);
    self->items = items;
    self->items[self->count++] = cut;
    return true;
}

static void skip_line(linker *self)
{
    int line = self->token.line;

    while (self->token.kind != CX_PTX_END && self->token.line == line)
        advance(self);
}

/* What is for debuggers is left out. */
static bool cut_next(linker *self)
{
    if (at(self, ".file") || at(self, ".loc")) {
        skip_line(self);
        return true;
    }
    if (at(self, ".section"))
        return skip_to(self, "{") && skip_brackets(self, "{", "}");
    if (at(self, ".pragma")) {
        if (!skip_to(self, ";"))
            return false;
        advance(self);
        return true;
    }
    return cut_item(self);
}

/* The newest version and the highest target are those of all. */
static bool take_header(linker *self)
{
    double version = 0;

    if (!take(self, ".version") || self->token.kind != CX_PTX_DOUBLE)
        return refuse(self, CX_PTX_INVALID, self->token.line,
                      "the text does not begin with .version");
    memcpy(&version, &self->token.bits, sizeof version);
    if (version > 0 && version < 100 && (int)(version * 10 + 0.5) > self->version)
        self->version = (int)(version * 10 + 0.5);
    advance(self);
    if (!take(self, ".target"))
        return refuse(self, CX_PTX_INVALID, self->token.line, ".target is missing");
    do {
        int target = 0;

        for (size_t i = 3; i < self->token.length && i < 6 && self->token.text[i] >= '0' &&
                           self->token.text[i] <= '9';
             i++)
            target = target * 10 + (self->token.text[i] - '0');
        self->target = target > self->target ? target : self->target;
        advance(self);
    } while (take(self, ","));
    if (take(self, ".address_size"))
        advance(self);
    return true;
}

static bool cut(linker *self, size_t source)
{
    const char *text = self->sources[source].text;

    self->source = source;
    self->lexer = (cx_ptx_lexer){text, text + self->sources[source].length, 1};
    advance(self);
    if (!take_header(self))
        return false;
    while (self->token.kind != CX_PTX_END)
        if (!cut_next(self))
            return false;
    return true;
}

/* ---- what the items are to each other ---- */

static bool defines(const item *self)
{
    return self->kind != DECLARATION && self->linkage != EXTERN;
}

static bool same_word(const cx_ptx_token *one, const cx_ptx_token *other)
{
    return one->length == other->length && memcmp(one->text, other->text, one->length) == 0;
}

/* Both of different sources, and of the same name. */
static bool settle(linker *self, item *earlier, item *later)
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
    if (!defines(earlier) || !defines(later))
        return true;
    if (later->linkage == WEAK || earlier->linkage == WEAK) {
        *(later->linkage == WEAK ? &later->left_out : &earlier->left_out) = true;
        return true;
    }
    return refuse(self, CX_PTX_INVALID, later->name.line, "'%.*s' is defined twice",
                  (int)(later->name.length > 60 ? 60 : later->name.length), later->name.text);
}

static bool settle_all(linker *self)
{
    for (size_t i = 0; i < self->count; i++)
        for (size_t j = i + 1; j < self->count; j++)
            if (self->items[i].source != self->items[j].source && !self->items[i].left_out &&
                !self->items[j].left_out &&
                same_word(&self->items[i].name, &self->items[j].name) &&
                !settle(self, &self->items[i], &self->items[j]))
                return false;
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

static void write_item(const linker *self, const item *what, FILE *out)
{
    cx_ptx_lexer lexer = {what->begin, what->end, 1};
    const char *written = what->begin;
    cx_ptx_token token;

    while ((token = cx_ptx_lex(&lexer)).kind != CX_PTX_END) {
        if (token.kind != CX_PTX_WORD || !is_renamed(self, what->source, &token))
            continue;
        fwrite(written, 1, (size_t)(token.text + token.length - written), out);
        fprintf(out, "$%zu", what->source);
        written = token.text + token.length;
    }
    fwrite(written, 1, (size_t)(what->end - written), out);
    fputc('\n', out);
}

static bool write_all(linker *self, char **out_text, size_t *out_length)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, out_length);
    bool written;

    if (!out)
        return no_memory(self);
    fprintf(out, ".version %d.%d\n.target sm_%d\n.address_size 64\n", self->version / 10,
            self->version % 10, self->target);
    for (int kind = DECLARATION; kind < ITEM_KINDS; kind++)
        for (size_t i = 0; i < self->count; i++)
            if ((int)self->items[i].kind == kind && !self->items[i].left_out)
                write_item(self, &self->items[i], out);
    written = !ferror(out);
    if (fclose(out) != 0 || !written) {
        free(text);
        return no_memory(self);
    }
    *out_text = text;
    return true;
}

/* One text stays as it is, with its lines. */
static cx_ptx_status copy(const cx_ptx_source *source, char **out_text, size_t *out_length,
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

cx_ptx_status cx_ptx_link(const cx_ptx_source *sources, size_t count, char **out_text,
                          size_t *out_length, cx_ptx_error *out_error)
{
    cx_ptx_error error = {0};
    linker self = {.sources = sources, .error = &error};
    bool done = true;

    if (count == 1)
        return copy(sources, out_text, out_length, out_error);
    for (size_t i = 0; done && i < count; i++)
        done = cut(&self, i);
    done = done && settle_all(&self) && write_all(&self, out_text, out_length);
    free(self.items);
    if (!done)
        *out_error = error;
    return done ? CX_PTX_SUCCESS : self.status;
}
