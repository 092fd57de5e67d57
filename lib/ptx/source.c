/* Source files and lines: .file and .loc. */
#include "ptx/growth.h"
#include "ptx/parser.h"

#include <string.h>

static bool add_file(cx_ptx_parser *self, uint32_t number, const cx_ptx_token *name)
{
    cx_ptx_module *module = self->module;
    void *files = module->files;
    bool grown = cx_ptx_grow(&files, module->file_count, &module->file_capacity,
                             sizeof *module->files);

    module->files = files;
    cx_ptx_file file = {number, grown ? strndup(name->text + 1, name->length - 2) : NULL};
    if (!file.name)
        return cx_ptx_no_memory(self);
    module->files[module->file_count++] = file;
    return true;
}

bool cx_ptx_mark_source(cx_ptx_parser *self, uint32_t file, uint32_t line)
{
    cx_ptx_module *module = self->module;
    void *marks = module->marks;
    bool grown = cx_ptx_grow(&marks, module->mark_count, &module->mark_capacity,
                             sizeof *module->marks);

    module->marks = marks;
    if (!grown)
        return cx_ptx_no_memory(self);
    module->marks[module->mark_count++] = (cx_ptx_mark){module->code_count, file, line};
    return true;
}

/* The line is skipped: anything may follow. */
bool cx_ptx_parse_source(cx_ptx_parser *self)
{
    bool is_file = cx_ptx_at(self, ".file");
    cx_ptx_lexer lexer = self->lexer;
    cx_ptx_token number = cx_ptx_lex(&lexer), second = cx_ptx_lex(&lexer);
    int line = self->token.line;

    cx_ptx_skip_line(self);
    if (number.kind != CX_PTX_INTEGER || number.line != line || second.line != line)
        return true;
    if (is_file)
        return second.kind != CX_PTX_STRING || add_file(self, (uint32_t)number.bits, &second);
    return second.kind != CX_PTX_INTEGER || self->function >= self->module->function_count ||
           cx_ptx_mark_source(self, (uint32_t)number.bits, (uint32_t)second.bits);
}
