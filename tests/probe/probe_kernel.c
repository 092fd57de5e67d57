/* K1 to K8: what is loaded, launched, unloaded, captured and asked of kernels. */
#include "kernels.h"
#include "probes.h"
#include "steps.h"

#define CAPTURE_RELAXED 2
#define MAX_THREADS_PER_BLOCK 0 /* of a function */
#define SHARED_BYTES 1

static const char kernel_word[] = ".visible .global .align 4 .u32 word = 7;\n"
                                  ".visible .entry take(.param .u64 at)\n"
                                  "{\n"
                                  "    .reg .u64 %a;\n"
                                  "    .reg .u32 %v;\n"
                                  "    ld.param.u64 %a, [at];\n"
                                  "    ld.global.u32 %v, [word];\n"
                                  "    st.global.u32 [%a], %v;\n"
                                  "    ret;\n"
                                  "}\n";

static const char kernel_few[] = ".visible .entry few()\n"
                                 ".maxntid 32, 1, 1\n"
                                 "{\n"
                                 "    ret;\n"
                                 "}\n";

/* Kernels whose calls no thread gets to. */
#define NEVER(name, declaration, call)                                           \
    ".extern .func " declaration ";\n.visible .entry " name "()\n{\n"            \
    "    .reg .pred %p;\n    .reg .b32 %r;\n    .param .b32 word;\n"             \
    "    .param .b64 one;\n    .param .b64 two;\n    mov.u32 %r, %tid.x;\n"      \
    "    setp.lt.u32 %p, %r, 2048;\n    @%p bra DONE;\n"                        \
    "    st.param.b64 [one+0], 0;\n    st.param.b64 [two+0], 0;\n"              \
    "    call.uni " call ";\nDONE:\n    ret;\n}\n"

static const char kernel_printing[] =
    NEVER("printing", "(.param .b32 r) vprintf(.param .b64 a, .param .b64 b)",
          "(word), vprintf, (one, two)");
static const char kernel_allocating[] =
    NEVER("allocating", "(.param .b64 r) malloc(.param .b64 a)", "(two), malloc, (one)");
static const char kernel_unresolved[] =
    NEVER("unresolved", "(.param .b32 r) elsewhere(.param .b64 a, .param .b64 b)",
          "(word), elsewhere, (one, two)");

static const char kernel_beyond[] = ".extern .shared .align 4 .b8 room[];\n"
                                    ".visible .entry beyond(.param .u32 at)\n"
                                    "{\n"
                                    "    .reg .u32 %r<3>;\n"
                                    "    ld.param.u32 %r0, [at];\n"
                                    "    mov.u32 %r1, room;\n"
                                    "    add.u32 %r0, %r0, %r1;\n"
                                    "    ld.volatile.shared.u32 %r2, [%r0];\n"
                                    "    st.volatile.shared.u32 [%r0], %r2;\n"
                                    "    ret;\n"
                                    "}\n";

static void limits_in_use(void)
{
    init();
    create("a");
    CUfunction printing = kernel(kernel_printing, "printing");
    CUfunction allocating = kernel(kernel_allocating, "allocating");
    see_result("printf-loaded", cuCtxSetLimit(LIMIT_PRINTF_SIZE, 2048 * KIB));
    see_result("heap-loaded", cuCtxSetLimit(LIMIT_MALLOC_HEAP_SIZE, 16384 * KIB));
    see_result("launch-printing", launch(printing, NULL, NULL));
    see_result("printf-launched", cuCtxSetLimit(LIMIT_PRINTF_SIZE, 4096 * KIB));
    see_result("printf-same", cuCtxSetLimit(LIMIT_PRINTF_SIZE, 2048 * KIB));
    see_result("heap-printf-launched", cuCtxSetLimit(LIMIT_MALLOC_HEAP_SIZE, 32768 * KIB));
    see_result("launch-allocating", launch(allocating, NULL, NULL));
    see_result("heap-launched", cuCtxSetLimit(LIMIT_MALLOC_HEAP_SIZE, 65536 * KIB));
    see_result("synchronize", cuCtxSynchronize());
    see_result("printf-done", cuCtxSetLimit(LIMIT_PRINTF_SIZE, 4096 * KIB));
}

/* How far beyond 8 bytes of dynamic shared memory a kernel gets, in steps of 64 bytes: the last one
 * ends the process's use of the GPU. */
static void shared_unit(void)
{
    unsigned int at = 4, reached = 0;
    void *parameters[] = {&at};
    init();
    create("a");
    CUfunction beyond = kernel(kernel_beyond, "beyond");
    for (; at < 4096; at += 64) {
        if (cuLaunchKernel(beyond, 1, 1, 1, 1, 1, 1, 8, NULL, parameters, NULL) != SUCCESS ||
            cuCtxSynchronize() != SUCCESS)
            break;
        reached = at;
    }
    see("reached", "%u", reached);
}

static void images(void)
{
    CUmodule module = NULL;
    init();
    create("a");
    see_result("wrong-text", kernels_load(&module, ".visible .entry broken( {"));
    see_result("later-version",
               cuModuleLoadData(&module, ".version 99.0\n.target sm_50\n.address_size 64\n"));
    see_result("target-above",
               cuModuleLoadData(&module, ".version 6.0\n.target sm_999\n.address_size 64\n"));
    see_result("empty", cuModuleLoadData(&module, ""));
    see_result("unresolved", kernels_load(&module, kernel_unresolved));
    see("nothing-made", "%s", module == NULL ? "yes" : "no");
}

static void names(void)
{
    CUmodule module = NULL;
    CUfunction function = NULL;
    CUdeviceptr at = 0;
    size_t bytes = 0;
    init();
    create("a");
    need("cuModuleLoadData", kernels_load(&module, kernel_word));
    see_result("function", cuModuleGetFunction(&function, module, "take"));
    see_result("variable-as-function", cuModuleGetFunction(&function, module, "word"));
    see_result("variable", cuModuleGetGlobal_v2(&at, &bytes, module, "word"));
    see("variable-bytes", "%zu", bytes);
    see_result("function-as-variable", cuModuleGetGlobal_v2(&at, &bytes, module, "take"));
    see_result("free-variable", cuMemFree_v2(at));
}

static void refused(void)
{
    init();
    create("a");
    CUdeviceptr at = memory(64);
    void *parameters[] = {&at};
    CUfunction fill = kernel(kernel_fill, "fill"), few = kernel(kernel_few, "few");
    see_result("no-blocks", cuLaunchKernel(fill, 1, 0, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    see_result("no-arguments", cuLaunchKernel(fill, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    see_result("many-blocks-in-y",
               cuLaunchKernel(fill, 1, 65536, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    see_result("as-many-as-allowed", cuLaunchKernel(few, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    see_result("more-than-allowed", cuLaunchKernel(few, 1, 1, 1, 33, 1, 1, 0, NULL, NULL, NULL));
    see_result("synchronize", cuCtxSynchronize());
}

/* The gate is closed while the arguments are taken, and changed. */
static void ordered(void)
{
    int words[2] = {0, 0};
    init();
    create("a");
    CUstream stopped = stream(STREAM_NON_BLOCKING);
    CUdeviceptr at = memory(64), there = at;
    void *parameters[] = {&there};
    CUfunction fill = kernel(kernel_fill, "fill");
    cuMemsetD8_v2(at, 0, 64);
    see_result("first", launch(fill, stopped, parameters));
    need("cuStreamSynchronize", cuStreamSynchronize(stopped));
    cuMemsetD8_v2(at, 0, 64);
    gate_close(stopped);
    see_result("behind-the-gate", launch(fill, stopped, parameters));
    there = at + 4;
    gate_open();
    see_result("synchronize", cuStreamSynchronize(stopped));
    cuMemcpyDtoH_v2(words, at, sizeof words);
    see("arguments-taken-at-once", "%d %d", words[0], words[1]);
}

static void unloaded(void)
{
    CUmodule module = NULL;
    CUfunction fill = NULL;
    int word = 0;
    init();
    create("a");
    CUstream stopped = stream(STREAM_NON_BLOCKING);
    CUdeviceptr at = memory(64);
    void *parameters[] = {&at};
    need("cuModuleLoadData", kernels_load(&module, kernel_fill));
    need("cuModuleGetFunction", cuModuleGetFunction(&fill, module, "fill"));
    need("cuLaunchKernel", launch(fill, stopped, parameters));
    need("cuStreamSynchronize", cuStreamSynchronize(stopped));
    cuMemsetD8_v2(at, 0, 64);
    need("cuLaunchKernel", launch(fill, stopped, parameters));
    see_result("unload", cuModuleUnload(module));
    see_result("synchronize", cuStreamSynchronize(stopped));
    cuMemcpyDtoH_v2(&word, at, sizeof word);
    see("launched-before-wrote", "%d", word);
}

static void trapped(void)
{
    init();
    create("a");
    CUfunction trapping = kernel(kernel_trap, "trapping");
    see_result("launch", launch(trapping, NULL, NULL));
    see_result("synchronize", cuCtxSynchronize());
}

static void misplaced(void)
{
    init();
    create("a");
    CUfunction bad_store = kernel(kernel_bad_store, "bad_store");
    see_result("launch", launch(bad_store, NULL, NULL));
    see_result("synchronize", cuCtxSynchronize());
}

static void captured(void)
{
    CUgraph graph = NULL;
    CUgraphExec executable = NULL;
    size_t count = 0;
    int word = 0;
    init();
    create("a");
    CUstream on = stream(STREAM_NON_BLOCKING);
    CUdeviceptr at = memory(64);
    void *parameters[] = {&at};
    CUfunction fill = kernel(kernel_fill, "fill");
    cuMemsetD8_v2(at, 0, 64);
    need("cuStreamBeginCapture", cuStreamBeginCapture_v2(on, CAPTURE_RELAXED));
    see_result("launch", launch(fill, on, parameters));
    see_result("no-threads", cuLaunchKernel(fill, 1, 1, 1, 0, 1, 1, 0, on, parameters, NULL));
    see_result("end", cuStreamEndCapture(on, &graph));
    if (graph == NULL)
        give_up("not reached: no graph");
    see_result("get-nodes", cuGraphGetNodes(graph, NULL, &count));
    see("nodes", "%zu", count);
    cuMemcpyDtoH_v2(&word, at, sizeof word);
    see("capture-wrote", "%d", word);
    need("cuGraphInstantiateWithFlags", cuGraphInstantiateWithFlags(&executable, graph, 0));
    see_result("graph-launch", cuGraphLaunch(executable, on));
    see_result("synchronize", cuStreamSynchronize(on));
    cuMemcpyDtoH_v2(&word, at, sizeof word);
    see("launch-wrote", "%d", word);
    cuGraphExecDestroy(executable);
    cuGraphDestroy(graph);
}

static void asked(void)
{
    int most = 0, shared = -1, blocks = 0;
    init();
    create("a");
    CUfunction few = kernel(kernel_few, "few");
    see_result("most-threads", cuFuncGetAttribute(&most, MAX_THREADS_PER_BLOCK, few));
    see("most-threads-are", "%d", most);
    see_result("shared-bytes", cuFuncGetAttribute(&shared, SHARED_BYTES, few));
    see("shared-bytes-are", "%d", shared);
    see_result("no-such-attribute", cuFuncGetAttribute(&most, 999, few));
    see_result("occupancy", cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, few, 32, 0));
    see("some-blocks-fit", "%s", blocks > 0 ? "yes" : "no");
    see_result("too-much-shared-memory",
               cuLaunchKernel(few, 1, 1, 1, 1, 1, 1, 48 * KIB + 4, NULL, NULL, NULL));
}

const struct experiment kernel_experiments[] = {
    {"K1.image", images, "wrong-text later-version target-above empty unresolved nothing-made"},
    {"Q4.limits-in-use", limits_in_use,
     "printf-loaded heap-loaded launch-printing printf-launched printf-same heap-printf-launched "
     "launch-allocating heap-launched synchronize printf-done"},
    {"X9.shared-memory", shared_unit, "reached"},
    {"K2.name", names,
     "function variable-as-function variable variable-bytes function-as-variable free-variable"},
    {"K3.refused", refused,
     "no-blocks no-arguments many-blocks-in-y as-many-as-allowed more-than-allowed synchronize"},
    {"K4.order", ordered, "first behind-the-gate synchronize arguments-taken-at-once"},
    {"K5.unload", unloaded, "unload synchronize launched-before-wrote"},
    {"K6.trap", trapped, "launch synchronize"},
    {"K6.address", misplaced, "launch synchronize"},
    {"K7.capture", captured,
     "launch no-threads end get-nodes nodes capture-wrote graph-launch synchronize launch-wrote"},
    {"K8.asked", asked,
     "most-threads most-threads-are shared-bytes shared-bytes-are no-such-attribute occupancy "
     "some-blocks-fit too-much-shared-memory"},
    {NULL, NULL, NULL},
};
