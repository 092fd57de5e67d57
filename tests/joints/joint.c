#include "joint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- tests that wait for a correction ---- */

/* The point of the issue that says what is wrong with the test's subject; 0: it is not pending. */
static int pending_point(const char *name)
{
    char path[1024], line[256], pending[200];
    int point = 0, found = 0;
    const char *all = getenv("JOINTS_ALL"), *root = getenv("top_srcdir");
    if ((all != NULL && all[0] != '\0') || root == NULL)
        return 0;
    snprintf(path, sizeof path, "%s/tests/joints/pending", root);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return 0;
    while (found == 0 && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "%d %199s", &point, pending) == 2 && strcmp(pending, name) == 0)
            found = point;
    fclose(file);
    return found;
}

/* Takes the place of a pending test; the point comes as the number of a loop. */
START_TEST(pending_test)
{
    cx_fixture_skip("known fault: issue point %d", _i);
}
END_TEST

static void add(TCase *tcase, const joint *self)
{
    int point = pending_point(self->name);
    if (point != 0) {
        tcase_add_loop_test(tcase, pending_test, point, point + 1);
        return;
    }
    tcase_add_checked_fixture(tcase, self->start != NULL ? self->start : cx_fixture_start,
                              self->end != NULL ? self->end : cx_fixture_end);
    tcase_add_test(tcase, self->test);
}

Suite *joint_suite(const char *name, const joint *joints, size_t count)
{
    Suite *suite = suite_create(name);
    for (size_t i = 0; i < count; i++) {
        TCase *tcase = tcase_create(joints[i].name);
        add(tcase, &joints[i]);
        suite_add_tcase(suite, tcase);
    }
    return suite;
}

/* ---- a crew of threads ---- */

void crew_note(crew *self, const char *what)
{
    pthread_mutex_lock(&self->noting);
    if (atomic_fetch_add(&self->unexpected, 1) == 0)
        snprintf(self->first, sizeof self->first, "%s", what);
    pthread_mutex_unlock(&self->noting);
}

bool crew_look(crew *self, ctxrt_status status, unsigned int allowed, const char *call)
{
    char text[512];
    atomic_fetch_add_explicit(&self->calls, 1, memory_order_relaxed);
    if (status == CTXRT_SUCCESS)
        return true;
    if ((allowed & MAY(status)) == 0) {
        snprintf(text, sizeof text, "%s gave %s: %s", call, ctxrt_status_name(status),
                 ctxrt_last_error()->message);
        crew_note(self, text);
    }
    return false;
}

typedef struct hire {
    crew *self;
    void (*work)(crew *);
} hire;

static void *crew_run(void *argument)
{
    hire mine = *(hire *)argument;
    free(argument);
    mine.work(mine.self);
    atomic_fetch_sub(&mine.self->working, 1);
    return NULL;
}

void crew_start(crew *self, int count, void (*work)(crew *))
{
    *self = (crew){.count = count};
    pthread_mutex_init(&self->noting, NULL);
    atomic_store(&self->working, count);
    for (int i = 0; i < count; i++) {
        hire *made = malloc(sizeof *made);
        ck_assert_ptr_nonnull(made);
        *made = (hire){self, work};
        ck_assert_int_eq(pthread_create(&self->threads[i], NULL, crew_run, made), 0);
    }
}

bool crew_works(crew *self)
{
    return atomic_load(&self->working) > 0;
}

void crew_join(crew *self)
{
    for (int i = 0; i < self->count; i++)
        ck_assert_int_eq(pthread_join(self->threads[i], NULL), 0);
    pthread_mutex_destroy(&self->noting);
    ck_assert_msg(atomic_load(&self->unexpected) == 0, "%ld of %ld, first: %s",
                  atomic_load(&self->unexpected), atomic_load(&self->calls), self->first);
}
