/*
 * Hints of a launch: on a GPU they change how fast a kernel runs, here nothing. A node tells them
 * to whoever asks.
 */
#ifndef CX_EMU_LAUNCH_HINT_H
#define CX_EMU_LAUNCH_HINT_H

#include "driver/cuda_abi.h"

#include <stdbool.h>
#include <stdint.h>

/* Zeroes are the defaults. */
typedef struct cx_emu_launch_hints {
    cxu_access_policy_window window;
    uint32_t preferred_cluster[3];
    int scheduling_policy;
    int domain;
    unsigned char domain_map[2];
    signed char carveout_above; /* the carveout's percentage plus 1; 0: none is preferred */
    bool nvlink;
} cx_emu_launch_hints;

/* True for attributes that are such hints. */
bool cx_emu_launch_is_hint(cxu_launch_attribute_id attribute);

/* CXU_INVALID_VALUE: no such hint, or not a value of it. */
cxu_result cx_emu_launch_hint_set(cx_emu_launch_hints *hints, cxu_launch_attribute_id attribute,
                                  const cxu_launch_attribute_value *value);
cxu_result cx_emu_launch_hint_get(const cx_emu_launch_hints *hints,
                                  cxu_launch_attribute_id attribute,
                                  cxu_launch_attribute_value *out_value);

/* True if the preferred cluster, if there is one, consists of whole clusters of `cluster`, and the
 * grid of whole preferred ones. Without a cluster it has no effect. */
bool cx_emu_launch_prefers_clusters_well(const cx_emu_launch_hints *hints,
                                         const uint32_t cluster[3], const uint32_t grid[3]);

#endif
