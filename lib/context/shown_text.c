#include "context/shown_text.h"

#include "base/utf8.h"

const char *cx_shown_character(const char **text, size_t *out_length)
{
    static const char replacement[] = "\xef\xbf\xbd";
    const char *here = *text;
    size_t length = cx_utf8_length(here);
    *out_length = length;
    *text = here + length;
    if (length == 0 && *here != '\0')
        *text = here + 1;
    else if (length == 0 || !cx_utf8_is_control(here, length))
        return here;
    *out_length = sizeof replacement - 1;
    return replacement;
}

void cx_write_shown(FILE *file, const char *text)
{
    size_t length;
    for (const char *character = cx_shown_character(&text, &length); length != 0;
         character = cx_shown_character(&text, &length))
        fwrite(character, 1, length, file);
}
