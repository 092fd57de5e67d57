/* Fills and checks the bytes around guarded blocks and inside freed ones, in the order of their
 * streams or by the host. */
#include "base/error.h"
#include "base/log.h"
#include "diagnose/origin.h"
#include "diagnose/guard.h"
#include "work/relaxed_capture.h"
#include "work/stream.h"

#include <stdlib.h>
#include <string.h>

/* Bytes that are seldom written by accident, and that make conspicuous numbers. */
#define AROUND 0xC9
#define FRESH 0xA7
#define FREED 0xDB

#define CHUNK_BYTES ((size_t)64 << 10)

/* ---- the order of a block's work ---- */

/* For a stream that is gone, only a wait for the whole context covers its work. For pinned memory
 * the host does the work. */
typedef struct queue {
    const cx_driver *driver;
    CUstream native;
    bool host, gone, capturing;
} queue;

static queue queue_of(const cx_guarded *guarded)
{
    queue self = {.driver = guarded->inner.context->driver, .host = guarded->stream == NULL};
    if (self.host)
        return self;
    const cx_stream *stream = cx_pool_find(&cx_streams, guarded->stream);
    self.gone = stream == NULL;
    if (self.gone)
        return self;
    self.native = atomic_load(&stream->native);
    self.capturing = !cx_relaxed_capture_may_query(self.driver, self.native);
    return self;
}

static cxu_result fill_bytes(const queue *line, uintptr_t address, unsigned char value, size_t size)
{
    if (line->host) {
        memset((void *)address, value, size);
        return CXU_SUCCESS;
    }
    return line->gone ? line->driver->table.memset_d8(address, value, size)
                       : line->driver->table.memset_d8_async(address, value, size, line->native);
}

/* Waits for all work that may write there. */
static cxu_result wait_for_queue(const queue *line)
{
    return line->gone ? line->driver->table.ctx_synchronize()
                       : line->driver->table.stream_synchronize(line->native);
}

static cxu_result read_back(const queue *line, unsigned char *bytes, uintptr_t address, size_t size)
{
    if (line->host) {
        memcpy(bytes, (const void *)address, size);
        return CXU_SUCCESS;
    }
    if (line->gone)
        return line->driver->table.memcpy_dtoh(bytes, address, size);
    cxu_result result = line->driver->table.memcpy_dtoh_async(bytes, address, size, line->native);
    return result == CXU_SUCCESS ? line->driver->table.stream_synchronize(line->native) : result;
}

/* ---- filling ---- */

ctxrt_status cx_guard_mark(const cx_guard *guard, cx_guarded *guarded)
{
    cxu_result result = CXU_SUCCESS;
    const uintptr_t begin = (uintptr_t)guarded->pointer;
    cx_relaxed_capture relaxed = cx_relaxed_capture_begin(guarded->inner.context->driver);
    queue line = queue_of(guarded);
    guarded->marked = !line.capturing && (guard->options.flags & CTXRT_DEBUG_CANARY) != 0;
    if (guarded->marked)
        result = fill_bytes(&line, begin - CX_GUARD_BYTES, AROUND, CX_GUARD_BYTES);
    if (result == CXU_SUCCESS && guarded->marked)
        result = fill_bytes(&line, begin + guarded->size_bytes, AROUND, CX_GUARD_BYTES);
    if (result == CXU_SUCCESS && !line.capturing &&
        (guard->options.flags & CTXRT_DEBUG_POISON) != 0)
        result = fill_bytes(&line, begin, FRESH, guarded->size_bytes);
    cx_relaxed_capture_end(&relaxed);
    return cx_driver_check(line.driver, CX_SLOT_memset_d8_async, result);
}

void cx_guard_fill_freed(const cx_guard *guard, cx_guarded *guarded)
{
    if ((guard->options.flags & CTXRT_DEBUG_POISON) == 0)
        return;
    cx_relaxed_capture relaxed = cx_relaxed_capture_begin(guarded->inner.context->driver);
    queue line = queue_of(guarded);
    guarded->filled = !line.capturing && fill_bytes(&line, (uintptr_t)guarded->pointer, FREED,
                                                    guarded->size_bytes) == CXU_SUCCESS;
    /* The inside may now show other writes than the bytes around it did. */
    guarded->told = guarded->told && !guarded->filled;
    cx_relaxed_capture_end(&relaxed);
}

/* ---- checking ---- */

ctxrt_status cx_guard_report(cx_guarded *guarded, const cx_guard_finding *finding)
{
    char place[256];
    cx_place_text(guarded->place, place, sizeof place);
    ctxrt_status status =
        cx_error(CTXRT_ERROR_CORRUPTED, "the %zu bytes at %p of %s%s%s: byte %zu %s is %#x",
                 guarded->size_bytes, guarded->pointer, cx_context_text(guarded->inner.context),
                 place[0] != '\0' ? ", allocated in " : "", place, finding->distance,
                 finding->where, finding->value);
    if (!guarded->told)
        cx_log(CTXRT_LOG_ERROR, "%s", ctxrt_last_error()->message);
    guarded->told = true;
    return status;
}

/* Finds the first byte at an address that is not this value: returns its number, or `size`.
 * SIZE_MAX: the driver refused, which says nothing about the bytes. */
static size_t find_other(const queue *line, uintptr_t address, size_t size, unsigned char value,
                         unsigned char *out_other)
{
    unsigned char *bytes = malloc(size < CHUNK_BYTES ? size : CHUNK_BYTES);
    size_t at = 0;
    while (bytes != NULL && at < size) {
        size_t length = size - at < CHUNK_BYTES ? size - at : CHUNK_BYTES;
        size_t same = 0;
        if (read_back(line, bytes, address + at, length) != CXU_SUCCESS)
            break;
        while (same < length && bytes[same] == value)
            same++;
        if (same < length) {
            *out_other = bytes[same];
            free(bytes);
            return at + same;
        }
        at += length;
    }
    free(bytes);
    return at < size ? SIZE_MAX : size;
}

static bool look_around(const cx_guarded *guarded, const queue *line, cx_guard_finding *out_finding)
{
    unsigned char other = 0;
    uintptr_t begin = (uintptr_t)guarded->pointer;
    size_t before = find_other(line, begin - CX_GUARD_BYTES, CX_GUARD_BYTES, AROUND, &other);
    if (before < CX_GUARD_BYTES) {
        *out_finding = (cx_guard_finding){"before it", CX_GUARD_BYTES - before, other};
        return true;
    }
    size_t behind = find_other(line, begin + guarded->size_bytes, CX_GUARD_BYTES, AROUND, &other);
    *out_finding = (cx_guard_finding){"behind it", behind + 1, other};
    return behind < CX_GUARD_BYTES;
}

static bool look_inside(const cx_guarded *guarded, const queue *line, cx_guard_finding *out_finding)
{
    unsigned char other = 0;
    size_t at = find_other(line, (uintptr_t)guarded->pointer, guarded->size_bytes, FREED, &other);
    *out_finding = (cx_guard_finding){"of it was written after it was freed: it", at, other};
    return at < guarded->size_bytes;
}

static bool look(const cx_guarded *guarded, const queue *line, cx_guard_finding *out_finding)
{
    return guarded->filled ? look_inside(guarded, line, out_finding)
                           : look_around(guarded, line, out_finding);
}

bool cx_guard_sees(const cx_guarded *guarded, cx_guard_finding *out_finding)
{
    const queue host = {.host = true};
    if (!guarded->filled && !guarded->marked)
        return false;
    if (guarded->stream == NULL)
        return look(guarded, &host, out_finding);
    cx_relaxed_capture relaxed = cx_relaxed_capture_begin(guarded->inner.context->driver);
    queue line = queue_of(guarded);
    bool found = !line.capturing && wait_for_queue(&line) == CXU_SUCCESS &&
                 look(guarded, &line, out_finding);
    cx_relaxed_capture_end(&relaxed);
    return found;
}
