#include "trace/read.h"

#include "child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- growing ---- */

static bool grow(void *array, size_t *capacity, size_t count, size_t size)
{
    if (count < *capacity)
        return true;
    size_t more = *capacity != 0 ? 2 * *capacity : 64;
    void *grown = reallocarray(*(void **)array, more, size);
    if (grown == NULL)
        return false;
    *(void **)array = grown;
    *capacity = more;
    return true;
}

/* ---- records ---- */

static trace_thread *find_thread(trace_process *self, uint32_t number)
{
    for (size_t i = self->thread_count; i-- > 0;)
        if (self->threads[i].number == number)
            return &self->threads[i];
    trace_thread *grown =
        reallocarray(self->threads, self->thread_count + 1, sizeof *self->threads);
    if (grown == NULL)
        return NULL;
    self->threads = grown;
    grown[self->thread_count] = (trace_thread){.number = number};
    return &grown[self->thread_count++];
}

static void see_time(trace_process *self, uint64_t time)
{
    if (time > self->ended)
        self->ended = time;
}

static bool add_call(trace_process *self, trace_thread *thread, const cx_trace_call *call)
{
    if (!grow(&thread->calls, &thread->capacity, thread->count, sizeof *thread->calls))
        return false;
    thread->calls[thread->count++] = call;
    self->call_count++;
    see_time(self, call->start);
    see_time(self, trace_call_end(call));
    return true;
}

static bool add_work(trace_process *self, const cx_trace_work *work)
{
    if (!grow(&self->work, &self->work_capacity, self->work_count, sizeof *self->work))
        return false;
    self->work[self->work_count++] = work;
    see_time(self, work->end);
    return true;
}

static bool add_api(trace_process *self, trace_thread *thread, const cx_trace_api *api)
{
    if (!grow(&thread->apis, &thread->api_capacity, thread->api_count, sizeof *thread->apis))
        return false;
    thread->apis[thread->api_count++] = api;
    see_time(self, api->start);
    see_time(self, atomic_load(&((cx_trace_api *)(uintptr_t)api)->end));
    return true;
}

static bool is_whole(const cx_trace_record *record, uint64_t left)
{
    const cx_trace_call *call = (const cx_trace_call *)record;
    if (record->bytes > left)
        return false;
    if (record->what == CX_TRACE_WORK)
        return record->bytes == sizeof(cx_trace_work);
    if (record->what == CX_TRACE_MODULE)
        return record->bytes == sizeof(cx_trace_module) &&
               memchr(((const cx_trace_module *)record)->path, '\0', CX_TRACE_PATH) != NULL;
    if (record->what == CX_TRACE_API)
        return record->bytes == sizeof(cx_trace_api) &&
               memchr(((const cx_trace_api *)record)->name, '\0', CX_TRACE_API_NAME) != NULL;
    return record->what == CX_TRACE_CALL && call->slot < CX_SLOT_COUNT &&
           record->bytes == cx_trace_layouts[call->slot].bytes;
}

static bool add_module(trace_process *self, const cx_trace_module *module)
{
    if (!grow(&self->modules, &self->module_capacity, self->module_count, sizeof *self->modules))
        return false;
    self->modules[self->module_count++] = module;
    return true;
}

static bool add_record(trace_process *self, trace_thread *thread, const cx_trace_record *record)
{
    switch (record->what) {
    case CX_TRACE_CALL:
        return add_call(self, thread, (const cx_trace_call *)record);
    case CX_TRACE_WORK:
        return add_work(self, (const cx_trace_work *)record);
    case CX_TRACE_API:
        return add_api(self, thread, (const cx_trace_api *)record);
    default:
        return add_module(self, (const cx_trace_module *)record);
    }
}

static bool read_chunk(trace_process *self, const cx_trace_chunk *chunk)
{
    trace_thread *thread = find_thread(self, chunk->thread);
    uint64_t used = atomic_load(&((cx_trace_chunk *)(uintptr_t)chunk)->used);
    const char *records = (const char *)(chunk + 1);
    if (thread == NULL)
        return false;
    thread->tid = chunk->tid;
    memcpy(thread->name, chunk->name, sizeof thread->name - 1);
    thread->ended = chunk->ended;
    see_time(self, chunk->ended);
    if (used > CX_TRACE_CHUNK_BYTES - sizeof *chunk) {
        self->damaged = true;
        return true;
    }
    for (uint64_t at = 0; at < used;) {
        const cx_trace_record *record = (const cx_trace_record *)(const void *)(records + at);
        if (used - at < sizeof(cx_trace_call) || !is_whole(record, used - at)) {
            self->damaged = true;
            return true;
        }
        if (!add_record(self, thread, record))
            return false;
        at += record->bytes;
    }
    return true;
}

/* ---- order ---- */

static int by_thread(const void *one, const void *other)
{
    const cx_trace_chunk *first = *(const cx_trace_chunk *const *)one;
    const cx_trace_chunk *second = *(const cx_trace_chunk *const *)other;
    if (first->thread != second->thread)
        return first->thread < second->thread ? -1 : 1;
    return (first->number > second->number) - (first->number < second->number);
}

static int by_start(const void *one, const void *other)
{
    const cx_trace_work *first = *(const cx_trace_work *const *)one;
    const cx_trace_work *second = *(const cx_trace_work *const *)other;
    return (first->start > second->start) - (first->start < second->start);
}

/* The chunks of a thread follow each other; those that no thread began are left out. */
static bool read_chunks(trace_process *self)
{
    size_t most = (size_t)(self->bytes / CX_TRACE_CHUNK_BYTES), count = 0;
    const cx_trace_chunk **chunks = calloc(most, sizeof *chunks);
    bool good = chunks != NULL;
    for (uint64_t at = CX_TRACE_CHUNK_BYTES; good && at + CX_TRACE_CHUNK_BYTES <= self->bytes;
         at += CX_TRACE_CHUNK_BYTES) {
        const cx_trace_chunk *chunk = (const void *)((const char *)self->head + at);
        if (chunk->magic == CX_TRACE_MAGIC)
            chunks[count++] = chunk;
    }
    if (count > 0)
        qsort(chunks, count, sizeof *chunks, by_thread);
    for (size_t i = 0; good && i < count; i++)
        good = read_chunk(self, chunks[i]);
    free(chunks);
    if (good && self->work_count > 0)
        qsort(self->work, self->work_count, sizeof *self->work, by_start);
    return good;
}

/* ---- files ---- */

/* False with errno. *out_other: it is no file of this kind. */
static bool map_file(const char *path, trace_process *out, bool *out_other)
{
    struct stat status;
    *out_other = false;
    *out = (trace_process){.bytes = 0};
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    bool large = fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
                 (uint64_t)status.st_size >= CX_TRACE_CHUNK_BYTES;
    void *mapped = large ? mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, file, 0)
                         : MAP_FAILED;
    int error = errno;
    (void)close(file);
    errno = error;
    *out_other = !large;
    if (mapped == MAP_FAILED)
        return false;
    out->head = mapped;
    out->bytes = (uint64_t)status.st_size;
    *out_other = out->head->magic != CX_TRACE_MAGIC || out->head->version != CX_TRACE_VERSION ||
                 memchr(out->head->program, '\0', sizeof out->head->program) == NULL;
    if (*out_other)
        (void)munmap(mapped, (size_t)out->bytes);
    return !*out_other;
}

static void free_process(trace_process *self)
{
    for (size_t i = 0; i < self->thread_count; i++) {
        free(self->threads[i].calls);
        free(self->threads[i].apis);
    }
    free(self->threads);
    free(self->work);
    free(self->modules);
    free(self->objects);
    (void)munmap((void *)(uintptr_t)self->head, (size_t)self->bytes);
}

static bool read_file(trace *self, const char *path, bool named)
{
    trace_process process;
    bool other;
    if (!map_file(path, &process, &other)) {
        if (other)
            errno = EINVAL;
        return other && !named;
    }
    process.ended = process.head->begun;
    trace_process *grown = NULL;
    if (snprintf(process.path, sizeof process.path, "%s", path) < (int)sizeof process.path &&
        read_chunks(&process))
        grown = reallocarray(self->processes, self->count + 1, sizeof *grown);
    if (grown == NULL) {
        free_process(&process);
        errno = ENOMEM;
        return false;
    }
    self->processes = grown;
    grown[self->count++] = process;
    return true;
}

static int by_begin(const void *one, const void *other)
{
    const trace_process *first = one, *second = other;
    return (first->head->begun > second->head->begun) - (first->head->begun < second->head->begun);
}

static bool read_folder(trace *self, DIR *folder, const char *name)
{
    char path[512];
    bool good = true;
    for (const struct dirent *one = readdir(folder); good && one != NULL; one = readdir(folder))
        if (strncmp(one->d_name, "ctxrt-trace.", 12) == 0 &&
            snprintf(path, sizeof path, "%s/%s", name, one->d_name) < (int)sizeof path)
            good = read_file(self, path, false);
    self->lost = child_count_empty_files(name, "ctxrt-trace.");
    return good;
}

bool trace_read(const char *path, trace *out)
{
    *out = (trace){.count = 0};
    cx_trace_layouts_make();
    DIR *folder = opendir(path);
    bool good = folder != NULL ? read_folder(out, folder, path) : read_file(out, path, true);
    int error = errno;
    if (folder != NULL)
        (void)closedir(folder);
    if (out->count > 0) {
        qsort(out->processes, out->count, sizeof *out->processes, by_begin);
        out->begun = out->processes[0].head->begun;
    }
    if (!good)
        trace_free(out);
    errno = error;
    return good;
}

void trace_free(trace *self)
{
    for (size_t i = 0; i < self->count; i++)
        free_process(&self->processes[i]);
    free(self->processes);
    *self = (trace){.count = 0};
}

uint64_t trace_lost_of_all(const trace *self)
{
    uint64_t lost = 0;
    for (size_t i = 0; i < self->count; i++)
        lost += trace_lost(&self->processes[i]);
    return lost;
}

/* ---- calls ---- */

const cx_trace_call *trace_call_of(const trace_process *self, uint64_t ticket)
{
    for (size_t i = 0; i < self->thread_count; i++) {
        const trace_thread *thread = &self->threads[i];
        if (thread->number != ticket >> 40 || thread->count == 0 ||
            ticket < thread->calls[0]->ticket)
            continue;
        uint64_t index = ticket - thread->calls[0]->ticket;
        return index < thread->count && thread->calls[index]->ticket == ticket
                   ? thread->calls[index]
                   : NULL;
    }
    return NULL;
}

/* The last one that began before the call: the one before it is over by then, unless a callback
 * made it within another. */
const cx_trace_api *trace_api_of(const trace_process *self, const trace_thread *thread,
                                 const cx_trace_call *call)
{
    size_t low = 0, high = thread->api_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (thread->apis[middle]->start <= call->start)
            low = middle + 1;
        else
            high = middle;
    }
    const cx_trace_api *api = low > 0 ? thread->apis[low - 1] : NULL;
    return api != NULL && call->start <= trace_api_over(self, api) ? api : NULL;
}
