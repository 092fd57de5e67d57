#!/bin/sh
# docs/check.md: the kinds are those of lib/layer/check/kinds.def, and the report of the example is what ctxrt check says.
# `docs/check_kinds.sh --renew` writes the kinds anew.
set -u
: "${CC:=cc}"
: "${top_srcdir:=$(dirname "$0")/..}"
page=$top_srcdir/docs/check.md

kinds() {
    awk -f "$top_srcdir/docs/check_kinds.awk" "$top_srcdir/lib/layer/check/kinds.def"
}

# The page up to the list of kinds.
head_of_page() {
    sed '/^<!-- kinds -->$/q' "$page"
}

if [ "${1:-}" = --renew ]; then
    { head_of_page; echo; kinds; } > "$page.new" && mv "$page.new" "$page"
    exit
fi
. "$top_srcdir/tests/support/tap.sh"

{ head_of_page; echo; kinds; } > "$scratch/page"
diff "$page" "$scratch/page" > "$scratch/out"
report $? 'the kinds are those of kinds.def (docs/check_kinds.sh --renew)'
[ "$(grep -c '^### ' "$page")" -eq "$(grep -c '^CX_KIND(' "$top_srcdir/lib/layer/check/kinds.def")" ] &&
    [ "$(grep -c '^### ' "$page")" -ge 45 ]
report $? 'no kind is left out'
sed -n 's/.*](\.\.\/\(tests\/misuse\/[a-z]*\/[a-z0-9-]*\.c\)).*/\1/p' "$page" | while read -r file; do
    [ -f "$top_srcdir/$file" ] || echo "$file"
done > "$scratch/out"
[ ! -s "$scratch/out" ]
report $? 'the programs that it links are there'

# The example: a ```text block behind the line that names its program.
program=$(sed -n 's/^<!-- report of \(.*\) -->$/\1/p' "$page")
awk '/^<!-- report of / { found = 1 } found && /^```text/ { inside = 1; next } /^```/ { inside = 0 } inside' "$page" > "$scratch/said"
if [ -n "$SANITIZERS" ]; then
    skip 'the report of the example is what ctxrt check says' "a sanitizer's origins are others"
else
    name=$(basename "$program" .c)
    cp "$top_srcdir/$program" "$scratch/$name.c" && (
        cd "$scratch" || exit 1
        $CC -g -O0 -I"$top_srcdir/tests/misuse" -o "$name" "$name.c" -L"$top_builddir/lib/shim/cuda-12/.libs" -l:libcuda.so.1 -pthread &&
            "$top_builddir/ctxrt" check "./$name" 2>&1 | sed 's/process [0-9]*/process N/' > out
    ) 2> "$scratch/errors"
    cmp -s "$scratch/said" "$scratch/out"
    report $? 'the report of the example is what ctxrt check says'
fi
echo "1..$number"
