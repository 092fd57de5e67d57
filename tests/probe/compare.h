/* Two recordings side by side. */
#ifndef PROBE_COMPARE_H
#define PROBE_COMPARE_H

/* Prints a table of the observations that differ, or that only one of the two has. Returns 0 if
 * there are none, 1 if there are some, 2 if a file cannot be read or is no recording: then only an
 * error is printed. */
int compare(const char *first, const char *second);

#endif
