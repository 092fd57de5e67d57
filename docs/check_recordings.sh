#!/bin/sh
# docs/semantics.md says of each rule on which recordings of tests/recorded it holds; `ctxrt compare --rules` knows.
# `. tests/environment.sh; sh $top_srcdir/docs/check_recordings.sh --renew` in a folder of a build writes it anew.
set -u
. "$top_srcdir/tests/support/tap.sh"
page=$top_srcdir/docs/semantics.md
recorded=$top_srcdir/tests/recorded

# RECORDING RULE VERDICT, of all recordings.
verdicts()
{
    for file in "$recorded"/*.txt; do
        name=${file##*/}
        name=${name%.txt}
        "$top_builddir/ctxrt" compare --rules "$file" > "$scratch/rules"
        [ $? -le 1 ] || return 1
        sed "s/^/${name%.probe} /" "$scratch/rules"
    done
}

# The page with the last cell of each rule's row as the verdicts are.
renewed()
{
    "${AWK:-awk}" '
        FNR == NR {
            if (!($1 in seen)) {
                seen[$1] = 1
                count++
            }
            if ($3 == "holds")
                holds[$2] = holds[$2] " " $1
            if ($3 == "holds")
                times[$2]++
            if ($3 == "differs")
                differs[$2] = differs[$2] " " $1
            next
        }
        /^\| [A-Z][0-9]+ \|/ {
            split($0, cell, / *\| */)
            rule = cell[2]
            text = times[rule] == count ? " all" : holds[rule] == "" ? " none" : holds[rule]
            if (differs[rule] != "")
                text = text "; not" differs[rule]
            sub(/\|[^|]*\|$/, "|" text " |")
        }
        { print }' "$scratch/verdicts" "$page"
}

verdicts > "$scratch/verdicts"
compared=$?
renewed > "$scratch/page"
if [ "${1-}" = --renew ]; then
    [ "$compared" -eq 0 ] && cat "$scratch/page" > "$page"
    exit
fi
echo 1..3
[ "$compared" -eq 0 ] && [ "$(cut -d ' ' -f 1 "$scratch/verdicts" | sort -u | wc -l)" -eq "$(ls "$recorded" | wc -l)" ]
report $? 'every_recording_can_be_compared'
: > "$scratch/errors"
diff "$page" "$scratch/page" > "$scratch/out"
report $? 'every_rule_says_on_which_recordings_it_holds'
for file in "$recorded"/*; do
    grep -q "tests/recorded/${file##*/}" "$top_srcdir/tests/probe/local.mk" || echo "tests/probe/local.mk has no ${file##*/}"
done > "$scratch/out"
[ ! -s "$scratch/out" ]
report $? 'every_recording_is_distributed'
