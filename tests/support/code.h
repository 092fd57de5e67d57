/* Small PTX, for tests of the public interface. */
#ifndef CX_TEST_CODE_H
#define CX_TEST_CODE_H

#define CODE_HEAD ".version 6.3\n.target sm_50\n.address_size 64\n"

/* touch(at): the word there is one more. */
#define CODE_TOUCH                                                \
    ".visible .entry touch(.param .u64 at)\n"                     \
    "{\n"                                                         \
    "    .reg .b32 %r<2>;\n"                                      \
    "    .reg .b64 %rd<2>;\n"                                     \
    "    ld.param.u64 %rd1, [at];\n"                              \
    "    atom.global.add.u32 %r1, [%rd1], 1;\n"                   \
    "    ret;\n"                                                  \
    "}\n"

/* A variable, so that the module has memory of its own. */
#define CODE_VARIABLE ".visible .global .align 4 .u32 variable[256] = {7};\n"

#endif
