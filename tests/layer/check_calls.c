/*
 * Calls that the programs of tests/misuse do not make, and failures that explain nothing: what the
 * layer check keeps of them.
 */
#include "layer/checking.h"

#include <pthread.h>
#include <sys/mman.h>

static const char code[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                           ".visible .entry step()\n.maxntid 32, 1, 1\n{\n    ret;\n}\n";

static CUcontext context; /* current, on GPU 0 */
static char nothing;      /* its address is no handle */

static void set_up(void)
{
    begin_checking(2);
    GOOD(table.ctx_create_v2(&context, 0, 0));
}

static void fails(cxu_result result)
{
    ck_assert_int_ne((int)result, CXU_SUCCESS);
}

/* ---- contexts ---- */

START_TEST(every_version_of_cuCtxCreate_pushes)
{
    CUcontext made, popped;
    GOOD(table.ctx_create_v3(&made, NULL, 0, 0, 1));
    ck_assert_int_eq(latest(CX_HANDLE_CONTEXT)->device, 1);
    GOOD(table.ctx_create_v4(&made, NULL, 0, 1));
    ck_assert_int_eq(latest(CX_HANDLE_CONTEXT)->device, 1);
    ck_assert_int_eq(alive(CX_HANDLE_CONTEXT), 3);
    for (int i = 0; i < 3; i++)
        GOOD(table.ctx_pop(&popped));
    fails(table.ctx_pop(&popped));
    ck_assert_int_eq(found(CX_KIND_STACK_POP_EMPTY), 1);
    ck_assert_int_eq(found_at_all(), 1);
}
END_TEST

START_TEST(a_context_that_cannot_be_destroyed_is_alive)
{
    CUcontext popped;
    GOOD(table.ctx_pop(&popped));
    GOOD(bare.ctx_destroy(context)); /* behind the layer's back */
    fails(table.ctx_destroy(context));
    ck_assert_int_eq(alive(CX_HANDLE_CONTEXT), 1);
}
END_TEST

START_TEST(contexts_that_others_pushed_are_popped)
{
    CUcontext popped;
    GOOD(table.ctx_pop(&popped));
    GOOD(bare.ctx_push(context));
    GOOD(table.ctx_pop(&popped));
    fails(table.ctx_create_v2(NULL, 0, 0));
    fails(table.ctx_set_current((CUcontext)&nothing));
    ck_assert_int_eq(found(CX_KIND_HANDLE_UNKNOWN), 1);
    ck_assert_int_eq(alive(CX_HANDLE_CONTEXT), 1);
    GOOD(table.ctx_set_current(context));
    GOOD(table.ctx_synchronize());
    ck_assert_int_eq(found_at_all(), 1);
}
END_TEST

enum { HOLDERS = 8 };
static pthread_barrier_t pushed, destroyed;

static void *hold(void *unused)
{
    CUcontext popped;
    GOOD(table.ctx_push(context));
    (void)pthread_barrier_wait(&pushed);
    (void)pthread_barrier_wait(&destroyed);
    GOOD(table.ctx_pop(&popped));
    return unused;
}

START_TEST(a_finding_has_as_many_lines_as_fit)
{
    pthread_t threads[HOLDERS];
    pthread_barrier_init(&pushed, NULL, HOLDERS + 1);
    pthread_barrier_init(&destroyed, NULL, HOLDERS + 1);
    for (int i = 0; i < HOLDERS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, hold, NULL), 0);
    (void)pthread_barrier_wait(&pushed);
    GOOD(table.ctx_destroy(context));
    (void)pthread_barrier_wait(&destroyed);
    for (int i = 0; i < HOLDERS; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    ck_assert_int_eq(found(CX_KIND_CURRENT_DESTROYED_ELSEWHERE), 1);
    ck_assert_int_eq((int)cx_region_here->all_findings[0].note_count, CX_REGION_NOTES);
    ck_assert_int_eq(found_at_all(), 1);
}
END_TEST

/* ---- primary contexts ---- */

START_TEST(a_primary_context_comes_back_with_its_entries)
{
    CUcontext primary, again;
    CUevent event = NULL;
    GOOD(table.primary_retain(&primary, 1));
    GOOD(table.ctx_push(primary));
    GOOD(table.primary_release(1));
    ck_assert_int_eq(alive(CX_HANDLE_CONTEXT), 1);
    fails(table.event_create(&event, 0));
    ck_assert_int_eq(found(CX_KIND_CURRENT_DESTROYED), 1);
    GOOD(table.primary_retain(&again, 1));
    ck_assert_ptr_eq(again, primary);
    ck_assert_int_eq(alive(CX_HANDLE_CONTEXT), 2);
    GOOD(table.event_create(&event, 0));
    fails(table.event_query((CUevent)&nothing));
    ck_assert_int_eq(found(CX_KIND_CURRENT_DESTROYED), 1);
    ck_assert_int_eq(found(CX_KIND_HANDLE_UNKNOWN), 1);
}
END_TEST

START_TEST(a_primary_context_that_comes_back_has_worked_before)
{
    CUcontext primary;
    CUevent event;
    GOOD(table.primary_retain(&primary, 1));
    GOOD(table.ctx_push(primary));
    GOOD(table.event_create(&event, 0));
    GOOD(table.event_destroy(event));
    GOOD(table.ctx_pop(&primary));
    GOOD(table.primary_release(1));
    GOOD(table.primary_retain(&primary, 1));
    ck_assert_int_eq(latest(CX_HANDLE_CONTEXT)->primary, 1);
    ck_assert_int_eq(latest(CX_HANDLE_CONTEXT)->worked, 1);
    ck_assert_int_eq(found_at_all(), 0);
}
END_TEST

#ifdef __x86_64__
/* A generated function that calls the one that it is given: no module has it. */
static void (*generate(void))(void (*function)(void))
{
    static const unsigned char bytes[] = {0x48, 0x83, 0xec, 0x08, /* sub $8, %rsp */
                                          0xff, 0xd7,             /* call *%rdi */
                                          0x48, 0x83, 0xc4, 0x08, /* add $8, %rsp */
                                          0xc3};                  /* ret */
    void *memory = mmap(NULL, sizeof bytes, PROT_READ | PROT_WRITE | PROT_EXEC,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void (*function)(void (*function)(void));
    ck_assert_ptr_ne(memory, MAP_FAILED);
    memcpy(memory, bytes, sizeof bytes);
    memcpy(&function, &memory, sizeof function);
    return function;
}

static void create_event(void)
{
    CUevent event;
    GOOD(table.event_create(&event, 0));
}

START_TEST(a_place_in_generated_code_is_of_no_module)
{
    generate()(create_event);
    const cx_region_trace *trace =
        &cx_region_here->all_traces[latest(CX_HANDLE_EVENT)->made];
    ck_assert_int_ge((int)trace->count, 2);
    ck_assert_int_eq((int)trace->frames[1].module, CX_REGION_MODULES);
}
END_TEST
#endif

START_TEST(a_primary_context_that_others_retained_gets_its_place)
{
    CUcontext primary;
    GOOD(bare.primary_retain(&primary, 1));
    GOOD(table.ctx_push(primary));
    ck_assert_int_eq((int)latest(CX_HANDLE_CONTEXT)->made, 0);
    ck_assert_int_eq(latest(CX_HANDLE_CONTEXT)->primary, 0);
    GOOD(table.primary_retain(&primary, 1));
    ck_assert_int_eq(latest(CX_HANDLE_CONTEXT)->primary, 1);
    ck_assert_int_eq(latest(CX_HANDLE_CONTEXT)->device, 1);
    GOOD(table.primary_release(1));
    ck_assert_int_eq(alive(CX_HANDLE_CONTEXT), 2); /* the others hold it */
    ck_assert_int_eq(alive(CX_OBJECT_RETAIN), 0);
    ck_assert_int_eq(found_at_all(), 0);
}
END_TEST

START_TEST(a_retain_that_fails_makes_nothing)
{
    CUcontext primary = (CUcontext)&nothing;
    fails(table.primary_retain(&primary, 99));
    fails(table.primary_retain(NULL, 0));
    fails(table.ctx_push(primary));
    ck_assert_int_eq(found(CX_KIND_HANDLE_NOT_MADE), 1);
    ck_assert_int_eq(alive(CX_OBJECT_RETAIN), 0);
    ck_assert_int_eq(found_at_all(), 1);
}
END_TEST

START_TEST(a_primary_context_that_has_ended_is_explained_by_what_is_current)
{
    CUcontext primary;
    GOOD(table.primary_retain(&primary, 1));
    GOOD(table.primary_release(1));
    (void)table.ctx_push(primary);
    (void)table.ctx_synchronize_v2(primary);
    ck_assert_int_eq(found(CX_KIND_HANDLE_ENDED), 0);
}
END_TEST

/* ---- handles ---- */

START_TEST(no_handle_at_all_is_no_unknown_one)
{
    fails(table.event_query(NULL));
    fails(table.event_create(NULL, 0));
    fails(table.stream_create(NULL, 0));
    fails(table.mem_alloc(NULL, 64));
    ck_assert_int_eq(found_at_all(), 0);
}
END_TEST

START_TEST(a_stream_of_another_context_is_no_misuse)
{
    CUcontext other, popped;
    CUstream distant;
    GOOD(table.ctx_create_v2(&other, 0, 1));
    GOOD(table.stream_create(&distant, 0));
    GOOD(table.ctx_pop(&popped));
    fails(table.stream_wait_event(distant, NULL, 0));
    fails(table.launch_kernel(NULL, 1, 1, 1, 1, 1, 1, 0, distant, NULL, NULL));
    ck_assert_int_eq(found_at_all(), 0);
}
END_TEST

START_TEST(kernels_that_were_enumerated_are_known)
{
    CUmodule module;
    CUlibrary library;
    CUfunction functions[2] = {NULL, NULL};
    CUkernel kernels[2] = {NULL, NULL};
    GOOD(table.module_load_data(&module, code));
    GOOD(table.library_load_data(&library, code, NULL, NULL, 0, NULL, NULL, 0));
    GOOD(table.module_enumerate_functions(functions, 1, module));
    GOOD(table.library_enumerate_kernels(kernels, 1, library));
    fails(table.module_enumerate_functions(NULL, 1, module));
    fails(table.library_enumerate_kernels(NULL, 1, library));
    fails(table.launch_kernel(functions[0], 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
    fails(table.launch_kernel((CUfunction)kernels[0], 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
    ck_assert_int_eq(found_at_all(), 0);
    ck_assert_int_eq(alive(CX_HANDLE_FUNCTION) + alive(CX_HANDLE_KERNEL), 0); /* of no call here */
    fails(table.event_query((CUevent)functions[0]));
    fails(table.event_query((CUevent)kernels[0]));
    ck_assert_int_eq(found(CX_KIND_HANDLE_TYPE), 2);
}
END_TEST

START_TEST(what_a_failed_call_was_to_give_is_not_known)
{
    CUmemoryPool pool = (CUmemoryPool)&nothing;
    fails(table.device_get_default_mem_pool(&pool, 99));
    fails(table.mem_pool_trim_to((CUmemoryPool)1, 0));
    ck_assert_int_eq(found(CX_KIND_HANDLE_UNKNOWN), 1);
    ck_assert_int_eq(found_at_all(), 1);
}
END_TEST

START_TEST(a_node_in_its_own_context_is_no_misuse)
{
    CUgraph graph;
    CUgraphNode node;
    CUdeviceptr memory;
    GOOD(table.graph_create(&graph, 0));
    GOOD(table.mem_alloc(&memory, 64));
    const cxu_memset_node_params wrong = {.destination = memory, .element_bytes = 3, .width = 1,
                                          .height = 1};
    fails(table.graph_add_memset_node(&node, graph, NULL, 0, &wrong, context));
    ck_assert_int_eq(found_at_all(), 0);
}
END_TEST

/* ---- memory ---- */

START_TEST(memory_that_others_freed_makes_room)
{
    CUdeviceptr memory, again;
    GOOD(table.mem_alloc(&memory, 4096));
    GOOD(bare.mem_free(memory));
    GOOD(table.mem_alloc(&again, 4096));
    if (again != memory)
        return; /* nothing to see */
    ck_assert_int_eq(alive(CX_OBJECT_MEMORY), 1);
    GOOD(table.memset_d8(again, 0, 4096));
    GOOD(table.mem_free(again));
    ck_assert_int_eq(alive(CX_OBJECT_MEMORY), 0);
    ck_assert_int_eq(found_at_all(), 0);
}
END_TEST

/* Others freed two pieces, and the new one lies over both. */
START_TEST(memory_over_all_that_others_freed_is_known)
{
    enum { HALF = 1 << 20 };
    CUdeviceptr lower, upper, whole;
    GOOD(table.mem_alloc(&lower, HALF));
    GOOD(table.mem_alloc(&upper, HALF));
    ck_assert_uint_gt(upper, lower);
    GOOD(bare.mem_free(lower));
    GOOD(bare.mem_free(upper));
    end_quarantine();
    GOOD(table.mem_alloc(&whole, upper - lower + HALF));
    ck_assert_uint_eq(whole, lower);
    ck_assert_ptr_nonnull(cx_object_find_memory(whole));
    ck_assert_uint_eq(cx_object_find_memory(whole)->bytes, upper - lower + HALF);
    ck_assert_ptr_eq(cx_object_find_memory(upper), cx_object_find_memory(whole));
    GOOD(table.mem_free(whole));
    ck_assert_int_eq(found_at_all(), 0);
}
END_TEST

START_TEST(frees_of_what_no_call_allocated)
{
    CUdeviceptr memory;
    fails(table.mem_free_async((CUdeviceptr)(uintptr_t)&nothing, NULL));
    ck_assert_int_eq(found(CX_KIND_MEMORY_HOST), 1);
    fails(table.mem_free_host(&nothing));
    ck_assert_int_eq(found(CX_KIND_MEMORY_FOREIGN), 1);
    GOOD(table.mem_alloc(&memory, 4096));
    fails(table.mem_free_async(memory + 64, NULL));
    ck_assert_int_eq(found(CX_KIND_MEMORY_INSIDE), 1);
    ck_assert_int_eq(found_at_all(), 3);
}
END_TEST

START_TEST(allocations_that_fail_make_nothing)
{
    CUdeviceptr memory = 0;
    size_t pitch;
    CUmemoryPool pool;
    GOOD(table.device_get_default_mem_pool(&pool, 0));
    fails(table.mem_alloc_pitch(&memory, &pitch, 64, (size_t)1 << 40, 4));
    fails(table.mem_alloc_async(&memory, (size_t)1 << 40, NULL));
    fails(table.mem_alloc_from_pool_async(&memory, (size_t)1 << 40, pool, NULL));
    ck_assert_int_eq(alive(CX_OBJECT_MEMORY) + alive(CX_OBJECT_ASYNC_MEMORY), 0);
    ck_assert_int_eq(found_at_all(), 0);
}
END_TEST

START_TEST(a_release_that_fails_ends_nothing)
{
    static const cxu_mem_properties properties = {
        .type = CXU_MEM_ALLOCATION_TYPE_PINNED, .location = {CXU_MEM_LOCATION_TYPE_DEVICE, 0}};
    enum { GRANULE = 2 << 20 };
    CUmemGenericAllocationHandle handle, again;
    CUdeviceptr address;
    GOOD(table.mem_address_reserve(&address, GRANULE, 0, 0, 0));
    GOOD(table.mem_create(&handle, GRANULE, &properties, 0));
    ck_assert_int_eq((int)latest(CX_OBJECT_CREATED_MEMORY)->bytes, GRANULE);
    GOOD(bare.mem_map(address, GRANULE, 0, handle, 0));
    GOOD(table.mem_retain_allocation_handle(&again, (void *)(uintptr_t)address));
    ck_assert_int_eq(alive(CX_OBJECT_CREATED_MEMORY), 1);
    for (int i = 0; i < 2; i++)
        GOOD(bare.mem_release(handle));
    GOOD(bare.mem_unmap(address, GRANULE));
    fails(table.mem_release(handle)); /* the second of two that the layer knows */
    fails(table.mem_release(handle));
    ck_assert_int_eq(alive(CX_OBJECT_CREATED_MEMORY), 1);
    fails(table.mem_create(&handle, 1, &properties, 0));
    fails(table.mem_map(address, GRANULE, 0, handle, 0));
    fails(table.mem_unmap(address + 1, GRANULE));
    ck_assert_int_eq(alive(CX_OBJECT_CREATED_MEMORY), 1);
    ck_assert_int_eq(alive(CX_OBJECT_MAPPED_MEMORY), 0);
}
END_TEST

START_TEST(a_handle_of_memory_that_others_made_is_released)
{
    static const cxu_mem_properties properties = {
        .type = CXU_MEM_ALLOCATION_TYPE_PINNED, .location = {CXU_MEM_LOCATION_TYPE_DEVICE, 0}};
    enum { GRANULE = 2 << 20 };
    CUmemGenericAllocationHandle handle;
    CUdeviceptr address;
    GOOD(bare.mem_address_reserve(&address, GRANULE, 0, 0, 0));
    GOOD(bare.mem_create(&handle, GRANULE, &properties, 0));
    GOOD(bare.mem_map(address, GRANULE, 0, handle, 0));
    GOOD(bare.mem_release(handle));
    GOOD(table.mem_retain_allocation_handle(&handle, (void *)(uintptr_t)address));
    ck_assert_int_eq(alive(CX_OBJECT_CREATED_MEMORY), 1);
    ck_assert_int_eq((int)latest(CX_OBJECT_CREATED_MEMORY)->bytes, 0);
    GOOD(table.mem_release(handle));
    ck_assert_int_eq(alive(CX_OBJECT_CREATED_MEMORY), 0);
}
END_TEST

START_TEST(peers_reach_each_other_until_access_is_taken_back)
{
    CUcontext other, popped;
    CUdeviceptr distant;
    GOOD(table.ctx_create_v2(&other, 0, 1));
    GOOD(table.mem_alloc(&distant, 64));
    GOOD(table.ctx_pop(&popped));
    GOOD(table.ctx_enable_peer_access(other, 0));
    GOOD(table.memset_d8(distant, 0, 64));
    ck_assert_int_eq(found_at_all(), 0);
    fails(table.ctx_disable_peer_access(context));
    GOOD(table.memset_d8(distant, 0, 64));
    ck_assert_int_eq(found(CX_KIND_CURRENT_OTHER_DEVICE), 0);
    GOOD(table.ctx_disable_peer_access(other));
    GOOD(table.memcpy_htod(distant, &nothing, 1));
    ck_assert_int_eq(found(CX_KIND_CURRENT_OTHER_DEVICE), 1);
}
END_TEST

/* ---- captures ---- */

START_TEST(the_old_call_begins_a_capture_in_mode_global)
{
    CUstream stream;
    CUgraph graph;
    GOOD(table.stream_create(&stream, 0));
    GOOD(table.stream_begin_capture_v1(stream));
    ck_assert_int_eq(alive(CX_OBJECT_CAPTURE), 1);
    fails(table.stream_begin_capture_v1(stream));
    ck_assert_int_eq(alive(CX_OBJECT_CAPTURE), 1);
    fails(table.ctx_synchronize());
    ck_assert_int_eq(found(CX_KIND_CAPTURE_ENDED), 1);
    ck_assert(latest_says("a capture in mode GLOBAL began in stream 1 of GPU 0"));
    fails(table.stream_end_capture(stream, &graph));
    ck_assert_int_eq(alive(CX_OBJECT_CAPTURE), 0);
}
END_TEST

START_TEST(a_capture_that_others_began_is_not_explained)
{
    CUstream stream;
    GOOD(table.stream_create(&stream, 0));
    GOOD(bare.stream_begin_capture(stream, CXU_STREAM_CAPTURE_MODE_GLOBAL));
    fails(table.ctx_synchronize());
    ck_assert_int_eq(found_at_all(), 0);
}
END_TEST

static Suite *calls_suite(void)
{
    Suite *suite = suite_create("calls under the layer check");
    TCase *tcase = tcase_create("calls");
    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_add_test(tcase, every_version_of_cuCtxCreate_pushes);
    tcase_add_test(tcase, a_context_that_cannot_be_destroyed_is_alive);
    tcase_add_test(tcase, contexts_that_others_pushed_are_popped);
    tcase_add_test(tcase, a_finding_has_as_many_lines_as_fit);
    tcase_add_test(tcase, a_primary_context_comes_back_with_its_entries);
    tcase_add_test(tcase, a_primary_context_that_comes_back_has_worked_before);
#ifdef __x86_64__
    tcase_add_test(tcase, a_place_in_generated_code_is_of_no_module);
#endif
    tcase_add_test(tcase, a_primary_context_that_others_retained_gets_its_place);
    tcase_add_test(tcase, a_retain_that_fails_makes_nothing);
    tcase_add_test(tcase, a_primary_context_that_has_ended_is_explained_by_what_is_current);
    tcase_add_test(tcase, no_handle_at_all_is_no_unknown_one);
    tcase_add_test(tcase, a_stream_of_another_context_is_no_misuse);
    tcase_add_test(tcase, kernels_that_were_enumerated_are_known);
    tcase_add_test(tcase, what_a_failed_call_was_to_give_is_not_known);
    tcase_add_test(tcase, a_node_in_its_own_context_is_no_misuse);
    tcase_add_test(tcase, memory_that_others_freed_makes_room);
    tcase_add_test(tcase, memory_over_all_that_others_freed_is_known);
    tcase_add_test(tcase, frees_of_what_no_call_allocated);
    tcase_add_test(tcase, allocations_that_fail_make_nothing);
    tcase_add_test(tcase, a_release_that_fails_ends_nothing);
    tcase_add_test(tcase, a_handle_of_memory_that_others_made_is_released);
    tcase_add_test(tcase, peers_reach_each_other_until_access_is_taken_back);
    tcase_add_test(tcase, the_old_call_begins_a_capture_in_mode_global);
    tcase_add_test(tcase, a_capture_that_others_began_is_not_explained);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(calls_suite);
