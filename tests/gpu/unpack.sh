#!/bin/sh
# ctxrt's gpu-check: asks the CUDA driver of this machine how it behaves, and writes one text file to send back; --help tells more.
# The programs are behind the last line of this text; they are unpacked into a folder that goes at the end.
set -u
for place in "${TMPDIR:-/tmp}" .; do
    work=$(mktemp -d "$place/ctxrt-gpu-check.XXXXXX" 2> /dev/null) || continue
    trap 'rm -rf "$work"' EXIT
    trap 'exit 130' HUP INT TERM
    tail -n +LINES "$0" | gzip -dc | tar -xf - -C "$work" || exit 1
    # There are places where no program may run.
    if why=$("$work/programs/probe" --list 2>&1 > /dev/null); then
        "$work/gpu-check.sh" "$@"
        exit
    fi
    rm -rf "$work"
done
echo "ctxrt-gpu-check: its programs do not run here: ${why-there is no place to unpack them}" >&2
exit 1
