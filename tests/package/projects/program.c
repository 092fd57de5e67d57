/* Prints the versions of the header and of the library, and visits two emulated GPUs. */
#include <ctxrt/ctxrt.h>
#include <stdio.h>

int main(void)
{
    ctxrt_options options = CTXRT_OPTIONS_INIT;
    options.cuda_driver = CTXRT_CUDA_DRIVER_EMULATED;
    if (ctxrt_init(&options) != CTXRT_SUCCESS)
        return 1;
    for (int i = 0; i < 2; i++)
        if (ctxrt_device_set(CTXRT_CUDA(i)) != CTXRT_SUCCESS)
            return 1;
    printf("%d.%d.%d %d, %zu frame\n", CTXRT_VERSION_MAJOR, CTXRT_VERSION_MINOR,
           CTXRT_VERSION_PATCH, ctxrt_version(), ctxrt_stack_depth());
    return ctxrt_stack_pop() != CTXRT_SUCCESS || ctxrt_shutdown() != CTXRT_SUCCESS;
}
