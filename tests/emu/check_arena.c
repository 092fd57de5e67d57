/* Address ranges and pages of a GPU and of the host, without a driver around them. */
#include "emu/memory/arena.h"
#include "emu/device/device.h"
#include "memory_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define QUOTA MIB

static cx_emu_arena *arena;

static void open_arena(void)
{
    arena = cx_emu_arena_create(QUOTA, false);
    ck_assert_ptr_nonnull(arena);
}

static void close_arena(void)
{
    cx_emu_arena_destroy(arena);
}

static cx_emu_range *take(size_t bytes)
{
    cx_emu_range *range = cx_emu_arena_take(arena, bytes);
    ck_assert_ptr_nonnull(range);
    ck_assert_uint_eq(range->bytes, bytes);
    ck_assert_uint_eq(range->address % CX_EMU_ALIGNMENT, 0);
    return range;
}

static bool is_mapped(const void *address)
{
    uintptr_t page = (uintptr_t)address & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
    return msync((void *)page, 1, MS_ASYNC) == 0;
}

static size_t resident_pages(const unsigned char *start, size_t bytes)
{
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    size_t pages = bytes / page_bytes;
    size_t resident = 0;
    unsigned char *states = malloc(pages);
    ck_assert_int_eq(mincore((void *)(uintptr_t)start, bytes, states), 0);
    for (size_t i = 0; i < pages; i++)
        resident += states[i] & 1;
    free(states);
    return resident;
}

START_TEST(neighbours_join_again_in_every_order_of_giving)
{
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    const int *order = orders[_i];
    cx_emu_range *ranges[3] = {take(512), take(4096), take(2 * QUOTA - 4608)};
    uintptr_t start = ranges[0]->address;
    for (int i = 0; i < 3; i++)
        cx_emu_arena_give(ranges[order[i]]);
    cx_emu_range *whole = take(2 * QUOTA);
    ck_assert_uint_eq(whole->address, start);
    cx_emu_arena_give(whole);
}
END_TEST

START_TEST(the_tightest_gap_is_taken)
{
    cx_emu_range *wide = take(8192), *wall = take(512), *tight = take(1024), *end = take(512);
    uintptr_t expected = tight->address;
    cx_emu_arena_give(wide);
    cx_emu_arena_give(tight);
    tight = take(1024);
    ck_assert_uint_eq(tight->address, expected);
    cx_emu_arena_give(tight);
    cx_emu_arena_give(wall);
    cx_emu_arena_give(end);
}
END_TEST

START_TEST(the_gap_before_an_aligned_range_stays_free)
{
    cx_emu_range *first = take(512);
    cx_emu_range *aligned = cx_emu_arena_take_aligned(arena, 8192, QUOTA);
    ck_assert_ptr_nonnull(aligned);
    ck_assert_uint_eq(aligned->bytes, 8192);
    ck_assert_uint_eq(aligned->address, first->address + QUOTA);
    cx_emu_range *gap = take(QUOTA - 512);
    ck_assert_uint_eq(gap->address, first->address + 512);
    cx_emu_arena_give(aligned);
    cx_emu_arena_give(first);
    cx_emu_arena_give(gap);
    cx_emu_range *whole = cx_emu_arena_take_aligned(arena, 2 * QUOTA, CX_EMU_LARGE_ALIGNMENT);
    ck_assert_uint_eq(whole->address % CX_EMU_LARGE_ALIGNMENT, 0);
    cx_emu_arena_give(whole);
}
END_TEST

START_TEST(many_tight_gaps_do_not_hide_a_wide_one)
{
    enum { GAPS = 40 };
    cx_emu_range *ranges[2 * GAPS];
    for (int i = 0; i < 2 * GAPS; i++)
        ranges[i] = take(1024);
    for (int i = 0; i < 2 * GAPS; i += 2)
        cx_emu_arena_give(ranges[i]); /* of the size, at no multiple of the alignment */
    cx_emu_range *aligned = cx_emu_arena_take_aligned(arena, 1024, 65536);
    ck_assert_ptr_nonnull(aligned);
    ck_assert_uint_eq(aligned->address % 65536, 0);
    cx_emu_arena_give(aligned);
    for (int i = 1; i < 2 * GAPS; i += 2)
        cx_emu_arena_give(ranges[i]);
}
END_TEST

START_TEST(fragments_never_stand_in_the_way)
{
    enum { PIECES = 2 * QUOTA / 512 };
    static cx_emu_range *pieces[PIECES];
    for (int i = 0; i < PIECES; i++)
        pieces[i] = take(512);
    for (int i = 0; i < PIECES; i += 2)
        cx_emu_arena_give(pieces[i]);
    cx_emu_range *wide = take(QUOTA);
    unsigned char *mapped = wide->mapped;
    memset(mapped, 1, wide->bytes);
    cx_emu_arena_give(wide);
    ck_assert(!is_mapped(mapped));
    for (int i = 1; i < PIECES; i += 2)
        cx_emu_arena_give(pieces[i]);
}
END_TEST

START_TEST(pages_come_with_the_touch_and_go_with_the_range)
{
    cx_emu_range *range = take(QUOTA);
    unsigned char *mapped = range->mapped;
    ck_assert_uint_eq(resident_pages(mapped, QUOTA), 0);
    memset(mapped, 1, QUOTA);
    ck_assert_uint_eq(resident_pages(mapped, QUOTA), QUOTA / (size_t)sysconf(_SC_PAGESIZE));
    cx_emu_arena_give(range);
    ck_assert_uint_eq(resident_pages(mapped, QUOTA), 0);
}
END_TEST

START_TEST(a_page_goes_with_the_last_range_on_it)
{
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    cx_emu_range *first = take(512), *second = take(512);
    unsigned char *page = first->mapped;
    memset(first->mapped, 1, 512);
    memset(second->mapped, 2, 512);
    cx_emu_range_discard(first);
    cx_emu_arena_give(first);
    for (int i = 0; i < 512; i++)
        ck_assert_uint_eq(second->mapped[i], 2);
    cx_emu_arena_give(second);
    ck_assert_uint_eq(resident_pages(page, page_bytes), 0);
}
END_TEST

START_TEST(discarded_pages_are_gone_before_the_range_is)
{
    cx_emu_range *range = take(QUOTA);
    memset(range->mapped, 1, QUOTA);
    cx_emu_range_discard(range);
    ck_assert_uint_eq(resident_pages(range->mapped, QUOTA), 0);
    cx_emu_arena_give(range);
}
END_TEST

START_TEST(the_host_faults_on_a_users_address)
{
    cx_emu_range *range = take(512);
    *(volatile char *)range->address = 1;
}
END_TEST

START_TEST(with_host_access_both_see_the_same_bytes)
{
    cx_emu_arena *open = cx_emu_arena_create(QUOTA, true);
    cx_emu_range *range = cx_emu_arena_take(open, 512);
    ck_assert_ptr_nonnull(range);
    *(volatile unsigned char *)range->address = 42;
    ck_assert_uint_eq(range->mapped[0], 42);
    cx_emu_arena_give(range);
    cx_emu_arena_destroy(open);
}
END_TEST

static int open_files(void)
{
    int count = 0;
    DIR *directory = opendir("/proc/self/fd");
    ck_assert_ptr_nonnull(directory);
    while (readdir(directory) != NULL)
        count++;
    closedir(directory);
    return count;
}

static int gpu_mappings(void)
{
    char line[512];
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    ck_assert_ptr_nonnull(maps);
    while (fgets(line, sizeof(line), maps) != NULL)
        count += strstr(line, "ctxrt-gpu") != NULL;
    fclose(maps);
    return count;
}

static rlim_t address_space_bytes(void)
{
    unsigned long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    ck_assert_ptr_nonnull(statm);
    ck_assert_int_eq(fscanf(statm, "%lu", &pages), 1);
    fclose(statm);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* Takes under a limit that forbids it, and again without: nothing may be left of the first. */
static void fail_under(int resource, rlim_t allowed, size_t bytes)
{
    struct rlimit before;
    ck_assert_int_eq(getrlimit(resource, &before), 0);
    struct rlimit low = {.rlim_cur = allowed, .rlim_max = before.rlim_max};
    int files = open_files();
    ck_assert_int_eq(setrlimit(resource, &low), 0);
    cx_emu_range *range = cx_emu_arena_take(arena, bytes);
    ck_assert_int_eq(setrlimit(resource, &before), 0);
    ck_assert_ptr_null(range);
    ck_assert_int_eq(open_files(), files);
    ck_assert_int_eq(gpu_mappings(), 0);
    cx_emu_arena_give(take(bytes));
    ck_assert_int_eq(open_files(), files + 1); /* the segment's, for other processes */
}

START_TEST(without_a_descriptor_nothing_is_taken_or_leaked)
{
    fail_under(RLIMIT_NOFILE, 0, 512);
}
END_TEST

START_TEST(a_limit_of_file_size_fails_and_does_not_kill)
{
    fail_under(RLIMIT_FSIZE, QUOTA, 2 * QUOTA);
}
END_TEST

START_TEST(without_address_space_nothing_is_taken_or_leaked)
{
    cx_emu_arena_destroy(arena);
    arena = cx_emu_arena_create((size_t)8 << 30, false);
    fail_under(RLIMIT_AS, address_space_bytes() + 16 * MIB, 32 * MIB);
}
END_TEST

START_TEST(a_second_mapping_that_fails_undoes_the_first)
{
    cx_emu_arena_destroy(arena);
    arena = cx_emu_arena_create((size_t)8 << 30, false);
    fail_under(RLIMIT_AS, address_space_bytes() + 48 * MIB, 32 * MIB);
}
END_TEST

START_TEST(where_a_limit_leaves_only_the_request_the_request_is_served)
{
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = MIB;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    cx_emu_arena_give(take(MIB));
}
END_TEST

/* Whatever looks through all that is mapped, as memcheck does when a program ends, touches it. */
START_TEST(a_large_arena_maps_no_more_than_is_taken_and_some)
{
    cx_emu_arena_destroy(arena);
    arena = cx_emu_arena_create((size_t)1 << 40, false);
    rlim_t before = address_space_bytes();
    cx_emu_range *small = take(512);
    ck_assert_uint_le(address_space_bytes() - before, 65 * MIB);
    cx_emu_range *large = take(1024 * MIB);
    ck_assert_uint_le(address_space_bytes() - before, 65 * MIB + 2048 * MIB);
    cx_emu_arena_give(large);
    ck_assert_uint_le(address_space_bytes() - before, 65 * MIB);
    cx_emu_arena_give(small);
}
END_TEST

START_TEST(sizes_that_overflow_are_refused)
{
    ck_assert_ptr_null(cx_emu_arena_create(SIZE_MAX / 2 + 1, false));
    ck_assert_ptr_null(cx_emu_arena_take(arena, SIZE_MAX - 511));
}
END_TEST

START_TEST(random_ranges_keep_their_bytes)
{
    enum { SLOTS = 200, STEPS = 20000 };
    cx_emu_range *slots[SLOTS] = {NULL};
    unsigned int seed = 7;
    for (int step = 0; step < STEPS; step++) {
        int i = rand_r(&seed) % SLOTS;
        if (slots[i] != NULL) {
            for (size_t at = 0; at < slots[i]->bytes; at += 509)
                ck_assert_uint_eq(slots[i]->mapped[at], (unsigned char)i);
            cx_emu_arena_give(slots[i]);
            slots[i] = NULL;
        } else {
            slots[i] = take(512 * (size_t)(1 + rand_r(&seed) % 64));
            memset(slots[i]->mapped, i, slots[i]->bytes);
        }
    }
    for (int i = 0; i < SLOTS; i++)
        if (slots[i] != NULL)
            cx_emu_arena_give(slots[i]);
    ck_assert_int_eq(gpu_mappings() > 0, 1);
    cx_emu_arena_give(take(2 * QUOTA));
}
END_TEST

/* ---- memory of the host ---- */

static void open_host_arena(void)
{
    arena = cx_emu_arena_create_of_host(1024 * MIB);
    ck_assert_ptr_nonnull(arena);
}

START_TEST(pages_of_much_host_memory_go_with_the_range)
{
    enum { MUCH = 16 * MIB };
    cx_emu_range *range = take(MUCH);
    unsigned char *memory = (unsigned char *)range->address;
    ck_assert_ptr_eq(range->mapped, memory);
    ck_assert(!cx_emu_range_is_kept(range));
    memset(memory, 1, MUCH);
    cx_emu_arena_give(range);
    ck_assert_uint_eq(resident_pages(memory, MUCH), 0);
}
END_TEST

START_TEST(pages_of_little_host_memory_stay_until_it_is_much)
{
    enum { PIECES = 256, PIECE = MIB / 16 };
    cx_emu_range *pieces[PIECES];
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < PIECES; i++) {
        pieces[i] = take(PIECE);
        memset(pieces[i]->mapped, i, PIECE);
    }
    unsigned char *start = pieces[0]->mapped;
    ck_assert(cx_emu_range_is_kept(pieces[0]));
    cx_emu_arena_give(pieces[0]);
    ck_assert_uint_eq(resident_pages(start, PIECE), PIECE / page_bytes);
    for (int i = 1; i < PIECES; i++)
        cx_emu_arena_give(pieces[i]);
    ck_assert_uint_le(resident_pages(start, PIECES * PIECE), PIECES * PIECE / 4 / page_bytes);
}
END_TEST

/* Of what is allocated and freed by turns no page is asked for twice. */
START_TEST(host_memory_that_is_taken_by_turns_keeps_its_pages)
{
    unsigned char *start = NULL;
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < 1000; i++) {
        cx_emu_range *range = take(MIB);
        start = range->mapped;
        ck_assert_uint_eq(resident_pages(start, MIB), i == 0 ? 0 : MIB / page_bytes);
        memset(start, 1, MIB);
        cx_emu_arena_give(range);
    }
}
END_TEST

START_TEST(addresses_of_host_memory_stay_the_arenas_when_it_is_given_back)
{
    cx_emu_range *small = take(512), *large = take(64 * MIB);
    uintptr_t address = large->address;
    ck_assert(cx_emu_arena_overlaps(arena, address, 1));
    ck_assert(cx_emu_arena_overlaps(arena, address - 1, 2));
    ck_assert(cx_emu_arena_overlaps(arena, address + 64 * MIB - 1, 64 * MIB));
    ck_assert(!cx_emu_arena_overlaps(arena, (uintptr_t)&small, sizeof small));
    cx_emu_arena_give(large);
    ck_assert(cx_emu_arena_overlaps(arena, address, 1));
    memset((void *)address, 1, 64 * MIB); /* reaches nobody's memory */
    void *other = malloc(64 * MIB);
    ck_assert(!cx_emu_arena_overlaps(arena, (uintptr_t)other, 64 * MIB));
    free(other);
    large = take(64 * MIB);
    ck_assert_uint_eq(large->address, address);
    cx_emu_arena_give(large);
    cx_emu_arena_give(small);
}
END_TEST

static bool all_are(const unsigned char *bytes, size_t count, unsigned char value)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != value)
            return false;
    return true;
}

/* Also where the two ends lie in one page, or at the edges of pages. */
START_TEST(a_clear_zeroes_exactly_its_bytes_and_frees_whole_pages)
{
    enum { PAGES = 8 };
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = PAGES * page;
    const size_t ends[][3] = {{page + 7, 5 * page + 1, 3}, {page, 3 * page, 2}, {9, 30, 0},
                              {page - 1, page + 1, 0},     {0, bytes, 8},       {5, page, 0}};
    cx_emu_range *range = take(bytes);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        const size_t begin = ends[i][0], end = ends[i][1];
        memset(range->mapped, 1, bytes);
        cx_emu_range_clear(range, begin, end);
        ck_assert_uint_eq(resident_pages(range->mapped, bytes), PAGES - ends[i][2]);
        ck_assert(all_are(range->mapped, begin, 1));
        ck_assert(all_are(range->mapped + begin, end - begin, 0));
        ck_assert(all_are(range->mapped + end, bytes - end, 1));
    }
    cx_emu_arena_give(range);
}
END_TEST

START_TEST(a_clear_zeroes_pages_that_the_program_has_locked)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = 4 * page;
    cx_emu_range *range = take(bytes);
    memset(range->mapped, 1, bytes);
    if (mlock(range->mapped + page, page) == 0) {
        cx_emu_range_clear(range, 1, bytes - 1);
        ck_assert(range->mapped[0] == 1 && range->mapped[bytes - 1] == 1);
        ck_assert(all_are(range->mapped + 1, bytes - 2, 0));
        (void)munlock(range->mapped + page, page);
    }
    cx_emu_arena_give(range);
}
END_TEST

static Suite *arena_suite(void)
{
    Suite *suite = suite_create("arena");
    TCase *ranges = tcase_create("ranges");
    tcase_add_checked_fixture(ranges, open_arena, close_arena);
    tcase_add_loop_test(ranges, neighbours_join_again_in_every_order_of_giving, 0, 6);
    tcase_add_test(ranges, the_tightest_gap_is_taken);
    tcase_add_test(ranges, the_gap_before_an_aligned_range_stays_free);
    tcase_add_test(ranges, many_tight_gaps_do_not_hide_a_wide_one);
    tcase_add_test(ranges, fragments_never_stand_in_the_way);
    tcase_add_test(ranges, random_ranges_keep_their_bytes);
    tcase_add_test(ranges, a_large_arena_maps_no_more_than_is_taken_and_some);
    tcase_add_test(ranges, sizes_that_overflow_are_refused);
    suite_add_tcase(suite, ranges);

    TCase *pages = tcase_create("pages");
    tcase_add_checked_fixture(pages, open_arena, close_arena);
    tcase_add_test(pages, pages_come_with_the_touch_and_go_with_the_range);
    tcase_add_test(pages, a_page_goes_with_the_last_range_on_it);
    tcase_add_test(pages, discarded_pages_are_gone_before_the_range_is);
    tcase_add_test(pages, with_host_access_both_see_the_same_bytes);
    tcase_add_test(pages, a_clear_zeroes_exactly_its_bytes_and_frees_whole_pages);
    tcase_add_test(pages, a_clear_zeroes_pages_that_the_program_has_locked);
    suite_add_tcase(suite, pages);

    TCase *host = tcase_create("host");
    tcase_add_checked_fixture(host, open_host_arena, close_arena);
    tcase_add_test(host, pages_of_much_host_memory_go_with_the_range);
    tcase_add_test(host, pages_of_little_host_memory_stay_until_it_is_much);
    tcase_add_test(host, host_memory_that_is_taken_by_turns_keeps_its_pages);
    tcase_add_test(host, addresses_of_host_memory_stay_the_arenas_when_it_is_given_back);
    tcase_add_test(host, a_clear_zeroes_exactly_its_bytes_and_frees_whole_pages);
    tcase_add_test(host, a_clear_zeroes_pages_that_the_program_has_locked);
    suite_add_tcase(suite, host);

    TCase *failures = tcase_create("failures");
    tcase_add_checked_fixture(failures, open_arena, close_arena);
    tcase_add_test(failures, without_a_descriptor_nothing_is_taken_or_leaked);
    tcase_add_test(failures, a_limit_of_file_size_fails_and_does_not_kill);
    tcase_add_test(failures, where_a_limit_leaves_only_the_request_the_request_is_served);
    /* A sanitizer takes faults and address space for itself. */
    if (!CX_TEST_SANITIZED) {
        tcase_add_test_raise_signal(failures, the_host_faults_on_a_users_address, SIGSEGV);
        tcase_add_test(failures, without_address_space_nothing_is_taken_or_leaked);
        tcase_add_test(failures, a_second_mapping_that_fails_undoes_the_first);
    }
    suite_add_tcase(suite, failures);
    return suite;
}

CX_TESTS(arena_suite);
