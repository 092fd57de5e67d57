#include "fit_check.h"

static const cx_fit_node *node_at(const cx_fit *fit, uint32_t index)
{
    return cx_fit_at(fit->store, index);
}

static bool are_to_be_joined(const cx_fit_node *node, uint32_t owner)
{
    if (node->state != CX_FIT_FREE)
        return false;
    return node->owner == owner || ((node->owner == 0 || owner == 0) &&
                                    node->owner != CX_FIT_NOWHERE && owner != CX_FIT_NOWHERE);
}

static const char *look_at_free(const cx_fit *fit, uint32_t index, uint32_t owner)
{
    const cx_fit_node *node = node_at(fit, index);
    if (node->state != CX_FIT_FREE)
        return "a node in a list is not free";
    if (node->owner != owner)
        return "a node is in another owner's list";
    if (node->units == 0)
        return "a free range is empty";
    if (node->after == 0)
        return NULL;
    const cx_fit_node *after = node_at(fit, node->after);
    if (after->before != index)
        return "neighbours disagree";
    if (after->offset_units != node->offset_units + node->units)
        return "there is a gap, or an overlap";
    return are_to_be_joined(after, owner) ? "two free ranges are not joined" : NULL;
}

static bool check_lists(const cx_fit *fit, uint32_t owner, uint64_t *free_units,
                        const char **out_wrong)
{
    uint64_t units = 0;
    const cx_fit_bins *bins = owner == CX_FIT_NOWHERE  ? fit->nowhere
                              : owner < fit->owner_limit ? fit->bins[owner]
                                                         : NULL;
    for (uint32_t index = cx_fit_next_free(fit, owner, 0); index != 0;
         index = cx_fit_next_free(fit, owner, index)) {
        *out_wrong = look_at_free(fit, index, owner);
        if (*out_wrong != NULL)
            return false;
        units += node_at(fit, index)->units;
    }
    *free_units += units;
    *out_wrong = (bins != NULL ? bins->units : 0) != units ? "free units are miscounted" : NULL;
    return *out_wrong == NULL;
}

static bool check_node(const cx_fit *fit, uint32_t index, uint64_t *taken_units,
                       const char **out_wrong)
{
    const cx_fit_node *node = node_at(fit, index);
    *out_wrong = NULL;
    if (node->state == CX_FIT_UNUSED || node->state == CX_FIT_GONE)
        return true;
    if (node->state == CX_FIT_TAKEN)
        *taken_units += node->units;
    if (node->before == 0 && node->offset_units != 0)
        *out_wrong = "the first range of a segment does not begin at 0";
    if (node->before != 0 && node_at(fit, node->before)->after != index)
        *out_wrong = "neighbours disagree";
    return *out_wrong == NULL;
}

bool fit_check(const cx_fit *fit, const char **out_wrong)
{
    uint64_t units = 0;
    for (uint32_t owner = 0; owner < fit->owner_limit; owner++)
        if (!check_lists(fit, owner, &units, out_wrong))
            return false;
    if (!check_lists(fit, CX_FIT_NOWHERE, &units, out_wrong))
        return false;
    for (uint32_t chunk = fit->chunks; chunk != 0;
         chunk = node_at(fit, (chunk - 1) << CX_FIT_CHUNK_BITS)->next)
        for (uint32_t i = 1; i < CX_FIT_CHUNK_NODES; i++)
            if (!check_node(fit, ((chunk - 1) << CX_FIT_CHUNK_BITS) + i, &units, out_wrong))
                return false;
    *out_wrong = units != fit->units ? "units are lost" : NULL;
    return *out_wrong == NULL;
}
