/* Modules: the text outside functions, and functions as a whole. */
#include "ptx/builtin.h"
#include "ptx/flow.h"
#include "ptx/growth.h"
#include "ptx/moves.h"
#include "ptx/parser.h"
#include "ptx/stack.h"

#include <string.h>

#define OUTSIDE SIZE_MAX
#define FRAME_ALIGN 16

/* ---- the end of a function ---- */

static bool finish_function(cx_ptx_parser *self)
{
    cx_ptx_function *function = cx_ptx_current(self);

    if (!cx_ptx_emit(self, (cx_ptx_instruction){
                               .op = function->kernel ? CX_PTX_EXIT : CX_PTX_RETURN}))
        return false;
    function->frame_bytes = (function->frame_bytes + FRAME_ALIGN - 1) & ~(size_t)(FRAME_ALIGN - 1);
    if (!cx_ptx_finish_registers(self))
        return false;
    function->defined = true;
    return true;
}

/* ---- functions ---- */

static bool new_function(cx_ptx_parser *self, const cx_ptx_token *word, bool kernel,
                         size_t *out_index)
{
    cx_ptx_module *module = self->module;
    void *functions = module->functions;
    cx_ptx_function function = {.kernel = kernel};
    bool grown = cx_ptx_grow(&functions, module->function_count, &module->function_capacity,
                             sizeof function);
    cx_ptx_name name = {.text = word->text,
                        .length = (uint32_t)word->length,
                        .kind = CX_PTX_NAME_FUNCTION,
                        .index = (uint32_t)module->function_count};

    module->functions = functions;
    if (grown)
        function.name = strndup(word->text, word->length);
    if (!function.name)
        return cx_ptx_no_memory(self);
    function.builtin = cx_ptx_builtin_find(function.name);
    *out_index = module->function_count;
    module->functions[module->function_count++] = function;
    return cx_ptx_names_add(&self->names, &name) || cx_ptx_no_memory(self);
}

/* A definition replaces its declarations. */
static bool find_or_add_function(cx_ptx_parser *self, const cx_ptx_token *word, bool kernel)
{
    const cx_ptx_name *name = cx_ptx_names_find(&self->names, word->text, word->length, 0);

    if (!name)
        return new_function(self, word, kernel, &self->function);
    if (name->kind != CX_PTX_NAME_FUNCTION || self->module->functions[name->index].defined ||
        self->module->functions[name->index].kernel != kernel)
        return CX_PTX_INVALID_AT(self, "'%.*s' is there twice", CX_PTX_QUOTE(word));
    self->function = name->index;
    return true;
}

/* `least`: 0 or 1, for each number. */
static bool take_triple(cx_ptx_parser *self, const char *of, uint64_t least, uint32_t out[3])
{
    uint64_t number;

    for (int i = 0; i < 3; i++) {
        out[i] = 1;
        if (i > 0 && !cx_ptx_take(self, ","))
            continue;
        if (!cx_ptx_expect_number(self, &number))
            return false;
        if (number < least || number > CX_PTX_THREADS_MAX)
            return CX_PTX_INVALID_AT(self, "a %s of that size", of);
        out[i] = (uint32_t)number;
    }
    return true;
}

static bool is_cluster_limit(const cx_ptx_parser *self)
{
    return cx_ptx_at(self, ".reqnctapercluster") || cx_ptx_at(self, ".maxclusterrank") ||
           cx_ptx_at(self, ".explicitcluster") || cx_ptx_at(self, ".blocksareclusters");
}

static bool take_cluster_limit(cx_ptx_parser *self, cx_ptx_function *function)
{
    uint64_t number;

    if (cx_ptx_take(self, ".reqnctapercluster")) {
        if (!take_triple(self, "cluster", 0, function->cluster))
            return false;
        /* The assembler takes 0: no size is required. */
        if (!function->cluster[0] || !function->cluster[1] || !function->cluster[2])
            memset(function->cluster, 0, sizeof function->cluster);
        return true;
    }
    if (cx_ptx_take(self, ".maxclusterrank")) {
        if (!cx_ptx_expect_number(self, &number))
            return false;
        function->cluster_most = number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
    } else if (cx_ptx_take(self, ".explicitcluster")) {
        function->cluster_needed = true;
    } else {
        function->counts_clusters = cx_ptx_take(self, ".blocksareclusters");
    }
    return true;
}

static bool take_limits(cx_ptx_parser *self)
{
    uint32_t size[3];
    uint64_t number;

    for (;;) {
        cx_ptx_function *function = cx_ptx_current(self);

        if (cx_ptx_at(self, ".maxntid") || cx_ptx_at(self, ".reqntid")) {
            bool required = cx_ptx_at(self, ".reqntid");

            cx_ptx_advance(self);
            if (!take_triple(self, "block", 1, size))
                return false;
            function->max_threads = size[0] * size[1] * size[2];
            if (required)
                memcpy(function->required, size, sizeof size);
        } else if (is_cluster_limit(self)) {
            if (!take_cluster_limit(self, function))
                return false;
        } else if (cx_ptx_at(self, ".minnctapersm") || cx_ptx_at(self, ".maxnreg")) {
            uint32_t *out = cx_ptx_at(self, ".maxnreg") ? &function->max_registers
                                                        : &function->min_blocks;

            cx_ptx_advance(self);
            if (!cx_ptx_expect_number(self, &number))
                return false;
            *out = number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
        } else if (cx_ptx_take(self, ".maxnctapersm")) {
            if (!cx_ptx_expect_number(self, &number))
                return false;
        } else if (cx_ptx_take(self, ".pragma")) {
            while (self->token.kind == CX_PTX_STRING || cx_ptx_at(self, ","))
                cx_ptx_advance(self);
            if (!cx_ptx_expect(self, ";"))
                return false;
        } else if (!cx_ptx_take(self, ".noreturn")) {
            return true;
        }
    }
}

static void begin_function(cx_ptx_parser *self)
{
    cx_ptx_begin_registers(self);
    self->jump_count = 0;
    self->line = self->token.line;
}

/* True if calls by one prototype reach a function of the other: between modules it does not matter
 * whether there is a result, as for linkers of machine code. */
static bool suits(const cx_ptx_function *one, const cx_ptx_function *other, cx_ptx_placement where)
{
    size_t count = one->parameter_count - one->result_count;

    if (cx_ptx_is_same_prototype(one, other))
        return true;
    if (!one->external || !(where.external || where.exported) ||
        count != other->parameter_count - other->result_count)
        return false;
    for (size_t i = 0; i < count; i++) {
        const cx_ptx_parameter *a = &one->parameters[one->result_count + i];
        const cx_ptx_parameter *b = &other->parameters[other->result_count + i];

        if (a->bytes != b->bytes || a->offset != b->offset)
            return false;
    }
    return true;
}

static bool has_results_in_registers(const cx_ptx_function *function)
{
    for (size_t i = 0; i < function->result_count; i++)
        if (function->parameters[i].type)
            return true;
    return false;
}

/* Results stand before the name, so the function is known only after them. */
static bool parse_header(cx_ptx_parser *self, bool kernel, cx_ptx_placement where)
{
    cx_ptx_space space = kernel ? CX_PTX_PARAMETER : CX_PTX_LOCAL;
    cx_ptx_function header = {0};
    cx_ptx_token word;
    size_t bytes = 0;
    bool taken = kernel || !cx_ptx_take(self, "(") ||
                 cx_ptx_parse_parameters(self, &header, space, &bytes);

    header.result_count = header.parameter_count;
    bytes = kernel ? 0 : cx_ptx_behind_results(bytes);
    taken = taken && cx_ptx_expect_word(self, &word);
    if (taken && cx_ptx_take(self, "("))
        taken = cx_ptx_parse_parameters(self, &header, space, &bytes);
    if (!taken || !find_or_add_function(self, &word, kernel)) {
        free(header.parameters);
        return false;
    }
    cx_ptx_function *function = cx_ptx_current(self);
    if (has_results_in_registers(&header)) {
        free(header.parameters);
        return cx_ptx_fail(self, CX_PTX_UNSUPPORTED, "results in registers");
    }
    function->external |= where.external;
    if (function->prototyped && !suits(function, &header, where)) {
        free(header.parameters);
        return CX_PTX_INVALID_AT(self, "'%.*s' is declared with other parameters or results",
                                 CX_PTX_QUOTE(&word));
    }
    free(function->parameters);
    function->prototyped = true;
    function->parameters = header.parameters;
    function->parameter_count = header.parameter_count;
    function->result_count = header.result_count;
    function->parameter_bytes = bytes;
    function->frame_bytes = kernel ? 0 : bytes;
    function->shared_bytes = self->module->shared_bytes;
    return take_limits(self);
}

/* The names of parameters belong to the function; its own name does not. */
static bool keep_function_name(cx_ptx_parser *self, size_t names)
{
    const cx_ptx_function *function = cx_ptx_current(self);
    cx_ptx_name last = self->names.all[self->names.count - 1];
    bool added = last.kind == CX_PTX_NAME_FUNCTION && last.index == self->function;

    (void)function;
    cx_ptx_names_cut(&self->names, names);
    return !added || cx_ptx_names_add(&self->names, &last) || cx_ptx_no_memory(self);
}

/* Loads the parameters that are registers: of the names behind the first `names`. */
static bool load_registers(cx_ptx_parser *self, size_t names)
{
    for (size_t i = names; i < self->names.count; i++) {
        const cx_ptx_name name = self->names.all[i];

        if (name.kind == CX_PTX_NAME_REGISTER &&
            !cx_ptx_emit_frame_access(self, name.type, false, name.index, (int64_t)name.offset))
            return false;
    }
    return true;
}

static bool parse_function(cx_ptx_parser *self, bool kernel, cx_ptx_placement where)
{
    size_t names = self->names.count;
    bool done;

    begin_function(self);
    if (!parse_header(self, kernel, where))
        return false;
    if (cx_ptx_take(self, ";"))
        done = true;
    else if (!cx_ptx_at(self, "{"))
        done = cx_ptx_expect(self, "{");
    else {
        cx_ptx_current(self)->begin = self->module->code_count;
        done = cx_ptx_mark_source(self, 0, 0) && load_registers(self, names) &&
               cx_ptx_parse_body(self) && finish_function(self);
    }
    done = done && keep_function_name(self, names);
    self->function = OUTSIDE;
    return done;
}

/* ---- the module ---- */

static bool parse_version(cx_ptx_parser *self)
{
    double version;

    if (!cx_ptx_take(self, ".version"))
        return CX_PTX_INVALID_AT(self, "the text does not begin with .version");
    if (self->token.kind != CX_PTX_DOUBLE)
        return CX_PTX_INVALID_AT(self, "a version is missing");
    memcpy(&version, &self->token.bits, sizeof version);
    if (!(version > 0 && version < 100))
        return CX_PTX_INVALID_AT(self, "there is no such version");
    self->module->version = (int)(version * 10 + 0.5);
    cx_ptx_advance(self);
    return true;
}

/* .target sm_90a, texmode_independent */
static bool parse_target(cx_ptx_parser *self)
{
    cx_ptx_token word;

    if (!cx_ptx_expect(self, ".target"))
        return false;
    do {
        if (!cx_ptx_expect_word(self, &word))
            return false;
        if (word.length < 4 || memcmp(word.text, "sm_", 3) != 0)
            continue;
        for (size_t i = 3; i < word.length && i < 6 && word.text[i] >= '0' && word.text[i] <= '9';
             i++)
            self->module->target = self->module->target * 10 + (word.text[i] - '0');
    } while (cx_ptx_take(self, ","));
    return true;
}

bool cx_ptx_parse_header(cx_ptx_parser *self)
{
    uint64_t bits;

    cx_ptx_advance(self);
    if (!parse_version(self) || !parse_target(self))
        return false;
    if (!cx_ptx_take(self, ".address_size"))
        return true;
    if (!cx_ptx_expect_number(self, &bits))
        return false;
    return bits == 64 ||
           cx_ptx_fail(self, CX_PTX_UNSUPPORTED, "addresses of %u bits", (unsigned)bits);
}

static bool skip_section(cx_ptx_parser *self)
{
    while (self->token.kind != CX_PTX_END && !cx_ptx_at(self, "{"))
        cx_ptx_advance(self);
    while (self->token.kind != CX_PTX_END && !cx_ptx_at(self, "}"))
        cx_ptx_advance(self);
    return cx_ptx_expect(self, "}");
}

static bool parse_top(cx_ptx_parser *self)
{
    cx_ptx_placement placement = {.space = CX_PTX_GLOBAL};

    if (cx_ptx_at(self, ".file") || cx_ptx_at(self, ".loc"))
        return cx_ptx_parse_source(self);
    if (cx_ptx_at(self, "@")) { /* @@DWARF */
        cx_ptx_skip_line(self);
        return true;
    }
    if (cx_ptx_take(self, ".section"))
        return skip_section(self);
    if (cx_ptx_take(self, ".pragma")) {
        while (self->token.kind == CX_PTX_STRING || cx_ptx_at(self, ","))
            cx_ptx_advance(self);
        return cx_ptx_expect(self, ";");
    }
    if (cx_ptx_take(self, ".extern"))
        placement.external = true;
    else
        placement.exported = cx_ptx_take(self, ".visible") || cx_ptx_take(self, ".weak") ||
                             cx_ptx_take(self, ".common");
    if (cx_ptx_take(self, ".entry"))
        return parse_function(self, true, placement);
    if (cx_ptx_take(self, ".func"))
        return parse_function(self, false, placement);
    if (cx_ptx_take(self, ".shared"))
        placement.space = CX_PTX_SHARED;
    else if (cx_ptx_take(self, ".const"))
        placement.space = CX_PTX_CONSTANT;
    else if (!cx_ptx_take(self, ".global"))
        return cx_ptx_fail(self,
                           self->token.kind == CX_PTX_WORD && self->token.text[0] == '.'
                               ? CX_PTX_UNSUPPORTED
                               : CX_PTX_INVALID,
                           "'%.*s' outside a function", CX_PTX_QUOTE(&self->token));
    return cx_ptx_parse_variables(self, placement);
}

/* Constants lie behind the other variables. */
static void place_constants(cx_ptx_module *module)
{
    const size_t align = 4096;
    size_t begin = (module->memory_bytes + align - 1) & ~(align - 1);

    if (module->constant_space == 0)
        return;
    module->constant_begin = begin;
    module->memory_bytes = begin + module->constant_space;
    for (size_t i = 0; i < module->variable_count; i++)
        module->variables[i].offset += module->variables[i].constant ? begin : 0;
    for (size_t i = 0; i < module->image_count; i++)
        module->images[i].offset += module->images[i].part == CX_PTX_PART_CONSTANT ? begin : 0;
    for (size_t i = 0; i < module->relocation_count; i++) {
        cx_ptx_relocation *each = &module->relocations[i];

        each->offset += each->part == CX_PTX_PART_CONSTANT ? begin : 0;
        each->target += each->to_part == CX_PTX_PART_CONSTANT ? begin : 0;
    }
}

static bool parse_module(cx_ptx_parser *self)
{
    if (!cx_ptx_parse_header(self))
        return false;
    while (self->token.kind != CX_PTX_END)
        if (!parse_top(self))
            return false;
    /* Code that names a constant or a register which found no memory is wrong. */
    if (self->status != CX_PTX_SUCCESS)
        return false;
    place_constants(self->module);
    if (!cx_ptx_flow_find(self->module))
        return cx_ptx_no_memory(self);
    cx_ptx_moves_find(self->module);
    return cx_ptx_measure_stacks(self);
}

/* The shared memory of functions that are no kernels, as a first pass leaves it. */
typedef struct common_shared {
    size_t bytes;
    cx_ptx_shared *variables; /* outside functions, or NULL */
} common_shared;

/* Parses a text for which `common` is known; replaces that. */
static cx_ptx_status parse_text(const char *text, size_t length, common_shared *common,
                                cx_ptx_module **out_module, cx_ptx_error *out_error)
{
    cx_ptx_error error = {0};
    cx_ptx_parser self = {.lexer = {text, text + length, 1},
                          .error = &error,
                          .function = OUTSIDE,
                          .known = common->variables,
                          .module = calloc(1, sizeof(cx_ptx_module))};
    bool done = self.module || cx_ptx_no_memory(&self);

    if (done)
        self.module->shared_bytes = common->bytes;
    done = done && parse_module(&self);
    cx_ptx_names_free(&self.names);
    free(self.places);
    free(self.constants);
    free(self.jumps);
    free(common->variables);
    *common = (common_shared){self.callee_shared, self.shared};
    if (done) {
        *out_module = self.module;
        return CX_PTX_SUCCESS;
    }
    cx_ptx_unload(self.module);
    *out_error = error;
    return self.status;
}

/* Each kernel has the shared memory of all functions that are no kernels in front of its own.
 * Kernels may stand before the functions that they call: then only a second pass knows how much
 * that is. */
cx_ptx_status cx_ptx_load(const char *text, size_t length, cx_ptx_module **out_module,
                          cx_ptx_error *out_error)
{
    common_shared common = {0};
    cx_ptx_status status = parse_text(text, length, &common, out_module, out_error);

    if (status == CX_PTX_SUCCESS && common.bytes > 0) {
        cx_ptx_unload(*out_module);
        common.bytes = (common.bytes + 127) & ~(size_t)127;
        status = parse_text(text, length, &common, out_module, out_error);
    }
    free(common.variables);
    return status;
}
