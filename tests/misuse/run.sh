#!/bin/sh
# The suite of planted misuse: `ctxrt check` finds what the head of each program in planted/ says, in the functions that
# it says, and nothing in their twins in clean/; the report of the first program of each kind is the one that docs/check shows.
# With arguments: only the programs of these names (stack-left-1 ...).
set -u
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/misuse/report.sh"
here=$top_srcdir/tests/misuse
export CC="${CC:-cc}" SANITIZERS scratch
# The programs are not what is searched for leaks of the host's memory.
export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0"

wanted() # name
{
    [ -z "$names" ] || case " $names " in *" $1 "*) ;; *) return 1 ;; esac
}

kinds()
{
    sed -n 's/^CX_KIND([A-Z_]*, "\([A-Z-]*\)".*/\1/p' "$top_srcdir/lib/layer/check/kinds.def"
}

lower()
{
    tr '[:upper:]' '[:lower:]'
}

# Two programs of each sort, but for the kinds that missing.txt names.
complete()
{
    kinds | while read -r kind; do
        name=$(echo "$kind" | lower)
        planted=$(ls "$here/planted" | grep -c "^$name-[0-9]*\.c\$")
        clean=$(ls "$here/clean" | grep -c "^$name-[0-9]*\.c\$")
        if grep -qx "$kind" "$here/missing.txt"; then
            [ "$planted" -lt 2 ] || [ "$clean" -lt 2 ] || echo "$kind has programs, and missing.txt names it"
        elif [ "$planted" -lt 2 ] || [ "$clean" -lt 2 ]; then
            echo "$kind has $planted programs in planted/ and $clean in clean/; there have to be two"
        fi
    done
    grep -vxF "$(kinds)" "$here/missing.txt" | sed 's/$/ is in missing.txt and no kind/'
}

# The name of a program is that of a kind, which it has to expect if it is planted.
well_formed()
{
    kinds | lower > "$scratch/kinds"
    for source in "$here"/planted/*.c "$here"/clean/*.c; do
        name=$(basename "$source" .c)
        kind=${name%-*}
        grep -qx "$kind" "$scratch/kinds" || echo "$name: $kind is no kind"
        [ "$(sed 1q "$source")" = '/* SPDX-License-Identifier: MIT */' ] || echo "$name: the first line names no licence"
        [ "$(wc -l < "$source")" -le 80 ] || echo "$name is longer than 80 lines"
        expects=$(sed -n 's/^ \* expect: //p' "$source" | lower)
        case $source in
        */planted/*) echo "$expects" | grep -qx "$kind" || echo "$name does not expect $kind" ;;
        *) [ -z "$expects" ] || echo "$name is clean and expects $expects" ;;
        esac
    done
}

# The rules that kinds name are rows of docs/semantics.md.
rules()
{
    sed -n 's/.*"\([A-Z][A-Z0-9 ]*[0-9]\)")$/\1/p' "$top_srcdir/lib/layer/check/kinds.def" | tr ' ' '\n' | sort -u |
        while read -r rule; do
            grep -q "^| $rule |" "$top_srcdir/docs/semantics.md" || echo "docs/semantics.md has no rule $rule"
        done
}

# The first planted programs that one.sh has not compared with the page that shows them.
not_compared() # source...
{
    for source; do
        name=$(basename "$source" .c)
        case $source in
        */planted/*-1.c) [ -f "$scratch/planted/$name/compared" ] || echo "$name was not compared with $(page_of "$name")" ;;
        esac
    done
}

# All programs, but in the short tests with sanitizers: ThreadSanitizer sees those that have threads, the others the first
# program of every second kind and a few races.
chosen()
{
    case $CTXRT_TEST_EXTENT$SANITIZERS in
    shortthread) grep -l pthread "$here"/planted/*.c ;;
    short?*) ls "$here"/planted/*-1.c | awk 'NR % 2' && ls "$here"/cusan/*.c | awk 'NR % 8 == 1' ;;
    esac | sed 's/.*\///; s/\.c$//' | tr '\n' ' '
}

names=${*:-$(chosen)}
set --
for source in "$here"/planted/*.c "$here"/clean/*.c "$here"/cusan/*.c; do
    ! wanted "$(basename "$source" .c)" || set -- "$@" "$source"
done
echo "1..$(($# + 5))"

complete > "$scratch/out" 2>&1
[ ! -s "$scratch/out" ]
report $? 'each_kind_has_two_programs_of_each_sort'
well_formed > "$scratch/out" 2>&1
[ ! -s "$scratch/out" ]
report $? 'each_program_has_a_licence_and_expects_its_kind'
rules > "$scratch/out" 2>&1
[ ! -s "$scratch/out" ]
report $? 'each_rule_of_a_kind_is_one_of_the_semantics'
if [ -n "$SANITIZERS" ]; then
    skip 'the_programs_compile_with_cuda_h' 'the test without sanitizers does that'
elif [ -n "$CUDA_DIR" ]; then
    # shellcheck disable=SC2086 # the compiler is words
    run $CC -std=gnu11 -Wall -Wextra -Werror -Wno-unused-function -fsyntax-only "-I$CUDA_DIR/include" "-I$here" "$@"
    report "$status" 'the_programs_compile_with_cuda_h'
else
    skip 'the_programs_compile_with_cuda_h' 'configure found no cuda.h'
fi

# Two at a time: where there are more cores, other tests have them.
mkdir "$scratch/said"
printf '%s\n' "$@" | xargs -P 2 -I '{}' sh -c \
    'said=$scratch/said/$(basename "$(dirname "$1")")-$(basename "$1" .c); sh "$0" "$1" > "$said" 2>&1 || echo "one.sh ended with $?" >> "$said"' \
    "$here/one.sh" '{}'
for source in "$@"; do
    what=$(basename "$(dirname "$source")")-$(basename "$source" .c)
    cp "$scratch/said/$what" "$scratch/out" 2> "$scratch/errors"
    [ -f "$scratch/said/$what" ] && [ ! -s "$scratch/said/$what" ]
    report $? "$(echo "$what" | tr - _)"
done
reason=$(not_comparable)
if [ -z "$reason" ]; then
    not_compared "$@" > "$scratch/out" 2>&1
    rm -f "$scratch/errors"
    [ ! -s "$scratch/out" ]
    report $? 'the_first_report_of_each_kind_was_compared_with_its_page'
else
    skip 'the_first_report_of_each_kind_was_compared_with_its_page' "$reason"
fi
