#include "emu/memory/quarantine.h"

#include "driver/access_log.h"

enum {
    RANGES_MOST = 1024,
    REDZONE = 512 /* as much as the smallest allocation takes */
};
#define BYTES_MOST ((size_t)8 << 30) /* of addresses */

static cx_emu_range *ranges[RANGES_MOST]; /* a ring */
static size_t first, count, total_bytes;

size_t cx_emu_redzone_bytes(void)
{
    return cx_access_log_wants_hazards() ? REDZONE : 0;
}

static void give_first(void)
{
    cx_emu_range *range = ranges[first];

    first = (first + 1) % RANGES_MOST;
    count--;
    total_bytes -= range->bytes;
    cx_emu_arena_give(range);
}

/* Memory that other processes may open has to be withdrawn at once. */
void cx_emu_quarantine_give(cx_emu_range *range)
{
    if (!cx_access_log_wants_hazards() || range->export_id != 0) {
        cx_emu_arena_give(range);
        return;
    }
    cx_emu_range_discard(range);
    while (count > 0 && (count == RANGES_MOST || total_bytes + range->bytes > BYTES_MOST))
        give_first();
    total_bytes += range->bytes;
    ranges[(first + count++) % RANGES_MOST] = range;
}

void cx_emu_quarantine_end(void)
{
    while (count > 0)
        give_first();
}
