/* Loads a file of code whose kernel `fill` writes twice its thread's number, and runs that: what
 * nvcc_images.sh does with each file that nvcc made. */
#include "emu/emu.h"

#include <stdio.h>

#define CHECKED(call)                                       \
    do {                                                    \
        cxu_result result = (call);                         \
        if (result != CXU_SUCCESS) {                        \
            fprintf(stderr, "%s: %d\n", #call, (int)result); \
            return 1;                                       \
        }                                                   \
    } while (0)

enum { THREADS = 32 };

int main(int count, char **arguments)
{
    const cx_driver_table *driver = &cx_emu_table;
    uint32_t words[THREADS] = {0};
    CUcontext context;
    CUmodule module;
    CUfunction fill;
    CUdeviceptr out;
    void *parameters[] = {&out};

    if (count != 2)
        return 2;
    CHECKED(driver->init(0));
    CHECKED(driver->primary_retain(&context, 0));
    CHECKED(driver->ctx_set_current(context));
    CHECKED(driver->module_load(&module, arguments[1]));
    CHECKED(driver->module_get_function(&fill, module, "fill"));
    CHECKED(driver->mem_alloc(&out, sizeof words));
    CHECKED(driver->launch_kernel(fill, 1, 1, 1, THREADS, 1, 1, 0, NULL, parameters, NULL));
    CHECKED(driver->memcpy_dtoh(words, out, sizeof words));
    for (uint32_t i = 0; i < THREADS; i++)
        if (words[i] != 2 * i) {
            fprintf(stderr, "thread %u wrote %u\n", i, words[i]);
            return 1;
        }
    CHECKED(driver->mem_free(out));
    CHECKED(driver->module_unload(module));
    CHECKED(driver->primary_release(0));
    return 0;
}
