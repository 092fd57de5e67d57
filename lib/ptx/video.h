/* Video instructions: vadd4.u32.s32.u32.sat and its like. */
#ifndef CX_PTX_VIDEO_H
#define CX_PTX_VIDEO_H

#include "ptx/parser.h"

typedef enum cx_ptx_video_op {
    CX_PTX_VIDEO_ADD,
    CX_PTX_VIDEO_SUB,
    CX_PTX_VIDEO_DISTANCE,
    CX_PTX_VIDEO_MIN,
    CX_PTX_VIDEO_MAX,
    CX_PTX_VIDEO_AVERAGE,
    CX_PTX_VIDEO_SHIFT_LEFT, /* the amount is at most 32 */
    CX_PTX_VIDEO_SHIFT_RIGHT,
    CX_PTX_VIDEO_MULTIPLY, /* vmad */
    CX_PTX_VIDEO_EQ,
    CX_PTX_VIDEO_NE,
    CX_PTX_VIDEO_LT,
    CX_PTX_VIDEO_LE,
    CX_PTX_VIDEO_GT,
    CX_PTX_VIDEO_GE
} cx_ptx_video_op;

/* An operation of the result and the third operand. */
typedef enum cx_ptx_video_second {
    CX_PTX_VIDEO_NOTHING,
    CX_PTX_VIDEO_SUM,
    CX_PTX_VIDEO_LEAST,
    CX_PTX_VIDEO_MOST
} cx_ptx_video_second;

/* The immediate value of CX_PTX_VIDEO. */
typedef struct cx_ptx_video {
    uint8_t op, second;
    uint8_t parts; /* 1, 2 or 4 */
    bool d_signed, a_signed, b_signed;
    bool saturated;
    uint8_t extra; /* one part: bits of the result, or of vmad cx_ptx_video_product; several: those
                    * that are summed up */
} cx_ptx_video;

/* Flags of vmad, above the bits that the sum is shifted by. */
enum {
    CX_PTX_VIDEO_SHIFT_MASK = 15,
    CX_PTX_VIDEO_PLUS_ONE = 16,
    CX_PTX_VIDEO_MINUS_PRODUCT = 32,
    CX_PTX_VIDEO_MINUS_SUMMAND = 64
};

_Static_assert(sizeof(cx_ptx_video) == sizeof(int64_t), "it fills the immediate value");

uint32_t cx_ptx_video_do(const cx_ptx_video *what, uint32_t a, uint32_t b, uint32_t c);

#endif
