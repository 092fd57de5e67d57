#!/bin/sh
# judge.sh FOLDER/NAME: runs one program of misuse/ under `ctxrt check`, and prints which of the kinds it has that its head expects.
# run.sh calls it with $here, $work and $driver.
set -u
said=$work/said.$$
program=$here/misuse/$1
expected=$(cat "$program.expect")
status=0
# shellcheck disable=SC2046 # words
env -u CTXRT_LIBCUDA timeout -k 5 20 "$here/bin/ctxrt" check --driver="$driver" $(cat "$program.options") "$program" > "$said" 2>&1 < /dev/null ||
    status=$?
kinds=$(sed -n 's/^ctxrt check: \(error\|warning\|note\) \([A-Z-]*\).*/\2/p' "$said" | sort -u | tr '\n' ' ')
case $1,$status in
*,12[67]) verdict=BROKEN ;; # it cannot be started
*,3) verdict=cannot ;;      # it needs more GPUs, or a call that this driver lacks
planted/*)
    verdict=found
    for kind in $expected; do
        case " $kinds" in
        *" $kind "*) ;;
        *) verdict=missed ;;
        esac
    done ;;
*)
    verdict=silent
    for kind in $kinds; do
        case " $(cat "$program.provokes") " in
        *" $kind "*) ;;
        *) verdict=ALARM ;;
        esac
    done ;;
esac
printf '%-40s %-7s %s\n' "$1" $verdict "$kinds"
[ $verdict != ALARM ] && [ $verdict != BROKEN ] || sed 's/^/    /' "$said"
rm -f "$said"
