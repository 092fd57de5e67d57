/* The layer count: counts of many threads are exact, failures keep the order of the first ones, the
 * peak is the highest use, and a child has a file of its own. The driver behind is made up. */
#include "emu/emu.h"
#include "layer/count/count.h"
#include "layer/count/format.h"
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 16, STEPS = 2000, FILES = 4, TOTAL = 1000 };

static cx_driver_table bare, table;
static char folder[64];
static _Thread_local cxu_result answer;
static size_t available;
static pthread_barrier_t together;

/* ---- the driver ---- */

static cxu_result give_answer(void)
{
    return answer;
}

static cxu_result give_device(CUdevice *out_device)
{
    *out_device = 1;
    return CXU_SUCCESS;
}

static cxu_result give_info(size_t *out_free, size_t *out_total)
{
    *out_free = available;
    *out_total = TOTAL;
    return CXU_SUCCESS;
}

static cxu_result take_bytes(CUdeviceptr *out_pointer, size_t bytes)
{
    *out_pointer = 1;
    available -= bytes;
    return CXU_SUCCESS;
}

static cxu_result give_back(CUdeviceptr pointer)
{
    (void)pointer;
    available = TOTAL;
    return CXU_SUCCESS;
}

static cxu_result make_context(CUcontext *out_context, unsigned int flags, CUdevice device)
{
    (void)flags;
    (void)device;
    *out_context = NULL;
    return answer;
}

static void begin(void)
{
    strcpy(folder, "/tmp/check-count.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(setenv("CTXRT_REPORT_FOLDER", folder, 1), 0);
    bare = cx_emu_table;
    bare.ctx_synchronize = give_answer;
    bare.ctx_get_device = give_device;
    bare.mem_get_info = give_info;
    bare.mem_alloc = take_bytes;
    bare.mem_free = give_back;
    bare.ctx_create_v2 = make_context;
    available = TOTAL;
    ck_assert(cx_count_put(&bare, &table));
}

static void end(void)
{
    char path[512];
    DIR *all = opendir(folder);
    for (const struct dirent *one = all != NULL ? readdir(all) : NULL; one != NULL;
         one = readdir(all)) {
        snprintf(path, sizeof path, "%s/%s", folder, one->d_name);
        (void)unlink(path);
    }
    if (all != NULL)
        (void)closedir(all);
    (void)rmdir(folder);
}

/* ---- reading ---- */

/* The regions in the folder, the parent's first. */
static int read_regions(const cx_count_region *regions[FILES])
{
    int count = 0;
    char path[512];
    DIR *all = opendir(folder);
    ck_assert_ptr_nonnull(all);
    for (const struct dirent *one = readdir(all); one != NULL; one = readdir(all)) {
        if (one->d_name[0] == '.')
            continue;
        ck_assert_int_lt(count, FILES);
        snprintf(path, sizeof path, "%s/%s", folder, one->d_name);
        int file = open(path, O_RDONLY | O_CLOEXEC);
        ck_assert_int_ge(file, 0);
        void *mapped = mmap(NULL, sizeof(cx_count_region), PROT_READ, MAP_SHARED, file, 0);
        ck_assert_ptr_ne(mapped, MAP_FAILED);
        close(file);
        regions[count++] = mapped;
    }
    (void)closedir(all);
    if (count == 2 && regions[0]->forked_from != 0) {
        const cx_count_region *child = regions[0];
        regions[0] = regions[1];
        regions[1] = child;
    }
    return count;
}

static const cx_count_region *read_only_region(void)
{
    const cx_count_region *regions[FILES];
    ck_assert_int_eq(read_regions(regions), 1);
    return regions[0];
}

typedef struct sums {
    unsigned long long calls, failed, unsupported, ns;
} sums;

static sums sum_row(const cx_count_region *region, cx_slot slot)
{
    sums sum = {0};
    for (int i = 0; i < CX_COUNT_SHARES; i++) {
        sum.calls += region->rows[i][slot].calls;
        sum.failed += region->rows[i][slot].failed;
        sum.unsupported += region->rows[i][slot].unsupported;
        sum.ns += region->rows[i][slot].ns;
    }
    return sum;
}

/* ---- tests ---- */

/* Half of the results are the same in all threads, which begin them together. */
static void *fail_often(void *argument)
{
    const int number = *(const int *)argument;
    pthread_barrier_wait(&together);
    for (int i = 0; i < STEPS; i++) {
        answer = (cxu_result)(i % 2 == 0 ? 1000 + i % 8 : 2000 + number);
        ck_assert_int_eq((int)table.ctx_synchronize(), (int)answer);
        cx_count_unserved(i % 2 == 0 ? "cuNothing" : "cuNothingElse");
    }
    return NULL;
}

START_TEST(counts_of_many_threads_are_exact)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];
    pthread_barrier_init(&together, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        ck_assert_int_eq(pthread_create(&threads[i], NULL, fail_often, &numbers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    const cx_count_region *region = read_only_region();
    sums row = sum_row(region, CX_SLOT_ctx_synchronize);
    ck_assert_uint_eq(row.calls, THREADS * STEPS);
    ck_assert_uint_eq(row.failed, THREADS * STEPS);
    ck_assert_uint_gt(row.ns, 0);
    unsigned long long shared = 0, own = 0;
    for (int i = 0; i < 4 + THREADS; i++) {
        unsigned long long count = region->failures[i].count;
        bool common = (uint32_t)region->failures[i].key < 2000;
        ck_assert_uint_eq(count, common ? THREADS * STEPS / 8 : STEPS / 2);
        *(common ? &shared : &own) += count;
    }
    ck_assert_uint_eq(region->failures[4 + THREADS].key, 0);
    ck_assert_uint_eq(shared, own);
    ck_assert_uint_eq(region->absent[0].count + region->absent[1].count, THREADS * STEPS);
    ck_assert_uint_eq(region->absent[0].count, region->absent[1].count);
    ck_assert_uint_eq(region->absent[2].state, 0);
}
END_TEST

START_TEST(failures_are_in_the_order_of_the_first_ones)
{
    for (int i = 0; i < CX_COUNT_FAILURES + 30; i++) {
        answer = (cxu_result)(5000 - i);
        (void)table.ctx_synchronize();
        (void)table.ctx_synchronize();
    }
    const cx_count_region *region = read_only_region();
    for (int i = 0; i < CX_COUNT_FAILURES; i++) {
        ck_assert_uint_eq(region->failures[i].key,
                          cx_count_key(CX_SLOT_ctx_synchronize, (cxu_result)(5000 - i)));
        ck_assert_uint_eq(region->failures[i].count, 2);
        ck_assert_int_eq(region->failures[i].tid, (int)gettid());
    }
    ck_assert_uint_eq(region->failures_beyond, 60);
}
END_TEST

START_TEST(what_is_no_failure_is_none)
{
    answer = CXU_NOT_READY;
    (void)table.ctx_synchronize();
    answer = CXU_NOT_SUPPORTED;
    (void)table.ctx_synchronize();
    const cx_count_region *region = read_only_region();
    sums row = sum_row(region, CX_SLOT_ctx_synchronize);
    ck_assert_uint_eq(row.calls, 2);
    ck_assert_uint_eq(row.failed, 1);
    ck_assert_uint_eq(row.unsupported, 1);
    ck_assert_uint_eq(region->failures[0].key, 0);
}
END_TEST

START_TEST(the_peak_is_the_highest_use)
{
    CUdeviceptr pointer;
    ck_assert_int_eq((int)table.mem_alloc(&pointer, 300), 0);
    ck_assert_int_eq((int)table.mem_alloc(&pointer, 400), 0);
    ck_assert_int_eq((int)table.mem_free(pointer), 0);
    ck_assert_int_eq((int)table.mem_alloc(&pointer, 500), 0);
    const cx_count_region *region = read_only_region();
    ck_assert_uint_eq(region->devices[1].peak_bytes, 700);
    ck_assert_uint_eq(region->devices[1].total_bytes, TOTAL);
    ck_assert_uint_eq(region->devices[0].total_bytes, 0);
}
END_TEST

START_TEST(contexts_count_where_they_are_made)
{
    CUcontext context;
    for (int device = -1; device < CX_COUNT_DEVICES + 1; device++)
        (void)table.ctx_create_v2(&context, 0, device);
    answer = CXU_OUT_OF_MEMORY;
    (void)table.ctx_create_v2(&context, 0, 3);
    const cx_count_region *region = read_only_region();
    for (int device = 0; device < CX_COUNT_DEVICES; device++)
        ck_assert_uint_eq(region->devices[device].contexts, 1);
}
END_TEST

START_TEST(a_child_has_a_file_of_its_own)
{
    const cx_count_region *regions[FILES];
    int status = 0;
    answer = CXU_SUCCESS;
    (void)table.ctx_synchronize();
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        (void)table.ctx_synchronize();
        (void)table.ctx_synchronize();
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    (void)table.ctx_synchronize();
    ck_assert_int_eq(read_regions(regions), 2);
    ck_assert_uint_eq(sum_row(regions[0], CX_SLOT_ctx_synchronize).calls, 2);
    ck_assert_uint_eq(sum_row(regions[1], CX_SLOT_ctx_synchronize).calls, 2);
    ck_assert_int_eq(regions[0]->pid, (int)getpid());
    ck_assert_int_eq(regions[1]->forked_from, (int)getpid());
    ck_assert_int_eq(regions[1]->pid, (int)child);
}
END_TEST

START_TEST(without_a_folder_nothing_is_counted)
{
    unsetenv("CTXRT_REPORT_FOLDER");
    if (_i == 1)
        setenv("CTXRT_REPORT_FOLDER", "/nowhere/at/all", 1);
    errno = 0;
    ck_assert(!cx_count_put(&cx_emu_table, &table));
    ck_assert_int_eq(errno, ENOENT);
    cx_count_unserved("cuNothing");
}
END_TEST

static Suite *count_suite(void)
{
    Suite *suite = suite_create("count");
    TCase *counts = tcase_create("counts");
    tcase_set_timeout(counts, 120);
    tcase_add_checked_fixture(counts, begin, end);
    tcase_add_test(counts, counts_of_many_threads_are_exact);
    tcase_add_test(counts, failures_are_in_the_order_of_the_first_ones);
    tcase_add_test(counts, what_is_no_failure_is_none);
    tcase_add_test(counts, the_peak_is_the_highest_use);
    tcase_add_test(counts, contexts_count_where_they_are_made);
    tcase_add_test(counts, a_child_has_a_file_of_its_own);
    suite_add_tcase(suite, counts);
    TCase *refused = tcase_create("refused");
    tcase_add_loop_test(refused, without_a_folder_nothing_is_counted, 0, 2);
    suite_add_tcase(suite, refused);
    return suite;
}

CX_TESTS(count_suite);
