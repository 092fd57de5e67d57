#include "emu/device/visible_devices.h"

#include "emu/device/board.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NONE (-1)

/* An entry of the list: the text between two commas, without surrounding blanks. */
typedef struct entry {
    const char *text;
    size_t length;
} entry;

static entry next_entry(const char **list)
{
    static const char blanks[] = " \t";
    const char *start = *list + strspn(*list, blanks);
    const char *end = start + strcspn(start, ",");
    *list = *end == ',' ? end + 1 : end;
    while (end > start && strchr(blanks, end[-1]) != NULL)
        end--;
    return (entry){start, (size_t)(end - start)};
}

/* As strtoul reads it: what stands behind the digits does not count. */
static int board_of_number(entry number, int boards)
{
    char *end;
    unsigned long board = number.length > 0 ? strtoul(number.text, &end, 10) : ULONG_MAX;
    if (number.length == 0 || end == number.text || board >= (unsigned long)boards)
        return NONE;
    return (int)board;
}

/* The beginning of a UUID names a board if no other UUID has the same beginning. */
static int board_of_uuid(entry uuid, int boards)
{
    int found = NONE;
    for (int board = 0; board < boards; board++) {
        char text[CX_EMU_UUID_TEXT_BYTES];
        cx_emu_board_uuid_text(board, text);
        if (strncasecmp(text, uuid.text, uuid.length) != 0)
            continue;
        if (found != NONE)
            return NONE;
        found = board;
    }
    return found;
}

static int board_of(entry name, int boards)
{
    if (name.length > 4 && strncasecmp(name.text, "GPU-", 4) == 0)
        return board_of_uuid(name, boards);
    return board_of_number(name, boards);
}

static int all_boards(int boards, int out_boards[CX_EMU_DEVICES_MAX])
{
    for (int board = 0; board < boards; board++)
        out_boards[board] = board;
    return boards;
}

int cx_emu_visible_devices(const char *list, int boards, int out_boards[CX_EMU_DEVICES_MAX])
{
    if (list == NULL)
        return all_boards(boards, out_boards);

    bool taken[CX_EMU_DEVICES_MAX] = {false};
    int count = 0;
    while (*list != '\0') {
        int board = board_of(next_entry(&list), boards);
        if (board == NONE)
            break;
        if (taken[board])
            return 0;
        taken[board] = true;
        out_boards[count++] = board;
    }
    return count;
}
