/* Graphs for people, and for dot(1). Makes no driver call. */
#include "base/cancel.h"
#include "base/error.h"
#include "base/text.h"
#include "graph/graph.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *plural_end(size_t count)
{
    return count == 1 ? "" : "s";
}

static void write_memory(FILE *out, const cx_sequence *sequence)
{
    cx_private_pool_figures figures;
    if (sequence->pool == NULL)
        return;
    cx_private_pool_look(sequence->pool, &figures);
    fprintf(out, "memory: %zu byte%s kept in %zu piece%s, %zu byte%s in use in %zu piece%s",
            figures.kept_bytes, plural_end(figures.kept_bytes), figures.kept_count,
            plural_end(figures.kept_count), figures.live_bytes, plural_end(figures.live_bytes),
            figures.live_count, plural_end(figures.live_count));
}

/* ---- text ---- */

static void write_piece(FILE *out, const cx_sequence *sequence, size_t index)
{
    const cx_graph_piece *piece = &sequence->pieces[index];
    if (piece->native != NULL)
        fprintf(out, "  %zu  captured, %zu node%s", index + 1, piece->node_count,
                plural_end(piece->node_count));
    else
        fprintf(out, "  %zu  called", index + 1);
    for (size_t i = piece->first; i < piece->first + piece->count; i++)
        fprintf(out, "%s %s", i == piece->first ? ":" : ",",
                cx_operator_text(&sequence->operators[i], i + 1).text);
    fputc('\n', out);
}

static void write_text(FILE *out, const cx_sequence *sequence)
{
    fprintf(out, "graph of %s: %zu piece%s, %zu operator%s\n", cx_context_text(sequence->context),
            sequence->piece_count, plural_end(sequence->piece_count), sequence->operator_count,
            plural_end(sequence->operator_count));
    for (size_t i = 0; i < sequence->piece_count; i++)
        write_piece(out, sequence, i);
    write_memory(out, sequence);
    if (sequence->pool != NULL)
        fputc('\n', out);
}

/* ---- DOT ---- */

static void write_escaped(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
    }
}

static void write_node(FILE *out, const cx_sequence *sequence, size_t index)
{
    const cx_graph_piece *piece = &sequence->pieces[index];
    if (piece->native != NULL)
        fprintf(out, "  piece%zu [label=\"captured, %zu node%s", index + 1, piece->node_count,
                plural_end(piece->node_count));
    else
        fprintf(out, "  piece%zu [style=dashed, label=\"called", index + 1);
    for (size_t i = piece->first; i < piece->first + piece->count; i++) {
        fputs("\\n", out);
        write_escaped(out, cx_operator_text(&sequence->operators[i], i + 1).text);
    }
    fputs("\"];\n", out);
    if (index > 0)
        fprintf(out, "  piece%zu -> piece%zu;\n", index, index + 1);
}

static void write_dot(FILE *out, const cx_sequence *sequence)
{
    fputs("digraph graph_of_ctxrt {\n  node [shape=box];\n  label=\"", out);
    write_escaped(out, cx_context_text(sequence->context));
    if (sequence->pool != NULL)
        fputs("\\n", out);
    write_memory(out, sequence);
    fputs("\";\n", out);
    for (size_t i = 0; i < sequence->piece_count; i++)
        write_node(out, sequence, i);
    fputs("}\n", out);
}

/* ---- the call ---- */

/* Writes to memory first, so that the file gets it in one piece. NULL: out of memory. */
static char *compose_text(const cx_sequence *sequence, ctxrt_graph_format format, size_t *out_size)
{
    cx_text_file text;
    FILE *memory = cx_text_open(&text);
    if (memory == NULL)
        return NULL;
    (format == CTXRT_GRAPH_DOT ? write_dot : write_text)(memory, sequence);
    return cx_text_close(&text, out_size);
}

static ctxrt_status describe_sequence(const cx_sequence *sequence, ctxrt_graph_format format,
                                      FILE *file)
{
    size_t size = 0;
    char *text = compose_text(sequence, format, &size);
    if (text == NULL)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY,
                        "ctxrt_graph_describe: the host has no memory for it");
    errno = 0;
    bool written = fwrite(text, 1, size, file) == size && fflush(file) == 0;
    int reason = errno;
    free(text);
    return written ? CTXRT_SUCCESS
                   : cx_error(CTXRT_ERROR_SYSTEM,
                              "ctxrt_graph_describe: the file could not be written: %s",
                              reason != 0 ? strerror(reason) : "it took only a part");
}

ctxrt_status ctxrt_graph_describe(ctxrt_graph *handle, FILE *file, ctxrt_graph_format format)
{
    cx_graph *graph;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (file == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_graph_describe: file is NULL");
    if ((unsigned int)format > CTXRT_GRAPH_DOT)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "ctxrt_graph_describe: there is no format %d",
                        (int)format);
    status = cx_graph_enter(handle, &graph);
    if (status != CTXRT_SUCCESS)
        return status;
    int cancel = cx_cancel_hold();
    status = describe_sequence(graph->sequence, format, file);
    cx_cancel_restore(cancel);
    return cx_graph_leave(handle, status);
}
