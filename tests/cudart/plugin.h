/* What a library with a kernel exports. */
#ifndef CX_TEST_CUDART_PLUGIN_H
#define CX_TEST_CUDART_PLUGIN_H

/* Launches it on the thread's device; 0: it did what it should. */
__attribute__((visibility("default"))) int plugin_run(void);

#endif
