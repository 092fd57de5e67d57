#!/bin/sh
# probe --compare: what differs between two recordings, and what is no recording.
set -u
. "$top_srcdir/tests/support/tap.sh"
probe=$top_builddir/tests/probe/probe
recording=$top_srcdir/tests/recorded/embedded-13.0.probe.txt
a=$scratch/a
b=$scratch/b

compare() # exit status
{
    run "$probe" --compare "$a" "$b"
    [ "$status" -eq "$1" ]
}

good='# driver: 1
C1.a.x = SUCCESS(0)
C1.a.y = a = b

C1.a.z = timeout'

echo 1..22
echo "$good" > "$a"
echo "$good" > "$b"
compare 0 && [ ! -s "$scratch/out" ] && [ ! -s "$scratch/errors" ]
report $? 'equal_recordings_have_no_table'
sed 's/driver: 1/driver: 2/' "$a" > "$b"
compare 0 && [ ! -s "$scratch/out" ]
report $? 'what_is_about_the_recording_is_not_compared'
sed 's/SUCCESS(0)/NOT_READY(600)/' "$a" > "$b"
compare 1 && grep -q '^C1.a.x  *SUCCESS(0)  *NOT_READY(600)$' "$scratch/out" && [ "$(wc -l < "$scratch/out")" -eq 2 ]
report $? 'a_difference_is_one_line'
sed 's/a = b/a = c/' "$a" > "$b"
compare 1 && grep -q '^C1.a.y  *a = b  *a = c$' "$scratch/out"
report $? 'a_value_may_have_the_sign_of_equality'
grep -v 'C1.a.z' "$a" > "$b"
compare 1 && grep -q '^C1.a.z  *timeout  *-$' "$scratch/out"
report $? 'what_only_the_first_has_is_shown'
{ echo "$good" && echo 'C1.b.x = 7'; } > "$b"
compare 1 && grep -q '^C1.b.x  *-  *7$' "$scratch/out"
report $? 'what_only_the_second_has_is_shown'
cp "$recording" "$a"
cp "$recording" "$b"
compare 0
report $? 'a_real_recording_equals_itself'

malformed() # name, what is said; the second file is no recording, and then the first one
{
    echo "$good" > "$a"
    compare 2 && failed_with 2 "$2" && {
        rm -rf "$a"
        [ ! -e "$b" ] || mv "$b" "$a"
        echo "$good" > "$b"
        compare 2 && failed_with 2 "$2"
    }
    report $? "$1"
    rm -rf "$a" "$b"
}
rm "$b"
malformed 'a_missing_file_is_no_recording' 'cannot be opened'
mkdir "$b"
malformed 'a_folder_is_no_recording' 'cannot be read'
: > "$b"
malformed 'an_empty_file_is_no_recording' 'no observations'
echo '# driver: 1' > "$b"
malformed 'a_head_alone_is_no_recording' 'no observations'
{ echo "$good" && echo 'C1.b.x'; } > "$b"
malformed 'a_line_needs_a_value' ':6: .*NAME = VALUE'
{ echo "$good" && echo 'C1.b.x = '; } > "$b"
malformed 'a_value_is_not_empty' ':6: has no value'
{ echo "$good" && echo ' = 7'; } > "$b"
malformed 'a_line_needs_a_name' ':6: has no observation'
{ echo "$good" && echo 'no name = 7'; } > "$b"
malformed 'a_name_has_no_blanks' ':6: has no observation'
{ echo "$good" && echo "$good"; } > "$b"
malformed 'a_name_comes_once' ':7: repeats'
printf '%s' "$good" > "$b"
malformed 'a_cut_line_is_no_line' 'middle of a line'
printf 'C1.b.x = 7\0\n' > "$b"
malformed 'a_zero_byte_is_in_no_recording' 'zero byte'
printf 'C1.b.x = 7\0338\n' > "$b"
malformed 'a_control_character_is_in_no_recording' ':1: .*control'
awk 'BEGIN { for (i = 0; i < 500000; i++) print "C1.a.n" i " = 7" }' > "$b"
malformed 'a_huge_file_is_no_recording' 'too long for a recording'
{ printf 'C1.b.x = ' && head -c 100000 /dev/zero | tr '\0' x && echo; } > "$b"
malformed 'a_huge_line_is_no_observation' ':1: .*too long'

# Every cut of a recording, and other bytes at many places: never a crash.
head -c 1500 "$recording" | sed '$d' > "$a"
size=$(wc -c < "$a")
for cut in $(seq 1 19 "$size"); do
    head -c "$cut" "$a" > "$b"
    compare 1 || compare 2 || echo "cut at $cut: $status"
    { head -c "$cut" "$a" && printf '\377' && tail -c "+$((cut + 2))" "$a"; } > "$b"
    compare 0 || compare 1 || compare 2 || echo "changed at $cut: $status"
done > "$scratch/bad"
cp "$scratch/bad" "$scratch/out"
[ ! -s "$scratch/bad" ]
report $? 'no_cut_or_changed_recording_crashes_it'
