#!/bin/sh
# The table of docs/frames.md is what tests/guest/table finds.
document=$top_srcdir/docs/frames.md
found=$(mktemp) || exit 99
written=$(mktemp) || exit 99
trap 'rm -f "$found" "$written"' EXIT

echo 1..2
if "$top_builddir/tests/guest/table" >"$found"; then
    echo 'ok 1 - the rules that hold for every row'
else
    echo 'not ok 1 - the rules that hold for every row'
    grep '^#[^#]' "$found"
fi

sed -n '/^### Policy `follow`/,$p' "$document" >"$written"
if grep -v '^#[^#]' "$found" | diff "$written" - >"$found.diff"; then
    echo 'ok 2 - docs/frames.md has the table'
else
    echo 'not ok 2 - docs/frames.md has the table'
    sed 's/^/# /' "$found.diff" | head -n 40
fi
rm -f "$found.diff"
