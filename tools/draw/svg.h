/*
 * Writes pictures: boxes and lines of text in a monospaced font.
 */
#ifndef CX_TOOLS_SVG_H
#define CX_TOOLS_SVG_H

#include <stdio.h>

enum { SVG_FONT_SIZE = 12, SVG_LINE_HEIGHT = 16 };

/* The size is in pixels. */
void svg_begin(FILE *file, int width, int height);
void svg_end(FILE *file);

/* UTF-8 text as the contents of an element. Control characters become U+FFFD. */
void svg_escape(FILE *file, const char *text);

/* A line of text at most `columns` characters wide; a longer one shows its end. `style` is text for
 * inside the tag, "" for none. */
void svg_line(FILE *file, int x, int y, int columns, const char *style, const char *text);

/* The fill colour of a device named "cuda:2" or "cpu:0". */
const char *svg_device_colour(const char *device);

#endif
