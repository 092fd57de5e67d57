/** Attributes of the public functions. */
#ifndef CTXRT_EXPORT_H
#define CTXRT_EXPORT_H

#if defined(__GNUC__) || defined(__clang__)
#ifdef __cplusplus
/* No call throws, and no callback may. */
#define CTXRT_API_UNCHECKED __attribute__((visibility("default"), nothrow))
#else
#define CTXRT_API_UNCHECKED __attribute__((visibility("default")))
#endif
/* Compilers warn where a result is not used. A cast to void says that this is meant: GCC accepts it
 * for [[nodiscard]] alone, which comes first in a declaration, and clang for the older attribute,
 * which it has in every language. */
#if defined(__clang__) || __GNUC__ < 10
#define CTXRT_API CTXRT_API_UNCHECKED
#define CTXRT_CHECK_RESULT __attribute__((warn_unused_result))
#else
#define CTXRT_API __extension__ [[nodiscard]] CTXRT_API_UNCHECKED
#define CTXRT_CHECK_RESULT
#endif
#define CTXRT_CLEANUP(function) __attribute__((cleanup(function)))
#else
#define CTXRT_API_UNCHECKED
#define CTXRT_API
#define CTXRT_CHECK_RESULT
#endif

#endif
