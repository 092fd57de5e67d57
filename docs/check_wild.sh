#!/bin/sh
# docs/found-in-the-wild.md: each finding has a program of ours, which expects its kinds, and a twin that has none.
# tests/misuse/run.sh runs them.
set -u
. "$top_srcdir/tests/support/tap.sh"
page=$top_srcdir/docs/found-in-the-wild.md
misuse=$top_srcdir/tests/misuse

grep '^| [A-Z]' "$page" > "$scratch/rows"
[ "$(wc -l < "$scratch/rows")" -ge 9 ]
report $? 'the page has findings'

while read -r row; do
    programs=$(echo "$row" | grep -o '](\.\./tests/misuse/planted/[a-z0-9-]*\.c)' | sed 's,.*/,,; s/)$//')
    [ -n "$programs" ] || echo "no program of ours: $row"
    for program in $programs; do
        [ -f "$misuse/clean/$program" ] || echo "there is no clean/$program"
        sed -n 's/^ \* expect: //p' "$misuse/planted/$program" || echo "there is no planted/$program"
    done | sort -u > "$scratch/expected"
    grep ' ' "$scratch/expected"
    echo "$row" | cut -d '|' -f 2 | grep -o '[A-Z]*-[A-Z-]*' | sort -u | comm -3 - "$scratch/expected" |
        sed "s/^/not the same in the page and in the programs: /"
done < "$scratch/rows" > "$scratch/out" 2>&1
[ ! -s "$scratch/out" ]
report $? 'each has a program of ours that expects its kinds'
echo "1..$number"
