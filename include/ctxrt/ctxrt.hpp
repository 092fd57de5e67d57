/**
 * C++17: guards, which own what the C API hands out and give it back at the end of their block.
 *
 * A guard is one handle, costs what the same C code with CTXRT_CLEANUP costs, and can be moved but
 * not copied; one that was moved from is empty. Everything else is done by the C API with get().
 *
 * Errors are reported in one of two ways, as the caller chooses for each call:
 *  - Members named as the C functions (create, alloc, load, enter ...) return a ctxrt_status and
 *    never throw. On failure the guard is as it was.
 *  - Constructors with arguments, and ctxrt::check(), throw ctxrt::error. Without exceptions
 *    (-fno-exceptions) they are not there.
 *
 * A destructor cannot report a failure: the error is in ctxrt_last_error() of the thread that ran
 * the destructor, until its next failed call, and an object that could not be given back is left
 * alive, where ctxrt_shutdown() names it. Give an object back by name (destroy, release, unload,
 * leave) to get the status. An exception that is on its way keeps its own message.
 *
 * Callbacks given to the C API must not throw.
 *
 * Threads: as the C API. A guard may be destroyed on any thread and under any current context, but
 * for a scope, which ends on the thread that entered it. Two threads must not use one guard at once
 * unless both only read it.
 */
#ifndef CTXRT_CTXRT_HPP
#define CTXRT_CTXRT_HPP

#include <ctxrt/ctxrt.h>

#if !defined(__cplusplus) || __cplusplus < 201703L
#error "ctxrt/ctxrt.hpp needs C++17"
#endif

#include <stdexcept>

#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
#define CTXRT_THROWS 1
#else
#define CTXRT_THROWS 0
#endif

/* The place of the call, for frames: the default argument is evaluated where the function is
 * called. */
#if defined(__GNUC__) || defined(__clang__)
#define CTXRT_CALLER_FILE __builtin_FILE()
#define CTXRT_CALLER_LINE __builtin_LINE()
#define CTXRT_ASSUME(condition)      \
    do {                             \
        if (!(condition))            \
            __builtin_unreachable(); \
    } while (0)
#else
#define CTXRT_CALLER_FILE ""
#define CTXRT_CALLER_LINE 0
#define CTXRT_ASSUME(condition) ((void)0)
#endif

namespace ctxrt
{

/** A failed call: what() is the sentence of ctxrt_last_error(), kept by the exception itself. */
class error : public std::runtime_error
{
  public:
    /** Takes the calling thread's last error if it has this status, else the status's own text. */
    explicit error(ctxrt_status status) : std::runtime_error(text_of(status)), status_(status)
    {
        const ctxrt_error *last = ctxrt_last_error();
        if (last->status == status)
            driver_result_ = last->driver_result;
    }

    ctxrt_status status() const noexcept
    {
        return status_;
    }

    /** The driver's CUresult; 0 if no driver call failed. */
    int driver_result() const noexcept
    {
        return driver_result_;
    }

  private:
    static const char *text_of(ctxrt_status status) noexcept
    {
        const ctxrt_error *last = ctxrt_last_error();
        return last->status == status ? last->message : ctxrt_status_text(status);
    }

    ctxrt_status status_;
    int driver_result_ = 0;
};

#if CTXRT_THROWS
namespace detail
{
[[noreturn]] inline void fail(ctxrt_status status)
{
    throw error(status);
}
} // namespace detail

/** Throws the error of a call that failed: ctxrt::check(ctxrt_stream_synchronize(s.get())). */
inline void check(ctxrt_status status)
{
    if (status != CTXRT_SUCCESS)
        detail::fail(status);
}
#endif

/** Says that a guard takes over a handle: ctxrt::stream s(ctxrt::adopt, handle). */
struct adopt_t {
    explicit adopt_t() = default;
};
inline constexpr adopt_t adopt{};

namespace detail
{

/** The part that the guards of handles have in common. A kind says how its handle is given back,
 * and after which failures the object is still alive. */
template <typename Kind> class guard
{
  public:
    using handle = typename Kind::handle;

    /** An empty guard. */
    guard() noexcept = default;

    /** Takes over a handle, which may be NULL. */
    guard(adopt_t, handle owned) noexcept : handle_(owned)
    {
    }

    guard(guard &&other) noexcept : handle_(other.disown())
    {
    }

    /** Gives its own object back first, as the destructor does. Moving into itself is harmless. */
    guard &operator=(guard &&other) noexcept
    {
        handle taken = other.disown();
        take(taken);
        return *this;
    }

    ~guard()
    {
        if (handle_ != nullptr)
            (void)Kind::give_back(handle_);
    }

    /** Borrowed; NULL if the guard is empty. */
    handle get() const noexcept
    {
        return handle_;
    }

    explicit operator bool() const noexcept
    {
        return handle_ != nullptr;
    }

    /** Empties the guard; the caller owns the object. */
    [[nodiscard]] handle disown() noexcept
    {
        handle given = handle_;
        handle_ = nullptr;
        return given;
    }

    /** Gives its own object back, as the destructor does, and returns where a C function may write
     * another one: ctxrt_graph_clone(g.get(), copy.out()). */
    handle *out() noexcept
    {
        take(nullptr);
        return &handle_;
    }

    friend void swap(guard &one, guard &other) noexcept
    {
        handle kept = one.handle_;
        one.handle_ = other.handle_;
        other.handle_ = kept;
    }

  protected:
    /** Gives the object back; the guard keeps it if it is still alive. */
    ctxrt_status finish() noexcept
    {
        const ctxrt_status status = handle_ != nullptr ? Kind::give_back(handle_) : CTXRT_SUCCESS;
        if (status == CTXRT_SUCCESS || !Kind::survives(status))
            handle_ = nullptr;
        return status;
    }

    /** Takes what a call made, if it was successful. */
    ctxrt_status made(ctxrt_status status, handle const &one) noexcept
    {
        if (status == CTXRT_SUCCESS) {
            handle owned = one;
            CTXRT_ASSUME(owned != nullptr);
            take(owned);
        }
        return status;
    }

  private:
    void take(handle other) noexcept
    {
        handle old = handle_;
        handle_ = other;
        if (old != nullptr)
            (void)Kind::give_back(old);
    }

    handle handle_ = nullptr;
};

struct any_kind {
    /* These failures of a call to give back change nothing. */
    static bool survives(ctxrt_status status) noexcept
    {
        return status == CTXRT_ERROR_IN_USE || status == CTXRT_ERROR_NOT_PERMITTED ||
               status == CTXRT_ERROR_INVALID_ARGUMENT;
    }
};

struct context_kind : any_kind {
    using handle = ctxrt_context *;
    static ctxrt_status give_back(handle context) noexcept
    {
        return ctxrt_context_destroy(context);
    }
    static bool survives(ctxrt_status status) noexcept
    {
        return any_kind::survives(status) || status == CTXRT_ERROR_DRIVER;
    }
};

struct retained_context_kind : any_kind {
    using handle = ctxrt_context *;
    static ctxrt_status give_back(handle context) noexcept
    {
        return ctxrt_context_release(context);
    }
};

struct stream_kind : any_kind {
    using handle = ctxrt_stream *;
    static ctxrt_status give_back(handle stream) noexcept
    {
        return ctxrt_stream_destroy(stream);
    }
};

struct event_kind : any_kind {
    using handle = ctxrt_event *;
    static ctxrt_status give_back(handle event) noexcept
    {
        return ctxrt_event_destroy(event);
    }
};

struct memory_kind : any_kind {
    using handle = ctxrt_memory *;
    static ctxrt_status give_back(handle memory) noexcept
    {
        return ctxrt_memory_release(memory);
    }
};

struct graph_kind : any_kind {
    using handle = ctxrt_graph *;
    static ctxrt_status give_back(handle graph) noexcept
    {
        return ctxrt_graph_release(graph);
    }
};

struct module_kind : any_kind {
    using handle = ctxrt_module *;
    static ctxrt_status give_back(handle module_) noexcept
    {
        return ctxrt_module_unload(module_);
    }
};

} // namespace detail

/**
 * A scope (ctxrt_scope): a device or context that is current until the block ends.
 *
 * It belongs to the thread that entered it. Destroyed on another one it does nothing but set that
 * thread's last error (CTXRT_ERROR_WRONG_THREAD): its frame stays until an outer scope of the
 * entering thread is left, or that thread ends. Scopes end in reverse order; the end of an outer
 * one ends those within it, whose guards then find nothing to do.
 */
class [[nodiscard]] scope
{
  public:
    scope() noexcept = default;

#if CTXRT_THROWS
    explicit scope(ctxrt_device device, const char *file = CTXRT_CALLER_FILE,
                   int line = CTXRT_CALLER_LINE)
    {
        check(enter(device, file, line));
    }

    explicit scope(ctxrt_context *context)
    {
        check(enter(context));
    }
#endif

    scope(scope &&other) noexcept : scope_(other.scope_)
    {
        other.scope_.serial = 0;
    }

    /** Leaves its own scope first, as the destructor does. Moving into itself is harmless. */
    scope &operator=(scope &&other) noexcept
    {
        const ctxrt_scope taken = other.scope_;
        other.scope_.serial = 0;
        if (scope_.serial != 0)
            (void)ctxrt_scope_leave(&scope_);
        scope_ = taken;
        return *this;
    }

    ~scope()
    {
        (void)ctxrt_scope_leave(&scope_);
    }

    /** As ctxrt_scope_enter; the frame keeps the place of the call. */
    [[nodiscard]] ctxrt_status enter(ctxrt_device device, const char *file = CTXRT_CALLER_FILE,
                                     int line = CTXRT_CALLER_LINE) noexcept
    {
        return ctxrt_scope_enter_at(device, &scope_, file, line);
    }

    /** As ctxrt_scope_enter_context. */
    [[nodiscard]] ctxrt_status enter(ctxrt_context *context) noexcept
    {
        return ctxrt_scope_enter_context(context, &scope_);
    }

    /** As ctxrt_scope_leave; the guard is empty unless it returns CTXRT_ERROR_WRONG_THREAD. */
    ctxrt_status leave() noexcept
    {
        return ctxrt_scope_leave(&scope_);
    }

    /** Tells whether it was entered and not left. */
    explicit operator bool() const noexcept
    {
        return scope_.serial != 0;
    }

  private:
    ctxrt_scope scope_ = CTXRT_SCOPE_INIT;
};

/** A context of one's own: ctxrt_context_create, ctxrt_context_destroy. */
class [[nodiscard]] context : public detail::guard<detail::context_kind>
{
  public:
    using guard::guard;

#if CTXRT_THROWS
    explicit context(ctxrt_device device, unsigned int flags = 0)
    {
        check(create(device, flags));
    }
#endif

    [[nodiscard]] ctxrt_status create(ctxrt_device device, unsigned int flags = 0) noexcept
    {
        handle one;
        return made(ctxrt_context_create(device, flags, &one), one);
    }

    /** As ctxrt_context_destroy; the guard is empty unless the context is still alive. */
    ctxrt_status destroy() noexcept
    {
        return finish();
    }
};

/** A count of a context: ctxrt_context_retain_primary or ctxrt_context_from_native, and
 * ctxrt_context_release. */
class [[nodiscard]] retained_context : public detail::guard<detail::retained_context_kind>
{
  public:
    using guard::guard;

#if CTXRT_THROWS
    explicit retained_context(ctxrt_device device)
    {
        check(retain_primary(device));
    }
#endif

    [[nodiscard]] ctxrt_status retain_primary(ctxrt_device device) noexcept
    {
        handle one;
        return made(ctxrt_context_retain_primary(device, &one), one);
    }

    [[nodiscard]] ctxrt_status from_native(ctxrt_device_type type, struct CUctx_st *native) noexcept
    {
        handle one;
        return made(ctxrt_context_from_native(type, native, &one), one);
    }

    ctxrt_status release() noexcept
    {
        return finish();
    }
};

/** A stream: ctxrt_stream_create, ctxrt_stream_destroy. */
class [[nodiscard]] stream : public detail::guard<detail::stream_kind>
{
  public:
    using guard::guard;

#if CTXRT_THROWS
    explicit stream(unsigned int flags, int priority = 0)
    {
        check(create(flags, priority));
    }
#endif

    [[nodiscard]] ctxrt_status create(unsigned int flags = CTXRT_STREAM_DEFAULT,
                                      int priority = 0) noexcept
    {
        handle one;
        return made(ctxrt_stream_create(flags, priority, &one), one);
    }

    /** As ctxrt_stream_destroy; the guard keeps a stream that is in use. */
    ctxrt_status destroy() noexcept
    {
        return finish();
    }
};

/** An event: ctxrt_event_create, ctxrt_event_destroy. */
class [[nodiscard]] event : public detail::guard<detail::event_kind>
{
  public:
    using guard::guard;

#if CTXRT_THROWS
    explicit event(unsigned int flags)
    {
        check(create(flags));
    }
#endif

    [[nodiscard]] ctxrt_status create(unsigned int flags = CTXRT_EVENT_DEFAULT) noexcept
    {
        handle one;
        return made(ctxrt_event_create(flags, &one), one);
    }

    ctxrt_status destroy() noexcept
    {
        return finish();
    }
};

/** A count of a memory object: ctxrt_memory_alloc and so on, ctxrt_memory_release. */
class [[nodiscard]] memory : public detail::guard<detail::memory_kind>
{
  public:
    using guard::guard;

#if CTXRT_THROWS
    /** Device memory of the current context. */
    explicit memory(size_t size_bytes)
    {
        check(alloc(size_bytes));
    }
#endif

    /** As ctxrt_memory_alloc. It names no place: under CTXRT_ORIGINS, ctxrt_memory_alloc(size,
     * m.out()) does. */
    [[nodiscard]] ctxrt_status alloc(size_t size_bytes) noexcept
    {
        handle one;
        return made((ctxrt_memory_alloc)(size_bytes, &one), one);
    }

    [[nodiscard]] ctxrt_status alloc_pinned(size_t size_bytes) noexcept
    {
        handle one;
        return made((ctxrt_memory_alloc_pinned)(size_bytes, &one), one);
    }

    [[nodiscard]] ctxrt_status alloc_host(size_t size_bytes) noexcept
    {
        handle one;
        return made(ctxrt_memory_alloc_host(size_bytes, &one), one);
    }

    /** Another count of the same memory, in `other`. */
    [[nodiscard]] ctxrt_status retain(memory &other) const noexcept
    {
        return other.made(ctxrt_memory_retain(get()), get());
    }

    /** The address; NULL if the guard is empty. */
    void *pointer() const noexcept
    {
        return ctxrt_memory_pointer(get());
    }

    ctxrt_status release() noexcept
    {
        return finish();
    }
};

/** A count of a graph: ctxrt_stream_capture_end and so on, ctxrt_graph_release. */
class [[nodiscard]] graph : public detail::guard<detail::graph_kind>
{
  public:
    using guard::guard;

    /** As ctxrt_stream_capture_end. */
    [[nodiscard]] ctxrt_status capture_end(ctxrt_stream *stream) noexcept
    {
        handle one;
        return made(ctxrt_stream_capture_end(stream, &one), one);
    }

    /** As ctxrt_recording_stop. */
    [[nodiscard]] ctxrt_status recording_stop() noexcept
    {
        handle one;
        return made(ctxrt_recording_stop(&one), one);
    }

    /** Another count of the same graph, in `other`. */
    [[nodiscard]] ctxrt_status retain(graph &other) const noexcept
    {
        return other.made(ctxrt_graph_retain(get()), get());
    }

    ctxrt_status release() noexcept
    {
        return finish();
    }
};

/** A module: ctxrt_module_load, ctxrt_module_unload. */
class [[nodiscard]] module : public detail::guard<detail::module_kind>
{
  public:
    using guard::guard;

#if CTXRT_THROWS
    explicit module(const void *image, size_t size_bytes)
    {
        check(load(image, size_bytes));
    }
#endif

    [[nodiscard]] ctxrt_status load(const void *image, size_t size_bytes) noexcept
    {
        handle one;
        return made(ctxrt_module_load(image, size_bytes, &one), one);
    }

    [[nodiscard]] ctxrt_status load_file(const char *path) noexcept
    {
        handle one;
        return made(ctxrt_module_load_file(path, &one), one);
    }

    ctxrt_status unload() noexcept
    {
        return finish();
    }
};

} // namespace ctxrt

#undef CTXRT_CALLER_FILE
#undef CTXRT_CALLER_LINE
#undef CTXRT_ASSUME

#endif
