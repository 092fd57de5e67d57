#!/bin/sh
# The reference: every call has a comment, every parameter is explained, each call has a page that man reads without complaint, and
# Doxygen finds no name in a comment that is not there.
set -u
. "$top_srcdir/tests/support/tap.sh"
pages=$top_srcdir/docs/man3.awk headers=$top_srcdir/include/ctxrt

awk -v check=1 -f "$pages" "$headers"/*.h > "$scratch/errors"
[ ! -s "$scratch/errors" ]
report $? 'each_call_has_a_comment_and_each_parameter_is_explained'

mkdir "$scratch/man3"
awk -v out="$scratch/man3" -v version=1 -f "$pages" "$headers"/*.h
cat "$headers"/*.h | tr '\n' ' ' | grep -o 'CTXRT_API[A-Z_]* [^;]*;' | grep -o 'ctxrt_[a-z0-9_]*(' | sed 's/($/.3/' | LC_ALL=C sort -u > "$scratch/calls"
ls "$scratch/man3" | LC_ALL=C sort | diff "$scratch/calls" - > "$scratch/errors" && [ "$(wc -l < "$scratch/calls")" -gt 150 ]
report $? 'each_call_has_a_page'

cat > "$scratch/wrong.h" << 'END'
/** What a header begins with. */
/** Does something. */
CTXRT_API ctxrt_status ctxrt_wrong_call(int colour);

CTXRT_API ctxrt_status ctxrt_wrong_silence(void);
END
awk -v check=1 -f "$pages" "$scratch/wrong.h" > "$scratch/out"
grep -q 'ctxrt_wrong_call: nothing says what colour is' "$scratch/out" && grep -q 'ctxrt_wrong_silence has no comment' "$scratch/out"
report $? 'a_parameter_without_a_word_and_a_call_without_a_comment_are_found'

page=$scratch/man3/ctxrt_memory_alloc.3
grep -q '^\.Nd allocates device memory of the current context$' "$page" && grep -q '^\.Fa "ctxrt_memory \*\*out_memory"$' "$page" &&
    grep -q '^\.It Bq Er CTXRT_ERROR_OUT_OF_MEMORY$' "$page" && grep -q '^Sizes are in bytes\.' "$page"
report $? 'a_page_has_the_prototype_the_errors_and_what_holds_for_its_header'

name='man_reads_the_pages_without_complaint'
if command -v groff > "$scratch/ignored"; then
    for page in "$scratch"/man3/*.3; do groff -mdoc -Tutf8 -ww "$page" 2>&1 > "$scratch/ignored"; done > "$scratch/errors"
    [ ! -s "$scratch/errors" ]
    report $? "$name"
else
    skip "$name" 'groff is not installed'
fi

name='doxygen_finds_nothing_wrong'
if command -v doxygen > "$scratch/ignored"; then
    {
        cat "$top_srcdir/docs/doxygen.conf"
        echo "INPUT = $headers $top_srcdir/docs/reference.md"
        echo "OUTPUT_DIRECTORY = $scratch/api"
    } > "$scratch/conf"
    mkdir "$scratch/api"
    run doxygen "$scratch/conf"
    [ "$status" -eq 0 ] && [ ! -s "$scratch/errors" ] && grep -q 'ctxrt_memory_alloc' "$scratch/api/memory_8h.html"
    report $? "$name"
else
    skip "$name" 'Doxygen is not installed'
fi
echo "1..$number"
