/* Room for the files of the layers: it is there before a page is touched. The test refuses it in
 * each way in which the system does. */
#include "layer/check/region.h"
#include "layer/process_file.h"
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096 };

/* ---- the system ---- */

static int answers[4]; /* errnos of the next reservations; 0: the system's own answer */
static unsigned reservations;
static off_t most = -1; /* bytes of a file; -1: no limit */
static size_t write_most = SIZE_MAX;

/* In place of the C library's. */
int fallocate(int file, int mode, off_t offset, off_t bytes)
{
    int answer = reservations < 4 ? answers[reservations] : 0;
    reservations++;
    if (answer == 0 && most >= 0 && offset + bytes > most)
        answer = ENOSPC;
    if (answer == 0)
        return (int)syscall(SYS_fallocate, file, mode, offset, bytes);
    errno = answer;
    return -1;
}

ssize_t pwrite(int file, const void *from, size_t bytes, off_t offset)
{
    size_t next = bytes < write_most ? bytes : write_most;
    if (most >= 0 && offset + (off_t)next > most) {
        errno = ENOSPC;
        return -1;
    }
    return (ssize_t)syscall(SYS_pwrite64, file, from, next, offset);
}

/* ---- files ---- */

static char folder[64];
static cx_process_file file;

static void make_file(void)
{
    strcpy(folder, "/tmp/check_room.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert(cx_process_file_make(&file, folder, "of."));
}

static void remove_file(void)
{
    char path[512];
    DIR *all = opendir(folder);
    for (const struct dirent *one = all != NULL ? readdir(all) : NULL; one != NULL;
         one = readdir(all)) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, one->d_name);
        (void)unlink(path);
    }
    if (all != NULL)
        (void)closedir(all);
    (void)rmdir(folder);
}

static struct stat status_of(const char *path)
{
    struct stat status;
    ck_assert_int_eq(stat(path, &status), 0);
    return status;
}

static off_t kept_bytes(void)
{
    return (off_t)status_of(file.path).st_blocks * 512;
}

START_TEST(a_reservation_keeps_blocks_for_all_its_bytes)
{
    ck_assert_int_eq(cx_process_file_reserve(&file, PAGE, 4 * (uint64_t)PAGE), 0);
    ck_assert_int_ge(kept_bytes(), 4 * PAGE);
    ck_assert_int_eq(status_of(file.path).st_size, 5 * PAGE);
}
END_TEST

START_TEST(a_reservation_that_a_signal_interrupts_is_made_again)
{
    answers[0] = answers[1] = EINTR;
    ck_assert_int_eq(cx_process_file_reserve(&file, 0, PAGE), 0);
    ck_assert_uint_eq(reservations, 3);
    ck_assert_int_ge(kept_bytes(), PAGE);
}
END_TEST

START_TEST(where_the_file_system_cannot_reserve_zeroes_are_written)
{
    answers[0] = _i == 0 ? EOPNOTSUPP : ENOSYS;
    write_most = 1000;
    ck_assert_int_eq(cx_process_file_reserve(&file, 0, 3 * (uint64_t)PAGE), 0);
    ck_assert_int_ge(kept_bytes(), 3 * PAGE);
    ck_assert_int_eq(status_of(file.path).st_size, 3 * PAGE);
}
END_TEST

START_TEST(zeroes_leave_alone_the_bytes_beside_them)
{
    ck_assert_int_eq(cx_process_file_reserve(&file, 0, PAGE), 0);
    char *mapped = cx_process_file_map(&file, 0, 3 * (uint64_t)PAGE, NULL);
    ck_assert_ptr_nonnull(mapped);
    memset(mapped, 'x', PAGE);
    answers[0] = EOPNOTSUPP;
    reservations = 0;
    ck_assert_int_eq(cx_process_file_reserve(&file, PAGE, PAGE), 0);
    ck_assert_int_eq(mapped[PAGE - 1], 'x');
    ck_assert_int_eq(mapped[PAGE], 0);
}
END_TEST

START_TEST(without_room_the_error_is_returned)
{
    most = 2 * PAGE;
    ck_assert_int_eq(cx_process_file_reserve(&file, 0, PAGE), 0);
    ck_assert_int_eq(cx_process_file_reserve(&file, PAGE, 2 * (uint64_t)PAGE), ENOSPC);
}
END_TEST

START_TEST(without_room_for_zeroes_the_error_is_returned)
{
    answers[0] = EOPNOTSUPP;
    most = 2 * PAGE;
    ck_assert_int_eq(cx_process_file_reserve(&file, 0, 3 * (uint64_t)PAGE), ENOSPC);
}
END_TEST

START_TEST(beyond_the_limit_of_file_sizes_there_is_an_error_and_no_signal)
{
    const struct rlimit limit = {2 * PAGE, RLIM_INFINITY};
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ck_assert_int_eq(cx_process_file_reserve(&file, 0, 2 * (uint64_t)PAGE), 0);
    ck_assert_int_eq(cx_process_file_reserve(&file, PAGE, 2 * (uint64_t)PAGE), EFBIG);
}
END_TEST

START_TEST(a_file_that_is_gone_has_no_room)
{
    ck_assert_int_eq(unlink(file.path), 0);
    ck_assert_int_eq(cx_process_file_reserve(&file, 0, PAGE), ENOENT);
    ck_assert_ptr_null(cx_process_file_map(&file, 0, PAGE, NULL));
}
END_TEST

START_TEST(a_file_is_emptied_and_errno_stays)
{
    ck_assert_int_eq(cx_process_file_reserve(&file, 0, PAGE), 0);
    errno = ENOSPC;
    cx_process_file_empty(&file);
    ck_assert_int_eq(errno, ENOSPC);
    ck_assert_int_eq(status_of(file.path).st_size, 0);
}
END_TEST

START_TEST(a_folder_with_a_long_name_makes_no_file)
{
    static char longest[sizeof file.path];
    memset(longest, 'x', sizeof longest - 1);
    ck_assert(!cx_process_file_make(&file, longest, ""));
    ck_assert_int_eq(errno, ENAMETOOLONG);
}
END_TEST

/* ---- the region of the layer check ---- */

static const size_t begins[CX_REGION_ARRAYS] = {
    [CX_REGION_ALL_PATHS] = offsetof(cx_region, paths),
    [CX_REGION_ALL_TRACES] = offsetof(cx_region, all_traces),
    [CX_REGION_ALL_FINDINGS] = offsetof(cx_region, all_findings),
    [CX_REGION_ALL_OBJECTS] = offsetof(cx_region, all_objects),
};

static void open_region(void)
{
    ck_assert_int_eq(setenv("CTXRT_CHECK_FOLDER", folder, 1), 0);
    ck_assert(cx_region_open());
}

/* The number of records for which there is room, each asked for. */
static uint32_t fill(cx_region_array array)
{
    uint32_t count = 0;
    while (cx_region_has_room(array, count))
        count++;
    return count;
}

static void write_last(uint32_t count)
{
    cx_region_here->all_objects[count - 1].kind = 1;
}

START_TEST(an_array_of_the_region_grows_until_there_is_no_room)
{
    most = (off_t)begins[CX_REGION_ALL_OBJECTS] + 500000;
    open_region();
    uint32_t count = fill(CX_REGION_ALL_OBJECTS);
    ck_assert_uint_gt(count, 5000);
    ck_assert_uint_le(count, 500000 / sizeof(cx_region_object));
    write_last(count);
    ck_assert(cx_region_in_file);
}
END_TEST

START_TEST(an_array_without_room_is_asked_for_no_more)
{
    most = (off_t)begins[CX_REGION_ALL_OBJECTS] + 500000;
    open_region();
    uint32_t count = fill(CX_REGION_ALL_OBJECTS);
    most = -1;
    unsigned before = reservations;
    ck_assert(!cx_region_has_room(CX_REGION_ALL_OBJECTS, count));
    ck_assert(cx_region_has_room(CX_REGION_ALL_OBJECTS, count - 1));
    ck_assert_uint_eq(reservations, before);
}
END_TEST

START_TEST(each_array_of_the_region_has_an_end)
{
    static const uint32_t counts[CX_REGION_ARRAYS] = {CX_REGION_MODULES, CX_REGION_TRACES,
                                                      CX_REGION_FINDINGS, CX_REGION_OBJECTS};
    open_region();
    for (int i = 0; i < CX_REGION_ARRAYS; i++)
        ck_assert_uint_eq(fill((cx_region_array)i), counts[i]);
}
END_TEST

/* Bytes of the region's file, which is beside the one of the fixture. */
static off_t region_bytes(void)
{
    char path[512] = "";
    DIR *all = opendir(folder);
    ck_assert_ptr_nonnull(all);
    for (const struct dirent *one = readdir(all); one != NULL; one = readdir(all))
        if (one->d_name[0] >= '0' && one->d_name[0] <= '9')
            (void)snprintf(path, sizeof path, "%s/%s", folder, one->d_name);
    (void)closedir(all);
    return status_of(path).st_size;
}

START_TEST(a_region_without_room_is_memory_and_leaves_an_empty_file)
{
    most = (off_t)begins[_i] + PAGE;
    open_region();
    ck_assert(!cx_region_in_file);
    ck_assert_uint_eq(fill(CX_REGION_ALL_OBJECTS), CX_REGION_OBJECTS);
    write_last(CX_REGION_OBJECTS);
    ck_assert_int_eq(region_bytes(), 0);
}
END_TEST

static void begin_child(uint32_t traces)
{
    ck_assert(cx_region_fork());
    ck_assert_uint_eq(atomic_load(&cx_region_here->traces), traces);
    ck_assert_uint_eq(cx_region_here->all_traces[traces].count, 5);
    _exit(cx_region_in_file ? 0 : 3);
}

START_TEST(a_forked_child_has_room_for_its_parents_backtraces_or_no_file)
{
    int status;
    open_region();
    uint32_t traces = 20000;
    for (uint32_t i = 0; i <= traces; i++)
        ck_assert(cx_region_has_room(CX_REGION_ALL_TRACES, i));
    cx_region_here->all_traces[traces].count = 5;
    atomic_store(&cx_region_here->traces, traces);
    most = (off_t)begins[CX_REGION_ALL_OBJECTS] + (_i == 0 ? 1000000 : 100);
    pid_t child = fork();
    if (child == 0)
        begin_child(traces);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), _i == 0 ? 0 : 3);
}
END_TEST

static void add_file_tests(TCase *tcase)
{
    tcase_add_test(tcase, a_reservation_keeps_blocks_for_all_its_bytes);
    tcase_add_test(tcase, a_reservation_that_a_signal_interrupts_is_made_again);
    tcase_add_loop_test(tcase, where_the_file_system_cannot_reserve_zeroes_are_written, 0, 2);
    tcase_add_test(tcase, zeroes_leave_alone_the_bytes_beside_them);
    tcase_add_test(tcase, without_room_the_error_is_returned);
    tcase_add_test(tcase, without_room_for_zeroes_the_error_is_returned);
    tcase_add_test(tcase, beyond_the_limit_of_file_sizes_there_is_an_error_and_no_signal);
    tcase_add_test(tcase, a_file_that_is_gone_has_no_room);
    tcase_add_test(tcase, a_file_is_emptied_and_errno_stays);
    tcase_add_test(tcase, a_folder_with_a_long_name_makes_no_file);
}

static void add_region_tests(TCase *tcase)
{
    tcase_add_test(tcase, an_array_of_the_region_grows_until_there_is_no_room);
    tcase_add_test(tcase, an_array_without_room_is_asked_for_no_more);
    tcase_add_test(tcase, each_array_of_the_region_has_an_end);
    tcase_add_loop_test(tcase, a_region_without_room_is_memory_and_leaves_an_empty_file, 0,
                        CX_REGION_ARRAYS);
    tcase_add_loop_test(tcase, a_forked_child_has_room_for_its_parents_backtraces_or_no_file, 0, 2);
}

static Suite *room_suite(void)
{
    Suite *suite = suite_create("room");
    TCase *files = tcase_create("files"), *regions = tcase_create("regions");
    tcase_set_timeout(regions, 120);
    tcase_add_checked_fixture(files, make_file, remove_file);
    tcase_add_checked_fixture(regions, make_file, remove_file);
    add_file_tests(files);
    add_region_tests(regions);
    suite_add_tcase(suite, files);
    suite_add_tcase(suite, regions);
    return suite;
}

CX_TESTS(room_suite);
