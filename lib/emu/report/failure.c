#include "emu/report/failure.h"

#include <stddef.h>
#include <stdio.h>

#define FAILURES_KEPT 16

typedef struct failure {
    cxu_result error;
    uint64_t context_id;
    char text[400];
} failure;

static failure failures[FAILURES_KEPT];
static size_t failure_count;

void cx_emu_failure_note(uint64_t context_id, cxu_result error, const char *what)
{
    failure *kept = &failures[failure_count++ % FAILURES_KEPT];
    kept->error = error;
    kept->context_id = context_id;
    snprintf(kept->text, sizeof kept->text, "%s", what);
}

const char *cx_emu_failure_find(uint64_t context_id, cxu_result error)
{
    const failure *found = NULL;
    const size_t count = failure_count < FAILURES_KEPT ? failure_count : FAILURES_KEPT;
    for (size_t i = 1; i <= count; i++) {
        const failure *each = &failures[(failure_count - i) % FAILURES_KEPT];
        if (each->error == error && each->context_id == context_id)
            return each->text;
        if (each->error == error && found == NULL)
            found = each;
    }
    return found != NULL ? found->text : NULL;
}
