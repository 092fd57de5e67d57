/*
 * Where the recorded traces are.
 */
#ifndef CX_BENCH_FOLDER_H
#define CX_BENCH_FOLDER_H

/* Beside the program's folder, or in the source tree. */
const char *bench_traces_folder(void);

#endif
