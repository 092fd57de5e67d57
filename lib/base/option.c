#include "base/option.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

const char *cx_option(const char *name)
{
    const char *value = secure_getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

bool cx_parse_int(const char *text, int low, int high, int *out_value)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < low || value > high)
        return false;
    *out_value = (int)value;
    return true;
}

/* The shift of a unit, or -1. */
static int unit_shift(const char *unit)
{
    static const char letters[] = "KMGT";
    if (*unit == '\0')
        return 0;
    const char *letter = strchr(letters, *unit >= 'a' ? *unit - 'a' + 'A' : *unit);
    if (letter == NULL || *letter == '\0')
        return -1;
    unit++;
    if (*unit != '\0' && strcmp(unit, "B") != 0 && strcmp(unit, "iB") != 0)
        return -1;
    return 10 * (int)(letter - letters + 1);
}

bool cx_parse_size(const char *text, size_t *out_bytes)
{
    if (*text < '0' || *text > '9')
        return false;
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    int shift = unit_shift(end);
    if (errno != 0 || shift < 0 || value > SIZE_MAX >> shift)
        return false;
    *out_bytes = (size_t)value << shift;
    return true;
}
