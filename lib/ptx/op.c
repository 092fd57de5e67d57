#include "ptx/module.h"

#include <pthread.h>
#include <string.h>

typedef struct op_row {
    const char *key;
    int arity;
    bool longs[4]; /* a, b, c, the result */
} op_row;

#define IS_LONG(field) (sizeof(((cx_ptx_slot *)0)->field) == 8)

static const op_row rows[CX_PTX_COMPUTED] = {
#define CX_PTX_OP(id, key, arity, d, a, b, c, value) \
    [CX_PTX_OP_##id] = {key, arity, {IS_LONG(a), IS_LONG(b), IS_LONG(c), IS_LONG(d)}},
#include "ptx/ops.def"
};

#define BUCKETS 4096

static uint16_t buckets[BUCKETS];

static unsigned hash_of(const char *key, size_t length)
{
    unsigned hash = 2166136261u;

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)key[i]) * 16777619u;
    return (hash ^ hash >> 13) % BUCKETS;
}

static void fill_buckets(void)
{
    memset(buckets, 0xff, sizeof buckets);
    for (uint16_t op = 0; op < CX_PTX_COMPUTED; op++) {
        unsigned at = hash_of(rows[op].key, strlen(rows[op].key));

        while (buckets[at] != CX_PTX_NO_OP)
            at = (at + 1) % BUCKETS;
        buckets[at] = op;
    }
}

uint16_t cx_ptx_op_find(const char *key, size_t length)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, fill_buckets);
    for (unsigned at = hash_of(key, length); buckets[at] != CX_PTX_NO_OP; at = (at + 1) % BUCKETS) {
        const char *found = rows[buckets[at]].key;

        if (strlen(found) == length && memcmp(found, key, length) == 0)
            return buckets[at];
    }
    return CX_PTX_NO_OP;
}

int cx_ptx_op_arity(uint16_t op)
{
    return rows[op].arity;
}

bool cx_ptx_op_takes_long(uint16_t op, int index)
{
    return rows[op].longs[index];
}

bool cx_ptx_op_family(const char *word, size_t length)
{
    for (uint16_t op = 0; op < CX_PTX_COMPUTED; op++)
        if (strncmp(rows[op].key, word, length) == 0 && rows[op].key[length] == '.')
            return true;
    return false;
}
