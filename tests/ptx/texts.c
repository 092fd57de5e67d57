#include "texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char text_complaint[512];

/* Leaves the text as a file with a name of its own. */
static void keep_text(const char *text)
{
    const char *folder = getenv("CTXRT_TEST_TEXTS");
    uint64_t hash = 14695981039346656037u;
    char path[512];
    FILE *file;

    if (!folder)
        return;
    for (const char *at = text; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 1099511628211u;
    snprintf(path, sizeof path, "%s/%016llx.ptx", folder, (unsigned long long)hash);
    file = fopen(path, "w");
    ck_assert_msg(file && fputs(text, file) >= 0 && fclose(file) == 0, "%s", path);
}

cxu_result text_load(const char *text, CUmodule *out_module)
{
    cxu_jit_option options[] = {CXU_JIT_ERROR_LOG_BUFFER, CXU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {text_complaint, (void *)(uintptr_t)sizeof text_complaint};

    text_complaint[0] = '\0';
    return cx_emu_call_module_load_data_ex(out_module, text, 2, options, values);
}

cxu_result text_launch(const char *text, CUdeviceptr out, unsigned threads)
{
    void *parameters[] = {&out};
    CUfunction kernel;
    CUmodule module;
    cxu_result result;

    keep_text(text);
    ck_assert_msg(text_load(text, &module) == CXU_SUCCESS, "%s\n%s", text_complaint, text);
    ck_success(cx_emu_call_module_get_function(&kernel, module, "k"));
    ck_success(
        cx_emu_call_launch_kernel(kernel, 1, 1, 1, threads, 1, 1, 0, NULL, parameters, NULL));
    result = cx_emu_call_ctx_synchronize();
    if (result == CXU_SUCCESS)
        ck_success(cx_emu_call_module_unload(module));
    return result;
}

void text_run(const char *text, void *words, size_t bytes, unsigned threads)
{
    CUdeviceptr out = make_memory(bytes);
    cxu_result result;

    ck_success(cx_emu_call_memcpy_htod(out, words, bytes));
    result = text_launch(text, out, threads);
    ck_assert_msg(result == CXU_SUCCESS, "%d\n%s", result, text);
    read_device(words, out, bytes);
    ck_success(cx_emu_call_mem_free(out));
}
