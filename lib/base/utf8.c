#include "base/utf8.h"

#include <string.h>

/* The number of bytes that a lead byte announces, and the range of the second byte, which rules out
 * overlong forms, surrogates and code points beyond U+10FFFF. 0: no lead byte. */
static size_t announced_bytes(unsigned char lead, unsigned char *out_low, unsigned char *out_high)
{
    *out_low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    *out_high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (lead < 0x80)
        return 1;
    if (lead < 0xc2 || lead > 0xf4)
        return 0;
    return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

/* The number of bytes from `text` on that can belong to the character that begins there. */
static size_t present_bytes(const char *text, size_t wanted, unsigned char low, unsigned char high)
{
    size_t count = 1;
    while (count < wanted && (unsigned char)text[count] >= low &&
           (unsigned char)text[count] <= high) {
        low = 0x80;
        high = 0xbf;
        count++;
    }
    return count;
}

size_t cx_utf8_length(const char *text)
{
    unsigned char low, high;
    size_t wanted = *text != '\0' ? announced_bytes((unsigned char)*text, &low, &high) : 0;
    return wanted != 0 && present_bytes(text, wanted, low, high) == wanted ? wanted : 0;
}

bool cx_utf8_is_control(const char *text, size_t length)
{
    unsigned char first = (unsigned char)text[0];
    if (length == 1)
        return first < ' ' || first == 0x7f;
    if (length == 2)
        return first == 0xc2 && (unsigned char)text[1] < 0xa0;
    return length == 3 &&
           (memcmp(text, "\xef\xbf\xbe", 3) == 0 || memcmp(text, "\xef\xbf\xbf", 3) == 0);
}

void cx_utf8_trim(char *text)
{
    size_t length = strlen(text);
    for (size_t back = 1; back <= 3 && back <= length; back++) {
        unsigned char low, high;
        char *start = text + length - back;
        if (((unsigned char)*start & 0xc0) == 0x80)
            continue;
        size_t wanted = announced_bytes((unsigned char)*start, &low, &high);
        if (wanted > back && present_bytes(start, wanted, low, high) == back)
            *start = '\0';
        return;
    }
}
