#include "crowd.h"

#include <stdarg.h>
#include <stdio.h>

void crowd_tell(crowd *all, const char *what, ...)
{
    va_list arguments;
    pthread_mutex_lock(&all->telling);
    if (atomic_fetch_add(&all->wrong, 1) == 0) {
        va_start(arguments, what);
        vsnprintf(all->first_wrong, sizeof all->first_wrong, what, arguments);
        va_end(arguments);
    }
    pthread_mutex_unlock(&all->telling);
}

bool crowd_expect(crowd *all, ctxrt_status status, const char *call)
{
    if (status == CTXRT_SUCCESS)
        return true;
    bool injected =
        all->faults && (status == CTXRT_ERROR_OUT_OF_MEMORY || status == CTXRT_ERROR_DRIVER);
    if (!injected)
        crowd_tell(all, "%s gave %s: %s", call, ctxrt_status_name(status),
                   ctxrt_last_error()->message);
    return false;
}

uint32_t crowd_name(crowd *all)
{
    return atomic_fetch_add(&all->names, 1) + 1;
}

rows rows_of(const crowd *all, const void *memory, size_t size)
{
    rows found = {.first = (char *)memory, .width = all->large ? 256 : size, .count = 1};
    size_t before = (ROWS_APART - (uintptr_t)memory % ROWS_APART) % ROWS_APART;
    if (all->large && before < size) {
        found.first += before;
        found.count = (size - before + ROWS_APART - 1) / ROWS_APART;
    }
    return found;
}

uint64_t pick(member *self, uint64_t below)
{
    self->random = self->random * 6364136223846793005u + 1442695040888963407u;
    return (self->random >> 33) % below;
}
