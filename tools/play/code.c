#include "play/code.h"

#include <string.h>

#define HEAD ".version 6.0\n.target sm_50\n.address_size 64\n"

#define PARAMETERS \
    "(.param .u64 to, .param .u64 from, .param .u32 value, .param .u64 bytes)\n"

/* The thread's part of the work, from %at in steps of %step, up to %bytes: none, except for the
 * first threads and blocks of y and z. */
#define BEGIN                               \
    "{\n"                                   \
    "    .reg .pred %done;\n"               \
    "    .reg .b32 %value, %old, %r<4>;\n"  \
    "    .reg .b64 %to, %from, %bytes, %at, %step, %address;\n" \
    "    ld.param.u64 %to, [to];\n"         \
    "    ld.param.u64 %from, [from];\n"     \
    "    ld.param.u32 %value, [value];\n"   \
    "    ld.param.u64 %bytes, [bytes];\n"   \
    "    mov.u32 %r1, %ctaid.y;\n"          \
    "    mov.u32 %r2, %ctaid.z;\n"          \
    "    or.b32 %r1, %r1, %r2;\n"           \
    "    mov.u32 %r2, %tid.y;\n"            \
    "    or.b32 %r1, %r1, %r2;\n"           \
    "    mov.u32 %r2, %tid.z;\n"            \
    "    or.b32 %r1, %r1, %r2;\n"           \
    "    setp.ne.u32 %done, %r1, 0;\n"      \
    "    @%done bra DONE;\n"                \
    "    mov.u32 %r1, %ctaid.x;\n"          \
    "    mov.u32 %r2, %ntid.x;\n"           \
    "    mov.u32 %r3, %tid.x;\n"            \
    "    mad.lo.u32 %r3, %r1, %r2, %r3;\n"  \
    "    cvt.u64.u32 %at, %r3;\n"           \
    "    mov.u32 %r1, %nctaid.x;\n"         \
    "    mul.wide.u32 %step, %r1, %r2;\n"   \
    "AGAIN:\n"                              \
    "    setp.ge.u64 %done, %at, %bytes;\n" \
    "    @%done bra DONE;\n"                \
    "    add.u64 %address, %to, %at;\n"

#define END                              \
    "    st.global.u8 [%address], %value;\n" \
    "    add.u64 %at, %at, %step;\n"     \
    "    bra.uni AGAIN;\n"               \
    "DONE:\n"                            \
    "    ret;\n"                         \
    "}\n"

#define FILL ".visible .entry fill" PARAMETERS BEGIN END

#define ADD                                 \
    ".visible .entry add" PARAMETERS BEGIN  \
    "    ld.global.u8 %old, [%address];\n"  \
    "    ld.param.u32 %value, [value];\n"   \
    "    add.u32 %value, %value, %old;\n" END

#define COPY                                \
    ".visible .entry copy" PARAMETERS BEGIN \
    "    add.u64 %from, %from, %at;\n"      \
    "    ld.global.u8 %value, [%from];\n"   \
    "    ld.param.u64 %from, [from];\n" END

#define FEW ".visible .entry few" PARAMETERS ".maxntid 32, 1, 1\n" BEGIN END

#define EXACT ".visible .entry exact" PARAMETERS ".reqntid 8, 4, 1\n" BEGIN END

#define ROOM                                                       \
    ".visible .entry room" PARAMETERS BEGIN                        \
    "    .shared .align 4 .b8 space[40960];\n"                     \
    "    .reg .b32 %there;\n    mov.u32 %there, space;\n"          \
    "    st.shared.u8 [%there], %value;\n" END

#define TEN(line, tens)                                                                         \
    line(tens "0") line(tens "1") line(tens "2") line(tens "3") line(tens "4") line(tens "5")   \
    line(tens "6") line(tens "7") line(tens "8") line(tens "9")

#define HUNDRED(line)                                                                           \
    TEN(line, "0") TEN(line, "1") TEN(line, "2") TEN(line, "3") TEN(line, "4") TEN(line, "5")   \
    TEN(line, "6") TEN(line, "7") TEN(line, "8") TEN(line, "9")

#define WRITE_ONE(number) "    mov.u32 %broad" number ", %clock;\n"
#define DECLARE_ONE(number) "    .reg .b32 %broad" number ";\n"
#define READ_ONE(number) "    or.b32 %old, %old, %broad" number ";\n"

/* All hundred are live at once. */
#define BROAD                                                                         \
    ".visible .entry broad" PARAMETERS BEGIN HUNDRED(DECLARE_ONE) HUNDRED(WRITE_ONE)  \
    "    mov.u32 %old, 0;\n" HUNDRED(READ_ONE) "    shr.u32 %old, %old, 31;\n"        \
    "    shr.u32 %old, %old, 1;\n    add.u32 %value, %value, %old;\n" END

#define BARE ".visible .entry bare()\n{\n    ret;\n}\n"

#define SEVENS ".visible .global .align 8 .u64 sevens = 506381209866536711;\n"

#define WAIT                                    \
    ".visible .entry wait" PARAMETERS           \
    "{\n"                                       \
    "    .reg .pred %p;\n"                      \
    "    .reg .b32 %value, %found;\n"           \
    "    .reg .b64 %to;\n"                      \
    "    ld.param.u64 %to, [to];\n"             \
    "    ld.param.u32 %value, [value];\n"       \
    "AGAIN:\n"                                  \
    "    ld.volatile.global.u32 %found, [%to];\n" \
    "    setp.ne.u32 %p, %found, %value;\n"     \
    "    @%p bra AGAIN;\n"                      \
    "    ret;\n"                                \
    "}\n"

#define COUNT                                      \
    ".visible .global .align 4 .u32 total = 0;\n"  \
    ".visible .entry count" PARAMETERS             \
    "{\n"                                          \
    "    .reg .b32 %value;\n"                      \
    "    .reg .b64 %total;\n"                      \
    "    ld.param.u32 %value, [value];\n"          \
    "    mov.u64 %total, total;\n"                 \
    "    red.global.add.u32 [%total], %value;\n"   \
    "    ret;\n"                                   \
    "}\n"

/* A kernel without parameters whose call no thread gets to. */
#define NEVER(declaration, call)                                                    \
    ".extern .func " declaration ";\n.visible .entry bare()\n{\n"                   \
    "    .reg .pred %p;\n    .reg .b32 %r;\n    .param .b32 word;\n"                \
    "    .param .b64 first;\n    .param .b64 second;\n"                             \
    "    mov.u32 %r, %tid.x;\n    setp.lt.u32 %p, %r, 2048;\n    @%p bra DONE;\n"   \
    "    st.param.b64 [first+0], 0;\n    st.param.b64 [second+0], 0;\n"             \
    "    call.uni " call ";\nDONE:\n    ret;\n}\n"

#define TRAP ".visible .entry trap" PARAMETERS "{\n    trap;\n}\n"

#define ASSERT                                                                     \
    ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c,\n"    \
    "                           .param .b64 d, .param .b64 e);\n"                  \
    ".global .align 1 .b8 what[8] = {110, 101, 118, 101, 114};\n"                  \
    ".visible .entry assert" PARAMETERS                                            \
    "{\n"                                                                          \
    "    .reg .b64 %text;\n"                                                       \
    "    .param .b64 p0;\n    .param .b64 p1;\n    .param .b32 p2;\n"              \
    "    .param .b64 p3;\n    .param .b64 p4;\n"                                   \
    "    mov.u64 %text, what;\n"                                                   \
    "    cvta.global.u64 %text, %text;\n"                                          \
    "    st.param.b64 [p0+0], %text;\n    st.param.b64 [p1+0], %text;\n"           \
    "    st.param.b32 [p2+0], 1;\n    st.param.b64 [p3+0], %text;\n"               \
    "    st.param.b64 [p4+0], 1;\n"                                                \
    "    call.uni __assertfail, (p0, p1, p2, p3, p4);\n"                           \
    "    ret;\n"                                                                   \
    "}\n"

/* A fat binary: a header, and a header before each image in it. */
struct heads {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes; /* behind this */
    uint16_t kind, entry_version;
    uint32_t entry_header_bytes;
    uint64_t entry_bytes;
    uint32_t packed_bytes, unused;
    uint16_t minor, major;
    uint32_t architecture, name_offset, name_bytes;
    uint64_t flags, unused_too, unpacked_bytes;
};

struct fat {
    struct heads heads;
    char text[sizeof HEAD FILL];
};

_Static_assert(offsetof(struct fat, text) == 16 + 64, "two headers, and the code");

/* "Packed" text is stored as it is, marked as literal. It ends with zeroes. */
#define PACKED_TEXT_BYTES (15 + 4 * 255)
_Static_assert(sizeof HEAD FILL <= PACKED_TEXT_BYTES, "the text fits");

struct fat_lz4 {
    struct heads heads;
    unsigned char literals[1 + 5]; /* their number: 15, plus these */
    char text[PACKED_TEXT_BYTES];
    char padding[7];
};

struct fat_zstd {
    struct heads heads;
    unsigned char magic[4], sizes[1 + 4]; /* of the frame, and of its contents: four bytes */
    unsigned char block[3];               /* the last, as it is: its size << 3 | 1 */
    char text[PACKED_TEXT_BYTES];
    char padding;
};

#define HEADS(of_kind, all_bytes, its_bytes, its_packed_bytes, its_flags)                    \
    {                                                                                        \
        .magic = 0xba55ed50, .version = 1, .header_bytes = 16, .bytes = (all_bytes),         \
        .kind = (of_kind), .entry_version = 0x0101, .entry_header_bytes = 64,                \
        .entry_bytes = (its_bytes), .packed_bytes = (its_packed_bytes), .major = 6,          \
        .architecture = 50, .flags = (its_flags),                                            \
        .unpacked_bytes = (its_packed_bytes) != 0 ? PACKED_TEXT_BYTES : 0                    \
    }
#define ALL_BYTES (sizeof(struct fat) - 16)
#define ITS_BYTES (sizeof(struct fat) - 80)
enum { KIND_PTX = 1, KIND_MACHINE = 2, PACKED_LZ4 = 0x2000, PACKED_ZSTD = 0x8000 };

static const struct fat fat = {HEADS(KIND_PTX, ALL_BYTES, ITS_BYTES, 0, 0), HEAD FILL};
static const struct fat native = {HEADS(KIND_MACHINE, ALL_BYTES, ITS_BYTES, 0, 0), HEAD FILL};
static const struct fat cut = {HEADS(KIND_PTX, ALL_BYTES, ITS_BYTES + 1, 0, 0), HEAD FILL};
static const struct fat bare = {HEADS(KIND_PTX, 0, ITS_BYTES, 0, 0), HEAD FILL};
static const struct fat mispacked = {HEADS(KIND_PTX, ALL_BYTES, ITS_BYTES, ITS_BYTES, PACKED_LZ4),
                                     HEAD FILL};

static const struct fat_lz4 lz4 = {
    .heads = HEADS(KIND_PTX, sizeof lz4 - 16, sizeof lz4 - 80, sizeof lz4 - 80 - 7, PACKED_LZ4),
    .literals = {15 << 4, 255, 255, 255, 255, 0},
    .text = HEAD FILL,
};

static const struct fat_zstd zstd = {
    .heads = HEADS(KIND_PTX, sizeof zstd - 16, sizeof zstd - 80, sizeof zstd - 80 - 1, PACKED_ZSTD),
    .magic = {0x28, 0xb5, 0x2f, 0xfd},
    .sizes = {0xa0, PACKED_TEXT_BYTES & 255, PACKED_TEXT_BYTES >> 8, 0, 0},
    .block = {(PACKED_TEXT_BYTES << 3 | 1) & 255, PACKED_TEXT_BYTES >> 5, 0},
    .text = HEAD FILL,
};

static const struct wrapped {
    uint32_t magic, version;
    const void *content, *unused;
} wrapped = {0x466243b1, 1, &fat, NULL};

static const char *const texts[CX_CODE_COUNT] = {
    [CX_CODE_KERNELS] = HEAD FILL ADD COPY FEW EXACT ROOM BROAD BARE WAIT COUNT SEVENS TRAP ASSERT,
    [CX_CODE_EMPTY] = HEAD,
    [CX_CODE_BROKEN] = HEAD ".visible .entry fill" PARAMETERS BEGIN,
    [CX_CODE_NEWER] = ".version 99.0\n.target sm_50\n.address_size 64\n",
    [CX_CODE_ABOVE] = ".version 6.0\n.target sm_999\n.address_size 64\n",
    [CX_CODE_NOTHING] = "",
    [CX_CODE_NOISE] = "\1\2\3",
    [CX_CODE_MACHINE] = "\177ELF",
    [CX_CODE_TEXTURE] = HEAD ".global .texref reference;\n.visible .entry fill()\n{\n"
                             "    .reg .b32 %r<6>;\n"
                             "    tex.1d.v4.s32.s32 {%r0, %r1, %r2, %r3}, [reference, {%r4}];\n}\n",
    [CX_CODE_FAT] = (const char *)&fat,
    [CX_CODE_NATIVE] = (const char *)&native,
    [CX_CODE_LZ4] = (const char *)&lz4,
    [CX_CODE_ZSTD] = (const char *)&zstd,
    [CX_CODE_MISPACKED] = (const char *)&mispacked,
    [CX_CODE_CUT] = (const char *)&cut,
    [CX_CODE_HOLLOW] = (const char *)&bare,
    [CX_CODE_WRAPPED] = (const char *)&wrapped,
    [CX_CODE_LATEST] = "\n\t .version 9.0\n.target sm_75\n.address_size 64\n",
    [CX_CODE_LATER] = ".version 9.1\n.target sm_75\n.address_size 64\n",
    [CX_CODE_BEYOND] = ".version 9.0\n.target sm_122\n.address_size 64\n",
    [CX_CODE_UNRESOLVED] = HEAD NEVER("(.param .b32 r) elsewhere(.param .b64 a, .param .b64 b)",
                                      "(word), elsewhere, (first, second)"),
    [CX_CODE_PRINTING] = HEAD NEVER("(.param .b32 r) vprintf(.param .b64 a, .param .b64 b)",
                                    "(word), vprintf, (first, second)"),
    [CX_CODE_ALLOCATING] = HEAD NEVER("(.param .b64 r) malloc(.param .b64 a)",
                                      "(second), malloc, (first)"),
};

static const char *const names[CX_CODE_NAME_ALL] = {
    [CX_CODE_NAME_FILL] = "fill",     [CX_CODE_NAME_ADD] = "add",
    [CX_CODE_NAME_COPY] = "copy",     [CX_CODE_NAME_WAIT] = "wait",
    [CX_CODE_NAME_COUNT] = "count",   [CX_CODE_NAME_FEW] = "few",
    [CX_CODE_NAME_BARE] = "bare",     [CX_CODE_NAME_EXACT] = "exact",
    [CX_CODE_NAME_ROOM] = "room",     [CX_CODE_NAME_BROAD] = "broad",
    [CX_CODE_NAME_TRAP] = "trap",     [CX_CODE_NAME_ASSERT] = "assert",
    [CX_CODE_NAME_TOTAL] = "total",   [CX_CODE_NAME_SEVENS] = "sevens",
    [CX_CODE_NAME_NOBODY] = "nobody",
};

const char *cx_code_text(int code)
{
    return code >= 0 && code < CX_CODE_COUNT ? texts[code] : NULL;
}

const char *cx_code_name_text(int name)
{
    return name >= 0 && name < CX_CODE_NAME_ALL ? names[name] : NULL;
}

int cx_code_name_of(const char *text)
{
    for (int i = 1; i < CX_CODE_NAME_ALL; i++)
        if (strcmp(names[i], text) == 0)
            return i;
    return CX_CODE_NAME_NOBODY;
}
