#!/bin/sh
# Runs every sample, and compares all that it prints with samples/expected/NAME.txt; compiles it as its head says, and looks
# for misuse with ctxrt check. The samples are the sources here that have a main: none needs to be listed, and none can be
# forgotten.
set -u
. "$top_srcdir/tests/support/tap.sh"
samples=$(grep -l '^int main(' "$top_srcdir"/samples/*.c | sed 's,.*/,,;s/\.c$//')

# What differs from run to run and from tree to tree.
settle()
{
    sed -e 's/0x[0-9a-f]\{4,\}/ADDRESS/g' -e 's/thread [0-9]\{1,\}/thread N/g' \
        -e 's/context [0-9]\{1,\}/context N/g' -e 's/[0-9.]\{1,\} ms/T ms/g' \
        -e 's#[^ ]*\(samples/[a-z_]*\.c\):[0-9]\{1,\}#\1:LINE#g'
}

# compare NAME WHAT COMMAND...: the command succeeds and prints what is expected of the sample.
compare()
{
    sample=$1 what=$2
    shift 2
    run "$@"
    cat "$scratch/errors" >> "$scratch/out"
    settle < "$scratch/out" > "$scratch/settled" && [ "$status" -eq 0 ] && [ -s "$scratch/settled" ] &&
        diff "$top_srcdir/samples/expected/$sample.txt" "$scratch/settled" > "$scratch/errors" 2>&1
    report $? "$what"
}

uses_driver() # sample
{
    grep -q '^#include.*\(cuda_min\|guest\)\.h"' "$top_srcdir/samples/$1.c"
}

for sample in $samples; do
    program=$top_builddir/samples/$sample
    if uses_driver "$sample"; then
        for cuda in 12 13; do
            compare "$sample" "$sample prints what is expected on the stand-in cuda-$cuda" \
                "$top_builddir/ctxrt" run --cuda $cuda "$program"
        done
    else
        devices=4
        [ "$sample" != hello_device ] || devices=2
        compare "$sample" "$sample prints what is expected" \
            env CTXRT_DRIVER=emulated CTXRT_EMU_DEVICES=$devices "$program"
    fi
done

[ "$(cd "$top_srcdir/samples/expected" && echo *)" = "$(for sample in $samples; do echo "$sample.txt"; done | xargs)" ]
report $? 'each expected output is that of a sample'

# The kinds of misuse that a sample has to show.
misuse_of() # sample
{
    case $1 in
    guest_host) echo STACK-POP-FOREIGN STACK-SET-FOREIGN ;; # the rude guest pops and replaces what its host pushed
    hand_off) echo STACK-GROWS ;;                           # a thread pushes until there is no room
    esac
}

for sample in $samples; do
    name="ctxrt check finds the misuse that $sample shows, if any, and no more"
    program=$top_builddir/samples/$sample
    if ! "$top_builddir/ctxrt" check --help > /dev/null 2>&1; then
        skip "$name" 'there is no ctxrt check here'
        continue
    elif uses_driver "$sample"; then
        run "$top_builddir/ctxrt" check "$program"
    else
        run env CTXRT_DRIVER=emulated CTXRT_EMU_DEVICES=4 "$top_builddir/ctxrt" check "$program"
    fi
    found=$(sed -n 's/^ctxrt check: \(error\|warning\) \([A-Z-]*\): .*/\2/p' "$scratch/errors" | LC_ALL=C sort -u | xargs)
    [ "$status" -eq 0 ] && [ "$found" = "$(misuse_of "$sample")" ] && grep -q '^ctxrt check: .* warnings\?$' "$scratch/errors"
    report $? "$name"
done

name='the tutorial links nothing but libcuda.so.1'
if command -v readelf > /dev/null 2>&1; then
    readelf -d "$top_builddir/samples/context_tutorial" > "$scratch/out" 2>&1
    needed=$(sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p;s/.*R.*PATH.*\[\(.*\)\]/rpath \1/p' "$scratch/out" |
        grep -v '^libc\.\|san\|^ld-' | xargs)
    [ "$needed" = libcuda.so.1 ]
    report $? "$name"
else
    skip "$name" 'there is no readelf'
fi

. "$top_srcdir/samples/reader.sh"
for sample in $samples; do
    name="$sample compiles as its head says"
    if [ -z "$reader" ]; then
        skip "$name" 'pkg-config is not installed'
        continue
    fi
    mkdir "$scratch/$sample" && cp "$top_srcdir"/samples/*.[ch] "$scratch/$sample" || exit 99
    line=$(sed -n 's/^ \*   \(cc .*\)/\1/p' "$top_srcdir/samples/$sample.c" | sed 's/ && .*//')
    run sh -c "cd '$scratch/$sample' && ${line:-echo no line; false}"
    [ "$status" -eq 0 ] && [ -x "$scratch/$sample/a.out" ]
    report $? "$name"
done
echo "1..$number"
