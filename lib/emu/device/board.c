#include "emu/device/board.h"

#include <stdint.h>
#include <stdio.h>

/* splitmix64: neighbouring boards get unrelated numbers. */
static uint64_t mix_bits(uint64_t value)
{
    value += 0x9e3779b97f4a7c15u;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
    value = (value ^ value >> 27) * 0x94d049bb133111ebu;
    return value ^ value >> 31;
}

void cx_emu_board_uuid(int board, cxu_uuid *out_uuid)
{
    uint64_t seed = 0x6374787274000000u + (uint64_t)(board + 1);
    uint64_t halves[2] = {mix_bits(seed), mix_bits(~seed)};
    for (int i = 0; i < 16; i++)
        out_uuid->bytes[i] = (char)(halves[i / 8] >> 8 * (i % 8));
    /* RFC 4122: version 4, variant 1 */
    out_uuid->bytes[6] = (char)((out_uuid->bytes[6] & 0x0f) | 0x40);
    out_uuid->bytes[8] = (char)((out_uuid->bytes[8] & 0x3f) | 0x80);
}

void cx_emu_board_uuid_text(int board, char out_text[CX_EMU_UUID_TEXT_BYTES])
{
    cxu_uuid uuid;
    cx_emu_board_uuid(board, &uuid);
    char *end = out_text + sprintf(out_text, "GPU-");
    for (int i = 0; i < 16; i++)
        end += sprintf(end, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x",
                       (unsigned char)uuid.bytes[i]);
}
