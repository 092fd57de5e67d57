#!/bin/sh
# The table of docs/semantics.md against the scenarios: each rule has two at least, and names all that cite it.
# "coverage.sh --table RULE" prints what the row of a rule should say.
set -u
. "$top_srcdir/tests/support/tap.sh"
folder=$top_srcdir/tests/scenarios
table=$top_srcdir/docs/semantics.md

find "$folder" -name '*.scn' | LC_ALL=C sort | xargs "${AWK:-awk}" -f "$folder/cited.awk" > "$scratch/cited" 2> "$scratch/wrong"
cited=$?

scenarios() # rule
{
    sed -n "s,^$1 \([^ ]*\) .*,\1,p" "$scratch/cited" | paste -sd ' '
}

result() # rule
{
    if grep -q "^$1 .* unverified\$" "$scratch/cited"; then echo unverified; else echo holds; fi
}

# A cell of the row of a rule, by its number, without the blanks around it.
cell() # rule, number
{
    grep "^| *$1 *|" "$table" | awk -F '|' -v n="$2" '{ gsub(/^ +| +$/, "", $n); print $n }'
}

if [ "${1-}" = --table ]; then
    echo "$(scenarios "$2") | $(result "$2")"
    exit
fi

sed -n 's/^| *\([A-Z][0-9][0-9]*\) *|.*/\1/p' "$table" > "$scratch/rules"
cp "$scratch/wrong" "$scratch/errors"
: > "$scratch/out"
[ "$cited" -eq 0 ]
report $? 'every_scenario_cites_rules_and_marks_what_is_unverified'
cut -d ' ' -f 1 "$scratch/cited" | sort -u | grep -vxF -f "$scratch/rules" > "$scratch/errors"
[ $? -eq 1 ]
report $? 'every_cited_rule_is_in_the_table'
[ "$(wc -l < "$scratch/rules")" -ge 50 ] && [ -z "$(sort "$scratch/rules" | uniq -d)" ]
report $? 'the_table_has_every_rule_once'

while IFS= read -r rule; do
    {
        echo "scenarios: $(scenarios "$rule")"
        echo "result: $(result "$rule")"
    } > "$scratch/out"
    : > "$scratch/errors"
    [ "$(grep -c "^$rule " "$scratch/cited")" -ge 2 ]
    report $? "$rule has two scenarios"
    [ "$(cell "$rule" 5)" = "$(scenarios "$rule")" ] && [ "$(cell "$rule" 6)" = "$(result "$rule")" ]
    report $? "$rule names its scenarios and their result"
done < "$scratch/rules"
echo "1..$number"
