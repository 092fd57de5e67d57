#!/bin/sh
# ctxrt.hpp compiles from C++17 to C++23, with exceptions and without, by each C++ compiler here; and guards cost nothing: three
# functions with them become the instructions that they become in C.
set -u
. "$top_srcdir/tests/support/tap.sh"
sources=$top_srcdir/tests/cxx
set -f

# A line for each compiler: of C, and of C++. The options of the build choose a compiler, and no more.
pairs()
{
    echo "${CC:-cc};${CXX:-none}"
    echo 'gcc;g++'
    echo 'clang;clang++'
}

pairs | awk -F ';' '{ split($2, word, " "); n = split(word[1], path, "/"); if (!seen[path[n]]++) print }' |
    while IFS=';' read -r c cxx; do
        command -v ${cxx%% *} > /dev/null && command -v ${c%% *} > /dev/null && echo "$c;$cxx"
    done > "$scratch/pairs"
[ -s "$scratch/pairs" ] || skip_all 'there is no C++ compiler'

compile() # compiler, options...
{
    cxx=$1
    shift
    run $cxx -Wall -Wextra -Wpedantic -Wshadow -Werror "-I$top_srcdir/include" "$@" -fsyntax-only
}

# The instructions: no directives but those that are code or values, and labels by their order.
instructions() # file
{
    sed -e 's/[[:space:]]*#.*//' -e '/^[[:space:]]*\.\(file\|cfi_\|ident\|addrsig\|loc\|p2align\|section\|type\|size\|globl\|text\)/d' \
        -e '/^\.LF[BE][0-9]*:/d' -e '/^\.Lfunc/d' -e '/^$/d' "$1" |
        awk '{
            line = ""
            while (match($0, /\.L[A-Z]*[0-9_]+/)) {
                label = substr($0, RSTART, RLENGTH)
                if (!(label in order)) order[label] = ++count
                line = line substr($0, 1, RSTART - 1) "label" order[label]
                $0 = substr($0, RSTART + RLENGTH)
            }
            print line $0
        }'
}

same_code() # compiler of C, compiler of C++
{
    run $1 -std=c11 -O2 -S "-I$top_srcdir/include" "$sources/same.c" -o "$scratch/c.s"
    [ "$status" -eq 0 ] || return
    run $2 -std=c++17 -O2 -S "-I$top_srcdir/include" "$sources/same.cc" -o "$scratch/cxx.s"
    [ "$status" -eq 0 ] || return
    instructions "$scratch/c.s" > "$scratch/c"
    instructions "$scratch/cxx.s" > "$scratch/cxx"
    [ "$(grep -c 'ctxrt_' "$scratch/c")" -ge 9 ] && diff "$scratch/c" "$scratch/cxx" > "$scratch/errors"
}

known() # compiler of C, compiler of C++: one of both, of a processor whose assembly is read here
{
    for compiler in "$1" "$2"; do
        echo '__clang__ __GNUC__ __clang_major__ __x86_64__' | $compiler -E -P -x c - 2> /dev/null | tail -n 1
    done > "$scratch/kinds"
    [ "$(sort -u "$scratch/kinds" | wc -l)" -eq 1 ] && grep -q '^\(1\|__clang__\) [0-9]* .* 1$' "$scratch/kinds"
}

while IFS=';' read -r c cxx; do
    for standard in c++17 c++20 c++2b; do
        for mode in exceptions no-exceptions; do
            printf '#include <ctxrt/ctxrt.hpp>\n#include <ctxrt/ctxrt.hpp>\n' > "$scratch/alone.cc"
            compile "$cxx" "-std=$standard" "-f$mode" "$scratch/alone.cc"
            report "$status" "ctxrt.hpp compiles by $cxx as $standard with -f$mode"
        done
        compile "$cxx" "-std=$standard" "$sources/guards.cc" && compile "$cxx" "-std=$standard" "$sources/calls.cc"
        report "$status" "what uses it compiles by $cxx as $standard"
    done
    compile "$cxx" -std=c++17 -fno-exceptions "$sources/guards.cc"
    report "$status" "and by $cxx without exceptions"
    compile "$cxx" -std=c++14 "$scratch/alone.cc"
    [ "$status" -ne 0 ] && grep -q 'needs C++17' "$scratch/errors"
    report $? "an older C++ is refused by $cxx"

    name="guards become the instructions of C by $cxx"
    if known "$c" "$cxx"; then
        same_code "$c" "$cxx"
        report $? "$name"
    else
        skip "$name" "$c and $cxx are no gcc and no clang of one version, or not for x86-64"
    fi
done < "$scratch/pairs"
echo "1..$number"
