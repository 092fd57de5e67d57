/*
 * What a thread's messages say. The memory is allocated at the first message and freed at the
 * thread's end: a library that is loaded by dlopen has little room for variables of threads, and
 * the whole of that room would go to sentences.
 */
#ifndef CX_BASE_THREAD_TEXTS_H
#define CX_BASE_THREAD_TEXTS_H

enum { CX_THREAD_MESSAGE = 512, CX_THREAD_NAME = 64 };

/* The sentence of the calling thread's last error. NULL: no memory. */
char *cx_thread_message(void);

/* CX_THREAD_NAME bytes for the name of a thing in a message; the bytes are used again after 15
 * further names. NULL: no memory. */
char *cx_thread_name_buffer(void);

#endif
