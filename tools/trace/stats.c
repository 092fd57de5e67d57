#include "trace/stats.h"

#include "check/names.h"
#include "driver/work_timestamps.h"
#include "trace/calls.h"
#include "trace/pieces.h"
#include "trace/words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What is counted under one name. */
typedef struct sum {
    size_t word;
    uint64_t count, total_ns, least_ns, most_ns;
    uint64_t bytes; /* of copies and fills */
} sum;

/* A table; the number of a name's word is its place. */
typedef struct table {
    const char *title;
    bool moves; /* it has bytes */
    trace_words words;
    sum *all;
    size_t capacity;
    bool full; /* there is no memory */
} table;

static sum *find_sum(table *self, const char *name)
{
    size_t word = trace_word(&self->words, name);
    if (self->words.full)
        return NULL;
    if (word >= self->capacity) {
        size_t more = self->capacity != 0 ? 2 * self->capacity : 64;
        sum *all = reallocarray(self->all, more, sizeof *all);
        if (all == NULL)
            return NULL;
        memset(all + self->capacity, 0, (more - self->capacity) * sizeof *all);
        self->all = all;
        self->capacity = more;
    }
    self->all[word].word = word;
    return &self->all[word];
}

static void add(table *self, const char *name, uint64_t ns, uint64_t bytes)
{
    sum *one = find_sum(self, name);
    if (one == NULL) {
        self->full = true;
        return;
    }
    if (one->count == 0 || ns < one->least_ns)
        one->least_ns = ns;
    if (ns > one->most_ns)
        one->most_ns = ns;
    one->count++;
    one->total_ns += ns;
    one->bytes += bytes;
}

/* ---- what is counted ---- */

static void add_calls(const trace_process *self, table *calls)
{
    for (size_t i = 0; i < self->thread_count; i++)
        for (size_t j = 0; j < self->threads[i].count; j++) {
            const cx_trace_call *call = self->threads[i].calls[j];
            add(calls, call_name(call->slot), trace_call_over(self, call) - call->start, 0);
        }
}

static void add_work(const trace_process *self, table *kernels, table *moves, table *others)
{
    char name[SYMBOLS_NAME];
    for (size_t i = 0; i < self->work_count; i++) {
        const cx_trace_work *work = self->work[i];
        const trace_piece piece = {
            .work = work, .call = trace_call_of(self, work->ticket), .start = work->start,
            .end = work->end};
        const uint64_t ns = work->end - work->start;
        switch (work->record.detail) {
        case CX_TIMED_KERNEL:
            trace_piece_text(self, &piece, name, sizeof name);
            add(kernels, name, ns, 0);
            break;
        case CX_TIMED_MOVE:
            add(moves, trace_call_way(piece.call), ns, trace_call_bytes(piece.call));
            break;
        case CX_TIMED_ORDER:
            break; /* it takes no time */
        default:
            trace_piece_text(self, &piece, name, sizeof name);
            add(others, name, ns, 0);
        }
    }
}

/* ---- tables ---- */

static int by_total(const void *one, const void *other)
{
    const sum *first = one, *second = other;
    if (first->total_ns != second->total_ns)
        return first->total_ns < second->total_ns ? 1 : -1;
    return (first->word > second->word) - (first->word < second->word);
}

static void write_ns(uint64_t ns, FILE *to)
{
    fprintf(to, " %12.3f", (double)ns / 1000);
}

static void write_table(table *self, FILE *to)
{
    uint64_t total = 0;
    const size_t count = self->words.count;
    if (count == 0)
        return;
    qsort(self->all, count, sizeof *self->all, by_total);
    for (size_t i = 0; i < count; i++)
        total += self->all[i].total_ns;
    fprintf(to, "%s\n%6s %10s %12s %12s %12s %12s%s  %s\n", self->title, "share", "count",
            "total us", "min us", "mean us", "max us", self->moves ? "        bytes     GB/s" : "",
            "name");
    for (size_t i = 0; i < count; i++) {
        const sum *one = &self->all[i];
        fprintf(to, "%5.1f%% %10" PRIu64,
                total != 0 ? 100.0 * (double)one->total_ns / (double)total : 0.0, one->count);
        write_ns(one->total_ns, to);
        write_ns(one->least_ns, to);
        write_ns(one->total_ns / one->count, to);
        write_ns(one->most_ns, to);
        if (self->moves)
            fprintf(to, " %12" PRIu64 " %8.2f", one->bytes,
                    one->total_ns != 0 ? (double)one->bytes / (double)one->total_ns : 0.0);
        fprintf(to, "  %s\n", self->words.all[one->word]);
    }
    fputc('\n', to);
}

static void free_table(table *self)
{
    trace_words_free(&self->words);
    free(self->all);
}

bool trace_write_stats(const trace *self, FILE *to)
{
    table tables[] = {{.title = "Calls of the driver"},
                      {.title = "Kernels"},
                      {.title = "Copies and fills", .moves = true},
                      {.title = "Other work of streams"}};
    enum { TABLES = sizeof tables / sizeof tables[0] };
    bool good = true;
    for (size_t i = 0; i < self->count; i++) {
        add_calls(&self->processes[i], &tables[0]);
        add_work(&self->processes[i], &tables[1], &tables[2], &tables[3]);
    }
    for (int i = 0; i < TABLES; i++) {
        good = good && !tables[i].full;
        if (good)
            write_table(&tables[i], to);
        free_table(&tables[i]);
    }
    return good && fflush(to) == 0 && ferror(to) == 0;
}
