#include "graph/sequence.h"

#include "base/error.h"
#include "context/use.h"
#include <stdlib.h>

ctxrt_status cx_sequence_make(cx_context *context, uint32_t epoch, cx_sequence **out_sequence)
{
    cx_sequence *sequence = calloc(1, sizeof *sequence);
    if (sequence == NULL)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for a graph in %s",
                        cx_context_text(context));
    atomic_store(&sequence->count, 1);
    sequence->context = context;
    sequence->epoch = epoch;
    *out_sequence = sequence;
    return CTXRT_SUCCESS;
}

ctxrt_status cx_sequence_reserve(cx_sequence *sequence)
{
    cx_graph_piece *pieces =
        reallocarray(sequence->pieces, sequence->piece_count + 1, sizeof *pieces);
    if (pieces == NULL)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for a piece of a graph in %s",
                        cx_context_text(sequence->context));
    sequence->pieces = pieces;
    return CTXRT_SUCCESS;
}

ctxrt_status cx_sequence_put(cx_sequence *sequence, cx_graph_piece piece)
{
    size_t count;
    const cx_driver *driver = sequence->context->driver;
    if (piece.native != NULL &&
        driver->table.graph_get_nodes(piece.native, NULL, &count) == CXU_SUCCESS)
        piece.node_count = count;
    sequence->pieces[sequence->piece_count++] = piece;
    if (piece.native == NULL)
        return CTXRT_SUCCESS;
    return cx_context_map_error(sequence->context, "graph",
                                cx_graph_code_add(&sequence->code, driver, piece.native));
}

ctxrt_status cx_sequence_check(const cx_sequence *sequence)
{
    if (sequence->epoch == atomic_load(&sequence->context->epoch))
        return CTXRT_SUCCESS;
    return cx_error(CTXRT_ERROR_CONTEXT_DESTROYED,
                    "the graph is gone: %s was reset after its capture began",
                    cx_context_text(sequence->context));
}

void cx_sequence_retain(cx_sequence *sequence)
{
    atomic_fetch_add(&sequence->count, 1);
}

static ctxrt_status destroy_pieces(cx_sequence *sequence)
{
    ctxrt_status status = CTXRT_SUCCESS;
    const cx_driver *driver = sequence->context->driver;
    for (size_t i = 0; i < sequence->piece_count; i++) {
        if (sequence->pieces[i].native == NULL)
            continue;
        cxu_result result = driver->table.graph_destroy(sequence->pieces[i].native);
        if (status == CTXRT_SUCCESS)
            status = cx_driver_check(driver, CX_SLOT_graph_destroy, result);
    }
    free(sequence->pieces);
    return status;
}

static void destroy_operators(cx_sequence *sequence)
{
    for (size_t i = sequence->operator_count; i-- > 0;)
        cx_operator_destroy(&sequence->operators[i]);
    free(sequence->operators);
}

/* Frees graphs before the code that they need. */
static ctxrt_status destroy_captured(cx_sequence *sequence)
{
    cx_error_saved saved;
    ctxrt_status status = destroy_pieces(sequence);
    cx_error_save(&saved);
    ctxrt_status unloaded = cx_graph_code_release(&sequence->code);
    if (status == CTXRT_SUCCESS)
        return unloaded;
    cx_error_restore(&saved);
    return status;
}

static void destroy_events(const cx_sequence *sequence)
{
    cx_context *context = sequence->context;
    if (sequence->ready_count == 0 || !cx_context_pin_what_is_of(context, sequence->epoch))
        return;
    for (int i = 0; i < sequence->ready_count; i++)
        (void)context->driver->table.event_destroy(sequence->ready[i]);
    cx_context_unpin(context);
}

ctxrt_status cx_sequence_release(cx_sequence *sequence)
{
    cx_error_saved saved;
    if (atomic_fetch_sub(&sequence->count, 1) != 1)
        return CTXRT_SUCCESS;
    destroy_events(sequence);
    ctxrt_status status = destroy_captured(sequence);
    cx_error_save(&saved);
    destroy_operators(sequence);
    ctxrt_status given =
        sequence->pool != NULL ? cx_private_pool_release(sequence->pool) : CTXRT_SUCCESS;
    if (given == CTXRT_SUCCESS || status != CTXRT_SUCCESS)
        cx_error_restore(&saved);
    free(sequence);
    return status != CTXRT_SUCCESS ? status : given;
}
