/*
 * What ctxrt knows of addresses by itself: blocks that they are in, what goes beyond a block, and
 * memory that went.
 */
#include "calls.h"
#include "driver/driver.h"
#include "fixture.h"
#include "diagnose/origin.h"
#include "memory/address_index.h"
#include "random.h"
#include "test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

static void start(void)
{
    cx_fixture_start();
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
}

static void end(void)
{
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}

static char *allocate(size_t size)
{
    void *pointer;
    cx_assert_ok(ctxrt_alloc(size, &pointer));
    return pointer;
}

static ctxrt_pointer_info query(const void *pointer)
{
    ctxrt_pointer_info info;
    cx_assert_ok(ctxrt_pointer_query(pointer, &info));
    return info;
}

/* ---- starts ---- */

/* Far apart ones are in pages and folders of their own; nobody has these addresses. */
enum { UNITS = 60000, STARTS_ROUNDS = 20000 };
static const uintptr_t starts_begin = (uintptr_t)1 << (CX_START_ADDRESS_BITS - 1);

static uintptr_t address_of_unit(uint64_t unit)
{
    static const uintptr_t steps[] = {256, 256 * 77, (uintptr_t)256 << 14};
    return starts_begin + (uintptr_t)(unit / 20000) * ((uintptr_t)1 << 40) +
           (uintptr_t)(unit % 20000) * steps[unit / 20000];
}

START_TEST(the_last_start_up_to_an_address_is_found)
{
    uint64_t state = 7;
    static bool set[UNITS];
    for (int round = 0; round < STARTS_ROUNDS; round++) {
        uint64_t unit = next_random(&state) % UNITS;
        set[unit] = round % 16 == 0;
        ck_assert(cx_start_set(address_of_unit(unit), set[unit] ? (uint32_t)unit + 1 : 0));
        unit = next_random(&state) % UNITS;
        uint64_t least = unit - (next_random(&state) % 3 == 0 ? unit / 2 : unit);
        int64_t wanted = (int64_t)unit;
        while (wanted >= (int64_t)least && !set[wanted])
            wanted--;
        uintptr_t found = address_of_unit(unit) + 255;
        bool any = wanted >= (int64_t)least;
        ck_assert_int_eq(cx_start_find_last(&found, address_of_unit(least)), any);
        if (any)
            ck_assert_uint_eq(found, address_of_unit((uint64_t)wanted));
    }
    for (uint64_t unit = 0; unit < UNITS; unit++)
        ck_assert(cx_start_set(address_of_unit(unit), 0));
}
END_TEST

START_TEST(the_ends_of_the_address_space_have_no_starts)
{
    uintptr_t found = UINTPTR_MAX;
    ck_assert(!cx_start_find_last(&found, UINTPTR_MAX));
    ck_assert(!cx_start_set(UINTPTR_MAX, 1));
    ck_assert_uint_eq(cx_start_at(UINTPTR_MAX), 0);
    found = 5;
    ck_assert(!cx_start_find_last(&found, 1));
}
END_TEST

/* ---- blocks ---- */

enum { BLOCKS = 200 };

typedef struct block {
    char *pointer;
    size_t size;
    ctxrt_memory *object;
} block;

static void fill_block(block *self, uint64_t *state)
{
    self->size = 1 + next_random(state) % (next_random(state) % 8 == 0 ? 3 * MIB : 20 * KIB);
    self->object = NULL;
    if (next_random(state) % 2 == 0) {
        self->pointer = allocate(self->size);
        return;
    }
    cx_assert_ok(ctxrt_memory_alloc(self->size, &self->object));
    self->pointer = ctxrt_memory_pointer(self->object);
}

static void free_block(block *self)
{
    cx_assert_ok(self->object != NULL ? ctxrt_memory_release(self->object)
                                      : ctxrt_free(self->pointer));
    self->pointer = NULL;
}

static void look_at(const block *self, uint64_t *state)
{
    size_t offset = next_random(state) % self->size;
    ctxrt_pointer_info info = query(self->pointer + offset);
    ck_assert(info.known);
    ck_assert_ptr_eq(info.base, self->pointer);
    ck_assert_uint_eq(info.size_bytes, self->size);
    cx_assert_ok(ctxrt_fill(self->pointer + offset, 1, self->size - offset));
    cx_assert_status(ctxrt_fill(self->pointer + offset, 1, self->size - offset + 1),
                     CTXRT_ERROR_INVALID_ARGUMENT);
    ck_assert(!query(self->pointer + self->size).known ||
              query(self->pointer + self->size).base != self->pointer);
}

static void use_source(ctxrt_allocator_source source, ctxrt_allocator **out_allocator)
{
    ctxrt_allocator_options options = CTXRT_ALLOCATOR_OPTIONS_INIT;
    options.source = source;
    cx_assert_ok(ctxrt_allocator_create(&options, out_allocator));
    cx_assert_ok(ctxrt_frame_set_allocator(*out_allocator));
}

static const ctxrt_allocator_source sources[] = {
    CTXRT_ALLOCATOR_SOURCE_ALLOC, CTXRT_ALLOCATOR_SOURCE_VMM, CTXRT_ALLOCATOR_SOURCE_DIRECT};

START_TEST(every_address_of_a_live_block_is_known_and_what_is_beyond_it_refused)
{
    static block blocks[BLOCKS];
    uint64_t state = 3;
    ctxrt_allocator *allocator;
    use_source(sources[_i], &allocator);
    memset(blocks, 0, sizeof blocks);
    for (int round = 0; round < 10 * BLOCKS; round++) {
        block *one = &blocks[next_random(&state) % BLOCKS];
        if (one->pointer == NULL) {
            fill_block(one, &state);
        } else if (next_random(&state) % 4 != 0) {
            look_at(one, &state);
        } else {
            char *gone = one->pointer;
            free_block(one);
            ck_assert(!query(gone).known);
            cx_assert_status(ctxrt_fill(gone, 0, 1), CTXRT_ERROR_INVALID_ARGUMENT);
        }
    }
    for (int i = 0; i < BLOCKS; i++)
        if (blocks[i].pointer != NULL)
            free_block(&blocks[i]);
    cx_assert_ok(ctxrt_frame_set_allocator(NULL));
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
}
END_TEST

/* ---- beyond ---- */

enum { SIZE = 1000, LARGE = 8 << 20 };
static char host[64 * 1024];

static char *give_managed(size_t size)
{
    void *pointer;
    cx_assert_ok(ctxrt_alloc_managed(size, &pointer));
    return pointer;
}

static char *give_async(size_t size)
{
    void *pointer;
    cx_assert_ok(ctxrt_alloc_async(size, NULL, &pointer));
    return pointer;
}

static char *give_pinned(size_t size)
{
    void *pointer;
    cx_assert_ok(ctxrt_alloc_pinned(size, &pointer));
    return pointer;
}

static char *give_registered(size_t size)
{
    static char pages[LARGE] __attribute__((aligned(4096)));
    cx_assert_ok(ctxrt_host_register(pages, size));
    return pages;
}

static ctxrt_status unregister(void *pointer)
{
    return ctxrt_host_unregister(pointer);
}

static ctxrt_status free_plain(void *pointer)
{
    return ctxrt_free(pointer);
}

static const struct {
    char *(*give)(size_t size);
    ctxrt_status (*take)(void *pointer);
} givers[] = {{allocate, free_plain},
              {give_managed, free_plain},
              {give_async, free_plain},
              {give_pinned, free_plain},
              {give_registered, unregister}};

static void assert_beyond(ctxrt_status status, size_t bytes)
{
    char text[64];
    ck_assert_int_eq(status, CTXRT_ERROR_INVALID_ARGUMENT);
    snprintf(text, sizeof text, ": %zu bytes at the ", bytes);
    ck_assert_msg(strstr(ctxrt_last_error()->message, text) != NULL, "%s",
                  ctxrt_last_error()->message);
    ck_assert_msg(strstr(ctxrt_last_error()->message, "1000 bytes of ") != NULL, "%s",
                  ctxrt_last_error()->message);
}

START_TEST(bytes_beyond_memory_of_every_kind_are_refused)
{
    char *memory = givers[_i].give(SIZE);
    for (size_t offset = 0; offset < SIZE; offset += 333) {
        size_t left = SIZE - offset;
        cx_assert_ok(ctxrt_copy(memory + offset, host, left, CTXRT_COPY_ANY));
        cx_assert_ok(ctxrt_copy(host, memory + offset, left, CTXRT_COPY_ANY));
        cx_assert_ok(ctxrt_fill(memory + offset, 1, left));
        assert_beyond(ctxrt_copy(memory + offset, host, left + 1, CTXRT_COPY_ANY), left + 1);
        assert_beyond(ctxrt_copy(host, memory + offset, left + 1, CTXRT_COPY_ANY), left + 1);
        assert_beyond(ctxrt_copy_async(memory + offset, host, 4096, CTXRT_COPY_ANY, NULL), 4096);
        assert_beyond(ctxrt_fill(memory + offset, 1, 4096), 4096);
        assert_beyond(ctxrt_fill_async(memory + offset, 1, left + 1, NULL), left + 1);
    }
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    cx_assert_ok(givers[_i].take(memory));
}
END_TEST

START_TEST(regions_beyond_their_memory_are_refused)
{
    char *memory = allocate(SIZE);
    ctxrt_copy_region region = {
        .destination = memory,
        .destination_pitch_bytes = 100,
        .destination_slice_height = 5,
        .source = host,
        .source_pitch_bytes = 200,
        .source_slice_height = 5,
        .width_bytes = 100,
        .height = 5,
        .depth = 2,
        .kind = CTXRT_COPY_ANY,
    };
    cx_assert_ok(ctxrt_copy_3d(&region));
    region.depth = 3;
    assert_beyond(ctxrt_copy_3d(&region), 1500);
    region.height = 10;
    cx_assert_ok(ctxrt_copy_2d(&region));
    region.height = 11;
    assert_beyond(ctxrt_copy_2d_async(&region, NULL), 1100);
    region.destination = host;
    region.source = memory + 100;
    region.source_pitch_bytes = 100;
    region.destination_pitch_bytes = 200;
    region.height = 9;
    cx_assert_ok(ctxrt_copy_2d(&region));
    region.width_bytes = region.source_pitch_bytes = 101;
    assert_beyond(ctxrt_copy_2d(&region), 909);
    cx_assert_ok(ctxrt_free(memory));
}
END_TEST

START_TEST(copies_between_devices_beyond_their_memory_are_refused)
{
    char *near = allocate(SIZE);
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    char *far = allocate(4096);
    cx_assert_ok(ctxrt_copy_peer(far, CTXRT_CUDA(1), near, CTXRT_CUDA(0), SIZE, NULL));
    assert_beyond(ctxrt_copy_peer(far, CTXRT_CUDA(1), near, CTXRT_CUDA(0), SIZE + 1, NULL),
                  SIZE + 1);
    assert_beyond(ctxrt_copy(near, far, SIZE + 1, CTXRT_COPY_DEVICE_TO_DEVICE), SIZE + 1);
    cx_assert_ok(ctxrt_device_push(CTXRT_CPU(0)));
    char *cpu = allocate(4096);
    assert_beyond(ctxrt_copy_async(cpu, near, SIZE + 1, CTXRT_COPY_ANY, NULL), SIZE + 1);
    assert_beyond(ctxrt_copy_async(near + 1, cpu, SIZE, CTXRT_COPY_ANY, NULL), SIZE);
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_free(cpu));
    cx_assert_ok(ctxrt_free(far));
    cx_assert_ok(ctxrt_free(near));
}
END_TEST

START_TEST(a_refusal_says_where_the_block_was_allocated)
{
    void *pointer;
    cx_assert_ok(ctxrt_alloc_at(SIZE, "model.c", 42, &pointer));
    assert_beyond(ctxrt_fill(pointer, 0, SIZE + 1), SIZE + 1);
    ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, ", allocated in model.c:42"));
    cx_assert_ok(ctxrt_free(pointer));
}
END_TEST

/* ---- memory that went ---- */

static void assert_went(ctxrt_status status, const char *how)
{
    ck_assert_int_eq(status, CTXRT_ERROR_INVALID_ARGUMENT);
    ck_assert_msg(strstr(ctxrt_last_error()->message, how) != NULL, "\"%s\" is not in: %s", how,
                  ctxrt_last_error()->message);
}

static void assert_refused_as(const char *how, char *memory)
{
    assert_went(ctxrt_fill(memory + 5, 0, 1), how);
    assert_went(ctxrt_fill_async(memory + 5, 0, 1, NULL), how);
    assert_went(ctxrt_copy(host, memory, 1, CTXRT_COPY_ANY), how);
    assert_went(ctxrt_copy(memory, host, 1, CTXRT_COPY_ANY), how);
}

static void assert_went_when_freed(int giver, size_t size)
{
    char *memory = givers[giver].give(size);
    bool registered = givers[giver].take == unregister;
    cx_assert_ok(givers[giver].take(memory));
    if (registered)
        cx_assert_ok(ctxrt_fill(memory, 1, size));
    else
        assert_refused_as("freed", memory);
}

START_TEST(memory_of_every_kind_that_went_is_not_touched_by_the_host)
{
    assert_went_when_freed(_i, LARGE);
    assert_went_when_freed(_i, SIZE);
}
END_TEST

/* The host could touch it as long as it was there, and malloc must not get its addresses. */
START_TEST(memory_of_the_cpu_that_went_with_a_reset_is_refused)
{
    enum { COUNT = 64 };
    char *lost[COUNT];
    void *others[COUNT];
    cx_assert_ok(ctxrt_device_push(CTXRT_CPU(0)));
    for (int i = 0; i < COUNT; i++)
        lost[i] = allocate(i % 2 == 0 ? SIZE : LARGE);
    cx_assert_ok(ctxrt_device_reset(CTXRT_CPU(0)));
    for (int i = 0; i < COUNT; i++) {
        others[i] = calloc(1, i % 2 == 0 ? SIZE : LARGE);
        assert_refused_as("which went with a reset of the device", lost[i]);
        lost[i][SIZE - 1] = 1; /* nobody's memory, but still there */
    }
    for (int i = 0; i < COUNT; i++) {
        ck_assert_int_eq(((char *)others[i])[SIZE - 1], 0);
        free(others[i]);
        cx_assert_ok(ctxrt_free(lost[i]));
    }
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_refusal_says_of_which_device_the_memory_was_and_how_it_went)
{
    char *freed = allocate(SIZE);
    cx_assert_ok(ctxrt_free(freed));
    assert_went(ctxrt_fill(freed, 0, 1), "was memory of cuda:0, 1000 bytes, which were freed");
    cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    assert_went(ctxrt_fill(freed, 0, 1), "memory of cuda:0, which was freed and given back");
    char *lost = allocate(SIZE);
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    assert_went(ctxrt_fill(lost, 0, 1), "memory of cuda:0, which went with a reset of the device");
    cx_assert_ok(ctxrt_free(lost));
    cx_assert_ok(ctxrt_alloc_pinned(SIZE, (void **)&freed));
    cx_assert_ok(ctxrt_free(freed));
    assert_went(ctxrt_fill(freed, 0, 1), "1000 bytes of pinned memory of cuda:0, which was freed");
}
END_TEST

START_TEST(memory_in_stream_order_is_known_after_a_reset_as_before)
{
    char *memory = give_async(SIZE);
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_fill(memory, 1, SIZE));
    cx_assert_error(ctxrt_fill(memory, 1, SIZE + 1), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_ok(ctxrt_free(memory));
    assert_went(ctxrt_fill(memory, 0, 1), "freed");
}
END_TEST

START_TEST(addresses_that_the_host_has_by_now_are_the_hosts)
{
    char *kept = allocate(SIZE), *memory = allocate(64 * MIB);
    cx_assert_ok(ctxrt_free(memory));
    cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    char *pages = (char *)((uintptr_t)memory & ~(uintptr_t)4095) + 4096;
    assert_went(ctxrt_fill(pages, 7, MIB), "freed");
    ck_assert_ptr_eq(mmap(pages, MIB, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0),
                     pages);
    cx_assert_ok(ctxrt_fill(pages, 7, MIB));
    ck_assert_int_eq(pages[MIB - 1], 7);
    assert_went(ctxrt_fill(pages + MIB, 7, MIB), "freed");
    ck_assert_int_eq(munmap(pages, MIB), 0);
    cx_assert_ok(ctxrt_free(kept));
}
END_TEST

/* ---- places ---- */

/* As that of code that a compiler made at run time. */
START_TEST(a_place_that_is_in_no_file_is_told_by_its_address)
{
    char text[32], wanted[32];
    char *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(page, MAP_FAILED);
    snprintf(wanted, sizeof wanted, "%p", (void *)(page + 16));
    cx_place_text(page + 16, text, sizeof text);
    ck_assert_str_eq(text, wanted);
    ck_assert_int_eq(munmap(page, 4096), 0);
}
END_TEST

/* ---- threads ---- */

static void *use_and_free(void *argument)
{
    uint64_t state = (uint64_t)(uintptr_t)argument;
    char *pointers[8] = {NULL};
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    for (int round = 0; round < 500; round++) {
        size_t i = next_random(&state) % 8, size = 1 + next_random(&state) % (300 * KIB);
        if (pointers[i] != NULL) {
            cx_assert_ok(ctxrt_fill_async(pointers[i] + round % 7, 1, 1, NULL));
            ck_assert_ptr_eq(query(pointers[i] + 6).base, pointers[i]);
            cx_assert_ok(ctxrt_free(pointers[i]));
        }
        pointers[i] = allocate(size + 8);
        if (round % 100 == 99)
            cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    }
    for (int i = 0; i < 8; i++)
        cx_assert_ok(ctxrt_free(pointers[i]));
    cx_assert_ok(ctxrt_stack_pop());
    return NULL;
}

START_TEST(threads_find_their_blocks_while_others_come_and_go)
{
    pthread_t threads[4];
    for (uintptr_t i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, use_and_free, (void *)(i + 1)), 0);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
}
END_TEST

static Suite *addresses_suite(void)
{
    Suite *suite = suite_create("addresses");
    TCase *tcase = tcase_create("addresses");
    const int kinds = sizeof givers / sizeof givers[0];
    tcase_add_checked_fixture(tcase, start, end);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, the_last_start_up_to_an_address_is_found);
    tcase_add_test(tcase, the_ends_of_the_address_space_have_no_starts);
    tcase_add_loop_test(tcase, every_address_of_a_live_block_is_known_and_what_is_beyond_it_refused,
                        0, 3);
    tcase_add_loop_test(tcase, bytes_beyond_memory_of_every_kind_are_refused, 0, kinds);
    tcase_add_test(tcase, regions_beyond_their_memory_are_refused);
    tcase_add_test(tcase, copies_between_devices_beyond_their_memory_are_refused);
    tcase_add_test(tcase, a_refusal_says_where_the_block_was_allocated);
    tcase_add_loop_test(tcase, memory_of_every_kind_that_went_is_not_touched_by_the_host, 0, kinds);
    tcase_add_test(tcase, a_refusal_says_of_which_device_the_memory_was_and_how_it_went);
    tcase_add_test(tcase, memory_of_the_cpu_that_went_with_a_reset_is_refused);
    tcase_add_test(tcase, addresses_that_the_host_has_by_now_are_the_hosts);
    tcase_add_test(tcase, memory_in_stream_order_is_known_after_a_reset_as_before);
    tcase_add_test(tcase, a_place_that_is_in_no_file_is_told_by_its_address);
    tcase_add_test(tcase, threads_find_their_blocks_while_others_come_and_go);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS_TOGETHER(addresses_suite);
