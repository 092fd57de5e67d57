#!/bin/sh
# What a snapshot of an allocator says can be read by others: as JSON by python3 or jq.
set -u
. "$top_srcdir/tests/support/tap.sh"
sample=$top_builddir/tests/runtime/check_allocator_snapshot

if command -v python3 > /dev/null; then
    sum='import json, sys
root = json.load(sys.stdin)
blocks = [block for segment in root["segments"] for block in segment["blocks"] if block["state"] == "live"]
assert all("place" in block and int(block["address"], 16) > 0 for block in blocks)
print(len(blocks), sum(block["asked_bytes"] for block in blocks), root["bytes"]["current"])'
    read_it() { python3 -c "$sum"; }
elif command -v jq > /dev/null; then
    read_it() { jq -r '[.segments[].blocks[] | select(.state == "live")] as $live |
        "\($live | length) \($live | map(.asked_bytes) | add) " + (.bytes.current | tostring)'; }
else
    skip_all 'there is neither python3 nor jq'
fi

echo 1..1
run "$sample" --sample
read_it < "$scratch/out" > "$scratch/read" 2> "$scratch/errors"
[ "$status" -eq 0 ] && [ "$(cat "$scratch/read")" = '3 6000 6000' ]
report $? 'the_json_is_read_by_another_program'
