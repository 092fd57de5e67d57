#include "play/code.h"
#include "play/tape.h"
#include "play/verb.h"

#include <stdio.h>
#include <string.h>

#define NEAR_MOST 3
#define WORD_MAX 32

#define NEW(kind, name)                                            \
    {                                                              \
        CX_ROLE_NEW, CX_KIND_##kind, #name, CX_WORDS_NONE, 0, NULL \
    }
#define USE(kind, name)                                            \
    {                                                              \
        CX_ROLE_USE, CX_KIND_##kind, #name, CX_WORDS_NONE, 0, NULL \
    }
#define NUM(kind, name, words)                                           \
    {                                                                    \
        CX_ROLE_NUMBER, CX_KIND_##kind, #name, CX_WORDS_##words, 0, NULL \
    }
#define KEY(kind, name, words, number)                                     \
    {                                                                      \
        CX_ROLE_KEY, CX_KIND_##kind, #name, CX_WORDS_##words, number, NULL \
    }
#define KEYUSE(kind, name, text)                                       \
    {                                                                  \
        CX_ROLE_KEY_USE, CX_KIND_##kind, #name, CX_WORDS_NONE, 0, text \
    }
#define GIVES(kind, name, words)                \
    {                                           \
#name, CX_KIND_##kind, CX_WORDS_##words \
    }
#define LIST(...)   \
    {               \
        __VA_ARGS__ \
    }

/* The operands to, from, value, bytes, blocks, threads, blocks_y, blocks_z, threads_y, threads_z,
 * shared, arguments. */
#define LAUNCH                                                                           \
    KEYUSE(MEMORY, to, "none"), KEYUSE(MEMORY, from, "none"), KEY(FLAGS, value, NONE, 0), \
        KEY(SIZE, bytes, NONE, 0), KEY(FLAGS, blocks, NONE, 1), KEY(FLAGS, threads, NONE, 32), \
        KEY(FLAGS, blocks_y, NONE, 1), KEY(FLAGS, blocks_z, NONE, 1),                    \
        KEY(FLAGS, threads_y, NONE, 1), KEY(FLAGS, threads_z, NONE, 1),                  \
        KEY(FLAGS, shared, NONE, 0), KEY(INTEGER, arguments, SWITCH, 1)
#define GRID(first)                                                                      \
    in[(first) + 4].flags, in[(first) + 6].flags, in[(first) + 7].flags, in[(first) + 5].flags, \
        in[(first) + 8].flags, in[(first) + 9].flags, in[(first) + 10].flags
#define PARAMETERS(first)                                                                \
    (in[(first) + 11].integer ? (void *[]){(void *)(uintptr_t)&in[first].pointer,        \
                                           (void *)(uintptr_t)&in[(first) + 1].pointer,  \
                                           (void *)(uintptr_t)&in[(first) + 2].flags,    \
                                           (void *)(uintptr_t)&in[(first) + 3].size}     \
                              : NULL)
#define AFTER(first) ((first) + 12)
#define NODE_PARAMS(kernel, first) \
    (const cxu_kernel_node_params){kernel, GRID(first), PARAMETERS(first), NULL, NULL, NULL}

/* The handle of a letter; for none one that is no handle. */
static cxu_ipc_mem_handle memory_of(const cx_letter *letter)
{
    static const cxu_ipc_mem_handle nothing;
    return letter ? letter->handle.memory : nothing;
}

static cxu_ipc_event_handle event_of(const cx_letter *letter)
{
    static const cxu_ipc_event_handle nothing;
    return letter ? letter->handle.event : nothing;
}

static const cxu_mem_access device_1_may = {{CXU_MEM_LOCATION_TYPE_DEVICE, 1},
                                            CXU_MEM_ACCESS_FLAGS_PROT_READWRITE};
static cxu_exec_affinity no_affinity; /* never read: its count is 0 */

/* A call uses only the parameters that its row names. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define OUT(index, field) ((nowhere >> (index)&1) != 0 ? NULL : &out[index].field)
#define CX_CALL(id, name, slot, operands, results, arguments, text)                             \
    static cxu_result call_##id(const cx_driver_table *driver, const cx_cell *in, cx_cell *out, \
                                unsigned int nowhere)                                           \
    {                                                                                           \
        return driver->slot arguments;                                                          \
    }
#define CX_ACTION(id, name, block, operands, results, text)
#include "play/verbs.def"
#pragma GCC diagnostic pop

const cx_verb cx_verbs[CX_VERB_COUNT] = {
#define CX_CALL(id, name, slot, operands, results, arguments, text) \
    [CX_VERB_##                                                     \
        id] = {name, false, false, CX_SLOT_##slot, LIST operands, LIST results, call_##id, text},
#define CX_ACTION(id, name, block, operands, results, text) \
    [CX_VERB_##id] = {name, true, block, CX_SLOT_COUNT, LIST operands, LIST results, NULL, text},
#include "play/verbs.def"
};

typedef struct word_row {
    cx_words set;
    const char *word;
    int64_t value;
} word_row;

static const word_row words[] = {
#define CX_WORD(set, word, value) {CX_WORDS_##set, #word, value},
#include "play/words.def"
};
#define WORDS (sizeof words / sizeof words[0])

const cx_verb *cx_verb_find(const char *name)
{
    for (int i = 0; i < CX_VERB_COUNT; i++)
        if (strcmp(cx_verbs[i].name, name) == 0)
            return &cx_verbs[i];
    return NULL;
}

cx_kind cx_verb_out_kind(const cx_verb *verb, int index)
{
    if (cx_verb_makes(verb) && index-- == 0)
        return verb->operands[0].kind;
    return verb->results[index].name != NULL ? verb->results[index].kind : CX_KIND_COUNT;
}

const char *cx_verb_out_name(const cx_verb *verb, int index)
{
    if (cx_verb_makes(verb) && index-- == 0)
        return verb->operands[0].name;
    return verb->results[index].name;
}

bool cx_word_value(cx_words set, const char *word, int64_t *out_value)
{
    for (size_t i = 0; i < WORDS; i++)
        if (words[i].set == set && strcmp(words[i].word, word) == 0) {
            *out_value = words[i].value;
            return true;
        }
    return false;
}

static const char *word_of(cx_words set, int64_t value)
{
    for (size_t i = 0; set != CX_WORDS_NONE && i < WORDS; i++)
        if (words[i].set == set && words[i].value == value)
            return words[i].word;
    return NULL;
}

static bool has_bits(cx_words set)
{
    return set >= CX_WORDS_CONTEXT_FLAGS && set <= CX_WORDS_ATTACH_FLAGS;
}

/* Joins the words of single bits; false if some bits have none. */
static bool print_bits(cx_words set, int64_t number, char *text, size_t size)
{
    size_t length = 0;
    for (size_t i = 0; number != 0 && i < WORDS; i++) {
        int64_t value = words[i].value;
        if (words[i].set != set || value == 0 || (value & (value - 1)) != 0 ||
            (number & value) == 0)
            continue;
        int more =
            snprintf(text + length, size - length, "%s%s", length != 0 ? "+" : "", words[i].word);
        if (more < 0 || (size_t)more >= size - length)
            return false;
        length += (size_t)more;
        number &= ~value;
    }
    return number == 0 && length != 0;
}

void cx_word_print(cx_words set, int64_t number, char *text, size_t size)
{
    const char *word = word_of(set, number);
    if (word != NULL)
        snprintf(text, size, "%s", word);
    else if (!has_bits(set) || !print_bits(set, number, text, size))
        snprintf(text, size, "%lld", (long long)number);
}

/* The number of letters to insert, leave out or change to make one word of the other. */
static int word_distance(const char *a, const char *b)
{
    int row[WORD_MAX + 1];
    int a_length = (int)strnlen(a, WORD_MAX), b_length = (int)strnlen(b, WORD_MAX);
    for (int j = 0; j <= b_length; j++)
        row[j] = j;
    for (int i = 1; i <= a_length; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= b_length; j++) {
            int changed = diagonal + (a[i - 1] != b[j - 1]);
            int shorter = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = changed < shorter ? changed : shorter;
        }
    }
    return row[b_length];
}

const char *cx_nearest(const char *word, const char *(*name_at)(int index))
{
    const char *nearest = NULL;
    int least = NEAR_MOST + 1;
    for (int i = 0; name_at(i) != NULL; i++) {
        int far = word_distance(word, name_at(i));
        if (far < least && far < (int)strlen(word)) {
            least = far;
            nearest = name_at(i);
        }
    }
    return nearest;
}

static const char *verb_name_at(int index)
{
    return index < CX_VERB_COUNT ? cx_verbs[index].name : NULL;
}

const char *cx_verb_nearest(const char *word)
{
    return cx_nearest(word, verb_name_at);
}
