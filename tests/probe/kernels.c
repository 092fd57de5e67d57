#include "kernels.h"
#include "steps.h"

#include <stdio.h>

static const char *const targets[] = {
    ".version 6.0\n.target sm_50\n", ".version 6.3\n.target sm_75\n",
    ".version 7.8\n.target sm_90\n", ".version 8.7\n.target sm_100\n"};

const char kernel_fill[] = ".visible .entry fill(.param .u64 at)\n"
                           "{\n"
                           "    .reg .u64 %a;\n"
                           "    .reg .u32 %v;\n"
                           "    ld.param.u64 %a, [at];\n"
                           "    mov.u32 %v, 1;\n"
                           "    st.global.u32 [%a], %v;\n"
                           "    ret;\n"
                           "}\n";

const char kernel_bad_store[] = ".visible .entry bad_store()\n"
                                "{\n"
                                "    .reg .u64 %a;\n"
                                "    .reg .u32 %v;\n"
                                "    mov.u64 %a, 16;\n"
                                "    mov.u32 %v, 1;\n"
                                "    st.global.u32 [%a], %v;\n"
                                "    ret;\n"
                                "}\n";

const char kernel_misaligned[] = ".visible .entry misaligned(.param .u64 at)\n"
                                 "{\n"
                                 "    .reg .u64 %a;\n"
                                 "    .reg .u32 %v;\n"
                                 "    ld.param.u64 %a, [at];\n"
                                 "    mov.u32 %v, 1;\n"
                                 "    st.global.u32 [%a+1], %v;\n"
                                 "    ret;\n"
                                 "}\n";

const char kernel_trap[] = ".visible .entry trapping()\n"
                           "{\n"
                           "    trap;\n"
                           "    ret;\n"
                           "}\n";

const char kernel_assert[] = ".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 "
                             "l, .param .b64 n, .param .b64 s);\n"
                             ".global .align 1 .b8 text[2] = {120, 0};\n"
                             ".visible .entry asserting()\n"
                             "{\n"
                             "    .reg .b64 %t, %one;\n"
                             "    .reg .b32 %l;\n"
                             "    mov.u64 %t, text;\n"
                             "    cvta.global.u64 %t, %t;\n"
                             "    mov.u64 %one, 1;\n"
                             "    mov.u32 %l, 1;\n"
                             "    {\n"
                             "        .param .b64 p0;\n"
                             "        .param .b64 p1;\n"
                             "        .param .b32 p2;\n"
                             "        .param .b64 p3;\n"
                             "        .param .b64 p4;\n"
                             "        st.param.b64 [p0+0], %t;\n"
                             "        st.param.b64 [p1+0], %t;\n"
                             "        st.param.b32 [p2+0], %l;\n"
                             "        st.param.b64 [p3+0], %t;\n"
                             "        st.param.b64 [p4+0], %one;\n"
                             "        call.uni __assertfail, (p0, p1, p2, p3, p4);\n"
                             "    }\n"
                             "    ret;\n"
                             "}\n";

static const char *text_for(size_t target, const char *body)
{
    static char text[4096];
    snprintf(text, sizeof text, "%s.address_size 64\n%s", targets[target], body);
    return text;
}

CUresult kernels_load(CUmodule *module, const char *body)
{
    CUresult code = MISSING;
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        code = cuModuleLoadData(module, text_for(i, body));
        if (code == SUCCESS)
            break;
    }
    return code;
}

CUresult kernels_load_library(CUlibrary *library, const char *body)
{
    CUresult code = MISSING;
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        code = cuLibraryLoadData(library, text_for(i, body), NULL, NULL, 0, NULL, NULL, 0);
        if (code == SUCCESS)
            break;
    }
    return code;
}

CUfunction kernel(const char *body, const char *name)
{
    CUmodule module = NULL;
    CUfunction function = NULL;
    need("cuModuleLoadData", kernels_load(&module, body));
    need("cuModuleGetFunction", cuModuleGetFunction(&function, module, name));
    return function;
}

CUresult launch(CUfunction function, CUstream on, void **parameters)
{
    return cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, on, parameters, NULL);
}
