/* How much memory a process has: the CPU's device commits what is touched and gives back what is
 * freed, and memcheck, which looks through all that is mapped, stays small. */
#include "fixture.h"
#include "test.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)
#define MEMCHECK_MOST_KIB 1000000
#define NO_MEMCHECK 127

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED true
#else
#define SANITIZED false
#endif

/* ---- the CPU's device ---- */

static size_t resident_bytes(void)
{
    unsigned long mapped, resident;
    FILE *file = fopen("/proc/self/statm", "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%lu %lu", &mapped, &resident), 2);
    fclose(file);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

static void start(const char *source)
{
    if (SANITIZED)
        cx_fixture_skip("sanitizers keep memory of their own");
    ck_assert_int_eq(setenv("CTXRT_ALLOCATOR", source, 1), 0);
    cx_fixture_start();
    cx_assert_ok(ctxrt_device_set(CTXRT_CPU(0)));
}

static const char *const sources[] = {"alloc", "direct"};

START_TEST(the_cpu_commits_what_is_touched_and_gives_back_what_is_freed)
{
    void *memory;
    uint64_t given_back;
    start(sources[_i]);
    size_t before = resident_bytes();
    cx_assert_ok(ctxrt_alloc(1024 * MIB, &memory));
    ck_assert_uint_lt(resident_bytes(), before + 16 * MIB);
    cx_assert_ok(ctxrt_fill(memory, 1, 256 * MIB));
    ck_assert_uint_ge(resident_bytes(), before + 256 * MIB);
    ck_assert_uint_lt(resident_bytes(), before + 272 * MIB);
    cx_assert_ok(ctxrt_free(memory));
    ctxrt_allocator *allocator;
    cx_assert_ok(ctxrt_allocator_current(&allocator));
    cx_assert_ok(ctxrt_allocator_trim(allocator, &given_back));
    ck_assert_uint_lt(resident_bytes(), before + 16 * MIB);
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}
END_TEST

/* ---- memcheck ---- */

static void check(ctxrt_status status)
{
    if (status == CTXRT_SUCCESS)
        return;
    fprintf(stderr, "%s\n", ctxrt_last_error()->message);
    _exit(1);
}

/* Some memory of each kind on each device, whose sizes are as they are by default. */
static int use_memory(void)
{
    static unsigned char host[4096];
    int counts[CTXRT_DEVICE_TYPE_COUNT];
    check(ctxrt_device_count_all(counts));
    for (int i = -1; i < counts[CTXRT_DEVICE_CUDA]; i++) {
        void *raw;
        ctxrt_memory *memory, *pinned;
        check(ctxrt_device_set(i < 0 ? CTXRT_CPU(0) : CTXRT_CUDA(i)));
        check(ctxrt_memory_alloc(3 * MIB, &memory));
        check(ctxrt_memory_alloc_pinned(sizeof host, &pinned));
        check(ctxrt_alloc(sizeof host, &raw));
        check(ctxrt_copy(raw, host, sizeof host, CTXRT_COPY_HOST_TO_DEVICE));
        check(ctxrt_fill(ctxrt_memory_pointer(memory), 1, 3 * MIB));
        check(ctxrt_free(raw));
        check(ctxrt_memory_release(memory));
        check(ctxrt_memory_release(pinned));
    }
    return 0;
}

static void run_under_memcheck(const char *source)
{
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0)
        _exit(1);
    self[length] = '\0';
    setenv("CTXRT_ALLOCATOR", source, 1);
    setenv("CTXRT_DRIVER", "emulated", 1);
    unsetenv("CTXRT_EMU_MEMORY");
    setenv("CTXRT_EMU_DEVICES", "2", 1); /* valgrind has no addresses for mapped memory of four */
    execlp("valgrind", "valgrind", "-q", "--leak-check=full", self, "use", (char *)NULL);
    _exit(NO_MEMCHECK);
}

static const char *const gpu_sources[] = {"alloc", "direct", "vmm"};

START_TEST(a_program_under_memcheck_stays_below_a_gigabyte)
{
    int status;
    struct rusage use;
    if (SANITIZED)
        cx_fixture_skip("memcheck and sanitizers do not go together");
    pid_t child = fork();
    if (child == 0)
        run_under_memcheck(gpu_sources[_i]);
    ck_assert_int_eq(wait4(child, &status, 0, &use), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_MEMCHECK)
        cx_fixture_skip("there is no valgrind");
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %#x", status);
    ck_assert_int_lt(use.ru_maxrss, MEMCHECK_MOST_KIB);
}
END_TEST

static Suite *resident_suite(void)
{
    Suite *suite = suite_create("resident");
    TCase *tcase = tcase_create("resident");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, the_cpu_commits_what_is_touched_and_gives_back_what_is_freed, 0, 2);
    tcase_add_loop_test(tcase, a_program_under_memcheck_stays_below_a_gigabyte, 0, 3);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "use") == 0)
        return use_memory();
    return cx_test_run((Suite * (*const[])(void)){resident_suite, NULL});
}
