/* Special registers: %tid and the like. */
#include "ptx/cluster.h"
#include "ptx/parser.h"

#include <string.h>

/* A register with three components has .x, .y or .z behind its name. */
typedef enum special_form { WHOLE, COMPONENTS, NUMBERED } special_form;

static const struct {
    const char *text;
    uint32_t slot;
    special_form form;
} fixed[] = {
    {"%tid", CX_PTX_SLOT_TID, COMPONENTS},
    {"%ntid", CX_PTX_SLOT_NTID, COMPONENTS},
    {"%ctaid", CX_PTX_SLOT_CTAID, COMPONENTS},
    {"%nctaid", CX_PTX_SLOT_NCTAID, COMPONENTS},
    {"%laneid", CX_PTX_SLOT_LANEID, WHOLE},
    {"%warpid", CX_PTX_SLOT_WARPID, WHOLE},
    {"%nwarpid", CX_PTX_SLOT_NWARPID, WHOLE},
    {"%smid", CX_PTX_SLOT_SMID, WHOLE},
    {"%nsmid", CX_PTX_SLOT_NSMID, WHOLE},
    {"%gridid", CX_PTX_SLOT_ZERO, WHOLE},
    {"%lanemask_eq", CX_PTX_SLOT_LANEMASK_EQ, WHOLE},
    {"%lanemask_le", CX_PTX_SLOT_LANEMASK_LE, WHOLE},
    {"%lanemask_lt", CX_PTX_SLOT_LANEMASK_LT, WHOLE},
    {"%lanemask_ge", CX_PTX_SLOT_LANEMASK_GE, WHOLE},
    {"%lanemask_gt", CX_PTX_SLOT_LANEMASK_GT, WHOLE},
    {"%dynamic_smem_size", CX_PTX_SLOT_DYNAMIC_BYTES, WHOLE},
    {"%total_smem_size", CX_PTX_SLOT_SHARED_BYTES, WHOLE},
    {"%aggr_smem_size", CX_PTX_SLOT_SHARED_BYTES, WHOLE},
    {"%reserved_smem_offset_begin", CX_PTX_SLOT_ZERO, WHOLE},
    {"%reserved_smem_offset_end", CX_PTX_SLOT_ZERO, WHOLE},
    {"%reserved_smem_offset_cap", CX_PTX_SLOT_ZERO, WHOLE},
    {"%reserved_smem_offset_", CX_PTX_SLOT_ZERO, NUMBERED},
    {"%current_graph_exec", CX_PTX_SLOT_ZERO, WHOLE},
    {"%envreg1", CX_PTX_SLOT_WORKSPACE_HIGH, WHOLE},
    {"%envreg2", CX_PTX_SLOT_WORKSPACE_LOW, WHOLE},
    {"%envreg", CX_PTX_SLOT_ZERO, NUMBERED},
    {"%pm", CX_PTX_SLOT_ZERO, NUMBERED},
};

static const struct {
    const char *text;
    cx_ptx_op op;
    cx_ptx_type type;
    uint8_t mode;
} changing[] = {
    {"%clock", CX_PTX_CLOCK_32, CX_PTX_U32, 0},
    {"%clock_hi", CX_PTX_CLOCK_HIGH, CX_PTX_U32, 0},
    {"%clock64", CX_PTX_CLOCK_64, CX_PTX_U64, 0},
    {"%globaltimer", CX_PTX_TIMER, CX_PTX_U64, 0},
    {"%globaltimer_lo", CX_PTX_CLOCK_32, CX_PTX_U32, 0},
    {"%globaltimer_hi", CX_PTX_CLOCK_HIGH, CX_PTX_U32, 0},
    {"%clusterid.x", CX_PTX_CLUSTER_REGISTER, CX_PTX_U32, CX_PTX_CLUSTER_INDEX},
    {"%clusterid.y", CX_PTX_CLUSTER_REGISTER, CX_PTX_U32, CX_PTX_CLUSTER_INDEX + 1},
    {"%clusterid.z", CX_PTX_CLUSTER_REGISTER, CX_PTX_U32, CX_PTX_CLUSTER_INDEX + 2},
    {"%nclusterid.x", CX_PTX_CLUSTER_REGISTER, CX_PTX_U32, CX_PTX_CLUSTER_GRID},
    {"%nclusterid.y", CX_PTX_CLUSTER_REGISTER, CX_PTX_U32, CX_PTX_CLUSTER_GRID + 1},
    {"%nclusterid.z", CX_PTX_CLUSTER_REGISTER, CX_PTX_U32, CX_PTX_CLUSTER_GRID + 2},
    {"%cluster_ctaid.x", CX_PTX_CLUSTER_REGISTER, CX_PTX_U32, CX_PTX_CLUSTER_BLOCK},
    {"%cluster_ctaid.y", CX_PTX_CLUSTER_REGISTER, CX_PTX_U32, CX_PTX_CLUSTER_BLOCK + 1},
    {"%cluster_ctaid.z", CX_PTX_CLUSTER_REGISTER, CX_PTX_U32, CX_PTX_CLUSTER_BLOCK + 2},
    {"%cluster_nctaid.x", CX_PTX_CLUSTER_REGISTER, CX_PTX_U32, CX_PTX_CLUSTER_SIZE},
    {"%cluster_nctaid.y", CX_PTX_CLUSTER_REGISTER, CX_PTX_U32, CX_PTX_CLUSTER_SIZE + 1},
    {"%cluster_nctaid.z", CX_PTX_CLUSTER_REGISTER, CX_PTX_U32, CX_PTX_CLUSTER_SIZE + 2},
    {"%cluster_ctarank", CX_PTX_CLUSTER_REGISTER, CX_PTX_U32, CX_PTX_CLUSTER_RANK},
    {"%cluster_nctarank", CX_PTX_CLUSTER_REGISTER, CX_PTX_U32, CX_PTX_CLUSTER_BLOCKS},
    {"%is_explicit_cluster", CX_PTX_CLUSTER_REGISTER, CX_PTX_PRED, CX_PTX_CLUSTER_EXPLICIT},
};

static bool is_fixed(const cx_ptx_token *token, size_t row, uint32_t *out_slot)
{
    size_t length = strlen(fixed[row].text), rest;
    const char *behind = token->text + length;

    if (token->length < length || memcmp(token->text, fixed[row].text, length) != 0)
        return false;
    rest = token->length - length;
    *out_slot = fixed[row].slot;
    switch (fixed[row].form) {
    case WHOLE:
        return rest == 0;
    case NUMBERED:
        return cx_ptx_is_digits(behind, rest) ||
               (rest > 3 && memcmp(behind + rest - 3, "_64", 3) == 0);
    default:
        if (rest != 2 || behind[0] != '.' || behind[1] < 'x' || behind[1] > 'z')
            return false;
        if (fixed[row].form == COMPONENTS)
            *out_slot += (uint32_t)(behind[1] - 'x');
        return true;
    }
}

bool cx_ptx_find_special(const cx_ptx_token *token, cx_ptx_operand *out)
{
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
        if (!is_fixed(token, i, &out->slot))
            continue;
        out->kind = CX_PTX_OPERAND_REGISTER;
        out->type = CX_PTX_U32;
        return true;
    }
    for (size_t i = 0; i < sizeof changing / sizeof changing[0]; i++) {
        if (!cx_ptx_token_is(token, changing[i].text))
            continue;
        out->kind = CX_PTX_OPERAND_SPECIAL;
        out->type = changing[i].type;
        out->special = changing[i].op;
        out->special_mode = changing[i].mode;
        return true;
    }
    return false;
}

bool cx_ptx_find_special_vector(const cx_ptx_token *token, cx_ptx_operand *out)
{
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
        if (fixed[i].form != COMPONENTS || !cx_ptx_token_is(token, fixed[i].text))
            continue;
        out->kind = CX_PTX_OPERAND_VECTOR;
        for (out->count = 0; out->count < 4; out->count++) {
            out->parts[out->count] =
                out->count < 3 ? fixed[i].slot + out->count : (uint32_t)CX_PTX_SLOT_ZERO;
            out->part_types[out->count] = CX_PTX_U32;
        }
        return true;
    }
    return false;
}
