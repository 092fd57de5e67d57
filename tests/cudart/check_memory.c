/* Memory: allocations, copies, fills, what pointers are, the host's memory, peers, pools. */
#include "client.h"

/* ---- nothing, and nowhere ---- */

START_TEST(nothing_is_allocated_copied_and_freed_without_an_error)
{
    void *pointer = &pointer;
    char byte = 0;
    assert_ok(cudaMalloc(&pointer, 0));
    ck_assert_ptr_null(pointer);
    assert_ok(cudaFree(NULL));
    assert_ok(cudaFreeHost(NULL));
    assert_ok(cudaMemcpy(NULL, NULL, 0, CXR_HOST_TO_DEVICE));
    assert_ok(cudaMemcpyAsync(NULL, &byte, 0, CXR_DEVICE_TO_HOST, NULL));
    assert_ok(cudaMemset(NULL, 0, 0));
    assert_ok(cudaMemsetAsync(NULL, 0, 0, NULL));
    assert_ok(cudaMemcpy2D(NULL, 8, NULL, 8, 0, 4, CXR_HOST_TO_DEVICE));
    assert_ok(cudaMemcpy2D(NULL, 8, NULL, 8, 4, 0, CXR_HOST_TO_DEVICE));
    assert_ok(cudaGetLastError());
}
END_TEST

START_TEST(places_for_results_must_be_given)
{
    size_t pitch;
    void *pointer;
    assert_error(cudaMalloc(NULL, 16), CXR_INVALID_VALUE);
    assert_error(cudaMallocHost(NULL, 16), CXR_INVALID_VALUE);
    assert_error(cudaMallocManaged(NULL, 16, 1), CXR_INVALID_VALUE);
    assert_error(cudaMallocPitch(NULL, &pitch, 16, 16), CXR_INVALID_VALUE);
    assert_error(cudaMallocPitch(&pointer, NULL, 16, 16), CXR_INVALID_VALUE);
    assert_error(cudaMalloc3D(NULL, (cxr_extent){1, 1, 1}), CXR_INVALID_VALUE);
    assert_error(cudaMallocAsync(NULL, 16, NULL), CXR_INVALID_VALUE);
    assert_error(cudaPointerGetAttributes(NULL, &pitch), CXR_INVALID_VALUE);
    assert_error(cudaHostGetDevicePointer(NULL, &pitch, 0), CXR_INVALID_VALUE);
    assert_error(cudaMemcpy3D(NULL), CXR_INVALID_VALUE);
    assert_error(cudaMemcpy3DAsync(NULL, NULL), CXR_INVALID_VALUE);
    assert_error(cudaMemcpy3DPeer(NULL), CXR_INVALID_VALUE);
}
END_TEST

START_TEST(memory_that_is_not_the_devices_is_not_freed)
{
    char byte;
    void *pointer;
    assert_ok(cudaMalloc(&pointer, 64));
    assert_error(cudaFree(&byte), CXR_INVALID_VALUE);
    assert_error(cudaFree((char *)pointer + 8), CXR_INVALID_VALUE);
    assert_ok(cudaFree(pointer));
    assert_error(cudaFree(pointer), CXR_INVALID_VALUE);
    assert_error(cudaFreeHost(&byte), CXR_INVALID_VALUE);
}
END_TEST

START_TEST(more_memory_than_there_is_is_refused_and_the_rest_still_there)
{
    void *pointer = NULL;
    assert_error(cudaMalloc(&pointer, (size_t)1 << 40), CXR_MEMORY_ALLOCATION);
    assert_error(cudaGetLastError(), CXR_MEMORY_ALLOCATION);
    assert_error(cudaMalloc3D(&(cxr_pitched_pointer){0}, (cxr_extent){8, (size_t)-1, 3}),
                 CXR_MEMORY_ALLOCATION);
    assert_ok(cudaMalloc(&pointer, 1 << 20));
    assert_ok(cudaFree(pointer));
}
END_TEST

/* ---- copies and fills ---- */

START_TEST(directions_are_the_five_kinds)
{
    uint32_t *words = make_words(0), host[2] = {7, 8};
    assert_error(cudaMemcpy(words, host, 8, (cxr_copy_kind)5), CXR_INVALID_MEMCPY_DIRECTION);
    assert_error(cudaMemcpyAsync(words, host, 8, (cxr_copy_kind)-1, NULL),
                 CXR_INVALID_MEMCPY_DIRECTION);
    assert_error(cudaMemcpy2D(words, 8, host, 8, 8, 1, (cxr_copy_kind)7),
                 CXR_INVALID_MEMCPY_DIRECTION);
    assert_ok(cudaMemcpy(words, host, 8, CXR_COPY_DEFAULT));
    assert_ok(cudaMemcpy(words + 2, words, 8, CXR_DEVICE_TO_DEVICE));
    assert_ok(cudaMemcpy(host + 1, words + 2, 4, CXR_COPY_DEFAULT));
    ck_assert_uint_eq(host[1], 7);
    assert_ok(cudaMemcpy(host, host + 1, 4, CXR_HOST_TO_HOST));
    assert_ok(cudaFree(words));
}
END_TEST

START_TEST(a_copy_is_not_wider_than_its_pitch)
{
    char host[64] = {0};
    void *rows;
    size_t pitch = 0;
    assert_ok(cudaMallocPitch(&rows, &pitch, 20, 4));
    ck_assert_uint_ge(pitch, 20);
    assert_error(cudaMemcpy2D(rows, pitch, host, 8, 9, 2, CXR_HOST_TO_DEVICE),
                 CXR_INVALID_PITCH_VALUE);
    assert_error(cudaMemcpy2D(rows, 8, host, 16, 9, 2, CXR_HOST_TO_DEVICE),
                 CXR_INVALID_PITCH_VALUE);
    for (int i = 0; i < 64; i++)
        host[i] = (char)i;
    assert_ok(cudaMemcpy2D(rows, pitch, host, 16, 16, 4, CXR_HOST_TO_DEVICE));
    memset(host, 0, sizeof host);
    assert_ok(cudaMemcpy2DAsync(host, 8, rows, pitch, 8, 4, CXR_DEVICE_TO_HOST, NULL));
    assert_ok(cudaStreamSynchronize(NULL));
    for (int i = 0; i < 32; i++)
        ck_assert_int_eq(host[i], i / 8 * 16 + i % 8);
    assert_ok(cudaFree(rows));
}
END_TEST

START_TEST(boxes_are_filled_and_copied)
{
    enum { WIDTH = 10, HEIGHT = 4, DEPTH = 3 };
    unsigned char host[DEPTH][HEIGHT][WIDTH] = {{{0}}};
    cxr_pitched_pointer box;
    cxr_extent all = {WIDTH, HEIGHT, DEPTH};
    assert_ok(cudaMalloc3D(&box, all));
    ck_assert_uint_eq(box.width_bytes, WIDTH);
    ck_assert_uint_eq(box.height, HEIGHT);
    assert_ok(cudaMemset3D(box, 1, all));
    assert_ok(cudaMemset3DAsync(box, 2, (cxr_extent){3, 2, 2}, NULL));
    cxr_copy_3d copy = {.source = box,
                        .destination = {host, WIDTH, WIDTH, HEIGHT},
                        .extent = all,
                        .kind = CXR_DEVICE_TO_HOST};
    assert_ok(cudaMemcpy3D(&copy));
    for (int z = 0; z < DEPTH; z++)
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
                ck_assert_uint_eq(host[z][y][x], x < 3 && y < 2 && z < 2 ? 2 : 1);
    copy.source.pointer = NULL;
    assert_error(cudaMemcpy3D(&copy), CXR_INVALID_VALUE);
    assert_ok(cudaMemset3D(box, 3, (cxr_extent){0, 4, 3}));
    assert_error(cudaMemset3D(box, 3, (cxr_extent){box.pitch_bytes + 1, 1, 1}), CXR_INVALID_VALUE);
    assert_ok(cudaMemset2D(box.pointer, box.pitch_bytes, 9, 2, 2));
    assert_ok(cudaFree(box.pointer));
}
END_TEST

START_TEST(memory_of_peers_is_copied_and_access_is_enabled_once)
{
    uint32_t *first = make_words(3), *second, *third;
    int can = 0;
    assert_ok(cudaSetDevice(1));
    second = make_words(0);
    third = make_words(0);
    assert_ok(cudaMemcpyPeer(second, 1, first, 0, WORD_BYTES));
    assert_words(second, 3);
    assert_ok(cudaMemcpyPeerAsync(third, 1, first, 0, WORD_BYTES, NULL));
    assert_words(third, 3);
    assert_error(cudaMemcpyPeer(second, 9, first, 0, 4), CXR_INVALID_DEVICE);
    assert_ok(cudaDeviceCanAccessPeer(&can, 1, 0));
    ck_assert_int_eq(can, 1);
    assert_error(cudaDeviceCanAccessPeer(&can, 1, 9), CXR_INVALID_DEVICE);
    assert_error(cudaDeviceDisablePeerAccess(0), CXR_PEER_ACCESS_NOT_ENABLED);
    assert_ok(cudaDeviceEnablePeerAccess(0, 0));
    assert_error(cudaDeviceEnablePeerAccess(0, 0), CXR_PEER_ACCESS_ALREADY_ENABLED);
    assert_error(cudaDeviceEnablePeerAccess(2, 1), CXR_INVALID_VALUE);
    assert_error(cudaDeviceEnablePeerAccess(1, 0), CXR_INVALID_DEVICE);
    assert_error(cudaDeviceEnablePeerAccess(7, 0), CXR_INVALID_DEVICE);
    assert_ok(cudaDeviceDisablePeerAccess(0));
    assert_ok(cudaFree(second));
    assert_ok(cudaFree(third));
    assert_ok(cudaFree(first));
}
END_TEST

/* ---- what a pointer is ---- */

static cxr_pointer_attributes attributes_of(const void *pointer)
{
    cxr_pointer_attributes found;
    memset(&found, 0x55, sizeof found);
    assert_ok(cudaPointerGetAttributes(&found, pointer));
    return found;
}

START_TEST(pointers_have_the_kind_and_device_of_their_memory)
{
    static int plain;
    void *device_memory, *managed, *pinned;
    assert_ok(cudaSetDevice(1));
    assert_ok(cudaMalloc(&device_memory, 256));
    assert_ok(cudaMallocManaged(&managed, 256, 1));
    assert_ok(cudaMallocHost(&pinned, 256));
    assert_ok(cudaSetDevice(0));

    cxr_pointer_attributes found = attributes_of((char *)device_memory + 100);
    ck_assert_int_eq(found.type, CXR_MEMORY_DEVICE);
    ck_assert_int_eq(found.device, 1);
    /* Device 0 has no access to it. */
    ck_assert_ptr_null(found.device_pointer);
    ck_assert_ptr_null(found.host_pointer);
    assert_ok(cudaSetDevice(1));
    found = attributes_of((char *)device_memory + 100);
    ck_assert_ptr_eq(found.device_pointer, (char *)device_memory + 100);
    assert_ok(cudaSetDevice(0));
    found = attributes_of(managed);
    ck_assert_int_eq(found.type, CXR_MEMORY_MANAGED);
    ck_assert_ptr_eq(found.device_pointer, managed);
    ck_assert_ptr_eq(found.host_pointer, managed);
    found = attributes_of(pinned);
    ck_assert_int_eq(found.type, CXR_MEMORY_HOST);
    ck_assert_int_eq(found.device, 1);
    ck_assert_ptr_eq(found.host_pointer, pinned);
    found = attributes_of(&plain);
    ck_assert_int_eq(found.type, CXR_MEMORY_UNREGISTERED);
    ck_assert_ptr_null(found.device_pointer);
    ck_assert_ptr_eq(found.host_pointer, &plain);
    assert_ok(cudaGetLastError());
    assert_ok(cudaFree(device_memory));
    assert_ok(cudaFree(managed));
    assert_ok(cudaFreeHost(pinned));
    ck_assert_int_eq(attributes_of(pinned).type, CXR_MEMORY_UNREGISTERED);
}
END_TEST

START_TEST(managed_memory_is_not_of_0_bytes)
{
    void *pointer;
    assert_error(cudaMallocManaged(&pointer, 0, 1), CXR_INVALID_VALUE);
    assert_error(cudaMallocManaged(&pointer, 16, 0), CXR_INVALID_VALUE);
}
END_TEST

START_TEST(host_memory_is_registered_once_and_mapped)
{
    enum { BYTES = 8192 };
    void *memory = aligned_alloc(4096, BYTES), *mapped = NULL;
    unsigned int flags = 0;
    assert_ok(cudaHostRegister(memory, BYTES, CXU_MEMHOSTREGISTER_DEVICEMAP));
    assert_error(cudaHostRegister(memory, BYTES, 0), CXR_HOST_MEMORY_ALREADY_REGISTERED);
    ck_assert_int_eq(attributes_of(memory).type, CXR_MEMORY_HOST);
    assert_ok(cudaHostGetDevicePointer(&mapped, memory, 0));
    assert_ok(cudaMemset(mapped, 7, 4));
    assert_ok(cudaDeviceSynchronize());
    ck_assert_int_eq(((char *)memory)[3], 7);
    assert_ok(cudaHostUnregister(memory));
    assert_error(cudaHostUnregister(memory), CXR_HOST_MEMORY_NOT_REGISTERED);
    assert_error(cudaHostRegister(memory, 0, 0), CXR_INVALID_VALUE);
    assert_error(cudaHostRegister(NULL, BYTES, 0), CXR_INVALID_VALUE);
    free(memory);
    assert_ok(cudaHostAlloc(&memory, BYTES, CXU_MEMHOSTALLOC_WRITECOMBINED));
    assert_ok(cudaHostGetFlags(&flags, memory));
    ck_assert_uint_ne(flags & CXU_MEMHOSTALLOC_WRITECOMBINED, 0);
    assert_ok(cudaFreeHost(memory));
}
END_TEST

/* ---- pools, and other processes ---- */

START_TEST(pools_give_memory_in_the_order_of_streams)
{
    CUmemoryPool own, pool;
    CUstream stream;
    void *first = NULL, *second = NULL;
    uint64_t used = 0, threshold = (uint64_t)-1;
    const cxu_mem_pool_properties properties = {.type = CXU_MEM_ALLOCATION_TYPE_PINNED,
                                                .location = {CXU_MEM_LOCATION_TYPE_DEVICE, 0}};
    assert_ok(cudaStreamCreate(&stream));
    assert_ok(cudaMallocAsync(&first, 1024, stream));
    assert_ok(cudaMemsetAsync(first, 1, 1024, stream));
    assert_ok(cudaFreeAsync(first, stream));
    assert_ok(cudaMallocAsync(&second, 0, stream));
    assert_ok(cudaFreeAsync(NULL, stream));
    assert_ok(cudaMemPoolCreate(&own, &properties));
    assert_ok(cudaMemPoolSetAttribute(own, CXU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
    assert_ok(cudaMallocFromPoolAsync(&first, 4096, own, stream));
    assert_ok(cudaMemPoolGetAttribute(own, CXU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    ck_assert_uint_ge(used, 4096);
    assert_ok(cudaDeviceGetDefaultMemPool(&pool, 0));
    ck_assert_ptr_ne(pool, own);
    assert_ok(cudaDeviceSetMemPool(0, own));
    assert_ok(cudaDeviceGetMemPool(&pool, 0));
    ck_assert_ptr_eq(pool, own);
    assert_ok(cudaFreeAsync(first, stream));
    assert_ok(cudaStreamSynchronize(stream));
    assert_ok(cudaMemPoolTrimTo(own, 0));
    assert_error(cudaMemPoolCreate(NULL, &properties), CXR_INVALID_VALUE);
    assert_ok(cudaMemPoolDestroy(own));
    assert_ok(cudaStreamDestroy(stream));
}
END_TEST

START_TEST(shared_memory_and_events_are_for_other_processes)
{
    cxu_ipc_mem_handle handle;
    cxu_ipc_event_handle event_handle;
    CUevent timed, shared;
    void *pointer, *opened = NULL;
    assert_ok(cudaMalloc(&pointer, 4096));
    assert_ok(cudaIpcGetMemHandle(&handle, pointer));
    ck_assert_int_ne(cudaIpcOpenMemHandle(&opened, handle, 1), CXR_SUCCESS);
    assert_error(cudaIpcOpenMemHandle(NULL, handle, 1), CXR_INVALID_VALUE);
    assert_error(cudaIpcCloseMemHandle(pointer), CXR_INVALID_VALUE);
    assert_ok(cudaEventCreate(&timed));
    ck_assert_int_ne(cudaIpcGetEventHandle(&event_handle, timed), CXR_SUCCESS);
    assert_ok(cudaEventCreateWithFlags(&shared, CXU_EVENT_DISABLE_TIMING | CXU_EVENT_INTERPROCESS));
    assert_ok(cudaIpcGetEventHandle(&event_handle, shared));
    assert_ok(cudaEventDestroy(timed));
    assert_ok(cudaEventDestroy(shared));
    assert_ok(cudaFree(pointer));
}
END_TEST

START_TEST(ranges_of_managed_memory_are_discarded_and_prefetched_in_batches)
{
    const size_t half = WORD_BYTES / 2;
    size_t sizes[] = {half, half}, first[] = {0, 1};
    cxu_mem_location to[] = {{CXU_MEM_LOCATION_TYPE_DEVICE, 1}, {CXU_MEM_LOCATION_TYPE_HOST, 0}};
    void *halves[2];
    CUstream stream;
    uint32_t *words;
    int place = 77;
    assert_ok(cudaMallocManaged(&halves[0], WORD_BYTES, 1));
    words = halves[0];
    halves[1] = words + WORDS / 2;
    assert_ok(cudaStreamCreate(&stream));
    for (int i = 0; i < WORDS; i++)
        words[i] = 7;
    assert_ok(cudaMemPrefetchBatchAsync(halves, sizes, 2, to, first, 2, 0, stream));
    assert_ok(cudaMemRangeGetAttribute(
        &place, sizeof place, CXU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, halves[0], half));
    ck_assert_int_eq(place, 1);
    assert_ok(cudaStreamSynchronize(stream));
    assert_words(words, 7);
    assert_ok(cudaMemDiscardBatchAsync(&halves[1], sizes, 1, 0, stream));
    assert_ok(cudaStreamSynchronize(stream));
    ck_assert(words[WORDS / 2 - 1] == 7 && words[WORDS / 2] == 0 && words[WORDS - 1] == 0);
    assert_ok(cudaMemDiscardAndPrefetchBatchAsync(halves, sizes, 2, to, first, 1, 0, stream));
    assert_ok(cudaStreamSynchronize(stream));
    assert_words(words, 0);
    assert_error(cudaMemDiscardBatchAsync(halves, sizes, 2, 0, NULL), CXR_INVALID_VALUE);
    assert_error(cudaMemDiscardBatchAsync(halves, sizes, 2, 1, stream), CXR_INVALID_VALUE);
    assert_ok(cudaStreamDestroy(stream));
    assert_ok(cudaFree(halves[0]));
}
END_TEST

static Suite *memory_suite(void)
{
    Suite *suite = suite_create("memory");
    TCase *tcase = tcase_create("memory");
    tcase_add_checked_fixture(tcase, start_with_gpus, NULL);
    tcase_add_test(tcase, nothing_is_allocated_copied_and_freed_without_an_error);
    tcase_add_test(tcase, places_for_results_must_be_given);
    tcase_add_test(tcase, memory_that_is_not_the_devices_is_not_freed);
    tcase_add_test(tcase, more_memory_than_there_is_is_refused_and_the_rest_still_there);
    tcase_add_test(tcase, directions_are_the_five_kinds);
    tcase_add_test(tcase, a_copy_is_not_wider_than_its_pitch);
    tcase_add_test(tcase, boxes_are_filled_and_copied);
    tcase_add_test(tcase, memory_of_peers_is_copied_and_access_is_enabled_once);
    tcase_add_test(tcase, pointers_have_the_kind_and_device_of_their_memory);
    tcase_add_test(tcase, managed_memory_is_not_of_0_bytes);
    tcase_add_test(tcase, ranges_of_managed_memory_are_discarded_and_prefetched_in_batches);
    tcase_add_test(tcase, host_memory_is_registered_once_and_mapped);
    tcase_add_test(tcase, pools_give_memory_in_the_order_of_streams);
    tcase_add_test(tcase, shared_memory_and_events_are_for_other_processes);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(memory_suite);
