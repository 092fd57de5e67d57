#include "base/error.h"
#include "base/log.h"
#include "base/option.h"
#include "base/pool.h"
#include "base/utf8.h"
#include "test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- options ---- */

START_TEST(sizes_are_powers_of_1024_and_overflow_is_refused)
{
    static const struct {
        const char *text;
        size_t bytes;
    } good[] = {{"0", 0},
                {"4096", 4096},
                {"64K", 65536},
                {"512M", (size_t)512 << 20},
                {"4G", (size_t)4 << 30},
                {"4GiB", (size_t)4 << 30},
                {"1kB", 1024},
                {"2t", (size_t)2 << 40},
                {"18446744073709551615", SIZE_MAX}};
    static const char *const bad[] = {"",          "K",
                                      "-1",        "+1",
                                      " 1",        "1 ",
                                      "1Q",        "1KK",
                                      "1KiBx",     "0x10",
                                      "1.5G",      "18446744073709551616",
                                      "16777216T", "99999999999999999999"};
    size_t bytes;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        ck_assert_msg(cx_parse_size(good[i].text, &bytes), "%s", good[i].text);
        ck_assert_uint_eq(bytes, good[i].bytes);
    }
    bytes = 7;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ck_assert_msg(!cx_parse_size(bad[i], &bytes), "%s was taken", bad[i]);
    ck_assert_uint_eq(bytes, 7);
}
END_TEST

START_TEST(numbers_outside_their_range_are_refused)
{
    int value = 7;
    ck_assert(cx_parse_int("64", 1, 64, &value));
    ck_assert_int_eq(value, 64);
    ck_assert(!cx_parse_int("65", 1, 64, &value));
    ck_assert(!cx_parse_int("0", 1, 64, &value));
    ck_assert(!cx_parse_int("", 1, 64, &value));
    ck_assert(!cx_parse_int("4x", 1, 64, &value));
    ck_assert(!cx_parse_int("99999999999999999999", 1, 64, &value));
    ck_assert_int_eq(value, 64);
}
END_TEST

START_TEST(an_empty_variable_counts_as_unset)
{
    setenv("CTXRT_TEST_OPTION", "", 1);
    ck_assert_ptr_null(cx_option("CTXRT_TEST_OPTION"));
    setenv("CTXRT_TEST_OPTION", "x", 1);
    ck_assert_str_eq(cx_option("CTXRT_TEST_OPTION"), "x");
}
END_TEST

/* ---- UTF-8 ---- */

START_TEST(only_well_formed_characters_count)
{
    static const struct {
        const char *text;
        size_t length;
    } cases[] = {
        {"", 0},                       {"a", 1},                 {"\x7f", 1},
        {"\xc2\x80", 2},               {"\xdf\xbf!", 2},         {"\xe0\xa0\x80", 3},
        {"\xed\x9f\xbf", 3},           {"\xee\x80\x80", 3},      {"\xf0\x90\x80\x80", 4},
        {"\xf4\x8f\xbf\xbf", 4},       {"\x80", 0},              {"\xbf\xbf", 0},
        {"\xc0\x80", 0} /* overlong */, {"\xc1\xbf", 0},          {"\xe0\x9f\xbf", 0},
        {"\xf0\x8f\xbf\xbf", 0},       {"\xed\xa0\x80", 0} /* a surrogate */,
        {"\xf4\x90\x80\x80", 0},       {"\xf5\x80\x80\x80", 0}, {"\xff", 0},
        {"\xc3", 0} /* the end comes */, {"\xe2\x82", 0},          {"\xf0\x9f\x98", 0},
        {"\xe2(\xa1", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        ck_assert_msg(cx_utf8_length(cases[i].text) == cases[i].length, "case %zu gave %zu", i,
                      cx_utf8_length(cases[i].text));
}
END_TEST

START_TEST(control_characters_and_what_xml_forbids_are_known)
{
    static const char *const controls[] = {
        "\x01", "\t", "\n", "\x1b", "\x7f", "\xc2\x80", "\xc2\x9f", "\xef\xbf\xbe", "\xef\xbf\xbf"};
    static const char *const others[] = {
        " ", "~", "\xc2\xa0", "\xc3\x80", "\xef\xbf\xbd", "\xf0\x9f\x98\x80"};
    for (size_t i = 0; i < sizeof controls / sizeof controls[0]; i++)
        ck_assert_msg(cx_utf8_is_control(controls[i], strlen(controls[i])), "case %zu", i);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        ck_assert_msg(!cx_utf8_is_control(others[i], strlen(others[i])), "case %zu", i);
}
END_TEST

START_TEST(the_first_bytes_of_a_character_are_trimmed_and_nothing_else)
{
    static const char *const cases[][2] = {
        {"", ""},
        {"abc", "abc"},
        {"ab\xc3", "ab"},
        {"ab\xc3\xa9", "ab\xc3\xa9"},
        {"ab\xe6\xbc", "ab"},
        {"ab\xe6\xbc\xa2", "ab\xe6\xbc\xa2"},
        {"\xf0\x9f\x98", ""},
        {"\xf0\x9f", ""},
        {"x\xf0\x9f\x98\x80", "x\xf0\x9f\x98\x80"},
        {"ab\xff", "ab\xff"},         /* no character begins so */
        {"ab\x80\x80", "ab\x80\x80"}, /* nor so */
        {"ab\xe0\x80", "ab\xe0\x80"}, /* nor can this become one */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[16];
        strcpy(text, cases[i][0]);
        cx_utf8_trim(text);
        ck_assert_str_eq(text, cases[i][1]);
    }
}
END_TEST

/* ---- the last error ---- */

static void *fail_elsewhere(void *argument)
{
    (void)argument;
    ck_assert_int_eq(ctxrt_last_error()->status, CTXRT_SUCCESS);
    (void)cx_error(CTXRT_ERROR_IN_USE, "elsewhere");
    return NULL;
}

START_TEST(each_thread_has_a_last_error_of_its_own)
{
    pthread_t thread;
    ck_assert_int_eq(cx_error(CTXRT_ERROR_NOT_READY, "here %d", 1), CTXRT_ERROR_NOT_READY);
    pthread_create(&thread, NULL, fail_elsewhere, NULL);
    pthread_join(thread, NULL);
    ck_assert_int_eq(ctxrt_last_error()->status, CTXRT_ERROR_NOT_READY);
    ck_assert_str_eq(ctxrt_last_error()->message, "here 1");
    ck_assert_str_eq(ctxrt_last_error()->driver_call, "");
}
END_TEST

START_TEST(a_message_may_quote_the_one_before_and_is_cut_not_overrun)
{
    char longest[2000];
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    (void)cx_error(CTXRT_ERROR_SYSTEM, "first");
    (void)cx_error(CTXRT_ERROR_SYSTEM, "%s, then second", ctxrt_last_error()->message);
    ck_assert_str_eq(ctxrt_last_error()->message, "first, then second");
    (void)cx_error(CTXRT_ERROR_SYSTEM, "%s", longest);
    ck_assert_uint_eq(strlen(ctxrt_last_error()->message), 511);
}
END_TEST

START_TEST(a_saved_error_comes_back)
{
    cx_error_saved saved;
    (void)cx_error_driver_call(CTXRT_ERROR_DRIVER, "cuFoo", 999, "CUDA_ERROR_UNKNOWN", "the first");
    cx_error_save(&saved);
    (void)cx_error(CTXRT_ERROR_SYSTEM, "clean-up failed as well");
    cx_error_restore(&saved);
    ck_assert_int_eq(ctxrt_last_error()->status, CTXRT_ERROR_DRIVER);
    ck_assert_int_eq(ctxrt_last_error()->driver_result, 999);
    ck_assert_str_eq(ctxrt_last_error()->driver_call, "cuFoo");
    ck_assert_str_eq(ctxrt_last_error()->message, "the first");
}
END_TEST

START_TEST(every_status_has_a_name_and_a_text)
{
#define CHECK_STATUS(name, value, text)                                                           \
    ck_assert_str_eq(ctxrt_status_name(CTXRT_##name), "CTXRT_" #name);                            \
    ck_assert_str_eq(ctxrt_status_text(CTXRT_##name), text);                                      \
    ck_assert_int_eq(CTXRT_##name, value);
    CTXRT_STATUS_LIST(CHECK_STATUS)
}
END_TEST

/* ---- the log ---- */

static int lines;
static void take_line(ctxrt_log_level level, const char *line, void *user_data)
{
    ck_assert_int_eq(level, CTXRT_LOG_INFO);
    ck_assert_str_eq(line, "seen 1");
    ck_assert_ptr_eq(user_data, &lines);
    lines++;
}



START_TEST(the_log_goes_to_the_callback_up_to_its_level)
{
    ck_assert_int_eq(ctxrt_log_set(take_line, &lines, CTXRT_LOG_INFO), CTXRT_SUCCESS);
    cx_log(CTXRT_LOG_INFO, "seen %d", 1);
    cx_log(CTXRT_LOG_DEBUG, "not seen");
    ck_assert_int_eq(lines, 1);
    ck_assert_int_eq(ctxrt_log_set(NULL, NULL, CTXRT_LOG_OFF), CTXRT_SUCCESS);
    cx_log(CTXRT_LOG_ERROR, "off");
    ck_assert_int_eq(lines, 1);
}
END_TEST

/* ---- pools ---- */

typedef struct thing {
    int value;
} thing;

static cx_pool things = CX_POOL_INIT("thing", 77, thing);
static cx_pool others = CX_POOL_INIT("other", 78, thing);

static void *make(cx_pool *pool, int value)
{
    thing *object = cx_pool_take(pool);
    ck_assert_ptr_nonnull(object);
    object->value = value;
    return cx_pool_publish(pool, object);
}

static void end(cx_pool *pool, void *handle)
{
    thing *object = cx_pool_retire(pool, handle);
    ck_assert_ptr_nonnull(object);
    cx_pool_put_back(pool, object);
}

START_TEST(a_stale_handle_is_told_from_what_took_its_place)
{
    void *first = make(&things, 1);
    ck_assert_int_eq(((thing *)cx_pool_find(&things, first))->value, 1);
    end(&things, first);
    ck_assert_ptr_null(cx_pool_find(&things, first));
    ck_assert_ptr_null(cx_pool_retire(&things, first));
    for (int i = 0; i < 10; i++) {
        void *next = make(&things, i);
        ck_assert_ptr_ne(next, first);
        ck_assert_ptr_null(cx_pool_find(&things, first));
        end(&things, next);
    }
    ck_assert_uint_eq(cx_pool_live(&things), 0);
}
END_TEST

START_TEST(handles_of_another_kind_and_addresses_are_refused)
{
    void *handle = make(&things, 1);
    ck_assert_ptr_null(cx_pool_find(&others, handle));
    (void)make(&others, 2);
    ck_assert_ptr_null(cx_pool_find(&others, handle));
    ck_assert_ptr_null(cx_pool_find(&things, NULL));
    ck_assert_ptr_null(cx_pool_find(&things, &handle));
    ck_assert_ptr_null(cx_pool_find(&things, (char *)handle + 1));
    ck_assert_ptr_null(cx_pool_find(&things, (void *)UINTPTR_MAX));
}
END_TEST

START_TEST(a_revived_object_has_its_old_handle)
{
    void *handle = make(&things, 5);
    thing *object = cx_pool_retire(&things, handle);
    ck_assert_ptr_null(cx_pool_find(&things, handle));
    cx_pool_revive(&things, object);
    ck_assert_ptr_eq(cx_pool_find(&things, handle), object);
    ck_assert_ptr_eq(cx_pool_handle(&things, object), handle);
    ck_assert_uint_eq(cx_pool_live(&things), 1);
}
END_TEST

enum { RACERS = 8, OBJECTS = 5000 };
static void *handles[OBJECTS];
static atomic_int winners;

static void *race(void *argument)
{
    (void)argument;
    for (int i = 0; i < OBJECTS; i++)
        if (cx_pool_retire(&things, handles[i]) != NULL)
            atomic_fetch_add(&winners, 1);
    return NULL;
}

START_TEST(of_many_threads_that_retire_one_object_one_wins)
{
    pthread_t threads[RACERS];
    for (int i = 0; i < OBJECTS; i++)
        handles[i] = make(&things, i);
    for (int i = 0; i < RACERS; i++)
        pthread_create(&threads[i], NULL, race, NULL);
    for (int i = 0; i < RACERS; i++)
        pthread_join(threads[i], NULL);
    ck_assert_int_eq(atomic_load(&winners), OBJECTS);
    ck_assert_uint_eq(cx_pool_live(&things), 0);
}
END_TEST

static Suite *base_suite(void)
{
    Suite *suite = suite_create("base");
    TCase *tcase = tcase_create("base");
    tcase_add_test(tcase, sizes_are_powers_of_1024_and_overflow_is_refused);
    tcase_add_test(tcase, numbers_outside_their_range_are_refused);
    tcase_add_test(tcase, an_empty_variable_counts_as_unset);
    tcase_add_test(tcase, only_well_formed_characters_count);
    tcase_add_test(tcase, control_characters_and_what_xml_forbids_are_known);
    tcase_add_test(tcase, the_first_bytes_of_a_character_are_trimmed_and_nothing_else);
    tcase_add_test(tcase, each_thread_has_a_last_error_of_its_own);
    tcase_add_test(tcase, a_message_may_quote_the_one_before_and_is_cut_not_overrun);
    tcase_add_test(tcase, a_saved_error_comes_back);
    tcase_add_test(tcase, every_status_has_a_name_and_a_text);
    tcase_add_test(tcase, the_log_goes_to_the_callback_up_to_its_level);
    tcase_add_test(tcase, a_stale_handle_is_told_from_what_took_its_place);
    tcase_add_test(tcase, handles_of_another_kind_and_addresses_are_refused);
    tcase_add_test(tcase, a_revived_object_has_its_old_handle);
    tcase_add_test(tcase, of_many_threads_that_retire_one_object_one_wins);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(base_suite);
