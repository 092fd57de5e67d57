#include "suites.h"

int main(void)
{
    static Suite *(*const suites[])(void) = {
        handoff_suite,  reset_suite,   peers_suite,    owed_suite,     recording_suite,
        pointers_suite, streams_suite, capacity_suite, infinirt_suite, NULL,
    };
    return cx_test_run(suites);
}
