#!/bin/sh
# docs/semantics.md says of each rule on which recordings of tests/recorded it holds; `ctxrt compare --rules` knows.
# `. tests/environment.sh; sh $top_srcdir/docs/check_recordings.sh --renew` in a folder of a build writes it anew, and turns the question
# (?) of each rule that holds on a GPU's recording into an observation (O).
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

# The page with the evidence and the last cell of each rule's row as the verdicts are.
renewed()
{
    "${AWK:-awk}" '
        function answered(evidence)
        {
            if (index(evidence, "O"))
                sub(/ *\?/, "", evidence)
            else if (evidence ~ /^D/) {
                sub(/ *\?/, "", evidence)
                sub(/^D/, "D O", evidence)
            } else
                sub(/\?/, "O", evidence)
            return evidence
        }
        FNR == NR {
            if (!($1 in seen)) {
                seen[$1] = 1
                count++
            }
            if ($3 == "holds")
                holds[$2] = holds[$2] " " $1
            if ($3 == "holds")
                times[$2]++
            if ($3 == "holds" && $1 !~ /^embedded/)
                real[$2]++
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
            at = index($0, "| " cell[4] " |")
            if (real[rule] && index(cell[4], "?") && at > 0)
                $0 = substr($0, 1, at + 1) answered(cell[4]) substr($0, at + 2 + length(cell[4]))
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
echo 1..5
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

# As if a GPU had answered like the embedded driver, but for one rule.
tree=$scratch/tree
mkdir -p "$tree/docs" "$tree/tests/recorded"
ln -s "$top_srcdir/tests/support" "$tree/tests/support"
cp "$page" "$tree/docs/"
sed -e 's/^# device: .*/# device: A GPU/' -e 's/^C5.destroy-primary.destroy = .*/C5.destroy-primary.destroy = SUCCESS(0)/' \
    "$recorded/embedded-13.0.probe.txt" > "$tree/tests/recorded/a-gpu-13.0.txt"
top_srcdir=$tree sh "$0" --renew
grep -h '^| S6 |\|^| T7 |\|^| K5 |\|^| G2 |\|^| V6 |' "$tree/docs/semantics.md" | sed 's/^| \([A-Z0-9]*\) |.*| \([A-Z ?]*\) | [a-z].*/\1: \2/' > "$scratch/out"
[ "$(tr '\n' ',' < "$scratch/out")" = 'S6: O R,T7: O R,K5: D O,V6: D O U,G2: D O R,' ]
report $? 'a_GPU_that_agrees_turns_questions_into_observations'
grep '^| [A-Z][0-9]* |' "$tree/docs/semantics.md" | grep '[A-Z ]? [A-Z ]*|\|| ? |' > "$scratch/out"
[ "$(cut -c 1-6 "$scratch/out")" = '| C5 |' ]
report $? 'only_those_that_it_refutes_stay_open'
