/*
 * Any bytes as a scenario, for libFuzzer (make fuzz). What is refused has a place; what is taken is
 * printed, and parsed again as the same.
 */
#include "play/parse.h"
#include "play/print.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void check_round_trip(const cx_scenario *scenario)
{
    cx_parse_error error;
    char *text = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&text, &length);
    if (to == NULL || !cx_scenario_print(scenario, to) || fclose(to) != 0)
        abort();
    cx_scenario *again = cx_scenario_parse("fuzz", text, length, &error);
    if (again == NULL || !cx_scenario_same(scenario, again))
        abort();
    cx_scenario_destroy(again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static FILE *nowhere;
    cx_parse_error error;
    if (nowhere == NULL && (nowhere = fopen("/dev/null", "we")) == NULL)
        abort();
    cx_scenario *scenario = cx_scenario_parse("fuzz", (const char *)bytes, length, &error);
    if (scenario != NULL)
        check_round_trip(scenario);
    else if (error.line < 1 || error.column < 1 || error.message[0] == '\0')
        abort();
    else
        cx_parse_error_print(&error, "fuzz", (const char *)bytes, length, nowhere);
    cx_scenario_destroy(scenario);
    return 0;
}
