/* One instruction, for the active lanes of a group. */
#ifndef CX_PTX_STEP_H
#define CX_PTX_STEP_H

#include "ptx/lanes.h"
#include "ptx/warp.h"

typedef struct cx_ptx_step {
    cx_ptx_grid *grid;
    cx_ptx_block *block;
    cx_ptx_warp *warp;
    const cx_ptx_lanes *lanes;
    cx_ptx_rows rows; /* of the present function */
    uint32_t active;
    uint32_t unused; /* lanes whose registers nobody will read */
    bool whole;      /* all lanes but those are active */
    bool direct;     /* `whole`, and not `few` */
    bool few;        /* so few lanes are active that each computes by itself */
    bool single;
    cx_ptx_rows cells; /* of the single one */
} cx_ptx_step;

/* `lane` is each active lane in turn. */
#define CX_PTX_EACH_ACTIVE(run)                                                               \
    for (uint32_t left = (run)->active, lane; left && (lane = cx_ptx_first_lane(left), true); \
         left &= left - 1)

/* Does an instruction that goes on with the next one. False: a lane has failed. */
bool cx_ptx_step_do(cx_ptx_step *run, const cx_ptx_instruction *at);

/* The fields of cx_ptx_fault that say what an access to an object was to be. */
typedef struct cx_ptx_texture_fault {
    uint64_t handle;
    const char *object;
    bool writes, atomic;
    unsigned bytes;
    int32_t place[3];
    uint32_t extent[3];
} cx_ptx_texture_fault;

/* Does an instruction on textures or surfaces; step_texture.c. Not DONE: that lane has failed. */
cx_ptx_outcome cx_ptx_step_texture(const cx_ptx_step *run, const cx_ptx_instruction *at,
                                   uint32_t *out_lane, cx_ptx_texture_fault *out_fault);

/* Does an atomic operation, or one on a barrier in memory; step_atomic.c. False: a lane has
 * failed. */
bool cx_ptx_step_atomic(const cx_ptx_step *run, const cx_ptx_instruction *at);

/* Does a joint operation of the active lanes if they are all that it needs; step_joint.c. */
bool cx_ptx_join_at_once(const cx_ptx_step *run, const cx_ptx_instruction *at);

#endif
