#include "emu/module/sources.h"

#include "emu/module/device_errors.h"
#include "emu/module/device_runtime.h"
#include <stdlib.h>
#include <string.h>

cxu_result cx_emu_sources_add(cx_emu_sources *self, const cx_emu_text *text)
{
    cx_ptx_source *grown;

    if (self->count == self->capacity) {
        grown = reallocarray(self->all, self->capacity * 2 + 4, sizeof *grown);
        if (grown == NULL)
            return CXU_OUT_OF_MEMORY;
        self->all = grown;
        self->capacity = self->capacity * 2 + 4;
    }
    grown = &self->all[self->count];
    *grown = (cx_ptx_source){strndup(text->text, text->length), text->length};
    if (grown->text == NULL)
        return CXU_OUT_OF_MEMORY;
    self->count++;
    return CXU_SUCCESS;
}

static cxu_result add_own(cx_emu_sources *self, const char *text)
{
    return cx_emu_sources_add(self, &(cx_emu_text){.text = text, .length = strlen(text)});
}

cxu_result cx_emu_sources_add_device_runtime(cx_emu_sources *self)
{
    cxu_result result = self->runtime ? CXU_SUCCESS : add_own(self, cx_emu_device_runtime);

    if (result == CXU_SUCCESS && !self->runtime)
        self->runtime = self->count;
    return result;
}

void cx_emu_sources_cut(cx_emu_sources *self, size_t kept)
{
    while (self->count > kept)
        free((char *)self->all[--self->count].text);
    if (self->runtime > kept)
        self->runtime = 0;
}

void cx_emu_sources_free(cx_emu_sources *self)
{
    cx_emu_sources_cut(self, 0);
    free(self->all);
    *self = (cx_emu_sources){0};
}

static bool is_needed(const cx_emu_sources *self, bool (*needs)(const char *text, size_t length))
{
    for (size_t i = 0; i < self->count; i++)
        if (needs(self->all[i].text, self->all[i].length))
            return true;
    return false;
}

static cxu_result add_errors(cx_emu_sources *self)
{
    char *text = cx_emu_device_errors_write();
    cxu_result result = text != NULL ? add_own(self, text) : CXU_OUT_OF_MEMORY;

    free(text);
    return result;
}

/* Kernels of a module that may launch grids run on one core: others do without. */
static cxu_result add_needed(cx_emu_sources *self)
{
    cxu_result result = CXU_SUCCESS;

    if (is_needed(self, cx_emu_needs_device_errors))
        result = add_errors(self);
    if (result == CXU_SUCCESS && is_needed(self, cx_emu_needs_device_launches))
        result = add_own(self, cx_emu_device_launches);
    return result;
}

cxu_result cx_emu_sources_join(cx_emu_sources *self, const cx_emu_jit_options *options,
                               unsigned int max_registers, char **out_text, size_t *out_length)
{
    const size_t count = self->count;
    cx_ptx_error error;
    cx_ptx_status status;
    cxu_result result = CXU_SUCCESS;

    if (self->runtime)
        result = add_needed(self);
    if (result != CXU_SUCCESS) {
        cx_emu_sources_cut(self, count);
        return result;
    }
    status = cx_ptx_link(self->all, self->count, max_registers, out_text, out_length, &error);
    cx_emu_sources_cut(self, count);
    if (status != CX_PTX_SUCCESS && status != CX_PTX_NO_MEMORY)
        cx_emu_jit_complain(options, "PTX, line %d: %s", error.line, error.message);
    return cx_emu_code_result(status);
}
