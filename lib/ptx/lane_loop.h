/* A loop over the lanes of a warp, for code that is compiled for several processors. */
#ifndef CX_PTX_LANE_LOOP_H
#define CX_PTX_LANE_LOOP_H

#include "ptx/row.h"

/* A lane's result depends on the same lane's operands only: the rows may be the same, and no two
 * rows overlap otherwise. */
#ifdef __clang__
#define CX_PTX_NO_CARRIED _Pragma("clang loop vectorize(assume_safety)")
#else
#define CX_PTX_NO_CARRIED _Pragma("GCC ivdep")
#endif
#define EACH_LANE(lane) CX_PTX_NO_CARRIED for (int lane = 0; lane < CX_PTX_WARP_SIZE; lane++)

/* Names by processor. */
#ifndef CX_PTX_LANES_KIND
#define CX_PTX_LANES_KIND baseline /* or avx2, avx512 */
#endif
#define CX_PTX_JOIN_(a, b) a##b
#define CX_PTX_JOIN(a, b) CX_PTX_JOIN_(a, b)
#define CX_PTX_TEXT_(name) #name
#define CX_PTX_TEXT(name) CX_PTX_TEXT_(name)
#define CX_PTX_LANES CX_PTX_JOIN(cx_ptx_lanes_, CX_PTX_LANES_KIND)
#define CX_PTX_LANES_COMPUTE CX_PTX_JOIN(cx_ptx_compute_, CX_PTX_LANES_KIND)
#define CX_PTX_LANES_LOAD CX_PTX_JOIN(cx_ptx_load_, CX_PTX_LANES_KIND)
#define CX_PTX_LANES_STORE CX_PTX_JOIN(cx_ptx_store_, CX_PTX_LANES_KIND)
#define CX_PTX_LANES_REACH CX_PTX_JOIN(cx_ptx_reach_, CX_PTX_LANES_KIND)
#define CX_PTX_LANES_MULTIPLY CX_PTX_JOIN(cx_ptx_multiply_, CX_PTX_LANES_KIND)
#define CX_PTX_LANES_NAME CX_PTX_TEXT(CX_PTX_LANES_KIND)

#endif
