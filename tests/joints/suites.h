/* The suites of check_joints, a file each. */
#ifndef CX_JOINTS_SUITES_H
#define CX_JOINTS_SUITES_H

#include "joint.h"

Suite *handoff_suite(void);
Suite *reset_suite(void);
Suite *peers_suite(void);
Suite *owed_suite(void);
Suite *recording_suite(void);
Suite *pointers_suite(void);
Suite *streams_suite(void);
Suite *capacity_suite(void);
Suite *infinirt_suite(void);

#endif
