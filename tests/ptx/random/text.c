/* Random programs: their text. */
#include "program.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const random_atoms[] = {"add", "min", "max",  "and", "or",
                                    "xor", "exch", "cas", "inc", "dec"};
const char *const random_votes[] = {"vote.sync.all.pred", "vote.sync.any.pred",
                                    "vote.sync.uni.pred", "vote.sync.ballot.b32",
                                    "match.any.sync.b32", "redux.sync.add.u32"};
const char *const random_shuffles[] = {"idx", "up", "down", "bfly"};
const char *const random_specials[] = {"%tid.x",    "%tid.y",   "%tid.z",
                                       "%ntid.x",   "%ctaid.x", "%nctaid.x",
                                       "%laneid",   "%lanemask_lt", "%lanemask_ge"};

typedef struct writer {
    const random_program *program;
    random_layout layout;
    char *text;
    size_t bytes, length;
    int depth; /* of loops */
} writer;

static __attribute__((format(printf, 2, 3))) void put(writer *self, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    if (self->length < self->bytes)
        self->length += (size_t)vsnprintf(self->text + self->length, self->bytes - self->length,
                                          format, list);
    va_end(list);
}

typedef struct name {
    char text[24];
} name;

static name name_of(random_place place)
{
    static const char letters[] = "phwdfgxyvz";
    name result;

    snprintf(result.text, sizeof result.text, "%%%c%d", letters[place.class], place.number);
    return result;
}

static name operand(const random_step *step, int i)
{
    name result;

    if (!step->is_literal[i])
        return name_of(step->from[i]);
    snprintf(result.text, sizeof result.text,
             step->from[i].class == F   ? "0f%08llx"
             : step->from[i].class == G ? "0d%016llx"
                                        : "0x%llx",
             (unsigned long long)step->literal[i]);
    return result;
}

static void put_guard(writer *self, const random_step *step)
{
    if (step->guard >= 0)
        put(self, "@%s%%p%d ", step->inverted ? "!" : "", step->guard);
}

static void put_number(writer *self, random_place place)
{
    if (place.class == G)
        put(self, "testp.notanumber.f64 %%tp9, %%g%d;\n@%%tp9 mov.f64 %%g%d, 0dfff8000000000000;\n",
            place.number, place.number);
}

/* ---- rows ---- */

static void put_row(writer *self, const random_step *step)
{
    static const char kinds[] = "phudfg", classes[] = {P, H, W, D, F, G};
    const char *text = step->row->edge->text;
    bool begins = text[0] != '@';

    for (size_t i = 0; i < step->row->length; i++) {
        if (begins && text[i] != ' ')
            put_guard(self, step);
        begins = (begins && text[i] == ' ') || text[i] == ';';
        if (text[i] != '%') {
            put(self, "%c", text[i]);
            continue;
        }
        if (text[i + 2] >= 'a')
            put(self, "%s", operand(step, text[i + 2] - 'a').text);
        else if (text[i + 2] == '0' &&
                 random_bytes_of((random_class)classes[strchr(kinds, text[i + 1]) - kinds]) ==
                     random_bytes_of(step->to.class) &&
                 (text[i + 1] == 'p') == (step->to.class == P))
            put(self, "%s", name_of(step->to).text);
        else
            put(self, "%%t%c%c", text[i + 1], text[i + 2]);
        i += 2;
    }
    put(self, "\n");
    put_number(self, step->to);
}

/* ---- memory ---- */

static unsigned log_of(unsigned size)
{
    return (unsigned)__builtin_ctz(size);
}

typedef struct place_text {
    char text[64];
    const char *space;
} place_text;

static place_text slot_address(writer *self, const random_step *step)
{
    unsigned size = step->bytes * step->count, log = log_of(size);
    place_text result = {.space = step->generic ? "" : ".global"};

    if (step->space == GLOBAL) {
        put(self, "mad.wide.u32 %%ta, %%i%d, %u, %llu;\n", step->pattern, size,
            (unsigned long long)(RANDOM_ADDRESS + self->layout.own[log]));
        snprintf(result.text, sizeof result.text, "[%%ta+%llu]",
                 (unsigned long long)(step->slot * self->layout.threads * size));
        return result;
    }
    put(self, "mov.u32 %%tu8, sh;\nmad.lo.u32 %%tu9, %%j%d, %u, %%tu8;\n", step->pattern, size);
    if (step->generic)
        put(self, "cvt.u64.u32 %%ta, %%tu9;\ncvta.shared.u64 %%ta, %%ta;\n");
    else
        result.space = ".shared";
    snprintf(result.text, sizeof result.text, "[%s+%llu]", step->generic ? "%ta" : "%tu9",
             (unsigned long long)(self->layout.shared[log] +
                                  step->slot * self->program->threads * size));
    return result;
}

static place_text table_address(writer *self, const random_step *step)
{
    static const char *const spaces[] = {[LOCAL] = ".local", [TABLE] = ".global",
                                         [CONSTANT] = ".const", [PARAMETER] = ".param"};
    static const char *const names[] = {[LOCAL] = "loc", [CONSTANT] = "ctab", [PARAMETER] = "tab"};
    unsigned size = step->bytes * step->count;
    unsigned limit = step->space == LOCAL || step->space == PARAMETER ? 64 : RANDOM_TABLE;
    place_text result = {.space = spaces[step->space]};
    unsigned offset = step->number % (limit / size) * size;

    if (step->pattern == SCATTERED) {
        put(self, "and.b32 %%tu9, %s, %u;\n", name_of(step->from[0]).text, limit / size - 1);
        if (step->space == TABLE)
            put(self, "mov.u64 %%td8, %llu;\n",
                (unsigned long long)(RANDOM_ADDRESS + self->layout.table));
        else
            put(self, "mov.u64 %%td8, %s;\n", names[step->space]);
        put(self, "mad.wide.u32 %%ta, %%tu9, %u, %%td8;\n", size);
        snprintf(result.text, sizeof result.text, "[%%ta]");
    } else if (step->space == TABLE) {
        snprintf(result.text, sizeof result.text, "[%llu]",
                 (unsigned long long)(RANDOM_ADDRESS + self->layout.table + offset));
    } else {
        snprintf(result.text, sizeof result.text, "[%s+%u]", names[step->space], offset);
    }
    return result;
}

static void put_registers(writer *self, const random_step *step)
{
    if (step->count > 1)
        put(self, "{");
    for (unsigned i = 0; i < step->count; i++)
        put(self, "%s%s", i ? ", " : "", name_of(random_next_place(step->to, i)).text);
    if (step->count > 1)
        put(self, "}");
}

static void put_access(writer *self, const random_step *step)
{
    bool load = step->kind == DO_LOAD;
    char type = step->to.class == F || step->to.class == G ? (step->is_signed ? 'f' : 'b')
                : step->to.class == X                      ? 'b'
                : step->is_signed                          ? 's'
                                                           : (step->number & 1 ? 'u' : 'b');
    place_text address = step->space <= SHARED ? slot_address(self, step)
                                               : table_address(self, step);
    char vector[4] = "";

    if (step->count > 1)
        snprintf(vector, sizeof vector, ".v%u", step->count % 10);
    if (load && step->guard < 0 && step->to.class == D && strncmp(address.text, "[%ta", 4) == 0) {
        /* Through the register that it writes. */
        put(self, "mov.b64 %s, %%ta;\n", name_of(step->to).text);
        memcpy(address.text + 1, name_of(step->to).text, 3);
    }
    put_guard(self, step);
    put(self, "%s%s%s.%c%u ", load ? "ld" : "st", address.space, vector, type, step->bytes * 8);
    if (load) {
        put_registers(self, step);
        put(self, ", %s;\n", address.text);
    } else {
        put(self, "%s, ", address.text);
        put_registers(self, step);
        put(self, ";\n");
    }
}

static void put_atom(writer *self, const random_step *step)
{
    place_text address;
    char type = step->number < ATOM_AND || step->number > ATOM_CAS ? (step->is_signed ? 's' : 'u')
                                                                   : 'b';
    char common[64];

    if (step->kind == DO_REDUCE) {
        snprintf(common, sizeof common, "[%llu]",
                 (unsigned long long)(RANDOM_ADDRESS + self->layout.common +
                                      random_common_of(step) * UINT64_C(8)));
        put_guard(self, step);
        put(self, "red.global.%s.%c%u %s, %s;\n", random_atoms[step->number], type,
            step->bytes * 8, common, name_of(step->from[0]).text);
        return;
    }
    address = slot_address(self, step);
    put_guard(self, step);
    put(self, "atom%s.%s.%c%u %s, %s, %s", address.space, random_atoms[step->number], type,
        step->bytes * 8, name_of(step->to).text, address.text, name_of(step->from[0]).text);
    if (step->number == ATOM_CAS)
        put(self, ", %s", name_of(step->from[1]).text);
    put(self, ";\n");
}

/* ---- calls, and what lanes do together ---- */

static void put_call(writer *self, const random_step *step)
{
    put(self, "{\n.param .b32 pa;\n.param .b64 pb;\n.param .b32 pr;\n");
    put_guard(self, step);
    put(self, "st.param.b32 [pa], %s;\n", name_of(step->from[0]).text);
    put_guard(self, step);
    put(self, "st.param.b64 [pb], %s;\n", name_of(step->from[1]).text);
    if (step->generic)
        put(self,
            "mov.u64 %%td8, f%u;\nmov.u64 %%td9, f%u;\nand.b32 %%tu9, %s, 1;\n"
            "setp.eq.u32 %%tp8, %%tu9, 0;\nselp.b64 %%td9, %%td8, %%td9, %%tp8;\n",
            step->number, step->number + 1, name_of(step->from[0]).text);
    put_guard(self, step);
    if (step->generic)
        put(self, "call (pr), %%td9, (pa, pb), proto;\n");
    else
        put(self, "call (pr), f%u, (pa, pb);\n", step->number);
    put_guard(self, step);
    put(self, "ld.param.b32 %s, [pr];\n}\n", name_of(step->to).text);
}

static void put_failure(writer *self, const random_step *step)
{
    unsigned by = step->number ? 4 : 64;
    unsigned long long first = random_failing_address(step->number, 0);

    put(self,
        "mad.wide.u32 %%ta, %%j0, %u, %llu;\nand.b32 %%tu9, %s, 3;\nsetp.eq.u32 %%tp8, %%tu9, 0;\n"
        "selp.b64 %%ta, %%ta, %llu, %%tp8;\n",
        by, first, name_of(step->from[0]).text,
        (unsigned long long)(RANDOM_ADDRESS + self->layout.table));
    put_guard(self, step);
    put(self, "ld%s.u32 %s, [%%ta];\n", step->generic ? "" : ".global", name_of(step->to).text);
}

static void put_shuffle(writer *self, const random_step *step)
{
    unsigned control = (32 - step->slot) << 8 | (step->number == SHUFFLE_UP ? 0 : 31);
    name lane = operand(step, 1);

    if (step->number == SHUFFLE_IDX && self->program->threads % 32) {
        put(self, "rem.u32 %%tu9, %s, %%nt;\n", lane.text);
        snprintf(lane.text, sizeof lane.text, "%%tu9");
    }
    put(self, "shfl.sync.%s.b32 %s|%%tp8, %s, %s, 0x%x, %%mask;\n", random_shuffles[step->number],
        name_of(step->to).text, name_of(step->from[0]).text, lane.text, control);
    if (step->is_signed)
        put(self, "selp.b32 %s, %s, 0, %%tp8;\n", name_of(step->to).text, name_of(step->to).text);
}

static void put_exchange(writer *self, const random_step *step)
{
    unsigned long long at = self->layout.exchanged;

    put(self,
        "mov.u32 %%tu8, sh;\nmad.lo.u32 %%tu9, %%j%d, 8, %%tu8;\n"
        "st.shared.b64 [%%tu9+%llu], %s;\nbar.sync 0;\n",
        step->pattern, at, name_of(step->from[0]).text);
    put(self,
        "add.u32 %%tu9, %%j0, %u;\nrem.u32 %%tu9, %%tu9, %u;\nmad.lo.u32 %%tu9, %%tu9, 8, %%tu8;\n"
        "ld.shared.b64 %s, [%%tu9+%llu];\nbar.sync 0;\n",
        step->number, self->program->threads, name_of(step->to).text, at);
}

/* ---- control ---- */

static void put_steps(writer *self, int from, int to);

static void put_branch(writer *self, const random_step *step, int at)
{
    if (step->generic)
        put(self,
            "selp.u32 %%tu9, %d, %d, %%p%d;\nTO%d: .branchtargets THEN%d, ELSE%d;\n"
            "brx.idx %%tu9, TO%d;\nTHEN%d:\n",
            step->inverted, !step->inverted, step->guard, at, at, at, at, at);
    else
        put(self, "@%s%%p%d bra ELSE%d;\n", step->inverted ? "" : "!", step->guard, at);
    put_steps(self, at + 1, step->middle);
    if (step->middle < step->end) {
        put(self, "bra END%d;\nELSE%d:\n", at, at);
        put_steps(self, step->middle, step->end);
        put(self, "END%d:\n", at);
    } else {
        put(self, "ELSE%d:\n", at);
    }
}

static void put_loop(writer *self, const random_step *step, int at)
{
    int n = self->depth++;

    put(self, "and.b32 %%n%d, %s, 3;\nLOOP%d:\nsetp.eq.u32 %%tp7, %%n%d, 0;\n@%%tp7 bra END%d;\n",
        n, operand(step, 0).text, at, n, at);
    put_steps(self, at + 1, step->end);
    put(self, "sub.u32 %%n%d, %%n%d, 1;\n", n, n);
    if (step->guard >= 0) {
        put_guard(self, step);
        put(self, "bra END%d;\n", at);
    }
    put(self, "bra LOOP%d;\nEND%d:\n", at, at);
    self->depth--;
}

static void put_step(writer *self, const random_step *step, int at)
{
    switch (step->kind) {
    case DO_ROW:
        return put_row(self, step);
    case DO_IF:
        return put_branch(self, step, at);
    case DO_LOOP:
        return put_loop(self, step, at);
    case DO_LOAD:
    case DO_STORE:
        return put_access(self, step);
    case DO_ATOM:
    case DO_REDUCE:
        return put_atom(self, step);
    case DO_CALL:
        return put_call(self, step);
    case DO_FAIL:
        return put_failure(self, step);
    case DO_SPECIAL:
        put_guard(self, step);
        return put(self, "mov.u32 %s, %s;\n", name_of(step->to).text,
                   random_specials[step->number]);
    case DO_SHUFFLE:
        return put_shuffle(self, step);
    case DO_VOTE:
        return put(self, "%s %s, %s, %%mask;\n", random_votes[step->number],
                   name_of(step->to).text, name_of(step->from[0]).text);
    default:
        return put_exchange(self, step);
    }
}

static void put_steps(writer *self, int from, int to)
{
    const random_step *steps = self->program->steps;

    for (int i = from; i < to;) {
        bool nests = steps[i].kind == DO_IF || steps[i].kind == DO_LOOP;

        if (!steps[i].off)
            put_step(self, &steps[i], i);
        i = nests ? steps[i].end : i + 1;
    }
}

/* ---- functions ---- */

static void put_declarations(writer *self)
{
    put(self, "{\nproto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _);\n"
              ".reg .pred %%p<6>, %%tp<10>;\n.reg .b16 %%h<6>, %%x<6>, %%y<6>, %%th<10>;\n"
              ".reg .b32 %%w<6>, %%v<6>, %%z<6>, %%tu<10>, %%n<6>, %%i<3>, %%j<3>, %%mask, %%nt;\n"
              ".reg .b64 %%d<6>, %%td<10>, %%ta;\n.reg .f32 %%f<6>, %%tf<10>;\n"
              ".reg .f64 %%g<6>, %%tg<10>;\n");
}

/* Local memory begins as zeros. */
static void put_local(writer *self, int function)
{
    const random_program *program = self->program;
    bool used = false;

    for (int i = program->first[function]; i < program->first[function + 1]; i++)
        used |= !program->steps[i].off && program->steps[i].space == LOCAL;
    if (!used)
        return;
    put(self, ".local .align 16 .b8 loc[%d];\nmov.b64 %%td9, 0;\n", RANDOM_LOCAL);
    for (int i = 0; i < RANDOM_LOCAL; i += 16)
        put(self, "st.local.v2.b64 [loc+%d], {%%td9, %%td9};\n", i);
}

static const char *type_of(random_class class)
{
    static const char *const types[RANDOM_CLASSES] = {"pred", "b16", "b32", "b64", "f32",
                                                      "f64",  "b16", "b16", "b32", "b32"};

    return types[class];
}

static void put_initial(writer *self, random_place place)
{
    random_step literal = {.is_literal = {true}, .literal = {random_initial(place)}};

    literal.from[0] = place;
    put(self, "mov.%s %s, %s;\n", type_of(place.class), name_of(place).text,
        operand(&literal, 0).text);
}

static void each_used(writer *self, int function, void (*put_one)(writer *, random_place))
{
    for (int c = 0; c < RANDOM_CLASSES; c++)
        for (int i = 0; i < RANDOM_REGISTERS; i++)
            if (self->program->used[function][c][i])
                put_one(self, (random_place){(random_class)c, i});
}

static void put_function(writer *self, int function)
{
    const random_program *program = self->program;

    if (!program->called[function])
        return;
    put(self, ".func (.param .b32 r) f%d(.param .b32 a, .param .b64 b)\n", function);
    put_declarations(self);
    put_local(self, function);
    each_used(self, function, put_initial);
    put(self, "ld.param.b32 %%w0, [a];\nld.param.b64 %%d0, [b];\n");
    put_steps(self, program->first[function], program->first[function + 1]);
    put(self, "st.param.b32 [r], %%w1;\nret;\n}\n");
}

static void put_register_load(writer *self, random_place place)
{
    unsigned long long at = self->layout.in + random_register_at(self->program, place);

    if (place.class == P)
        put(self, "ld.global.b32 %%tu9, [%%ta+%llu];\nsetp.ne.u32 %%p%d, %%tu9, 0;\n", at,
            place.number);
    else
        put(self, "ld.global.%s %s, [%%ta+%llu];\n", type_of(place.class), name_of(place).text, at);
}

static void put_register_store(writer *self, random_place place)
{
    unsigned long long at = self->layout.out + random_register_at(self->program, place);

    if (place.class == P)
        put(self, "selp.b32 %%tu9, 1, 0, %%p%d;\nst.global.b32 [%%ta+%llu], %%tu9;\n",
            place.number, at);
    else
        put(self, "st.global.%s [%%ta+%llu], %s;\n", type_of(place.class), at, name_of(place).text);
}

static void put_shared(writer *self)
{
    unsigned threads = self->program->threads;

    put(self,
        ".shared .align 16 .b8 sh[%llu];\nmov.b64 %%td9, 0;\nshl.b32 %%tu0, %%j0, 4;\n"
        "ZERO:\nsetp.ge.u32 %%tp0, %%tu0, %llu;\n@%%tp0 bra ZEROED;\nmov.u32 %%tu1, sh;\n"
        "add.u32 %%tu1, %%tu1, %%tu0;\nst.shared.v2.b64 [%%tu1], {%%td9, %%td9};\n"
        "add.u32 %%tu0, %%tu0, %u;\nbra ZERO;\nZEROED:\nbar.sync 0;\n",
        (unsigned long long)self->layout.shared_bytes,
        (unsigned long long)self->layout.shared_bytes, threads * 16);
}

static bool uses_shared(const random_program *program)
{
    for (int i = program->first[RANDOM_FUNCTIONS]; i < program->count; i++)
        if (!program->steps[i].off &&
            (program->steps[i].space == SHARED || program->steps[i].kind == DO_EXCHANGE))
            return true;
    return false;
}

static void put_constants(writer *self, const unsigned char *memory)
{
    const random_program *program = self->program;
    bool used = false;

    for (int i = 0; i < program->count; i++)
        used |= !program->steps[i].off && program->steps[i].space == CONSTANT;
    if (!used)
        return;
    put(self, ".const .align 16 .b32 ctab[%d] = {", RANDOM_TABLE / 4);
    for (int i = 0; i < RANDOM_TABLE; i += 4) {
        uint32_t word;

        memcpy(&word, memory + self->layout.constant + i, sizeof word);
        put(self, "%s%u", i ? "," : "", word);
    }
    put(self, "};\n");
}

static void put_kernel(writer *self)
{
    const random_program *program = self->program;
    unsigned threads = program->threads;

    put(self, ".visible .entry k(.param .align 16 .b8 tab[64])\n");
    put_declarations(self);
    put(self,
        "mov.u32 %%j0, %%tid.z;\nmov.u32 %%tu0, %%tid.y;\nmad.lo.u32 %%j0, %%j0, %u, %%tu0;\n"
        "mov.u32 %%tu0, %%tid.x;\nmad.lo.u32 %%j0, %%j0, %u, %%tu0;\nsub.u32 %%j1, %u, %%j0;\n"
        "mad.lo.u32 %%j2, %%j0, 7, 3;\n"
        "rem.u32 %%j2, %%j2, %u;\nmov.u32 %%tu0, %%ctaid.x;\n",
        program->height, program->width, threads - 1, threads);
    for (int i = 0; i < 3; i++)
        put(self, "mad.lo.u32 %%i%d, %%tu0, %u, %%j%d;\n", i, threads, i);
    put(self,
        "and.b32 %%nt, %%j0, -32;\nsub.u32 %%nt, %u, %%nt;\nmin.u32 %%nt, %%nt, 32;\n"
        "sub.u32 %%tu1, 32, %%nt;\nmov.u32 %%mask, -1;\nshr.u32 %%mask, %%mask, %%tu1;\n",
        threads);
    if (uses_shared(program))
        put_shared(self);
    put_local(self, RANDOM_FUNCTIONS);
    put(self, "mad.wide.u32 %%ta, %%i0, 8, %llu;\n", (unsigned long long)RANDOM_ADDRESS);
    each_used(self, RANDOM_FUNCTIONS, put_register_load);
    put_steps(self, program->first[RANDOM_FUNCTIONS], program->count);
    put(self, "mad.wide.u32 %%ta, %%i0, 8, %llu;\n", (unsigned long long)RANDOM_ADDRESS);
    each_used(self, RANDOM_FUNCTIONS, put_register_store);
    put(self, "ret;\n}\n");
}

size_t random_write(const random_program *self, const unsigned char *memory, char *text,
                    size_t bytes)
{
    writer to = {
        .program = self, .layout = random_layout_of(self), .text = text, .bytes = bytes};

    put(&to, ".version 8.6\n.target sm_90\n.address_size 64\n");
    put_constants(&to, memory);
    for (int i = 0; i < RANDOM_FUNCTIONS; i++)
        put_function(&to, i);
    put_kernel(&to);
    return to.length < bytes ? to.length : 0;
}
