#include "emu/memory/access_log.h"

#include "base/hash.h"
#include "base/lock.h"

#include <stdlib.h>

enum { PAGE = 4096, WORDS = PAGE / 64, PAGES_MOST = 1 << 15 };

typedef struct touched_page {
    uint64_t number;         /* of its address */
    uint64_t bits[4][WORDS]; /* by cx_access_how: one for each byte */
    UT_hash_handle hh;
} touched_page;

struct cx_emu_access_log {
    cx_lock lock; /* "emu.access_log": innermost */
    touched_page *pages, *last;
    size_t count;
};

cx_emu_access_log *cx_emu_access_log_new(void)
{
    cx_emu_access_log *self = calloc(1, sizeof *self);

    if (self != NULL)
        cx_lock_init(&self->lock, CX_RANK_EMU_ACCESS_LOG);
    return self;
}

void cx_emu_access_log_free(cx_emu_access_log *self)
{
    touched_page *page, *next;

    if (self == NULL)
        return;
    HASH_ITER (hh, self->pages, page, next) {
        HASH_DEL(self->pages, page);
        free(page);
    }
    cx_lock_destroy(&self->lock);
    free(self);
}

/* ---- noting ---- */

static touched_page *page_of(cx_emu_access_log *self, uint64_t number)
{
    touched_page *page = self->last;

    if (page != NULL && page->number == number)
        return page;
    HASH_FIND(hh, self->pages, &number, sizeof number, page);
    if (page == NULL && self->count < PAGES_MOST && (page = calloc(1, sizeof *page)) != NULL) {
        bool added = true;

        page->number = number;
        HASH_ADD(hh, self->pages, number, sizeof page->number, page);
        self->count += added;
        if (!added) {
            free(page);
            page = NULL;
        }
    }
    self->last = page;
    return page;
}

/* Sets the bits from `at` to before `end`. */
static void set_bits(uint64_t *bits, unsigned at, unsigned end)
{
    while (at < end) {
        const unsigned first = at % 64, count = end - at < 64 - first ? end - at : 64 - first;

        bits[at / 64] |= (count == 64 ? UINT64_MAX : ((uint64_t)1 << count) - 1) << first;
        at += count;
    }
}

void cx_emu_access_log_note(cx_emu_access_log *self, const cx_ptx_touch *touch)
{
    const cx_access_how how = touch->atomic          ? CX_ACCESS_ATOMIC
                              : touch->value != NULL ? CX_ACCESS_WRITE
                              : touch->polls         ? CX_ACCESS_POLL
                                                     : CX_ACCESS_READ;
    unsigned at = touch->address % PAGE; /* no access goes over a border of pages */

    cx_lock_enter(&self->lock);
    touched_page *page = page_of(self, touch->address / PAGE);
    if (page != NULL)
        set_bits(page->bits[how], at, at + touch->bytes);
    cx_lock_leave(&self->lock);
}

/* ---- what came of it ---- */

/* The first bit from `at` on that is set or, with `flip` UINT64_MAX, that is not; PAGE: there is
 * none. */
static unsigned next_bit(const uint64_t *bits, unsigned at, uint64_t flip)
{
    for (; at < PAGE; at = (at / 64 + 1) * 64) {
        uint64_t rest = (bits[at / 64] ^ flip) >> at % 64;

        if (rest)
            return at + (unsigned)__builtin_ctzll(rest);
    }
    return PAGE;
}

typedef struct touch_list {
    cx_access *all;
    size_t count, capacity;
} touch_list;

static void add_range(touch_list *list, uint64_t begin, uint64_t end, cx_access_how how)
{
    cx_access *last = list->count > 0 ? &list->all[list->count - 1] : NULL;

    if (last != NULL && last->how == how && last->end == begin) {
        last->end = end;
        return;
    }
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 16;
        cx_access *all = reallocarray(list->all, capacity, sizeof *all);

        if (all == NULL)
            return;
        list->all = all;
        list->capacity = capacity;
    }
    list->all[list->count++] = (cx_access){begin, end, how};
}

static void add_page(touch_list *list, const touched_page *page, cx_access_how how)
{
    const uint64_t *bits = page->bits[how], first = page->number * PAGE;

    for (unsigned end, at = next_bit(bits, 0, 0); at < PAGE; at = next_bit(bits, end, 0)) {
        end = next_bit(bits, at, UINT64_MAX);
        add_range(list, first + at, first + end, how);
    }
}

/* What the kernel stores itself it need not wait for. */
static void settle_polls(touched_page *page)
{
    for (unsigned i = 0; i < WORDS; i++) {
        uint64_t own = page->bits[CX_ACCESS_WRITE][i] | page->bits[CX_ACCESS_ATOMIC][i];

        page->bits[CX_ACCESS_READ][i] |= page->bits[CX_ACCESS_POLL][i] & own;
        page->bits[CX_ACCESS_POLL][i] &= ~own;
    }
}

static int by_number(const touched_page *one, const touched_page *other)
{
    return (one->number > other->number) - (one->number < other->number);
}

size_t cx_emu_access_log_take(cx_emu_access_log *self, uint64_t fault, cx_access **out_all)
{
    touch_list list = {0};

    HASH_SORT(self->pages, by_number);
    for (touched_page *page = self->pages; page != NULL; page = page->hh.next)
        settle_polls(page);
    for (int how = CX_ACCESS_READ; how <= CX_ACCESS_POLL; how++)
        for (const touched_page *page = self->pages; page != NULL; page = page->hh.next)
            add_page(&list, page, (cx_access_how)how);
    if (fault)
        add_range(&list, fault, fault + 1, CX_ACCESS_FAULT);
    *out_all = list.all;
    return list.count;
}
