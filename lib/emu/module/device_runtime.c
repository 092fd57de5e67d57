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

/* The code that compilers make for <<<>>> in a kernel calls these; lib/ptx has what they call.
 * Copies and fills are grids too, so that they have their place in their stream. An event is done
 * when what was launched before it is: grids of all streams run one by one in that order. */
#define SIZES                                                                               \
    ".param .b64 kernel, .param .align 4 .b8 blocks[12], .param .align 4 .b8 threads[12], " \
    ".param .b32 shared"
#define FUNCTION(name, parameters) \
    ".weak .func (.param .b32 error) __cudaCDP2" name "(" parameters ")\n{\n"
#define RETURN_IN(value) "    st.param.b32 [error], " value ";\n    ret;\n"
#define RETURN(value) RETURN_IN(value) "}\n"
/* A function of a stream, also as programs with a default stream for each thread call it. */
#define BOTH(name, parameters, body) \
    FUNCTION(name, parameters) body FUNCTION(name "_ptsz", parameters) body

/* Values of cudaError_t. */
#define INVALID_VALUE "1"
#define MEMORY_ALLOCATION "2"
#define INVALID_FUNCTION "98"
#define INVALID_DEVICE "101"
#define UNSUPPORTED_LIMIT "215"
#define INVALID_HANDLE "400"

#define LAUNCH                                                    \
    "    call (error), __ctxrt_launch_child, (buffer, stream);\n" \
    "    ret;\n}\n"

/* Prepares a grid of one block of a kernel of this text, whose parameters begin at %buffer. */
#define PREPARE(name)                                                                     \
    "    .reg .pred %none;\n    .reg .b32 %word;\n    .reg .b64 %buffer, %value;\n"       \
    "    .param .b64 kernel, buffer;\n    .param .align 4 .b8 blocks[12], threads[12];\n" \
    "    .param .b32 shared, forget;\n    mov.u64 %value, " name ";\n"                    \
    "    st.param.b64 [kernel], %value;\n    st.param.b32 [blocks], 1;\n"                 \
    "    st.param.b32 [blocks+4], 1;\n    st.param.b32 [blocks+8], 1;\n"                  \
    "    st.param.b32 [threads], 256;\n    st.param.b32 [threads+4], 1;\n"                \
    "    st.param.b32 [threads+8], 1;\n    st.param.b32 [shared], 0;\n"                   \
    "    call (buffer), __ctxrt_prepare_child, (kernel, blocks, threads, shared);\n"      \
    "    ld.param.u64 %buffer, [buffer];\n    setp.ne.u64 %none, %buffer, 0;\n"           \
    "    @%none bra PREPARED;\n    st.param.b32 [forget], 0;\n"                           \
    "    call (error), __ctxrt_last_error, (forget);\n    ret;\nPREPARED:\n"
#define PASS64(name, at) \
    "    ld.param.u64 %value, [" name "];\n    st.u64 [%buffer+" at "], %value;\n"
#define PUT64(value, at) "    mov.u64 %value, " value ";\n    st.u64 [%buffer+" at "], %value;\n"
#define PASS32(name, at) \
    "    ld.param.u32 %word, [" name "];\n    st.u32 [%buffer+" at "], %word;\n"

/* In a kernel of 256 threads: each byte of rows of %width bytes, at %row and %column. */
#define EACH_BYTE(body)                                                                      \
    "    mov.u32 %word, %tid.x;\n    cvt.u64.u32 %i, %word;\n"                               \
    "    mul.lo.u64 %count, %width, %height;\nNEXT:\n    setp.ge.u64 %done, %i, %count;\n"   \
    "    @%done ret;\n    div.u64 %row, %i, %width;\n    rem.u64 %column, %i, %width;\n"     \
    "    mad.lo.u64 %to, %row, %to_pitch, %to_begin;\n    add.u64 %to, %to, %column;\n" body \
    "    add.u64 %i, %i, 256;\n    bra NEXT;\n}\n"
#define BYTE_REGISTERS                                            \
    "    .reg .pred %done;\n    .reg .b32 %word;\n"               \
    "    .reg .b64 %i, %count, %row, %column, %width, %height;\n" \
    "    .reg .b64 %to, %to_begin, %to_pitch, %from, %from_begin, %from_pitch;\n"

/* In a kernel of 256 threads: each byte of a box of width x height x depth, at %to. */
#define BOX_BYTES(body)                                                                        \
    "    .reg .pred %done;\n    .reg .b32 %word;\n"                                            \
    "    .reg .b64 %i, %count, %row, %column, %slice, %width, %height, %to, %from, %stride;\n" \
    "    ld.param.u64 %width, [width];\n    ld.param.u64 %height, [height];\n"                 \
    "    ld.param.u64 %count, [depth];\n    mul.lo.u64 %count, %count, %height;\n"             \
    "    mul.lo.u64 %count, %count, %width;\n    mov.u32 %word, %tid.x;\n"                     \
    "    cvt.u64.u32 %i, %word;\nNEXT:\n    setp.ge.u64 %done, %i, %count;\n"                  \
    "    @%done ret;\n    rem.u64 %column, %i, %width;\n    div.u64 %row, %i, %width;\n"       \
    "    div.u64 %slice, %row, %height;\n    rem.u64 %row, %row, %height;\n"                   \
    "    ld.param.u64 %to, [to];\n    ld.param.u64 %stride, [to_pitch];\n"                     \
    "    mad.lo.u64 %to, %row, %stride, %to;\n    ld.param.u64 %stride, [to_slice];\n"         \
    "    mad.lo.u64 %to, %slice, %stride, %to;\n    add.u64 %to, %to, %column;\n" body         \
    "    add.u64 %i, %i, 256;\n    bra NEXT;\n}\n"

/* Of a side of a cudaMemcpy3DParms at %box: the array, the position and the pitched pointer at
 * these offsets. %begin, its pitch and the bytes of its slices go into the buffer from `at` on. */
#define BOX_SIDE(array, x, y, z, pointer, pitch, rows, at, at_pitch, at_slice)           \
    "    ld.u64 %value, [%box+" pointer "];\n    ld.u64 %pitch, [%box+" pitch "];\n"     \
    "    ld.u64 %slice, [%box+" rows "];\n    mul.lo.u64 %slice, %slice, %pitch;\n"      \
    "    ld.u64 %place, [%box+" x "];\n    add.u64 %value, %value, %place;\n"            \
    "    ld.u64 %place, [%box+" y "];\n    mad.lo.u64 %value, %place, %pitch, %value;\n" \
    "    ld.u64 %place, [%box+" z "];\n    mad.lo.u64 %value, %place, %slice, %value;\n" \
    "    st.u64 [%buffer+" at "], %value;\n    st.u64 [%buffer+" at_pitch "], %pitch;\n" \
    "    st.u64 [%buffer+" at_slice "], %slice;\n"
#define BOX_WORD(from, at) \
    "    ld.u64 %value, [%box+" from "];\n    st.u64 [%buffer+" at "], %value;\n"

/* Kernels have pitched memory and no arrays. */
#define BOX_COPY                                                                              \
    "    .reg .pred %array;\n    .reg .b64 %box, %pitch, %slice, %place;\n"                   \
    "    ld.param.u64 %box, [box];\n    ld.u64 %pitch, [%box];\n"                            \
    "    ld.u64 %slice, [%box+64];\n"                                                         \
    "    or.b64 %pitch, %pitch, %slice;\n    setp.ne.u64 %array, %pitch, 0;\n"                \
    "    @%array bra INVALID;\n" PREPARE("__ctxrt_copy_box")                                  \
    BOX_SIDE("64", "72", "80", "88", "96", "104", "120", "0", "8", "16")                      \
    BOX_SIDE("0", "8", "16", "24", "32", "40", "56", "24", "32", "40")                        \
    BOX_WORD("128", "48") BOX_WORD("136", "56") BOX_WORD("144", "64")                         \
    "    call (error), __ctxrt_launch_child, (buffer, stream);\n    ret;\nINVALID:\n"         \
    RETURN(INVALID_VALUE)
#define BOX_FILL                                                                              \
    PREPARE("__ctxrt_fill_box") "    .reg .b64 %pitch;\n" PASS64("pitched", "0")              \
    PASS64("pitched+8", "8")                                                                  \
    "    ld.param.u64 %pitch, [pitched+8];\n    ld.param.u64 %value, [pitched+24];\n"         \
    "    mul.lo.u64 %value, %value, %pitch;\n    st.u64 [%buffer+16], %value;\n"              \
    PASS64("extent", "24") PASS64("extent+8", "32") PASS64("extent+16", "40")                 \
    PASS32("byte", "48") LAUNCH
#define BOX_CALLS                                                                             \
    BOTH("Memcpy3DAsync", ".param .b64 box, .param .b64 stream", BOX_COPY)                    \
    BOTH("Memset3DAsync", ".param .align 8 .b8 pitched[32], .param .b32 byte, "               \
         ".param .align 8 .b8 extent[24], .param .b64 stream", BOX_FILL)                      \
    FUNCTION("DeviceGetLimit", ".param .b64 out, .param .b32 limit")                          \
    "    .reg .pred %bad;\n    .reg .b32 %word;\n    .reg .b64 %out, %value;\n"               \
    "    .param .b32 which;\n    .param .b64 value;\n    ld.param.u32 %word, [limit];\n"      \
    "    or.b32 %word, %word, 0x10000;\n    st.param.b32 [which], %word;\n"                   \
    "    call (value), __ctxrt_ask_device, (which);\n    ld.param.u64 %value, [value];\n"     \
    "    setp.eq.s64 %bad, %value, 0x8000000000000000;\n    @%bad bra UNKNOWN;\n"             \
    "    ld.param.u64 %out, [out];\n    st.u64 [%out], %value;\n"                             \
    "    st.param.b32 [error], 0;\n    ret;\nUNKNOWN:\n" RETURN(UNSUPPORTED_LIMIT)            \
    FUNCTION("DeviceGetCacheConfig", ".param .b64 out")                                       \
    "    .reg .b64 %out;\n    ld.param.u64 %out, [out];\n    st.u32 [%out], 0;\n" RETURN("0")

/* What a kernel asks of `kernel`: %value, and %p where there is no such kernel. */
#define ASK_KERNEL(attribute)                                                             \
    "    st.param.b32 [which], " attribute ";\n"                                          \
    "    call (value), __ctxrt_ask_kernel, (kernel, which, count, bytes);\n"              \
    "    ld.param.u64 %value, [value];\n    setp.eq.s64 %p, %value, 0x8000000000000000;\n" \
    "    @%p bra UNKNOWN;\n"
#define FACT(attribute, type, at) \
    ASK_KERNEL(attribute) "    st." type " [%out+" at "], %value;\n"
#define KERNEL_REGISTERS                                                                     \
    "    .reg .pred %p;\n    .reg .b32 %word;\n    .reg .b64 %out, %value;\n"                \
    "    .param .b32 which, count;\n    .param .b64 value, bytes;\n"                         \
    "    ld.param.u64 %out, [out];\n    st.param.b32 [count], 0;\n    st.param.b64 [bytes], 0;\n"
#define BLOCKS(name, flags)                                                                  \
    FUNCTION(name, ".param .b64 out, .param .b64 kernel, .param .b32 threads, "              \
                   ".param .b64 shared" flags)                                               \
    KERNEL_REGISTERS "    ld.param.u32 %word, [threads];\n    st.param.b32 [count], %word;\n" \
    "    setp.le.s32 %p, %word, 0;\n    @%p bra INVALID;\n"                                  \
    "    ld.param.u64 %value, [shared];\n    st.param.b64 [bytes], %value;\n"                \
    ASK_KERNEL("0xffff") "    st.u32 [%out], %value;\n" RETURN_IN("0")                       \
    "INVALID:\n" RETURN_IN(INVALID_VALUE) "UNKNOWN:\n" RETURN(INVALID_FUNCTION)

/* A parameter buffer of unknown use is memory of the kernels' heap, whose size is before it. Its
 * launch copies it into that of a child. */
#define BUFFER_CALLS                                                                           \
    ".weak .func (.param .b64 buffer) __cudaCDP2GetParameterBuffer"                            \
    "(.param .b64 alignment, .param .b64 bytes)\n{\n"                                          \
    "    .reg .pred %none;\n    .reg .b64 %value, %bytes;\n    .param .b64 all, address;\n"    \
    "    ld.param.u64 %bytes, [bytes];\n    add.u64 %value, %bytes, 16;\n"                     \
    "    setp.lt.u64 %none, %value, 16;\n    @%none mov.u64 %value, 0xffffffffffffffff;\n"    \
    "    st.param.b64 [all], %value;\n    call (address), malloc, (all);\n"                    \
    "    ld.param.u64 %value, [address];\n    setp.eq.u64 %none, %value, 0;\n"                 \
    "    @%none bra NONE;\n    st.u64 [%value], %bytes;\n    add.u64 %value, %value, 16;\n"    \
    "NONE:\n    st.param.b64 [buffer], %value;\n    ret;\n}\n"                                 \
    BOTH("LaunchDevice", ".param .b64 kernel, .param .b64 given, "                             \
         ".param .align 4 .b8 blocks[12], .param .align 4 .b8 threads[12], "                   \
         ".param .b32 shared, .param .b64 stream", LAUNCH_GIVEN)
#define LAUNCH_GIVEN                                                                           \
    "    .reg .pred %p;\n    .reg .b32 %byte;\n"                                               \
    "    .reg .b64 %given, %buffer, %bytes, %most, %i, %from, %to;\n"                          \
    "    .param .b64 buffer, value, none, block;\n    .param .b32 which, zero, forget;\n"      \
    "    call (buffer), __ctxrt_prepare_child, (kernel, blocks, threads, shared);\n"           \
    "    ld.param.u64 %buffer, [buffer];\n    ld.param.u64 %given, [given];\n"                 \
    "    setp.eq.u64 %p, %buffer, 0;\n    @%p bra COPIED;\n"                                   \
    "    setp.eq.u64 %p, %given, 0;\n    @%p bra COPIED;\n"                                    \
    "    st.param.b32 [which], 0xfffd;\n    st.param.b32 [zero], 0;\n"                         \
    "    st.param.b64 [none], 0;\n"                                                           \
    "    call (value), __ctxrt_ask_kernel, (kernel, which, zero, none);\n"                    \
    "    ld.param.u64 %most, [value];\n    ld.u64 %bytes, [%given+-16];\n"                     \
    "    min.u64 %bytes, %bytes, %most;\n    mov.u64 %i, 0;\nNEXT:\n"                          \
    "    setp.ge.u64 %p, %i, %bytes;\n    @%p bra COPIED;\n    add.u64 %from, %given, %i;\n"   \
    "    add.u64 %to, %buffer, %i;\n    ld.u8 %byte, [%from];\n    st.u8 [%to], %byte;\n"      \
    "    add.u64 %i, %i, 1;\n    bra NEXT;\nCOPIED:\n    setp.eq.u64 %p, %given, 0;\n"         \
    "    @%p bra FREED;\n    sub.u64 %given, %given, 16;\n    st.param.b64 [block], %given;\n" \
    "    call free, (block);\nFREED:\n    setp.ne.u64 %p, %buffer, 0;\n    @%p bra START;\n"   \
    "    st.param.b32 [forget], 0;\n    call (error), __ctxrt_last_error, (forget);\n"        \
    "    ret;\nSTART:\n" LAUNCH

/* cudaFuncAttributes of a kernel: nobody has told it a cluster. */
#define KERNEL_CALLS                                                                           \
    BLOCKS("OccupancyMaxActiveBlocksPerMultiprocessor", "")                                    \
    BLOCKS("OccupancyMaxActiveBlocksPerMultiprocessorWithFlags", ", .param .b32 flags")        \
    FUNCTION("FuncGetAttributes", ".param .b64 out, .param .b64 kernel")                       \
    KERNEL_REGISTERS FACT("1", "u64", "0") FACT("2", "u64", "8") FACT("3", "u64", "16")        \
    FACT("0", "u32", "24") FACT("4", "u32", "28") FACT("5", "u32", "32")                       \
    FACT("6", "u32", "36") FACT("7", "u32", "40") FACT("0xfffe", "u32", "44")                  \
    "    mov.u32 %word, -1;\n    st.u32 [%out+48], %word;\n"                                   \
    FACT("10", "u32", "52") RETURN_IN("0") "UNKNOWN:\n" RETURN(INVALID_FUNCTION)

#define CREATE(name, flags_needed)                                                            \
    FUNCTION(name, ".param .b64 out, .param .b32 flags")                                      \
    "    .reg .pred %other;\n    .reg .b32 %flags;\n    .reg .b64 %out, %handle;\n"           \
    "    .param .b64 handle;\n    ld.param.u32 %flags, [flags];\n"                            \
    "    and.b32 %flags, %flags, " flags_needed ";\n    setp.eq.u32 %other, %flags, 0;\n"     \
    "    @%other bra INVALID;\n    call (handle), __ctxrt_create_stream, ();\n"               \
    "    ld.param.u64 %out, [out];\n    ld.param.u64 %handle, [handle];\n"                    \
    "    st.u64 [%out], %handle;\n    st.param.b32 [error], 0;\n    ret;\nINVALID:\n" RETURN( \
        INVALID_VALUE)
#define KNOWN(handle)                                                                          \
    "    .reg .pred %null;\n    .reg .b64 %handle;\n    ld.param.u64 %handle, [" handle "];\n" \
    "    setp.eq.u64 %null, %handle, 0;\n    @%null bra INVALID;\n"                            \
    "    st.param.b32 [error], 0;\n    ret;\nINVALID:\n" RETURN(INVALID_HANDLE)
#define DESTROY(name) FUNCTION(name, ".param .b64 handle") KNOWN("handle")
#define ASK(name, attribute)                                                             \
    FUNCTION(name, ".param .b64 out")                                                    \
    "    .reg .b32 %word;\n    .reg .b64 %out;\n    .param .b32 which;\n"                \
    "    .param .b64 value;\n    st.param.b32 [which], " attribute ";\n"                 \
    "    call (value), __ctxrt_ask_device, (which);\n    ld.param.u32 %word, [value];\n" \
    "    ld.param.u64 %out, [out];\n    st.u32 [%out], %word;\n" RETURN("0")

const char cx_emu_device_launches[] =
    ".version 6.0\n"
    ".target sm_50\n"
    ".address_size 64\n"
    ".extern .func (.param .b64 buffer) __ctxrt_prepare_child(" SIZES ");\n"
    ".extern .func (.param .b32 error) __ctxrt_launch_child"
    "(.param .b64 buffer, .param .b64 stream);\n"
    ".extern .func (.param .b32 error) __ctxrt_last_error(.param .b32 forget);\n"
    ".extern .func (.param .b64 handle) __ctxrt_create_stream();\n"
    ".extern .func (.param .b64 value) __ctxrt_ask_device(.param .b32 attribute);\n"
    ".extern .func (.param .b64 value) __ctxrt_ask_kernel"
    "(.param .b64 kernel, .param .b32 attribute, .param .b32 threads, .param .b64 shared);\n"
    ".extern .func (.param .b64 address) malloc(.param .b64 bytes);\n"
    ".extern .func free(.param .b64 address);\n"
    ".entry __ctxrt_copy(.param .u64 to, .param .u64 to_pitch, .param .u64 from, "
    ".param .u64 from_pitch, .param .u64 width, .param .u64 height)\n{\n" BYTE_REGISTERS
    "    ld.param.u64 %to_begin, [to];\n    ld.param.u64 %to_pitch, [to_pitch];\n"
    "    ld.param.u64 %from_begin, [from];\n    ld.param.u64 %from_pitch, [from_pitch];\n"
    "    ld.param.u64 %width, [width];\n    ld.param.u64 %height, [height];\n" EACH_BYTE(
        "    mad.lo.u64 %from, %row, %from_pitch, %from_begin;\n"
        "    add.u64 %from, %from, %column;\n    ld.u8 %word, [%from];\n"
        "    st.u8 [%to], %word;\n") ".entry __ctxrt_fill(.param .u64 to, .param .u64 to_pitch, "
                                     ".param .u64 width, "
                                     ".param .u64 height, .param .u32 byte)\n{\n    .reg .b32 "
                                     "%byte;\n" BYTE_REGISTERS
                                     "    ld.param.u64 %to_begin, [to];\n    ld.param.u64 "
                                     "%to_pitch, [to_pitch];\n"
                                     "    ld.param.u64 %width, [width];\n    ld.param.u64 %height, "
                                     "[height];\n"
                                     "    ld.param.u32 %byte, [byte];\n" EACH_BYTE(
                                         "    st.u8 [%to], %byte;\n")

                                         ".entry __ctxrt_copy_box(.param .u64 to, "
                                         ".param .u64 to_pitch, .param .u64 to_slice, "
                                         ".param .u64 from, "
                                         ".param .u64 from_pitch, .param .u64 from_slice, "
                                         ".param .u64 width, .param .u64 height, "
                                         ".param .u64 depth)\n{\n" BOX_BYTES(
                                             "    ld.param.u64 %from, [from];\n"
                                             "    ld.param.u64 %stride, [from_pitch];\n"
                                             "    mad.lo.u64 %from, %row, %stride, %from;\n"
                                             "    ld.param.u64 %stride, [from_slice];\n"
                                             "    mad.lo.u64 %from, %slice, %stride, %from;\n"
                                             "    add.u64 %from, %from, %column;\n"
                                             "    ld.u8 %word, [%from];\n"
                                             "    st.u8 [%to], %word;\n")
                                         ".entry __ctxrt_fill_box(.param .u64 to, "
                                         ".param .u64 to_pitch, .param .u64 to_slice, "
                                         ".param .u64 width, .param .u64 height, "
                                         ".param .u64 depth, .param .u32 byte)\n{\n" BOX_BYTES(
                                             "    ld.param.u32 %word, [byte];\n"
                                             "    st.u8 [%to], %word;\n")
                                         BOX_CALLS BUFFER_CALLS KERNEL_CALLS
                                         ".weak .func (.param .b64 buffer) "
                                         "__cudaCDP2GetParameterBufferV2(" SIZES ")\n"
                                         "{\n"
                                         "    call (buffer), __ctxrt_prepare_child, (kernel, "
                                         "blocks, threads, shared);\n"
                                         "    ret;\n"
                                         "}\n" BOTH(
                                             "LaunchDeviceV2",
                                             ".param .b64 buffer, .param .b64 stream",
                                             LAUNCH) BOTH("MemcpyAsync",
                                                          ".param .b64 to, .param .b64 from, "
                                                          ".param .b64 bytes, .param .b32 kind, "
                                                          ".param .b64 stream",
                                                          PREPARE("__ctxrt_copy") PASS64("to", "0")
                                                              PUT64("0", "8") PASS64("from", "16")
                                                                  PUT64("0", "24")
                                                                      PASS64("bytes", "32")
                                                                          PUT64("1", "40") LAUNCH)
                                             BOTH("Memcpy2DAsync",
                                                  ".param .b64 to, .param .b64 to_pitch, .param "
                                                  ".b64 from, .param .b64 from_pitch, "
                                                  ".param .b64 width, .param .b64 height, .param "
                                                  ".b32 kind, .param .b64 stream",
                                                  PREPARE("__ctxrt_copy") PASS64("to", "0")
                                                      PASS64("to_pitch", "8") PASS64("from", "16")
                                                          PASS64("from_pitch", "24")
                                                              PASS64("width", "32")
                                                                  PASS64("height", "40") LAUNCH)
                                                 BOTH("MemsetAsync",
                                                      ".param .b64 to, .param .b32 byte, .param "
                                                      ".b64 bytes, .param .b64 stream",
                                                      PREPARE("__ctxrt_fill") PASS64("to", "0")
                                                          PUT64("0", "8") PASS64("bytes", "16")
                                                              PUT64("1", "24") PASS32("byte", "32")
                                                                  LAUNCH)
                                                     BOTH("Memset2DAsync",
                                                          ".param .b64 to, .param .b64 to_pitch, "
                                                          ".param .b32 byte, .param .b64 width, "
                                                          ".param .b64 height, .param .b64 stream",
                                                          PREPARE("__ctxrt_fill") PASS64("to", "0")
                                                              PASS64("to_pitch",
                                                                     "8") PASS64("width", "16")
                                                                  PASS64("height", "24")
                                                                      PASS32("byte", "32") LAUNCH)
                                                         FUNCTION(
                                                             "GetLastError",
                                                             "") "    .param .b32 forget;\n"
                                                                 "    st.param.b32 [forget], 1;\n"
                                                                 "    call (error), "
                                                                 "__ctxrt_last_error, (forget);\n"
                                                                 "    ret;\n"
                                                                 "}\n" FUNCTION(
                                                                     "PeekAtLastError",
                                                                     "") "    .param .b32 forget;\n"
                                                                         "    st.param.b32 "
                                                                         "[forget], 0;\n"
                                                                         "    call (error), "
                                                                         "__ctxrt_last_error, "
                                                                         "(forget);\n"
                                                                         "    ret;\n"
                                                                         "}\n"

    /* Streams must be non-blocking, and events without times. */
    CREATE("StreamCreateWithFlags",
           "1") CREATE("EventCreateWithFlags", "2") DESTROY("StreamDestroy") DESTROY("EventDestroy")
        BOTH("EventRecord", ".param .b64 event, .param .b64 stream", KNOWN("event")) BOTH(
            "EventRecordWithFlags", ".param .b64 event, .param .b64 stream, .param .b32 flags",
            KNOWN("event")) BOTH("StreamWaitEvent",
                                 ".param .b64 stream, .param .b64 event, .param .b32 flags",
                                 KNOWN("event"))

            FUNCTION(
                "Malloc",
                ".param .b64 out, .param .b64 bytes") "    .reg .pred %none;\n    .reg .b64 %out, "
                                                      "%address;\n    .param .b64 address;\n"
                                                      "    call (address), malloc, (bytes);\n    "
                                                      "ld.param.u64 %out, [out];\n"
                                                      "    ld.param.u64 %address, [address];\n    "
                                                      "st.u64 [%out], %address;\n"
                                                      "    setp.eq.u64 %none, %address, 0;\n    "
                                                      "@%none bra NONE;\n"
                                                      "    st.param.b32 [error], 0;\n    "
                                                      "ret;\nNONE:\n" RETURN(MEMORY_ALLOCATION)
                                                          FUNCTION("Free", ".param .b64 address")
                                                              "    call free, (address);\n" RETURN(
                                                              "0") ASK("GetDevice", "0xfffe")
                                                              ASK("GetDeviceCount", "0xffff")
                                                                  FUNCTION(
                                                                      "DeviceGetAttribute",
                                                                      ".param .b64 out, .param "
                                                                      ".b32 attribute, .param .b32 "
                                                                      "device") "    .reg .pred "
                                                                                "%bad;\n    .reg "
                                                                                ".b32 %word, "
                                                                                "%own;\n    .reg "
                                                                                ".b64 %out, "
                                                                                "%value;\n"
                                                                                "    .param .b32 "
                                                                                "which;\n    "
                                                                                ".param .b64 "
                                                                                "value;\n    "
                                                                                "st.param.b32 "
                                                                                "[which], 0xfffe;\n"
                                                                                "    call (value), "
                                                                                "__ctxrt_ask_"
                                                                                "device, "
                                                                                "(which);\n    "
                                                                                "ld.param.u32 "
                                                                                "%own, [value];\n"
                                                                                "    ld.param.u32 "
                                                                                "%word, "
                                                                                "[device];\n    "
                                                                                "setp.ne.u32 %bad, "
                                                                                "%word, %own;\n"
                                                                                "    @%bad bra "
                                                                                "ELSEWHERE;\n    "
                                                                                "call (value), "
                                                                                "__ctxrt_ask_"
                                                                                "device, "
                                                                                "(attribute);\n"
                                                                                "    ld.param.u64 "
                                                                                "%value, "
                                                                                "[value];\n    "
                                                                                "setp.eq.s64 %bad, "
                                                                                "%value, "
                                                                                "0x8000000000000000"
                                                                                ";\n"
                                                                                "    @%bad bra "
                                                                                "UNKNOWN;\n    "
                                                                                "ld.param.u64 "
                                                                                "%out, [out];\n    "
                                                                                "st.u32 [%out], "
                                                                                "%value;\n"
                                                                                "    st.param.b32 "
                                                                                "[error], 0;\n    "
                                                                                "ret;\nELSEWHERE:\n"
                                                                                "    st.param.b32 "
                                                                                "[error],"
                                                                                " " INVALID_DEVICE
                                                                                ";\n    "
                                                                                "ret;\nUNKNOWN:"
                                                                                "\n" RETURN(
                                                                                    INVALID_VALUE);

bool cx_emu_needs_device_launches(const char *text, size_t length)
{
    static const char prefix[] = "__cudaCDP2";

    return memmem(text, length, prefix, strlen(prefix)) != NULL;
}
