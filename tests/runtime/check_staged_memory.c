/*
 * Asynchronous copies between two drivers: memory that no caching allocator keeps waits for them
 * before it is freed, and for nothing else; what they were staged through goes with the devices;
 * and a thread is after each call as it was before.
 */
#include "memory/cross_driver_copies.h"
#include "staged.h"

/* ---- what a call leaves as it was ---- */

typedef struct calm {
    struct CUctx_st *current[TWO_DRIVERS];
    cxu_stream_capture_mode modes[TWO_DRIVERS];
    int cancel;
} calm;

static cxu_stream_capture_mode mode_of(const cx_driver_table *driver)
{
    cxu_stream_capture_mode mode = CXU_STREAM_CAPTURE_MODE_GLOBAL, before;
    ck_assert_int_eq(driver->thread_exchange_stream_capture_mode(&mode), CXU_SUCCESS);
    before = mode;
    ck_assert_int_eq(driver->thread_exchange_stream_capture_mode(&mode), CXU_SUCCESS);
    return before;
}

static calm look(void)
{
    calm self = {.cancel = 0};
    for (int i = 0; i < TWO_DRIVERS; i++) {
        ck_assert_int_eq(cx_drivers[i].table.ctx_get_current(&self.current[i]), CXU_SUCCESS);
        self.modes[i] = mode_of(&cx_drivers[i].table);
    }
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &self.cancel);
    pthread_setcancelstate(self.cancel, &(int){0});
    return self;
}

static void assert_calm(const calm *before)
{
    const calm after = look();
    ck_assert_int_eq(after.cancel, before->cancel);
    for (int i = 0; i < TWO_DRIVERS; i++) {
        ck_assert_ptr_eq(after.current[i], before->current[i]);
        ck_assert_int_eq(after.modes[i], before->modes[i]);
    }
}

/* Cancelled or not: a call that holds cancellation off puts back what was. */
START_TEST(a_thread_is_after_each_call_as_it_was_before)
{
    gate barrier;
    void *managed;
    ctxrt_allocator *pinned;
    const int side = _i % SIDES;
    start();
    ctxrt_stream *stream = enter(side);
    ctxrt_memory *cpu = alloc_on(ON_CPU, MORE), *gpu = alloc_on(ON_GPU, MORE);
    cx_assert_ok(ctxrt_alloc_managed(SMALL, &managed));
    cx_assert_ok(ctxrt_allocator_pinned(&pinned));
    cx_assert_ok(ctxrt_stack_pop()); /* nothing is current */
    pthread_setcancelstate(_i < SIDES ? PTHREAD_CANCEL_ENABLE : PTHREAD_CANCEL_DISABLE,
                           &(int){0});
    calm before = look();
    for (int round = 0; round < 3; round++) {
        cx_assert_ok(ctxrt_copy_async(at(gpu), at(cpu), MORE, CTXRT_COPY_ANY, stream));
        assert_calm(&before);
        cx_assert_ok(ctxrt_copy_async(at(cpu), at(gpu), MORE, CTXRT_COPY_ANY, stream));
        assert_calm(&before);
        cx_assert_ok(ctxrt_stream_synchronize(stream));
        assert_calm(&before);
    }
    cx_assert_ok(ctxrt_allocator_trim(pinned, NULL));
    assert_calm(&before);
    cx_assert_ok(ctxrt_copy_async(at(cpu), at(gpu), MORE, CTXRT_COPY_ANY, stream));
    cx_assert_ok(ctxrt_free(managed)); /* it looks whether a copy uses that */
    assert_calm(&before);
    ctxrt_memory *const both[2] = {cpu, gpu};
    release(both[1 - side]); /* it asks whether the copy is done */
    assert_calm(&before);
    cpu = side == ON_CPU ? cpu : alloc_on(ON_CPU, MORE);
    gpu = side == ON_GPU ? gpu : alloc_on(ON_GPU, MORE);
    gate_close(&barrier, stream);
    cx_assert_ok(ctxrt_copy_async(at(cpu), at(gpu), MORE, CTXRT_COPY_ANY, stream));
    before = look();
    cx_assert_ok(ctxrt_device_reset(two_drivers_device(1 - side)));
    assert_calm(&before);
    gate_open(&barrier);
    cx_assert_error(ctxrt_stream_synchronize(stream), CTXRT_ERROR_CONTEXT_DESTROYED);
    assert_calm(&before);
    release(cpu);
    release(gpu);
    cx_assert_ok(ctxrt_device_push(two_drivers_device(side)));
    leave(stream);
    cx_fixture_end();
}
END_TEST

/* ---- freeing ---- */

typedef enum way { FREE_MANAGED, FREE_ASYNC, FREE_IN_STREAM, FREE_CUSTOM, WAYS } way;

static ctxrt_status give_native(void *driver, size_t size_bytes, ctxrt_stream *stream,
                                void **out_pointer)
{
    CUdeviceptr address;
    (void)stream;
    cxu_result result = ((const cx_driver *)driver)->table.mem_alloc(&address, size_bytes);
    if (result == CXU_SUCCESS)
        *out_pointer = (void *)(uintptr_t)address;
    return result == CXU_SUCCESS ? CTXRT_SUCCESS : CTXRT_ERROR_OUT_OF_MEMORY;
}

static ctxrt_status take_native(void *driver, void *pointer, size_t size_bytes)
{
    (void)size_bytes;
    cxu_result result = ((const cx_driver *)driver)->table.mem_free((uintptr_t)pointer);
    return result == CXU_SUCCESS ? CTXRT_SUCCESS : CTXRT_ERROR_DRIVER;
}

static ctxrt_allocator *create_native(const cx_driver *driver)
{
    static const ctxrt_allocator_vtable vtable = {sizeof vtable, give_native, take_native, NULL};
    ctxrt_allocator *allocator;
    cx_assert_ok(
        ctxrt_allocator_create_custom(&vtable, (void *)(uintptr_t)driver, &allocator));
    return allocator;
}

typedef struct freer {
    void *pointer;
    ctxrt_stream *stream; /* NULL: not in the order of one */
    atomic_bool done;
    ctxrt_status status;
} freer;

static void *free_it(void *argument)
{
    freer *self = argument;
    self->status = self->stream != NULL ? ctxrt_free_async(self->pointer, self->stream)
                                        : ctxrt_free(self->pointer);
    atomic_store(&self->done, true);
    return NULL;
}

static void *alloc_in(way chosen, ctxrt_stream *stream)
{
    void *pointer;
    cx_assert_ok(chosen == FREE_MANAGED  ? ctxrt_alloc_managed(SMALL, &pointer)
                 : chosen == FREE_CUSTOM ? ctxrt_alloc(SMALL, &pointer)
                                         : ctxrt_alloc_async(SMALL, stream, &pointer));
    cx_assert_ok(ctxrt_copy(pointer, pattern, SMALL, CTXRT_COPY_ANY));
    return pointer;
}

/* Memory of the side that the stream is not of. */
START_TEST(memory_of_every_other_kind_is_not_freed_before_the_copy_is_done)
{
    const way chosen = _i % WAYS;
    const int side = _i / WAYS % SIDES;
    const bool into = _i / WAYS / SIDES == 1;
    gate barrier;
    pthread_t thread;
    freer self = {.stream = NULL};
    start();
    ctxrt_stream *stream = enter(side), *idle = create_stream(CTXRT_STREAM_NON_BLOCKING);
    ctxrt_memory *own = alloc_on(side, SMALL);
    cx_assert_ok(ctxrt_copy(at(own), pattern + 1, SMALL, CTXRT_COPY_ANY));
    cx_assert_ok(ctxrt_device_push(two_drivers_device(1 - side)));
    ctxrt_stream *other = create_stream(CTXRT_STREAM_NON_BLOCKING);
    ctxrt_allocator *allocator = create_native(&cx_drivers[two_drivers_of(1 - side)]);
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    self.pointer = alloc_in(chosen, other);
    self.stream = chosen == FREE_IN_STREAM ? other : NULL;
    gate_close(&barrier, stream);
    cx_assert_ok(into
                     ? ctxrt_copy_async(self.pointer, at(own), SMALL, CTXRT_COPY_ANY, stream)
                     : ctxrt_copy_async(at(own), self.pointer, SMALL, CTXRT_COPY_ANY, stream));
    void *unused = alloc_in(chosen, other);
    cx_assert_ok(ctxrt_free(unused)); /* no copy's */
    ck_assert_int_eq(pthread_create(&thread, NULL, free_it, &self), 0);
    give_others_a_chance(idle);
    ck_assert(!atomic_load(&self.done));
    gate_open(&barrier);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    cx_assert_status(self.status, CTXRT_SUCCESS);
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    assert_holds(at(own), pattern + into, SMALL);
    cx_assert_ok(ctxrt_stream_synchronize(other));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    cx_assert_ok(ctxrt_stream_destroy(other));
    cx_assert_ok(ctxrt_stream_destroy(idle));
    release(own);
    leave(stream);
    cx_fixture_end();
}
END_TEST

START_TEST(memory_that_is_copied_into_is_nobody_else_s_until_the_copy_is_done)
{
    gate barrier;
    ctxrt_memory *next;
    start();
    ctxrt_stream *stream = enter(_i);
    ctxrt_memory *own = alloc_on(_i, SMALL), *to = alloc_on(1 - _i, SMALL);
    const void *pointer = at(to);
    cx_assert_ok(ctxrt_copy(at(own), pattern, SMALL, CTXRT_COPY_ANY));
    gate_close(&barrier, stream);
    cx_assert_ok(ctxrt_copy_async(at(to), at(own), SMALL, CTXRT_COPY_ANY, stream));
    release(to);
    next = alloc_on(1 - _i, SMALL);
    ck_assert_ptr_ne(at(next), pointer);
    cx_assert_ok(ctxrt_fill(at(next), 0x77, SMALL));
    gate_open(&barrier);
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    static unsigned char wanted[SMALL];
    memset(wanted, 0x77, SMALL);
    assert_holds(at(next), wanted, SMALL);
    release(next);
    release(own);
    leave(stream);
    cx_fixture_end();
}
END_TEST

/* The order of the stream keeps the memory for the copy. */
START_TEST(a_free_in_the_order_of_the_copy_s_stream_does_not_wait)
{
    gate barrier;
    void *pointer;
    start();
    ctxrt_stream *stream = enter(ON_CPU);
    ctxrt_memory *gpu = alloc_on(ON_GPU, SMALL);
    cx_assert_ok(ctxrt_alloc_async(SMALL, stream, &pointer));
    cx_assert_ok(ctxrt_copy_async(pointer, pattern, SMALL, CTXRT_COPY_ANY, stream));
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    gate_close(&barrier, stream);
    cx_assert_ok(ctxrt_copy_async(at(gpu), pointer, SMALL, CTXRT_COPY_ANY, stream));
    cx_assert_ok(ctxrt_free_async(pointer, stream));
    gate_open(&barrier);
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    assert_holds(at(gpu), pattern, SMALL);
    release(gpu);
    leave(stream);
    cx_fixture_end();
}
END_TEST

START_TEST(memory_is_freed_in_the_order_of_its_own_driver_s_streams_only)
{
    void *pointer;
    start();
    ctxrt_stream *stream = enter(ON_CPU), *other = enter(ON_GPU);
    cx_assert_ok(ctxrt_alloc_async(SMALL, stream, &pointer));
    cx_assert_error(ctxrt_free_async(pointer, other), CTXRT_ERROR_WRONG_CONTEXT);
    cx_assert_ok(ctxrt_fill(pointer, 1, SMALL));
    cx_assert_ok(ctxrt_free_async(pointer, stream));
    cx_assert_error(ctxrt_free(pointer), CTXRT_ERROR_INVALID_ARGUMENT);
    leave(other);
    leave(stream);
    cx_fixture_end();
}
END_TEST

/* ---- pages ---- */

enum { PAGE = 4096, PAGES = 3 };

static unsigned char *pages_of(ctxrt_memory *memory)
{
    return (unsigned char *)(((uintptr_t)at(memory) + PAGE - 1) / PAGE * PAGE);
}

/* Of the CPU's memory, which the GPUs' driver takes for the host's. */
START_TEST(pages_are_unpinned_while_a_copy_uses_others_beside_them)
{
    gate barrier;
    start();
    ctxrt_stream *stream = enter(ON_GPU);
    ctxrt_memory *gpu = alloc_on(ON_GPU, PAGE), *cpu = alloc_on(ON_CPU, (PAGES + 1) * PAGE);
    unsigned char *pages = pages_of(cpu);
    memcpy(pages + PAGE, pattern, PAGE);
    cx_assert_ok(ctxrt_host_register(pages, PAGE));
    cx_assert_ok(ctxrt_host_register(pages + 2 * PAGE, PAGE));
    gate_close(&barrier, stream);
    cx_assert_ok(ctxrt_copy_async(at(gpu), pages + PAGE, PAGE, CTXRT_COPY_ANY, stream));
    cx_assert_ok(ctxrt_host_unregister(pages));
    cx_assert_ok(ctxrt_host_unregister(pages + 2 * PAGE));
    gate_open(&barrier);
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    assert_holds(at(gpu), pattern, PAGE);
    release(gpu);
    release(cpu);
    leave(stream);
    cx_fixture_end();
}
END_TEST

static int kind_of(const void *pointer)
{
    ctxrt_pointer_info info;
    cx_assert_ok(ctxrt_pointer_query(pointer, &info));
    return info.known ? (int)info.kind : -1;
}

/* What one driver says of it would hide the other's. */
START_TEST(pages_that_are_the_cpu_s_or_pinned_by_it_are_not_registered_with_the_gpu_s_driver)
{
    void *raw, *pages = aligned_alloc(PAGE, PAGE);
    start();
    cx_assert_ok(ctxrt_device_push(CTXRT_CPU(0)));
    cx_assert_ok(ctxrt_host_register(pages, PAGE));
    cx_assert_ok(ctxrt_alloc(2 * CHUNK, &raw));
    cx_assert_ok(ctxrt_device_push(two_drivers_device(ON_GPU)));
    for (int i = 0; i < 2; i++) {
        cx_assert_error(ctxrt_host_register(pages, PAGE), CTXRT_ERROR_ALREADY);
        cx_assert_error(ctxrt_host_register(raw, PAGE), CTXRT_ERROR_ALREADY);
        ck_assert_int_eq(kind_of(raw), CTXRT_MEMORY_DEVICE);
    }
    cx_assert_ok(ctxrt_host_unregister(pages));
    ck_assert_int_eq(kind_of(pages), -1);
    cx_assert_ok(ctxrt_host_register(pages, PAGE));
    cx_assert_ok(ctxrt_host_unregister(pages));
    cx_assert_ok(ctxrt_free(raw));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stack_pop());
    free(pages);
    cx_fixture_end();
}
END_TEST

/* ---- what copies need ---- */

static cx_driver_table beneath[TWO_DRIVERS];
static atomic_long pins[TWO_DRIVERS], events[TWO_DRIVERS], streams[TWO_DRIVERS];

#define COUNTED(number)                                                                       \
    static cxu_result pin_##number(void **out, size_t bytes, unsigned int flags)              \
    {                                                                                         \
        atomic_fetch_add(&pins[number], 1);                                                   \
        return beneath[number].mem_host_alloc(out, bytes, flags);                             \
    }                                                                                         \
    static cxu_result unpin_##number(void *memory)                                            \
    {                                                                                         \
        atomic_fetch_sub(&pins[number], 1);                                                   \
        return beneath[number].mem_free_host(memory);                                         \
    }                                                                                         \
    static cxu_result make_event_##number(CUevent *out, unsigned int flags)                   \
    {                                                                                         \
        atomic_fetch_add(&events[number], 1);                                                 \
        return beneath[number].event_create(out, flags);                                      \
    }                                                                                         \
    static cxu_result end_event_##number(CUevent event)                                       \
    {                                                                                         \
        atomic_fetch_sub(&events[number], 1);                                                 \
        return beneath[number].event_destroy(event);                                          \
    }                                                                                         \
    static cxu_result make_stream_##number(CUstream *out, unsigned int flags)                 \
    {                                                                                         \
        atomic_fetch_add(&streams[number], 1);                                                \
        return beneath[number].stream_create(out, flags);                                     \
    }                                                                                         \
    static cxu_result end_stream_##number(CUstream stream)                                    \
    {                                                                                         \
        atomic_fetch_sub(&streams[number], 1);                                                \
        return beneath[number].stream_destroy(stream);                                        \
    }                                                                                         \
    static void count_##number(cx_driver_table *table)                                        \
    {                                                                                         \
        beneath[number] = *table;                                                             \
        table->mem_host_alloc = pin_##number;                                                 \
        table->mem_free_host = unpin_##number;                                                \
        table->event_create = make_event_##number;                                            \
        table->event_destroy = end_event_##number;                                            \
        table->stream_create = make_stream_##number;                                          \
        table->stream_destroy = end_stream_##number;                                          \
    }
COUNTED(0)
COUNTED(1)

static void copy_to_and_fro(int side, int rounds)
{
    ctxrt_stream *stream = enter(side);
    ctxrt_memory *cpu = alloc_on(ON_CPU, SMALL), *gpu = alloc_on(ON_GPU, SMALL);
    for (int i = 0; i < rounds; i++) {
        cx_assert_ok(ctxrt_copy_async(at(gpu), at(cpu), SMALL, CTXRT_COPY_ANY, stream));
        cx_assert_ok(ctxrt_stream_synchronize(stream));
        ck_assert_uint_eq(atomic_load(&cx_cross_copies_count), 1);
        cx_assert_ok(ctxrt_copy_async(at(cpu), at(gpu), SMALL, CTXRT_COPY_ANY, stream));
        cx_assert_ok(ctxrt_stream_synchronize(stream));
        ck_assert_uint_eq(atomic_load(&cx_cross_copies_count), 1);
    }
    release(cpu);
    release(gpu);
    leave(stream);
    for (int i = 0; i < TWO_DRIVERS; i++) { /* however many copies there were */
        ck_assert_int_le(atomic_load(&pins[i]), 1);
        ck_assert_int_le(atomic_load(&streams[i]), 2);
    }
}

/* What went with it is nobody's, or others' by then. */
static void assert_reset_takes_what_copies_needed(void)
{
    for (int side = 0; side < SIDES; side++)
        copy_to_and_fro(side, 1);
    for (int place = 0; place < SIDES; place++)
        cx_assert_ok(ctxrt_device_reset(two_drivers_device(place)));
    int pinned = 0;
    for (int i = 0; i < TWO_DRIVERS; i++) {
        pinned += atomic_load(&pins[i]);
        cx_assert_ok(ctxrt_device_release(two_drivers_device(i)));
        pinned -= atomic_load(&pins[i]);
    }
    ck_assert_int_eq(pinned, 0);
    ck_assert_int_gt(atomic_load(&pins[0]) + atomic_load(&pins[1]), 0);
}

/* Other code has the devices' primary contexts too, so that nothing goes with them. */
START_TEST(what_copies_needed_of_a_device_is_given_back_with_it)
{
    CUcontext native;
    start();
    for (int i = 0; i < TWO_DRIVERS; i++)
        ck_assert_int_eq(cx_drivers[i].table.primary_retain(&native, 0), CXU_SUCCESS);
    for (int place = 0; place < SIDES; place++) { /* in a later life of both */
        release(alloc_on(place, SMALL));
        cx_assert_ok(ctxrt_device_reset(two_drivers_device(place)));
    }
    count_0(&cx_drivers[0].table);
    count_1(&cx_drivers[1].table);
    for (int order = 0; order < 2; order++) {
        for (int side = 0; side < SIDES; side++)
            copy_to_and_fro(side, 4);
        cx_assert_ok(ctxrt_device_release(two_drivers_device(order)));
        cx_assert_ok(ctxrt_device_release(two_drivers_device(1 - order)));
        ck_assert_uint_eq(atomic_load(&cx_cross_copies_count), 0);
        for (int i = 0; i < TWO_DRIVERS; i++) {
            ck_assert_int_eq(atomic_load(&pins[i]), 0);
            ck_assert_int_eq(atomic_load(&events[i]), 0);
            ck_assert_int_eq(atomic_load(&streams[i]), 0);
        }
    }
    assert_reset_takes_what_copies_needed();
    for (int i = 0; i < TWO_DRIVERS; i++) {
        cx_drivers[i].table = beneath[i];
        ck_assert_int_eq(cx_drivers[i].table.primary_release(0), CXU_SUCCESS);
    }
    cx_fixture_end();
}
END_TEST

/* ---- errors ---- */

static void leave_an_error(void)
{
    cx_assert_error(ctxrt_device_push(CTXRT_CUDA(99)), CTXRT_ERROR_INVALID_DEVICE);
}

static void assert_error_is_left(void)
{
    ck_assert_int_eq(ctxrt_last_error()->status, CTXRT_ERROR_INVALID_DEVICE);
}

/* Where nobody but a waiting thread does the work, that thread's error is its own. */
START_TEST(a_copy_that_fails_leaves_the_last_error_of_the_thread_that_does_it)
{
    CUdeviceptr native;
    start_under("lazy");
    two_drivers_hold();
    ctxrt_stream *stream = enter(ON_CPU);
    ctxrt_memory *cpu = alloc_on(ON_CPU, SMALL);
    const cx_driver_table *gpus = &cx_drivers[1].table;
    ck_assert_int_eq(gpus->ctx_push(two_drivers_native(ON_GPU)), CXU_SUCCESS);
    ck_assert_int_eq(gpus->mem_alloc(&native, SMALL), CXU_SUCCESS);
    cx_assert_ok(
        ctxrt_copy_async(at(cpu), (void *)(uintptr_t)native, SMALL, CTXRT_COPY_ANY, stream));
    ck_assert_int_eq(gpus->mem_free(native), CXU_SUCCESS);
    leave_an_error();
    ck_assert_int_eq(cx_drivers[0].table.stream_synchronize(native_of(stream)), CXU_SUCCESS);
    assert_error_is_left();
    cx_assert_error(ctxrt_stream_synchronize(stream), CTXRT_ERROR_DRIVER);
    ck_assert_int_eq(gpus->ctx_pop(NULL), CXU_SUCCESS);
    release(cpu);
    leave(stream);
    two_drivers_let_go();
    cx_fixture_end();
}
END_TEST

START_TEST(a_reset_that_ends_a_copy_leaves_the_last_error)
{
    gate barrier;
    start();
    ctxrt_stream *stream = enter(_i);
    ctxrt_memory *cpu = alloc_on(ON_CPU, SMALL), *gpu = alloc_on(ON_GPU, SMALL);
    gate_close(&barrier, stream);
    cx_assert_ok(ctxrt_copy_async(at(gpu), at(cpu), SMALL, CTXRT_COPY_ANY, stream));
    leave_an_error();
    cx_assert_ok(ctxrt_device_reset(two_drivers_device(1 - _i)));
    assert_error_is_left();
    gate_open(&barrier);
    cx_assert_error(ctxrt_stream_synchronize(stream), CTXRT_ERROR_CONTEXT_DESTROYED);
    release(cpu);
    release(gpu);
    leave(stream);
    cx_fixture_end();
}
END_TEST

/* ---- without host functions, and of one driver's memory in the other's stream ---- */

static void write_pattern(void *memory)
{
    memcpy(memory, pattern, SMALL);
}

/* The driver reads host memory while the call is made: so the work before must be done. */
START_TEST(where_a_driver_has_no_host_functions_the_copy_comes_behind_the_work_before)
{
    start_under("lazy");
    ctxrt_stream *stream = enter(ON_GPU);
    ctxrt_memory *cpu = alloc_on(ON_CPU, SMALL), *gpu = alloc_on(ON_GPU, SMALL);
    memset(at(cpu), 0, SMALL);
    cx_assert_ok(ctxrt_stream_add_host_function(stream, write_pattern, at(cpu)));
    cx_drivers[1].missing[CX_SLOT_launch_host_func] = true;
    cx_assert_ok(ctxrt_copy_async(at(gpu), at(cpu), SMALL, CTXRT_COPY_ANY, stream));
    cx_drivers[1].missing[CX_SLOT_launch_host_func] = false;
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    assert_holds(at(gpu), pattern, SMALL);
    release(cpu);
    release(gpu);
    leave(stream);
    cx_fixture_end();
}
END_TEST

START_TEST(a_fill_of_the_other_driver_s_memory_comes_behind_the_work_of_the_stream)
{
    start_under("lazy");
    ctxrt_stream *stream = enter(ON_GPU);
    ctxrt_memory *cpu = alloc_on(ON_CPU, SMALL);
    cx_assert_ok(ctxrt_stream_add_host_function(stream, write_pattern, at(cpu)));
    cx_assert_ok(ctxrt_fill_async(at(cpu), 0x5a, SMALL, stream));
    memset(seen, 0x5a, SMALL);
    ck_assert_int_eq(memcmp(at(cpu), seen, SMALL), 0);
    release(cpu);
    leave(stream);
    cx_fixture_end();
}
END_TEST

/* Not even for those that the default stream waits for. */
START_TEST(a_copy_in_a_stream_of_the_cpu_s_does_not_wait_for_the_gpu_s_streams)
{
    gate held;
    start();
    ctxrt_stream *stream = enter(ON_CPU);
    ctxrt_memory *cpu = alloc_on(ON_CPU, SMALL), *gpu = alloc_on(ON_GPU, SMALL);
    cx_assert_ok(ctxrt_copy(at(gpu), pattern, SMALL, CTXRT_COPY_ANY));
    cx_assert_ok(ctxrt_device_push(two_drivers_device(ON_GPU)));
    ctxrt_stream *other = create_stream(CTXRT_STREAM_DEFAULT);
    gate_close(&held, other);
    cx_assert_ok(ctxrt_copy_async(at(cpu), at(gpu), SMALL, CTXRT_COPY_ANY, stream));
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    ck_assert_int_eq(memcmp(at(cpu), pattern, SMALL), 0);
    gate_open(&held);
    cx_assert_ok(ctxrt_stream_destroy(other));
    cx_assert_ok(ctxrt_stack_pop());
    release(cpu);
    release(gpu);
    leave(stream);
    cx_fixture_end();
}
END_TEST

static Suite *staged_memory_suite(void)
{
    Suite *suite = suite_create("copies between two drivers, and memory");
    TCase *freeing = tcase_create("freeing");
    tcase_add_loop_test(freeing, a_thread_is_after_each_call_as_it_was_before, 0, 2 * SIDES);
    tcase_add_loop_test(freeing, memory_of_every_other_kind_is_not_freed_before_the_copy_is_done, 0,
                        2 * SIDES * WAYS);
    tcase_add_loop_test(freeing, memory_that_is_copied_into_is_nobody_else_s_until_the_copy_is_done,
                        0, SIDES);
    tcase_add_test(freeing, a_free_in_the_order_of_the_copy_s_stream_does_not_wait);
    tcase_add_test(freeing, memory_is_freed_in_the_order_of_its_own_driver_s_streams_only);
    tcase_add_test(freeing, pages_are_unpinned_while_a_copy_uses_others_beside_them);
    tcase_add_test(
        freeing,
        pages_that_are_the_cpu_s_or_pinned_by_it_are_not_registered_with_the_gpu_s_driver);
    tcase_add_test(freeing, what_copies_needed_of_a_device_is_given_back_with_it);
    suite_add_tcase(suite, freeing);

    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, a_copy_that_fails_leaves_the_last_error_of_the_thread_that_does_it);
    tcase_add_loop_test(errors, a_reset_that_ends_a_copy_leaves_the_last_error, 0, SIDES);
    suite_add_tcase(suite, errors);

    TCase *order = tcase_create("order");
    tcase_add_test(order,
                   where_a_driver_has_no_host_functions_the_copy_comes_behind_the_work_before);
    tcase_add_test(order, a_copy_in_a_stream_of_the_cpu_s_does_not_wait_for_the_gpu_s_streams);
    tcase_add_test(
        order, a_fill_of_the_other_driver_s_memory_comes_behind_the_work_of_the_stream);
    suite_add_tcase(suite, order);
    return suite;
}

CX_TESTS(staged_memory_suite);
