#include "suites.h"

CX_TESTS(handoff_suite, reset_suite, peers_suite, owed_suite, recording_suite, pointers_suite,
         streams_suite, capacity_suite, infinirt_suite);
