#!/bin/sh
# The stand-in in front of another libcuda: every scenario gives what it gives without, and the layer sees calls whatever
# way they come.
set -u
. "$top_srcdir/tests/support/tap.sh"
ctxrt=$top_builddir/ctxrt
front=$top_builddir/lib/shim/cuda-13/.libs/libcuda.so.1
other=$top_builddir/tests/standin/.libs/other.so
unset CTXRT_LAYERS CTXRT_STANDIN_LIBCUDA

# Another stand-in: the same code at another path.
mkdir "$scratch/behind"
cp -L "$front" "$scratch/behind/libcuda.so.1"
behind=$scratch/behind/libcuda.so.1

# ---- scenarios ----

# Where sanitizers watch, one of eight: tests/scenarios/play.sh gives them all scenarios.
chosen=p
[ -z "$SANITIZERS" ] || [ "$CTXRT_TEST_EXTENT" = soak ] || chosen='1~8p'
find "$top_srcdir/tests/scenarios" -name '*.scn' | LC_ALL=C sort | sed -n "$chosen" > "$scratch/files"

# Keeps what came back of each scenario, without the line of date and driver.
record() # folder, variable...
{
    folder=$1
    shift
    mkdir "$scratch/$folder"
    env CTXRT_LOG=off "$@" xargs "$ctxrt" play --timeout 60 --schedule lazy --driver="libcuda=$front" \
        --record "$scratch/$folder" < "$scratch/files" > "$scratch/$folder.out" 2> "$scratch/$folder.errors"
    sed -i '/^# recorded on /d' "$scratch/$folder"/*
}

same_as_without() # folder
{
    diff -r "$scratch/without" "$scratch/$1" > "$scratch/out" &&
        diff "$scratch/without.out" "$scratch/$1.out" > "$scratch/out" &&
        diff "$scratch/without.errors" "$scratch/$1.errors" > "$scratch/out"
}

record without
ls "$scratch/without" > "$scratch/out"
[ "$(wc -l < "$scratch/out")" -gt $(($(wc -l < "$scratch/files") * 3 / 4)) ]
report $? 'scenarios_are_recorded'
record interposed CTXRT_STANDIN_LIBCUDA="$behind"
same_as_without interposed
report $? 'every_scenario_gives_the_same_in_front_of_another_stand_in'
record checked CTXRT_STANDIN_LIBCUDA="$behind" CTXRT_LAYERS=check
same_as_without checked
report $? 'and_with_the_layer_between'

# Under the schedule lazy a query runs one more piece of work, and the events around it are two more: these two poll.
polling='memory_that_synchronises\|polling_gets_there'
mkdir "$scratch/traces"
record timed CTXRT_STANDIN_LIBCUDA="$behind" CTXRT_LAYERS=trace CTXRT_TRACE_EVENTS=1 CTXRT_TRACE_FOLDER="$scratch/traces"
rm -f "$scratch"/*/work-memory_that_synchronises.scn "$scratch"/*/work-polling_gets_there.scn
sed -i "\\,/work/\\($polling\\)[.]scn: \\(passed\\|FAILED\\)\$,d" "$scratch/without.out" "$scratch/timed.out"
sed -i "/$polling\\|^    /d" "$scratch/without.errors" "$scratch/timed.errors"
same_as_without timed && [ -n "$(ls "$scratch/traces")" ]
report $? 'and_with_work_timed_by_events'

# ---- ways in ----

cat > "$scratch/expected" << 'END'
HANDLE-ENDED by_name_of_the_thread
HANDLE-ENDED by_symbol_of_the_thread
STACK-POP-EMPTY by_dlsym
STACK-POP-EMPTY by_name
STACK-POP-EMPTY by_name_without_status
STACK-POP-EMPTY by_old_symbol
STACK-POP-EMPTY by_symbol
END
sees_each_way() # option...
{
    run "$ctxrt" check --only STACK-POP-EMPTY --only HANDLE-ENDED "$@" "$top_builddir/tests/standin/ways_in"
    sed -n -e 's/^ctxrt check: error \([A-Z-]*\):.*/\1/p' -e 's/^  called by .* in \(by_[a-z_]*\)().*/\1/p' \
        "$scratch/errors" | paste -d ' ' - - | LC_ALL=C sort > "$scratch/seen"
    [ "$status" -eq 1 ] && [ "$(cat "$scratch/out")" = 1805 ] && cmp -s "$scratch/seen" "$scratch/expected"
}

if "$ctxrt" check --help > /dev/null && [ -z "$SANITIZERS" ]; then
    sees_each_way
    report $? 'each_way_in_is_seen_in_front_of_the_embedded_driver'
    sees_each_way --driver "libcuda=$behind"
    report $? 'in_front_of_another_stand_in'
    sees_each_way --driver "libcuda=$other"
    report $? 'and_in_front_of_a_libcuda_that_is_not_ours'
else
    for what in each_way_in_is_seen_in_front_of_the_embedded_driver in_front_of_another_stand_in \
        and_in_front_of_a_libcuda_that_is_not_ours; do
        skip "$what" 'origins are those of the sanitizer'
    done
fi

# ---- forks ----

# Two copies of the code have locks that a fork takes, each its own.
children_are_well() # variable...
{
    run env CTXRT_LOG=error CTXRT_TRACE_FOLDER="$scratch/traces" CTXRT_REPORT_FOLDER="$scratch/traces" \
        LD_LIBRARY_PATH="$top_builddir/lib/shim/cuda-13/.libs" "$@" "$top_builddir/tests/standin/forks"
    printed '^40 of 40 children were well$'
}
for layers in check count trace check,count,trace; do
    children_are_well CTXRT_LAYERS="$layers"
    report $? "children_of_a_process_whose_threads_work_are_well_under_$layers"
    children_are_well CTXRT_LAYERS="$layers" CTXRT_TRACE_EVENTS=1 CTXRT_STANDIN_LIBCUDA="$behind"
    report $? "and_in_front_of_another_stand_in_under_$layers"
done

# ---- ctxrt run ----

run "$ctxrt" run --driver "libcuda=$behind" -d 3 "$ctxrt" info
printed '^  libcuda .* 3 devices' && grep -q "$top_builddir/lib/shim/cuda-13/" "$scratch/out"
report $? 'the_export_set_is_that_of_the_librarys_version'
run "$ctxrt" run --driver "libcuda=$other" sh -c 'echo "$CTXRT_STANDIN_LIBCUDA $LD_LIBRARY_PATH"'
printed '/tests/standin/.libs/other.so .*/cuda-12/'
report $? 'and_the_older_one_for_an_older_library'
run env CTXRT_LIBCUDA="$behind" "$ctxrt" run --driver libcuda sh -c 'echo "$CTXRT_STANDIN_LIBCUDA"'
printed '/behind/libcuda.so.1$'
report $? 'without_a_path_it_is_that_of_CTXRT_LIBCUDA'
run env CTXRT_STANDIN_LIBCUDA="$other" "$ctxrt" run --driver emulated sh -c 'echo "${CTXRT_STANDIN_LIBCUDA-unset}"'
printed '^unset$'
report $? 'emulated_has_no_library_behind'
run env LD_LIBRARY_PATH="$scratch/behind" "$ctxrt" run --driver libcuda true
failed_with 1 '/behind/libcuda.so.1 is a stand-in itself'
report $? 'a_stand_in_in_the_search_path_is_not_meant'
run "$ctxrt" run --driver libcuda=/nowhere/libcuda.so.1 true
failed_with 1 '/nowhere/libcuda.so.1 could not be loaded: '
report $? 'a_library_that_is_not_there_is_said'
run "$ctxrt" run --driver "libcuda=$top_builddir/lib/.libs/libctxrt.so" true
failed_with 1 'is no libcuda: it has no cuInit'
report $? 'so_is_another_library'
for driver in cuda libcuda= ''; do
    run "$ctxrt" run --driver "$driver" true
    failed_with 2 "--driver $driver: it can be emulated, libcuda or libcuda=PATH"
    report $? "driver_cannot_be_'$driver'"
done
run "$ctxrt" run --driver "libcuda=$other" "$ctxrt" info
[ "$(grep -c 'warning: .* is not in .*/other.so$' "$scratch/errors")" -ge 1 ]
report $? 'the_log_names_what_the_library_lacks'
echo "1..$number"
