#!/bin/sh
# The symbols of each libcudart of ours: those of exports.def, and those of NVIDIA's where a toolkit or a package has one. Functions
# that are not served say so.
set -u
. "$top_srcdir/tests/support/tap.sh"
tables="$top_srcdir/lib/runtime/calls.def $top_srcdir/lib/runtime/exports.def"
marker=ctxrtRuntimeLibrary

# As "NAME@@NODE" of functions, the library's own marker left out.
exported() # library
{
    nm -D --defined-only --with-symbol-versions "$1" 2> /dev/null |
        awk -v marker="$marker" '$2 ~ /^[TtWiV]$/ && index($3, marker) != 1 { print $3 }' | LC_ALL=C sort -u
}

column=0
for library in 11:libcudart.so.11.0:395 12:libcudart.so.12:435 13:libcudart.so.13:422; do
    column=$((column + 1))
    major=${library%%:*}
    soname=${library#*:}
    count=${soname#*:}
    soname=${soname%:*}
    ours=$top_builddir/lib/runtime/cudart-$major/.libs/$soname

    exported "$ours" > "$scratch/ours"
    [ "$(wc -l < "$scratch/ours")" -eq "$count" ]
    report $? "$soname exports $count functions"
    # shellcheck disable=SC2086 # two tables
    awk -f "$top_srcdir/lib/runtime/exports.awk" -v make=entries -v column=$column $tables |
        awk -F '[(,]' '{ print /^CX_ENTRY_FUNCTION/ ? $3 : $2 }' | tr -d ' )' | sed "s/\$/@@$soname/" | LC_ALL=C sort > "$scratch/table"
    diff "$scratch/table" "$scratch/ours" > "$scratch/out" 2>&1
    report $? "with the node $soname: those of the table and no others"
    objdump -p "$ours" | grep "SONAME *$soname\$" > "$scratch/out"
    report $? "its soname is $soname"

    theirs=
    for folder in ${CUDA_DIR:+"$CUDA_DIR/lib64" "$CUDA_DIR/lib" "$CUDA_DIR/targets/x86_64-linux/lib"} ${CTXRT_TEST_CUDART_FOLDERS-}; do
        [ -n "$theirs" ] || [ ! -f "$folder/$soname" ] || theirs=$folder/$soname
    done
    what="its functions are those of NVIDIA's $soname"
    if [ -z "$theirs" ]; then
        skip "$what" "no $soname is installed"
    else
        exported "$theirs" > "$scratch/theirs"
        # A release of the same major version before ours has fewer.
        if [ "$(wc -l < "$scratch/theirs")" -lt "$count" ]; then
            LC_ALL=C comm -23 "$scratch/theirs" "$scratch/ours" > "$scratch/out"
            [ ! -s "$scratch/out" ] && [ -s "$scratch/theirs" ]
        else
            diff "$scratch/theirs" "$scratch/ours" > "$scratch/out" 2>&1
        fi
        report $? "$what"
    fi

    # shellcheck disable=SC2086 # two tables
    awk -f "$top_srcdir/lib/runtime/exports.awk" -v make=entries -v column=$column $tables |
        sed -n 's/^CX_ENTRY_REFUSED(\(.*\))$/\1/p' > "$scratch/names"
    "$top_builddir/tests/cudart/refused" "$ours" < "$scratch/names" > "$scratch/out" 2> "$scratch/errors"
    status=$?
    sed 's/$/ 801 801 801/' "$scratch/names" | cmp -s - "$scratch/out" && [ "$status" -eq 0 ] && [ -s "$scratch/names" ]
    report $? "of $soname what is not served returns cudaErrorNotSupported, which is then the last error"
    sed 's/^ctxrt: warning: cudart: \([A-Za-z0-9_]*\) is not served .*/\1/' "$scratch/errors" | cmp -s - "$scratch/names"
    report $? "and says its name, once"
done
echo "1..$number"
