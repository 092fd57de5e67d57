/* Loading an image as code: finds its PTX, links what has several parts, and compiles it. */
#include "emu/module/device_runtime.h"
#include "emu/module/image.h"
#include "emu/module/sources.h"
#include <stdlib.h>

static cxu_result add_part(cx_emu_sources *sources, const void *part,
                           const cx_emu_jit_options *options)
{
    cx_emu_text found;
    cxu_result result = cx_emu_image_find(part, options, &found);

    if (result != CXU_SUCCESS)
        return result;
    result = cx_emu_is_device_runtime_text(found.text, found.length)
                 ? cx_emu_sources_add_device_runtime(sources)
                 : cx_emu_sources_add(sources, &found);
    cx_emu_text_free(&found);
    return result;
}

/* The parts of a program that was compiled with -rdc=true. */
static cxu_result link_parts(const void *const *parts, const cx_emu_jit_options *options,
                             cx_emu_text *out_text)
{
    cx_emu_sources sources = {0};
    cxu_result result = CXU_SUCCESS;
    size_t length;
    char *text;

    for (; result == CXU_SUCCESS && *parts != NULL; parts++)
        result = add_part(&sources, *parts, options);
    if (result == CXU_SUCCESS)
        result = cx_emu_sources_join(&sources, options, 0, &text, &length);
    cx_emu_sources_free(&sources);
    if (result == CXU_SUCCESS)
        *out_text = (cx_emu_text){text, length, text};
    return result;
}

static cxu_result find_text(const void *image, const cx_emu_jit_options *options,
                            cx_emu_text *out_text)
{
    const void *const *parts = cx_emu_image_parts(image);

    return parts != NULL ? link_parts(parts, options, out_text)
                         : cx_emu_image_find(image, options, out_text);
}

cxu_result cx_emu_code_load(const void *image, const cx_emu_jit_options *options,
                            cx_emu_code **out_code)
{
    cx_emu_jit_options jit = *options;
    cx_emu_text found;
    cxu_result result = cx_emu_jit_check(&jit);

    if (result != CXU_SUCCESS)
        return result;
    cx_emu_jit_begin(&jit);
    cx_emu_jit_resume(&jit);
    result = find_text(image, &jit, &found);
    if (result == CXU_SUCCESS) {
        result = cx_emu_code_compile(&found, &jit, out_code);
        cx_emu_text_free(&found);
    }
    if (result == CXU_SUCCESS)
        cx_emu_code_inform(*out_code, &jit);
    cx_emu_jit_pause(&jit);
    if (result == CXU_OUT_OF_MEMORY)
        cx_emu_jit_undo(&jit);
    return result;
}

cxu_result cx_emu_code_load_file(const char *path, const cx_emu_jit_options *options,
                                 cx_emu_code **out_code)
{
    char *image;
    cxu_result result = cx_emu_image_read(path, &image, NULL);

    if (result != CXU_SUCCESS)
        return result;
    result = cx_emu_code_load(image, options, out_code);
    free(image);
    return result;
}
