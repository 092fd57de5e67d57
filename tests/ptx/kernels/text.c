#include "run.h"

#include <stdio.h>
#include <string.h>

static const char words[] = "a thread waits, the other threads do not; Threads that wait for a "
                            "thread wait as long as that thread does, or longer than threads may.";

static char *make_text(size_t length)
{
    char *text = make_memory(length);

    for (size_t i = 0; i < length; i++)
        text[i] = words[i % (sizeof words - 1)];
    return text;
}

static void check_find_word(void)
{
    static const char wanted[] = "thr?ad";
    enum { SIZE = sizeof wanted - 1 };
    int length = 500, size = SIZE;
    char *text = make_text(500), *word = copy_memory(wanted, SIZE);
    unsigned char *found = make_memory(500);

    LAUNCH("find_word", line_over(500, 70), VALUE(text), VALUE(length), VALUE(word), VALUE(size),
           VALUE(found));
    for (int i = 0; i < length; i++)
        SAME((size_t)i, found[i],
             i + size <= length && memcmp(text + i, "thr", 3) == 0 &&
                 memcmp(text + i + 4, "ad", 2) == 0);
}

static void check_count_words(void)
{
    int length = 777;
    char *text = make_text(777);
    uint32_t *count = make_memory(4), expected = 0;
    bool inside = false;

    LAUNCH("count_words", line_over(777, 50), VALUE(text), VALUE(length), VALUE(count));
    for (int i = 0; i < length; i++) {
        bool letter = strchr(" ,;.", text[i]) == NULL;

        expected += letter && !inside;
        inside = letter;
    }
    SAME(0, *count, expected);
}

static void check_encode64(void)
{
    enum { N = 49 };
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char *in = make_memory(3 * N), *out = make_memory(4 * N);
    int n = N;

    for (int i = 0; i < 3 * n; i++)
        in[i] = (unsigned char)below(256);
    memcpy(in, "ctx", 3);
    LAUNCH("encode64", line_over(N, 16), VALUE(in), VALUE(out), VALUE(n));
    SAME(0, memcmp(out, "Y3R4", 4), 0);
    for (int i = 0; i < 4 * n; i++) {
        unsigned digit = 0;

        for (int k = 0; k < 6; k++)
            digit = digit * 2 + (in[(6 * i + k) / 8] >> (7 - (6 * i + k) % 8) & 1);
        SAME((size_t)i, out[i], digits[digit]);
    }
}

static int edits_between(const char *a, const char *b)
{
    int here, there;

    if (!*a || !*b)
        return (int)(strlen(a) + strlen(b));
    if (*a == *b)
        return edits_between(a + 1, b + 1);
    here = edits_between(a + 1, b);
    there = edits_between(a, b + 1);
    here = there < here ? there : here;
    there = edits_between(a + 1, b + 1);
    return 1 + (there < here ? there : here);
}

static void check_count_edits(void)
{
    enum { N = 41, ROOM = 8 };
    char *all = make_memory(2 * N * ROOM);
    int32_t *out = make_memory(N * 4), room = ROOM, n = N;

    for (int i = 0; i < 2 * N; i++)
        for (uint32_t k = 0, length = below(ROOM); k < length; k++)
            all[(uint32_t)i * ROOM + k] = (char)('a' + below(3));
    LAUNCH("count_edits", line_over(N, 15), VALUE(all), VALUE(room), VALUE(out), VALUE(n));
    for (int i = 0; i < n; i++)
        SAME((size_t)i, out[i], edits_between(all + 2 * i * ROOM, all + (2 * i + 1) * ROOM));
}

static void check_write_numbers(void)
{
    enum { N = 60, ROOM = 12 };
    int32_t *in = make_ints(N), room = ROOM, n = N;
    char *out = make_memory(N * ROOM), expected[ROOM];

    in[0] = INT32_MIN;
    in[1] = INT32_MAX;
    in[2] = 0;
    LAUNCH("write_numbers", line_over(N, 33), VALUE(in), VALUE(out), VALUE(room), VALUE(n));
    for (size_t i = 0; i < N; i++) {
        snprintf(expected, sizeof expected, "%d", in[i]);
        SAME(i, strcmp(out + i * ROOM, expected), 0);
    }
}

static const kernel_case cases[] = {
    {"find_word", check_find_word},     {"count_words", check_count_words},
    {"encode64", check_encode64},       {"count_edits", check_count_edits},
    {"write_numbers", check_write_numbers},
};
KERNEL_GROUP(text, cases);
