/* Where lanes of a warp are: for faults, and for the shadow of a grid. */
#include "ptx/warp.h"

const cx_ptx_instruction *cx_ptx_warp_place_of(const cx_ptx_warp *warp, uint32_t lane)
{
    for (uint32_t i = 0; i < warp->count; i++)
        if (warp->groups[i].blocked && warp->groups[i].mask >> lane & 1)
            return warp->groups[i].next;
    for (uint32_t i = 0; i < CX_PTX_WARP_SIZE; i++)
        if (warp->joins[i].expected && warp->joins[i].arrived >> lane & 1)
            return warp->joins[i].next;
    return warp->lanes[lane].next;
}
