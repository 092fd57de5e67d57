/* Code as nvcc's host code brings it: a fat binary with one entry of PTX, and the addresses that
 * stand for what is in it. */
#ifndef CX_TEST_CUDART_CODE_H
#define CX_TEST_CUDART_CODE_H

#include "declared.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS = 64, WORD_BYTES = WORDS * sizeof(uint32_t) };
enum { FAT_HEADER_BYTES = 16, FAT_ENTRY_BYTES = 64, FAT_PTX = 1, FAT_MAGIC = (int)0xba55ed50 };

typedef struct code_image {
    cxr_fat_binary wrapper;
    _Alignas(8) unsigned char bytes[8 << 10];
    size_t used;
} code_image;

static inline void code_set(code_image *self, size_t at, uint64_t value, size_t size)
{
    memcpy(self->bytes + at, &value, size);
}

static inline void code_build(code_image *self, const char *ptx)
{
    size_t size = strlen(ptx) + 1, padded = (size + 7) / 8 * 8;
    memset(self, 0, sizeof *self);
    if (FAT_HEADER_BYTES + FAT_ENTRY_BYTES + padded > sizeof self->bytes)
        abort();
    code_set(self, 0, (uint32_t)FAT_MAGIC, 4);
    code_set(self, 4, 1, 2);
    code_set(self, 6, FAT_HEADER_BYTES, 2);
    code_set(self, 8, FAT_ENTRY_BYTES + padded, 8);
    code_set(self, FAT_HEADER_BYTES, FAT_PTX, 2);
    code_set(self, FAT_HEADER_BYTES + 4, FAT_ENTRY_BYTES, 4);
    code_set(self, FAT_HEADER_BYTES + 8, padded, 8);
    code_set(self, FAT_HEADER_BYTES + 28, 75, 4);
    memcpy(self->bytes + FAT_HEADER_BYTES + FAT_ENTRY_BYTES, ptx, size);
    self->used = FAT_HEADER_BYTES + FAT_ENTRY_BYTES + padded;
    self->wrapper = (cxr_fat_binary){CXR_FAT_BINARY_MAGIC, 1, self->bytes, NULL};
}

#define CODE_HEAD ".version 6.3\n.target sm_75\n.address_size 64\n"

/* add(words, count, value): adds the value to each word. */
#define CODE_ADD                                                                        \
    ".visible .entry add(.param .u64 words, .param .u32 count, .param .u32 value)\n"    \
    "{\n"                                                                               \
    "    .reg .pred %p1;\n    .reg .b32 %r<8>;\n    .reg .b64 %rd<4>;\n"                \
    "    ld.param.u64 %rd1, [words];\n    ld.param.u32 %r1, [count];\n"                 \
    "    ld.param.u32 %r2, [value];\n"                                                  \
    "    mov.u32 %r3, %ctaid.x;\n    mov.u32 %r4, %ntid.x;\n    mov.u32 %r5, %tid.x;\n" \
    "    mad.lo.s32 %r6, %r3, %r4, %r5;\n"                                              \
    "    setp.ge.u32 %p1, %r6, %r1;\n    @%p1 bra $end;\n"                              \
    "    cvta.to.global.u64 %rd1, %rd1;\n"                                              \
    "    mul.wide.u32 %rd2, %r6, 4;\n    add.s64 %rd3, %rd1, %rd2;\n"                   \
    "    ld.global.u32 %r7, [%rd3];\n    add.u32 %r7, %r7, %r2;\n"                      \
    "    st.global.u32 [%rd3], %r7;\n"                                                  \
    "$end:\n    ret;\n}\n"

/* trap(): an error that stays with the context. */
#define CODE_TRAP ".visible .entry trap()\n{\n    trap;\n    ret;\n}\n"

/* Variables, and count(): adds 1 to the first word of each but the constants, whose sum it adds to
 * the managed one. */
#define CODE_VARIABLES                                                           \
    ".visible .global .align 4 .u32 words[4] = {1, 2, 3, 4};\n"                  \
    ".visible .const .align 4 .u32 constants[2] = {10, 20};\n"                   \
    ".visible .global .attribute(.managed) .align 4 .u32 shared_words[2];\n"     \
    ".visible .entry count()\n"                                                  \
    "{\n"                                                                        \
    "    .reg .b32 %r<6>;\n"                                                     \
    "    ld.global.u32 %r1, [words];\n    add.u32 %r1, %r1, 1;\n"                \
    "    st.global.u32 [words], %r1;\n"                                          \
    "    ld.const.u32 %r2, [constants];\n    ld.const.u32 %r3, [constants+4];\n" \
    "    ld.global.u32 %r4, [shared_words];\n    add.u32 %r4, %r4, %r2;\n"       \
    "    add.u32 %r4, %r4, %r3;\n    st.global.u32 [shared_words], %r4;\n"       \
    "    ret;\n}\n"

/* A kernel that a test launches: its host stub is any address. */
typedef struct code_add {
    code_image image;
    void **binary;
    char stub, trap_stub;
} code_add;

static inline void code_add_register(code_add *self)
{
    code_build(&self->image, CODE_HEAD CODE_ADD CODE_TRAP);
    self->binary = __cudaRegisterFatBinary(&self->image.wrapper);
    __cudaRegisterFunction(self->binary, &self->stub, NULL, "add", -1, NULL, NULL, NULL, NULL,
                           NULL);
    __cudaRegisterFunction(self->binary, &self->trap_stub, NULL, "trap", -1, NULL, NULL, NULL, NULL,
                           NULL);
    __cudaRegisterFatBinaryEnd(self->binary);
}

/* As the host code of CUDA 11. */
static inline cxr_error code_launch_add(code_add *self, uint32_t *words, uint32_t value,
                                        CUstream stream)
{
    uint32_t count = WORDS;
    void *arguments[] = {&words, &count, &value};
    return cudaLaunchKernel(&self->stub, (cxr_dim3){2, 1, 1}, (cxr_dim3){WORDS / 2, 1, 1},
                            arguments, 0, stream);
}

static inline cxr_error code_launch_trap(code_add *self, CUstream stream)
{
    return cudaLaunchKernel(&self->trap_stub, (cxr_dim3){1, 1, 1}, (cxr_dim3){1, 1, 1}, NULL, 0,
                            stream);
}

#endif
