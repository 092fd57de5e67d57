/*
 * What a program does with CUDA beside its use of ctxrt. Each program of this folder links one
 * implementation: the CUDA runtime API (runtime_calls.cu) or the Driver API (driver_calls.c). Calls
 * give 0 or the API's own error.
 */
#ifndef CX_TEST_CUDA_CALLS_H
#define CX_TEST_CUDA_CALLS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st;

/* Why this API cannot be used here, or NULL. Makes nothing current. */
const char *cuda_open(void);
void cuda_close(void);

/* Which API it is, with its version. */
const char *cuda_api(void);
const char *cuda_error_text(int error);

int cuda_set_device(int ordinal);
int cuda_reset_device(void);

int cuda_alloc(size_t size_bytes, void **out_pointer);
int cuda_free(void *pointer);
/* Between host and device in any direction; waits. */
int cuda_copy(void *destination, const void *source, size_t size_bytes);

/* One that the legacy stream does not wait for. */
int cuda_stream_create(struct CUstream_st **out_stream);
int cuda_stream_destroy(struct CUstream_st *stream);
int cuda_stream_synchronize(struct CUstream_st *stream);

/* Sets every word, as work of the stream: a kernel, or the Driver API's fill. */
int cuda_write_words(unsigned int *words, unsigned int value, size_t count,
                     struct CUstream_st *stream);

#ifdef __cplusplus
}
#endif

#endif
