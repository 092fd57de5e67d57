#include "emu/module/device_runtime.h"

#include <string.h>

bool cx_emu_is_device_runtime(const void *image, size_t bytes)
{
    static const char object[] = "cuda_device_runtime.o";
    const size_t magic = 8;

    return bytes > magic && memcmp(image, "!<arch>\n", magic) == 0 &&
           memmem(image, bytes, object, strlen(object)) != NULL;
}

bool cx_emu_is_device_runtime_text(const char *text, size_t length)
{
    static const char own[] = "cnpGetLastError";

    return memmem(text, length, own, strlen(own)) != NULL;
}

/*
 * The handle of a grid is the address of its workspace, 0 if its launch is not cooperative. The
 * word at 4 of the workspace is the barrier: each block adds 1, the first one adds what makes the
 * top bit change once all have come.
 */
const char cx_emu_device_runtime[] =
    ".version 6.0\n"
    ".target sm_50\n"
    ".address_size 64\n"
    ".weak .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope)\n"
    "{\n"
    "    .reg .pred %other;\n"
    "    .reg .b32 %scope, %low, %high;\n"
    "    .reg .b64 %handle;\n"
    "    ld.param.u32 %scope, [scope];\n"
    "    mov.u32 %low, %envreg2;\n"
    "    mov.u32 %high, %envreg1;\n"
    "    mov.b64 %handle, {%low, %high};\n"
    "    setp.ne.u32 %other, %scope, 1;\n" /* the grid; several of them are no longer supported */
    "    @%other mov.u64 %handle, 0;\n"
    "    st.param.b64 [handle], %handle;\n"
    "    ret;\n"
    "}\n"
    ".weak .func (.param .b32 error) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)\n"
    "{\n"
    "    .reg .pred %p;\n"
    "    .reg .b32 %x, %y, %z, %add, %before, %now;\n"
    "    .reg .b64 %handle;\n"
    "    ld.param.u64 %handle, [handle];\n"
    "    setp.eq.u64 %p, %handle, 0;\n"
    "    @%p bra INVALID;\n"
    "    bar.sync 0;\n"
    "    mov.u32 %x, %tid.x;\n"
    "    mov.u32 %y, %tid.y;\n"
    "    mov.u32 %z, %tid.z;\n"
    "    or.b32 %x, %x, %y;\n"
    "    or.b32 %x, %x, %z;\n"
    "    setp.ne.u32 %p, %x, 0;\n"
    "    @%p bra TOGETHER;\n"
    "    mov.u32 %x, %nctaid.x;\n"
    "    mov.u32 %y, %nctaid.y;\n"
    "    mov.u32 %z, %nctaid.z;\n"
    "    mul.lo.u32 %add, %x, %y;\n"
    "    mul.lo.u32 %add, %add, %z;\n"
    "    sub.u32 %add, 0x80000001, %add;\n"
    "    mov.u32 %x, %ctaid.x;\n"
    "    mov.u32 %y, %ctaid.y;\n"
    "    mov.u32 %z, %ctaid.z;\n"
    "    or.b32 %x, %x, %y;\n"
    "    or.b32 %x, %x, %z;\n"
    "    setp.ne.u32 %p, %x, 0;\n"
    "    selp.u32 %add, 1, %add, %p;\n"
    "    membar.gl;\n"
    "    atom.add.u32 %before, [%handle+4], %add;\n"
    "AGAIN:\n"
    "    ld.volatile.u32 %now, [%handle+4];\n"
    "    xor.b32 %now, %now, %before;\n"
    "    setp.ge.s32 %p, %now, 0;\n"
    "    @%p bra AGAIN;\n"
    "    membar.gl;\n"
    "TOGETHER:\n"
    "    bar.sync 0;\n"
    "    st.param.b32 [error], 0;\n"
    "    ret;\n"
    "INVALID:\n"
    "    st.param.b32 [error], 1;\n" /* cudaErrorInvalidValue */
    "    ret;\n"
    "}\n";

/* The code that compilers make for <<<>>> in a kernel calls these; lib/ptx has what they call. */
#define SIZES                                                                                 \
    ".param .b64 kernel, .param .align 4 .b8 blocks[12], .param .align 4 .b8 threads[12], "   \
    ".param .b32 shared"

const char cx_emu_device_launches[] =
    ".version 6.0\n"
    ".target sm_50\n"
    ".address_size 64\n"
    ".extern .func (.param .b64 buffer) __ctxrt_prepare_child(" SIZES ");\n"
    ".extern .func (.param .b32 error) __ctxrt_launch_child"
    "(.param .b64 buffer, .param .b64 stream);\n"
    ".extern .func (.param .b32 error) __ctxrt_last_error(.param .b32 forget);\n"
    ".weak .func (.param .b64 buffer) __cudaCDP2GetParameterBufferV2(" SIZES ")\n"
    "{\n"
    "    call (buffer), __ctxrt_prepare_child, (kernel, blocks, threads, shared);\n"
    "    ret;\n"
    "}\n"
    ".weak .func (.param .b32 error) __cudaCDP2LaunchDeviceV2"
    "(.param .b64 buffer, .param .b64 stream)\n"
    "{\n"
    "    call (error), __ctxrt_launch_child, (buffer, stream);\n"
    "    ret;\n"
    "}\n"
    ".weak .func (.param .b32 error) __cudaCDP2GetLastError()\n"
    "{\n"
    "    .param .b32 forget;\n"
    "    st.param.b32 [forget], 1;\n"
    "    call (error), __ctxrt_last_error, (forget);\n"
    "    ret;\n"
    "}\n"
    ".weak .func (.param .b32 error) __cudaCDP2PeekAtLastError()\n"
    "{\n"
    "    .param .b32 forget;\n"
    "    st.param.b32 [forget], 0;\n"
    "    call (error), __ctxrt_last_error, (forget);\n"
    "    ret;\n"
    "}\n";

bool cx_emu_needs_device_launches(const char *text, size_t length)
{
    static const char prefix[] = "__cudaCDP2";

    return memmem(text, length, prefix, strlen(prefix)) != NULL;
}
