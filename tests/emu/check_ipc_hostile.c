/* Processes that put files of their own behind a handle of memory or of an event (T22, T23). */
#include "emu/memory/shared.h"
#include "emu/schedule/shared_event.h"
#include "hostile.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>

/* ---- handles ---- */

static lie told_lie;

static cx_emu_shared_place export_memory(void)
{
    CUdeviceptr memory;
    cxu_ipc_mem_handle handle;
    cx_emu_shared_place place;
    MUST(CU(mem_alloc, &memory, BYTES));
    MUST(CU(ipc_get_mem_handle, &handle, memory));
    memcpy(&place, &handle, sizeof place);
    return place;
}

static cx_emu_shared_event_place export_event(void)
{
    CUevent event;
    cxu_ipc_event_handle handle;
    cx_emu_shared_event_place place;
    MUST(CU(event_create, &event, CXU_EVENT_INTERPROCESS | CXU_EVENT_DISABLE_TIMING));
    MUST(CU(ipc_get_event_handle, &handle, event));
    memcpy(&place, &handle, sizeof place);
    return place;
}

/* Nothing is written: a file keeps its time of change. No file of a file system is even opened:
 * that would break the lease. */
static void lie_by_a_name(int link, const void *handle, size_t bytes, int file)
{
    struct stat earlier, later;
    char word;
    signal(SIGIO, SIG_IGN); /* which tells of a broken lease */
    bool leased = told_lie >= ON_DISK && fcntl(file, F_SETLEASE, F_WRLCK) == 0;
    MUST_HOLD(fstat(file, &earlier) == 0);
    MUST_HOLD(write(link, handle, bytes) == (ssize_t)bytes && read(link, &word, 1) == 1);
    MUST_HOLD(!leased || fcntl(file, F_GETLEASE) == F_WRLCK);
    MUST_HOLD(fstat(file, &later) == 0);
    MUST_HOLD(told_lie == NONE ||
              (earlier.st_mtim.tv_sec == later.st_mtim.tv_sec &&
               earlier.st_mtim.tv_nsec == later.st_mtim.tv_nsec &&
               earlier.st_size == later.st_size && earlier.st_blocks == later.st_blocks));
}

static void lie_about_memory(int link)
{
    begin();
    cx_emu_shared_place place = export_memory();
    int file = make_lie(told_lie, place.where.file);
    put(file, &place.where);
    if (told_lie == NOT_A_FILE_AT_ALL)
        close(place.where.file);
    lie_by_a_name(link, &place, sizeof place, file);
}

static void lie_about_an_event(int link)
{
    begin();
    cx_emu_shared_event_place place = export_event();
    int file = make_lie(told_lie, place.where.file);
    put(file, &place.where);
    if (told_lie == NOT_A_FILE_AT_ALL)
        close(place.where.file);
    lie_by_a_name(link, &place, sizeof place, file);
}

static cxu_result try_memory(int link)
{
    cxu_ipc_mem_handle handle;
    CUdeviceptr memory = 77;
    hear(link, &handle, sizeof handle);
    footprint before = footprint_now();
    cxu_result result = CU(ipc_open_mem_handle, &memory, handle, 1);
    if (result == CXU_SUCCESS) {
        EXPECT(SUCCESS, memset_d8, memory, 1, BYTES);
        EXPECT(SUCCESS, ctx_synchronize);
        EXPECT(SUCCESS, ipc_close_mem_handle, memory);
    } else {
        ck_assert_uint_eq(memory, 77);
    }
    expect_footprint(before);
    return result;
}

static cxu_result try_event(int link)
{
    cxu_ipc_event_handle handle;
    CUevent event = NULL;
    hear(link, &handle, sizeof handle);
    footprint before = footprint_now();
    cxu_result result = CU(ipc_open_event_handle, &event, handle);
    if (result == CXU_SUCCESS)
        EXPECT(SUCCESS, event_destroy, event);
    else
        ck_assert_ptr_null(event);
    expect_footprint(before);
    return result;
}

START_TEST(a_false_file_behind_a_handle_of_memory_is_refused)
{
    told_lie = (lie)_i;
    expect_of(lie_about_memory, try_memory, _i == NONE ? CXU_SUCCESS : CXU_INVALID_HANDLE);
}
END_TEST

START_TEST(a_false_file_behind_a_handle_of_an_event_is_refused)
{
    told_lie = (lie)_i;
    expect_of(lie_about_an_event, try_event, _i == NONE ? CXU_SUCCESS : CXU_INVALID_HANDLE);
}
END_TEST

/* A file in memory of another program, which happens to be complete. */
static void lie_about_the_name(int link)
{
    begin();
    cx_emu_shared_place place = export_memory();
    int original = place.where.file, file = memfd_create("another", MFD_ALLOW_SEALING);
    MUST_HOLD(ftruncate(file, (off_t)size_of(original)) == 0);
    copy_bytes(original, file, label_of(original).bytes, size_of(original));
    MUST_HOLD(fcntl(file, F_ADD_SEALS, ALL_SEALS) == 0);
    put(file, &place.where);
    lie_by_a_name(link, &place, sizeof place, file);
}

START_TEST(a_file_in_memory_with_another_name_is_refused)
{
    expect_of(lie_about_the_name, try_memory, CXU_INVALID_HANDLE);
}
END_TEST

/* The true file, by a number that its process did not give out. */
static void name_another_descriptor(int link)
{
    begin();
    cx_emu_shared_place place = export_memory();
    place.where.file = dup(place.where.file);
    told_lie = NO_SEALS;
    lie_by_a_name(link, &place, sizeof place, place.where.file);
}

START_TEST(another_descriptor_of_the_file_is_refused)
{
    expect_of(name_another_descriptor, try_memory, CXU_INVALID_HANDLE);
}
END_TEST

/* ---- entries of a segment ---- */

static const struct entry_lie {
    cxu_result result;
    cx_emu_export facts; /* 0: the true one */
} entry_lies[] = {
    {CXU_SUCCESS, {0}},
    {CXU_INVALID_HANDLE, {.bytes = (uint64_t)1 << 30}},
    {CXU_INVALID_HANDLE, {.bytes = UINT64_MAX}},
    {CXU_INVALID_HANDLE, {.id = 5}},
    {CXU_INVALID_HANDLE, {.origin = 5}},
    {CXU_INVALID_HANDLE, {.host = 1}},
    {CXU_INVALID_HANDLE, {.host = 2}},
    {CXU_INVALID_DEVICE, {.board = 99}},
    {CXU_INVALID_DEVICE, {.board = -1}},
};
static size_t entry_index;

static void lie_about_an_entry(int link)
{
    const cx_emu_export *wrong = &entry_lies[entry_index].facts;
    cx_emu_export entry;
    begin();
    cx_emu_shared_place place = export_memory();
    off_t at =
        (off_t)(label_of(place.where.file).bytes + place.offset / CX_EMU_ALIGNMENT * sizeof entry);
    MUST_HOLD(pread(place.where.file, &entry, sizeof entry, at) == sizeof entry);
    MUST_HOLD(entry.id == place.id && entry.bytes == BYTES);
    entry.bytes = wrong->bytes ? wrong->bytes : entry.bytes;
    entry.id = wrong->id ? wrong->id : entry.id;
    entry.origin = wrong->origin ? wrong->origin : entry.origin;
    entry.host = wrong->host ? wrong->host : entry.host;
    entry.board = wrong->board ? wrong->board : entry.board;
    MUST_HOLD(pwrite(place.where.file, &entry, sizeof entry, at) == sizeof entry);
    told_lie = NONE;
    lie_by_a_name(link, &place, sizeof place, place.where.file);
}

START_TEST(facts_that_cannot_be_are_refused)
{
    entry_index = (size_t)_i;
    expect_of(lie_about_an_entry, try_memory, entry_lies[_i].result);
}
END_TEST

/* ---- races ---- */

typedef struct swapper {
    int place, files[2];
    atomic_bool over;
} swapper;

static void *swap(void *argument)
{
    swapper *self = argument;
    for (int turn = 0; !atomic_load(&self->over); turn ^= 1)
        MUST_HOLD(dup2(self->files[turn], self->place) == self->place);
    return NULL;
}

/* The descriptor leads to the true file and to one that another user owns, by turns. */
static void swap_files(int link)
{
    swapper self = {.over = false};
    pthread_t thread;
    begin();
    cx_emu_shared_place place = export_memory();
    self.place = place.where.file;
    self.files[0] = dup(self.place);
    self.files[1] = make_lie(ON_DISK, self.place);
    MUST_HOLD(self.files[0] >= 0 && pthread_create(&thread, NULL, swap, &self) == 0);
    told_lie = ON_DISK;
    lie_by_a_name(link, &place, sizeof place, self.files[1]);
    atomic_store(&self.over, true);
    MUST_HOLD(pthread_join(thread, NULL) == 0);
}

static cxu_result try_often(int link)
{
    cxu_ipc_mem_handle handle;
    CUdeviceptr memory;
    hear(link, &handle, sizeof handle);
    footprint before = footprint_now();
    for (int i = 0; i < 500; i++) {
        cxu_result result = CU(ipc_open_mem_handle, &memory, handle, 1);
        ck_assert(result == CXU_SUCCESS || result == CXU_INVALID_HANDLE);
        if (result != CXU_SUCCESS)
            continue;
        EXPECT(SUCCESS, memset_d8, memory, 1, BYTES);
        EXPECT(SUCCESS, ctx_synchronize);
        EXPECT(SUCCESS, ipc_close_mem_handle, memory);
    }
    expect_footprint(before);
    return CXU_SUCCESS;
}

START_TEST(what_is_opened_is_what_was_checked)
{
    expect_of(swap_files, try_often, CXU_SUCCESS);
}
END_TEST

/* ---- shared state ---- */

static const unsigned char patterns[] = {0x00, 0x01, 0x7f, 0x80, 0xff};

static void spoil_an_event(int link)
{
    begin();
    cx_emu_shared_event_place place = export_event();
    size_t bytes = label_of(place.where.file).bytes;
    void *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, place.where.file, 0);
    MUST_HOLD(page != MAP_FAILED);
    memset(page, patterns[entry_index], bytes);
    told_lie = NONE;
    lie_by_a_name(link, &place, sizeof place, place.where.file);
}

/* Whatever the page says, calls end, and touch nothing but the page. */
static cxu_result use_event(int link)
{
    cxu_ipc_event_handle handle;
    CUevent event;
    CUstream stream;
    hear(link, &handle, sizeof handle);
    EXPECT(SUCCESS, ipc_open_event_handle, &event, handle);
    EXPECT(SUCCESS, stream_create, &stream, CXU_STREAM_NON_BLOCKING);
    cxu_result result = CU(event_query, event);
    ck_assert(result == CXU_SUCCESS || result == CXU_NOT_READY);
    result = CU(event_record, event, stream);
    ck_assert(result == CXU_SUCCESS || result == CXU_OUT_OF_MEMORY);
    EXPECT(SUCCESS, stream_synchronize, stream);
    EXPECT(SUCCESS, event_destroy, event);
    EXPECT(SUCCESS, stream_destroy, stream);
    return CXU_SUCCESS;
}

START_TEST(an_event_whose_page_is_spoilt_harms_nobody)
{
    entry_index = (size_t)_i;
    expect_of(spoil_an_event, use_event, CXU_SUCCESS);
}
END_TEST

/* ---- other users ---- */

static bool hidden;

static void export_memory_as_a_stranger(int link)
{
    become_a_stranger(hidden);
    begin();
    cx_emu_shared_place place = export_memory();
    lie_by_a_name(link, &place, sizeof place, place.where.file);
}

static void export_an_event_as_a_stranger(int link)
{
    become_a_stranger(hidden);
    begin();
    cx_emu_shared_event_place place = export_event();
    lie_by_a_name(link, &place, sizeof place, place.where.file);
}

static bool is_root(void)
{
    if (geteuid() != 0)
        fputs("# only root can be two users\n", stderr);
    return geteuid() == 0;
}

START_TEST(root_opens_nothing_of_another_user)
{
    hidden = _i == 1;
    if (!is_root())
        return;
    told_lie = NO_SEALS; /* it sees that nothing is written */
    expect_of(export_memory_as_a_stranger, try_memory, CXU_INVALID_HANDLE);
}
END_TEST

START_TEST(root_opens_no_event_of_another_user)
{
    hidden = _i == 1;
    if (!is_root())
        return;
    told_lie = NO_SEALS;
    expect_of(export_an_event_as_a_stranger, try_event, CXU_INVALID_HANDLE);
}
END_TEST

/* Its number is another process's here. */
static void export_from_another_namespace(int link)
{
    int status = -1;
    MUST_HOLD(unshare(CLONE_NEWPID) == 0);
    pid_t inner = fork();
    if (inner == 0) {
        begin();
        cx_emu_shared_place place = export_memory();
        MUST_HOLD(place.where.process == 1);
        lie_by_a_name(link, &place, sizeof place, place.where.file);
        _exit(0);
    }
    MUST_HOLD(waitpid(inner, &status, 0) == inner && status == 0);
}

START_TEST(a_handle_of_another_namespace_is_refused)
{
    if (!is_root())
        return;
    told_lie = NO_SEALS;
    expect_of(export_from_another_namespace, try_memory, CXU_INVALID_HANDLE);
}
END_TEST

/* Files of its folder in /proc are root's, but the folder is its own. */
static void know_its_own_handles(int link)
{
    (void)link;
    if (geteuid() == 0)
        become_a_stranger(true);
    MUST_HOLD(prctl(PR_SET_DUMPABLE, 0) == 0);
    begin();
    cx_emu_shared_place place = export_memory();
    cx_emu_shared_event_place event_place = export_event();
    cxu_ipc_mem_handle handle;
    cxu_ipc_event_handle event_handle;
    CUdeviceptr memory;
    CUevent event;
    memcpy(&handle, &place, sizeof handle);
    memcpy(&event_handle, &event_place, sizeof event_handle);
    MUST_BE(INVALID_CONTEXT, CU(ipc_open_mem_handle, &memory, handle, 1));
    MUST_BE(INVALID_CONTEXT, CU(ipc_open_event_handle, &event, event_handle));
}

START_TEST(a_process_that_hides_its_memory_knows_its_own_handles)
{
    partner other = start_partner(know_its_own_handles);
    end_partner(&other);
}
END_TEST

static void open_as_a_stranger(int link)
{
    cxu_ipc_mem_handle handle;
    cxu_ipc_event_handle event_handle;
    CUdeviceptr memory;
    CUevent event;
    become_a_stranger(false);
    begin();
    MUST_HOLD(recv(link, &handle, sizeof handle, MSG_WAITALL) == (ssize_t)sizeof handle &&
              recv(link, &event_handle, sizeof event_handle, MSG_WAITALL) ==
                  (ssize_t)sizeof event_handle);
    MUST_BE(INVALID_HANDLE, CU(ipc_open_mem_handle, &memory, handle, 1));
    MUST_BE(INVALID_HANDLE, CU(ipc_open_event_handle, &event, event_handle));
}

START_TEST(another_user_opens_nothing_of_root)
{
    if (!is_root())
        return;
    partner other = start_partner(open_as_a_stranger);
    start_gpus();
    CUcontext context = create_on(0);
    cx_emu_shared_place place = export_memory();
    cx_emu_shared_event_place event_place = export_event();
    say(other.link, &place, sizeof place);
    say(other.link, &event_place, sizeof event_place);
    end_partner(&other);
    EXPECT(SUCCESS, ctx_destroy, context);
    expect_nothing_left();
}
END_TEST

static Suite *hostile_suite(void)
{
    Suite *suite = suite_create("hostile handles");
    TCase *tcase = tcase_create("hostile handles");
    tcase_add_loop_test(tcase, a_false_file_behind_a_handle_of_memory_is_refused, 0, LIES);
    tcase_add_loop_test(tcase, a_false_file_behind_a_handle_of_an_event_is_refused, 0, LIES);
    tcase_add_test(tcase, a_file_in_memory_with_another_name_is_refused);
    tcase_add_test(tcase, another_descriptor_of_the_file_is_refused);
    tcase_add_loop_test(tcase, facts_that_cannot_be_are_refused, 0,
                        sizeof entry_lies / sizeof *entry_lies);
    tcase_add_test(tcase, what_is_opened_is_what_was_checked);
    tcase_add_loop_test(tcase, an_event_whose_page_is_spoilt_harms_nobody, 0, sizeof patterns);
    tcase_add_loop_test(tcase, root_opens_nothing_of_another_user, 0, 2);
    tcase_add_loop_test(tcase, root_opens_no_event_of_another_user, 0, 2);
    tcase_add_test(tcase, a_handle_of_another_namespace_is_refused);
    tcase_add_test(tcase, a_process_that_hides_its_memory_knows_its_own_handles);
    tcase_add_test(tcase, another_user_opens_nothing_of_root);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(hostile_suite);
