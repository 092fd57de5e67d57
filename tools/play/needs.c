#include "play/process.h"

#include "emu/module/unpack.h"
#include <stdlib.h>
#include <string.h>

static bool is_there(const cx_player *player, const char *symbol)
{
    for (int slot = 0; slot < CX_SLOT_COUNT; slot++)
        if (strcmp(cx_symbols[slot].symbol, symbol) == 0 ||
            strcmp(cx_symbols[slot].name, symbol) == 0)
            return !player->driver.missing[slot];
    return false;
}

static bool attribute_is_set(const cx_player *player, cxu_device_attribute attribute)
{
    int value = 0;
    return player->driver.table.device_get_attribute(&value, attribute, 0) == CXU_SUCCESS &&
           value != 0;
}

static bool peers_there(const cx_player *player)
{
    const cx_driver_table *table = &player->driver.table;
    int count = 0, can = 0;
    return table->device_get_count(&count) == CXU_SUCCESS && count >= 2 &&
           table->device_can_access_peer(&can, 0, 1) == CXU_SUCCESS && can != 0;
}

/* "12.5" as 12050; 0: no version. */
static int version_of(const char *word)
{
    char *end;
    long major = strtol(word, &end, 10);
    if (*end != '.' || major <= 0 || major > 1000)
        return 0;
    long minor = strtol(end + 1, &end, 10);
    return *end == '\0' && minor >= 0 && minor < 100 ? (int)(major * 1000 + minor * 10) : 0;
}

static bool need_is_met(cx_player *player, const char *word)
{
    if (strncmp(word, "cu", 2) == 0)
        return is_there(player, word);
    if (strcmp(word, "embedded") == 0)
        return player->tape->emulated;
    if (strcmp(word, "lz4") == 0)
        return !player->tape->emulated || cx_emu_unpacks(CX_EMU_PACKING_LZ4);
    if (strcmp(word, "zstd") == 0)
        return !player->tape->emulated || cx_emu_unpacks(CX_EMU_PACKING_ZSTD);
    if (strcmp(word, "peers") == 0)
        return peers_there(player);
    if (strcmp(word, "managed") == 0)
        return attribute_is_set(player, CXU_ATTRIBUTE_MANAGED_MEMORY);
    if (strcmp(word, "vmem") == 0)
        return attribute_is_set(player, CXU_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED);
    if (strcmp(word, "pools") == 0)
        return attribute_is_set(player, CXU_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
    return version_of(word) != 0 && player->tape->driver_version >= version_of(word);
}

static bool needs_line_met(cx_player *player, const cx_line *line)
{
    char words[256];
    char *rest;
    snprintf(words, sizeof words, "%s", line->text);
    for (char *word = strtok_r(words, " \t", &rest); word != NULL;
         word = strtok_r(NULL, " \t", &rest))
        if (!need_is_met(player, word)) {
            cx_tape_say(player->tape, true, "line %d: it needs %s, which this driver does not have",
                        line->number, word);
            return false;
        }
    return true;
}

static bool devices_there(cx_player *player, const cx_line *line)
{
    int count = 0;
    player->driver.table.device_get_count(&count);
    if (count >= line->devices)
        return true;
    cx_tape_say(player->tape, true, "line %d: it needs %d devices, and there %s %d", line->number,
                line->devices, count == 1 ? "is" : "are", count);
    return false;
}

bool cx_needs_met(cx_player *player, const cx_scenario *scenario)
{
    for (const cx_line *line = scenario->lines.first; line != NULL; line = line->next) {
        if (line->kind != CX_LINE_DIRECTIVE)
            continue;
        bool emulated_only =
            line->directive == CX_DIRECTIVE_SET ||
            (line->directive == CX_DIRECTIVE_SCHEDULE && strcmp(line->text, "threads") != 0);
        if (emulated_only && !player->tape->emulated) {
            cx_tape_say(player->tape, true, "line %d: it is for the embedded driver only",
                        line->number);
            return false;
        }
        if (line->directive == CX_DIRECTIVE_DEVICES && !devices_there(player, line))
            return false;
        if (line->directive == CX_DIRECTIVE_NEEDS && !needs_line_met(player, line))
            return false;
    }
    return true;
}
