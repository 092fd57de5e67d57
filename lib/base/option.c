#include "base/option.h"

#include "base/log.h"
#include "base/spelling.h"
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME_MOST = 64 };

const char *cx_option(const char *name)
{
    const char *value = secure_getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

/* ---- misspelt names ---- */

#define PREFIX "CTXRT_"
#define PREFIX_LENGTH (sizeof PREFIX - 1)

static const char *const variables[] = {
#define CX_VARIABLE(name) #name,
#include "base/variables.def"
};
#define VARIABLES (sizeof variables / sizeof variables[0])

/* Two names are near each other if at most half of the letters behind the prefix differ, and at
 * most four: CTXRT_SCHEDULE lacks four. */
static bool is_near(size_t distance, const char *known)
{
    size_t half = (strlen(known) - PREFIX_LENGTH) / 2;
    return distance <= (half < 4 ? half : 4);
}

/* Warns about a name that is near a known one. */
static void check_name(const char *name)
{
    const char *nearest = NULL;
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < VARIABLES; i++) {
        size_t distance = cx_spelling_distance(name, variables[i]);
        if (distance == 0)
            return;
        if (distance < least && is_near(distance, variables[i])) {
            nearest = variables[i];
            least = distance;
        }
    }
    if (nearest != NULL)
        cx_log(CTXRT_LOG_WARNING, "there is no variable %s, and it is ignored: is it %s?", name,
               nearest);
}

void cx_option_check_names(void)
{
    static atomic_flag checked = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&checked))
        return;
    for (char **each = environ; each != NULL && *each != NULL; each++) {
        char name[NAME_MOST];
        size_t length = strcspn(*each, "=");
        if (strncmp(*each, PREFIX, PREFIX_LENGTH) != 0 || length >= sizeof name)
            continue;
        memcpy(name, *each, length);
        name[length] = '\0';
        check_name(name);
    }
}

/* ---- values ---- */

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
