/* Hazards in shared memory and at barriers: those that a launch tells, and idioms that it does not
 * tell. */
#include "ptx/ptx.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

#define ADDRESS UINT64_C(0x100000)
#define BYTES 65536

/* %r1: the thread; %r2: its own word of shared memory, %r3 that of the thread 32 away, %r4 that of
 * the lane next to it; %p1: it is thread 0, %p2: it is in the first warp, %p3: it is an even one;
 * %d1: its own word of global memory. */
#define HEAD                                                                                  \
    ".address_size 64\n"                                                                      \
    ".visible .entry k(.param .u64 out)\n{\n.reg .pred %p<9>;\n.reg .b32 %r<20>;\n"           \
    ".reg .b64 %d<9>;\n.reg .f32 %f<9>;\n.shared .align 16 .b32 s[256];\n"                    \
    ".shared .align 8 .b64 flag;\n"                                                           \
    "ld.param.u64 %d1, [out];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %d2, %r1, 4;\n"             \
    "add.u64 %d1, %d1, %d2;\nmov.u32 %r9, s;\nshl.b32 %r2, %r1, 2;\nadd.u32 %r2, %r2, %r9;\n" \
    "xor.b32 %r3, %r1, 32;\nshl.b32 %r3, %r3, 2;\nadd.u32 %r3, %r3, %r9;\n"                   \
    "xor.b32 %r4, %r1, 1;\nshl.b32 %r4, %r4, 2;\nadd.u32 %r4, %r4, %r9;\n"                    \
    "setp.eq.u32 %p1, %r1, 0;\nsetp.lt.u32 %p2, %r1, 32;\nand.b32 %r5, %r1, 1;\n"             \
    "setp.eq.u32 %p3, %r5, 0;\nmov.u32 %r6, 7;\n"
#define OLD ".version 6.3\n.target sm_60\n" HEAD
#define NEW ".version 7.0\n.target sm_80\n" HEAD
/* Each block stores in memory of its own. */
#define END                                                                             \
    "mov.u32 %r19, %ctaid.x;\nmul.wide.u32 %d8, %r19, 16384;\nadd.u64 %d8, %d8, %d1;\n" \
    "st.global.u32 [%d8], %r7;\nret;\n}\n"
#define WRITE "st.shared.u32 [%r2], %r1;\n"
#define MEET "bar.sync 0;\n"

/* `told`: a letter for each kind, in the order of telling: Race, Warp race, Unwritten, Diverged,
 * Ended, Blocks, Heap, Global race, beyond an Array. */
static const struct row {
    const char *name, *text, *told;
    uint32_t threads;
} rows[] = {
    {"a read of what another warp writes", NEW WRITE "ld.shared.u32 %r7, [%r3];\n" END, "R", 64},
    {"the same behind a barrier", NEW WRITE MEET "ld.shared.u32 %r7, [%r3];\n" END, "", 64},
    {"the same by a generic address",
     NEW WRITE "cvt.u64.u32 %d3, %r3;\ncvta.shared.u64 %d3, %d3;\nld.u32 %r7, [%d3];\n" END, "R",
     64},
    {"the second barrier of a loop is missing",
     NEW "mov.u32 %r8, 0;\nL:\n" WRITE MEET "ld.shared.u32 %r7, [%r3];\nadd.u32 %r1, %r1, 1;\n"
         "add.u32 %r8, %r8, 1;\nsetp.lt.u32 %p4, %r8, 2;\n@%p4 bra L;\n" END,
     "R", 64},
    {"a loop with both barriers",
     NEW "mov.u32 %r8, 0;\nL:\n" WRITE MEET "ld.shared.u32 %r7, [%r3];\n" MEET
         "add.u32 %r1, %r1, 1;\nadd.u32 %r8, %r8, 1;\nsetp.lt.u32 %p4, %r8, 2;\n@%p4 bra L;\n" END,
     "", 64},
    {"two warps store different values in one word",
     NEW "st.shared.u32 [s], %r1;\n" MEET "ld.shared.u32 %r7, [s];\n" END, "R", 64},
    {"two warps store the same value in one word",
     NEW "st.shared.u32 [s], %r6;\n" MEET "ld.shared.u32 %r7, [s];\n" END, "", 64},
    {"lanes of one warp store different values in one word",
     NEW "st.shared.u32 [s], %r1;\n" MEET "ld.shared.u32 %r7, [s];\n" END, "", 32},
    {"neighbouring bytes of one word",
     NEW "add.u32 %r8, %r9, %r1;\nst.shared.u8 [%r8], %r1;\n" MEET "ld.shared.u8 %r7, [%r8];\n" END,
     "", 64},
    {"a byte of another warp's word", NEW WRITE "@!%p2 ld.shared.u8 %r7, [s+1];\n" END, "R", 64},
    {"warps that add atomically",
     NEW "@%p1 st.shared.u32 [s], 0;\n" MEET "atom.shared.add.u32 %r7, [s], 1;\n" MEET
         "ld.shared.u32 %r7, [s];\n" END,
     "", 64},
    {"warps that add without atomics",
     NEW "@%p1 st.shared.u32 [s], 0;\n" MEET
         "ld.shared.u32 %r7, [s];\nadd.u32 %r7, %r7, 1;\nst.shared.u32 [s], %r7;\n" MEET END,
     "RR", 64},
    {"a flag behind a fence",
     NEW "@%p1 st.volatile.shared.u32 [flag], 0;\n" MEET "@!%p1 bra L;\nst.shared.u32 [s], 5;\n"
         "membar.cta;\nst.volatile.shared.u32 [flag], 1;\nbra M;\n"
         "L:\nld.volatile.shared.u32 %r8, [flag];\nsetp.eq.u32 %p4, %r8, 0;\n@%p4 bra L;\n"
         "ld.shared.u32 %r7, [s];\nM:\n" END,
     "", 64},
    {"a named barrier that one warp waits at and the other one arrives at",
     NEW "@%p2 bra L;\n" WRITE "bar.arrive 1, 64;\nbra M;\nL:\nbar.sync 1, 64;\n"
         "ld.shared.u32 %r7, [%r3];\nM:\n" END,
     "", 64},
    {"a barrier object that one thread of the warp arrives at",
     NEW "@%p1 mbarrier.init.shared.b64 [flag], 1;\n" MEET "@%p2 bra L;\n" WRITE
         "bar.warp.sync 0xffffffff;\nsetp.eq.u32 %p4, %r1, 32;\n"
         "@%p4 mbarrier.arrive.shared.b64 %d3, [flag];\nbra M;\nL:\n"
         "mbarrier.test_wait.parity.shared.b64 %p5, [flag], 0;\n@!%p5 bra L;\n"
         "ld.shared.u32 %r7, [%r3];\nM:\n" END,
     "", 64},
    {"an asynchronous copy, a wait and a barrier",
     NEW "cp.async.ca.shared.global [%r2], [%d1], 4;\ncp.async.wait_all;\n" MEET
         "ld.shared.u32 %r7, [%r3];\n" END,
     "", 64},
    {"a write of what all of three warps have read",
     NEW WRITE MEET "ld.shared.u32 %r7, [s];\nld.shared.u32 %r7, [s];\n"
                    "setp.eq.u32 %p4, %r1, 95;\n@%p4 st.shared.u32 [s], 5;\n" END,
     "R", 96},
    {"the same behind a barrier",
     NEW WRITE MEET "ld.shared.u32 %r7, [s];\nld.shared.u32 %r7, [s];\n" MEET
                    "setp.eq.u32 %p4, %r1, 95;\n@%p4 st.shared.u32 [s], 5;\n" END,
     "", 96},
    {"a read behind a write of what other warps have read before",
     NEW WRITE MEET "setp.lt.u32 %p4, %r1, 64;\nsetp.ge.u32 %p5, %r1, 96;\n"
                    "setp.eq.u32 %p6, %r1, 64;\n@%p4 ld.shared.u32 %r7, [s];\n"
                    "@%p6 st.shared.u32 [s], 5;\n@%p5 ld.shared.u32 %r7, [s];\n" END,
     "RR", 128},
    /* warps of a block in global memory: %d6 is the block's part, %d5 the own word in it */
#define PART                                                                                \
    "mov.u32 %r19, %ctaid.x;\nmul.wide.u32 %d6, %r19, 4096;\nld.param.u64 %d5, [out];\n"    \
    "add.u64 %d6, %d6, %d5;\nadd.u64 %d6, %d6, 32768;\nadd.u64 %d5, %d6, %d2;\n"            \
    "xor.b32 %r8, %r1, 32;\nmul.wide.u32 %d7, %r8, 4;\nadd.u64 %d7, %d7, %d6;\n"
    {"a read of global memory that another warp writes",
     NEW PART "st.global.u32 [%d5], %r2;\nld.global.u32 %r7, [%d7];\n" END, "G", 64},
    {"the same behind a barrier",
     NEW PART "st.global.u32 [%d5], %r2;\n" MEET "ld.global.u32 %r7, [%d7];\n" END, "", 64},
    {"the same behind fences and a flag",
     NEW PART "@!%p2 bra L;\nst.global.u32 [%d5], %r2;\nmembar.gl;\n"
              "st.volatile.global.u32 [%d6+1024], 1;\nbra M;\n"
              "L:\nld.volatile.global.u32 %r8, [%d6+1024];\nsetp.eq.u32 %p4, %r8, 0;\n"
              "@%p4 bra L;\nld.global.u32 %r7, [%d7];\nM:\n" END,
     "", 64},
    {"a write of global memory that another warp has read",
     NEW PART "st.global.u32 [%d5], %r2;\n" MEET "ld.global.u32 %r7, [%d7];\n"
              "add.u32 %r8, %r2, 9;\nst.global.u32 [%d5], %r8;\n" END,
     "G", 64},
    {"warps that store different values in one global word",
     NEW PART "st.global.u32 [%d6], %r2;\n" END, "G", 64},
    {"warps that set a global flag, and look for it",
     NEW PART "ld.global.u32 %r7, [%d6];\nst.global.u32 [%d6], 1;\nld.global.u32 %r7, [%d6];\n" END,
     "", 64},
    {"warps that add atomically to a global word",
     NEW PART "atom.global.add.u32 %r7, [%d6], 1;\nred.global.add.u32 [%d6], 1;\n" END, "", 64},
    {"bytes of one global word", NEW PART "sub.u64 %d7, %d5, %d2;\ncvt.u64.u32 %d7, %r1;\n"
         "add.u64 %d7, %d7, %d6;\nadd.u32 %r8, %r1, 2;\nst.global.u8 [%d7], %r8;\n" END,
     "", 64},
    /* arrays */
    {"a write behind an array",
     NEW ".shared .b32 t[64];\nst.shared.u32 [t], 0;\nshl.b32 %r8, %r1, 4;\n"
         "add.u32 %r8, %r8, %r9;\nst.shared.u32 [%r8+16], 7;\n" END,
     "A", 64},
    {"a read in front of an array, by its number",
     NEW ".shared .b32 t[64];\n" WRITE "bar.sync 0;\nld.shared.u32 %r7, [t+-4];\n" END, "A", 64},
    {"the last element, from the end of the array",
     NEW ".shared .b32 t[64];\nmov.u32 %r10, t;\n" WRITE "mov.u32 %r8, s+1024;\n" MEET
         "ld.shared.u32 %r7, [%r2];\n@%p1 st.shared.u32 [%r8+-4], 1;\n" END,
     "", 64},
    {"one of two arrays, by a flag",
     NEW ".shared .b32 t[64];\nmov.u32 %r10, t;\nselp.b32 %r8, %r9, %r10, %p3;\n"
         "shl.b32 %r10, %r1, 2;\nadd.u32 %r8, %r8, %r10;\nst.shared.u32 [%r8], 7;\n" END,
     "", 64},
    {"two buffers that take turns",
     NEW ".shared .b32 t[64];\nmov.u32 %r10, t;\nsub.u32 %r11, %r10, %r9;\n"
         "add.u32 %r8, %r9, %r11;\nst.shared.u32 [%r8], 7;\nmov.u32 %r8, %r9;\n"
         "bra M;\nL:\nmov.u32 %r8, %r10;\nM:\nst.shared.u32 [%r8], 7;\n"
         "setp.eq.u32 %p4, %r8, %r9;\n@%p4 bra L;\n" END,
     "", 64},
    {"an address that comes out of a register which another array had",
     NEW ".shared .b32 t[64];\nmov.u32 %r8, s;\nst.shared.u32 [%r8], 7;\nmov.u32 %r8, t;\n"
         "add.u32 %r8, %r8, 252;\nst.shared.u32 [%r8], 7;\nst.shared.u32 [%r8+4], 7;\n" END,
     "A", 64},
    /* lanes of a warp */
    {"a lane reads what its neighbour writes", NEW WRITE "ld.shared.u32 %r7, [%r4];\n" END, "W",
     32},
    {"all lanes read what the first one writes",
     NEW "@%p1 st.shared.u32 [s], %r6;\nld.shared.u32 %r7, [s];\n" END, "W", 32},
    {"the same with __syncwarp",
     NEW WRITE "bar.warp.sync 0xffffffff;\nld.shared.u32 %r7, [%r4];\n" END, "", 32},
    {"the same with volatile memory",
     NEW "st.volatile.shared.u32 [%r2], %r1;\nld.volatile.shared.u32 %r7, [%r4];\n" END, "W", 32},
    {"the same with a shuffle between",
     NEW WRITE "shfl.sync.idx.b32 %r8, %r1, 0, 31, 0xffffffff;\nld.shared.u32 %r7, [%r4];\n" END,
     "", 32},
    {"the same where lanes of a warp run together", OLD WRITE "ld.shared.u32 %r7, [%r4];\n" END, "",
     32},
    {"lanes that add atomically to each other's words",
     NEW WRITE "bar.warp.sync 0xffffffff;\natom.shared.add.u32 %r7, [%r2], 1;\n"
               "atom.shared.add.u32 %r7, [%r4], 1;\n" END,
     "", 32},
    {"a lane sets a flag for its warp",
     NEW "@%p1 st.volatile.shared.u32 [flag], 1;\nL:\nld.volatile.shared.u32 %r7, [flag];\n"
         "setp.eq.u32 %p4, %r7, 0;\n@%p4 bra L;\n" END,
     "", 32},
    /* reads of what nobody wrote */
    {"a read before any write", NEW "ld.shared.u32 %r7, [%r2];\n" END, "U", 64},
    {"the own word behind the own write", NEW WRITE "ld.shared.u32 %r7, [%r2];\n" END, "", 64},
    {"a vector whose unwritten parts nobody uses",
     NEW "@%p1 st.shared.u32 [s], %r1;\n" MEET
         "ld.shared.v4.u32 {%r7, %r10, %r11, %r12}, [s];\n" END,
     "", 64},
    {"an atomic sum over what nobody wrote", NEW "atom.shared.add.u32 %r7, [s], 1;\n" END, "U", 64},
    {"an unwritten value that only goes into shared memory again",
     NEW "ld.shared.u32 %r8, [%r2];\nadd.u32 %r8, %r8, 1;\nst.shared.u32 [%r2], %r8;\n" END, "",
     64},
    {"an unwritten value that decides a branch",
     NEW "ld.shared.u32 %r8, [%r2];\nsetp.eq.u32 %p4, %r8, 3;\n@%p4 bra L;\nL:\n" END, "U", 64},
    {"a half of a word that was written",
     NEW "mul.lo.u32 %r8, %r1, 8;\nadd.u32 %r8, %r8, %r9;\n@%p2 st.shared.u32 [%r8], %r1;\n"
         "@%p2 ld.shared.u64 %d3, [%r8];\ncvt.u32.u64 %r7, %d3;\n" END,
     "", 64},
    /* barriers */
    {"a barrier in a branch of a part of the block", NEW "@!%p2 bra L;\n" MEET "L:\n" END, "D", 64},
    {"a barrier in a branch of a part of a warp", NEW "@!%p3 bra L;\n" MEET "L:\n" END, "D", 32},
    {"two barriers for the lanes of a warp",
     NEW "@!%p3 bra L;\n" MEET "bra M;\nL:\n" MEET "M:\n" END, "D", 32},
    {"two barriers for lanes that may come apart",
     NEW "@!%p3 bra L;\nbarrier.sync 0;\nbra M;\nL:\nbarrier.sync 0;\nM:\n" END, "", 32},
    {"threads that end before the barrier",
     NEW "@%p3 bra L;\n" MEET "st.global.u32 [%d1], %r7;\nL:\nret;\n}\n", "E", 64},
    /* matrices and copies that go on by themselves: %r8 is a row of what the other warp writes */
#define ROW                                                                                    \
    "and.b32 %r8, %r1, 7;\nshl.b32 %r8, %r8, 4;\nand.b32 %r10, %r1, 32;\n"                     \
    "xor.b32 %r10, %r10, 32;\nshl.b32 %r10, %r10, 2;\nadd.u32 %r8, %r8, %r10;\n"              \
    "add.u32 %r8, %r8, %r9;\n"
#define LOAD_ROWS "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r7}, [%r8];\n"
#define STORE_ROWS "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r8], {%r1};\n"
#define LOAD_TILE                                                                              \
    "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 "                                       \
    "{%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}, [%r9], 16;\n"
#define INITIALISE "@%p1 mbarrier.init.shared.b64 [flag], 1;\n" MEET
#define BULK                                                                                   \
    "setp.eq.u32 %p6, %r1, 63;\n@%p6 mbarrier.arrive.expect_tx.shared.b64 %d3, [flag], 256;\n"  \
    "mov.u32 %r8, 256;\nld.param.u64 %d4, [out];\n"                                            \
    "@%p6 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "                   \
    "[s], [%d4+8192], %r8, [flag];\n"
#define AWAIT "L:\nmbarrier.test_wait.parity.shared.b64 %p5, [flag], 0;\n@!%p5 bra L;\n"
    {"rows of a matrix that another warp writes", NEW WRITE ROW LOAD_ROWS END, "R", 64},
    {"the same behind a barrier", NEW WRITE ROW MEET LOAD_ROWS END, "", 64},
    {"a matrix that two warps write", NEW WRITE LOAD_TILE END, "R", 64},
    {"the same behind a barrier", NEW WRITE MEET LOAD_TILE END, "", 64},
    {"a matrix that other lanes of the warp write", NEW WRITE LOAD_TILE END, "", 32},
    {"a read of rows of a matrix that another warp stores",
     NEW ROW STORE_ROWS "ld.shared.u32 %r7, [%r2];\n" END, "R", 64},
    {"the same behind a barrier", NEW ROW STORE_ROWS MEET "ld.shared.u32 %r7, [%r2];\n" END, "",
     64},
    {"a read of rows of a matrix that other lanes of the warp store",
     NEW ROW STORE_ROWS "xor.b32 %r8, %r2, 132;\nld.shared.u32 %r7, [%r8];\n" END, "", 32},
    {"a matrix that nothing has written", NEW LOAD_TILE END, "U", 32},
    {"rows of a matrix behind the array",
     NEW ".shared .align 16 .b32 t[64];\nst.shared.u32 [t], 0;\n" WRITE ROW MEET
         "add.u32 %r8, %r8, 960;\n" LOAD_ROWS END,
     "A", 64},
    {"an asynchronous copy, and no barrier",
     NEW PART "st.global.u32 [%d5], %r2;\ncp.async.ca.shared.global [%r2], [%d5], 4;\n"
              "cp.async.wait_all;\nld.shared.u32 %r7, [%r3];\n" END,
     "R", 64},
    {"an asynchronous copy of global memory that another warp writes",
     NEW PART "st.global.u32 [%d5], %r2;\ncp.async.ca.shared.global [%r2], [%d7], 4;\n" END, "G",
     64},
    {"a bulk copy over what another warp reads",
     NEW INITIALISE WRITE MEET "ld.shared.u32 %r7, [%r3];\n" BULK END, "R", 64},
    {"the same behind a barrier",
     NEW INITIALISE WRITE MEET "ld.shared.u32 %r7, [%r3];\n" MEET BULK AWAIT END, "", 64},
    {"reads behind the barrier object of a bulk copy",
     NEW INITIALISE BULK AWAIT "ld.shared.u32 %r7, [%r3];\n" END, "", 64},
    {"a bulk copy of what another warp writes",
     NEW WRITE "mov.u32 %r8, 256;\n@%p1 cp.async.bulk.global.shared::cta.bulk_group [%d1], [s], "
               "%r8;\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nret;\n}\n",
     "WR", 64},
    /* blocks: two of them run the kernel */
    {"blocks that count without atomics",
     NEW "ld.param.u64 %d3, [out];\nld.global.u32 %r7, [%d3+2048];\nadd.u32 %r7, %r7, 1;\n"
         "st.global.u32 [%d3+2048], %r7;\nret;\n}\n",
     "BB", 1},
    {"blocks that count with atomics",
     NEW "ld.param.u64 %d3, [out];\natom.global.add.u32 %r7, [%d3+2048], 1;\nret;\n}\n", "", 32},
    {"blocks that write the same value",
     NEW "ld.param.u64 %d3, [out];\nst.global.u32 [%d3+2048], %r6;\nret;\n}\n", "", 32},
    {"blocks that write bytes of one word",
     NEW "ld.param.u64 %d3, [out];\nmov.u32 %r8, %ctaid.x;\ncvt.u64.u32 %d4, %r8;\n"
         "add.u64 %d3, %d3, %d4;\nadd.u32 %r8, %r8, 5;\nst.global.u8 [%d3+3072], %r8;\nret;\n}\n",
     "", 1},
    {"bytes of one unit that blocks copy by their masks",
     NEW ".reg .b16 %h1;\nld.param.u64 %d3, [out];\nmov.u32 %r8, %ctaid.x;\nadd.u32 %r7, %r8, 9;\n"
         "mul.lo.u32 %r7, %r7, 0x01010101;\nst.shared.v4.u32 [s], {%r7, %r7, %r7, %r7};\n"
         "mul.lo.u32 %r8, %r8, 0x5555;\nadd.u32 %r8, %r8, 0x5555;\ncvt.u16.u32 %h1, %r8;\n"
         "mov.u32 %r8, 16;\ncp.async.bulk.global.shared::cta.bulk_group.cp_mask "
         "[%d3+2048], [s], %r8, %h1;\n"
         "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nret;\n}\n",
     "", 1},
    {"the last block adds up what the others wrote",
     NEW "ld.param.u64 %d3, [out];\nmov.u32 %r8, %ctaid.x;\nmul.wide.u32 %d4, %r8, 4;\n"
         "add.u64 %d5, %d3, %d4;\nadd.u32 %r8, %r8, 1;\nst.global.u32 [%d5+1024], %r8;\n"
         "membar.gl;\natom.global.add.u32 %r9, [%d3+1280], 1;\nand.b32 %r9, %r9, 1;\n"
         "setp.ne.u32 %p4, %r9, 1;\n@%p4 bra L;\nld.global.u32 %r7, [%d3+1024];\n"
         "ld.global.u32 %r8, [%d3+1028];\nadd.u32 %r7, %r7, %r8;\nst.global.u32 [%d3+1536], %r7;\n"
         "L:\nret;\n}\n",
     "", 1},
    {"a barrier in a loop that some threads leave early",
     NEW "mov.u32 %r8, %r5;\nL:\n" MEET "st.volatile.global.u32 [%d1], %r8;\nadd.u32 %r8, %r8, 1;\n"
         "setp.lt.u32 %p4, %r8, 2;\n@%p4 bra L;\n" END,
     "E", 64},
};
#define ROWS (int)(sizeof rows / sizeof rows[0])

static _Alignas(16) unsigned char memory[BYTES];

typedef struct heard {
    char told[16];
    cx_ptx_hazard all[16];
} heard;

static bool find(void *self, uint64_t address, cx_ptx_range *out_range)
{
    (void)self;
    *out_range = (cx_ptx_range){ADDRESS, BYTES, memory, false, NULL, NULL};
    return address - ADDRESS < BYTES;
}

static void hear(void *self, const cx_ptx_hazard *hazard)
{
    heard *all = self;
    size_t count = strlen(all->told);

    ck_assert_uint_lt(count, sizeof all->told - 1);
    all->told[count] = "RWUDEBHGA"[hazard->kind];
    all->all[count] = *hazard;
}

static bool cooperative; /* the launches */

static heard run(const char *text, uint32_t threads, bool independent, uint64_t seed)
{
    const uint64_t out = ADDRESS;
    heard all = {0};
    const cx_ptx_environment environment = {
        .find = find, .hazard = hear, .self = &all, .independent = independent, .seed = seed};
    const cx_ptx_launch launch = {.grid = {2, 1, 1},
                                  .block = {threads, 1, 1},
                                  .cooperative = cooperative,
                                  .parameters = &out};
    cx_ptx_error error = {0};
    cx_ptx_fault fault = {0};
    cx_ptx_module *module = NULL;

    ck_assert_msg(cx_ptx_load(text, strlen(text), &module, &error) == CX_PTX_SUCCESS,
                  "line %d: %s\n%s", error.line, error.message, text);
    ck_assert_int_eq(
        cx_ptx_run(module, cx_ptx_kernel_find(module, "k"), &launch, &environment, &fault),
        CX_PTX_DONE);
    cx_ptx_unload(module);
    return all;
}

START_TEST(a_launch_tells_these_hazards)
{
    const struct row *row = &rows[_i];
    const heard all = run(row->text, row->threads, false, 0);

    ck_assert_msg(strcmp(all.told, row->told) == 0, "%s: '%s' instead of '%s'", row->name, all.told,
                  row->told);
}
END_TEST

START_TEST(an_idiom_is_silent_in_any_order_of_lanes)
{
    const struct row *row = &rows[_i];

    if (row->told[0])
        return;
    for (uint64_t seed = 0; seed < 8; seed++) {
        const heard all = run(row->text, row->threads, true, seed);

        ck_assert_msg(!all.told[0], "%s: '%s' with seed %d", row->name, all.told, (int)seed);
    }
}
END_TEST

/* Each block stores a word, waits at the grid's barrier, and reads the word of the other one. */
#define GRID_BARRIER                                                             \
    "mov.u32 %r8, %envreg1;\nmov.u32 %r9, %envreg2;\nmov.b64 %d4, {%r9, %r8};\n" \
    "atom.add.release.gpu.u32 %r10, [%d4+4], 1;\n"                               \
    "L:\nld.acquire.gpu.u32 %r10, [%d4+4];\nsetp.lt.u32 %p4, %r10, 2;\n@%p4 bra L;\n"

static const struct {
    const char *barrier, *told;
} meetings[] = {{"", "B"}, {GRID_BARRIER, ""}};

START_TEST(the_barrier_of_a_cooperative_grid_orders_its_blocks)
{
    char text[4096];

    snprintf(text, sizeof text, "%s%s%s",
             NEW "ld.param.u64 %d3, [out];\nmov.u32 %r11, %ctaid.x;\n"
                 "mul.wide.u32 %d5, %r11, 4;\nadd.u64 %d6, %d3, %d5;\nadd.u32 %r12, %r11, 7;\n"
                 "st.global.u32 [%d6+4096], %r12;\n",
             meetings[_i].barrier,
             "xor.b32 %r11, %r11, 1;\nmul.wide.u32 %d5, %r11, 4;\nadd.u64 %d6, %d3, %d5;\n"
             "ld.global.u32 %r7, [%d6+4096];\n" END);
    cooperative = true;
    ck_assert_str_eq(run(text, 1, false, 0).told, meetings[_i].told);
    cooperative = false;
}
END_TEST

START_TEST(a_race_names_both_threads_and_the_place_in_shared_memory)
{
    const heard all = run(rows[0].text, 64, false, 0);
    const cx_ptx_hazard *race = &all.all[0];

    ck_assert_str_eq(all.told, "R");
    ck_assert_uint_eq(race->first.thread[0] / 32, 0);
    ck_assert_uint_eq(race->second.thread[0] / 32, 1);
    ck_assert_uint_eq(race->first.block[0], 0);
    ck_assert(race->shared && race->first.writes != race->second.writes);
    ck_assert_int_ne(race->first.line, race->second.line);
    ck_assert_uint_eq(race->bytes, 4);
    ck_assert_uint_lt(race->address, 256);
    ck_assert_str_eq(race->kernel ? "k" : "", "k");
}
END_TEST

static Suite *hazards_suite(void)
{
    Suite *suite = suite_create("hazards");
    TCase *all = tcase_create("all");

    tcase_add_loop_test(all, a_launch_tells_these_hazards, 0, ROWS);
    tcase_add_loop_test(all, an_idiom_is_silent_in_any_order_of_lanes, 0, ROWS);
    tcase_add_loop_test(all, the_barrier_of_a_cooperative_grid_orders_its_blocks, 0, 2);
    tcase_add_test(all, a_race_names_both_threads_and_the_place_in_shared_memory);
    suite_add_tcase(suite, all);
    return suite;
}

CX_TESTS(hazards_suite);
