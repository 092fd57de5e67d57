/*
 * The verbs of scenarios, from the one list verbs.def: how each is written, its results, and its
 * driver call. The parser, the printer, the player and the reference all read these rows.
 */
#ifndef CX_PLAY_VERB_H
#define CX_PLAY_VERB_H

#include "driver/driver.h"
#include "play/kind.h"

#define CX_OPERANDS_MAX 16
#define CX_RESULTS_MAX 4

typedef enum cx_role {
    CX_ROLE_NONE, /* after the last operand */
    CX_ROLE_NEW,  /* the name of the object that the step makes; at most one, and it comes first */
    CX_ROLE_USE,  /* the name of an object; of memory also name+offset or an address */
    CX_ROLE_NUMBER,
    CX_ROLE_KEY,    /* name=number, anywhere after the others; has a default */
    CX_ROLE_KEY_USE /* name=NAME, likewise */
} cx_role;

/* The sets of words.def; those of flags stand together, and their words may be joined. */
typedef enum cx_words {
    CX_WORDS_NONE,
    CX_WORDS_SWITCH,
    CX_WORDS_CONTEXT_FLAGS,
    CX_WORDS_STREAM_FLAGS,
    CX_WORDS_EVENT_FLAGS,
    CX_WORDS_HOST_FLAGS,
    CX_WORDS_ATTACH_FLAGS,
    CX_WORDS_LIMIT,
    CX_WORDS_CACHE,
    CX_WORDS_PEER,
    CX_WORDS_MEMORY_TYPE,
    CX_WORDS_CAPTURE_MODE,
    CX_WORDS_CAPTURE_STATUS,
    CX_WORDS_POINTER,
    CX_WORDS_ACCESS,
    CX_WORDS_HANDLE_TYPE,
    CX_WORDS_POOL,
    CX_WORDS_GRAPH_MEMORY,
    CX_WORDS_PLACE,
    CX_WORDS_POOL_KIND,
    CX_WORDS_ADVICE,
    CX_WORDS_HINT,
    CX_WORDS_ORDER,
    CX_WORDS_CONDITION,
    CX_WORDS_VALUE,
    CX_WORDS_STREAM,
    CX_WORDS_CODE,
    CX_WORDS_CODE_NAME,
    CX_WORDS_KERNEL,
    CX_WORDS_NODE,
    CX_WORDS_WHEN
} cx_words;

typedef struct cx_operand_rule {
    cx_role role;
    cx_kind kind;
    const char *name;
    cx_words words;
    int64_t number;           /* default of a KEY */
    const char *default_name; /* of a KEY_USE: "none", "legacy" */
} cx_operand_rule;

typedef struct cx_result_rule {
    const char *name; /* NULL after the last */
    cx_kind kind;
    cx_words words;
} cx_result_rule;

typedef enum cx_verb_id {
#define CX_CALL(id, name, slot, operands, results, arguments, text) CX_VERB_##id,
#define CX_ACTION(id, name, block, operands, results, text) CX_VERB_##id,
#include "play/verbs.def"
    CX_VERB_COUNT
} cx_verb_id;

typedef struct cx_verb {
    const char *name;
    bool action; /* done by the player, not by one driver call */
    bool takes_block;
    cx_slot slot; /* of the driver call; CX_SLOT_COUNT for an action */
    cx_operand_rule operands[CX_OPERANDS_MAX + 1];
    cx_result_rule results[CX_RESULTS_MAX + 1];
    /* in[i]: operand i; out[0]: the new object if the verb makes one; then its results. The bits of
     * `nowhere` are those for which NULL is passed. */
    cxu_result (*call)(const cx_driver_table *driver, const cx_cell *in, cx_cell *out,
                       unsigned int nowhere);
    const char *text; /* one sentence for the reference */
} cx_verb;

extern const cx_verb cx_verbs[CX_VERB_COUNT];

const cx_verb *cx_verb_find(const char *name);

static inline cx_verb_id cx_verb_number(const cx_verb *verb)
{
    return (cx_verb_id)(verb - cx_verbs);
}

/* True if the verb makes an object: its out[0], and operand 0. */
static inline bool cx_verb_makes(const cx_verb *verb)
{
    return verb->operands[0].role == CX_ROLE_NEW;
}

/* The kind of out[i]: the new object, then the results; CX_KIND_COUNT after the last. */
cx_kind cx_verb_out_kind(const cx_verb *verb, int index);

/* The name of out[i]; NULL after the last. */
const char *cx_verb_out_name(const cx_verb *verb, int index);

/* The value of a word of a set; false if the set has no such word. */
bool cx_word_value(cx_words set, const char *word, int64_t *out_value);

/* Writes a number in the words of its set, joined by '+', or in digits. */
void cx_word_print(cx_words set, int64_t number, char *text, size_t size);

/* The entry of a list nearest to a misspelt word; NULL if none is near. `name_at` gives entry i,
 * and NULL after the last. */
const char *cx_nearest(const char *word, const char *(*name_at)(int index));
const char *cx_verb_nearest(const char *word);

#endif
