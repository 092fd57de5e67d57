/* A library with a kernel, as nvcc builds one: its constructor registers, its destructor
 * unregisters. */
#include "plugin.h"

#include "code.h"

static code_add adds;
static uint32_t *words;

__attribute__((constructor)) static void add_code(void)
{
    code_add_register(&adds);
}

__attribute__((destructor)) static void remove_code(void)
{
    __cudaUnregisterFatBinary(adds.binary);
}

int plugin_run(void)
{
    uint32_t found[WORDS];
    cxr_error error = cudaMalloc((void **)&words, WORD_BYTES);
    if (error == CXR_SUCCESS)
        error = cudaMemset(words, 0, WORD_BYTES);
    if (error == CXR_SUCCESS)
        error = code_launch_add(&adds, words, 7, NULL);
    if (error == CXR_SUCCESS)
        error = cudaMemcpy(found, words, WORD_BYTES, CXR_DEVICE_TO_HOST);
    if (error == CXR_SUCCESS)
        error = cudaFree(words);
    return error != CXR_SUCCESS ? (int)error : found[WORDS - 1] == 7 ? 0 : -1;
}
