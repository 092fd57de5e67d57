/* Small kernels as PTX text, for the tests of modules and launches. */
#ifndef CX_TEST_KERNELS_H
#define CX_TEST_KERNELS_H

#define PTX_HEAD ".version 6.3\n.target sm_75\n.address_size 64\n"

/* add_one(at, count): each of the first `count` words is one more. */
#define PTX_ADD_ONE                                 \
    ".visible .entry add_one(.param .u64 at,\n"     \
    "                        .param .u32 count)\n"  \
    "{\n"                                           \
    "    .reg .pred %p<2>;\n"                       \
    "    .reg .b32 %r<8>;\n"                        \
    "    .reg .b64 %rd<6>;\n"                       \
    "    ld.param.u64 %rd1, [at];\n"                \
    "    ld.param.u32 %r1, [count];\n"              \
    "    mov.u32 %r2, %ctaid.x;\n"                  \
    "    mov.u32 %r3, %ntid.x;\n"                   \
    "    mov.u32 %r4, %tid.x;\n"                    \
    "    mad.lo.s32 %r5, %r2, %r3, %r4;\n"          \
    "    setp.ge.u32 %p1, %r5, %r1;\n"              \
    "    @%p1 bra DONE;\n"                          \
    "    cvta.to.global.u64 %rd2, %rd1;\n"          \
    "    mul.wide.u32 %rd3, %r5, 4;\n"              \
    "    add.s64 %rd4, %rd2, %rd3;\n"               \
    "    ld.global.u32 %r6, [%rd4];\n"              \
    "    add.u32 %r7, %r6, 1;\n"                    \
    "    st.global.u32 [%rd4], %r7;\n"              \
    "DONE:\n"                                       \
    "    ret;\n"                                    \
    "}\n"

/* spin(flag): until the word there is not 0. */
#define PTX_SPIN                                  \
    ".visible .entry spin(.param .u64 flag)\n"    \
    "{\n"                                         \
    "    .reg .pred %p;\n"                        \
    "    .reg .b32 %r;\n"                         \
    "    .reg .b64 %rd;\n"                        \
    "    ld.param.u64 %rd, [flag];\n"             \
    "AGAIN:\n"                                    \
    "    ld.volatile.global.u32 %r, [%rd];\n"     \
    "    setp.eq.u32 %p, %r, 0;\n"                \
    "    @%p bra AGAIN;\n"                        \
    "    ret;\n"                                  \
    "}\n"

/* reverse(at): the words of a block, in shared memory that the launch brings. */
#define PTX_REVERSE                                    \
    ".extern .shared .align 4 .b8 room[];\n"           \
    ".visible .entry reverse(.param .u64 at)\n"        \
    "{\n"                                              \
    "    .reg .b32 %r<8>;\n"                           \
    "    .reg .b64 %rd<4>;\n"                          \
    "    ld.param.u64 %rd1, [at];\n"                   \
    "    mov.u32 %r1, %tid.x;\n"                       \
    "    mov.u32 %r2, %ntid.x;\n"                      \
    "    mul.wide.u32 %rd2, %r1, 4;\n"                 \
    "    add.u64 %rd3, %rd1, %rd2;\n"                  \
    "    ld.global.u32 %r3, [%rd3];\n"                 \
    "    mov.u32 %r4, room;\n"                         \
    "    mad.lo.u32 %r5, %r1, 4, %r4;\n"               \
    "    st.shared.u32 [%r5], %r3;\n"                  \
    "    bar.sync 0;\n"                                \
    "    sub.u32 %r6, %r2, %r1;\n"                     \
    "    mad.lo.u32 %r6, %r6, 4, %r4;\n"               \
    "    ld.shared.u32 %r7, [%r6+-4];\n"               \
    "    st.global.u32 [%rd3], %r7;\n"                 \
    "    ret;\n"                                       \
    "}\n"

/* next(out): counter is one more, and what it was is written. */
#define PTX_COUNTER                                    \
    ".visible .global .align 4 .u32 counter = 41;\n"   \
    ".visible .const .align 4 .u32 step[2] = {1, 7};\n" \
    ".visible .entry next(.param .u64 out)\n"          \
    "{\n"                                              \
    "    .reg .b32 %r<3>;\n"                           \
    "    .reg .b64 %rd<3>;\n"                          \
    "    ld.param.u64 %rd1, [out];\n"                  \
    "    mov.u64 %rd2, counter;\n"                     \
    "    ld.const.u32 %r1, [step];\n"                  \
    "    atom.global.add.u32 %r2, [%rd2], %r1;\n"      \
    "    st.global.u32 [%rd1], %r2;\n"                 \
    "    ret;\n"                                       \
    "}\n"

/* store(at, offset): four bytes at the sum. */
#define PTX_STORE                                                         \
    ".visible .entry store(.param .u64 at, .param .u64 offset)\n"         \
    "{\n"                                                                 \
    "    .reg .b64 %rd<3>;\n"                                             \
    "    ld.param.u64 %rd1, [at];\n"                                      \
    "    ld.param.u64 %rd2, [offset];\n"                                  \
    "    add.u64 %rd1, %rd1, %rd2;\n"                                     \
    "    st.global.u32 [%rd1], 7;\n"                                      \
    "    ret;\n"                                                          \
    "}\n"

#define PTX_ENDINGS                                                       \
    ".visible .entry traps()\n{\n    trap;\n}\n"                          \
    ".visible .entry waits_for_nobody()\n"                                \
    "{\n"                                                                 \
    "    .reg .pred %p;\n"                                                \
    "    .reg .b32 %r;\n"                                                 \
    "    mov.u32 %r, %tid.x;\n"                                           \
    "    setp.eq.u32 %p, %r, 0;\n"                                        \
    "    @%p bar.sync 1;\n"                                               \
    "    @!%p bar.sync 2;\n"                                              \
    "    ret;\n"                                                          \
    "}\n"                                                                 \
    ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d,\n" \
    "                           .param .b64 e);\n"                        \
    ".visible .entry asserts()\n"                                         \
    "{\n"                                                                 \
    "    .param .b64 p0;\n    .param .b64 p1;\n    .param .b32 p2;\n"     \
    "    .param .b64 p3;\n    .param .b64 p4;\n"                          \
    "    call.uni __assertfail, (p0, p1, p2, p3, p4);\n"                  \
    "    ret;\n"                                                          \
    "}\n"                                                                 \
    ".visible .entry at_most_32()\n.maxntid 32, 1, 1\n{\n    ret;\n}\n"

/* meet(at): all blocks add one, and wait until all have; then each writes how many there are. */
#define PTX_MEET                                                         \
    ".visible .entry meet(.param .u64 at)\n"                             \
    "{\n"                                                                \
    "    .reg .pred %p;\n"                                               \
    "    .reg .b32 %r<4>;\n"                                             \
    "    .reg .b64 %rd<4>;\n"                                            \
    "    ld.param.u64 %rd1, [at];\n"                                     \
    "    red.global.add.u32 [%rd1], 1;\n"                                \
    "    mov.u32 %r1, %nctaid.x;\n"                                      \
    "AGAIN:\n"                                                           \
    "    ld.volatile.global.u32 %r2, [%rd1];\n"                          \
    "    setp.lt.u32 %p, %r2, %r1;\n"                                    \
    "    @%p bra AGAIN;\n"                                               \
    "    mov.u32 %r3, %ctaid.x;\n"                                       \
    "    mul.wide.u32 %rd2, %r3, 4;\n"                                   \
    "    add.u64 %rd3, %rd1, %rd2;\n"                                    \
    "    st.global.u32 [%rd3+4], %r2;\n"                                 \
    "    ret;\n"                                                         \
    "}\n"

#define PTX_ALL \
    PTX_HEAD PTX_ADD_ONE PTX_SPIN PTX_REVERSE PTX_COUNTER PTX_STORE PTX_ENDINGS PTX_MEET

#endif
