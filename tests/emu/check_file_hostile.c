/* Processes that pass descriptors of false files as exported memory and pools (T21, V7). */
#include "file_passing.h"
#include "hostile.h"

#include <stdio.h>

#define CHUNK ((size_t)2 << 20)

static lie told_lie;

static int export_chunk(void)
{
    CUmemGenericAllocationHandle handle;
    const cxu_mem_properties properties = {.type = CXU_MEM_ALLOCATION_TYPE_PINNED,
                                           .handle_types = FILES,
                                           .location = {CXU_MEM_LOCATION_TYPE_DEVICE, 0}};
    int file;
    MUST(CU(mem_create, &handle, CHUNK, &properties, 0));
    MUST(CU(mem_export_to_shareable_handle, &file, handle, FILES, 0));
    return file;
}

static int export_pool(void)
{
    const cxu_mem_pool_properties properties = {.type = CXU_MEM_ALLOCATION_TYPE_PINNED,
                                                .location = {CXU_MEM_LOCATION_TYPE_DEVICE, 0},
                                                .handle_types = FILES};
    CUmemoryPool pool;
    int file;
    MUST(CU(mem_pool_create, &pool, &properties));
    MUST(CU(mem_pool_export_to_shareable_handle, &file, pool, FILES, 0));
    return file;
}

static int (*export_file)(void);

static void lie_by_a_descriptor(int link)
{
    char word;
    begin();
    MUST_HOLD(send_file(link, make_lie(told_lie, export_file())) && read(link, &word, 1) == 1);
}

static cxu_result import_chunk(int file)
{
    CUmemGenericAllocationHandle handle = 77;
    cxu_result result =
        CU(mem_import_from_shareable_handle, &handle, (void *)(intptr_t)file, FILES);
    if (result == CXU_SUCCESS)
        EXPECT(SUCCESS, mem_release, handle);
    else
        ck_assert_uint_eq(handle, 77);
    return result;
}

static cxu_result import_pool(int file)
{
    CUmemoryPool pool = NULL;
    cxu_result result =
        CU(mem_pool_import_from_shareable_handle, &pool, (void *)(intptr_t)file, FILES, 0);
    if (result == CXU_SUCCESS)
        EXPECT(SUCCESS, mem_pool_destroy, pool);
    else
        ck_assert_ptr_null(pool);
    return result;
}

static cxu_result try_file(int link, cxu_result (*import)(int file))
{
    int file = receive_file(link);
    ck_assert_int_ge(file, 0);
    footprint before = footprint_now();
    cxu_result result = import(file);
    expect_footprint(before);
    close(file);
    return result;
}

static cxu_result try_chunk(int link)
{
    return try_file(link, import_chunk);
}

static cxu_result try_pool(int link)
{
    return try_file(link, import_pool);
}

START_TEST(a_false_file_of_exported_memory_is_refused)
{
    told_lie = (lie)_i;
    export_file = export_chunk;
    /* A descriptor is all the right that a process needs: no secret is repeated. */
    expect_of(lie_by_a_descriptor, try_chunk,
              _i == NONE || _i == WRONG_SECRET ? CXU_SUCCESS : CXU_INVALID_VALUE);
}
END_TEST

START_TEST(a_false_file_of_an_exported_pool_is_refused)
{
    told_lie = (lie)_i;
    export_file = export_pool;
    /* A pool's file is sealed against writing in any case. */
    expect_of(lie_by_a_descriptor, try_pool,
              _i == NONE || _i == WRONG_SECRET || _i == SEALED_AGAINST_WRITING ? CXU_SUCCESS
                                                                               : CXU_INVALID_VALUE);
}
END_TEST

/* ---- facts that cannot be ---- */

/* One word of the facts of a sealed file of its own. */
static const struct word_lie {
    int (*export_file)(void);
    cxu_result (*attempt)(int link);
    int word;
    int32_t value;
    cxu_result result;
} word_lies[] = {
    {export_chunk, try_chunk, 0, 0, CXU_SUCCESS}, /* the board, as it is */
    {export_chunk, try_chunk, 0, 99, CXU_INVALID_DEVICE},
    {export_chunk, try_chunk, 0, -1, CXU_INVALID_DEVICE},
    {export_chunk, try_chunk, 1, CXU_MEM_HANDLE_TYPE_NONE, CXU_INVALID_VALUE},
    {export_chunk, try_chunk, 1, CXU_MEM_HANDLE_TYPE_FABRIC, CXU_INVALID_VALUE},
    {export_pool, try_pool, 3, 0, CXU_SUCCESS},
    {export_pool, try_pool, 3, 99, CXU_INVALID_DEVICE},
    {export_pool, try_pool, 3, -1, CXU_INVALID_DEVICE},
    {export_pool, try_pool, 2, 0, CXU_INVALID_VALUE}, /* the type of the location */
    {export_pool, try_pool, 2, -1, CXU_INVALID_VALUE},
};
static const struct word_lie *told_word;

static void lie_about_a_word(int link)
{
    char word;
    begin();
    int original = told_word->export_file();
    const cx_emu_sealed says = label_of(original);
    int file = make_lie(NO_SEALS, original);
    MUST_HOLD(pwrite(file, &told_word->value, sizeof told_word->value,
                     (off_t)says.bytes + 4 * told_word->word) == sizeof told_word->value);
    MUST_HOLD(fcntl(file, F_ADD_SEALS, ALL_SEALS | (says.bytes ? 0 : F_SEAL_WRITE)) == 0);
    MUST_HOLD(send_file(link, file) && read(link, &word, 1) == 1);
}

START_TEST(facts_that_cannot_be_are_refused)
{
    told_word = &word_lies[_i];
    expect_of(lie_about_a_word, told_word->attempt, told_word->result);
}
END_TEST

/* ---- modes ---- */

static int open_mode;

static int reopened_chunk(void)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", export_chunk());
    return open(path, open_mode);
}

static void lie_about_the_mode(int link)
{
    char word;
    begin();
    MUST_HOLD(send_file(link, reopened_chunk()) && read(link, &word, 1) == 1);
}

START_TEST(exported_memory_that_cannot_be_written_is_refused)
{
    static const int modes[] = {O_RDWR, O_RDONLY, O_WRONLY, O_PATH};
    open_mode = modes[_i];
    expect_of(lie_about_the_mode, try_chunk, _i == 0 ? CXU_SUCCESS : CXU_INVALID_VALUE);
}
END_TEST

/* ---- other users ---- */

static void pass_as_a_stranger(int link)
{
    become_a_stranger(false);
    lie_by_a_descriptor(link);
}

START_TEST(root_imports_nothing_of_another_user)
{
    if (geteuid() != 0) {
        fputs("# only root can be two users\n", stderr);
        return;
    }
    told_lie = NONE;
    export_file = _i == 0 ? export_chunk : export_pool;
    expect_of(pass_as_a_stranger, _i == 0 ? try_chunk : try_pool, CXU_INVALID_VALUE);
}
END_TEST

static Suite *passed_suite(void)
{
    Suite *suite = suite_create("hostile descriptors");
    TCase *tcase = tcase_create("hostile descriptors");
    tcase_add_loop_test(tcase, a_false_file_of_exported_memory_is_refused, 0, NOT_A_FILE_AT_ALL);
    tcase_add_loop_test(tcase, a_false_file_of_an_exported_pool_is_refused, 0, NOT_A_FILE_AT_ALL);
    tcase_add_loop_test(tcase, facts_that_cannot_be_are_refused, 0,
                        sizeof word_lies / sizeof *word_lies);
    tcase_add_loop_test(tcase, exported_memory_that_cannot_be_written_is_refused, 0, 4);
    tcase_add_loop_test(tcase, root_imports_nothing_of_another_user, 0, 2);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(passed_suite);
