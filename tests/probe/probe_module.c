/* T9: modules, libraries, launches. */
#include "kernels.h"
#include "probes.h"
#include "steps.h"

static void loading(void)
{
    CUmodule module = NULL, none = NULL;
    CUfunction function = NULL;
    init();
    see_result("none-current", kernels_load(&none, kernel_fill));
    create("a");
    see_result("current", kernels_load(&module, kernel_fill));
    see_result("null-image", cuModuleLoadData(&none, NULL));
    see_result("no-image", cuModuleLoadData(&none, "no image at all"));
    see_result("get-function", cuModuleGetFunction(&function, module, "fill"));
    see_result("get-unknown-function", cuModuleGetFunction(&function, module, "no_such_kernel"));
}

static void launching(void)
{
    int word = 0;
    init();
    CUcontext a = create("a");
    CUstream in_a = stream(STREAM_NON_BLOCKING);
    CUdeviceptr at = memory(64);
    void *parameters[] = {&at};
    CUfunction fill = kernel(kernel_fill, "fill");
    cuMemsetD8_v2(at, 0, 64);
    see_result("launch", launch(fill, NULL, parameters));
    see_result("synchronize", cuCtxSynchronize());
    cuMemcpyDtoH_v2(&word, at, sizeof word);
    see("launch-wrote", "%d", word);
    see_result("no-threads", cuLaunchKernel(fill, 0, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    see_result("too-many-threads",
               cuLaunchKernel(fill, 1, 1, 1, 65536, 1, 1, 0, NULL, parameters, NULL));
    create("b");
    CUstream in_b = stream(STREAM_NON_BLOCKING);
    see_result("other-current-own-stream", launch(fill, in_a, parameters));
    see_result("other-current-null-stream", launch(fill, NULL, parameters));
    see_result("other-contexts-stream", launch(fill, in_b, parameters));
    pop_all();
    see_result("none-current-own-stream", launch(fill, in_a, parameters));
    see_result("none-current-null-stream", launch(fill, NULL, parameters));
    cuCtxPushCurrent_v2(a);
    see_result("synchronize-at-end", cuCtxSynchronize());
}

static void unloading(void)
{
    CUmodule module = NULL;
    init();
    create("a");
    need("cuModuleLoadData", kernels_load(&module, kernel_fill));
    pop_all();
    see_result("none-current", cuModuleUnload(module));
    create("b");
    see_result("other-current-load", kernels_load(&module, kernel_fill));
    create("c");
    see_result("other-current", cuModuleUnload(module));
}

static void library(void)
{
    CUlibrary loaded = NULL;
    CUkernel fill = NULL;
    int word = 0;
    init();
    see_result("load-none-current", kernels_load_library(&loaded, kernel_fill));
    if (loaded == NULL)
        give_up("not reached: no library");
    see_result("get-kernel", cuLibraryGetKernel(&fill, loaded, "fill"));
    create("a");
    CUstream in_a = stream(STREAM_NON_BLOCKING);
    CUdeviceptr at = memory(64);
    void *parameters[] = {&at};
    cuMemsetD8_v2(at, 0, 64);
    see_result("launch-null-stream", launch((CUfunction)fill, NULL, parameters));
    see_result("synchronize", cuCtxSynchronize());
    cuMemcpyDtoH_v2(&word, at, sizeof word);
    see("launch-wrote", "%d", word);
    create("b");
    see_result("launch-stream-of-another", launch((CUfunction)fill, in_a, parameters));
    pop_all();
    see_result("launch-stream-none-current", launch((CUfunction)fill, in_a, parameters));
    see_result("launch-null-stream-none-current", launch((CUfunction)fill, NULL, parameters));
    see_result("stream-synchronize", cuStreamSynchronize(in_a));
    see_result("unload-none-current", cuLibraryUnload(loaded));
}

const struct experiment module_experiments[] = {
    {"T9.load", loading,
     "none-current current null-image no-image get-function get-unknown-function"},
    {"T9.launch", launching,
     "launch synchronize launch-wrote no-threads too-many-threads other-current-own-stream "
     "other-current-null-stream other-contexts-stream none-current-own-stream "
     "none-current-null-stream "
     "synchronize-at-end"},
    {"T9.unload", unloading, "none-current other-current-load other-current"},
    {"T9.library", library,
     "load-none-current get-kernel launch-null-stream synchronize launch-wrote "
     "launch-stream-of-another "
     "launch-stream-none-current launch-null-stream-none-current stream-synchronize "
     "unload-none-current"},
    {NULL, NULL, NULL},
};
