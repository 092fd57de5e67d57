/* Addresses of raw pointers from before a reset, which their owners have still to free. */
#include "suites.h"

enum { OTHERS = 16, LARGE_BYTES = 5000000, SMALL_BYTES = 700, DEVICE_BYTES = 64 << 20 };

typedef ctxrt_status alloc_function(size_t size_bytes, void **out_pointer);

static ctxrt_status alloc_in_order(size_t size_bytes, void **out_pointer)
{
    return ctxrt_alloc_async(size_bytes, NULL, out_pointer);
}

/* Allocators in debug mode, each of a frame below the next one's. */
static struct {
    ctxrt_context *context;
    ctxrt_allocator *allocator;
} guarded[2];
static int guarded_count;

static bool has_guarded(void)
{
    ctxrt_context *context;
    cx_assert_ok(ctxrt_context_current(&context));
    return guarded_count > 0 && guarded[guarded_count - 1].context == context;
}

static ctxrt_status alloc_guarded(size_t size_bytes, void **out_pointer)
{
    ctxrt_allocator_options options = CTXRT_ALLOCATOR_OPTIONS_INIT;
    ctxrt_allocator_debug debug = CTXRT_ALLOCATOR_DEBUG_INIT;
    debug.flags = CTXRT_DEBUG_CANARY;
    options.debug = &debug;
    if (!has_guarded()) {
        cx_assert_ok(ctxrt_context_current(&guarded[guarded_count].context));
        cx_assert_ok(ctxrt_allocator_create(&options, &guarded[guarded_count].allocator));
        cx_assert_ok(ctxrt_frame_set_allocator(guarded[guarded_count].allocator));
        guarded_count++;
    }
    return ctxrt_alloc(size_bytes, out_pointer);
}

static void end_guarded(void)
{
    if (!has_guarded())
        return;
    cx_assert_ok(ctxrt_frame_set_allocator(NULL));
    cx_assert_ok(ctxrt_allocator_destroy(guarded[--guarded_count].allocator));
}

/* The address may be one of the created context's soon: its memory is freed, and it ends, though
 * the pointer of before is still to be freed. */
static void assert_owed(alloc_function *alloc, alloc_function *others, size_t size_bytes)
{
    void *before, *after[OTHERS];
    ctxrt_context *created;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(alloc(size_bytes, &before));
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(0), 0, &created));
    cx_assert_ok(ctxrt_stack_push(created));
    for (int i = 0; i < OTHERS; i++) {
        cx_assert_ok(others(size_bytes, &after[i]));
        ck_assert_msg(after[i] != before, "%zu bytes got the address", size_bytes);
    }
    for (int i = 0; i < OTHERS; i++)
        cx_assert_ok(ctxrt_free(after[i]));
    end_guarded();
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_context_destroy(created));
    cx_assert_ok(ctxrt_free(before));
    end_guarded();
    cx_assert_ok(ctxrt_stack_pop());
}

START_TEST(no_memory_gets_the_address_of_a_pointer_from_before_a_reset)
{
    static alloc_function *const all[] = {ctxrt_alloc, ctxrt_alloc_direct, ctxrt_alloc_managed,
                                          ctxrt_alloc_pinned};
    static alloc_function *const others[] = {ctxrt_alloc,        ctxrt_alloc_direct,
                                             ctxrt_alloc_pinned, ctxrt_alloc_managed,
                                             alloc_in_order,     alloc_guarded};
    static const size_t sizes[] = {LARGE_BYTES, SMALL_BYTES};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (size_t k = 0; k < sizeof others / sizeof *others; k++)
            for (size_t size = 0; size < sizeof sizes / sizeof *sizes; size++) {
                assert_owed(all[i], others[k], sizes[size] / (others[k] == alloc_guarded ? 4 : 1));
                cx_fixture_end();
                cx_fixture_start();
            }
}
END_TEST

START_TEST(no_guarded_block_gets_the_address_of_one_from_before_a_reset)
{
    assert_owed(alloc_guarded, alloc_guarded, SMALL_BYTES);
}
END_TEST

/* Pointers of one size lie side by side, and so do those that come after them. */
START_TEST(no_memory_gets_the_address_of_any_of_many_pointers_from_before_a_reset)
{
    static void *before[1000], *after[1000];
    enum { MANY = sizeof before / sizeof *before };
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    for (int i = 0; i < MANY; i++)
        cx_assert_ok(ctxrt_alloc(SMALL_BYTES, &before[i]));
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    for (int i = 0; i < MANY; i++) {
        cx_assert_ok(ctxrt_alloc(SMALL_BYTES, &after[i]));
        for (int k = 0; k < MANY; k++)
            ck_assert_ptr_ne(after[i], before[k]);
    }
    for (int i = 0; i < MANY; i++) {
        cx_assert_ok(ctxrt_free(after[i]));
        cx_assert_ok(ctxrt_free(before[i]));
    }
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* What was withheld goes back to the driver with the rest. */
START_TEST(a_trim_gives_everything_back_once_the_pointers_from_before_a_reset_are_freed)
{
    void *before, *after;
    ctxrt_allocator_info info = CTXRT_ALLOCATOR_INFO_INIT;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_alloc(LARGE_BYTES, &before));
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_alloc(LARGE_BYTES, &after));
    cx_assert_ok(ctxrt_free(after));
    cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    cx_assert_ok(ctxrt_allocator_describe(NULL, &info));
    ck_assert_uint_ne(info.reserved.current_bytes, 0);
    cx_assert_ok(ctxrt_free(before));
    cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    cx_assert_ok(ctxrt_allocator_describe(NULL, &info));
    ck_assert_uint_eq(info.reserved.current_bytes, 0);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

static void start_on_a_small_device(void)
{
    ctxrt_options options = CTXRT_OPTIONS_INIT;
    options.cuda_driver = CTXRT_CUDA_DRIVER_EMULATED;
    options.emulated_devices = 1;
    options.emulated_memory_bytes = DEVICE_BYTES;
    cx_assert_ok(ctxrt_init(&options));
}

/* The largest block that the device has room for, in steps. */
static size_t alloc_most(void **out_pointer)
{
    size_t step = 1 << 20, size = DEVICE_BYTES;
    while (size > 0 && ctxrt_alloc(size, out_pointer) != CTXRT_SUCCESS)
        size -= step;
    return size;
}

/* Of two pointers with one address each free succeeds; the one from before the reset goes first. */
START_TEST(memory_gets_the_address_of_a_pointer_from_before_a_reset_where_there_is_no_other)
{
    void *before, *after;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    size_t size = alloc_most(&before);
    ck_assert_uint_gt(size, DEVICE_BYTES / 2);
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_alloc(size, &after));
    cx_assert_ok(ctxrt_fill(after, 1, size));
    cx_assert_ok(ctxrt_free(before));
    cx_assert_ok(ctxrt_fill(after, 2, size));
    cx_assert_ok(ctxrt_free(after));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

Suite *owed_suite(void)
{
    const joint joints[] = {
        JOINT(no_memory_gets_the_address_of_a_pointer_from_before_a_reset),
        JOINT(no_guarded_block_gets_the_address_of_one_from_before_a_reset),
        JOINT(no_memory_gets_the_address_of_any_of_many_pointers_from_before_a_reset),
        JOINT(a_trim_gives_everything_back_once_the_pointers_from_before_a_reset_are_freed),
        {"memory_gets_the_address_of_a_pointer_from_before_a_reset_where_there_is_no_other",
         memory_gets_the_address_of_a_pointer_from_before_a_reset_where_there_is_no_other,
         start_on_a_small_device, NULL},
    };
    return joint_suite("owed", joints, sizeof joints / sizeof *joints);
}
