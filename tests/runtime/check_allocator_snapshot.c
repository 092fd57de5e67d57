/* Snapshots of an allocator: its segments and blocks, as JSON, text and a picture. */
#include "fixture.h"
#include "gate.h"
#include "picture.h"
#include "test.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static char *snapshot(ctxrt_allocator *allocator, ctxrt_snapshot_format format)
{
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(file);
    cx_assert_ok(ctxrt_allocator_snapshot_write(allocator, file, format));
    ck_assert_int_eq(fclose(file), 0);
    return text;
}

static json_t *snapshot_json(ctxrt_allocator *allocator)
{
    json_error_t error;
    char *text = snapshot(allocator, CTXRT_SNAPSHOT_JSON);
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(root != NULL, "line %d: %s in\n%s", error.line, error.text, text);
    free(text);
    return root;
}

static unsigned long long number_of(const json_t *object, const char *name)
{
    const json_t *number = json_object_get(object, name);
    ck_assert_msg(json_is_integer(number), "there is no number \"%s\"", name);
    return (unsigned long long)json_integer_value(number);
}

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    ck_assert_msg(text != NULL, "there is no text \"%s\"", name);
    return text;
}

static uintptr_t address_of(const json_t *object)
{
    return (uintptr_t)strtoull(text_of(object, "address"), NULL, 16);
}

/* The blocks of a segment follow each other from its beginning to its end. */
static void check_segment(const json_t *segment)
{
    size_t index;
    const json_t *block;
    uintptr_t here = address_of(segment), end = here + number_of(segment, "bytes");
    json_array_foreach(json_object_get(segment, "blocks"), index, block) {
        ck_assert_uint_eq(address_of(block), here);
        here += number_of(block, "bytes");
    }
    ck_assert_uint_eq(here, end);
}

static json_t *checked_json(ctxrt_allocator *allocator)
{
    size_t index;
    json_t *segment, *root = snapshot_json(allocator);
    uintptr_t last = 0;
    json_array_foreach(json_object_get(root, "segments"), index, segment) {
        ck_assert_uint_ge(address_of(segment), last);
        last = address_of(segment) + number_of(segment, "bytes");
        check_segment(segment);
    }
    return root;
}

/* The block at an address, or NULL. */
static const json_t *block_at(const json_t *root, const void *pointer)
{
    size_t i, k;
    const json_t *segment, *block;
    json_array_foreach(json_object_get(root, "segments"), i, segment)
        json_array_foreach(json_object_get(segment, "blocks"), k, block)
            if (address_of(block) == (uintptr_t)pointer)
                return block;
    return NULL;
}

static bool is_live(const json_t *root, const void *pointer)
{
    const json_t *block = block_at(root, pointer);
    return block != NULL && strcmp(text_of(block, "state"), "live") == 0;
}

static size_t count_live(const json_t *root)
{
    size_t i, k, live = 0;
    const json_t *segment, *block;
    json_array_foreach(json_object_get(root, "segments"), i, segment)
        json_array_foreach(json_object_get(segment, "blocks"), k, block)
            live += strcmp(text_of(block, "state"), "live") == 0;
    return live;
}

START_TEST(every_block_is_there_with_what_was_asked_for)
{
    enum { BLOCKS = 40 };
    ctxrt_memory *memory[BLOCKS];
    void *raw;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    for (size_t i = 0; i < BLOCKS; i++)
        cx_assert_ok(ctxrt_memory_alloc(1 + i * 5000, &memory[i]));
    cx_assert_ok(ctxrt_alloc(123456, &raw));
    json_t *root = checked_json(NULL);
    for (size_t i = 0; i < BLOCKS; i++) {
        const json_t *block = block_at(root, ctxrt_memory_pointer(memory[i]));
        ck_assert_ptr_nonnull(block);
        ck_assert_str_eq(text_of(block, "state"), "live");
        ck_assert_uint_eq(number_of(block, "asked_bytes"), 1 + i * 5000);
        ck_assert_uint_ge(number_of(block, "bytes"), 1 + i * 5000);
    }
    ck_assert(is_live(root, raw));
    ck_assert_uint_eq(count_live(root), BLOCKS + 1);
    ck_assert_uint_eq(number_of(json_object_get(root, "count"), "current"), BLOCKS + 1);
    ck_assert_str_eq(text_of(root, "kind"), "default");
    ck_assert_ptr_nonnull(strstr(text_of(root, "context"), "cuda:0"));
    json_decref(root);
    for (size_t i = 0; i < BLOCKS; i++)
        cx_assert_ok(ctxrt_memory_release(memory[i]));
    cx_assert_ok(ctxrt_free(raw));
    root = checked_json(NULL);
    ck_assert_uint_eq(count_live(root), 0);
    ck_assert_uint_ge(json_array_size(json_object_get(root, "segments")), 1);
    json_decref(root);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(an_allocators_snapshot_has_its_own_blocks_only)
{
    ctxrt_allocator *allocator;
    ctxrt_memory *usual, *own, *host;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_allocator_create(NULL, &allocator));
    cx_assert_ok(ctxrt_memory_alloc(1000, &usual));
    cx_assert_ok(ctxrt_memory_alloc_host(1000, &host));
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    cx_assert_ok(ctxrt_memory_alloc(2000, &own));
    cx_assert_ok(ctxrt_frame_set_allocator(NULL));
    json_t *root = checked_json(allocator);
    ck_assert_str_eq(text_of(root, "kind"), "created");
    ck_assert(is_live(root, ctxrt_memory_pointer(own)));
    ck_assert_uint_eq(count_live(root), 1);
    json_decref(root);
    root = checked_json(NULL);
    ck_assert(is_live(root, ctxrt_memory_pointer(usual)));
    ck_assert_uint_eq(count_live(root), 1);
    json_decref(root);
    cx_assert_ok(ctxrt_memory_release(own));
    cx_assert_ok(ctxrt_memory_release(usual));
    cx_assert_ok(ctxrt_memory_release(host));
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* Exported, so that its name is known; not inlined, so that it is the caller. */
__attribute__((visibility("default"), noinline)) ctxrt_memory *allocate_in_a_known_place(void);
ctxrt_memory *allocate_in_a_known_place(void)
{
    ctxrt_memory *memory = NULL;
    if (ctxrt_memory_alloc(777, &memory) != CTXRT_SUCCESS)
        return NULL;
    return memory;
}

START_TEST(where_a_block_was_allocated_is_known_while_a_trace_runs)
{
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    ctxrt_memory *before = allocate_in_a_known_place();
    cx_assert_ok(ctxrt_allocator_trace_start(NULL, 0));
    ctxrt_memory *traced = allocate_in_a_known_place();
    json_t *root = checked_json(NULL);
    ck_assert_ptr_null(json_object_get(block_at(root, ctxrt_memory_pointer(before)), "place"));
    const char *place = text_of(block_at(root, ctxrt_memory_pointer(traced)), "place");
    ck_assert_msg(strstr(place, "check_allocator_snapshot") != NULL, "it is \"%s\"", place);
    char *text = snapshot(NULL, CTXRT_SNAPSHOT_TEXT);
    char *picture = cx_picture(snapshot(NULL, CTXRT_SNAPSHOT_JSON));
    ck_assert_ptr_nonnull(strstr(text, place));
    ck_assert_ptr_nonnull(strstr(picture, place));
    free(text);
    free(picture);
    json_decref(root);
    cx_assert_ok(ctxrt_memory_release(before));
    cx_assert_ok(ctxrt_memory_release(traced));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* ---- sums ---- */

typedef struct sums {
    unsigned long long segments, live, kept, free, asked, live_count;
} sums;

static sums sums_of(const json_t *root)
{
    sums found = {0};
    size_t i, k;
    const json_t *segment, *block;
    json_array_foreach(json_object_get(root, "segments"), i, segment)
    {
        found.segments += number_of(segment, "bytes");
        json_array_foreach(json_object_get(segment, "blocks"), k, block)
        {
            const char *state = text_of(block, "state");
            bool live = strcmp(state, "live") == 0;
            found.asked += live ? number_of(block, "asked_bytes") : 0;
            found.live_count += live;
            *(live                           ? &found.live
              : strcmp(state, "cached") == 0 ? &found.kept
                                             : &found.free) += number_of(block, "bytes");
        }
    }
    return found;
}

static sums assert_adds_up(ctxrt_allocator *allocator)
{
    ctxrt_allocator_info info = CTXRT_ALLOCATOR_INFO_INIT;
    json_t *root = checked_json(allocator);
    sums found = sums_of(root);
    cx_assert_ok(ctxrt_allocator_describe(allocator, &info));
    ck_assert_uint_eq(found.segments, info.reserved.current_bytes);
    ck_assert_uint_eq(found.live + found.kept, info.allocated.current_bytes);
    ck_assert_uint_eq(found.free, info.inactive.current_bytes);
    ck_assert_uint_eq(found.asked, info.requested.current_bytes);
    ck_assert_uint_eq(found.live_count, info.requested.current_count);
    ck_assert_uint_eq(number_of(json_object_get(root, "bytes"), "current"), found.asked);
    json_decref(root);
    return found;
}

enum { HELD = 40, STEPS = 240 };

/* Some blocks are of a stream that a gate holds, or are freed while that uses them. */
static void step_at_random(unsigned int *seed, void *blocks[HELD], ctxrt_stream *held)
{
    int which = rand_r(seed) % HELD;
    size_t size = (size_t)1 << (8 + rand_r(seed) % 14);
    ctxrt_memory *memory = blocks[which];
    if (memory != NULL && rand_r(seed) % 3 == 0)
        cx_assert_ok(ctxrt_memory_record_stream(memory, held));
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_frame_set_stream(rand_r(seed) % 4 == 0 ? held : NULL));
    cx_assert_ok(ctxrt_memory_alloc(size - (size_t)rand_r(seed) % (size / 2), &memory));
    blocks[which] = memory;
}

enum { RECORDED = 10 };

/* A release of what was allocated in a recording waits for the streams that use it: it has none. */
static ctxrt_graph *record_some(ctxrt_memory *blocks[RECORDED])
{
    ctxrt_graph *graph;
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    cx_assert_ok(ctxrt_recording_start(NULL));
    for (int i = 0; i < RECORDED; i++)
        cx_assert_ok(ctxrt_memory_alloc(1000 + (size_t)i * 100000, &blocks[i]));
    for (int i = 0; i < RECORDED; i += 2) {
        cx_assert_ok(ctxrt_memory_release(blocks[i]));
        blocks[i] = NULL;
    }
    cx_assert_ok(ctxrt_recording_stop(&graph));
    return graph;
}

static void play_at_random(ctxrt_allocator *allocator, unsigned int seed)
{
    gate closed;
    void *blocks[HELD] = {NULL};
    ctxrt_memory *recorded[RECORDED] = {NULL};
    ctxrt_graph *graph = NULL;
    ctxrt_stream *held = create_stream(CTXRT_STREAM_NON_BLOCKING);
    unsigned long long kept = 0;
    gate_close(&closed, held);
    for (int i = 0; i < STEPS; i++) {
        step_at_random(&seed, blocks, held);
        if (i == STEPS / 3)
            graph = record_some(recorded);
        if (i % 60 == 59)
            cx_assert_ok(ctxrt_allocator_trim(allocator, NULL));
        if (i % 20 == 0)
            kept += assert_adds_up(allocator).kept;
    }
    ck_assert_uint_gt(kept, 0);
    gate_open(&closed);
    for (int i = 0; i < HELD; i++)
        cx_assert_ok(ctxrt_memory_release(blocks[i]));
    for (int i = 0; i < RECORDED; i++)
        cx_assert_ok(ctxrt_memory_release(recorded[i]));
    cx_assert_ok(ctxrt_graph_release(graph));
    cx_assert_ok(ctxrt_device_synchronize());
    sums left = assert_adds_up(allocator);
    ck_assert_uint_eq(left.live, 0);
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    cx_assert_ok(ctxrt_stream_destroy(held));
}

START_TEST(everything_is_there_and_adds_up_to_the_figures)
{
    ctxrt_allocator *allocator;
    ctxrt_allocator_options options = CTXRT_ALLOCATOR_OPTIONS_INIT;
    options.source = _i == 1 ? CTXRT_ALLOCATOR_SOURCE_VMM : CTXRT_ALLOCATOR_SOURCE_ALLOC;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_allocator_create(&options, &allocator));
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    play_at_random(allocator, 7 + (unsigned int)_i);
    cx_assert_ok(ctxrt_frame_set_allocator(NULL));
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* ---- the documentation ---- */

typedef struct names {
    char texts[64][64];
    size_t count;
} names;

static void add_name(names *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->texts[i], name) == 0)
            return;
    ck_assert_uint_lt(list->count, 64);
    snprintf(list->texts[list->count++], sizeof list->texts[0], "%s", name);
}

static void add_fields(names *list, const char *path, const json_t *value)
{
    size_t index;
    const char *key;
    json_t *part;
    char name[64];
    json_array_foreach(value, index, part) {
        snprintf(name, sizeof name, "%s[]", path);
        add_fields(list, name, part);
    }
    if (!json_is_object(value))
        return;
    json_object_foreach((json_t *)value, key, part) {
        snprintf(name, sizeof name, "%s%s%s", path, *path != '\0' ? "." : "", key);
        add_name(list, name);
        add_fields(list, name, part);
    }
}

static void read_documented(names *list)
{
    char path[4096], line[1024], name[64];
    bool here = false;
    snprintf(path, sizeof path, "%s/docs/snapshots.md", getenv("top_srcdir"));
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "%s", path);
    while (fgets(line, sizeof line, file) != NULL) {
        here = here || strcmp(line, "## Allocators\n") == 0;
        if (here && sscanf(line, "| `%63[^`]` |", name) == 1)
            add_name(list, name);
    }
    fclose(file);
}

static void check_contained(const names *some, const names *all, const char *where)
{
    for (size_t i = 0; i < some->count; i++) {
        bool found = false;
        for (size_t j = 0; j < all->count && !found; j++)
            found = strcmp(some->texts[i], all->texts[j]) == 0;
        ck_assert_msg(found, "%s is not in %s", some->texts[i], where);
    }
}

START_TEST(the_documentation_names_every_field_and_no_other)
{
    static names shown, documented;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_allocator_trace_start(NULL, 0));
    ctxrt_memory *memory = allocate_in_a_known_place();
    json_t *root = checked_json(NULL);
    add_fields(&shown, "", root);
    json_decref(root);
    read_documented(&documented);
    check_contained(&shown, &documented, "docs/snapshots.md");
    check_contained(&documented, &shown, "a snapshot");
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(the_picture_has_a_rectangle_for_every_block)
{
    enum { BLOCKS = 5 };
    ctxrt_memory *memory[BLOCKS];
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    for (size_t i = 0; i < BLOCKS; i++)
        cx_assert_ok(ctxrt_memory_alloc(100000 << i, &memory[i]));
    char *picture = cx_picture(snapshot(NULL, CTXRT_SNAPSHOT_JSON));
    ck_assert_int_eq(strncmp(picture, "<svg xmlns=", 11), 0);
    ck_assert_str_eq(strrchr(picture, '<'), "</svg>\n");
    size_t live = 0;
    for (const char *rest = picture; (rest = strstr(rest, " live ")) != NULL; rest++)
        live++;
    ck_assert_uint_eq(live, BLOCKS);
    free(picture);
    for (size_t i = 0; i < BLOCKS; i++)
        cx_assert_ok(ctxrt_memory_release(memory[i]));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_file_that_takes_nothing_is_an_error)
{
    FILE *full = fopen("/dev/full", "w");
    if (full == NULL)
        cx_fixture_skip("there is no /dev/full");
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    for (int format = CTXRT_SNAPSHOT_TEXT; format <= CTXRT_SNAPSHOT_JSON; format++) {
        cx_assert_error(ctxrt_allocator_snapshot_write(NULL, full, (ctxrt_snapshot_format)format),
                        CTXRT_ERROR_SYSTEM);
        ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, "No space left"));
    }
    fclose(full);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* Written for a program of another kind to read: tests/runtime/allocator_snapshot.sh. */
static int write_sample(void)
{
    ctxrt_options options = CTXRT_OPTIONS_INIT;
    ctxrt_memory *memory[3];
    options.cuda_driver = CTXRT_CUDA_DRIVER_EMULATED;
    if (ctxrt_init(&options) != CTXRT_SUCCESS || ctxrt_device_set(CTXRT_CUDA(0)) != CTXRT_SUCCESS ||
        ctxrt_allocator_trace_start(NULL, 0) != CTXRT_SUCCESS)
        return 1;
    for (size_t i = 0; i < 3; i++)
        if (ctxrt_memory_alloc(1000 * (i + 1), &memory[i]) != CTXRT_SUCCESS)
            return 1;
    int status = ctxrt_allocator_snapshot_write(NULL, stdout, CTXRT_SNAPSHOT_JSON) != CTXRT_SUCCESS;
    for (size_t i = 0; i < 3; i++)
        status += ctxrt_memory_release(memory[i]) != CTXRT_SUCCESS;
    return status + (ctxrt_stack_pop() != CTXRT_SUCCESS);
}

static Suite *snapshot_suite(void)
{
    Suite *suite = suite_create("allocator snapshot");
    TCase *tcase = tcase_create("allocator snapshot");
    tcase_add_checked_fixture(tcase, cx_fixture_start, cx_fixture_end);
    tcase_add_test(tcase, every_block_is_there_with_what_was_asked_for);
    tcase_add_test(tcase, an_allocators_snapshot_has_its_own_blocks_only);
    tcase_add_test(tcase, where_a_block_was_allocated_is_known_while_a_trace_runs);
    tcase_add_loop_test(tcase, everything_is_there_and_adds_up_to_the_figures, 0, 2);
    tcase_add_test(tcase, the_documentation_names_every_field_and_no_other);
    tcase_add_test(tcase, the_picture_has_a_rectangle_for_every_block);
    tcase_add_test(tcase, a_file_that_takes_nothing_is_an_error);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--sample") == 0)
        return write_sample();
    return cx_test_run((Suite * (*const[])(void)){snapshot_suite, NULL});
}
