/*
 * The code of kernels that scenarios load: our own PTX, and the names of its kernels and variables.
 */
#ifndef CX_PLAY_CODE_H
#define CX_PLAY_CODE_H

#include "play/kind.h"

/* Code that module.load and library.load load: the words CODE. */
typedef enum cx_code {
    CX_CODE_NULL, /* a NULL pointer */
    CX_CODE_KERNELS,
    CX_CODE_EMPTY,
    CX_CODE_BROKEN,    /* it ends in the middle of a kernel */
    CX_CODE_NEWER,     /* of a PTX version that does not exist yet */
    CX_CODE_ABOVE,     /* for a compute capability that no device has */
    CX_CODE_NOTHING,   /* no image at all: an empty text */
    CX_CODE_NOISE,     /* bytes that are no image of any kind */
    CX_CODE_MACHINE,   /* the beginning of machine code */
    CX_CODE_TEXTURE,   /* a texture reference */
    CX_CODE_FAT,       /* a fat binary with the PTX of `fill` */
    CX_CODE_NATIVE,    /* one with machine code only */
    CX_CODE_LZ4,       /* one whose PTX is compressed */
    CX_CODE_ZSTD,      /* one whose PTX is compressed by LZ4 */
    CX_CODE_MISPACKED, /* says that it is compressed, but is not */
    CX_CODE_CUT,       /* one that ends in the middle of its code */
    CX_CODE_HOLLOW,    /* one with nothing in it */
    CX_CODE_WRAPPED,   /* the same as compilers put it into programs */
    CX_CODE_LATEST,    /* empty, behind blank lines: the embedded driver's latest PTX and last
                        * device */
    CX_CODE_LATER,     /* a later PTX version than that */
    CX_CODE_BEYOND,    /* a device beyond the last one */
    CX_CODE_UNRESOLVED, /* its kernel `bare` calls a function that is defined nowhere */
    CX_CODE_PRINTING,   /* `bare` might print */
    CX_CODE_ALLOCATING, /* `bare` might call malloc */
    CX_CODE_COUNT
} cx_code;

/*
 * Names in CX_CODE_KERNELS: the words CODE_NAME. All kernels but one have the parameters
 * (u64 to, u64 from, u32 value, u64 bytes), and all but two take any grid.
 */
typedef enum cx_code_name {
    CX_CODE_NAME_NULL,  /* a NULL pointer */
    CX_CODE_NAME_FILL,  /* the value is added to each byte at `to` */
    CX_CODE_NAME_ADD,   /* each byte at `from` is copied to `to` */
    CX_CODE_NAME_COPY,  /* each byte at `to` becomes that at `from` */
    CX_CODE_NAME_WAIT,  /* waits until the 32 bits at `to` are the value */
    CX_CODE_NAME_COUNT, /* each thread adds the value to the variable `total` */
    CX_CODE_NAME_FEW,   /* as fill, with at most 32 threads in a block */
    CX_CODE_NAME_BARE,  /* has no parameters, and does nothing */
    CX_CODE_NAME_EXACT, /* as fill, with 8 by 4 threads in a block */
    CX_CODE_NAME_ROOM,  /* as fill, with 40 KiB of shared memory */
    CX_CODE_NAME_BROAD, /* as fill, with 100 registers more */
    CX_CODE_NAME_TRAP,
    CX_CODE_NAME_ASSERT,
    CX_CODE_NAME_TOTAL,  /* a variable of 32 bits, 0 at first */
    CX_CODE_NAME_SEVENS, /* one of 64 bits: eight bytes of 7 */
    CX_CODE_NAME_NOBODY, /* a name that does not exist */
    CX_CODE_NAME_ALL
} cx_code_name;

/* The image of a code, and a name; NULL for _NULL and for a number that is none. */
const char *cx_code_text(int code);
const char *cx_code_name_text(int name);

/* The number of a name; CX_CODE_NAME_NOBODY for one that is not in the code. */
int cx_code_name_of(const char *text);

#endif
