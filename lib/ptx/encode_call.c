/* Calls, of functions by name and by address. */
#include "ptx/growth.h"
#include "ptx/parser.h"

#include <string.h>

#define CX_PTX_ARGUMENTS_MAX ((uint64_t)512 << 10)

static bool note_call(cx_ptx_parser *self, size_t callee)
{
    cx_ptx_function *caller = cx_ptx_current(self);
    void *calls = caller->calls;
    bool grown =
        cx_ptx_grow(&calls, caller->call_count, &caller->call_capacity, sizeof *caller->calls);

    caller->calls = calls;
    if (!grown)
        return cx_ptx_no_memory(self);
    caller->calls[caller->call_count++] = callee;
    return true;
}

typedef struct arguments {
    cx_ptx_operand all[64];
    size_t count;
} arguments;

static bool is_in_memory(const cx_ptx_operand *operand)
{
    return operand->kind == CX_PTX_OPERAND_VARIABLE && operand->space == CX_PTX_LOCAL;
}

static bool refuse_value(cx_ptx_parser *self, const cx_ptx_operand *operand)
{
    return cx_ptx_fail(self, CX_PTX_UNSUPPORTED, "'%.*s' as an argument: only .param",
                       CX_PTX_QUOTE(&operand->token));
}

/* After the opening parenthesis. */
static bool take_arguments(cx_ptx_parser *self, bool results, arguments *out)
{
    out->count = 0;
    if (cx_ptx_take(self, ")"))
        return true;
    do {
        cx_ptx_operand *next = &out->all[out->count];

        if (out->count == sizeof out->all / sizeof out->all[0])
            return cx_ptx_fail(self, CX_PTX_UNSUPPORTED, "too many arguments");
        if (!cx_ptx_parse_operand(self, next))
            return false;
        if (results && !is_in_memory(next))
            return refuse_value(self, next);
        out->count++;
    } while (cx_ptx_take(self, ","));
    return cx_ptx_expect(self, ")");
}

/* True if a caller may expect results that the function does not have: they are undefined. */
static bool lacks_results(const cx_ptx_function *function, bool results)
{
    return results && function->external;
}

/* Gives the value of an argument a place in this frame. */
static bool store_argument(cx_ptx_parser *self, cx_ptx_operand *operand, cx_ptx_type type)
{
    uint32_t slot = cx_ptx_value(self, operand, type);
    unsigned bytes = cx_ptx_type_bytes(type);
    uint64_t offset;

    if (slot == CX_PTX_NO_SLOT ||
        !cx_ptx_place_bytes(self, &operand->token, bytes, bytes, CX_PTX_ARGUMENTS_MAX,
                            &cx_ptx_current(self)->frame_bytes, &offset) ||
        !cx_ptx_emit_frame_access(self, type, true, slot, (int64_t)offset))
        return false;
    operand->offset = (int64_t)offset;
    operand->variable_bytes = bytes;
    return true;
}

/* Values are arguments for parameters that are registers only. */
static bool take_value_of(cx_ptx_parser *self, cx_ptx_operand *operand, uint8_t type, bool results)
{
    if (is_in_memory(operand))
        return true;
    return type && !results ? store_argument(self, operand, (cx_ptx_type)type)
                            : refuse_value(self, operand);
}

/* Copies between this frame and the next one, which begins where this one ends. */
static bool emit_copies(cx_ptx_parser *self, arguments *list, size_t callee, bool results)
{
    const cx_ptx_function *function = &self->module->functions[callee];
    size_t first = results ? 0 : function->result_count;
    size_t expected = results ? function->result_count
                              : function->parameter_count - function->result_count;

    if ((list->count > expected && !lacks_results(function, results)) ||
        (!results && list->count != expected))
        return CX_PTX_INVALID_AT(self, "wrong number of arguments");
    for (size_t i = 0; i < list->count && i < expected; i++) {
        const cx_ptx_parameter *formal = &function->parameters[first + i];
        cx_ptx_instruction done = {.op = results ? CX_PTX_RESULT : CX_PTX_ARGUMENT};
        uint64_t bytes;

        if (!take_value_of(self, &list->all[i], formal->type, results))
            return false;
        bytes = list->all[i].variable_bytes;
        if (bytes < formal->bytes && !lacks_results(function, results))
            return CX_PTX_INVALID_AT(self, "an argument of the wrong size");
        done.a = (uint32_t)list->all[i].offset;
        done.b = formal->offset;
        done.c = bytes < formal->bytes ? (uint32_t)bytes : formal->bytes;
        if (!cx_ptx_emit(self, done))
            return false;
        function = &self->module->functions[callee];
    }
    return true;
}

/* ---- prototypes ---- */

/* A prototype is a function that nothing defines. */
static bool add_prototype(cx_ptx_parser *self, cx_ptx_function prototype, uint32_t *out_index)
{
    cx_ptx_module *module = self->module;
    void *functions = module->functions;
    bool grown = cx_ptx_grow(&functions, module->function_count, &module->function_capacity,
                             sizeof prototype);

    module->functions = functions;
    prototype.name = grown ? strdup("_") : NULL;
    if (!prototype.name)
        return cx_ptx_no_memory(self);
    *out_index = (uint32_t)module->function_count;
    module->functions[module->function_count++] = prototype;
    return true;
}

/* .callprototype (.param .b32 _) _ (.param .b64 _, .param .b32 _); */
static bool parse_prototype(cx_ptx_parser *self, uint32_t *out_index)
{
    cx_ptx_function prototype = {.prototyped = true};
    size_t names = self->names.count, bytes = 0;
    bool done = !cx_ptx_take(self, "(") ||
                cx_ptx_parse_parameters(self, &prototype, CX_PTX_LOCAL, &bytes);

    prototype.result_count = prototype.parameter_count;
    bytes = cx_ptx_behind_results(bytes);
    done = done && cx_ptx_expect(self, "_") &&
           (!cx_ptx_take(self, "(") ||
            cx_ptx_parse_parameters(self, &prototype, CX_PTX_LOCAL, &bytes));
    prototype.frame_bytes = bytes;
    cx_ptx_names_cut(&self->names, names);
    if (done)
        cx_ptx_take(self, ".noreturn");
    if (done && cx_ptx_expect(self, ";") && add_prototype(self, prototype, out_index))
        return true;
    free(prototype.parameters);
    return false;
}

static bool find_function(cx_ptx_parser *self, uint32_t *out_index)
{
    const cx_ptx_name *name =
        cx_ptx_names_find(&self->names, self->token.text, self->token.length, 0);

    if (self->token.kind != CX_PTX_WORD || !name ||
        (name->kind != CX_PTX_NAME_FUNCTION && name->kind != CX_PTX_NAME_PROTOTYPE))
        return CX_PTX_INVALID_AT(self, "'%.*s' is no function", CX_PTX_QUOTE(&self->token));
    *out_index = name->index;
    cx_ptx_advance(self);
    return true;
}

/* .calltargets f, g; all have the prototype of the first. */
static bool parse_targets(cx_ptx_parser *self, uint32_t *out_index)
{
    uint32_t other;

    if (!find_function(self, out_index))
        return false;
    while (cx_ptx_take(self, ","))
        if (!find_function(self, &other))
            return false;
    return cx_ptx_expect(self, ";");
}

bool cx_ptx_parse_callees(cx_ptx_parser *self, uint32_t *out_index)
{
    if (cx_ptx_take(self, ".callprototype"))
        return parse_prototype(self, out_index);
    return cx_ptx_expect(self, ".calltargets") && parse_targets(self, out_index);
}

/* ---- the call ---- */

/* Takes a function, or a register with its address. */
static bool take_callee(cx_ptx_parser *self, cx_ptx_instruction *out)
{
    const cx_ptx_name *name =
        cx_ptx_names_find(&self->names, self->token.text, self->token.length, 0);
    cx_ptx_operand address;
    uint32_t index = 0;

    if (self->token.kind == CX_PTX_WORD && name && name->kind == CX_PTX_NAME_FUNCTION) {
        out->op = CX_PTX_CALL;
        if (!find_function(self, &index))
            return false;
        out->immediate = index;
        return true;
    }
    out->op = CX_PTX_CALL_INDIRECT;
    if (!cx_ptx_parse_operand(self, &address))
        return false;
    if (address.kind != CX_PTX_OPERAND_REGISTER || cx_ptx_type_bytes(address.type) != 8)
        return CX_PTX_INVALID_AT(self, "'%.*s' is no function that can be called",
                                 CX_PTX_QUOTE(&address.token));
    out->a = address.slot;
    return true;
}

/* Behind the callee: arguments in parentheses, and for an address the name of its prototype. */
static bool take_rest(cx_ptx_parser *self, cx_ptx_instruction *call, arguments *given)
{
    bool indirect = call->op == CX_PTX_CALL_INDIRECT;
    uint32_t prototype = 0;

    if (cx_ptx_take(self, ",")) {
        if (cx_ptx_take(self, "(")) {
            if (!take_arguments(self, false, given))
                return false;
            if (indirect && !cx_ptx_expect(self, ","))
                return false;
        } else if (!indirect) {
            return cx_ptx_expect(self, "(");
        }
    } else if (indirect) {
        return cx_ptx_expect(self, ",");
    }
    if (!indirect)
        return true;
    if (!find_function(self, &prototype))
        return false;
    call->immediate = prototype;
    cx_ptx_current(self)->calls_indirectly = true;
    return true;
}

bool cx_ptx_parse_call(cx_ptx_parser *self)
{
    arguments results = {.count = 0}, given = {.count = 0};
    cx_ptx_instruction call = {0};
    size_t callee;

    if (cx_ptx_take(self, "(")) {
        if (!take_arguments(self, true, &results) || !cx_ptx_expect(self, ","))
            return false;
    }
    if (!take_callee(self, &call) || !take_rest(self, &call, &given))
        return false;
    callee = (size_t)call.immediate;
    if (self->module->functions[callee].kernel)
        return cx_ptx_fail(self, CX_PTX_UNSUPPORTED, "a kernel that is called");
    return (call.op == CX_PTX_CALL_INDIRECT || note_call(self, callee)) &&
           emit_copies(self, &given, callee, false) && cx_ptx_emit(self, call) &&
           emit_copies(self, &results, callee, true) && cx_ptx_expect(self, ";");
}
