/* Hazards that are told. */
#include "ptx/shadow_state.h"

bool cx_ptx_shadow_is_new(cx_ptx_shadow *shadow, cx_ptx_hazard_kind kind, uint32_t first,
                          uint32_t second)
{
    if (first > second) {
        const uint32_t swapped = first;

        first = second;
        second = swapped;
    }
    for (unsigned i = 0; i < shadow->told_count; i++) {
        const cx_ptx_shadow_key *key = &shadow->told[i];

        if (key->kind == kind && key->first == first && key->second == second)
            return false;
    }
    if (shadow->told_count == CX_PTX_SHADOW_TOLD)
        return false;
    shadow->told[shadow->told_count++] = (cx_ptx_shadow_key){kind, first, second};
    return true;
}

cx_ptx_hazard_side cx_ptx_shadow_side_of(const cx_ptx_grid *grid, const uint32_t block[3],
                                         uint32_t thread, uint32_t code)
{
    const uint32_t *size = grid->launch->block;
    cx_ptx_hazard_side side = {
        .block = {block[0], block[1], block[2]},
        .thread = {thread % size[0], thread / size[0] % size[1], thread / size[0] / size[1]},
        .line = grid->module->code[code].line};

    side.source = cx_ptx_source_of(grid->module, code, &side.source_line);
    return side;
}

void cx_ptx_shadow_tell(const cx_ptx_grid *grid, const cx_ptx_hazard *hazard)
{
    cx_ptx_hazard told = *hazard;

    told.kernel = grid->kernel->name;
    grid->environment->hazard(grid->environment->self, &told);
}
