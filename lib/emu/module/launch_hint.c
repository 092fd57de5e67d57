#include "emu/module/launch_hint.h"

#include "emu/report/not_supported.h"

#include <string.h>

#define PERCENT_MAX 100

static const char *name_of(cxu_launch_attribute_id attribute)
{
    switch (attribute) {
    case CXU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        return "the access policy window of a launch";
    case CXU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        return "the cluster scheduling policy of a launch";
    case CXU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        return "the memory synchronization domain map of a launch";
    case CXU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        return "the memory synchronization domain of a launch";
    case CXU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
        return "the preferred cluster dimension of a launch";
    case CXU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        return "the preferred shared memory carveout of a launch";
    case CXU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
        return "the NVLink scheduling of a launch";
    default:
        return NULL;
    }
}

bool cx_emu_launch_is_hint(cxu_launch_attribute_id attribute)
{
    return name_of(attribute) != NULL;
}

static bool is_valid(cxu_launch_attribute_id attribute, const cxu_launch_attribute_value *value)
{
    switch (attribute) {
    case CXU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        return value->window.hit_ratio >= 0.0f && value->window.hit_ratio <= 1.0f;
    case CXU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        return value->number >= CXU_CLUSTER_SCHEDULING_POLICY_DEFAULT &&
               value->number <= CXU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING;
    case CXU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP: /* the device has one domain */
        return value->bytes[0] == 0 && value->bytes[1] == 0;
    case CXU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        return value->number >= CXU_SHAREDMEM_CARVEOUT_DEFAULT && value->number <= PERCENT_MAX;
    case CXU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CXU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
        return value->number == 0 || value->number == 1;
    default:
        return true;
    }
}

cxu_result cx_emu_launch_hint_set(cx_emu_launch_hints *hints, cxu_launch_attribute_id attribute,
                                  const cxu_launch_attribute_value *value)
{
    if (!cx_emu_launch_is_hint(attribute) || !is_valid(attribute, value))
        return CXU_INVALID_VALUE;
    cx_emu_has_no_effect(name_of(attribute));
    switch (attribute) {
    case CXU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        hints->window = value->window;
        break;
    case CXU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        hints->scheduling_policy = value->number;
        break;
    case CXU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        memcpy(hints->domain_map, value->bytes, sizeof hints->domain_map);
        break;
    case CXU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        hints->domain = value->number;
        break;
    case CXU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
        memcpy(hints->preferred_cluster, value->cluster, sizeof hints->preferred_cluster);
        break;
    case CXU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        hints->carveout_above = (signed char)(value->number + 1);
        break;
    default:
        hints->nvlink = value->number != 0;
        break;
    }
    return CXU_SUCCESS;
}

cxu_result cx_emu_launch_hint_get(const cx_emu_launch_hints *hints,
                                  cxu_launch_attribute_id attribute,
                                  cxu_launch_attribute_value *out_value)
{
    switch (attribute) {
    case CXU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        out_value->window = hints->window;
        return CXU_SUCCESS;
    case CXU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        out_value->number = hints->scheduling_policy;
        return CXU_SUCCESS;
    case CXU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        memcpy(out_value->bytes, hints->domain_map, sizeof hints->domain_map);
        return CXU_SUCCESS;
    case CXU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        out_value->number = hints->domain;
        return CXU_SUCCESS;
    case CXU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
        memcpy(out_value->cluster, hints->preferred_cluster, sizeof hints->preferred_cluster);
        return CXU_SUCCESS;
    case CXU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        out_value->number = hints->carveout_above - 1;
        return CXU_SUCCESS;
    case CXU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
        out_value->number = hints->nvlink;
        return CXU_SUCCESS;
    default:
        return CXU_INVALID_VALUE;
    }
}

bool cx_emu_launch_prefers_clusters_well(const cx_emu_launch_hints *hints,
                                         const uint32_t cluster[3], const uint32_t grid[3])
{
    const uint32_t *preferred = hints->preferred_cluster;

    if (cluster[0] == 0 || (preferred[0] == 0 && preferred[1] == 0 && preferred[2] == 0))
        return true;
    for (int i = 0; i < 3; i++)
        if (preferred[i] == 0 || preferred[i] % cluster[i] != 0 || grid[i] % preferred[i] != 0)
            return false;
    return preferred[2] == cluster[2];
}
