#!/bin/sh
# check_abi tells what is compatible from what is not: the libraries of this build are compared with changed dumps of themselves.
set -u
. "$top_srcdir/tests/support/tap.sh"
check_abi=$top_srcdir/tests/package/check_abi
library=$top_builddir/lib/.libs/libctxrt.so
[ -z "$SANITIZERS" ] || skip_all "the sanitizers $SANITIZERS export names of their own"
mkdir "$scratch/dumps"
run "$check_abi" --renew "$scratch/dumps" "$library"
[ "$status" -ne 77 ] || skip_all "$(sed 's/^SKIP: //' "$scratch/out")"
dump=$scratch/dumps/libctxrt.abi

echo 1..6
[ "$status" -eq 0 ] && grep -q "name='ctxrt_init'" "$dump" && ! grep -q "name='cx_" "$dump"
report $? 'a_dump_has_the_public_calls_and_nothing_else'
run "$check_abi" "$scratch/dumps" "$library"
[ "$status" -eq 0 ] && grep -q '^PASS: libctxrt' "$scratch/out"
report $? 'a_library_is_compatible_with_itself'

cp "$dump" "$scratch/whole"
changed() # sed script: the dump as an older library would have had it
{
    sed "$1" "$scratch/whole" > "$dump"
    ! cmp -s "$dump" "$scratch/whole" && run "$check_abi" "$scratch/dumps" "$library"
}
changed "/elf-symbol name='ctxrt_stack_pop'/d; /<function-decl name='ctxrt_stack_pop'/,/<\/function-decl>/d"
[ "$status" -eq 0 ]
report $? 'an_added_call_is_compatible'
changed "s/'ctxrt_stack_pop'/'ctxrt_stack_drop'/g"
[ "$status" -eq 1 ] && grep -q 'ctxrt_stack_drop' "$scratch/out" && grep -q '^FAIL: libctxrt' "$scratch/out"
report $? 'a_removed_call_is_not'
changed "s/\(enumerator name='CTXRT_ERROR_IN_USE' value='\)/\19/"
[ "$status" -eq 1 ] && grep -q 'CTXRT_ERROR_IN_USE' "$scratch/out"
report $? 'a_changed_value_is_not'
changed "/class-decl name='ctxrt_driver_info'/s/size-in-bits='[0-9]*'/size-in-bits='64'/"
[ "$status" -eq 1 ] && grep -q 'ctxrt_driver_info' "$scratch/out"
report $? 'a_changed_size_is_not'
