/* Arrays that grow. */
#ifndef CX_PTX_GROWTH_H
#define CX_PTX_GROWTH_H

#include <stdint.h>
#include <stdlib.h>
#include <stdbool.h>

/* Makes room for one more element of `element_bytes`; false: out of memory, nothing changed. */
static inline bool cx_ptx_grow(void **array, size_t count, size_t *capacity, size_t element_bytes)
{
    size_t wanted = *capacity < 8 ? 8 : *capacity * 2;
    void *grown;

    if (count < *capacity)
        return true;
    if (wanted > SIZE_MAX / element_bytes)
        return false;
    grown = realloc(*array, wanted * element_bytes);
    if (!grown)
        return false;
    *array = grown;
    *capacity = wanted;
    return true;
}

#endif
