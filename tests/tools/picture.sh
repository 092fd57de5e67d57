#!/bin/sh
# Pictures of ctxrt draw in a headless Chromium: what is drawn against the JSON, patterns and colours, light and dark.
set -u
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/tools/browser.sh"
ctxrt=$top_builddir/ctxrt
page=$scratch/page.html
TMPDIR=$scratch
export TMPDIR

cat > "$scratch/0.json" << 'JSON'
{"threads": [{"thread": 7, "name": "a<b", "frames": [
 {"origin": "push", "device": "cuda:1", "context": 2, "context_kind": "created", "file": "a/rather/long/path/to/some/file.c", "line": 3},
 {"origin": "foreign", "device": "cuda:0", "context": 1, "context_kind": "primary"}]}],
 "detached": [{"thread": 9, "device": "cpu:0", "context": 4, "context_kind": "created"}],
 "contexts": [{"context": 1, "device": "cuda:0", "context_kind": "primary", "memory_bytes": 64, "streams": 1},
 {"context": 2, "device": "cuda:1", "context_kind": "created"}]}
JSON
cat > "$scratch/1.json" << 'JSON'
{"kind": "default", "context": "primary context 1 of cuda:2", "segments": [{"address": "0x1000", "bytes": 4096, "blocks": [
 {"address": "0x1000", "bytes": 256, "state": "live", "place": "main.c:3"}, {"address": "0x1100", "bytes": 1792, "state": "cached"},
 {"address": "0x1800", "bytes": 1024, "state": "quarantined"}, {"address": "0x1c00", "bytes": 1024, "state": "free"}]}]}
JSON
awk 'BEGIN {
    printf "{\"threads\": ["
    for (i = 1; i <= 24; i++)
        printf "%s{\"thread\": %d, \"frames\": [{\"device\": \"cuda:%d\", \"context\": %d}]}", (i > 1) ? "," : "", i, i % 8, i
    printf "], \"contexts\": ["
    for (i = 1; i <= 24; i++)
        printf "%s{\"device\": \"cuda:%d\", \"context\": %d}", (i > 1) ? "," : "", i % 8, i
    print "]}" }' > "$scratch/2.json"

"$ctxrt" play --json "$scratch/3.json" "$top_srcdir/tests/tools/story.scn" > "$scratch/out"
{
    printf '<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8"/>\n</head>\n<body>\n'
    for json in "$scratch"/[0123].json; do
        "$ctxrt" draw "$json" && printf '<script type="application/json">' && cat "$json" && echo '</script>'
    done
    echo '<script>' && cat "$top_srcdir/tools/theme/theme.js" && printf '</script>\n</body>\n'
} > "$page" 2> "$scratch/errors"
[ ! -s "$scratch/errors" ] && [ "$(grep -c '^<svg ' "$page")" -eq 4 ]
report $? 'pictures_are_drawn'

find_browser 'pictures in a browser'
open_page "$page" "$top_srcdir/tests/tools/picture_probe.js"
starts_browser 'pictures in a browser'
said 'done: true' && [ ! -s "$scratch/errors" ]
report $? 'the_browser_has_no_message'
while IFS='|' read -r what pattern; do
    said "$pattern"
    report $? "$what"
done << 'END'
frames_and_contexts_are_those_of_the_json|0 different: nothing
blocks_are_those_of_the_json|1 different: nothing
those_of_24_threads_too|2 different: nothing
stacks_fit_their_picture|0 outside: 0
blocks_fit_their_picture|1 outside: 0
24_threads_fit_their_picture|2 outside: 0
a_device_has_a_colour_and_a_context_a_pattern|0 fills: gpu1-1 gpu0-0 cpu-3 gpu0-0 gpu1-1
states_of_blocks_differ|1 fills: rgb(163, 102, 15) gpu2-1 gone rgb(255, 255, 255) rgb(163, 102, 15) gpu2-1 gone rgb(255, 255, 255)
each_pattern_is_defined|2 undefined: nothing
a_pattern_has_the_colour_of_the_palette|0 tile: gpu0-0 true
a_scenario_fits_its_picture|3 outside: 0
and_defines_its_fills|3 undefined: nothing
pointing_at_a_block_tells_it|1 hover: 0x1000 live 256 bytes, main.c:3; 0x1100 cached 1792 bytes; .*
stacks_have_a_legend|0 legend: current; foreign; colour: device, pattern: context
blocks_have_a_legend|1 legend: live; cached: freed, kept by a thread; quarantined: freed, in debug mode; free
it_is_light|0 background: rgb(255, 255, 255)
END
open_page "$page" "$top_srcdir/tests/tools/picture_probe.js" preferredColorScheme=0
said '0 background: rgb(27, 28, 31)' && said '1 fills: rgb(224, 169, 85) gpu2-1 .*' && said 'hard to read: nothing'
report $? 'it_is_dark_where_that_is_preferred'
echo "1..$number"
