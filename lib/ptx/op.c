#include "ptx/module.h"

#include <pthread.h>
#include <string.h>

typedef struct op_row {
    const char *key;
    int arity;
    uint8_t bytes[4]; /* a, b, c, the result */
} op_row;

#define BYTES_OF(field) sizeof(((cx_ptx_slot *)0)->field)

static const op_row rows[CX_PTX_COMPUTED] = {
#define CX_PTX_OP(id, key, arity, d, a, b, c, value) \
    [CX_PTX_OP_##id] = {key, arity, {BYTES_OF(a), BYTES_OF(b), BYTES_OF(c), BYTES_OF(d)}},
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
    return rows[op].bytes[index] == 8;
}

static bool begins(uint16_t op, const char *word)
{
    return strncmp(rows[op].key, word, strlen(word)) == 0;
}

static bool is_predicate(uint16_t op, int index)
{
    const char *key = rows[op].key;

    if (strcmp(key + strlen(key) - 4, "pred") == 0)
        return true;
    if (index == 2)
        return begins(op, "selp.");
    return index == 3 && (begins(op, "setp.") || begins(op, "testp."));
}

/* Numbers of bits, and results that count them, are unsigned whatever the type. */
static bool is_count(uint16_t op, int index)
{
    if (index == 1)
        return begins(op, "shl.") || begins(op, "shr.");
    return index == 3 && (begins(op, "popc.") || begins(op, "clz."));
}

cx_ptx_type cx_ptx_op_type(uint16_t op, int index, cx_ptx_type type)
{
    unsigned bytes = rows[op].bytes[index];
    bool bits = type == CX_PTX_NO_TYPE;

    if (is_predicate(op, index))
        return CX_PTX_PRED;
    if (!bits && bytes == cx_ptx_type_bytes(type) && !is_count(op, index))
        return type;
    if (bytes == 8)
        return bits ? CX_PTX_B64 : CX_PTX_U64;
    if (bytes == 4)
        return bits ? CX_PTX_B32 : CX_PTX_U32;
    return bits ? CX_PTX_B16 : CX_PTX_U16;
}

bool cx_ptx_op_family(const char *word, size_t length)
{
    for (uint16_t op = 0; op < CX_PTX_COMPUTED; op++)
        if (strncmp(rows[op].key, word, length) == 0 && rows[op].key[length] == '.')
            return true;
    return false;
}
