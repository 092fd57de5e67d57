#!/bin/sh
# ctxrt compare: where a recorded driver differs from the embedded one, or two recordings from each other; and what is no recording.
set -u
. "$top_srcdir/tests/support/tap.sh"
ctxrt=$top_builddir/ctxrt
recording=$top_srcdir/tests/recorded/embedded-13.0.probe.txt
a=$scratch/a
b=$scratch/b

compare() # exit status
{
    run "$ctxrt" compare "$a" "$b"
    [ "$status" -eq "$1" ]
}

good='# driver: 1
C1.a.x = SUCCESS(0)
C1.a.y = a = b

C1.a.z = timeout'

echo "$good" > "$a"
echo "$good" > "$b"
compare 0 && [ ! -s "$scratch/out" ] && [ ! -s "$scratch/errors" ]
report $? 'equal_recordings_have_no_table'
sed 's/driver: 1/driver: 2/' "$a" > "$b"
compare 0 && [ ! -s "$scratch/out" ]
report $? 'what_is_about_the_recording_is_not_compared'
sed 's/SUCCESS(0)/NOT_READY(600)/' "$a" > "$b"
compare 1 && grep -q '^  C1.a.x  *SUCCESS(0)  *NOT_READY(600)$' "$scratch/out" && grep -q '^C1 \[[DOUR? ]*\] [A-Z]' "$scratch/out" &&
    grep -q '^2 agree, 1 differ (rules: 1), 0 not seen$' "$scratch/out" && [ "$(wc -l < "$scratch/out")" -eq 4 ]
report $? 'a_difference_is_one_line'
sed 's/a = b/a = c/' "$a" > "$b"
compare 1 && grep -q '^  C1.a.y  *a = b  *a = c$' "$scratch/out"
report $? 'a_value_may_have_the_sign_of_equality'
grep -v 'C1.a.z' "$a" > "$b"
compare 1 && grep -q '^  C1.a.z  *timeout  *-$' "$scratch/out"
report $? 'what_only_the_first_has_is_shown'
{ echo "$good" && echo 'C1.b.x = 7'; } > "$b"
compare 1 && grep -q '^  C1.b.x  *-  *7$' "$scratch/out"
report $? 'what_only_the_second_has_is_shown'
cp "$recording" "$a"
cp "$recording" "$b"
compare 0
report $? 'a_real_recording_equals_itself'
sed 's/^S2.pop.empty = .*/S2.pop.empty = not reached: cuInit/' "$recording" > "$b"
compare 1 && grep -q '^  S2.pop.empty  ' "$scratch/out"
report $? 'between_two_recordings_what_is_not_seen_differs'

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
    compare 1 || [ "$status" -eq 2 ] || echo "cut at $cut: $status"
    { head -c "$cut" "$a" && printf '\377' && tail -c "+$((cut + 2))" "$a"; } > "$b"
    compare 0 || [ "$status" -le 2 ] || echo "changed at $cut: $status"
done > "$scratch/bad"
cp "$scratch/bad" "$scratch/out"
[ ! -s "$scratch/bad" ]
report $? 'no_cut_or_changed_recording_crashes_it'

# Beside the embedded driver.
beside() # exit status, option or recording...
{
    expected=$1
    shift
    run "$ctxrt" compare "$@"
    [ "$status" -eq "$expected" ]
}
for version in 12.9 13.0; do
    beside 0 "$top_srcdir/tests/recorded/embedded-$version.probe.txt" &&
        grep -q "^ctxrt emulated GPU, CUDA $version: 1[0-9]* agree, 0 differ (rules: 0), [1-9][0-9]* not seen\$" "$scratch/out"
    report $? "the_embedded_driver_of_${version}_does_not_differ_from_itself"
done
beside 1 "$recording" "$top_srcdir/tests/recorded/embedded-12.9.probe.txt"
report $? 'the_embedded_drivers_of_two_versions_differ'
sed -e 's/^S2.pop.empty = .*/S2.pop.empty = UNKNOWN(999)/' -e 's/^S1.push.depth = .*/S1.push.depth = needs 9 devices/' \
    -e '/^X/s/ = SUCCESS(0)$/ = UNKNOWN(999)/' "$recording" > "$a"
beside 1 "$a" && [ "$(sed -n 2p "$scratch/out" | cut -c 1-10)" = 'S2 [D O R]' ] &&
    grep -q '^  S2.pop.empty  *INVALID_CONTEXT(201)  *UNKNOWN(999)$' "$scratch/out" && ! grep -q 'S1.push' "$scratch/out" &&
    sed -n '/^Choices where the rules are silent$/,$p' "$scratch/out" | grep -q '^  X.* UNKNOWN(999)$'
report $? 'what_differs_is_under_its_rule_or_its_choice'
beside 1 --rules "$a" && grep -qx 'S2 differs' "$scratch/out" && grep -qx 'S3 holds' "$scratch/out" &&
    [ "$(grep -c . "$scratch/out")" -eq "$(grep -c '^| [A-Z][0-9]* |' "$top_srcdir/docs/semantics.md")" ]
report $? 'each_rule_has_a_verdict'
grep '^S2' "$recording" > "$a"
beside 0 "$a" && beside 0 --rules "$a" && grep -qx 'S2 holds' "$scratch/out" && grep -qx 'S3 unseen' "$scratch/out"
report $? 'what_a_recording_lacks_is_unseen'

# A real driver decides rules that were open.
sed -e 's/^# device: .*/# device: A GPU/' -e 's/^C5.destroy-primary.destroy = .*/C5.destroy-primary.destroy = SUCCESS(0)/' \
    -e '/^F3\./s/ = .*/ = needs a GPU/' "$recording" > "$a"
beside 1 "$a" && grep -q '^  confirmed: C3 S6 ' "$scratch/out" && grep -qx '  refuted: C5' "$scratch/out" &&
    grep -qx '  still open: F3' "$scratch/out"
report $? 'the_open_rules_that_a_real_driver_decides_are_listed'
beside 0 "$recording" && ! grep -q confirmed "$scratch/out"
report $? 'an_emulated_GPU_decides_none'

# What gpu-check writes: sections, with scenarios that the embedded driver plays.
{
    echo 'ctxrt gpu-check 1'
    echo '== machine'
    echo ' a GPU = that is no observation'
    echo '== probe'
    printf ' # driver: 12.9\n # device: A GPU\n S2.pop.empty = INVALID_CONTEXT(201)\n'
    echo '== scenario stack-pop.scn'
    printf ' A: ctx.create a -> SUCCESS\n A: ctx.pop -> SUCCESS a # S2 [D]\n A: ctx.pop -> SUCCESS none # S2 [O]\n'
    printf '== scenario good.scn\n A: ctx.get -> SUCCESS none\n'
} > "$b"
beside 1 "$b" && grep -q '^  stack-pop.scn:3: A: ctx.pop  *INVALID_CONTEXT untouched  *SUCCESS none$' "$scratch/out" &&
    grep -q '^S2 \[' "$scratch/out" && grep -q '^A GPU, CUDA 12.9: 4 agree, 1 differ (rules: 1), 0 not seen$' "$scratch/out"
report $? 'steps_of_scenarios_that_differ_are_under_their_rule'
sed 's/SUCCESS none # S2/INVALID_CONTEXT untouched # S2/' "$b" > "$a"
beside 0 "$a" && grep -q ': 5 agree, 0 differ' "$scratch/out"
report $? 'scenarios_that_agree_are_counted'
run env CTXRT_EMU_FAULT=cuCtxCreate@1:UNKNOWN CUDA_VISIBLE_DEVICES=-1 "$ctxrt" compare "$a"
[ "$status" -eq 0 ]
report $? 'the_embedded_driver_is_asked_as_it_is'
mkdir "$scratch/places"
TMPDIR=$scratch/places beside 0 "$a" && [ -z "$(ls "$scratch/places")" ]
report $? 'no_folder_is_left'
sed 's/^ A: ctx.get.*/ A: ctx.get -> /' "$b" | sed 's/^ A: ctx.create a.*/ A: no.such.verb/' > "$a"
beside 1 "$a" && grep -q 'played to its end$' "$scratch/out"
report $? 'a_scenario_that_is_none_is_told'
wrong() # name, lines behind the first; what is said
{
    printf 'ctxrt gpu-check 1\n%b' "$2" > "$a"
    beside 2 "$a" && failed_with 2 "$3"
    report $? "$1"
}
wrong 'a_file_without_answers_is_no_recording' '== machine\n a\n' 'no observations'
wrong 'a_line_without_a_blank_is_no_content' '== probe\nS2.a.b = 1\n' ':3: is neither'
wrong 'a_scenario_is_in_no_other_folder' '== scenario ../x.scn\n A: ctx.get\n' ":2: has no scenario's name"
wrong 'a_scenario_comes_once' '== scenario x.scn\n A: ctx.get\n== scenario x.scn\n A: ctx.get\n' ':4: repeats'
for options in '' '--rules a b' 'a b c' '--colour a'; do
    # shellcheck disable=SC2086
    run "$ctxrt" compare $options
    [ "$status" -eq 2 ] && [ ! -s "$scratch/out" ] || echo "$options: $status"
done > "$scratch/bad"
cp "$scratch/bad" "$scratch/out"
[ ! -s "$scratch/bad" ]
report $? 'wrong_use_prints_nothing_and_gives_2'
run sh -c "'$ctxrt' compare '$recording' > /dev/full"
[ "$status" -eq 2 ] && grep -q 'standard output could not be written' "$scratch/errors"
report $? 'output_that_cannot_be_written_is_an_error'
echo "1..$number"
