#include "base/variable.h"

#include "base/log.h"
#include "base/spelling.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

enum { NAME_MOST = 64 };

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

void cx_variables_check(void)
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
