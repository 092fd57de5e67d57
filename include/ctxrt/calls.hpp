/**
 * C++17: the calls of ctxrt as functions that throw ctxrt::error and return what the C functions
 * write to out-parameters. Include ctxrt/ctxrt.hpp.
 *
 * Each does what the C function of its comment does, with the errors that are described there. A
 * stream_ref of {} is the current stream, an allocator_ref of {} the allocator of the top frame.
 */
#ifndef CTXRT_CALLS_HPP
#define CTXRT_CALLS_HPP

#include <ctxrt/guard.hpp>

#if CTXRT_THROWS

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace ctxrt
{

using device = ctxrt_device;
using device_info = ctxrt_device_info;

namespace detail
{

/* Returns what a call of the C API writes to its out-parameter. */
template <typename Value, typename Call> Value value_of(Call call)
{
    Value value{};
    check(call(&value));
    return value;
}

/* Returns the text that a call of the C API writes to a file. */
template <typename Call> std::string text_of(Call call)
{
    char *bytes = nullptr;
    std::size_t size = 0;
    std::FILE *file = open_memstream(&bytes, &size);
    if (file == nullptr)
        throw error(CTXRT_ERROR_OUT_OF_MEMORY, "the host has no memory for the text");
    const ctxrt_status status = call(file);
    const bool closed = std::fclose(file) == 0;
    std::string text;
    try {
        text.assign(bytes, closed ? size : 0);
    } catch (...) {
        std::free(bytes);
        throw;
    }
    std::free(bytes);
    check(status);
    if (!closed)
        throw error(CTXRT_ERROR_OUT_OF_MEMORY, "the host has no memory for the text");
    return text;
}

} // namespace detail

/* ---- the runtime ---- */

/** As ctxrt_init. */
inline void init(const ctxrt_options &options)
{
    check(ctxrt_init(&options));
}

/** As ctxrt_shutdown. */
inline void shutdown()
{
    check(ctxrt_shutdown());
}

/** As ctxrt_drivers. */
inline std::vector<ctxrt_driver_info> drivers()
{
    std::size_t count = 0;
    check(ctxrt_drivers(0, nullptr, &count));
    std::vector<ctxrt_driver_info> found(count);
    check(ctxrt_drivers(found.size(), found.data(), &count));
    return found;
}

/* ---- devices ---- */

inline constexpr device cuda(int index) noexcept
{
    return {CTXRT_DEVICE_CUDA, index};
}

inline constexpr device cpu() noexcept
{
    return {CTXRT_DEVICE_CPU, 0};
}

/** "cuda:1". */
inline std::string name(device of)
{
    return ctxrt_device_type_name(of.type) + (':' + std::to_string(of.index));
}

/** As ctxrt_device_count. */
inline int device_count(ctxrt_device_type type = CTXRT_DEVICE_CUDA)
{
    return detail::value_of<int>([&](int *out) { return ctxrt_device_count(type, out); });
}

/** As ctxrt_device_properties. */
inline device_info properties(device of)
{
    return detail::value_of<device_info>(
        [&](device_info *out) { return ctxrt_device_properties(of, out); });
}

struct memory_room {
    std::size_t free_bytes, total_bytes;
};

/** As ctxrt_device_memory_info. */
inline memory_room room(device of)
{
    memory_room found{};
    check(ctxrt_device_memory_info(of, &found.free_bytes, &found.total_bytes));
    return found;
}

/** As ctxrt_device_set; the frame keeps the place of the call. */
inline void set_device(device to, const char *file = CTXRT_CALLER_FILE,
                       int line = CTXRT_CALLER_LINE)
{
    check(ctxrt_device_set_at(to, file, line));
}

/** As ctxrt_device_push; the frame keeps the place of the call. */
inline void push_device(device to, const char *file = CTXRT_CALLER_FILE,
                        int line = CTXRT_CALLER_LINE)
{
    check(ctxrt_device_push_at(to, file, line));
}

/** As ctxrt_device_get. */
inline device current_device()
{
    return detail::value_of<device>([](device *out) { return ctxrt_device_get(out); });
}

/** As ctxrt_device_synchronize. */
inline void synchronize_device()
{
    check(ctxrt_device_synchronize());
}

/** As ctxrt_device_release. */
inline void release_device(device of)
{
    check(ctxrt_device_release(of));
}

/** As ctxrt_device_reset. */
inline void reset_device(device of)
{
    check(ctxrt_device_reset(of));
}

/** As ctxrt_device_can_access_peer. */
inline bool can_access_peer(device from, device peer)
{
    return detail::value_of<int>(
               [&](int *out) { return ctxrt_device_can_access_peer(from, peer, out); }) != 0;
}

/** As ctxrt_device_enable_peer. */
inline void enable_peer(device peer)
{
    check(ctxrt_device_enable_peer(peer));
}

/** As ctxrt_device_disable_peer. */
inline void disable_peer(device peer)
{
    check(ctxrt_device_disable_peer(peer));
}

/* ---- the stack ---- */

/** As ctxrt_stack_push; the frame keeps the place of the call. */
inline void push(const context &made, const char *file = CTXRT_CALLER_FILE,
                 int line = CTXRT_CALLER_LINE)
{
    check(ctxrt_stack_push_at(made.get(), file, line));
}

/** As ctxrt_stack_push; the frame keeps the place of the call. */
inline void push(const retained_context &made, const char *file = CTXRT_CALLER_FILE,
                 int line = CTXRT_CALLER_LINE)
{
    check(ctxrt_stack_push_at(made.get(), file, line));
}

/** As ctxrt_stack_pop. */
inline void pop()
{
    check(ctxrt_stack_pop());
}

/** As ctxrt_stack_depth. */
inline std::size_t depth() noexcept
{
    return ctxrt_stack_depth();
}

/** As ctxrt_stack_peek: level 0 is the top. */
inline ctxrt_frame_info peek(std::size_t level = 0)
{
    return detail::value_of<ctxrt_frame_info>(
        [&](ctxrt_frame_info *out) { return ctxrt_stack_peek(level, out); });
}

/** As ctxrt_stack_resync. */
inline ctxrt_resync_report resync()
{
    return detail::value_of<ctxrt_resync_report>(
        [](ctxrt_resync_report *out) { return ctxrt_stack_resync(out); });
}

/** As ctxrt_frame_set_stream: {} goes back to the thread's default stream. */
inline void set_frame_stream(stream_ref stream)
{
    check(ctxrt_frame_set_stream(stream.get()));
}

/** As ctxrt_frame_set_allocator: {} goes back to the context's default allocator. */
inline void set_frame_allocator(allocator_ref allocator)
{
    check(ctxrt_frame_set_allocator(allocator.get()));
}

/** As ctxrt_snapshot_write. */
inline std::string snapshot(ctxrt_snapshot_format format = CTXRT_SNAPSHOT_TEXT)
{
    return detail::text_of([&](std::FILE *file) { return ctxrt_snapshot_write(file, format); });
}

/* ---- memory ---- */

/** As ctxrt_memory_describe. */
inline ctxrt_memory_info describe(const memory &of)
{
    return detail::value_of<ctxrt_memory_info>(
        [&](ctxrt_memory_info *out) { return ctxrt_memory_describe(of.get(), out); });
}

/** As ctxrt_memory_record_stream. */
inline void record_stream(const memory &used, stream_ref by = {})
{
    check(ctxrt_memory_record_stream(used.get(), by.get()));
}

/** As ctxrt_memory_report_write. */
inline std::string memory_report()
{
    return detail::text_of([](std::FILE *file) { return ctxrt_memory_report_write(file); });
}

/** As ctxrt_pointer_query. */
inline ctxrt_pointer_info query(const void *pointer)
{
    return detail::value_of<ctxrt_pointer_info>(
        [&](ctxrt_pointer_info *out) { return ctxrt_pointer_query(pointer, out); });
}

/** As ctxrt_copy. */
inline void copy(void *destination, const void *source, std::size_t size_bytes,
                 ctxrt_copy_kind kind = CTXRT_COPY_ANY)
{
    check(ctxrt_copy(destination, source, size_bytes, kind));
}

/** As ctxrt_copy_async. */
inline void copy_async(void *destination, const void *source, std::size_t size_bytes,
                       ctxrt_copy_kind kind = CTXRT_COPY_ANY, stream_ref stream = {})
{
    check(ctxrt_copy_async(destination, source, size_bytes, kind, stream.get()));
}

/** As ctxrt_copy_2d. */
inline void copy_2d(const ctxrt_copy_region &region)
{
    check(ctxrt_copy_2d(&region));
}

/** As ctxrt_copy_2d_async. */
inline void copy_2d_async(const ctxrt_copy_region &region, stream_ref stream = {})
{
    check(ctxrt_copy_2d_async(&region, stream.get()));
}

/** As ctxrt_copy_3d. */
inline void copy_3d(const ctxrt_copy_region &region)
{
    check(ctxrt_copy_3d(&region));
}

/** As ctxrt_copy_3d_async. */
inline void copy_3d_async(const ctxrt_copy_region &region, stream_ref stream = {})
{
    check(ctxrt_copy_3d_async(&region, stream.get()));
}

/** As ctxrt_copy_peer. */
inline void copy_peer(void *destination, device destination_device, const void *source,
                      device source_device, std::size_t size_bytes, stream_ref stream = {})
{
    check(ctxrt_copy_peer(destination, destination_device, source, source_device, size_bytes,
                          stream.get()));
}

/** As ctxrt_fill. */
inline void fill(void *destination, int value, std::size_t size_bytes)
{
    check(ctxrt_fill(destination, value, size_bytes));
}

/** As ctxrt_fill_async. */
inline void fill_async(void *destination, int value, std::size_t size_bytes, stream_ref stream = {})
{
    check(ctxrt_fill_async(destination, value, size_bytes, stream.get()));
}

/* ---- allocators ---- */

/** As ctxrt_allocator_statistics. */
inline ctxrt_allocator_figures statistics(allocator_ref of = {})
{
    return detail::value_of<ctxrt_allocator_figures>(
        [&](ctxrt_allocator_figures *out) { return ctxrt_allocator_statistics(of.get(), out); });
}

/** As ctxrt_allocator_describe. */
inline ctxrt_allocator_info describe(allocator_ref of)
{
    ctxrt_allocator_info found = CTXRT_ALLOCATOR_INFO_INIT;
    check(ctxrt_allocator_describe(of.get(), &found));
    return found;
}

/** As ctxrt_allocator_set_limit. */
inline void set_limit(allocator_ref of, std::uint64_t limit_bytes)
{
    check(ctxrt_allocator_set_limit(of.get(), limit_bytes));
}

/** As ctxrt_allocator_trim: returns the bytes that went back to the driver. */
inline std::uint64_t trim(allocator_ref of = {})
{
    return detail::value_of<std::uint64_t>(
        [&](std::uint64_t *out) { return ctxrt_allocator_trim(of.get(), out); });
}

/** As ctxrt_allocator_check: throws CTXRT_ERROR_CORRUPTED for damaged memory. */
inline void check_memory(allocator_ref of = {})
{
    check(ctxrt_allocator_check(of.get()));
}

/** As ctxrt_allocator_snapshot_write. */
inline std::string snapshot(allocator_ref of, ctxrt_snapshot_format format = CTXRT_SNAPSHOT_TEXT)
{
    return detail::text_of(
        [&](std::FILE *file) { return ctxrt_allocator_snapshot_write(of.get(), file, format); });
}

/* ---- streams and events ---- */

/** As ctxrt_stream_synchronize. */
inline void synchronize(stream_ref stream = {})
{
    check(ctxrt_stream_synchronize(stream.get()));
}

/** As ctxrt_event_synchronize. */
inline void synchronize(const event &done)
{
    check(ctxrt_event_synchronize(done.get()));
}

namespace detail
{
inline bool is_ready(ctxrt_status status)
{
    if (status != CTXRT_ERROR_NOT_READY)
        check(status);
    return status == CTXRT_SUCCESS;
}
} // namespace detail

/** As ctxrt_stream_query: false while there is work to do. */
inline bool is_ready(stream_ref stream = {})
{
    return detail::is_ready(ctxrt_stream_query(stream.get()));
}

/** As ctxrt_event_query: false while the work before the event is not done. */
inline bool is_ready(const event &done)
{
    return detail::is_ready(ctxrt_event_query(done.get()));
}

/** As ctxrt_event_record. */
inline void record(const event &at, stream_ref stream = {})
{
    check(ctxrt_event_record(at.get(), stream.get()));
}

/** As ctxrt_stream_wait_event. */
inline void wait(const event &recorded, stream_ref stream = {})
{
    check(ctxrt_stream_wait_event(stream.get(), recorded.get()));
}

/** As ctxrt_event_elapsed_ms. */
inline float elapsed_ms(const event &start, const event &end)
{
    return detail::value_of<float>(
        [&](float *out) { return ctxrt_event_elapsed_ms(start.get(), end.get(), out); });
}

/**
 * As ctxrt_stream_add_host_function: the stream calls function(). It is borrowed: keep it alive
 * until the stream has called it, or as long as the graph that captured it. It must not throw, and
 * must make no call that gives work to a driver.
 */
template <typename Function> void host_function(Function &function, stream_ref stream = {})
{
    check(ctxrt_stream_add_host_function(
        stream.get(), [](void *borrowed) noexcept { (*static_cast<Function *>(borrowed))(); },
        &function));
}

/* ---- kernels ---- */

/** As ctxrt_module_get_kernel. */
inline kernel get_kernel(const module &of, const char *name)
{
    return kernel(detail::value_of<ctxrt_kernel *>(
        [&](ctxrt_kernel **out) { return ctxrt_module_get_kernel(of.get(), name, out); }));
}

/** As ctxrt_module_get_global: the address of a variable, which must have the size of a `T`, or of
 * several. */
template <typename T> T *get_global(const module &of, const char *name)
{
    void *pointer = nullptr;
    std::size_t size_bytes = 0;
    check(ctxrt_module_get_global(of.get(), name, &pointer, &size_bytes));
    if (size_bytes % sizeof(T) != 0)
        throw error(CTXRT_ERROR_INVALID_ARGUMENT,
                    "the variable has not the size of the type that was asked for");
    return static_cast<T *>(pointer);
}

/** As ctxrt_kernel_describe. */
inline ctxrt_kernel_info describe(kernel of)
{
    return detail::value_of<ctxrt_kernel_info>(
        [&](ctxrt_kernel_info *out) { return ctxrt_kernel_describe(of.get(), out); });
}

/** As ctxrt_kernel_occupancy. */
inline ctxrt_occupancy occupancy(kernel of, unsigned int block_threads = 0,
                                 std::size_t shared_bytes = 0)
{
    return detail::value_of<ctxrt_occupancy>([&](ctxrt_occupancy *out) {
        return ctxrt_kernel_occupancy(of.get(), block_threads, shared_bytes, out);
    });
}

/** The size of a grid in blocks, or of a block in threads. */
struct extent {
    unsigned int x = 1, y = 1, z = 1;
};

/** How a kernel is launched: ctxrt_launch_config. */
struct launch_options {
    extent grid, block;
    stream_ref stream = {};
    std::size_t shared_bytes = 0;
    bool cooperative = false;
};

namespace detail
{

/* An argument as the kernel gets it. */
template <typename T> T argument_of(const T &argument)
{
    static_assert(std::is_trivially_copyable_v<T> && !std::is_array_v<T>,
                  "a kernel's argument is a value or a pointer");
    return argument;
}

inline void *argument_of(const memory &argument)
{
    if (!argument)
        throw error(CTXRT_ERROR_NULL_POINTER, "an argument of the kernel is an empty guard");
    return argument.pointer();
}

} // namespace detail

/**
 * As ctxrt_launch, with arguments of the types that the kernel declares: launch<const float *,
 * float *, unsigned>(kernel, options, in, out, count) converts them; without the list each is given
 * as the type that it has. A guard of memory is its address.
 */
template <typename... Types>
void launch(kernel launched, const launch_options &options, const Types &...arguments)
{
    ctxrt_launch_config config = CTXRT_LAUNCH_CONFIG_INIT;
    config.grid[0] = options.grid.x;
    config.grid[1] = options.grid.y;
    config.grid[2] = options.grid.z;
    config.block[0] = options.block.x;
    config.block[1] = options.block.y;
    config.block[2] = options.block.z;
    config.shared_bytes = options.shared_bytes;
    config.stream = options.stream.get();
    config.cooperative = options.cooperative ? 1 : 0;
    auto values = std::make_tuple(detail::argument_of(arguments)...);
    std::apply(
        [&](auto &...value) {
            void *addresses[] = {static_cast<void *>(&value)..., nullptr};
            check(ctxrt_launch(&config, launched.get(), addresses, sizeof...(value)));
        },
        values);
}

/* ---- graphs ---- */

/** As ctxrt_graph_launch. */
inline void launch(const graph &launched, stream_ref stream = {})
{
    check(ctxrt_graph_launch(launched.get(), stream.get()));
}

/** As ctxrt_graph_clone. */
inline graph clone(const graph &of)
{
    graph copy;
    check(ctxrt_graph_clone(of.get(), copy.out()));
    return copy;
}

/** As ctxrt_graph_describe. */
inline std::string text(const graph &of, ctxrt_graph_format format = CTXRT_GRAPH_TEXT)
{
    return detail::text_of(
        [&](std::FILE *file) { return ctxrt_graph_describe(of.get(), file, format); });
}

/**
 * Captures the work that body() gives to the stream: ctxrt_stream_capture_begin and _end. If body()
 * throws, the capture is ended, its graph is dropped, and the exception goes on.
 */
template <typename Body>
graph capture(stream_ref stream, Body body, ctxrt_capture_mode mode = CTXRT_CAPTURE_GLOBAL)
{
    graph captured;
    check(ctxrt_stream_capture_begin(stream.get(), mode));
    try {
        body();
    } catch (...) {
        static_cast<void>(captured.capture_end(stream.get()) == CTXRT_SUCCESS);
        throw;
    }
    check(captured.capture_end(stream.get()));
    return captured;
}

/**
 * Records what body() does in the calling thread's top frame: ctxrt_recording_start and _stop. If
 * body() throws, the recording is cancelled, and the exception goes on.
 */
template <typename Body> graph record_graph(Body body)
{
    graph recorded;
    check(ctxrt_recording_start(nullptr));
    try {
        body();
    } catch (...) {
        static_cast<void>(ctxrt_recording_cancel() == CTXRT_SUCCESS);
        throw;
    }
    check(recorded.recording_stop());
    return recorded;
}

/**
 * As ctxrt_operator_submit with an operator that calls run(), a copy of which is kept as long as it
 * is needed. A ctxrt::error that run() throws is the operator's status; any other exception is
 * CTXRT_ERROR_SYSTEM.
 *
 * @param capturable  true if run() only submits work to streams
 */
template <typename Run> void submit(const char *type, Run run, bool capturable)
{
    ctxrt_operator operation = CTXRT_OPERATOR_INIT;
    operation.type = type;
    operation.capturable = capturable ? 1 : 0;
    operation.run = [](void *kept) noexcept -> ctxrt_status {
        try {
            (*static_cast<Run *>(kept))();
            return CTXRT_SUCCESS;
        } catch (const error &failed) {
            return failed.status();
        } catch (...) {
            return CTXRT_ERROR_SYSTEM;
        }
    };
    operation.destroy = [](void *kept) noexcept { delete static_cast<Run *>(kept); };
    auto kept = std::make_unique<Run>(std::move(run));
    operation.user_data = kept.get();
    check(ctxrt_operator_submit(&operation));
    static_cast<void>(kept.release()); /* the operator's from now on */
}

/* ---- memory plans ---- */

/** As ctxrt_plan_alloc: returns the number of the tensor. */
inline std::size_t add_tensor(const plan &to, std::size_t size_bytes)
{
    return detail::value_of<std::size_t>(
        [&](std::size_t *out) { return ctxrt_plan_alloc(to.get(), size_bytes, out); });
}

/** As ctxrt_plan_free. */
inline void free_tensor(const plan &of, std::size_t tensor)
{
    check(ctxrt_plan_free(of.get(), tensor));
}

/** As ctxrt_plan_optimise. */
inline void optimise(const plan &planned, std::size_t goal_bytes = 0, std::uint64_t effort = 0)
{
    check(ctxrt_plan_optimise(planned.get(), goal_bytes, effort));
}

/** As ctxrt_plan_peak. */
inline std::size_t peak(const plan &of)
{
    return detail::value_of<std::size_t>(
        [&](std::size_t *out) { return ctxrt_plan_peak(of.get(), out); });
}

/** As ctxrt_plan_offset. */
inline std::size_t offset(const plan &of, std::size_t tensor)
{
    return detail::value_of<std::size_t>(
        [&](std::size_t *out) { return ctxrt_plan_offset(of.get(), tensor, out); });
}

/** As ctxrt_plan_pointer. */
template <typename T> T *tensor(const plan &of, std::size_t number)
{
    return static_cast<T *>(detail::value_of<void *>(
        [&](void **out) { return ctxrt_plan_pointer(of.get(), number, out); }));
}

} // namespace ctxrt

#endif
#endif
