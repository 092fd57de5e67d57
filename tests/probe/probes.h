/* The experiments of each file. */
#ifndef PROBE_PROBES_H
#define PROBE_PROBES_H

#include "observe.h"

extern const struct experiment life_experiments[];
extern const struct experiment context_experiments[];
extern const struct experiment stack_experiments[];
extern const struct experiment query_experiments[];
extern const struct experiment primary_experiments[];
extern const struct experiment peer_experiments[];
extern const struct experiment stream_experiments[];
extern const struct experiment order_experiments[];
extern const struct experiment memory_experiments[];
extern const struct experiment pool_experiments[];
extern const struct experiment share_experiments[];
extern const struct experiment value_experiments[];
extern const struct experiment virtual_experiments[];
extern const struct experiment copy_experiments[];
extern const struct experiment kernel_experiments[], launch_experiments[];
extern const struct experiment module_experiments[];
extern const struct experiment capture_experiments[];
extern const struct experiment error_experiments[];
extern const struct experiment runtime_experiments[];
extern const struct experiment argument_experiments[];
extern const struct experiment choice_experiments[];
extern const struct experiment more_experiments[];

/* Prints what the common calls cost, in nanoseconds; in a child, as an experiment. */
extern const struct experiment times_experiments[];

/* Says the driver's version, its device's name and compute capability. */
extern const struct experiment header_experiments[];

#endif
