/* What pointers stand for: put, found, taken, and put anew, on one thread and on several. */
#include "infinirt/address.h"
#include "test.h"

#include <stdint.h>

enum { THREADS = 8, POINTERS = 200, ROUNDS = 50 };

static cx_addresses addresses = CX_ADDRESSES_INIT;
static char pointers[POINTERS * 16], objects[2];

static void *pointer(int number)
{
    return &pointers[number * 16];
}

START_TEST(a_pointer_stands_for_what_was_put_last)
{
    ck_assert_ptr_null(cx_address_find(&addresses, pointer(0)));
    ck_assert(cx_address_put(&addresses, pointer(0), &objects[0]));
    ck_assert_ptr_eq(cx_address_find(&addresses, pointer(0)), &objects[0]);
    ck_assert(cx_address_put(&addresses, pointer(0), &objects[1]));
    ck_assert_ptr_eq(cx_address_find(&addresses, pointer(0)), &objects[1]);
    ck_assert_ptr_eq(cx_address_take(&addresses, pointer(0)), &objects[1]);
    ck_assert_ptr_null(cx_address_find(&addresses, pointer(0)));
    ck_assert_ptr_null(cx_address_take(&addresses, pointer(0)));
}
END_TEST

START_TEST(tables_are_told_apart)
{
    static cx_addresses others = CX_ADDRESSES_INIT;
    ck_assert(cx_address_put(&addresses, pointer(0), &objects[0]));
    ck_assert(cx_address_put(&others, pointer(0), &objects[1]));
    ck_assert_ptr_eq(cx_address_find(&addresses, pointer(0)), &objects[0]);
    ck_assert_ptr_eq(cx_address_find(&others, pointer(0)), &objects[1]);
    ck_assert_ptr_eq(cx_address_take(&others, pointer(0)), &objects[1]);
    ck_assert_ptr_eq(cx_address_find(&addresses, pointer(0)), &objects[0]);
    ck_assert_ptr_eq(cx_address_take(&addresses, pointer(0)), &objects[0]);
}
END_TEST

static void *take_all(void *argument)
{
    int *taken = argument;
    for (int i = 0; i < POINTERS; i++)
        *taken += cx_address_take(&addresses, pointer(i)) != NULL;
    return NULL;
}

START_TEST(of_several_threads_one_gets_the_object)
{
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t threads[THREADS];
        int taken[THREADS] = {0}, sum = 0;
        for (int i = 0; i < POINTERS; i++)
            ck_assert(cx_address_put(&addresses, pointer(i), &objects[0]));
        for (int i = 0; i < THREADS; i++)
            ck_assert_int_eq(pthread_create(&threads[i], NULL, take_all, &taken[i]), 0);
        for (int i = 0; i < THREADS; i++) {
            ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
            sum += taken[i];
        }
        ck_assert_int_eq(sum, POINTERS);
    }
}
END_TEST

/* Each thread puts, finds and takes pointers of its own while the others change the same tables. */
static void *come_and_go(void *argument)
{
    int self = *(int *)argument;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = self; i < POINTERS; i += THREADS) {
            void *object = &objects[round % 2];
            if (!cx_address_put(&addresses, pointer(i), object) ||
                cx_address_find(&addresses, pointer(i)) != object ||
                cx_address_take(&addresses, pointer(i)) != object ||
                cx_address_find(&addresses, pointer(i)) != NULL)
                return argument;
        }
    return NULL;
}

START_TEST(threads_find_their_own_while_others_change_the_table)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        ck_assert_int_eq(pthread_create(&threads[i], NULL, come_and_go, &numbers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        ck_assert_int_eq(pthread_join(threads[i], &failed), 0);
        ck_assert_ptr_null(failed);
    }
}
END_TEST

static Suite *table(void)
{
    Suite *suite = suite_create("infinirt addresses");
    TCase *tests = tcase_create("addresses");
    tcase_add_test(tests, a_pointer_stands_for_what_was_put_last);
    tcase_add_test(tests, tables_are_told_apart);
    tcase_add_test(tests, of_several_threads_one_gets_the_object);
    tcase_add_test(tests, threads_find_their_own_while_others_change_the_table);
    suite_add_tcase(suite, tests);
    return suite;
}

CX_TESTS(table);
