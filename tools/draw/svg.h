/*
 * Writes pictures: boxes and lines of text in a monospaced font, in the colours of
 * look/palette.css. Attributes have the light colours too, for viewers without style sheets.
 */
#ifndef CX_TOOLS_SVG_H
#define CX_TOOLS_SVG_H

#include <stdbool.h>
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

/* ---- colours ---- */

/* The light colour of a name of the palette, "#cfe8fc". */
const char *svg_light(const char *name);

/* Devices have hues, and contexts of one device different patterns. */
enum { SVG_HUES = 9, SVG_PATTERNS = 7 };

/* The hue of a device named "cuda:2" or "cpu:0", and its name in the palette. */
int svg_hue(const char *device);
const char *svg_hue_name(int hue);

/* The pattern of a context by its number, from 1. */
int svg_pattern(long long context);

/* The fills that are used: each is defined once. */
typedef struct svg_fills {
    bool used[SVG_HUES][SVG_PATTERNS];
} svg_fills;

/* Writes the definitions. */
void svg_fills_define(const svg_fills *self, FILE *file);

/* The attributes of a shape with that fill. */
void svg_fill(FILE *file, int hue, int pattern);

#endif
