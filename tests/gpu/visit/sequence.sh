#!/bin/sh
# sequence.sh SEED: plays one random sequence on the driver, and prints "good", or "seed SEED" and how it differs from the model. run.sh
# calls it with $here, $work, $libcuda and $sequences_end, the time at which no other one begins.
set -u
[ "$(date +%s)" -lt "$sequences_end" ] || exit 0
said=$work/sequence.$$
status=0
timeout -k 5 30 "$here/libexec/ctxrt/ctxrt-play" --driver "libcuda${libcuda:+=$libcuda}" --random "$1,40" > "$said" 2>&1 < /dev/null ||
    status=$?
if [ $status -eq 0 ]; then
    echo good
else
    # In one piece: others write too.
    differs=$(cat "$said")
    printf 'seed %s: exit status %s\n%s\n' "$1" $status "$differs"
fi
rm -f "$said"
