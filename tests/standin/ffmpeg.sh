#!/bin/sh
# FFmpeg, which nobody here wrote, moves frames through the stand-in's device memory and back: they must
# come out as they went in.
set -u
skip()
{
    echo "1..0 # SKIP $1"
    exit 0
}
[ -z "$SANITIZERS" ] || skip "a program built without $SANITIZERS cannot load a libcuda built with it"
command -v ffmpeg > /dev/null || skip 'ffmpeg is not installed'
ffmpeg -hide_banner -filters 2> /dev/null | grep -q ' hwupload_cuda ' ||
    skip 'this ffmpeg was built without hwupload_cuda'

scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
number=0

report() # status, what
{
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $number - $2"
    else
        echo "not ok $number - $2"
        sed 's/^/# /' "$scratch/errors"
    fi
}

# The md5 of each frame of a test picture, sent through a chain of filters. The words in $devices say
# which device to make, if any.
frames() # set, chain
{
    LD_LIBRARY_PATH=$top_builddir/lib/shim/$1/.libs \
        timeout 120 ffmpeg -nostdin -hide_banner -loglevel error $devices \
        -f lavfi -i testsrc=size=320x240:rate=10:duration=3 -vf "$2" -f framemd5 - 2> "$scratch/errors"
}
on_device() # ordinal
{
    devices="-init_hw_device cuda=gpu:$1 -filter_hw_device gpu"
}
through=format=yuv420p,hwupload_cuda,hwdownload,format=yuv420p

echo 1..10
devices=
frames cuda-12 format=yuv420p > "$scratch/plain"
[ "$(grep -c '^0,' "$scratch/plain")" -eq 30 ]
report $? 'without a device there are 30 frames'

for set in cuda-12 cuda-13; do
    on_device 0
    frames $set $through > "$scratch/device" && cmp "$scratch/plain" "$scratch/device" >> "$scratch/errors" 2>&1
    report $? "$set: frames come back from a device as they went"
    on_device 3,primary_ctx=1
    frames $set $through > "$scratch/device" && cmp "$scratch/plain" "$scratch/device" >> "$scratch/errors" 2>&1
    report $? "$set: frames come back from the primary context of the fourth device"
done

devices='-init_hw_device cuda=one:0 -init_hw_device cuda=two:1 -filter_hw_device one'
frames cuda-12 "$through,hwupload_cuda=device=1,hwdownload,format=yuv420p" > "$scratch/device" &&
    cmp "$scratch/plain" "$scratch/device" >> "$scratch/errors" 2>&1
report $? 'frames go through two devices in a row'

on_device 0
CTXRT_EMU_SCHEDULE=lazy frames cuda-12 $through > "$scratch/device" &&
    cmp "$scratch/plain" "$scratch/device" >> "$scratch/errors" 2>&1
report $? 'frames come back when nothing runs until it is waited for'

# It is the stand-in that answers.
on_device 4
! frames cuda-12 $through > "$scratch/device" && grep -q 'CUDA_ERROR_INVALID_DEVICE' "$scratch/errors"
report $? 'a fifth device is an invalid device'
on_device 4
CTXRT_EMU_DEVICES=5 frames cuda-12 $through > "$scratch/device" && cmp "$scratch/plain" "$scratch/device" \
    >> "$scratch/errors" 2>&1
report $? 'it is one when five are asked for'
on_device 0
export CTXRT_EMU_MEMORY=2M
! frames cuda-12 scale=4096x2160,$through > "$scratch/device" &&
    grep -q 'CUDA_ERROR_OUT_OF_MEMORY' "$scratch/errors"
report $? 'a device too small for a frame is out of memory'
