#!/bin/sh
# Each rule of the driver has its observations, and the embedded driver shows each rule that it has, or the
# recording says what that needs.
set -u
. "$top_srcdir/tests/support/tap.sh"
probe=$top_builddir/tests/probe/probe
recording=$top_srcdir/tests/recorded/embedded-13.0.probe.txt

documented()
{
    sed -n 's/^| *\([A-Z][0-9][0-9]*\) *|.*/\1/p' "$top_srcdir/docs/semantics.md"
}

# Also those that the embedded driver does not have yet.
rules()
{
    documented
    for family in I:5 C:6 S:6 Q:6 P:7 E:2 T:15 G:5 F:5 R:2 V:7; do
        seq -f "${family%:*}%.0f" 1 "${family#*:}"
    done
}

echo 1..6
"$probe" --list > "$scratch/list"

[ "$(documented | wc -l)" -ge 40 ]
report $? 'the_rules_are_found'

for rule in $(rules | sort -u); do
    count=$(grep -c "^[a-z]* $rule " "$scratch/list")
    [ "$count" -ge 2 ] || echo "$rule has $count observations"
done > "$scratch/out"
[ ! -s "$scratch/out" ]
report $? 'every_rule_has_two_observations_or_more'

rules | sort -u > "$scratch/rules"
awk '{ print $2 }' "$scratch/list" | grep -v '^X' | sort -u | comm -13 "$scratch/rules" - > "$scratch/out"
[ ! -s "$scratch/out" ]
report $? 'every_observation_is_of_a_rule_or_of_a_choice_that_has_none'

for rule in $(documented); do
    count=$(grep "^$rule\." "$recording" | grep -Evc ' = (not reached|missing|timeout|signal)')
    [ "$count" -ge 2 ] || echo "$rule is seen $count times"
done > "$scratch/out"
[ ! -s "$scratch/out" ]
report $? 'every_documented_rule_is_seen_in_the_recording_or_needs_what_is_not_there'

awk '{ print $3 }' "$scratch/list" | sort > "$scratch/names"
sed -n 's/^\([^# ]*\) = .*/\1/p' "$recording" | sort | diff "$scratch/names" - > "$scratch/out"
[ ! -s "$scratch/out" ]
report $? 'a_recording_has_the_listed_names_and_no_others'

# The table "More calls" has no rules: a call there that others recorded, or that is a question, is one that the probe makes.
sed -n '/^## More calls/,/^## Choices/p' "$top_srcdir/docs/semantics.md" | awk -F '|' '$4 ~ /R|[?]/ { print $2 }' |
    grep -o '\<cu[A-Z][A-Za-z0-9_]*' | sort -u > "$scratch/more"
[ "$(wc -l < "$scratch/more")" -gt 40 ] || echo 'the table was not found' > "$scratch/more"
while read -r call; do
    grep -Eq "^CALL\($call" "$top_srcdir/tests/probe/calls.def" || echo "$call is not asked"
done < "$scratch/more" > "$scratch/out"
[ ! -s "$scratch/out" ]
report $? 'every_other_call_that_others_recorded_is_asked_too'
