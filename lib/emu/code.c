#include "emu/image.h"

#include "base/log.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PTX_VERSION_MAX 90
#define PTX_TARGET_MAX 121

/* ---- the user's logs ---- */

static void **value_of(const cx_emu_code_options *self, cxu_jit_option which)
{
    void **found = NULL;

    for (unsigned int i = 0; i < self->count; i++)
        if (self->options[i] == which)
            found = &self->values[i];
    return found;
}

static void set_filled(const cx_emu_code_options *self, cxu_jit_option which, unsigned int bytes)
{
    void **value = value_of(self, which);

    if (value)
        memcpy(value, &bytes, sizeof bytes);
}

/* An empty text, where there is room for one. */
static void begin_log(const cx_emu_code_options *self, cxu_jit_option buffer, cxu_jit_option size)
{
    void **text = value_of(self, buffer), **bytes = value_of(self, size);
    unsigned int capacity = 0;

    if (bytes)
        memcpy(&capacity, bytes, sizeof capacity);
    if (text && *text && capacity > 0)
        *(char *)*text = '\0';
}

void cx_emu_code_begin_logs(cx_emu_code_options *self)
{
    void **capacity = value_of(self, CXU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);

    if (capacity)
        memcpy(&self->error_capacity, capacity, sizeof self->error_capacity);
    begin_log(self, CXU_JIT_INFO_LOG_BUFFER, CXU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
    begin_log(self, CXU_JIT_ERROR_LOG_BUFFER, CXU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
    set_filled(self, CXU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, 0);
    set_filled(self, CXU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, 0);
}

void cx_emu_code_complain(const cx_emu_code_options *self, const char *format, ...)
{
    void **buffer = value_of(self, CXU_JIT_ERROR_LOG_BUFFER);
    char text[256];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    cx_log(CTXRT_LOG_WARNING, "embedded driver: %s", text);
    if (!buffer || !*buffer || self->error_capacity == 0)
        return;
    snprintf(*buffer, self->error_capacity, "%s", text);
    set_filled(self, CXU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, (unsigned int)strlen(*buffer));
}

/* ---- PTX ---- */

cxu_result cx_emu_code_result(cx_ptx_status status)
{
    switch (status) {
    case CX_PTX_SUCCESS:
        return CXU_SUCCESS;
    case CX_PTX_INVALID:
        return CXU_INVALID_PTX;
    case CX_PTX_UNSUPPORTED:
        return CXU_NOT_SUPPORTED;
    default:
        return CXU_OUT_OF_MEMORY;
    }
}

static cxu_result check_versions(const cx_ptx_module *ptx, const cx_emu_code_options *options)
{
    if (cx_ptx_version(ptx) > PTX_VERSION_MAX) {
        cx_emu_code_complain(options, "PTX .version %d.%d is newer than %d.%d",
                             cx_ptx_version(ptx) / 10, cx_ptx_version(ptx) % 10,
                             PTX_VERSION_MAX / 10, PTX_VERSION_MAX % 10);
        return CXU_UNSUPPORTED_PTX_VERSION;
    }
    if (cx_ptx_target(ptx) > PTX_TARGET_MAX) {
        cx_emu_code_complain(options, "PTX .target sm_%d is above sm_%d, the newest known",
                             cx_ptx_target(ptx), PTX_TARGET_MAX);
        return CXU_INVALID_PTX;
    }
    return CXU_SUCCESS;
}

cxu_result cx_emu_code_compile(const cx_emu_text *text, const cx_emu_code_options *options,
                               cx_emu_code **out_code)
{
    cx_ptx_error error;
    cx_ptx_module *ptx;
    cx_emu_code *code;
    cx_ptx_status status = cx_ptx_load(text->text, text->length, &ptx, &error);
    cxu_result result;

    if (status != CX_PTX_SUCCESS) {
        cx_emu_code_complain(options, "PTX, line %d: %s", error.line, error.message);
        return cx_emu_code_result(status);
    }
    result = check_versions(ptx, options);
    code = result == CXU_SUCCESS ? malloc(sizeof *code) : NULL;
    if (!code) {
        cx_ptx_unload(ptx);
        return result == CXU_SUCCESS ? CXU_OUT_OF_MEMORY : result;
    }
    *code = (cx_emu_code){1, ptx};
    *out_code = code;
    return CXU_SUCCESS;
}

void cx_emu_text_free(const cx_emu_text *text)
{
    free(text->unpacked);
}

cxu_result cx_emu_code_load(const void *image, const cx_emu_code_options *options,
                            cx_emu_code **out_code)
{
    cx_emu_code_options logs = *options;
    cx_emu_text found;
    cxu_result result;

    cx_emu_code_begin_logs(&logs);
    result = cx_emu_image_find(image, &logs, &found);
    if (result != CXU_SUCCESS)
        return result;
    result = cx_emu_code_compile(&found, &logs, out_code);
    cx_emu_text_free(&found);
    return result;
}

cxu_result cx_emu_code_load_file(const char *path, const cx_emu_code_options *options,
                                 cx_emu_code **out_code)
{
    char *image;
    cxu_result result = cx_emu_image_read(path, &image);

    if (result != CXU_SUCCESS)
        return result;
    result = cx_emu_code_load(image, options, out_code);
    free(image);
    return result;
}

/* ---- counting ---- */

void cx_emu_code_retain(cx_emu_code *code)
{
    code->references++;
}

void cx_emu_code_drop(cx_emu_code *code)
{
    if (!code || --code->references > 0)
        return;
    cx_ptx_unload(code->ptx);
    free(code);
}
