/* Mapped memory between processes, as files. The test with two of them forks before the runtime
 * starts. */
#include "fixture.h"
#include "two_processes.h"

#include <string.h>

#define MIB ((size_t)1 << 20)
#define BYTES (5 * MIB) /* the last file's part is larger than what is left */

enum { FILES_MAX = 8 };

static ctxrt_allocator *allocator;

static void start(ctxrt_allocator_source source)
{
    ctxrt_allocator_options options = CTXRT_ALLOCATOR_OPTIONS_INIT;
    options.source = source;
    cx_fixture_start();
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_allocator_create(&options, &allocator));
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
}

static void end(void)
{
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    cx_fixture_end();
}

/* Its last byte too. */
static void expect_and_fill(ctxrt_memory *memory, unsigned char expected, unsigned char next)
{
    static unsigned char bytes[BYTES];
    char *pointer = ctxrt_memory_pointer(memory);
    cx_assert_ok(ctxrt_copy(bytes, pointer, BYTES, CTXRT_COPY_DEVICE_TO_HOST));
    for (size_t i = 0; i < BYTES; i += MIB / 2)
        ck_assert_uint_eq(bytes[i], expected);
    ck_assert_uint_eq(bytes[BYTES - 1], expected);
    cx_assert_ok(ctxrt_fill(pointer, next, BYTES));
}

static size_t free_bytes(void)
{
    size_t bytes;
    cx_assert_ok(ctxrt_device_memory_info(CTXRT_CUDA(0), &bytes, NULL));
    return bytes;
}

/* Sees what is in the memory, and writes something else; a reset in between leaves the memory. */
static void import_in_child(int line)
{
    int files[FILES_MAX];
    ctxrt_exported_mapping mapping;
    ctxrt_memory *memory, *kept;
    ctxrt_memory_info info;
    start(CTXRT_ALLOCATOR_SOURCE_ALLOC);
    hear(line, &mapping, sizeof mapping);
    for (size_t i = 0; i < mapping.file_count; i++)
        files[i] = receive_file(line);
    size_t before = free_bytes();
    cx_assert_ok(ctxrt_memory_import_mapped(&mapping, files, &memory));
    cx_assert_ok(ctxrt_memory_import_mapped(&mapping, files, &kept));
    for (size_t i = 0; i < mapping.file_count; i++)
        close(files[i]);
    cx_assert_ok(ctxrt_memory_describe(memory, &info));
    ck_assert_uint_eq(info.size_bytes, BYTES);
    ck_assert_int_eq(info.kind, CTXRT_MEMORY_DEVICE);
    expect_and_fill(memory, 5, 6);
    cx_assert_ok(ctxrt_memory_release(memory));
    expect_and_fill(kept, 6, 7);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_memory_release(kept));
    ck_assert_uint_eq(free_bytes(), before);
    cx_fixture_end();
    say(line, "d", 1);
}

START_TEST(another_process_maps_it_and_sees_what_is_written)
{
    int line, files[FILES_MAX];
    ctxrt_exported_mapping mapping;
    ctxrt_memory *memory;
    pid_t child = fork_with_line(&line);
    if (child == 0) {
        import_in_child(line);
        _exit(0);
    }
    start(CTXRT_ALLOCATOR_SOURCE_VMM);
    cx_assert_ok(ctxrt_memory_alloc(BYTES, &memory));
    cx_assert_ok(ctxrt_fill(ctxrt_memory_pointer(memory), 5, BYTES));
    cx_assert_ok(ctxrt_memory_export_mapped(memory, FILES_MAX, files, &mapping));
    ck_assert_uint_gt(mapping.file_count, 1);
    say(line, &mapping, sizeof mapping);
    for (size_t i = 0; i < mapping.file_count; i++) {
        ck_assert(send_file(line, files[i]));
        close(files[i]);
    }
    hear_the_end(line, child);
    expect_and_fill(memory, 7, 8);
    cx_assert_ok(ctxrt_memory_release(memory));
    end();
}
END_TEST

START_TEST(what_is_not_mapped_or_begins_inside_a_mapping_is_refused)
{
    int files[FILES_MAX];
    ctxrt_exported_mapping mapping, none = {0};
    ctxrt_memory *small, *behind, *plain, *memory = NULL;
    start(CTXRT_ALLOCATOR_SOURCE_VMM);
    cx_assert_ok(ctxrt_memory_alloc(100, &small));
    cx_assert_ok(ctxrt_memory_alloc(100, &behind));
    cx_assert_ok(ctxrt_frame_set_allocator(NULL));
    cx_assert_ok(ctxrt_memory_alloc(100, &plain));
    cx_assert_ok(ctxrt_memory_export_mapped(small, 0, NULL, &mapping));
    ck_assert_uint_eq(mapping.file_count, 1);
    cx_assert_error(ctxrt_memory_export_mapped(small, 0, files, &none),
                    CTXRT_ERROR_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, "has 1 files, and capacity is 0"));
    cx_assert_error(ctxrt_memory_export_mapped(behind, FILES_MAX, files, &none),
                    CTXRT_ERROR_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, "bytes into a mapping"));
    cx_assert_error(ctxrt_memory_export_mapped(plain, FILES_MAX, files, &none),
                    CTXRT_ERROR_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, "is not mapped"));
    ck_assert_uint_eq(none.file_count, 0);
    cx_assert_error(ctxrt_memory_import_mapped(&none, files, &memory),
                    CTXRT_ERROR_INVALID_ARGUMENT);
    mapping.size_bytes = mapping.file_bytes + 1;
    cx_assert_error(ctxrt_memory_import_mapped(&mapping, files, &memory),
                    CTXRT_ERROR_INVALID_ARGUMENT);
    mapping.size_bytes = 100;
    files[0] = 0; /* a file, but of no memory */
    size_t before = free_bytes();
    cx_assert_error(ctxrt_memory_import_mapped(&mapping, files, &memory), CTXRT_ERROR_DRIVER);
    ck_assert_ptr_null(memory);
    ck_assert_uint_eq(free_bytes(), before);
    cx_assert_ok(ctxrt_memory_release(small));
    cx_assert_ok(ctxrt_memory_release(behind));
    cx_assert_ok(ctxrt_memory_release(plain));
    end();
}
END_TEST

START_TEST(memory_that_ended_with_its_context_is_not_exported)
{
    int files[FILES_MAX];
    ctxrt_exported_mapping mapping;
    ctxrt_memory *old, *new;
    start(CTXRT_ALLOCATOR_SOURCE_VMM);
    cx_assert_ok(ctxrt_memory_alloc(100, &old));
    cx_assert_ok(ctxrt_frame_set_allocator(NULL));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    cx_assert_ok(ctxrt_memory_alloc(100, &new));
    cx_assert_error(ctxrt_memory_export_mapped(old, FILES_MAX, files, &mapping),
                    CTXRT_ERROR_CONTEXT_DESTROYED);
    cx_assert_ok(ctxrt_memory_export_mapped(new, FILES_MAX, files, &mapping));
    close(files[0]);
    cx_assert_ok(ctxrt_memory_release(old));
    cx_assert_ok(ctxrt_memory_release(new));
    end();
}
END_TEST

/* Its own process imports it: the mapping is another one of the same memory. */
START_TEST(a_release_in_a_capture_leaves_it_mapped_and_is_refused)
{
    int files[FILES_MAX];
    ctxrt_exported_mapping mapping;
    ctxrt_memory *memory, *again;
    ctxrt_stream *stream;
    ctxrt_graph *graph = NULL;
    start(CTXRT_ALLOCATOR_SOURCE_VMM);
    cx_assert_ok(ctxrt_stream_create(CTXRT_STREAM_NON_BLOCKING, 0, &stream));
    cx_assert_ok(ctxrt_memory_alloc(100, &memory));
    cx_assert_ok(ctxrt_memory_export_mapped(memory, FILES_MAX, files, &mapping));
    cx_assert_ok(ctxrt_memory_import_mapped(&mapping, files, &again));
    close(files[0]);
    cx_assert_ok(ctxrt_fill(ctxrt_memory_pointer(memory), 3, 100));
    cx_assert_ok(ctxrt_stream_capture_begin(stream, CTXRT_CAPTURE_GLOBAL));
    cx_assert_error(ctxrt_memory_release(again), CTXRT_ERROR_DRIVER);
    ck_assert_str_eq(ctxrt_last_error()->driver_call, "cuCtxSynchronize");
    ck_assert_int_ne(ctxrt_stream_capture_end(stream, &graph), CTXRT_SUCCESS);
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_memory_release(memory));
    end();
}
END_TEST

static Suite *share_mapped_suite(void)
{
    Suite *suite = suite_create("share mapped");
    TCase *tcase = tcase_create("share mapped");
    tcase_add_test(tcase, another_process_maps_it_and_sees_what_is_written);
    tcase_add_test(tcase, what_is_not_mapped_or_begins_inside_a_mapping_is_refused);
    tcase_add_test(tcase, memory_that_ended_with_its_context_is_not_exported);
    tcase_add_test(tcase, a_release_in_a_capture_leaves_it_mapped_and_is_refused);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(share_mapped_suite);
