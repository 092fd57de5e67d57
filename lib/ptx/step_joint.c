/* Joint operations of lanes that are all there: the frequent ones, without a detour. */
#include "ptx/matrix.h"
#include "ptx/step.h"

static bool shuffle(const cx_ptx_step *run, const cx_ptx_instruction *at)
{
    if (cx_ptx_is_long(at->a) || cx_ptx_is_long(at->b) || cx_ptx_is_long(at->c) ||
        cx_ptx_is_long(at->d))
        return false;
    run->lanes->shuffle((cx_ptx_warp_mode)at->mode, cx_ptx_row(&run->rows, at->b),
                        cx_ptx_row(&run->rows, at->c), cx_ptx_row(&run->rows, at->a), run->active,
                        cx_ptx_row(&run->rows, at->d),
                        at->site != UINT32_MAX ? cx_ptx_row(&run->rows, at->site) : NULL);
    return true;
}

static bool vote(const cx_ptx_step *run, const cx_ptx_instruction *at)
{
    cx_ptx_word *d = cx_ptx_row(&run->rows, at->d);
    uint32_t votes, result;

    if (cx_ptx_is_long(at->a) || cx_ptx_is_long(at->d))
        return false;
    votes = run->lanes->truths(cx_ptx_row(&run->rows, at->a)) & run->active;
    switch ((cx_ptx_warp_mode)at->mode) {
    case CX_PTX_WARP_ALL:
        result = votes == run->active;
        break;
    case CX_PTX_WARP_ANY:
        result = votes != 0;
        break;
    case CX_PTX_WARP_UNIFORM:
        result = votes == run->active || votes == 0;
        break;
    default:
        result = votes;
    }
    for (uint32_t left = run->active; left; left &= left - 1)
        d[__builtin_ctz(left)] = result;
    return true;
}

/* Each active lane's mask names all of these lanes. */
static bool masks_name(const cx_ptx_step *run, uint32_t place, uint32_t lanes)
{
    const cx_ptx_word *masks;

    if (cx_ptx_is_long(place))
        return false;
    masks = cx_ptx_row(&run->rows, place);
    if (cx_ptx_is_uniform(place))
        return !(lanes & ~masks[0]);
    return !(lanes & ~run->lanes->common(masks, run->active));
}

bool cx_ptx_join_at_once(const cx_ptx_step *run, const cx_ptx_instruction *at)
{
    uint32_t live = run->warp->all & ~run->warp->ended;

    /* The masks name all lanes that are left, and the group is all of them. */
    if (run->warp->independent || run->active != live ||
        (at->op == CX_PTX_WARP && at->size && live != UINT32_MAX) || !masks_name(run, at->e, live))
        return false;
    if (at->op == CX_PTX_MATRIX) {
        cx_ptx_matrix_do(run->grid, run->block, run->warp->lanes, &run->rows, run->active, at);
        return true;
    }
    switch ((cx_ptx_warp_mode)at->mode) {
    case CX_PTX_WARP_SYNC:
        return true;
    case CX_PTX_WARP_SHUFFLE_UP:
    case CX_PTX_WARP_SHUFFLE_DOWN:
    case CX_PTX_WARP_SHUFFLE_BUTTERFLY:
    case CX_PTX_WARP_SHUFFLE_INDEX:
        return shuffle(run, at);
    case CX_PTX_WARP_ALL:
    case CX_PTX_WARP_ANY:
    case CX_PTX_WARP_UNIFORM:
    case CX_PTX_WARP_BALLOT:
        return vote(run, at);
    default:
        return false;
    }
}
