#!/bin/sh
# ctxrt itself and ctxrt info: what they print, as text and as JSON, and every way to use them wrongly.
set -u
. "$top_srcdir/tests/support/tap.sh"
ctxrt=$top_builddir/ctxrt

echo 1..32

run "$ctxrt" --version
printed '^ctxrt [0-9]*\.[0-9]*\.[0-9]*$'
report $? 'version_is_printed'
run "$ctxrt" --help
printed '^  info ' && grep -q '^  play ' "$scratch/out"
report $? 'help_lists_the_commands'
run "$ctxrt" --help
! grep -Eqw 'watch|profile' "$scratch/out"
report $? 'help_lists_no_command_that_there_is_not'
run "$ctxrt" info --help
printed '--json'
report $? 'help_of_info_lists_its_options'

run "$ctxrt"
failed_with 2 'name a command.*ctxrt --help'
report $? 'no_command_is_wrong_use'
run "$ctxrt" paly
failed_with 2 "there is no command 'paly'.*ctxrt --help"
report $? 'an_unknown_command_is_wrong_use'
run "$ctxrt" --colour info
failed_with 2 "'--colour'.*ctxrt --help"
report $? 'an_unknown_option_is_wrong_use'
run "$ctxrt" info --xml
failed_with 2 "'--xml'.*ctxrt info --help"
report $? 'an_unknown_option_of_info_is_wrong_use'
run "$ctxrt" info all
failed_with 2 "'all' is one argument too many"
report $? 'an_argument_of_info_is_wrong_use'

run env CTXRT_DRIVER=emulated CTXRT_EMU_DEVICES=2 CTXRT_EMU_MEMORY=64M "$ctxrt" info
printed '^  cuda:1$' && ! grep -q '^  cuda:2$' "$scratch/out"
report $? 'every_device_is_shown'
grep -q '^  CTXRT_EMU_MEMORY  *64M$' "$scratch/out" && ! grep -q 'CTXRT_LOG' "$scratch/out"
report $? 'the_environment_in_force_is_shown'

run env CTXRT_DRIVER=emulated CTXRT_EMU_DEVICES=2 CUDA_VISIBLE_DEVICES= "$ctxrt" info
printed 'embedded .*; CUDA_VISIBLE_DEVICES= hides all 2 emulated devices'
report $? 'what_hides_all_devices_is_named'
grep -q '^  CUDA_VISIBLE_DEVICES  *(empty)$' "$scratch/out"
report $? 'and_shown_although_it_is_empty'

run "$ctxrt" info
[ -n "$MPI_MISSING" ] && mpi=none || mpi='\(/.*\|pkg-config\)'
printed "^  MPI for samples/mpi  *$mpi\$" && printed '^  po4a  *\(none\|/.*\)$' && printed '^  chromium  *\(none\|/.*\)$'
report $? 'the_mpi_of_the_sample_and_the_tools_of_documents_are_shown'

run env CTXRT_LIBCUDA=/nowhere/libcuda.so.1 "$ctxrt" info
printed 'libcuda .*not loaded: .*/nowhere/libcuda.so.1'
report $? 'why_there_is_no_libcuda_is_shown_and_is_no_failure'
grep -q 'no GPU was found.*CTXRT_DRIVER=emulated' "$scratch/out" && grep -q 'ctxrt run PROGRAM$' "$scratch/out"
report $? 'how_to_play_gpus_is_shown_where_there_is_none'
run env CTXRT_DRIVER=none "$ctxrt" info
printed 'no GPU was found'
report $? 'and_where_no_driver_was_asked_for'
for hidden in '' 0; do
    run env CTXRT_DRIVER=emulated CUDA_VISIBLE_DEVICES=$hidden "$ctxrt" info
    printed '^Devices' && ! grep -q 'no GPU was found' "$scratch/out"
    report $? "but_not_where_gpus_are_played${hidden:-_and_hidden}"
done
run env CTXRT_DRIVER=best "$ctxrt" info
failed_with 2 'CTXRT_DRIVER=best: it can be'
report $? 'a_bad_value_in_the_environment_is_wrong_use'
for bad in CTXRT_ALLOCATOR=mmap CTXRT_DEBUG_MEMORY=canry CTXRT_LOG=loud; do
    run env "$bad" "$ctxrt" info
    failed_with 2 "$bad: it" || break
done
report $? 'so_is_one_that_is_for_the_log_or_for_allocators'
run env CTXRT_EMU_DEVICES=0 "$ctxrt" info
failed_with 2 'CTXRT_EMU_DEVICES is not'
report $? 'a_bad_number_in_the_environment_is_wrong_use'

run env CTXRT_EMU_DEVICE=2 CTXRT_SCHEDULE=lazy CTXRT_DRIVER=emulated "$ctxrt" info
[ "$status" -eq 0 ] && grep -q 'there is no variable CTXRT_EMU_DEVICE, .* is it CTXRT_EMU_DEVICES?' "$scratch/errors" &&
    grep -q 'there is no variable CTXRT_SCHEDULE, .* is it CTXRT_EMU_SCHEDULE?' "$scratch/errors"
report $? 'a_misspelt_variable_is_told_with_the_one_that_is_meant'
run env CTXRT_EMU_DEVICE=2 "$ctxrt" run true
[ "$(grep -c 'CTXRT_EMU_DEVICES?' "$scratch/errors")" -eq 1 ]
report $? 'and_once_by_a_command_that_starts_a_program'
run env CTXRT_HOME=/ CTXRT_NVCC=nvcc CTXRT_EMU_DEVICES=2 "$ctxrt" info
[ "$status" -eq 0 ] && ! grep -q 'no variable' "$scratch/errors"
report $? 'other_names_may_be_the_own_ones_of_a_program'

if [ -w /dev/full ]; then
    for option in '' --json; do
        status=0
        "$ctxrt" info $option > /dev/full 2> "$scratch/errors" || status=$?
        : > "$scratch/out"
        failed_with 1 'standard output'
        report $? "output_that_cannot_be_written_is_a_failure${option:+_in_json}"
    done
else
    skip 'output_that_cannot_be_written_is_a_failure' 'there is no /dev/full'
    skip 'output_that_cannot_be_written_is_a_failure_in_json' 'there is no /dev/full'
fi

# What the library reads from the environment, info shows.
missing=0
for name in $(grep -rhoE 'getenv\("[A-Z_]+"\)|cx_option\("[A-Z_]+"\)' "$top_srcdir/lib" | cut -d'"' -f2 | sort -u) ; do
    case $name in
    CTXRT_*) grep -q "^CX_VARIABLE($name)$" "$top_srcdir/lib/base/variables.def" || missing=1 ;;
    *) grep -q "\"$name\"" "$top_srcdir/tools/info.c" || missing=1 ;;
    esac
    grep -q "^\.It Ev $name$" "$top_srcdir/docs/man/ctxrt.7" || missing=1
    [ "$missing" -eq 0 ] || { echo "# $name is not shown or not documented"; break; }
done
report "$missing" 'every_variable_that_the_library_reads_is_shown_and_documented'

field() # Python expression over the object `info`
{
    python3 -c "import json, sys
info = json.load(open(sys.argv[1]))
sys.exit(0 if ($1) else 1)" "$scratch/out" 2>> "$scratch/errors"
}
if ! command -v python3 > /dev/null; then
    for what in json_is_json json_has_every_device json_says_why_there_is_no_driver json_takes_any_bytes; do
        skip "$what" 'python3 is not installed'
    done
    exit 0
fi
run env CTXRT_DRIVER=emulated CTXRT_EMU_DEVICES=3 CTXRT_EMU_MEMORY=64M "$ctxrt" info --json
python3 -m json.tool < "$scratch/out" > "$scratch/tidy" 2>> "$scratch/errors" && [ "$status" -eq 0 ]
report $? 'json_is_json'
field '[d["total_bytes"] for d in info["devices"] if d["type"] == "cuda"] == 3 * [64 << 20]
    and len({d["uuid"] for d in info["devices"]}) == 4
    and all(d["emulated"] for d in info["devices"])
    and info["environment"] == {"CTXRT_DRIVER": "emulated", "CTXRT_EMU_DEVICES": "3", "CTXRT_EMU_MEMORY": "64M"}'
report $? 'json_has_every_device_and_the_environment'
run env CTXRT_LIBCUDA=/nowhere/libcuda.so.1 "$ctxrt" info --json
field '[d for d in info["drivers"] if d["name"] == "libcuda" and not d["loaded"] and "/nowhere" in d["reason"]]'
report $? 'json_says_why_there_is_no_driver'
run env CTXRT_LIBCUDA="/nowhere/$(printf '\377')" "$ctxrt" info --json
field 'info["environment"]["CTXRT_LIBCUDA"] == "/nowhere/?"'
report $? 'json_takes_any_bytes'
