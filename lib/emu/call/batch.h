/* What calls for batches have in common. */
#ifndef CX_EMU_BATCH_H
#define CX_EMU_BATCH_H

#include <stdbool.h>
#include <stddef.h>

/* True if `firsts` tells to which of `count` entries each of `parts` settings applies: from its
 * first entry up to that of the next setting. The first ones rise from 0 on. NULL: false. */
static inline bool cx_emu_batch_firsts_valid(const size_t *firsts, size_t parts, size_t count)
{
    if (firsts == NULL || parts == 0 || parts > count || firsts[0] != 0)
        return false;
    for (size_t i = 1; i < parts; i++)
        if (firsts[i] <= firsts[i - 1] || firsts[i] >= count)
            return false;
    return true;
}

#endif
