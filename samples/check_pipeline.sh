#!/bin/sh
# The pipeline's results and its errors, with files of every kind.
pipeline="$top_builddir/samples/pipeline/pipeline"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
size=3000000
[ -z "$SANITIZERS" ] || size=1400000
number=0

result() {
    number=$((number + 1))
    if [ "$1" = 0 ]; then
        echo "ok $number - $2"
    else
        echo "not ok $number - $2"
        sed 's/^/# /' "$work/out" "$work/err"
    fi
}

# good NAME BYTES CRC ARGUMENTS...: the pipeline succeeds and finds this many bytes with this checksum.
good() {
    name=$1 bytes=$2 wanted_crc=$3
    shift 3
    "$pipeline" "$@" >"$work/out" 2>"$work/err" </dev/null
    status=$?
    grep -q "^$bytes bytes in " "$work/out" && grep -q "^through the devices: crc32 $wanted_crc\$" "$work/out" &&
        grep -q "^the same bytes" "$work/out" && [ ! -s "$work/err" ] && [ "$status" = 0 ]
    result $? "$name"
}

# bad NAME STATUS TEXT ARGUMENTS...: one line on stderr that holds the text, nothing on stdout.
bad() {
    name=$1 wanted=$2 text=$3
    shift 3
    "$pipeline" "$@" >"$work/out" 2>"$work/err" </dev/null
    [ $? = "$wanted" ] && [ "$(wc -l <"$work/err")" = 1 ] && grep -q "$text" "$work/err" && [ ! -s "$work/out" ]
    result $? "$name"
}

# gzip keeps the CRC-32 of what it packs in its last 8 bytes.
crc_of() {
    gzip -c <"$1" | tail -c 8 | head -c 4 | od -An -tx1 | awk '{print $4 $3 $2 $1}'
}

echo 1..26
seq 1 2000000 | head -c "$size" >"$work/numbers"
printf x >"$work/one"
: >"$work/empty"
crc=$(crc_of "$work/numbers")

good "a file goes through 4 devices" "$size" "$crc" --chunk 64K "$work/numbers"
grep -q '^cuda:3 ' "$work/out"
result $? "there is a row for each device"
grep -q ' cuda:.*  scope ' "$work/out" && grep -q '^thread ' "$work/out"
result $? "the snapshot shows frames of scopes"
[ "$(grep -c '^thread .*: 2 frames$' "$work/out")" = 8 ]
result $? "every thread is in mid-flight in the snapshot"
good "a snapshot in a file" "$size" "$crc" --chunk 64K --snapshot "$work/stacks.json" "$work/numbers"
grep -q '"threads"' "$work/stacks.json"
result $? "the snapshot in a file is JSON"
good "one device" "$size" "$crc" --devices 1 --chunk 100K "$work/numbers"
good "16 devices" "$size" "$crc" --devices 16 --chunk 50K "$work/numbers"
good "64 threads" "$size" "$crc" --threads 64 --chunk 20K "$work/numbers"
good "more threads than chunks" "$size" "$crc" --threads 8 --chunk 2M "$work/numbers"
good "chunks that divide nothing" "$size" "$crc" --chunk 33333 "$work/numbers"
good "a file of one byte" 1 "$(crc_of "$work/one")" "$work/one"
good "an empty file" 0 00000000 "$work/empty"
cat "$work/numbers" | "$pipeline" --chunk 64K - >"$work/out" 2>"$work/err"
[ $? = 0 ] && grep -q "^through the devices: crc32 $crc\$" "$work/out"
result $? "standard input"
bad "a missing file" 1 "cannot read .*: No such file" "$work/missing"
bad "a folder" 1 "cannot read .*: Is a directory" "$work"
bad "no file" 2 "one file is needed"
bad "two files" 2 "one file is needed" "$work/one" "$work/one"
bad "no devices" 2 "devices cannot be 0" --devices 0 "$work/one"
bad "an unknown option" 2 "unknown" --colour "$work/one"
bad "a chunk of nothing" 2 "chunk cannot be 0" --chunk 0 "$work/one"
if [ "$(id -u)" = 0 ]; then
    number=$((number + 1))
    echo "ok $number - an unreadable file # SKIP root can read every file"
else
    chmod 0 "$work/one"
    bad "an unreadable file" 1 "Permission denied" "$work/one"
fi

# The pipeline in C++ takes the file alone, has no call of the C API, and gives back what it takes.
cxx="$top_builddir/samples/pipeline/pipeline_cxx"
if [ -x "$cxx" ]; then
    CTXRT_DRIVER=emulated
    export CTXRT_DRIVER
    pipeline=$cxx
    good "a file goes through 4 devices in C++" "$size" "$crc" "$work/numbers"
    good "an empty file in C++" 0 00000000 "$work/empty"
    CTXRT_EMU_FAULT=cuMemcpyPeerAsync@3
    export CTXRT_EMU_FAULT
    bad "a failure is told by the exception of the worker that met it" 1 'pipeline_cxx: cuMemcpyPeerAsync failed' "$work/numbers"
    ! grep -q 'ctxrt_' "$top_srcdir/samples/pipeline/pipeline.cc"
    result $? "no call of the C API is in the C++ pipeline"
else
    for name in one two three four; do
        number=$((number + 1))
        echo "ok $number - the C++ pipeline, check $name # SKIP there is no C++ compiler"
    done
fi
