#!/bin/sh
# Plays the examples of docs/scenarios.md: a ```scn block passes, or prints what the ```text block behind it says, FILE standing
# for its name. The reference at the end is made of what `ctxrt play --verbs` prints.
set -u
. "$top_srcdir/tests/support/tap.sh"
page=$top_srcdir/docs/scenarios.md
play="$top_builddir/ctxrt play"

awk -v folder="$scratch" '
    /^```/ && !inside { inside = 1; file = sprintf("%s/%03d.%s", folder, ++count, substr($0, 4)); printf "" > file; next }
    /^```/ { inside = 0; close(file); next }
    inside { print > file }
    END { exit inside }' "$page"
report $? 'every block ends'

for block in "$scratch"/[0-9]*.scn; do
    number_of=$(basename "$block" .scn)
    said=$scratch/$(printf '%03d' $((${number_of#"${number_of%%[1-9]*}"} + 1))).text
    run $play "$block"
    if [ -f "$said" ]; then
        cat "$scratch/out" "$scratch/errors" | sed "s,$block,FILE,g" > "$scratch/all"
        [ "$status" -ne 0 ] && cmp -s "$said" "$scratch/all"
        report $? "it fails as it says: $(sed -n '$p' "$block")"
    else
        [ "$status" -eq 0 ]
        report $? "it passes: $(sed -n '1p' "$block")"
    fi
done

# Of a verb that is one call the page has no text: the call says it. What launches have in common is LAUNCH there.
launch=' \[to=<device-memory>\] \[from=<device-memory>\] [^`]*\[arguments=yes\]'
reference()
{
    echo '```'
    sed -n 's/^| `\([^`]*\)` | \(cu[A-Za-z0-9_]*\) |.*/\1: \2/p' "$scratch/out"
    echo '```'
    echo
    echo '| verb -> outputs | what |'
    echo '|---|---|'
    sed -n 's/^\(| `[^`]*` |\)  |/\1/p' "$scratch/out"
    echo
    sed -n '/^| numbers/,$p' "$scratch/out"
}
run $play --verbs
reference | sed "s/$launch/ LAUNCH/" > "$scratch/reference"
sed -n '/^LAUNCH stands for/,$p' "$page" | sed 1,2d | diff - "$scratch/reference" > "$scratch/errors" &&
    [ "$(grep -c '^| `\|: cu' "$scratch/reference")" -eq "$(grep -c '^| `' "$scratch/out")" ]
report $? 'the reference is what the list of verbs says'
echo "1..$number"
