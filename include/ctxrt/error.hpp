/**
 * C++17: the exception that a failed call becomes. Include ctxrt/ctxrt.hpp.
 */
#ifndef CTXRT_ERROR_HPP
#define CTXRT_ERROR_HPP

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
        if (last->status == status) {
            driver_result_ = last->driver_result;
            driver_call_ = last->driver_call;
        }
    }

    /** An error that no call has reported, with a sentence of its own. */
    error(ctxrt_status status, const char *sentence) : std::runtime_error(sentence), status_(status)
    {
    }

    ctxrt_status status() const noexcept
    {
        return status_;
    }

    /** "CTXRT_ERROR_IN_USE" and so on. */
    const char *name() const noexcept
    {
        return ctxrt_status_name(status_);
    }

    /** The driver's CUresult; 0 if no driver call failed. */
    int driver_result() const noexcept
    {
        return driver_result_;
    }

    /** The driver's call, "cuMemAlloc_v2"; "" if none failed. */
    const char *driver_call() const noexcept
    {
        return driver_call_;
    }

  private:
    static const char *text_of(ctxrt_status status) noexcept
    {
        const ctxrt_error *last = ctxrt_last_error();
        return last->status == status ? last->message : ctxrt_status_text(status);
    }

    ctxrt_status status_;
    int driver_result_ = 0;
    const char *driver_call_ = "";
};

#if CTXRT_THROWS
namespace detail
{
[[noreturn]] inline void fail(ctxrt_status status)
{
    throw error(status);
}
} // namespace detail

/** Throws the error of a call that failed: ctxrt::check(stream.destroy()). */
inline void check(ctxrt_status status)
{
    if (status != CTXRT_SUCCESS)
        detail::fail(status);
}
#endif

} // namespace ctxrt

#endif
