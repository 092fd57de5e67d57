/** Attributes of the public functions. */
#ifndef CTXRT_EXPORT_H
#define CTXRT_EXPORT_H

#if defined(__GNUC__) || defined(__clang__)
#ifdef __cplusplus
/* No call throws, and no callback may. */
#define CTXRT_API __attribute__((visibility("default"), nothrow))
#else
#define CTXRT_API __attribute__((visibility("default")))
#endif
#define CTXRT_CHECK_RESULT __attribute__((warn_unused_result))
#define CTXRT_CLEANUP(function) __attribute__((cleanup(function)))
#else
#define CTXRT_API
#define CTXRT_CHECK_RESULT
#endif

#endif
