/* Forks take locks by their ranks, whatever the order in which rooms ask for it. */
#include "base/fork.h"
#include "test.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static cx_lock early = CX_LOCK_INIT(GRAPH), late = CX_LOCK_INIT(PROCESS_FILE);
static char letters[8]; /* one for each hook that ran */

static void note(char letter)
{
    letters[strlen(letters)] = letter;
}

static void note_early(void)
{
    note(cx_lock_try(&early) ? '?' : 'e');
}

static void note_late(void)
{
    note(cx_lock_try(&late) ? '?' : 'l');
}

static void note_between(void)
{
    note('b');
}

CX_FORK_CONSTRUCTOR static void watch_forks(void)
{
    static cx_fork_hook hooks[] = {
        {.rank = CX_RANK_PROCESS_FILE, .lock = &late, .in_child = note_late},
        {.rank = CX_RANK_GRAPH, .lock = &early, .in_child = note_early},
        {.rank = CX_RANK_EMU_STATE, .in_child = note_between},
    };
    for (int i = 0; i < 3; i++)
        cx_fork_watch(&hooks[i]);
}

static bool are_free(void)
{
    bool early_is = cx_lock_try(&early), late_is = cx_lock_try(&late);
    if (late_is)
        cx_lock_leave(&late);
    if (early_is)
        cx_lock_leave(&early);
    return early_is && late_is;
}

static int status_of(pid_t child)
{
    int status = -1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

START_TEST(hooks_run_in_the_child_by_rank_with_their_locks_held)
{
    ck_assert(cx_forks_are_watched());
    memset(letters, 0, sizeof letters);
    pid_t child = fork();
    if (child == 0)
        _exit(strcmp(letters, "ebl") == 0 ? 0 : 1);
    ck_assert_int_eq(status_of(child), 0);
    ck_assert_str_eq(letters, "");
}
END_TEST

START_TEST(the_locks_are_free_in_the_child_and_in_the_parent)
{
    pid_t child = fork();
    if (child == 0)
        _exit(are_free() ? 0 : 1);
    ck_assert_int_eq(status_of(child), 0);
    ck_assert(are_free());
}
END_TEST

START_TEST(a_child_may_fork_too)
{
    memset(letters, 0, sizeof letters);
    pid_t child = fork();
    if (child == 0) {
        pid_t grandchild = fork();
        if (grandchild == 0)
            _exit(strcmp(letters, "eblebl") == 0 && are_free() ? 0 : 1);
        _exit(status_of(grandchild) == 0 && are_free() ? 0 : 1);
    }
    ck_assert_int_eq(status_of(child), 0);
}
END_TEST

static Suite *fork_suite(void)
{
    Suite *suite = suite_create("fork");
    TCase *tcase = tcase_create("hooks");
    tcase_add_test(tcase, hooks_run_in_the_child_by_rank_with_their_locks_held);
    tcase_add_test(tcase, the_locks_are_free_in_the_child_and_in_the_parent);
    tcase_add_test(tcase, a_child_may_fork_too);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(fork_suite);
