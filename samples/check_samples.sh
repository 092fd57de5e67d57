#!/bin/sh
# Each sample prints what its head says, and the tutorial does so on the stand-in.
samples="hello_device push_pop scope_return primary_context stream_timing"
echo 1..8
number=0

# What the head comment of a sample says.
expected() {
    sed -n '/^ \* expected:$/,/^ \*\/$/p' "$top_srcdir/samples/$1.c" | sed '1d;$d;s/^ \* //'
}

# judge NAME STATUS OUTPUT WANTED
judge() {
    number=$((number + 1))
    if [ "$2" = 0 ] && [ "$3" = "$4" ]; then
        echo "ok $number - $1"
    else
        echo "not ok $number - $1"
        printf 'status %s, printed:\n%s\n' "$2" "$3" | sed 's/^/# /'
    fi
}

for sample in $samples; do
    devices=4
    [ "$sample" != hello_device ] || devices=2
    output=$(CTXRT_DRIVER=emulated CTXRT_EMU_DEVICES=$devices "$top_builddir/samples/$sample" 2>&1)
    judge "$sample prints what its head says" $? "$output" "$(expected "$sample")"
done

skip() {
    number=$((number + 1))
    echo "ok $number - $1 # SKIP $2"
}

for cuda in 12 13; do
    name="the tutorial runs on the stand-in cuda-$cuda"
    output=$("$top_builddir/ctxrt" run --cuda $cuda "$top_builddir/samples/context_tutorial" 2>&1)
    judge "$name" $? "$output" "$(expected context_tutorial)"
done

needed=$(readelf -d "$top_builddir/samples/context_tutorial" 2>/dev/null | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p;s/.*R.*PATH.*\[\(.*\)\]/rpath \1/p' | grep -v '^libc\.\|san\|^ld-' | sort | tr '\n' ' ')
if command -v readelf >/dev/null 2>&1; then
    judge "the tutorial links nothing but libcuda.so.1" 0 "$needed" "libcuda.so.1 "
else
    skip "the tutorial links nothing but libcuda.so.1" "there is no readelf"
fi
