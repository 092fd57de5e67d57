/* Addresses that a reset has freed in the driver, and that other memory gets before ctxrt has
 * forgotten what was there. */
#include "device/runtime.h"
#include "memory/address_index.h"
#include "fixture.h"
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { BLOCKS = 16, BLOCK_BYTES = 256, LARGE_BYTES = 2048, FILL_BYTES = 512 };
enum { WHOLE_BYTES = 32 << 20, PART_BYTES = 1 << 20 };

static cx_driver_table beneath;
static ctxrt_context *created;
static void *stale[BLOCKS];
static char *large;

static void use_large_from(char *pointer)
{
    ctxrt_pointer_info info;
    cx_assert_ok(ctxrt_pointer_query(pointer, &info));
    ck_assert(info.known && info.base == large && info.size_bytes == LARGE_BYTES);
    cx_assert_ok(ctxrt_fill_async(pointer, 1, FILL_BYTES, NULL));
    cx_assert_ok(ctxrt_fill(pointer, 2, FILL_BYTES));
}

/* As another thread may, between the driver's reset and what ctxrt does after it. */
static cxu_result reset_and_allocate(CUdevice device)
{
    int within = 0;
    cxu_result result = beneath.primary_reset(device);
    cx_assert_ok(ctxrt_stack_push(created));
    cx_assert_ok(ctxrt_alloc(LARGE_BYTES, (void **)&large));
    for (int i = 0; i < BLOCKS; i++) {
        char *pointer = stale[i];
        if (pointer <= large || pointer + FILL_BYTES > large + LARGE_BYTES)
            continue;
        use_large_from(pointer);
        within++;
    }
    ck_assert_int_gt(within, 0);
    cx_assert_ok(ctxrt_stack_pop());
    return result;
}

START_TEST(a_block_is_not_taken_for_one_from_before_a_reset_that_begins_inside_it)
{
    void *first;
    cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(0), CTXRT_CONTEXT_SCHED_AUTO, &created));
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    /* No block that is left begins where the large one will. */
    cx_assert_ok(ctxrt_alloc(BLOCK_BYTES, &first));
    for (int i = 0; i < BLOCKS; i++)
        cx_assert_ok(ctxrt_alloc(BLOCK_BYTES, &stale[i]));
    cx_assert_ok(ctxrt_free(first));
    cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    beneath = cx_drivers[0].table;
    cx_drivers[0].table.primary_reset = reset_and_allocate;
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    cx_drivers[0].table = beneath;
    for (int i = 0; i < BLOCKS; i++)
        cx_assert_ok(ctxrt_free(stale[i]));
    use_large_from(large);
    cx_assert_ok(ctxrt_free(large));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_context_destroy(created));
}
END_TEST

static char *whole;

static cxu_result reset_and_use_a_part(CUdevice device)
{
    void *part;
    cxu_result result = beneath.primary_reset(device);
    cx_assert_ok(ctxrt_stack_push(created));
    cx_assert_ok(ctxrt_alloc_direct(PART_BYTES, &part));
    ck_assert(whole <= (char *)part && (char *)part + PART_BYTES < whole + WHOLE_BYTES);
    cx_assert_status(ctxrt_fill(whole + WHOLE_BYTES - FILL_BYTES, 3, FILL_BYTES),
                     CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_ok(ctxrt_fill(part, 4, PART_BYTES));
    cx_assert_ok(ctxrt_free(part));
    cx_assert_ok(ctxrt_stack_pop());
    return result;
}

START_TEST(the_rest_of_memory_of_before_a_reset_is_known_when_a_part_of_it_has_a_new_user)
{
    cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(0), CTXRT_CONTEXT_SCHED_AUTO, &created));
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_alloc(WHOLE_BYTES, (void **)&whole));
    beneath = cx_drivers[0].table;
    cx_drivers[0].table.primary_reset = reset_and_use_a_part;
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    cx_drivers[0].table = beneath;
    cx_assert_ok(ctxrt_free(whole));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_context_destroy(created));
}
END_TEST

enum { RESETS = 300, READERS = 6 };

static _Atomic(char *) asked;
static atomic_bool over;

static void *ask_all_the_time(void *argument)
{
    ctxrt_pointer_info info;
    (void)argument;
    while (!atomic_load(&over))
        cx_assert_ok(ctxrt_pointer_query(atomic_load(&asked), &info));
    return NULL;
}

START_TEST(a_look_up_that_began_before_a_reset_loses_no_block_of_after_it)
{
    pthread_t readers[READERS];
    ctxrt_pointer_info info;
    void *pointer;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    atomic_store(&over, false);
    atomic_store(&asked, NULL);
    for (int i = 0; i < READERS; i++)
        ck_assert_int_eq(pthread_create(&readers[i], NULL, ask_all_the_time, NULL), 0);
    for (int i = 0; i < RESETS; i++) {
        cx_assert_ok(ctxrt_alloc(LARGE_BYTES, &pointer));
        char *inside = (char *)pointer + BLOCK_BYTES;
        atomic_store(&asked, inside);
        cx_assert_ok(ctxrt_pointer_query(inside, &info));
        ck_assert_msg(info.known && info.base == pointer, "in round %d: known %d, base %p of %p", i,
                      info.known, info.base, pointer);
        cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
        cx_assert_ok(ctxrt_free(pointer));
    }
    atomic_store(&over, true);
    for (int i = 0; i < READERS; i++)
        ck_assert_int_eq(pthread_join(readers[i], NULL), 0);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

static ctxrt_allocator *made_meanwhile;

static cxu_result refuse_to_reset(CUdevice device)
{
    (void)device;
    cx_assert_ok(ctxrt_allocator_create(NULL, &made_meanwhile));
    return CXU_NOT_PERMITTED;
}

START_TEST(an_allocator_made_during_a_refused_reset_forgets_its_memory_with_the_next_one)
{
    void *before, *after;
    ctxrt_pointer_info info;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    beneath = cx_drivers[0].table;
    cx_drivers[0].table.primary_reset = refuse_to_reset;
    cx_assert_status(ctxrt_device_reset(CTXRT_CUDA(0)), CTXRT_ERROR_NOT_PERMITTED);
    cx_drivers[0].table = beneath;
    cx_assert_ok(ctxrt_frame_set_allocator(made_meanwhile));
    cx_assert_ok(ctxrt_alloc(LARGE_BYTES, &before));
    cx_assert_ok(ctxrt_fill(before, 1, LARGE_BYTES));
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_free(before));
    cx_assert_ok(ctxrt_alloc(LARGE_BYTES, &after));
    cx_assert_ok(ctxrt_pointer_query(after, &info));
    ck_assert(info.known);
    cx_assert_ok(ctxrt_fill(after, 2, LARGE_BYTES));
    cx_assert_ok(ctxrt_free(after));
    cx_assert_ok(ctxrt_frame_set_allocator(NULL));
    cx_assert_ok(ctxrt_allocator_destroy(made_meanwhile));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

static void find_record(const cx_pointer_record *record, void *argument)
{
    cx_pointer_new *newest = argument;
    if (record->block.pointer == newest->pointer)
        newest->raw.record = (cx_pointer_record *)(uintptr_t)record;
}

/* As a call that allocates notes it: another thread may reset the device before the call ends, and
 * a third one free an older pointer with this address. */
static cx_pointer_new note_new(void *pointer)
{
    const cx_context *context = cx_frame_context(cx_thread_top(cx_thread_current));
    cx_pointer_new newest = {.pointer = pointer, .context = context};
    newest.epoch = atomic_load(&context->epoch);
    cx_pointers_each_record(find_record, &newest);
    return newest;
}

START_TEST(a_call_that_ends_after_a_reset_takes_nobodys_newer_memory_for_gone)
{
    void *late, *newer;
    cx_raw_pointer taken;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_alloc_async(BLOCK_BYTES, NULL, &late));
    const cx_pointer_new newest = note_new(late);
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_free(late));
    /* The record of the late memory gets another use. */
    cx_pointer_record *other = cx_pointer_record_make(CX_POINTER_ASYNC);
    cx_assert_ok(ctxrt_alloc_async(BLOCK_BYTES, NULL, &newer));
    ck_assert_ptr_eq(newer, late);
    ck_assert(!cx_pointers_take_gone(&newest, &taken));
    cx_assert_ok(ctxrt_free(newer));
    free(other);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(memory_that_other_code_freed_is_gone_once_its_address_is_given_out_again)
{
    void *freed, *newer;
    cx_raw_pointer taken;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_alloc_async(BLOCK_BYTES, NULL, &freed));
    ck_assert_int_eq(cx_drivers[0].table.mem_free((uintptr_t)freed), CXU_SUCCESS);
    cx_assert_ok(ctxrt_alloc_async(BLOCK_BYTES, NULL, &newer));
    ck_assert_ptr_eq(newer, freed);
    const cx_pointer_new newest = note_new(newer);
    ck_assert(!cx_pointers_take_gone(&newest, &taken));
    cx_assert_ok(ctxrt_free(newer));
    cx_assert_status(ctxrt_free(freed), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* Blocks of a segment that is nobody's any more are useless, but asking for one ends no process. */
START_TEST(a_segment_that_other_code_freed_has_blocks_until_the_allocator_gives_it_back)
{
    void *kept, *direct, *more;
    CUdeviceptr begin;
    cx_fixture_needs_emulated("addresses that are given out again at once");
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_alloc(BLOCK_BYTES, &kept));
    const cx_driver_table *driver = &cx_drivers[0].table;
    cxu_result result =
        driver->pointer_get_attribute(&begin, CXU_POINTER_RANGE_START_ADDR, (uintptr_t)kept);
    ck_assert_int_eq(result, CXU_SUCCESS);
    ck_assert_int_eq(driver->mem_free(begin), CXU_SUCCESS);
    cx_assert_ok(ctxrt_alloc_direct(PART_BYTES, &direct));
    ck_assert_uint_eq((uintptr_t)direct, begin);
    cx_assert_ok(ctxrt_free(direct));
    cx_assert_ok(ctxrt_alloc(LARGE_BYTES, &more));
    cx_assert_ok(ctxrt_free(more));
    cx_assert_status(ctxrt_free(kept), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    cx_assert_ok(ctxrt_alloc(LARGE_BYTES, &more));
    cx_assert_ok(ctxrt_fill(more, 1, LARGE_BYTES));
    cx_assert_ok(ctxrt_free(more));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

static void *newer;

/* As another thread may, after the call has found its memory live. */
static cxu_result reset_and_allocate_once(CUcontext context, unsigned int *out_version)
{
    cxu_result result = beneath.ctx_get_api_version(context, out_version);
    cx_drivers[0].table.ctx_get_api_version = beneath.ctx_get_api_version;
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_alloc_direct(PART_BYTES, &newer));
    return result;
}

START_TEST(a_free_that_a_reset_overtakes_leaves_newer_memory_of_its_address_alone)
{
    void *pointer;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_alloc_direct(PART_BYTES, &pointer));
    beneath = cx_drivers[0].table;
    cx_drivers[0].table.ctx_get_api_version = reset_and_allocate_once;
    cx_assert_ok(ctxrt_free(pointer));
    ck_assert_ptr_eq(newer, pointer);
    ck_assert_ptr_eq(cx_drivers[0].table.ctx_get_api_version, beneath.ctx_get_api_version);
    cx_assert_ok(ctxrt_fill(newer, 1, PART_BYTES));
    cx_assert_ok(ctxrt_free(newer));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* More than the embedded driver has at rest before it gives the handle of one out again. */
enum { EVENTS = 4500 };

static CUevent events[EVENTS];

static void create_events(int count)
{
    for (int i = 0; i < count; i++)
        ck_assert_int_eq(cx_drivers[0].table.event_create(&events[i], 0), CXU_SUCCESS);
}

static void destroy_events(int count)
{
    for (int i = 0; i < count; i++)
        ck_assert_int_eq(cx_drivers[0].table.event_destroy(events[i]), CXU_SUCCESS);
}

START_TEST(memory_that_went_with_a_reset_leaves_events_alone_that_have_the_handles_of_its_own)
{
    ctxrt_memory *memory;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_memory_alloc(BLOCK_BYTES, &memory));
    cx_assert_ok(ctxrt_memory_record_stream(memory, NULL));
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    create_events(EVENTS);
    destroy_events(EVENTS);
    create_events(EVENTS / 2);
    cx_assert_ok(ctxrt_memory_release(memory));
    destroy_events(EVENTS / 2);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

static Suite *address_reuse_suite(void)
{
    Suite *suite = suite_create("address_reuse");
    TCase *tcase = tcase_create("address_reuse");
    tcase_add_checked_fixture(tcase, cx_fixture_start, cx_fixture_end);
    tcase_add_test(tcase, a_block_is_not_taken_for_one_from_before_a_reset_that_begins_inside_it);
    tcase_add_test(tcase,
                   the_rest_of_memory_of_before_a_reset_is_known_when_a_part_of_it_has_a_new_user);
    tcase_add_test(tcase, a_look_up_that_began_before_a_reset_loses_no_block_of_after_it);
    tcase_add_test(tcase,
                   an_allocator_made_during_a_refused_reset_forgets_its_memory_with_the_next_one);
    tcase_add_test(tcase, a_call_that_ends_after_a_reset_takes_nobodys_newer_memory_for_gone);
    tcase_add_test(tcase, memory_that_other_code_freed_is_gone_once_its_address_is_given_out_again);
    tcase_add_test(tcase,
                   a_segment_that_other_code_freed_has_blocks_until_the_allocator_gives_it_back);
    tcase_add_test(tcase, a_free_that_a_reset_overtakes_leaves_newer_memory_of_its_address_alone);
    tcase_add_test(
        tcase, memory_that_went_with_a_reset_leaves_events_alone_that_have_the_handles_of_its_own);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(address_reuse_suite);
