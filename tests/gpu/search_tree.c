/*
 * What the static libraries of elfutils 0.192 call and do not have (sourceware.org, bug 32293), for
 * programs that are linked with them; see old_libc.sh. Of a tree they know that its root is its
 * first field. No locks: one thread of a program uses libdw.
 */
#define _GNU_SOURCE
#include <search.h>
#include <stddef.h>

typedef int compare_function(const void *, const void *);
typedef void free_function(void *);
void *eu_tsearch(const void *key, void **root, compare_function *compare);
void *eu_tfind(const void *key, void **root, compare_function *compare);
void *eu_tdelete(const void *key, void **root, compare_function *compare);
void eu_tdestroy(void **root, free_function *free_node);
void eu_search_tree_init(void **root);
void eu_search_tree_fini(void **root, free_function *free_node);

void *eu_tsearch(const void *key, void **root, compare_function *compare)
{
    return tsearch(key, root, compare);
}

void *eu_tfind(const void *key, void **root, compare_function *compare)
{
    return tfind(key, root, compare);
}

void *eu_tdelete(const void *key, void **root, compare_function *compare)
{
    return tdelete(key, root, compare);
}

void eu_tdestroy(void **root, free_function *free_node)
{
    tdestroy(*root, free_node);
    *root = NULL;
}

void eu_search_tree_init(void **root)
{
    *root = NULL;
}

void eu_search_tree_fini(void **root, free_function *free_node)
{
    eu_tdestroy(root, free_node);
}
