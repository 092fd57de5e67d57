/* Allocators whose memory is mapped: where it goes, who reaches it, and what the driver has to have
 * for it. */
#include "device/device.h"
#include "fixture.h"
#include "gate.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)
#define CHUNK (2 * MIB)
#define GPU (256 * MIB)

static ctxrt_allocator *allocator;

static ctxrt_status create(ctxrt_allocator_source source)
{
    ctxrt_allocator_options options = CTXRT_ALLOCATOR_OPTIONS_INIT;
    options.source = source;
    return ctxrt_allocator_create(&options, &allocator);
}

static void open_mapped(void)
{
    cx_fixture_start();
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(create(CTXRT_ALLOCATOR_SOURCE_VMM));
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
}

static size_t free_bytes(void)
{
    size_t bytes;
    cx_assert_ok(ctxrt_device_memory_info(CTXRT_CUDA(0), &bytes, NULL));
    return bytes;
}

static void close_mapped(void)
{
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    cx_fixture_end();
}

static ctxrt_memory *allocate(size_t size_bytes)
{
    ctxrt_memory *memory;
    cx_assert_ok(ctxrt_memory_alloc(size_bytes, &memory));
    return memory;
}

static void release(ctxrt_memory *memory)
{
    cx_assert_ok(ctxrt_memory_release(memory));
}

/* A little at every MiB, and at the end. */
static void fill(ctxrt_memory *memory, int value, size_t bytes)
{
    char *pointer = ctxrt_memory_pointer(memory);
    for (size_t at = 0; at < bytes; at += MIB)
        cx_assert_ok(ctxrt_fill_async(pointer + at, value, 64, NULL));
    cx_assert_ok(ctxrt_fill_async(pointer + bytes - 64, value, 64, NULL));
}

static void assert_byte(const char *pointer, int value)
{
    unsigned char seen;
    cx_assert_ok(ctxrt_copy(&seen, pointer, 1, CTXRT_COPY_DEVICE_TO_HOST));
    ck_assert_int_eq(seen, value);
}

static void assert_filled(ctxrt_memory *memory, int value, size_t bytes)
{
    const char *pointer = ctxrt_memory_pointer(memory);
    for (size_t at = 0; at < bytes; at += MIB)
        assert_byte(pointer + at + 63, value);
    assert_byte(pointer + bytes - 1, value);
}

START_TEST(a_driver_without_virtual_memory_is_told_and_nothing_takes_its_place)
{
    ctxrt_allocator *before = allocator;
    cx_assert_ok(ctxrt_device_push(CTXRT_CPU(0)));
    cx_assert_error(create(CTXRT_ALLOCATOR_SOURCE_VMM), CTXRT_ERROR_NOT_SUPPORTED);
    ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, "has no virtual memory"));
    ck_assert_str_eq(ctxrt_last_error()->driver_call, "cuMemCreate");
    ck_assert_ptr_eq(allocator, before);
    cx_assert_error(create((ctxrt_allocator_source)4), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(the_environment_chooses_the_source_of_gpus)
{
    ctxrt_memory *memory;
    cx_assert_ok(ctxrt_frame_set_allocator(NULL));
    setenv("CTXRT_ALLOCATOR", "mmap", 1);
    cx_assert_error(ctxrt_memory_alloc(1, &memory), CTXRT_ERROR_INVALID_ARGUMENT);
    setenv("CTXRT_ALLOCATOR", "vmm", 1);
    size_t before = free_bytes();
    ctxrt_memory *blocks[2] = {allocate(100 * MIB), allocate(100 * MIB)};
    release(blocks[0]);
    cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    ck_assert_uint_eq(before - free_bytes(), 100 * MIB);
    release(blocks[1]);
    release(allocate(100 * MIB));
    blocks[0] = allocate(MIB); /* the rest of what was one piece goes */
    cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    ck_assert_uint_lt(before - free_bytes(), 50 * MIB);
    release(blocks[0]);
    cx_assert_ok(ctxrt_device_push(CTXRT_CPU(0)));
    release(allocate(100));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* Blocks of 3 MiB: every second one is freed, and no two that are free touch. */
START_TEST(memory_between_live_blocks_serves_a_large_one)
{
    enum { BLOCKS = 80 };
    ctxrt_memory *blocks[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = allocate(3 * MIB);
        fill(blocks[i], i, 3 * MIB);
    }
    for (int i = 0; i < BLOCKS; i += 2)
        release(blocks[i]);
    /* 16 MiB were left, and of each 3 MiB at least a chunk is whole. */
    ctxrt_memory *large = allocate(48 * MIB);
    fill(large, 201, 48 * MIB);
    for (int i = 1; i < BLOCKS; i += 2) {
        assert_filled(blocks[i], i, 3 * MIB);
        release(blocks[i]);
    }
    assert_filled(large, 201, 48 * MIB);
    release(large);
    release(allocate(GPU));
}
END_TEST

/* Under the other schedules work waits by itself, and whoever asks about it would run the gate. */
static bool needs_a_gate(void)
{
    const char *schedule = getenv("CTXRT_EMU_SCHEDULE");
    return schedule == NULL || strcmp(schedule, "threads") == 0;
}

/* The free memory is still used by a stream that a gate holds: it is neither moved nor trimmed
 * under it. */
START_TEST(memory_does_not_move_while_work_uses_it)
{
    gate held;
    uint64_t trimmed;
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_frame_set_stream(stream));
    ctxrt_memory *used = allocate(100 * MIB);
    if (needs_a_gate())
        gate_close(&held, stream);
    fill(used, 1, 100 * MIB);
    release(used);
    cx_assert_ok(ctxrt_allocator_trim(NULL, &trimmed));
    ck_assert_uint_eq(trimmed, 0);
    ctxrt_stream *other = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_frame_set_stream(other));
    ctxrt_memory *beside = allocate(100 * MIB);
    fill(beside, 2, 100 * MIB);
    assert_filled(beside, 2, 100 * MIB);
    if (needs_a_gate())
        gate_open(&held);
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    cx_assert_ok(ctxrt_allocator_trim(NULL, &trimmed));
    ck_assert_uint_eq(trimmed, 100 * MIB);
    assert_filled(beside, 2, 100 * MIB);
    release(beside);
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_stream_destroy(other));
}
END_TEST

START_TEST(a_trim_gives_chunks_back_between_live_blocks)
{
    uint64_t trimmed;
    size_t before = free_bytes();
    ctxrt_memory *blocks[3];
    for (int i = 0; i < 3; i++)
        blocks[i] = allocate(20 * MIB);
    ck_assert_uint_eq(before - free_bytes(), 60 * MIB);
    release(blocks[1]);
    cx_assert_ok(ctxrt_allocator_trim(NULL, &trimmed));
    ck_assert_uint_eq(trimmed, 20 * MIB);
    ck_assert_uint_eq(before - free_bytes(), 40 * MIB);
    release(blocks[0]);
    release(blocks[2]);
    cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    ck_assert_uint_eq(before, free_bytes());
}
END_TEST

START_TEST(a_refusal_loses_nothing_and_says_what_is_held)
{
    ctxrt_memory *more, *memory = allocate(200 * MIB);
    fill(memory, 7, 200 * MIB);
    cx_assert_error(ctxrt_memory_alloc(100 * MIB, &more), CTXRT_ERROR_OUT_OF_MEMORY);
    ck_assert_str_eq(ctxrt_last_error()->driver_call, "cuMemCreate");
    ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, "209715200 are in use in 1 piece,"));
    more = allocate(56 * MIB);
    assert_filled(memory, 7, 200 * MIB);
    release(more);
    release(memory);
}
END_TEST

/* By a call of the driver: ctxrt_fill has another device do what this one does not reach. */
static bool reaches_from(int device, void *pointer)
{
    cx_device *found;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(device)));
    cx_assert_ok(cx_device_find(CTXRT_CUDA(device), &found));
    cxu_result result = found->driver->table.memset_d8((CUdeviceptr)(uintptr_t)pointer, 3, 256);
    cx_assert_ok(ctxrt_fill(pointer, 4, 256));
    cx_assert_ok(ctxrt_stack_pop());
    return result == CXU_SUCCESS;
}

static void set_peer(int device, ctxrt_status (*set)(ctxrt_device peer))
{
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(device)));
    cx_assert_ok(set(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_stack_pop());
}

START_TEST(peers_reach_it_while_peer_access_is_enabled)
{
    ctxrt_memory *before = allocate(CHUNK);
    ck_assert(!reaches_from(1, ctxrt_memory_pointer(before)));
    set_peer(1, ctxrt_device_enable_peer);
    ctxrt_memory *after = allocate(40 * MIB);
    ck_assert(reaches_from(1, ctxrt_memory_pointer(before)) &&
              reaches_from(1, ctxrt_memory_pointer(after)));
    ck_assert(!reaches_from(2, ctxrt_memory_pointer(after)));
    ctxrt_allocator *first = allocator;
    cx_assert_ok(create(CTXRT_ALLOCATOR_SOURCE_VMM));
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    ctxrt_memory *of_another = allocate(MIB);
    ck_assert(reaches_from(1, ctxrt_memory_pointer(of_another)));
    set_peer(1, ctxrt_device_disable_peer);
    ck_assert(!reaches_from(1, ctxrt_memory_pointer(before)) &&
              !reaches_from(1, ctxrt_memory_pointer(of_another)));
    release(before);
    release(after);
    release(of_another);
    cx_assert_ok(ctxrt_frame_set_allocator(NULL));
    cx_assert_ok(ctxrt_allocator_destroy(first));
}
END_TEST

START_TEST(the_memorys_device_does_the_work_of_one_that_does_not_reach_it)
{
    ctxrt_memory *memory = allocate(CHUNK);
    char *pointer = ctxrt_memory_pointer(memory);
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    ck_assert(!reaches_from(1, pointer));
    cx_assert_ok(ctxrt_fill(pointer, 5, CHUNK));
    assert_byte(pointer + CHUNK - 1, 5);
    char *managed;
    cx_assert_ok(ctxrt_alloc_managed(CHUNK, (void **)&managed));
    cx_assert_ok(ctxrt_copy_async(managed, pointer, CHUNK, CTXRT_COPY_ANY, NULL));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    assert_byte(managed + CHUNK - 1, 5);
    cx_assert_ok(ctxrt_free(managed));
    cx_assert_ok(ctxrt_stack_pop());
    release(memory);
}
END_TEST

START_TEST(a_reset_gives_it_back_to_the_device)
{
    size_t before = free_bytes();
    ctxrt_memory *memory = allocate(100 * MIB);
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    ck_assert_uint_eq(free_bytes(), before);
    release(memory);
    memory = allocate(GPU);
    fill(memory, 4, GPU);
    assert_filled(memory, 4, GPU);
    release(memory);
}
END_TEST

START_TEST(a_query_knows_pieces_and_nothing_between_them)
{
    ctxrt_pointer_info info;
    ctxrt_memory *memory = allocate(3 * MIB);
    char *pointer = ctxrt_memory_pointer(memory);
    cx_assert_ok(ctxrt_pointer_query(pointer + 5, &info));
    ck_assert(info.known && info.base == pointer && info.size_bytes == 3 * MIB);
    cx_assert_ok(ctxrt_pointer_query(pointer + GPU, &info));
    ck_assert_int_eq(info.known, 0);
    release(memory);
}
END_TEST

enum { THREADS = 4, ROUNDS = 60, HELD = 6 };

/* Sizes that move chunks: together the threads want more than there is now and then. Only the
 * thread's own marks are looked at; no Check assertion here. */
static void *churn(void *argument)
{
    unsigned int seed = *(unsigned int *)argument, wrong = 0;
    ctxrt_memory *held[HELD] = {NULL};
    unsigned char seen;
    wrong += ctxrt_device_push(CTXRT_CUDA(0)) != CTXRT_SUCCESS ||
             ctxrt_frame_set_allocator(allocator) != CTXRT_SUCCESS;
    for (int round = 0; round < ROUNDS; round++) {
        seed = seed * 1103515245 + 12345;
        int slot = (int)(seed >> 16) % HELD;
        char *end = held[slot] != NULL ? (char *)ctxrt_memory_pointer(held[slot]) : NULL;
        if (end != NULL) {
            wrong += ctxrt_copy(&seen, end, 1, CTXRT_COPY_DEVICE_TO_HOST) != CTXRT_SUCCESS ||
                     seen != (unsigned char)(slot + *(unsigned int *)argument);
            wrong += ctxrt_memory_release(held[slot]) != CTXRT_SUCCESS;
            held[slot] = NULL;
        }
        ctxrt_status status = ctxrt_memory_alloc(MIB / 2 + (seed >> 12) % (15 * MIB), &held[slot]);
        wrong += status != CTXRT_SUCCESS && status != CTXRT_ERROR_OUT_OF_MEMORY;
        if (status == CTXRT_SUCCESS)
            wrong += ctxrt_fill_async(ctxrt_memory_pointer(held[slot]),
                                      (unsigned char)(slot + *(unsigned int *)argument), 4096,
                                      NULL) != CTXRT_SUCCESS;
        else
            held[slot] = NULL;
        if (round % 16 == 15)
            wrong += ctxrt_allocator_trim(NULL, NULL) != CTXRT_SUCCESS;
    }
    for (int i = 0; i < HELD; i++)
        wrong += ctxrt_memory_release(held[i]) != CTXRT_SUCCESS;
    wrong += ctxrt_stack_pop() != CTXRT_SUCCESS;
    *(unsigned int *)argument = wrong;
    return NULL;
}

static void churn_on_threads(void)
{
    pthread_t threads[THREADS];
    unsigned int arguments[THREADS];
    for (unsigned int i = 0; i < THREADS; i++) {
        arguments[i] = 11 * i + 1;
        ck_assert_int_eq(pthread_create(&threads[i], NULL, churn, &arguments[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        ck_assert_uint_eq(arguments[i], 0);
    cx_assert_ok(ctxrt_device_synchronize());
}

START_TEST(threads_that_map_and_move_keep_their_contents)
{
    uint64_t trimmed;
    churn_on_threads();
    cx_assert_ok(ctxrt_allocator_trim(NULL, &trimmed));
    release(allocate(GPU));
}
END_TEST

/* ---- a large device ---- */

#define LARGE_GPU ((size_t)12 << 30)
#define LARGE_BLOCK (60 * MIB)
enum { LARGE_BLOCKS = 195 }; /* 95 % of it */

static void open_large(void)
{
    ctxrt_options options = CTXRT_OPTIONS_INIT;
    cx_fixture_allow_files();
    options.cuda_driver = CTXRT_CUDA_DRIVER_EMULATED;
    options.emulated_devices = 2;
    options.emulated_memory_bytes = LARGE_GPU;
    cx_assert_ok(ctxrt_init(&options));
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(create(CTXRT_ALLOCATOR_SOURCE_VMM));
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
}

/* Four times the device are more addresses than a heap has, and its chunks are of 32 MiB.
 * ThreadSanitizer leaves a program 1.5 TiB of addresses in one piece: the embedded driver maps two
 * times 1 TiB. */
#ifndef __SANITIZE_THREAD__
START_TEST(a_device_of_a_quarter_of_a_tib_has_mapped_memory)
{
    ctxrt_options options = CTXRT_OPTIONS_INIT;
    options.cuda_driver = CTXRT_CUDA_DRIVER_EMULATED;
    options.emulated_devices = 1;
    options.emulated_memory_bytes = (size_t)1 << 38;
    cx_assert_ok(ctxrt_init(&options));
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(create(CTXRT_ALLOCATOR_SOURCE_VMM));
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    ctxrt_memory *memory = allocate(100 * MIB), *small = allocate(64);
    fill(memory, 3, 100 * MIB);
    assert_filled(memory, 3, 100 * MIB);
    release(small);
    release(memory);
    close_mapped();
}
END_TEST
#endif

static void fill_ends(ctxrt_memory *memory, int value, size_t bytes)
{
    char *pointer = ctxrt_memory_pointer(memory);
    cx_assert_ok(ctxrt_fill_async(pointer, value, 64, NULL));
    cx_assert_ok(ctxrt_fill_async(pointer + bytes - 64, value, 64, NULL));
}

static void assert_marked(ctxrt_memory *memory, int value, size_t bytes)
{
    const char *pointer = ctxrt_memory_pointer(memory);
    assert_byte(pointer, value);
    assert_byte(pointer + bytes - 1, value);
}

static void fill_device(ctxrt_memory *blocks[LARGE_BLOCKS], int first, int end)
{
    for (int i = first; i < end; i++) {
        blocks[i] = allocate(LARGE_BLOCK);
        fill_ends(blocks[i], i % 200, LARGE_BLOCK);
    }
}

static void empty_device(ctxrt_memory *blocks[LARGE_BLOCKS], int count)
{
    for (int i = 0; i < count; i++) {
        if (blocks[i] == NULL)
            continue;
        assert_marked(blocks[i], i % 200, LARGE_BLOCK);
        release(blocks[i]);
    }
}

static void drop(ctxrt_memory **block)
{
    release(*block);
    *block = NULL;
}

static void assert_figures(uint64_t requested_bytes)
{
    ctxrt_allocator_info info = CTXRT_ALLOCATOR_INFO_INIT;
    cx_assert_ok(ctxrt_allocator_describe(allocator, &info));
    ck_assert_uint_eq(info.requested.current_bytes, requested_bytes);
    ck_assert_uint_eq(info.reserved.current_bytes, LARGE_GPU - free_bytes());
    ck_assert_uint_eq(info.reserved.current_bytes,
                      info.allocated.current_bytes + info.inactive.current_bytes);
}

/* Of each that is freed several chunks are free altogether, and go where a block of more than any
 * gap needs them. */
START_TEST(memory_between_live_blocks_of_a_large_device_serves_larger_ones)
{
    ctxrt_memory *blocks[LARGE_BLOCKS], *large[5], *small[64];
    fill_device(blocks, 0, LARGE_BLOCKS);
    for (int i = 0; i < 64; i++)
        fill_ends(small[i] = allocate(MIB), 203, MIB);
    assert_figures(LARGE_BLOCKS * (uint64_t)LARGE_BLOCK + 64 * MIB);
    for (int i = 0; i < LARGE_BLOCKS; i += 8)
        drop(&blocks[i]);
    for (int i = 0; i < 5; i++) {
        large[i] = allocate(3 * LARGE_BLOCK);
        fill_ends(large[i], 210 + i, 3 * LARGE_BLOCK);
    }
    assert_figures((LARGE_BLOCKS - 25 + 5 * 3) * (uint64_t)LARGE_BLOCK + 64 * MIB);
    empty_device(blocks, LARGE_BLOCKS);
    for (int i = 0; i < 5; i++) {
        assert_marked(large[i], 210 + i, 3 * LARGE_BLOCK);
        release(large[i]);
    }
    for (int i = 0; i < 64; i++) {
        assert_marked(small[i], 203, MIB);
        release(small[i]);
    }
    cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    ck_assert_uint_eq(free_bytes(), LARGE_GPU);
}
END_TEST

static uint64_t retries(void)
{
    ctxrt_allocator_info info = CTXRT_ALLOCATOR_INFO_INIT;
    cx_assert_ok(ctxrt_allocator_describe(allocator, &info));
    return info.retries;
}

/* The request behind the free finds that the work is not done. A later one needs what was freed,
 * and has it without the last resort, which waits for all work. */
START_TEST(memory_whose_work_was_not_done_moves_for_a_later_request)
{
    gate held;
    ctxrt_memory *blocks[LARGE_BLOCKS];
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_frame_set_stream(stream));
    fill_device(blocks, 0, LARGE_BLOCKS);
    cx_assert_ok(ctxrt_device_synchronize());
    const size_t bytes = free_bytes() + 4 * LARGE_BLOCK;
    if (needs_a_gate())
        gate_close(&held, stream);
    for (int i = 0; i < LARGE_BLOCKS; i += 32)
        drop(&blocks[i]);
    ctxrt_memory *small = allocate(CHUNK);
    if (needs_a_gate())
        gate_open(&held);
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    ctxrt_memory *large = allocate(bytes);
    ck_assert_uint_eq(retries(), 0);
    fill_ends(large, 201, bytes);
    empty_device(blocks, LARGE_BLOCKS);
    assert_marked(large, 201, bytes);
    release(large);
    release(small);
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    cx_assert_ok(ctxrt_stream_destroy(stream));
}
END_TEST

static int reached_from(int device, ctxrt_memory *memory, size_t bytes)
{
    int reached = 0;
    char *pointer = ctxrt_memory_pointer(memory);
    for (size_t at = 0; at < bytes; at += CHUNK)
        reached += reaches_from(device, pointer + at + CHUNK / 2);
    return reached;
}

/* Mapped before, after, and where it moved. */
START_TEST(a_peer_reaches_all_of_a_large_device_and_what_moved)
{
    const int chunks = LARGE_BLOCK / CHUNK;
    ctxrt_memory *blocks[LARGE_BLOCKS];
    fill_device(blocks, 0, 2);
    ck_assert_int_eq(reached_from(1, blocks[1], LARGE_BLOCK), 0);
    set_peer(1, ctxrt_device_enable_peer);
    ck_assert_int_eq(reached_from(1, blocks[1], LARGE_BLOCK), chunks);
    fill_device(blocks, 2, LARGE_BLOCKS);
    ck_assert_int_eq(reached_from(1, blocks[100], LARGE_BLOCK), chunks);
    for (int i = 0; i < LARGE_BLOCKS; i += 8)
        drop(&blocks[i]);
    cx_assert_ok(ctxrt_device_synchronize());
    ctxrt_memory *large = allocate(20 * LARGE_BLOCK);
    ck_assert_int_eq(reached_from(1, large, 20 * LARGE_BLOCK), 20 * chunks);
    set_peer(1, ctxrt_device_disable_peer);
    ck_assert_int_eq(reached_from(1, blocks[99], LARGE_BLOCK), 0);
    ck_assert_int_eq(reached_from(1, large, 20 * LARGE_BLOCK), 0);
    release(large);
    empty_device(blocks, LARGE_BLOCKS);
}
END_TEST

START_TEST(threads_keep_their_contents_while_memory_of_a_large_device_moves)
{
    ctxrt_memory *blocks[LARGE_BLOCKS];
    fill_device(blocks, 0, LARGE_BLOCKS);
    cx_assert_ok(ctxrt_device_synchronize());
    for (int i = 120; i < 130; i++)
        drop(&blocks[i]);
    churn_on_threads();
    empty_device(blocks, LARGE_BLOCKS);
}
END_TEST

START_TEST(a_small_block_has_the_last_chunk_of_a_large_device)
{
    ctxrt_memory *most = allocate(LARGE_GPU - CHUNK), *more;
    ctxrt_memory *last = allocate(MIB);
    fill_ends(last, 9, MIB);
    assert_marked(last, 9, MIB);
    cx_assert_error(ctxrt_memory_alloc(2 * CHUNK, &more), CTXRT_ERROR_OUT_OF_MEMORY);
    assert_figures(LARGE_GPU - CHUNK + MIB);
    release(last);
    release(most);
    release(allocate(LARGE_GPU));
}
END_TEST

/* ---- work under way ---- */

static const char put_ptx[] = ".version 7.0\n.target sm_50\n.address_size 64\n"
                              ".visible .entry put(.param .u64 place)\n{\n"
                              ".reg .b64 %rd<2>;\nld.param.u64 %rd1, [place];\n"
                              "st.global.u32 [%rd1], 7;\nret;\n}\n";

static void open_lazy(void)
{
    ck_assert_int_eq(setenv("CTXRT_EMU_SCHEDULE", "lazy", 1), 0);
    cx_fixture_start();
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
}

static void close_lazy(void)
{
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}

/* Frees memory that a kernel, which has not begun, will write to; `end` does the rest. */
static void free_under_a_kernel(void (*end)(ctxrt_stream *stream))
{
    void *place;
    ctxrt_module *module;
    ctxrt_kernel *put;
    ctxrt_stream *stream;
    ctxrt_launch_config config = CTXRT_LAUNCH_CONFIG_INIT;
    cx_fixture_needs_emulated("work that runs only when it is waited for");
    cx_assert_ok(ctxrt_module_load(put_ptx, 0, &module));
    cx_assert_ok(ctxrt_module_get_kernel(module, "put", &put));
    cx_assert_ok(create(CTXRT_ALLOCATOR_SOURCE_VMM));
    cx_assert_ok(ctxrt_stream_create(CTXRT_STREAM_NON_BLOCKING, 0, &stream));
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    cx_assert_ok(ctxrt_frame_set_stream(stream));
    cx_assert_ok(ctxrt_alloc(CHUNK, &place));
    void *arguments[] = {&place};
    config.stream = stream;
    cx_assert_ok(ctxrt_launch(&config, put, arguments, 1));
    cx_assert_ok(ctxrt_free(place));
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    cx_assert_ok(ctxrt_frame_set_allocator(NULL));
    end(stream);
    cx_assert_ok(ctxrt_device_synchronize());
    cx_assert_ok(ctxrt_module_unload(module));
}

static void end_allocator_first(ctxrt_stream *stream)
{
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    cx_assert_ok(ctxrt_stream_destroy(stream));
}

static void end_stream_first(ctxrt_stream *stream)
{
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
}

static void trim_first(ctxrt_stream *stream)
{
    cx_assert_ok(ctxrt_allocator_trim(allocator, NULL));
    cx_assert_ok(ctxrt_device_synchronize());
    end_stream_first(stream);
}

static void (*const ends[])(ctxrt_stream *) = {end_allocator_first, end_stream_first, trim_first};

START_TEST(mapped_memory_stays_while_kernels_use_what_was_freed)
{
    free_under_a_kernel(ends[_i]);
}
END_TEST

static Suite *mapped_suite(void)
{
    Suite *suite = suite_create("mapped");
    TCase *tcase = tcase_create("mapped");
    tcase_add_checked_fixture(tcase, open_mapped, close_mapped);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, a_driver_without_virtual_memory_is_told_and_nothing_takes_its_place);
    tcase_add_test(tcase, the_environment_chooses_the_source_of_gpus);
    tcase_add_test(tcase, memory_between_live_blocks_serves_a_large_one);
    tcase_add_test(tcase, memory_does_not_move_while_work_uses_it);
    tcase_add_test(tcase, a_trim_gives_chunks_back_between_live_blocks);
    tcase_add_test(tcase, a_refusal_loses_nothing_and_says_what_is_held);
    tcase_add_test(tcase, peers_reach_it_while_peer_access_is_enabled);
    tcase_add_test(tcase, the_memorys_device_does_the_work_of_one_that_does_not_reach_it);
    tcase_add_test(tcase, a_reset_gives_it_back_to_the_device);
    tcase_add_test(tcase, a_query_knows_pieces_and_nothing_between_them);
    tcase_add_test(tcase, threads_that_map_and_move_keep_their_contents);
    suite_add_tcase(suite, tcase);
#ifndef __SANITIZE_THREAD__
    tcase = tcase_create("huge device");
    tcase_add_test(tcase, a_device_of_a_quarter_of_a_tib_has_mapped_memory);
    suite_add_tcase(suite, tcase);
#endif
    tcase = tcase_create("lazy");
    tcase_add_checked_fixture(tcase, open_lazy, close_lazy);
    tcase_add_loop_test(tcase, mapped_memory_stays_while_kernels_use_what_was_freed, 0,
                        sizeof ends / sizeof *ends);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("large device");
    tcase_add_checked_fixture(tcase, open_large, close_mapped);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, memory_between_live_blocks_of_a_large_device_serves_larger_ones);
    tcase_add_test(tcase, memory_whose_work_was_not_done_moves_for_a_later_request);
    tcase_add_test(tcase, a_peer_reaches_all_of_a_large_device_and_what_moved);
    tcase_add_test(tcase, threads_keep_their_contents_while_memory_of_a_large_device_moves);
    tcase_add_test(tcase, a_small_block_has_the_last_chunk_of_a_large_device);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(mapped_suite);
