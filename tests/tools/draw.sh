#!/bin/sh
# ctxrt draw: what it draws, and every way to use it wrongly.
set -u
. "$top_srcdir/tests/support/tap.sh"
ctxrt=$top_builddir/ctxrt

echo 1..17
cat > "$scratch/stacks.json" <<'JSON'
{"schema": 1, "threads": [{"thread": 7, "name": "a<b", "frames": [
 {"level": 1, "origin": "push", "device": "cuda:1", "context": 2, "context_kind": "created", "file": "x.c", "line": 3},
 {"level": 0, "origin": "set", "device": "cuda:0", "context": 1, "context_kind": "primary"}]}],
 "detached": [{"thread": 9, "device": "cuda:0", "context": 1, "context_kind": "primary"}],
 "contexts": [{"context": 1, "device": "cuda:0", "context_kind": "primary", "native": "0x1", "holds": 0,
 "memory_bytes": 64, "streams": 1}], "host": {"memory_bytes": 5, "memory_count": 1}}
JSON
cat > "$scratch/blocks.json" <<'JSON'
{"schema": 1, "kind": "default", "context": "primary context 1 of cuda:0", "bytes": {"current": 64},
 "segments": [{"address": "0x1000", "bytes": 4096, "blocks": [
 {"address": "0x1000", "bytes": 256, "state": "live", "place": "main.c:3"},
 {"address": "0x1100", "bytes": 3840, "state": "free"}]}]}
JSON

run "$ctxrt" draw --help
printed '--output'
report $? 'help_lists_the_options'
run "$ctxrt" draw "$scratch/stacks.json"
printed 'thread 7<' && printed 'a&lt;b<' && printed 'cuda:1  push<' && printed 'x.c:3<' &&
    printed 'by thread 9<' && printed 'host: 5 bytes<' && [ "$(grep -c 'class="box frame"' "$scratch/out")" = 3 ] &&
    [ "$(grep -c 'class="box context"' "$scratch/out")" = 1 ]
report $? 'stacks_are_drawn'
[ "$(grep -o 'fill="url(#[a-z0-9-]*)"' "$scratch/out" | tr '\n' ' ')" = \
    'fill="url(#gpu1-1)" fill="url(#gpu0-0)" fill="url(#gpu0-0)" fill="url(#gpu0-0)" ' ] &&
    [ "$(grep -c '<pattern ' "$scratch/out")" = 2 ]
report $? 'a_device_has_a_colour_and_a_context_a_pattern'
awk 'BEGIN { printf "{\"threads\": ["; for (i = 1; i <= 24; i++) printf "%s{\"thread\": %d, \"frames\": [{\"device\": \"cuda:%d\"}]}",
    (i > 1) ? "," : "", i, i % 8; print "], \"contexts\": []}" }' > "$scratch/many.json"
run "$ctxrt" draw "$scratch/many.json"
[ "$(grep -c 'class="box frame"' "$scratch/out")" = 24 ] && printed '<svg .* width="1[0-9][0-9][0-9]"' &&
    [ "$(sed -n 's/.*y="\([0-9]*\)".*>thread [0-9]*<.*/\1/p' "$scratch/out" | sort -u | wc -l)" = 4 ]
report $? '24_threads_wrap_into_rows'
run "$ctxrt" draw --columns 3 "$scratch/many.json"
width=$(sed -n 's/^<svg .* width="\([0-9]*\)".*/\1/p' "$scratch/out")
[ "$(grep -c 'class="box frame"' "$scratch/out")" = 24 ] && [ "${width:-801}" -le 800 ]
report $? 'three_columns_are_as_wide_as_a_page'
run "$ctxrt" draw --columns 0 "$scratch/many.json"
failed_with 2 '--columns 0: it is a number from 1 to 100'
report $? 'no_columns_are_wrong_use'
run "$ctxrt" draw "$scratch/blocks.json"
printed 'default allocator of primary context 1 of cuda:0<' &&
    printed '<title>0x1000 live 256 bytes, main.c:3</title>' && [ "$(grep -c '<title>' "$scratch/out")" = 2 ] &&
    printed '>cached: freed, kept by a thread<' && printed '>3840</text>'
report $? 'blocks_are_drawn'
"$ctxrt" draw -o "$scratch/picture" - < "$scratch/blocks.json" && cmp -s "$scratch/picture" "$scratch/out"
report $? 'the_standard_input_is_read_and_a_file_is_written'
echo '{"schema": 1' > "$scratch/broken"
run "$ctxrt" draw "$scratch/broken"
failed_with 1 'broken is no snapshot: line 2'
report $? 'broken_json_is_an_error_with_its_line'
echo '[1]' > "$scratch/other"
run "$ctxrt" draw "$scratch/other"
failed_with 1 'it has neither threads nor segments'
report $? 'other_json_is_an_error'
run "$ctxrt" draw "$scratch/none"
failed_with 1 'none cannot be read: No such file or directory'
report $? 'a_file_that_is_not_there_is_an_error'
run "$ctxrt" draw -o "$scratch/none/picture" "$scratch/blocks.json"
failed_with 1 'No such file'
report $? 'a_file_that_cannot_be_written_is_an_error'
run "$ctxrt" draw "$scratch/stacks.json" "$scratch/blocks.json"
failed_with 2 'one argument too many'
report $? 'a_second_argument_is_wrong_use'

# A scenario: its panels against the stacks that --show prints.
story=$top_srcdir/tests/tools/story.scn
"$ctxrt" play --json "$scratch/story.json" --show "$story" > "$scratch/shown" 2> "$scratch/errors"
run "$ctxrt" draw "$scratch/story.json"
cp "$scratch/out" "$scratch/story.svg"
steps=$(grep -c '^ *[0-9]*  [A-Z]*: ' "$scratch/shown")
printed '<svg ' && [ "$steps" -eq 15 ] && [ "$(grep -c '<g class="step">' "$scratch/out")" -eq "$steps" ] &&
    [ "$(grep -c 'class="box entry' "$scratch/out")" -eq "$(grep -o '\[[a-z]*[],]' "$scratch/shown" | wc -l)" ] &&
    [ "$(grep -c 'class="box entry current' "$scratch/out")" -eq "$(grep -c -- '<- current' "$scratch/shown")" ] &&
    [ "$(grep -c 'class="box entry.* ended"' "$scratch/out")" -eq "$(grep -o ', destroyed' "$scratch/shown" | wc -l)" ] &&
    grep -q ', destroyed' "$scratch/shown"
report $? 'a_scenario_has_a_panel_for_each_step_with_the_stacks_that_show_prints'
sed -n 's/^ *\([0-9]*  [A-Z]: .*[^ ]\)  -> .*/\1/p' "$scratch/shown" > "$scratch/calls"
sed -n 's/.*class="call"[^>]*>\(.*\)<.text>/\1/p' "$scratch/story.svg" | cmp -s - "$scratch/calls"
report $? 'its_calls_are_those_of_the_scenario'
grep -q '>a on GPU 0: p=07, stream s, h=07,<' "$scratch/story.svg" && grep -q '>event e<' "$scratch/story.svg" && grep -q '>stream s (1 not waited for), h=07' "$scratch/story.svg" &&
    grep -q '>thick border: current; ' "$scratch/story.svg" && grep -q 'p=07: each byte' "$scratch/story.svg"
report $? 'and_a_context_is_told_with_what_it_holds'
echo '{"scenarios": [null, {"steps": [null]}]}' > "$scratch/other"
run "$ctxrt" draw "$scratch/other"
failed_with 1 'nor the steps of one scenario'
report $? 'a_scenario_without_a_step_is_an_error'
