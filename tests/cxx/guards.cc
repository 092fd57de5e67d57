/* Every guard of ctxrt.hpp over the embedded driver: how each ends, moves, and reports. Speaks TAP.
 */
#include <ctxrt/ctxrt.hpp>

#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

static int tests, failures;

static void report(bool holds, const char *what)
{
    failures += !holds;
    std::printf("%sok %d - %s\n", holds ? "" : "not ", ++tests, what);
    if (!holds)
        std::printf("# last error: %s\n", ctxrt_last_error()->message);
}

static const char kernel[] = ".version 7.0\n.target sm_50\n.address_size 64\n"
                             ".visible .entry nothing()\n{\n    ret;\n}\n";

/* The runtime refuses to end while an object of its user is left. */
static bool nothing_is_left()
{
    return ctxrt_stack_depth() == 0 && ctxrt_shutdown() == CTXRT_SUCCESS;
}

template <typename Guard> static constexpr bool is_one_handle_that_moves()
{
    return !std::is_copy_constructible_v<Guard> && !std::is_copy_assignable_v<Guard> &&
           std::is_nothrow_move_constructible_v<Guard> &&
           std::is_nothrow_move_assignable_v<Guard> &&
           std::is_nothrow_default_constructible_v<Guard> && sizeof(Guard) == sizeof(void *);
}
static_assert(is_one_handle_that_moves<ctxrt::context>());
static_assert(is_one_handle_that_moves<ctxrt::retained_context>());
static_assert(is_one_handle_that_moves<ctxrt::stream>());
static_assert(is_one_handle_that_moves<ctxrt::event>());
static_assert(is_one_handle_that_moves<ctxrt::memory>());
static_assert(is_one_handle_that_moves<ctxrt::graph>());
static_assert(is_one_handle_that_moves<ctxrt::module>());
static_assert(sizeof(ctxrt::scope) == sizeof(ctxrt_scope));
static_assert(!std::is_copy_constructible_v<ctxrt::scope> &&
              !std::is_copy_assignable_v<ctxrt::scope>);
static_assert(std::is_nothrow_move_constructible_v<ctxrt::scope>);
static_assert(std::is_nothrow_move_assignable_v<ctxrt::scope>);

/* Moves between guards, into themselves and out of them; the object lives until the last one ends.
 */
template <typename Guard, typename End> static bool moves(Guard first, End end)
{
    auto *const handle = first.get();
    Guard second(std::move(first));
    bool holds = !first && second && second.get() == handle;
    Guard third;
    third = std::move(second);
    holds = holds && !second && third.get() == handle;
    Guard &same = third;
    third = std::move(same);
    holds = holds && third.get() == handle;
    swap(first, third);
    holds = holds && first.get() == handle && !third;
    Guard adopted(ctxrt::adopt, first.disown());
    return holds && !first && adopted.get() == handle && end(adopted) == CTXRT_SUCCESS && !adopted;
}

static ctxrt::memory allocated()
{
    ctxrt::memory memory;
    if (memory.alloc(64) != CTXRT_SUCCESS)
        return {};
    return memory;
}

static bool captured(ctxrt::graph &graph)
{
    ctxrt::stream stream;
    return stream.create(CTXRT_STREAM_NON_BLOCKING) == CTXRT_SUCCESS &&
           ctxrt_stream_capture_begin(stream.get(), CTXRT_CAPTURE_RELAXED) == CTXRT_SUCCESS &&
           graph.capture_end(stream.get()) == CTXRT_SUCCESS;
}

static void test_moves()
{
    {
        ctxrt::scope scope;
        ctxrt::context context;
        ctxrt::retained_context retained;
        ctxrt::stream stream;
        ctxrt::event event;
        ctxrt::graph graph;
        ctxrt::module module;
        report(scope.enter(CTXRT_CUDA(0)) == CTXRT_SUCCESS, "a_scope_is_entered");
        report(stream.create() == CTXRT_SUCCESS &&
                   moves(std::move(stream), [](auto &guard) { return guard.destroy(); }),
               "a_stream_moves");
        report(event.create() == CTXRT_SUCCESS &&
                   moves(std::move(event), [](auto &guard) { return guard.destroy(); }),
               "an_event_moves");
        report(moves(allocated(), [](auto &guard) { return guard.release(); }), "memory_moves");
        report(captured(graph) &&
                   moves(std::move(graph), [](auto &guard) { return guard.release(); }),
               "a_graph_moves");
        report(module.load(kernel, sizeof kernel) == CTXRT_SUCCESS &&
                   moves(std::move(module), [](auto &guard) { return guard.unload(); }),
               "a_module_moves");
        report(context.create(CTXRT_CUDA(1)) == CTXRT_SUCCESS &&
                   moves(std::move(context), [](auto &guard) { return guard.destroy(); }),
               "a_context_moves");
        report(retained.retain_primary(CTXRT_CUDA(1)) == CTXRT_SUCCESS &&
                   moves(std::move(retained), [](auto &guard) { return guard.release(); }),
               "a_retained_context_moves");
    }
    report(nothing_is_left(), "and_each_is_given_back_once");
}

static void test_scopes()
{
    {
        ctxrt::scope outer, inner;
        bool holds = !outer && outer.enter(CTXRT_CUDA(0)) == CTXRT_SUCCESS && outer &&
                     outer.enter(CTXRT_CUDA(1)) == CTXRT_ERROR_INVALID_ARGUMENT;
        report(holds && ctxrt_stack_depth() == 1, "a_scope_that_is_open_is_not_entered_again");
        ctxrt::scope moved(std::move(outer));
        holds = !outer && moved && ctxrt_stack_depth() == 1 && outer.leave() == CTXRT_SUCCESS;
        report(holds && ctxrt_stack_depth() == 1, "a_scope_that_was_moved_from_leaves_nothing");
        ctxrt::scope &same = moved;
        moved = std::move(same);
        report(moved && ctxrt_stack_depth() == 1, "a_scope_moved_into_itself_stays_open");
        holds = inner.enter(CTXRT_CUDA(1)) == CTXRT_SUCCESS && ctxrt_stack_depth() == 2;
        inner = ctxrt::scope();
        report(holds && !inner && ctxrt_stack_depth() == 1,
               "a_scope_that_is_assigned_to_is_left_first");
        ctxrt_device device;
        holds = ctxrt_device_push(CTXRT_CUDA(2)) == CTXRT_SUCCESS &&
                moved.leave() == CTXRT_ERROR_STACK_LEFTOVER && !moved;
        report(holds && ctxrt_device_get(&device) == CTXRT_ERROR_NO_DEVICE,
               "leave_reports_what_was_left");
    }
    {
        ctxrt::context context;
        ctxrt::scope scope;
        bool holds = context.create(CTXRT_CUDA(1)) == CTXRT_SUCCESS &&
                     scope.enter(context.get()) == CTXRT_SUCCESS;
        report(holds && context.destroy() == CTXRT_ERROR_IN_USE && context,
               "a_context_in_use_is_kept");
        report(scope.leave() == CTXRT_SUCCESS && context.destroy() == CTXRT_SUCCESS && !context,
               "and_can_be_destroyed_later");
    }
    report(nothing_is_left(), "no_scope_leaves_anything");
}

static ctxrt_status returns_early(int step)
{
    ctxrt::scope scope;
    if (ctxrt_status status = scope.enter(CTXRT_CUDA(step == 0 ? 99 : 0)))
        return status;
    ctxrt::stream stream;
    if (ctxrt_status status = stream.create(step == 1 ? 99 : CTXRT_STREAM_DEFAULT))
        return status;
    ctxrt::memory memory;
    if (ctxrt_status status = memory.alloc(step == 2 ? 0 : 64))
        return status;
    ctxrt::event event;
    return event.create(step == 3 ? 99 : CTXRT_EVENT_DEFAULT);
}

static void test_early_returns()
{
    bool holds = returns_early(0) == CTXRT_ERROR_INVALID_DEVICE;
    for (int step = 1; step <= 3; step++)
        holds = holds && returns_early(step) == CTXRT_ERROR_INVALID_ARGUMENT;
    report(holds && returns_early(4) == CTXRT_SUCCESS, "a_failed_call_returns_its_status");
    report(nothing_is_left(), "an_early_return_leaves_nothing");
}

static void test_release_errors()
{
    {
        ctxrt::scope scope;
        ctxrt::stream stream;
        bool holds = scope.enter(CTXRT_CUDA(0)) == CTXRT_SUCCESS &&
                     stream.create() == CTXRT_SUCCESS &&
                     ctxrt_frame_set_stream(stream.get()) == CTXRT_SUCCESS;
        ctxrt_stream *const handle = stream.get();
        report(holds && stream.destroy() == CTXRT_ERROR_IN_USE && stream.get() == handle,
               "a_stream_in_use_is_kept");
        {
            ctxrt::stream dropped(std::move(stream));
        }
        report(ctxrt_last_error()->status == CTXRT_ERROR_IN_USE,
               "the_error_of_a_destructor_is_the_threads_last_error");
        holds = ctxrt_frame_set_stream(nullptr) == CTXRT_SUCCESS &&
                ctxrt_stream_query(handle) == CTXRT_SUCCESS;
        report(holds, "what_a_destructor_could_not_give_back_is_alive");
        stream = ctxrt::stream(ctxrt::adopt, handle);
        report(stream.destroy() == CTXRT_SUCCESS && !stream && stream.destroy() == CTXRT_SUCCESS,
               "and_an_empty_guard_has_nothing_to_destroy");

        ctxrt::memory memory = allocated();
        ctxrt_memory *const stale = memory.get();
        holds = memory && memory.release() == CTXRT_SUCCESS && !memory;
        memory = ctxrt::memory(ctxrt::adopt, stale);
        report(holds && memory.release() == CTXRT_ERROR_INVALID_HANDLE && !memory,
               "a_stale_handle_is_dropped");

        ctxrt::event event;
        holds = event.create() == CTXRT_SUCCESS;
        ctxrt_event *const before = event.get();
        report(holds && event.create(99) == CTXRT_ERROR_INVALID_ARGUMENT && event.get() == before,
               "a_failed_create_leaves_the_guard_as_it_was");
        report(event.create() == CTXRT_SUCCESS && event.get() != before &&
                   ctxrt_event_query(before) == CTXRT_ERROR_INVALID_HANDLE,
               "a_second_create_gives_the_first_object_back");
        ctxrt_event *const old = event.get();
        ctxrt::event other;
        holds = other.create() == CTXRT_SUCCESS;
        event = std::move(other);
        report(holds && event && !other && event.get() != old &&
                   ctxrt_event_query(old) == CTXRT_ERROR_INVALID_HANDLE,
               "and_so_does_a_move_into_a_guard");
    }
    report(nothing_is_left(), "release_errors_leave_nothing");
}

static void test_counts()
{
    {
        ctxrt::scope scope;
        ctxrt::memory one, other, host, pinned;
        ctxrt::graph graph, clone, third;
        bool holds = scope.enter(CTXRT_CUDA(0)) == CTXRT_SUCCESS &&
                     one.alloc(64) == CTXRT_SUCCESS && one.retain(other) == CTXRT_SUCCESS &&
                     one.get() == other.get() && one.release() == CTXRT_SUCCESS;
        report(holds && other.pointer() != nullptr && one.pointer() == nullptr &&
                   one.retain(other) == CTXRT_ERROR_NULL_POINTER && other,
               "memory_has_a_count_for_each_guard");
        holds = host.alloc_host(64) == CTXRT_SUCCESS && pinned.alloc_pinned(64) == CTXRT_SUCCESS;
        std::memset(host.pointer(), 7, 64);
        holds = holds &&
                ctxrt_copy(other.pointer(), host.pointer(), 64, CTXRT_COPY_ANY) == CTXRT_SUCCESS &&
                ctxrt_copy(pinned.pointer(), other.pointer(), 64, CTXRT_COPY_ANY) == CTXRT_SUCCESS;
        report(holds && std::memcmp(pinned.pointer(), host.pointer(), 64) == 0,
               "guards_of_memory_are_used_by_the_c_api");
        holds = captured(graph) && ctxrt_graph_clone(graph.get(), clone.out()) == CTXRT_SUCCESS &&
                clone.get() != graph.get() && graph.retain(third) == CTXRT_SUCCESS &&
                third.get() == graph.get();
        report(holds && ctxrt_graph_launch(clone.get(), nullptr) == CTXRT_SUCCESS &&
                   ctxrt_stream_synchronize(nullptr) == CTXRT_SUCCESS,
               "out_takes_what_a_c_function_makes");
    }
    report(nothing_is_left(), "counts_leave_nothing");
}

static void test_threads()
{
    ctxrt::scope scope;
    ctxrt_status wrong = CTXRT_SUCCESS, last = CTXRT_SUCCESS;
    bool still_open = false, empty = false;
    {
        ctxrt::context context;
        ctxrt::stream stream;
        ctxrt::event event;
        ctxrt::memory memory;
        ctxrt::graph graph;
        ctxrt::module module;
        report(context.create(CTXRT_CUDA(1)) == CTXRT_SUCCESS &&
                   scope.enter(CTXRT_CUDA(0)) == CTXRT_SUCCESS &&
                   stream.create() == CTXRT_SUCCESS && event.create() == CTXRT_SUCCESS &&
                   memory.alloc(64) == CTXRT_SUCCESS && captured(graph) &&
                   module.load(kernel, 0) == CTXRT_SUCCESS,
               "one_thread_makes_objects");
        std::thread([&, context = std::move(context), stream = std::move(stream),
                     event = std::move(event), memory = std::move(memory), graph = std::move(graph),
                     module = std::move(module)]() mutable {
            wrong = scope.leave();
            still_open = static_cast<bool>(scope);
            {
                ctxrt::scope other(std::move(scope));
            }
            last = ctxrt_last_error()->status;
            empty = !scope;
        }).join();
    }
    report(wrong == CTXRT_ERROR_WRONG_THREAD && still_open, "another_thread_cannot_leave_a_scope");
    report(last == CTXRT_ERROR_WRONG_THREAD && empty && ctxrt_stack_depth() == 1,
           "a_scope_destroyed_on_another_thread_leaves_its_frame");
    ctxrt::scope later;
    report(later.enter(CTXRT_CUDA(1)) == CTXRT_SUCCESS && later.leave() == CTXRT_SUCCESS &&
               ctxrt_stack_depth() == 1,
           "a_later_scope_does_not_take_it_along");
    std::thread([] {
        ctxrt::scope outer;
        ctxrt::scope *inner = new ctxrt::scope;
        bool holds = outer.enter(CTXRT_CUDA(0)) == CTXRT_SUCCESS &&
                     inner->enter(CTXRT_CUDA(1)) == CTXRT_SUCCESS;
        std::thread([inner] { delete inner; }).join();
        report(holds && ctxrt_stack_depth() == 2 && outer.leave() == CTXRT_ERROR_STACK_LEFTOVER &&
                   ctxrt_stack_depth() == 0,
               "an_outer_scope_takes_it_along");
    }).join();
}

#if CTXRT_THROWS
template <typename Function> static bool throws(ctxrt_status status, Function function)
{
    try {
        function();
    } catch (const ctxrt::error &caught) {
        return caught.status() == status && caught.what()[0] != '\0';
    }
    return false;
}

static void test_exceptions()
{
    report(throws(CTXRT_ERROR_INVALID_DEVICE, [] { ctxrt::scope scope(CTXRT_CUDA(99)); }) &&
               throws(CTXRT_ERROR_NO_DEVICE, [] { ctxrt::stream stream(CTXRT_STREAM_DEFAULT); }) &&
               throws(CTXRT_ERROR_NO_DEVICE, [] { ctxrt::event event(CTXRT_EVENT_DEFAULT); }) &&
               throws(CTXRT_ERROR_NO_DEVICE, [] { ctxrt::memory memory(64); }) &&
               throws(CTXRT_ERROR_NO_DEVICE, [] { ctxrt::module module(kernel, sizeof kernel); }) &&
               throws(CTXRT_ERROR_INVALID_DEVICE, [] { ctxrt::context context(CTXRT_CUDA(99)); }) &&
               throws(CTXRT_ERROR_INVALID_DEVICE,
                      [] { ctxrt::retained_context context(CTXRT_CUDA(99)); }) &&
               throws(CTXRT_ERROR_NULL_POINTER,
                      [] { ctxrt::scope scope(static_cast<ctxrt_context *>(nullptr)); }),
           "constructors_throw_the_status");

    std::string message, last;
    bool caught = false;
    try {
        ctxrt::scope scope(CTXRT_CUDA(0));
        ctxrt::context context(CTXRT_CUDA(1));
        ctxrt::scope inner(context.get());
        ctxrt::stream stream(CTXRT_STREAM_NON_BLOCKING);
        ctxrt::event event(CTXRT_EVENT_DEFAULT);
        ctxrt::memory memory(64);
        ctxrt::module module(kernel, sizeof kernel);
        ctxrt::graph graph;
        ctxrt::check(ctxrt_device_push(CTXRT_CUDA(2)));
        /* Its destructor fails while the exception is on its way. */
        ctxrt::check(ctxrt_frame_set_stream(nullptr));
        ctxrt::memory stale(ctxrt::adopt, memory.get());
        ctxrt::check(ctxrt_memory_alloc(0, memory.out()));
    } catch (const ctxrt::error &thrown) {
        caught = thrown.status() == CTXRT_ERROR_INVALID_ARGUMENT;
        message = thrown.what();
        last = ctxrt_last_error()->message;
    }
    report(caught && ctxrt_stack_depth() == 0, "an_exception_leaves_every_scope");
    report(!message.empty() && message != last, "an_exception_keeps_its_message");

    ctxrt::error known(CTXRT_ERROR_FORKED);
    report(std::string(known.what()) == ctxrt_status_text(CTXRT_ERROR_FORKED) &&
               known.driver_result() == 0,
           "an_error_that_is_not_the_last_one_has_the_text_of_its_status");
    report(nothing_is_left(), "exceptions_leave_nothing");
}
#else
static void test_exceptions()
{
}
#endif

int main()
{
    test_moves();
    test_scopes();
    test_early_returns();
    test_release_errors();
    test_counts();
    std::thread(test_threads).join();
    report(nothing_is_left(), "threads_leave_nothing");
    test_exceptions();
    std::printf("1..%d\n", tests);
    return 0;
}
