/* Snapshots with names of files and threads that anybody may have chosen, and the picture's
 * geometry. */
#include "gate.h"
#include "picture.h"
#include "snapshot.h"

#include <stdbool.h>
#include <unistd.h>

/* Quotes, markup, control characters, a byte that no character begins with, and one that lost its
 * others. */
#define ODD_FILE "odd \"<a&b>\" 'c'\\\x01\t\n\x1b[0m\xff \xc3( \xe2\x82.c"
#define ODD_FILE_SHOWN \
    "odd \"<a&b>\" 'c'\\\x01\t\n\x1b[0m\xef\xbf\xbd \xef\xbf\xbd( \xef\xbf\xbd\xef\xbf\xbd.c"
#define ODD_NAME "\"<&>\\\x02\xff\xf0\x9f\x98"
#define ODD_NAME_SHOWN "\"<&>\\\x02\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"

static void push_odd(void)
{
    pthread_setname_np(pthread_self(), ODD_NAME);
    cx_assert_ok(ctxrt_device_push_at(CTXRT_CUDA(0), ODD_FILE, 7));
    cx_assert_ok(ctxrt_device_push_at(CTXRT_CUDA(1), "", 8)); /* no place */
    cx_assert_ok(ctxrt_device_push_at(CTXRT_CUDA(1), NULL, 9));
}

static void pop(int count)
{
    for (int i = 0; i < count; i++)
        cx_assert_ok(ctxrt_stack_pop());
}

START_TEST(json_keeps_odd_names_but_for_bytes_that_are_no_characters)
{
    push_odd();
    json_t *root = take_json();
    const json_t *frames = frames_of(root, ODD_NAME_SHOWN);
    ck_assert_str_eq(text_of(json_array_get(frames, 2), "file"), ODD_FILE_SHOWN);
    ck_assert_ptr_null(json_object_get(json_array_get(frames, 1), "file"));
    ck_assert_ptr_null(json_object_get(json_array_get(frames, 0), "file"));
    json_decref(root);
    pop(3);
}
END_TEST

START_TEST(the_text_has_one_line_for_each_frame_whatever_its_file_is_called)
{
    push_odd();
    char *text = take_snapshot(CTXRT_SNAPSHOT_TEXT);
    int lines = 0;
    for (const char *at = text; *at != '\0'; at++) {
        ck_assert_msg((unsigned char)*at >= ' ' || *at == '\n', "a control character in\n%s", text);
        lines += *at == '\n';
    }
    ck_assert_int_eq(lines, 4);
    free(text);
    pop(3);
}
END_TEST

/* ---- XML ---- */

static void check_markup(const char *at)
{
    static const char *const marks[] = {"&lt;", "&gt;", "&amp;", "&quot;"};
    bool known = false;
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        known = known || strncmp(at, marks[i], strlen(marks[i])) == 0;
    ck_assert_msg(known, "%.20s", at);
}

static bool is_shape(const char *at)
{
    static const char *const tags[] = {"<rect ",    "<svg ",   "<path ",     "<style>", "</style>",
                                       "<pattern ", "<defs>",   "</pattern>", "</defs>",
                                       "<g ",       "</g>"};
    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++)
        if (strncmp(at, tags[i], strlen(tags[i])) == 0)
            return true;
    return strcmp(at, "</svg>\n") == 0;
}

/* Every tag is one that is written here, in pairs where it must be; every other character is
 * allowed in XML. */
static void check_xml(const char *text)
{
    int open_texts = 0;
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '&')
            check_markup(at);
        if (strncmp(at, "<text ", 6) == 0)
            ck_assert_int_eq(open_texts++, 0);
        else if (strncmp(at, "</text>", 7) == 0)
            ck_assert_int_eq(--open_texts, 0);
        else if (*at == '<')
            ck_assert_msg(is_shape(at), "%.20s", at);
        ck_assert_msg((unsigned char)*at >= ' ' || *at == '\n', "a control character at %.20s", at);
    }
    json_t *as_string = json_string(text); /* NULL unless it is UTF-8 */
    ck_assert_ptr_nonnull(as_string);
    json_decref(as_string);
}

/* A second opinion, where there is one. */
static void check_with_xmllint(const char *text)
{
    if (system("xmllint --version >/dev/null 2>&1") != 0)
        return;
    FILE *checker = popen("xmllint --noout - 2>&1", "w");
    ck_assert_ptr_nonnull(checker);
    ck_assert_uint_eq(fwrite(text, 1, strlen(text), checker), strlen(text));
    ck_assert_int_eq(pclose(checker), 0);
}

START_TEST(the_picture_is_xml_whatever_the_names_are)
{
    push_odd();
    char *text = cx_picture(take_snapshot(CTXRT_SNAPSHOT_JSON));
    check_xml(text);
    check_with_xmllint(text);
    ck_assert_ptr_nonnull(strstr(text, "&quot;&lt;&amp;&gt;\\\xef\xbf\xbd"));
    free(text);
    pop(3);
}
END_TEST

/* ---- geometry ---- */

enum { BOXES_MAX = 2000, KEYS = 2 /* boxes of the legend */ };

typedef struct box {
    int x, y, width, height;
} box;

typedef struct picture {
    box view;
    double advance; /* of a character */
    box boxes[BOXES_MAX];
    int box_count, text_count, column_count;
    int columns[128][2]; /* where the heads of threads begin */
} picture;

/* Places that a text takes, an entity being one character, and wide characters two. */
static int places_of(const char *text)
{
    int places = 0;
    for (; strncmp(text, "</text>", 7) != 0; text++) {
        unsigned char byte = (unsigned char)*text;
        if (byte == '&')
            text = strchr(text, ';');
        if (byte < 0x80 || byte >= 0xc0)
            places += byte >= 0xe1 ? 2 : 1;
    }
    return places;
}

static bool lies_in(const box *inner, const box *outer)
{
    return inner->x >= outer->x && inner->y >= outer->y &&
           inner->x + inner->width <= outer->x + outer->width &&
           inner->y + inner->height <= outer->y + outer->height;
}

static bool overlap(const box *one, const box *other)
{
    return one->x < other->x + other->width && other->x < one->x + one->width &&
           one->y < other->y + other->height && other->y < one->y + one->height;
}

static void take_box(picture *self, const char *line)
{
    box found;
    if (sscanf(line, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"", &found.x, &found.y,
               &found.width, &found.height) != 4)
        return;
    ck_assert_msg(lies_in(&found, &self->view), "outside: %s", line);
    if (found.width == self->view.width)
        return; /* the background */
    ck_assert_int_lt(self->box_count, BOXES_MAX);
    for (int i = 0; i < self->box_count && self->box_count < 200; i++)
        ck_assert_msg(!overlap(&found, &self->boxes[i]), "two boxes overlap: %s", line);
    self->boxes[self->box_count++] = found;
}

/* In the box that was drawn before it; or, in the head, in a column's width. */
static void take_text(picture *self, const char *line, int font_size)
{
    int x, y;
    const char *text = strchr(line, '>') + 1;
    ck_assert_int_eq(sscanf(line, "<text x=\"%d\" y=\"%d\"", &x, &y), 2);
    box extent = {x, y - font_size, (int)(places_of(text) * self->advance + 0.999),
                  font_size + font_size / 4};
    ck_assert_msg(lies_in(&extent, &self->view), "outside: %s", line);
    self->text_count++;
    if (strncmp(text, "thread ", 7) == 0)
        memcpy(self->columns[self->column_count++], (const int[2]){x, y}, sizeof(int[2]));
    const box *last = self->box_count != 0 ? &self->boxes[self->box_count - 1] : NULL;
    if (last != NULL && y > last->y && x > last->x && x < last->x + last->width)
        ck_assert_msg(lies_in(&extent, last), "does not fit its box: %s", line);
}

static void measure(picture *self, char *text)
{
    int font_size = 0;
    *self = (picture){0};
    for (char *line = strtok_r(text, "\n", &text); line != NULL;
         line = strtok_r(NULL, "\n", &text)) {
        if (strncmp(line, "<svg ", 5) == 0) {
            int width, height;
            ck_assert_int_eq(sscanf(strstr(line, " width="),
                                    " width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\"", &width,
                                    &height, &self->view.width, &self->view.height),
                             4);
            ck_assert_int_eq(width, self->view.width);
            ck_assert_int_eq(height, self->view.height);
            ck_assert_ptr_nonnull(strstr(line, "font-family=\"monospace\""));
            ck_assert_int_eq(sscanf(strstr(line, "font-size="), "font-size=\"%d\"", &font_size), 1);
            self->advance = font_size * 0.6;
        }
        take_box(self, line);
        if (strncmp(line, "<text ", 6) == 0)
            take_text(self, line, font_size);
    }
}

static picture shown;

static void look(void)
{
    char *text = cx_picture(take_snapshot(CTXRT_SNAPSHOT_JSON));
    check_xml(text);
    check_with_xmllint(text);
    measure(&shown, text);
    free(text);
    for (int i = 0; i < shown.column_count; i++)
        for (int j = 0; j < i; j++)
            ck_assert_int_ne(memcmp(shown.columns[i], shown.columns[j], sizeof(int[2])), 0);
}

START_TEST(long_names_are_cut_to_their_boxes_and_keep_their_ends)
{
    static char long_file[3000], wide_file[600];
    memset(long_file, 'W', sizeof long_file - 1);
    memcpy(long_file + sizeof long_file - 10, "the_end.c", 9);
    for (size_t i = 0; i + 3 < sizeof wide_file; i += 3)
        memcpy(wide_file + i, "\xe6\xbc\xa2", 3);
    ctxrt_stream *stream;
    ctxrt_allocator *allocator;
    pthread_setname_np(pthread_self(), "fifteen letters");
    cx_assert_ok(ctxrt_device_push_at(CTXRT_CUDA(0), long_file, 2147483647));
    stream = create_stream(0);
    cx_assert_ok(ctxrt_allocator_create(NULL, &allocator));
    cx_assert_ok(ctxrt_frame_set_stream(stream));
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    cx_assert_ok(ctxrt_device_push_at(CTXRT_CUDA(1), wide_file, 1));
    look();
    char *text = cx_picture(take_snapshot(CTXRT_SNAPSHOT_JSON));
    ck_assert_ptr_nonnull(strstr(text, "the_end.c:2147483647<"));
    free(text);
    pop(1);
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    cx_assert_ok(ctxrt_frame_set_allocator(NULL));
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    pop(1);
}
END_TEST

enum { THREADS = 64 };
static pthread_barrier_t up, down;

static void *stand(void *argument)
{
    int number = *(int *)argument;
    for (int i = 0; i < number; i++)
        cx_assert_ok(CTXRT_DEVICE_PUSH(CTXRT_CUDA((number + i) % 4)));
    pthread_barrier_wait(&up);
    pthread_barrier_wait(&down);
    for (int i = 0; i < number; i++)
        cx_assert_ok(ctxrt_stack_pop());
    return NULL;
}

START_TEST(sixty_four_threads_have_a_column_each)
{
    static int numbers[THREADS];
    pthread_t threads[THREADS];
    ctxrt_detached_frame *detached;
    int boxes = 0;
    pthread_barrier_init(&up, NULL, THREADS + 1);
    pthread_barrier_init(&down, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = 1 + i % 16;
        boxes += numbers[i];
        ck_assert_int_eq(pthread_create(&threads[i], NULL, stand, &numbers[i]), 0);
    }
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_stack_detach(&detached));
    pthread_barrier_wait(&up);
    look();
    ck_assert_int_eq(shown.column_count, THREADS + 1);
    ck_assert_int_eq(shown.box_count, boxes + 1 + 4 + KEYS); /* a detached frame, contexts */
    pthread_barrier_wait(&down);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    cx_assert_ok(ctxrt_stack_discard(detached));
}
END_TEST

START_TEST(the_deepest_stack_is_shown_whole)
{
    for (int i = 0; i < CTXRT_STACK_DEPTH_MAX; i++)
        cx_assert_ok(CTXRT_DEVICE_PUSH(CTXRT_CUDA(i % 4)));
    look();
    ck_assert_int_eq(shown.box_count, CTXRT_STACK_DEPTH_MAX + 4 + KEYS);
    pop(CTXRT_STACK_DEPTH_MAX);
}
END_TEST

static Suite *snapshot_names_suite(void)
{
    Suite *suite = suite_create("snapshot names");
    TCase *tcase = tcase_create("snapshot names");
    tcase_add_checked_fixture(tcase, cx_fixture_start, cx_fixture_end);
    tcase_add_test(tcase, json_keeps_odd_names_but_for_bytes_that_are_no_characters);
    tcase_add_test(tcase, the_text_has_one_line_for_each_frame_whatever_its_file_is_called);
    tcase_add_test(tcase, the_picture_is_xml_whatever_the_names_are);
    tcase_add_test(tcase, long_names_are_cut_to_their_boxes_and_keep_their_ends);
    tcase_add_test(tcase, sixty_four_threads_have_a_column_each);
    tcase_add_test(tcase, the_deepest_stack_is_shown_whole);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(snapshot_names_suite);
