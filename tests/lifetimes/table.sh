#!/bin/sh
# The tables of docs/lifetimes.md are what tests/lifetimes/table finds.
document=$top_srcdir/docs/lifetimes.md
found=$(mktemp) || exit 99
written=$(mktemp) || exit 99
trap 'rm -f "$found" "$written" "$found.diff"' EXIT

echo 1..2
if "$top_builddir/tests/lifetimes/table" >"$found"; then
    echo 'ok 1 - the rules that hold for every row'
else
    echo 'not ok 1 - the rules that hold for every row'
    grep '^#[^#]' "$found"
fi

sed -n '/^### /,$p' "$document" >"$written"
if grep -v '^#[^#]' "$found" | diff "$written" - >"$found.diff"; then
    echo 'ok 2 - docs/lifetimes.md has the tables'
else
    echo 'not ok 2 - docs/lifetimes.md has the tables'
    sed 's/^/# /' "$found.diff" | head -n 40
fi
