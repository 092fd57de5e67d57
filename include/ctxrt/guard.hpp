/**
 * C++17: guards, which own what the C API hands out, and what calls take beside them. Include
 * ctxrt/ctxrt.hpp, which says what all of them have in common.
 */
#ifndef CTXRT_GUARD_HPP
#define CTXRT_GUARD_HPP

#include <cstdint>
#include <ctxrt/error.hpp>

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

/** Says that a guard takes over a handle: ctxrt::stream s(ctxrt::adopt, handle). */
struct adopt_t {
    explicit adopt_t() = default;
};
inline constexpr adopt_t adopt{};

namespace detail
{

/* CX_HANDLE_EMPTY of lib/base/handle.h: the message of the call that refuses it says what it is. */
inline constexpr std::uintptr_t empty_bits = 2;

/** The part that the guards of handles have in common. A kind says how its handle is given back,
 * and after which failures the object is still alive. */
template <typename Kind> class guard
{
  public:
    using handle = typename Kind::handle;

    /** An empty guard. */
    guard() noexcept = default;

    /** Takes over a handle, which may be NULL. */
    guard(adopt_t, handle owned) noexcept : handle_(owned != nullptr ? owned : nothing())
    {
    }

    guard(guard &&other) noexcept : handle_(other.leave_empty())
    {
    }

    /** Gives its own object back first, as the destructor does. Moving into itself is harmless. */
    guard &operator=(guard &&other) noexcept
    {
        handle taken = other.leave_empty();
        take(taken);
        return *this;
    }

    ~guard()
    {
        if (handle_ != nothing())
            (void)Kind::give_back(handle_);
    }

    /** Borrowed. Every call refuses what an empty guard gives: it is NULL, or where the C API takes
     * NULL for the current object, a handle that is none. */
    handle get() const noexcept
    {
        return handle_;
    }

    explicit operator bool() const noexcept
    {
        return handle_ != nothing();
    }

    /** Empties the guard; the caller owns the object. NULL if it was empty. */
    [[nodiscard]] handle disown() noexcept
    {
        handle given = leave_empty();
        return given != nothing() ? given : nullptr;
    }

    /** Gives its own object back, as the destructor does, and returns where a C function may write
     * another one: ctxrt_graph_clone(g.get(), copy.out()). */
    handle *out() noexcept
    {
        take(nothing());
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
        const ctxrt_status status = handle_ != nothing() ? Kind::give_back(handle_) : CTXRT_SUCCESS;
        if (status == CTXRT_SUCCESS || !Kind::survives(status))
            handle_ = nothing();
        return status;
    }

    /** Takes what a call made, if it was successful. */
    ctxrt_status made(ctxrt_status status, handle const &one) noexcept
    {
        if (status == CTXRT_SUCCESS) {
            handle owned = one;
            CTXRT_ASSUME(owned != nothing());
            take(owned);
        }
        return status;
    }

  private:
    /* The handle of an empty guard. */
    static handle nothing() noexcept
    {
        if constexpr (Kind::null_is_current)
            return reinterpret_cast<handle>(empty_bits);
        else
            return nullptr;
    }

    handle leave_empty() noexcept
    {
        handle given = handle_;
        handle_ = nothing();
        return given;
    }

    void take(handle other) noexcept
    {
        handle old = handle_;
        handle_ = other;
        if (old != nothing())
            (void)Kind::give_back(old);
    }

    handle handle_ = nothing();
};

/** A kind whose handles one call gives back. Where the C API takes NULL for the current object, an
 * empty guard has a handle that is none. */
template <typename Object, ctxrt_status (*end)(Object *), bool is_null_current> struct kind {
    static constexpr bool null_is_current = is_null_current;
    using handle = Object *;

    static ctxrt_status give_back(handle object) noexcept
    {
        return end(object);
    }

    /* These failures of a call to give back change nothing. */
    static bool survives(ctxrt_status status) noexcept
    {
        return status == CTXRT_ERROR_IN_USE || status == CTXRT_ERROR_NOT_PERMITTED ||
               status == CTXRT_ERROR_INVALID_ARGUMENT;
    }
};

struct context_kind : kind<ctxrt_context, ctxrt_context_destroy, true> {
    static bool survives(ctxrt_status status) noexcept
    {
        return kind::survives(status) || status == CTXRT_ERROR_DRIVER;
    }
};

using retained_context_kind = kind<ctxrt_context, ctxrt_context_release, true>;
using stream_kind = kind<ctxrt_stream, ctxrt_stream_destroy, true>;
using event_kind = kind<ctxrt_event, ctxrt_event_destroy, false>;
using memory_kind = kind<ctxrt_memory, ctxrt_memory_release, false>;
using graph_kind = kind<ctxrt_graph, ctxrt_graph_release, false>;
using module_kind = kind<ctxrt_module, ctxrt_module_unload, false>;
using allocator_kind = kind<ctxrt_allocator, ctxrt_allocator_destroy, true>;
using plan_kind = kind<ctxrt_plan, ctxrt_plan_destroy, false>;
using detached_frame_kind = kind<ctxrt_detached_frame, ctxrt_stack_discard, false>;

} // namespace detail

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

    explicit scope(const context &entered) : scope(entered.get())
    {
    }

    explicit scope(const retained_context &entered) : scope(entered.get())
    {
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

    /** The address as one of `T`s; NULL if the guard is empty. */
    template <typename T> T *as() const noexcept
    {
        return static_cast<T *>(pointer());
    }

    ctxrt_status release() noexcept
    {
        return finish();
    }

#if CTXRT_THROWS
    /** Pinned host memory of the current context. */
    static memory pinned(size_t size_bytes)
    {
        memory made_here;
        check(made_here.alloc_pinned(size_bytes));
        return made_here;
    }

    /** Ordinary host memory, zeroed. */
    static memory host(size_t size_bytes)
    {
        memory made_here;
        check(made_here.alloc_host(size_bytes));
        return made_here;
    }
#endif
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

/** An allocator: ctxrt_allocator_create, ctxrt_allocator_destroy. */
class [[nodiscard]] allocator : public detail::guard<detail::allocator_kind>
{
  public:
    using guard::guard;

#if CTXRT_THROWS
    explicit allocator(const ctxrt_allocator_options &options)
    {
        check(create(options));
    }
#endif

    [[nodiscard]] ctxrt_status
    create(const ctxrt_allocator_options &options = CTXRT_ALLOCATOR_OPTIONS_INIT) noexcept
    {
        handle one;
        return made(ctxrt_allocator_create(&options, &one), one);
    }

    /** As ctxrt_allocator_create_custom. */
    [[nodiscard]] ctxrt_status create_custom(const ctxrt_allocator_vtable &vtable,
                                             void *user_data) noexcept
    {
        handle one;
        return made(ctxrt_allocator_create_custom(&vtable, user_data, &one), one);
    }

    /** As ctxrt_allocator_destroy; the guard keeps an allocator that is in use. */
    ctxrt_status destroy() noexcept
    {
        return finish();
    }
};

/** A memory plan: ctxrt_plan_create, ctxrt_plan_destroy. */
class [[nodiscard]] plan : public detail::guard<detail::plan_kind>
{
  public:
    using guard::guard;

#if CTXRT_THROWS
    explicit plan(size_t alignment_bytes)
    {
        check(create(alignment_bytes));
    }
#endif

    [[nodiscard]] ctxrt_status create(size_t alignment_bytes = 0) noexcept
    {
        handle one;
        return made(ctxrt_plan_create(alignment_bytes, &one), one);
    }

    ctxrt_status destroy() noexcept
    {
        return finish();
    }
};

/** A frame on its way to another thread: ctxrt_stack_detach, ctxrt_stack_attach. One that was not
 * attached is discarded. */
class [[nodiscard]] detached_frame : public detail::guard<detail::detached_frame_kind>
{
  public:
    using guard::guard;

    /** As ctxrt_stack_detach: takes the calling thread's top frame. */
    [[nodiscard]] ctxrt_status detach() noexcept
    {
        handle one;
        return made(ctxrt_stack_detach(&one), one);
    }

    /** As ctxrt_stack_attach; the guard is empty then, unless the call fails. */
    [[nodiscard]] ctxrt_status attach() noexcept
    {
        const ctxrt_status status = ctxrt_stack_attach(get());
        if (status == CTXRT_SUCCESS)
            static_cast<void>(disown());
        return status;
    }

    ctxrt_status discard() noexcept
    {
        return finish();
    }
};

/**
 * The stream that a call gives work to: a guard's, a handle's, or the current one of the top frame,
 * which is also what {} means. It borrows the stream.
 */
class stream_ref
{
  public:
    /** The current stream of the top frame. */
    stream_ref() noexcept = default;

    stream_ref(const stream &owned) noexcept : handle_(owned.get())
    {
    }

    /** NULL is the current stream, as in the C API. */
    explicit stream_ref(ctxrt_stream *borrowed) noexcept : handle_(borrowed)
    {
    }

    /** The driver's legacy default stream. */
    static stream_ref legacy() noexcept
    {
        return stream_ref(CTXRT_STREAM_LEGACY);
    }

    ctxrt_stream *get() const noexcept
    {
        return handle_;
    }

  private:
    ctxrt_stream *handle_ = nullptr;
};

/** The allocator that a call asks: a guard's, a handle's, or that of the top frame, which is also
 * what {} means. It borrows the allocator. */
class allocator_ref
{
  public:
    allocator_ref() noexcept = default;

    allocator_ref(const allocator &owned) noexcept : handle_(owned.get())
    {
    }

    /** NULL is the allocator of the top frame, as in the C API. */
    explicit allocator_ref(ctxrt_allocator *borrowed) noexcept : handle_(borrowed)
    {
    }

    ctxrt_allocator *get() const noexcept
    {
        return handle_;
    }

  private:
    ctxrt_allocator *handle_ = nullptr;
};

/** A kernel of a module. Borrowed: it goes with its module. */
class kernel
{
  public:
    kernel() noexcept = default;

    explicit kernel(ctxrt_kernel *borrowed) noexcept : handle_(borrowed)
    {
    }

    ctxrt_kernel *get() const noexcept
    {
        return handle_;
    }

    explicit operator bool() const noexcept
    {
        return handle_ != nullptr;
    }

  private:
    ctxrt_kernel *handle_ = nullptr;
};

} // namespace ctxrt

#endif
