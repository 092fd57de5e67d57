#include "layer/check/culprit.h"

#include <stdio.h>

enum {
    CULPRITS = 4
}; /* the latest ones: programs whose contexts fail one after the other are rare */

static struct culprit {
    cx_order_piece *piece; /* NULL: none */
    cxu_result result;
    uint64_t memory;
    char what[CX_REGION_TEXT];
} culprits[CULPRITS];
static unsigned count;

void cx_culprit_note(cx_order_piece *piece, const cx_access_log_failure *failure)
{
    struct culprit *one = &culprits[count++ % CULPRITS];
    if (one->piece != NULL)
        cx_order_piece_drop(one->piece);
    piece->references++;
    one->piece = piece;
    one->result = (cxu_result)failure->result;
    one->memory = failure->memory;
    snprintf(one->what, sizeof one->what, "%s", failure->what);
}

unsigned cx_culprit_count(void)
{
    return count;
}

static const struct culprit *latest(cxu_result result)
{
    for (unsigned i = 0; i < count && i < CULPRITS; i++) {
        const struct culprit *one = &culprits[(count - 1 - i) % CULPRITS];
        if (one->result == result)
            return one;
    }
    return NULL;
}

static void note_memory(cx_finding *finding, uintptr_t address)
{
    const cx_object *memory = cx_object_find_memory(address);
    if (memory == NULL)
        memory = cx_object_find_ended_memory(address);
    if (memory != NULL)
        cx_finding_note_object(finding, memory);
}

static void note_node(cx_finding *finding, const cx_order_piece *piece)
{
    char text[256];
    if (piece->graph == NULL)
        return;
    cx_order_graph_text(piece->graph, piece->node, text, sizeof text);
    cx_finding_note(finding, "node", piece->graph->nodes[piece->node].place, "%s", text);
}

void cx_culprit_describe(cx_finding *finding, cxu_result result)
{
    const struct culprit *one = latest(result);
    char stream[48];
    if (one == NULL)
        return;
    cx_stream_clock_stream_text(one->piece->stream, stream, sizeof stream);
    cx_finding_note(finding, "cause", 0, "%s", one->what);
    note_node(finding, one->piece);
    cx_finding_note(finding, "launched", one->piece->where, "by %s in %s",
                    cx_origin_call(one->piece->where, one->piece->slot), stream);
    if (one->memory != 0)
        note_memory(finding, one->memory);
}
