#include "ptx/names.h"

#include "ptx/growth.h"
#include <string.h>

static uint32_t hash_of(const char *text, size_t length)
{
    uint32_t hash = 2166136261u;

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash ^ hash >> 15;
}

void cx_ptx_names_free(cx_ptx_names *self)
{
    free(self->all);
    free(self->buckets);
    *self = (cx_ptx_names){0};
}

static void link_name(cx_ptx_names *self, size_t index)
{
    uint32_t *bucket = &self->buckets[self->all[index].hash & (self->bucket_count - 1)];

    self->all[index].next = *bucket;
    *bucket = (uint32_t)index + 1;
}

static bool widen_table(cx_ptx_names *self)
{
    size_t wanted = self->bucket_count ? self->bucket_count * 4 : 64;
    uint32_t *buckets;

    if (self->count < self->bucket_count)
        return true;
    buckets = calloc(wanted, sizeof *buckets);
    if (!buckets)
        return false;
    free(self->buckets);
    self->buckets = buckets;
    self->bucket_count = wanted;
    for (size_t i = 0; i < self->count; i++)
        link_name(self, i);
    return true;
}

bool cx_ptx_names_add(cx_ptx_names *self, const cx_ptx_name *name)
{
    void *all = self->all;
    bool grown = cx_ptx_grow(&all, self->count, &self->capacity, sizeof *self->all);

    self->all = all;
    if (!grown || !widen_table(self))
        return false;
    self->all[self->count] = *name;
    self->all[self->count].hash = hash_of(name->text, name->length);
    link_name(self, self->count++);
    return true;
}

cx_ptx_name *cx_ptx_names_find(const cx_ptx_names *self, const char *text, size_t length,
                               size_t from)
{
    uint32_t hash = hash_of(text, length);
    uint32_t at = self->bucket_count ? self->buckets[hash & (self->bucket_count - 1)] : 0;

    while (at > from) {
        cx_ptx_name *name = &self->all[at - 1];

        if (name->hash == hash && name->length == length && memcmp(name->text, text, length) == 0)
            return name;
        at = name->next;
    }
    return NULL;
}

void cx_ptx_names_cut(cx_ptx_names *self, size_t count)
{
    while (self->count > count) {
        const cx_ptx_name *last = &self->all[--self->count];

        self->buckets[last->hash & (self->bucket_count - 1)] = last->next;
    }
}
