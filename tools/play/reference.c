#include "play/reference.h"

#include "play/verb.h"

#include <string.h>

static const char *const word_sets[] = {
    [CX_WORDS_SWITCH] = "switches",
    [CX_WORDS_CONTEXT_FLAGS] = "flags of contexts",
    [CX_WORDS_STREAM_FLAGS] = "flags of streams",
    [CX_WORDS_EVENT_FLAGS] = "flags of events",
    [CX_WORDS_HOST_FLAGS] = "flags of host memory",
    [CX_WORDS_ATTACH_FLAGS] = "flags of managed memory",
    [CX_WORDS_LIMIT] = "limits",
    [CX_WORDS_CACHE] = "cache preferences",
    [CX_WORDS_PEER] = "attributes between devices",
    [CX_WORDS_MEMORY_TYPE] = "types of memory",
    [CX_WORDS_CAPTURE_MODE] = "modes of capture",
    [CX_WORDS_CAPTURE_STATUS] = "states of capture",
    [CX_WORDS_POINTER] = "attributes of memory",
    [CX_WORDS_ACCESS] = "access to mapped memory",
    [CX_WORDS_HANDLE_TYPE] = "how memory may be shared",
    [CX_WORDS_POOL] = "attributes of memory pools",
    [CX_WORDS_GRAPH_MEMORY] = "memory of graphs",
    [CX_WORDS_PLACE] = "places of pools",
    [CX_WORDS_POOL_KIND] = "memory of pools",
    [CX_WORDS_ADVICE] = "advice",
    [CX_WORDS_HINT] = "what was advised",
    [CX_WORDS_ORDER] = "order of batches",
    [CX_WORDS_CONDITION] = "conditions",
    [CX_WORDS_VALUE] = "conditions of values",
    [CX_WORDS_STREAM] = "attributes of streams",
    [CX_WORDS_CODE] = "code",
    [CX_WORDS_CODE_NAME] = "names in the code of kernels",
    [CX_WORDS_KERNEL] = "attributes of kernels",
    [CX_WORDS_NODE] = "types of nodes",
    [CX_WORDS_WHEN] = "order of exit handlers",
};

static const struct word_row {
    cx_words set;
    const char *word;
} words[] = {
#define CX_WORD(set, word, value) {CX_WORDS_##set, #word},
#include "play/words.def"
};

/* "device-memory": a placeholder is one word. */
static const char *placeholder(cx_kind kind, char word[64])
{
    snprintf(word, 64, "%s", cx_kind_word(kind));
    for (char *at = word; (at = strchr(at, ' ')) != NULL;)
        *at = '-';
    return word;
}

static void print_operand(const cx_operand_rule *rule, FILE *to)
{
    char number[128], word[64];
    switch (rule->role) {
    case CX_ROLE_NEW:
        fprintf(to, " <new-%s>", placeholder(rule->kind, word));
        break;
    case CX_ROLE_USE:
        fprintf(to, " <%s>", placeholder(rule->kind, word));
        break;
    case CX_ROLE_NUMBER:
        fprintf(to, " <%s>", rule->name);
        break;
    case CX_ROLE_KEY:
        cx_word_print(rule->words, rule->number, number, sizeof number);
        fprintf(to, " [%s=%s]", rule->name, number);
        break;
    default:
        fprintf(to, " [%s=<%s>]", rule->name, placeholder(rule->kind, word));
        break;
    }
}

static void print_verb(const cx_verb *verb, FILE *to)
{
    fprintf(to, "| `%s", verb->name);
    for (const cx_operand_rule *rule = verb->operands; rule->role != CX_ROLE_NONE; rule++)
        print_operand(rule, to);
    fprintf(to, "%s", verb->takes_block ? " {}" : "");
    for (const cx_result_rule *rule = verb->results; rule->name != NULL; rule++)
        fprintf(to, "%s %s", rule == verb->results ? " ->" : "", rule->name);
    fprintf(to, "` | %s | %s |\n", verb->action ? "" : cx_symbols[verb->slot].symbol, verb->text);
}

static void print_words(cx_words set, FILE *to)
{
    fprintf(to, "| %s |", word_sets[set]);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (words[i].set == set)
            fprintf(to, " %s", words[i].word);
    fprintf(to, " |\n");
}

bool cx_reference_print(FILE *to)
{
    fprintf(to, "| verb -> what it gives | call | what |\n|---|---|---|\n");
    for (int i = 0; i < CX_VERB_COUNT; i++)
        print_verb(&cx_verbs[i], to);
    fprintf(to, "\n| numbers | words |\n|---|---|\n");
    for (int set = CX_WORDS_NONE + 1; set <= CX_WORDS_WHEN; set++)
        print_words((cx_words)set, to);
    return !ferror(to);
}
