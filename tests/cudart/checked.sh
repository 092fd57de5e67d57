#!/bin/sh
# ctxrt check of a program of the Runtime API: a failed allocation whose output is used is called that.
set -u
. "$top_srcdir/tests/support/tap.sh"
unset CTXRT_LAYERS CTXRT_STANDIN_LIBCUDA CTXRT_CHECK_FOLDER

echo 1..2
run timeout 600 "$top_builddir/ctxrt" check "$top_builddir/tests/cudart/checked"
[ "$(grep -c '^ctxrt check: [a-z]* IGNORED-OUTPUT: ' "$scratch/errors")" -eq 6 ]
report $? 'the_output_of_each_failed_allocation_is_known_when_it_is_used'
! grep '^ctxrt check: [a-z]* ' "$scratch/errors" | grep -v -e ' IGNORED-OUTPUT: ' -e ' CALL-FAILED: '
report $? 'and_nothing_else_is_told_of_it'
