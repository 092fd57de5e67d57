/* Past memory: its parts, and what is left of it when messages know it no more. */
#include "driver/driver.h"
#include "fixture.h"
#include "memory/freed_ranges.h"
#include "memory/address_index.h"
#include "test.h"

#include <sys/mman.h>

static void enter_past(uintptr_t begin, size_t size)
{
    const cx_freed_range past = {.begin = begin, .end = begin + size, .size_bytes = size};
    cx_pointers_lock();
    cx_freed_ranges_enter(&past);
    cx_pointers_unlock();
}

/* Forgets what earlier tests of the process have entered. */
static void leave_all(void)
{
    cx_pointers_lock();
    cx_freed_ranges_leave(0, UINTPTR_MAX);
    cx_pointers_unlock();
}

START_TEST(what_messages_have_forgotten_is_refused_unless_the_host_has_it)
{
    enum { ENTRIES = 1100, PAGE = 4096, PAGES = 8 };
    static char mine[PAGES * PAGE];
    cx_freed_range found;
    leave_all();
    enter_past((uintptr_t)mine, sizeof mine);
    for (uintptr_t i = 1; i <= ENTRIES; i++)
        enter_past(2 * i * PAGE, PAGE);
    for (int i = 1; i + 1 < PAGES; i++)
        ck_assert(!cx_freed_ranges_find(mine + (ptrdiff_t)i * PAGE, 64, &found));
    ck_assert(cx_freed_ranges_find((const void *)(uintptr_t)(2 * ENTRIES * PAGE), 64, &found));
    ck_assert_uint_eq(found.size_bytes, PAGE);
    ck_assert(cx_freed_ranges_find((const void *)(uintptr_t)(2 * PAGE), 64, &found));
    ck_assert_int_eq(found.how, CX_FREED_LONG_AGO);
    leave_all();
}
END_TEST

/* Messages know it; earlier tests of the process may have left some that they do not. */
static bool is_known(const char *pointer, size_t bytes)
{
    cx_freed_range found;
    return cx_freed_ranges_find(pointer, bytes, &found) && found.how != CX_FREED_LONG_AGO;
}

/* The first byte is the host's, the last one is not. */
START_TEST(memory_that_the_host_has_in_part_is_past_for_what_goes_beyond_that)
{
    enum { PAGE = 4096 };
    cx_freed_range found;
    char *pages = mmap(NULL, 2 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(pages, MAP_FAILED);
    ck_assert_int_eq(mprotect(pages + PAGE, PAGE, PROT_NONE), 0);
    leave_all();
    enter_past((uintptr_t)pages, 2 * PAGE);
    ck_assert(cx_freed_ranges_find(pages, PAGE + 1, &found));
    ck_assert(!cx_freed_ranges_find(pages, PAGE, &found));
    ck_assert(cx_freed_ranges_find(pages + PAGE, 1, &found));
    leave_all();
    ck_assert_int_eq(munmap(pages, 2 * PAGE), 0);
}
END_TEST

/* The rest of an entry is what memory that came again has left of it. */
START_TEST(memory_that_comes_again_leaves_the_rest_of_an_entry)
{
    enum { PAGE = 4096, PAGES = 8 };
    char *pages = mmap(NULL, PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(pages, MAP_FAILED);
    leave_all();
    enter_past((uintptr_t)pages, PAGES * PAGE);
    cx_pointers_lock();
    cx_freed_ranges_leave((uintptr_t)pages, (uintptr_t)pages + PAGE);
    cx_freed_ranges_leave((uintptr_t)pages + 3 * PAGE, (uintptr_t)pages + 5 * PAGE);
    cx_freed_ranges_leave((uintptr_t)pages + 7 * PAGE, (uintptr_t)pages + 9 * PAGE);
    cx_pointers_unlock();
    for (int i = 0; i < PAGES; i++)
        ck_assert_int_eq(is_known(pages + (ptrdiff_t)i * PAGE, PAGE),
                         i == 1 || i == 2 || i == 5 || i == 6);
    leave_all();
    ck_assert(!is_known(pages, PAGES * PAGE));
    ck_assert_int_eq(munmap(pages, PAGES * PAGE), 0);
}
END_TEST

static Suite *freed_ranges_suite(void)
{
    Suite *suite = suite_create("freed ranges");
    TCase *tcase = tcase_create("past");
    tcase_add_checked_fixture(tcase, cx_fixture_start, cx_fixture_end);
    tcase_add_test(tcase, memory_that_the_host_has_in_part_is_past_for_what_goes_beyond_that);
    tcase_add_test(tcase, memory_that_comes_again_leaves_the_rest_of_an_entry);
    tcase_add_test(tcase, what_messages_have_forgotten_is_refused_unless_the_host_has_it);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS_TOGETHER(freed_ranges_suite);
