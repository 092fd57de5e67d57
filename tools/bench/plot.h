/* Plots by gnuplot, where it is installed. */
#ifndef CX_TOOLS_BENCH_PLOT_H
#define CX_TOOLS_BENCH_PLOT_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

/* Finds gnuplot in PATH. False: it is not installed. */
bool plot_find_gnuplot(char path[PATH_MAX]);

/* Draws the first table of a bench's JSON as bars into an SVG file. Returns an exit status after an
 * error was printed. */
int plot_draw(const char *command, FILE *json, const char *file);

#endif
