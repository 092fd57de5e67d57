#!/bin/sh
# ctxrt check for machines: formats, baselines, suppressions by object and kernel, a break at a finding, a timeout.
set -u
. "$top_srcdir/tests/support/tap.sh"
ctxrt=$top_builddir/ctxrt
library=$top_builddir/lib/shim/cuda-12/.libs
unset CTXRT_LAYERS CTXRT_STANDIN_LIBCUDA CTXRT_CHECK_FOLDER
"$ctxrt" check --help > /dev/null 2>&1 || skip_all 'there is no ctxrt check here'
[ -z "${SANITIZERS:-}" ] || skip_all 'the programs are compiled without sanitizers'
grep -q '^#define HAVE_LIBDW 1' "$top_builddir/config.h" || skip_all 'places have no functions and lines without libdw'
cd "$scratch" || exit 99

compile() # program of tests/misuse
{
    ${CC:-cc} -std=gnu11 -O0 -g -DMISUSE_OWN_DECLARATIONS "-I$top_srcdir/tests/misuse" "$1" -o "$2" "-L$library" -l:libcuda.so.1 -pthread
}

check() # argument...
{
    run timeout 600 "$ctxrt" check "$@"
}

cp "$top_srcdir/tests/misuse/planted/current-none-2.c" none.c && compile "$PWD/none.c" none || exit 99
cp "$top_srcdir/tests/misuse/planted/ignored-launch-1.c" launch.c && compile "$PWD/launch.c" launch || exit 99

# ---- formats ----

check --format github ./none
[ "$status" -eq 1 ] && grep -q '^::error file=none\.c,line=22,title=CURRENT-NONE::no context is current on this thread: cuMemAlloc_v2 gave ' "$scratch/errors"
report $? 'an_annotation_has_the_path_below_the_present_folder_and_the_line'
check --format sarif --output report.sarif ./none
[ "$status" -eq 1 ] && ! grep -q 'ctxrt check' "$scratch/errors" && grep -q '"version": "2.1.0"' report.sarif &&
    grep -q '"ruleId": "CURRENT-NONE"' report.sarif && grep -q '"startLine": 22' report.sarif && grep -q '"uri": "none.c"' report.sarif
report $? 'SARIF_goes_to_a_file_when_the_program_has_ended'
check --format json --output - ./none
grep -q '^{$' "$scratch/out" && grep -q '"kind": "CURRENT-NONE"' "$scratch/out" && grep -q '^  "version": 2,$' "$scratch/out"
report $? 'JSON_goes_to_the_standard_output'
check --output report.text ./none
! grep -q 'ctxrt check' "$scratch/errors" && grep -q '^ctxrt check: error CURRENT-NONE: ' report.text && grep -q '^ctxrt check: 1 error, ' report.text
report $? 'text_goes_to_a_file_too'
check --format xml ./none
failed_with 2 'there are text, json, sarif and github'
report $? 'another_format_is_wrong_use'

# ---- baselines ----

check --learn known ./none
[ "$status" -eq 1 ] && [ "$(grep -c '^[0-9a-f]\{16\} CURRENT-NONE none\.c in allocate$' known)" -eq 1 ]
report $? 'a_baseline_has_a_line_for_each_finding'
check --baseline known ./none
[ "$status" -eq 0 ] && grep -q '^ctxrt check: 0 errors, 0 warnings$' "$scratch/errors"
report $? 'known_findings_are_left_out'
sed 's/^NAMED CUdeviceptr allocate/\n\n\n&/' none.c > moved.c && mkdir moved && mv moved.c moved/none.c && compile moved/none.c moved/none || exit 99
(cd moved && cp none ../none)
check --baseline known ./none
[ "$status" -eq 0 ]
report $? 'also_when_their_lines_have_moved'
check --baseline known ./launch
grep -q 'IGNORED-LAUNCH' "$scratch/errors"
report $? 'others_are_told'
echo CURRENT-NONE > wrong
check --baseline wrong ./none
[ "$status" -ne 0 ] && grep -q 'wrong:1: a line of a baseline' "$scratch/errors"
report $? 'a_line_that_is_none_of_a_baseline_is_told'

# ---- suppressions ----

echo 'CALL-FAILED object:kernel?1?of?GPU?0' > rules
check --notes --suppress rules ./launch
! grep -q CALL-FAILED "$scratch/errors" && grep -q IGNORED-LAUNCH "$scratch/errors"
report $? 'a_suppression_names_an_object'
echo 'CALL-FAILED object:kernel?2?of?GPU?0' > rules
check --notes --suppress rules ./launch
grep -q CALL-FAILED "$scratch/errors"
report $? 'and_not_another_one'
echo 'PROCESS-STICKY kernel:other' > rules
cp "$top_srcdir/tests/misuse/planted/process-sticky-1.c" sticky.c && compile "$PWD/sticky.c" sticky || exit 99
check --suppress rules ./sticky
grep -q PROCESS-STICKY "$scratch/errors"
report $? 'a_suppression_by_another_kernel_leaves_a_finding'
kernel=$(sed -n 's/^  cause: .*kernel \([a-z_0-9A-Z]*\).*/\1/p' "$scratch/errors" | head -n 1)
echo "PROCESS-STICKY kernel:${kernel:-none}" > rules
check --suppress rules ./sticky
[ -n "$kernel" ] && ! grep -q PROCESS-STICKY "$scratch/errors"
report $? 'and_one_by_its_kernel_does_not'

# ---- a break ----

check --break CURRENT-NONE ./none
[ "$status" -ne 0 ] && grep -q 'ended by signal 5 ' "$scratch/errors" && grep -q '^ctxrt check: error CURRENT-NONE' "$scratch/errors"
report $? 'a_finding_stops_the_program_where_a_debugger_would_be'
check --break CALL-FAILED ./none
! grep -q 'ended by signal' "$scratch/errors"
report $? 'and_no_other_one_does'

# ---- a program that hangs ----

compile "$top_srcdir/tests/misuse/planted/process-hang-2.c" hang || exit 99
# Each is tried for longer where the machine is too slow for the program to get there.
for limit in 1 10 60; do
    check --timeout $limit ./hang
    ! grep -q ' PROCESS-HANG: ' "$scratch/errors" || break
done
[ "$status" -eq 124 ] && grep -q '^ctxrt check: warning PROCESS-HANG: .*: cuCtxSynchronize$' "$scratch/errors" &&
    grep -q '^  waits: for [0-9.]* s, for the primary context of GPU 0' "$scratch/errors" &&
    grep -q '^  launched: its latest work, by cuLaunchHostFunc on thread 1, process-hang-2\.c:[0-9]* in enqueue() < ' "$scratch/errors"
report $? 'a_timeout_tells_who_waits_for_what'
for limit in 3 10 60; do
    timeout -s TERM $limit "$ctxrt" check ./hang > "$scratch/out" 2> "$scratch/errors" < /dev/null
    ! grep -q ' PROCESS-HANG: ' "$scratch/errors" || break
done
grep -q '^ctxrt check: warning PROCESS-HANG' "$scratch/errors" && grep -q 'ended by signal 15 ' "$scratch/errors"
report $? 'and_so_does_a_signal_that_ends_the_program'
echo "1..$number"
