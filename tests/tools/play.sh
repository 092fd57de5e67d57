#!/bin/sh
# ctxrt play: options, exit statuses and what is printed.
set -u
. "$top_srcdir/tests/support/tap.sh"
ctxrt=$top_builddir/ctxrt
shim=$top_builddir/lib/shim
good=$scratch/good.scn
bad=$scratch/bad.scn
broken=$scratch/broken.scn
lacking=$scratch/lacking.scn
printf 'A: ctx.create a\nA: ctx.get -> SUCCESS a\n' > "$good"
printf 'A: ctx.create a\nA: ctx.get -> SUCCESS none # S4 [D]\n' > "$bad"
printf 'A: ctx.get\nA: ctx.gte\n' > "$broken"
printf 'needs 99.0\nA: ctx.get\n' > "$lacking"

run "$ctxrt" play --help
printed '--record' && grep -q ' 77$' "$scratch/out"
report $? 'help_lists_options_and_statuses'
run "$ctxrt" play
failed_with 2 'name a scenario.*ctxrt play --help'
report $? 'no_scenario_is_wrong_use'
run "$ctxrt" play --speed 3 "$good"
failed_with 2 "'--speed'"
report $? 'an_unknown_option_is_wrong_use'
for wrong in --driver=rocm --schedule=later --timeout=0 --timeout=3x --timeout= --driver=libcuda= --driver=cuda --record= --html=; do
    run "$ctxrt" play "$wrong" "$good"
    failed_with 2 "${wrong%%=*}"
    report $? "$wrong is wrong use"
done

run "$ctxrt" play "$good"
printed "^$good: passed\$"
report $? 'a_scenario_that_holds_passes'
run "$ctxrt" play "$bad"
[ "$status" -eq 1 ] && grep -q "^$bad: FAILED\$" "$scratch/out" && grep -q "^$bad:2: A: ctx.get\$" "$scratch/errors" &&
    grep -q 'rule      S4 \[D\]' "$scratch/errors"
report $? 'a_scenario_that_does_not_fails_with_its_rule'
run "$ctxrt" play "$broken"
[ "$status" -eq 2 ] && grep -q "^$broken:2:4: .*did you mean 'ctx.get'" "$scratch/errors" &&
    [ "$(sed -n 3p "$scratch/errors")" = '   ^' ]
report $? 'no_scenario_is_told_with_line_and_column'
: > "$scratch/empty.scn"
printf '# Nothing but words.\ndevices 2\n\n' > "$scratch/words.scn"
for empty in empty words; do
    run "$ctxrt" play "$scratch/$empty.scn"
    failed_with 2 "$empty.scn: there is no step in it"
    report $? "a_scenario_without_a_step_is_wrong_use_$empty"
done
run "$ctxrt" play "$good" "$scratch/empty.scn"
[ "$status" -eq 2 ] && grep -q "^$good: passed\$" "$scratch/out"
report $? 'and_does_not_keep_others_from_being_played'
run "$ctxrt" play "$scratch/nowhere.scn"
failed_with 2 'nowhere.scn: cannot be read: No such file'
report $? 'a_file_that_is_not_there_is_wrong_use'
run "$ctxrt" play "$scratch"
failed_with 2 'cannot be read: Is a directory'
report $? 'a_folder_is_wrong_use'
run "$ctxrt" play "$lacking"
[ "$status" -eq 77 ] && grep -q 'it needs 99.0' "$scratch/out"
report $? 'what_is_not_there_is_77'
run "$ctxrt" play --driver libcuda=/nowhere/libcuda.so.1 "$good"
[ "$status" -eq 77 ] && grep -q 'could not be loaded' "$scratch/out"
report $? 'a_driver_that_is_not_there_is_77'
run "$ctxrt" play "$lacking" "$good"
[ "$status" -eq 0 ]
report $? 'one_that_was_played_is_enough'
run "$ctxrt" play "$good" "$bad" "$lacking"
[ "$status" -eq 1 ] && [ "$(wc -l < "$scratch/out")" -eq 4 ]
report $? 'one_that_fails_is_a_failure_and_the_others_are_played'
run "$ctxrt" play "$bad" "$broken"
[ "$status" -eq 2 ]
report $? 'one_that_is_no_scenario_is_wrong_use'
run sh -c "'$ctxrt' play - < '$good'"
printed '^-: passed$'
report $? 'a_dash_is_the_standard_input'
run sh -c "'$ctxrt' play '$good' > /dev/full"
[ "$status" -eq 1 ] && grep -q 'could not be written' "$scratch/errors"
report $? 'output_that_cannot_be_written_is_a_failure'

for cuda in 12 13; do
    run "$ctxrt" play --driver "libcuda=$shim/cuda-$cuda/.libs/libcuda.so.1" "$good"
    printed ': passed$'
    report $? "it plays on the stand-in of CUDA $cuda"
done
run env LD_LIBRARY_PATH="$shim/cuda-12/.libs" "$ctxrt" play --driver libcuda "$good"
printed ': passed$'
report $? 'the_driver_cuda_is_libcuda'
run "$ctxrt" play --schedule random:7 --timeout 20 "$good"
printed ': passed$'
report $? 'a_schedule_can_be_chosen'

run "$ctxrt" play --show "$good"
printed '^   1  A: ctx.create a  -> SUCCESS$' && grep -q '^      A       | \[a\] <- current$' "$scratch/out"
report $? 'show_draws_the_stacks'
run "$ctxrt" play --print "$good"
printed '^A: ctx.get                       -> SUCCESS a$'
report $? 'print_prints_and_plays_nothing'
run "$ctxrt" play --verbs
printed 'cuCtxPushCurrent_v2'
report $? 'verbs_prints_the_reference'

page=$scratch/page.html
cat > "$scratch/fork.scn" << 'EOF'
# Before & after <the fork>.
A: ctx.create a
A: fork {
    A: ctx.get                   -> NOT_INITIALIZED
}
B: ctx.push a
A: ctx.destroy a
EOF
run "$ctxrt" play --html "$page" "$scratch/fork.scn" "$bad"
[ "$status" -eq 1 ] && [ "$(grep -c '^,{"line"' "$page")" -eq 6 ] && [ "$(grep -c '^,{"devices"' "$page")" -eq 2 ] &&
    [ "$(grep -c '^,{.*"expected":"SUCCESS none"' "$page")" -eq 1 ] &&
    grep -q 'Before \\u0026 after \\u003cthe fork>' "$page" && grep -q '"stacks":\[.*\["B",\[0,true,"a"\]\]' "$page" &&
    grep -q '^"S4":{.*"words":' "$page" && grep -q '^</html>$' "$page"
report $? 'html_has_each_step_of_each_scenario_and_its_stacks'
run "$ctxrt" play --html "$bad" "$scratch/fork.scn"
failed_with 2 "$bad would be written over" && grep -q 'ctx' "$bad"
report $? 'no_scenario_is_written_over'
run "$ctxrt" play --html "$page" --json "$page.json" "$scratch/fork.scn"
failed_with 2 'say --html or --json, not both'
report $? 'a_page_and_json_are_two_calls'
run "$ctxrt" play --json "$scratch/json" "$scratch/fork.scn" "$bad"
sed -n '/id="played">/,/^]}/{s/.*id="played">//; s/<.script>$//; s/"process":[0-9]*//; p}' "$page" > "$scratch/of_page"
[ -s "$scratch/of_page" ] && sed 's/"process":[0-9]*//' "$scratch/json" | cmp -s - "$scratch/of_page"
report $? 'json_is_that_of_the_page'
run "$ctxrt" play --random 7,40 --html "$scratch/random.html"
[ "$status" -eq 0 ] && [ "$(grep -c '^,{"devices"' "$scratch/random.html")" -eq 1 ] &&
    [ "$(grep -c '^,{"line"' "$scratch/random.html")" -ge 40 ]
report $? 'html_has_a_scenario_made_up_too'
if command -v python3 > /dev/null; then
    python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$page" > "$scratch/out" 2> "$scratch/errors"
    report $? 'html_is_well_formed'
else
    skip 'html_is_well_formed' 'python3 is not installed'
fi
run "$ctxrt" play --html "$scratch/nowhere/page.html" "$good"
failed_with 2 'nowhere/page.html cannot be written'
report $? 'a_page_that_cannot_be_written_is_wrong_use'
run "$ctxrt" play --html /dev/full "$good"
[ "$status" -eq 1 ] && grep -q '/dev/full could not be written' "$scratch/errors"
report $? 'a_page_that_does_not_fit_is_a_failure'

mkdir "$scratch/group" "$scratch/recorded"
cp "$bad" "$scratch/group/bad.scn"
run "$ctxrt" play --record "$scratch/recorded" "$scratch/group/bad.scn"
[ "$status" -eq 1 ] && grep -q '^# recorded on ctxrt emulated GPU, CUDA 13.0, 20' "$scratch/recorded/group-bad.scn" &&
    grep -q 'ctx.get  *-> SUCCESS a  *# S4 \[D\]' "$scratch/recorded/group-bad.scn"
report $? 'a_recording_has_device_version_date_and_what_came_back'
run "$ctxrt" play "$scratch/recorded/group-bad.scn"
printed ': passed$'
report $? 'a_recording_plays_again'
run "$ctxrt" play --record "$scratch/nowhere" "$good"
[ "$status" -eq 1 ] && grep -q 'nowhere/.*cannot be written' "$scratch/errors"
report $? 'a_recording_that_cannot_be_written_is_a_failure'
echo "1..$number"
