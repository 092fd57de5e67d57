/* The linker: makes one image of the PTX of several. One thread at a time uses a state. */
#include "emu/module/archive.h"
#include "emu/context/context.h"
#include "emu/module/device_runtime.h"
#include "emu/base/handle.h"
#include "emu/module/image.h"
#include "emu/base/state.h"
#include "emu/module/sources.h"
#include <stdlib.h>
#include <string.h>

typedef struct linker {
    cx_emu_handle_slot slot;
    cx_emu_jit_options jit; /* the list is our copy; its values are the user's */
    unsigned int max_registers; /* of the linker's options and the inputs'; 0: any number */
    cx_emu_sources sources;
    char *image; /* set when it is complete */
} linker;

static cx_emu_handles linkers = {.slot_bytes = sizeof(linker)};

static cxu_result find_linker(CUlinkState state, linker **out_linker)
{
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    if (!cx_emu_handle_live(&linkers, state))
        result = CXU_INVALID_HANDLE;
    cx_lock_leave(&cx_emu_lock);
    *out_linker = (linker *)(void *)state;
    return result;
}

/* ---- making and destroying ---- */

static bool keep_options(linker *self, unsigned int count, const cxu_jit_option *options,
                         void **values)
{
    cxu_jit_option *copy = calloc((size_t)count + 1, sizeof *copy);

    if (copy == NULL)
        return false;
    if (count > 0)
        memcpy(copy, options, count * sizeof *copy);
    self->jit = (cx_emu_jit_options){.count = count, .options = copy, .values = values};
    self->max_registers = cx_emu_jit_registers(&self->jit);
    return true;
}

static cxu_result create_linker(linker **out_linker)
{
    cx_emu_context *context;
    cxu_result result;

    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_context_current(&context);
    if (result == CXU_SUCCESS) {
        *out_linker = cx_emu_handle_take(&linkers);
        result = *out_linker != NULL ? CXU_SUCCESS : CXU_OUT_OF_MEMORY;
    }
    cx_lock_leave(&cx_emu_lock);
    return result;
}

static void destroy_linker(linker *self)
{
    cx_emu_sources_free(&self->sources);
    free((cxu_jit_option *)self->jit.options);
    free(self->image);
    cx_lock_enter(&cx_emu_lock);
    cx_emu_handle_return(&linkers, self);
    cx_lock_leave(&cx_emu_lock);
}

cxu_result cx_emu_call_link_create(unsigned int count, cxu_jit_option *options, void **values,
                                   CUlinkState *out_state)
{
    linker *self;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_state == NULL || (count > 0 && (options == NULL || values == NULL)))
        return CXU_INVALID_VALUE;
    result = cx_emu_jit_check(
        &(cx_emu_jit_options){.count = count, .options = options, .values = values});
    if (result == CXU_SUCCESS)
        result = create_linker(&self);
    if (result != CXU_SUCCESS)
        return result;
    if (!keep_options(self, count, options, values)) {
        destroy_linker(self);
        return CXU_OUT_OF_MEMORY;
    }
    cx_emu_jit_begin(&self->jit);
    *out_state = (CUlinkState)(void *)self;
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_link_destroy(CUlinkState state)
{
    linker *self;
    cxu_result result = find_linker(state, &self);

    if (result == CXU_SUCCESS)
        destroy_linker(self);
    return result;
}

/* ---- inputs ---- */

/* Reports errors of an input at once. A name that another input may define is no error yet; other
 * errors of such code are reported when all inputs are there. */
static cxu_result check_text(const linker *self, const cx_emu_text *text)
{
    cx_emu_code *code;
    cxu_result result;

    if (memmem(text->text, text->length, ".extern", strlen(".extern")))
        return CXU_SUCCESS;
    result = cx_emu_code_compile(text, &self->jit, &code);
    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    cx_emu_code_drop(code);
    cx_lock_leave(&cx_emu_lock);
    return CXU_SUCCESS;
}

static cxu_result add_text(linker *self, const cx_emu_text *text)
{
    cxu_result result = check_text(self, text);

    return result == CXU_SUCCESS ? cx_emu_sources_add(&self->sources, text) : result;
}

static cxu_result add_image(linker *self, const void *image)
{
    cx_emu_text found;
    cxu_result result = cx_emu_image_find(image, &self->jit, &found);

    if (result != CXU_SUCCESS)
        return result;
    result = add_text(self, &found);
    cx_emu_text_free(&found);
    return result;
}

static cxu_result add_fat(void *self, const void *fat)
{
    return add_image(self, fat);
}

static cxu_result add_archive(linker *self, const void *image, size_t bytes)
{
    cxu_result result;

    if (cx_emu_is_device_runtime(image, bytes))
        return cx_emu_sources_add_device_runtime(&self->sources);
    result = cx_emu_archive_visit(image, bytes, add_fat, self);
    if (result == CXU_NO_BINARY_FOR_GPU)
        cx_emu_jit_complain(&self->jit, "an object or archive has no PTX in a fat binary");
    if (result == CXU_INVALID_IMAGE)
        cx_emu_jit_complain(&self->jit, "an object or archive is malformed");
    return result;
}

static cxu_result add_input(linker *self, cxu_jit_input_type type, const void *image, size_t bytes)
{
    const bool is_host = type == CXU_JIT_INPUT_OBJECT || type == CXU_JIT_INPUT_LIBRARY;
    const size_t count = self->sources.count;
    cxu_result result;

    cx_emu_jit_resume(&self->jit);
    if (type == CXU_JIT_INPUT_PTX)
        result = add_text(self, &(cx_emu_text){.text = image, .length = strnlen(image, bytes)});
    else if (is_host && cx_emu_is_archive(image, bytes))
        result = add_archive(self, image, bytes);
    else
        result = add_image(self, image);
    cx_emu_jit_pause(&self->jit);
    if (result != CXU_SUCCESS)
        cx_emu_sources_cut(&self->sources, count);
    return result;
}

static cxu_result check_type(cxu_jit_input_type type)
{
    return (unsigned int)type <= CXU_JIT_INPUT_LIBRARY ? CXU_SUCCESS : CXU_INVALID_VALUE;
}

/* Only the number of registers has an effect, of all options of one input. */
static cxu_result take_options(linker *self, const cx_emu_jit_options *options)
{
    unsigned int registers;
    cxu_result result;

    if (options->count > 0 && (options->options == NULL || options->values == NULL))
        return CXU_INVALID_VALUE;
    result = cx_emu_jit_check(options);
    if (result != CXU_SUCCESS)
        return result;
    registers = cx_emu_jit_registers(options);
    if (registers > 0 && (self->max_registers == 0 || registers < self->max_registers))
        self->max_registers = registers;
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_link_add_data(CUlinkState state, cxu_jit_input_type type, void *image,
                                     size_t bytes, const char *name, unsigned int count,
                                     cxu_jit_option *options, void **values)
{
    linker *self;
    cxu_result result = find_linker(state, &self);

    (void)name;
    if (result != CXU_SUCCESS)
        return result;
    if (image == NULL || bytes == 0 || self->image != NULL)
        return CXU_INVALID_VALUE;
    result = check_type(type);
    if (result == CXU_SUCCESS)
        result = take_options(
            self, &(cx_emu_jit_options){.count = count, .options = options, .values = values});
    if (result != CXU_SUCCESS)
        return result;
    return add_input(self, type, image, bytes);
}

cxu_result cx_emu_call_link_add_file(CUlinkState state, cxu_jit_input_type type, const char *path,
                                     unsigned int count, cxu_jit_option *options, void **values)
{
    linker *self;
    char *image;
    size_t bytes;
    cxu_result result = find_linker(state, &self);

    if (result != CXU_SUCCESS)
        return result;
    if (path == NULL || self->image != NULL)
        return CXU_INVALID_VALUE;
    result = check_type(type);
    if (result == CXU_SUCCESS)
        result = take_options(
            self, &(cx_emu_jit_options){.count = count, .options = options, .values = values});
    if (result == CXU_SUCCESS)
        result = cx_emu_image_read(path, &image, &bytes);
    if (result != CXU_SUCCESS)
        return result;
    result = add_input(self, type, image, bytes);
    free(image);
    return result;
}

/* ---- the result ---- */

/* Loads the result once, so that errors are reported here. */
static cxu_result join_texts(linker *self, char **out_image, size_t *out_length)
{
    cx_emu_code *code;
    cxu_result result = cx_emu_sources_join(&self->sources, &self->jit, self->max_registers,
                                            out_image, out_length);

    if (result != CXU_SUCCESS)
        return result;
    const cx_emu_text text = {.text = *out_image, .length = *out_length};
    result = cx_emu_code_compile(&text, &self->jit, &code);
    if (result != CXU_SUCCESS) {
        free(*out_image);
        return result;
    }
    cx_emu_code_inform(code, &self->jit);
    cx_lock_enter(&cx_emu_lock);
    cx_emu_code_drop(code);
    cx_lock_leave(&cx_emu_lock);
    return CXU_SUCCESS;
}

/* The image is zero-terminated PTX. */
cxu_result cx_emu_call_link_complete(CUlinkState state, void **out_image, size_t *out_bytes)
{
    linker *self;
    char *image;
    size_t length;
    cxu_result result = find_linker(state, &self);

    if (result != CXU_SUCCESS)
        return result;
    if (out_image == NULL || self->sources.count == 0 || self->image != NULL)
        return CXU_INVALID_VALUE;
    cx_emu_jit_resume(&self->jit);
    result = join_texts(self, &image, &length);
    cx_emu_jit_pause(&self->jit);
    if (result != CXU_SUCCESS)
        return result;
    self->image = image;
    *out_image = image;
    if (out_bytes != NULL)
        *out_bytes = length + 1;
    return CXU_SUCCESS;
}
