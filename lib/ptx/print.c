/* vprintf on a device. */
#include "ptx/builtin.h"
#include "ptx/room.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT_BYTES 4096
#define WIDTH_MAX 4096
#define PIECE_BYTES 8192
#define STRING_BYTES 4096

typedef struct printer {
    cx_ptx_grid *grid;
    cx_ptx_block *block;
    cx_ptx_thread *thread;
    uint64_t arguments; /* the address of the next one */
    char *text;
    size_t length, capacity;
    int32_t count;
} printer;

/* The parts of %-08.3lld; as text that snprintf takes. */
typedef struct conversion_spec {
    char flags[8];
    int width, precision; /* -1: none */
    bool wide;
    char letter;
} conversion_spec;

bool cx_ptx_read_string(cx_ptx_grid *grid, cx_ptx_block *block, cx_ptx_thread *thread,
                        uint64_t address, char *out, size_t most)
{
    size_t length = 0;

    for (; length < most; length++) {
        const unsigned char *at = cx_ptx_resolve(grid, block, thread, address + length, 1, 1);

        if (!at)
            return false;
        out[length] = (char)*at;
        if (!*at)
            return true;
    }
    out[length] = '\0';
    return true;
}

/* The text waits for memory; it is lost if the launch is to stop. */
static void add_text(printer *self, const char *text, size_t length)
{
    size_t wanted = self->capacity ? self->capacity : 256;
    char *grown;

    while (wanted < self->length + length)
        wanted *= 2;
    if (wanted > self->capacity) {
        while (!(grown = realloc(self->text, wanted)))
            if (!cx_ptx_await_memory(self->grid->environment))
                return;
        self->text = grown;
        self->capacity = wanted;
    }
    memcpy(self->text + self->length, text, length);
    self->length += length;
}

/* Arguments lie at multiples of their size. */
static bool take_argument(printer *self, unsigned bytes, uint64_t *out_value)
{
    const unsigned char *at;

    self->arguments = (self->arguments + bytes - 1) & ~(uint64_t)(bytes - 1);
    at = cx_ptx_resolve(self->grid, self->block, self->thread, self->arguments, bytes, 1);
    if (!at)
        return false;
    *out_value = 0;
    memcpy(out_value, at, bytes);
    self->arguments += bytes;
    return true;
}

static bool take_size(printer *self, const char **format, int *out_size)
{
    uint64_t value;

    *out_size = -1;
    if (**format == '*') {
        ++*format;
        if (!take_argument(self, 4, &value))
            return false;
        *out_size = (int32_t)value;
    } else if (**format >= '0' && **format <= '9') {
        *out_size = 0;
        for (; **format >= '0' && **format <= '9'; ++*format)
            if (*out_size < WIDTH_MAX)
                *out_size = *out_size * 10 + (**format - '0');
    }
    if (*out_size > WIDTH_MAX)
        *out_size = WIDTH_MAX;
    return true;
}

/* Behind the percent sign. */
static bool take_spec(printer *self, const char **format, conversion_spec *out)
{
    size_t flags = 0;

    *out = (conversion_spec){.precision = -1};
    for (; **format && strchr("-+ #0", **format); ++*format)
        if (flags < sizeof out->flags - 1 && !strchr(out->flags, **format))
            out->flags[flags++] = **format;
    if (!take_size(self, format, &out->width))
        return false;
    if (out->width < -1) {
        out->width = out->width < -WIDTH_MAX ? WIDTH_MAX : -out->width;
        out->flags[flags < sizeof out->flags - 1 ? flags : 0] = '-';
    }
    if (**format == '.') {
        bool given = *++*format == '*';

        if (!take_size(self, format, &out->precision))
            return false;
        /* A missing precision is 0; a negative argument counts as if there were no point. */
        if (out->precision < 0)
            out->precision = given || **format == '\0' ? -1 : 0;
    }
    for (; **format && strchr("hljztL", **format); ++*format)
        out->wide |= strchr("ljzt", **format) != NULL;
    out->letter = **format;
    if (out->letter)
        ++*format;
    return true;
}

static void write_spec(const conversion_spec *spec, const char *length, char out[48])
{
    int at = snprintf(out, 48, "%%%s", spec->flags);

    if (spec->width >= 0)
        at += snprintf(out + at, 48 - (size_t)at, "%d", spec->width);
    if (spec->precision >= 0)
        at += snprintf(out + at, 48 - (size_t)at, ".%d", spec->precision);
    snprintf(out + at, 48 - (size_t)at, "%s%c", length, spec->letter);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static bool print_string(printer *self, const char *text, uint64_t address, char *piece,
                         int *out_length)
{
    char string[STRING_BYTES] = "(null)";

    if (address != 0 && !cx_ptx_read_string(self->grid, self->block, self->thread, address, string,
                                            sizeof string - 1))
        return false;
    *out_length = snprintf(piece, PIECE_BYTES, text, string);
    return true;
}

/* False: the thread has failed. */
static bool print_conversion(printer *self, const conversion_spec *spec)
{
    bool integer = strchr("diuoxXc", spec->letter) != NULL;
    char piece[PIECE_BYTES], text[48];
    uint64_t value;
    double number;
    int length;

    if (!take_argument(self, integer && !spec->wide ? 4 : 8, &value))
        return false;
    write_spec(spec, spec->letter == 'c' || !integer ? "" : "ll", text);
    if (spec->letter == 's') {
        if (!print_string(self, text, value, piece, &length))
            return false;
    } else if (spec->letter == 'p') {
        length = snprintf(piece, sizeof piece, text, (void *)(uintptr_t)value);
    } else if (spec->letter == 'c') {
        length = snprintf(piece, sizeof piece, text, (int)value);
    } else if (integer) {
        if (!spec->wide && (spec->letter == 'd' || spec->letter == 'i'))
            value = (uint64_t)(int64_t)(int32_t)value;
        length = snprintf(piece, sizeof piece, text, (long long)value);
    } else {
        memcpy(&number, &value, sizeof number);
        length = snprintf(piece, sizeof piece, text, number);
    }
    if (length > 0)
        add_text(self, piece, (size_t)length < sizeof piece ? (size_t)length : sizeof piece - 1);
    self->count++;
    return true;
}

#pragma GCC diagnostic pop

static bool print_all(printer *self, const char *format)
{
    conversion_spec spec;

    while (*format) {
        size_t plain = strcspn(format, "%");
        const char *begin;

        add_text(self, format, plain);
        format += plain;
        if (!*format)
            break;
        begin = format++;
        if (!take_spec(self, &format, &spec))
            return false;
        if (spec.letter == '%')
            add_text(self, "%", 1);
        else if (spec.letter == '\0' || !strchr("diuoxXcspfFeEgGaA", spec.letter))
            add_text(self, begin, (size_t)(format - begin));
        else if (!print_conversion(self, &spec))
            return false;
    }
    return true;
}

bool cx_ptx_print(cx_ptx_grid *grid, cx_ptx_block *block, cx_ptx_thread *thread, uint64_t format,
                  uint64_t arguments, int32_t *out_count)
{
    const cx_ptx_environment *environment = grid->environment;
    printer self = {.grid = grid, .block = block, .thread = thread, .arguments = arguments};
    char text[FORMAT_BYTES];
    bool printed;

    *out_count = -1;
    if (format == 0)
        return true;
    if (!cx_ptx_read_string(grid, block, thread, format, text, sizeof text - 1))
        return false;
    printed = print_all(&self, text);
    if (self.length > 0 && environment->print)
        environment->print(environment->self, self.text, self.length, false);
    free(self.text);
    *out_count = self.count;
    return printed;
}
