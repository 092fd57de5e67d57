#!/bin/sh
# docs/seeds.md keeps its word. Each row names functions and tests: the tests pass, and with any one of the functions
# disabled (a library loaded before ours answers "not supported" in its place) one of them fails. With the argument
# `all` (make check-seeds) for each row, or those whose number begins as the second says; else for a few, and for all rows that what they name is there.
set -u
. "$top_srcdir/tests/support/tap.sh"
document=${SEEDS:-$top_srcdir/docs/seeds.md}
every=23
[ "${1-}" != all ] || every=1
CK_DEFAULT_TIMEOUT=20
export CK_DEFAULT_TIMEOUT

# "row<TAB>functions<TAB>program:test ...", of rows that are not open. A program without a test is one that exits with 0.
rows()
{
    awk -F ' *[|] *' '$2 ~ /^[0-9]+\.[0-9]+$/ && $5 !~ /^open/ {
        functions = $4
        gsub(/[`,]/, " ", functions)
        tests = ""
        program = ""
        gsub(/,/, " ", $5)
        words = split($5, word, / +/)
        for (i = 1; i <= words; i++) {
            if (word[i] ~ /^`/) {
                if (program != "" && !named) tests = tests " " program ":"
                program = word[i]
                gsub(/`/, "", program)
                named = 0
            } else if (word[i] != "") {
                tests = tests " " program ":" word[i]
                named = 1
            }
        }
        if (program != "" && !named) tests = tests " " program ":"
        print $2 "\t" functions "\t" tests
    }' "$document"
}

stub() # function
{
    case $1 in
    infinirt*) answer=2 ;;
    cu*) answer=801 ;;
    *_pointer) answer=0 ;;
    *) answer=7 ;;
    esac
    case $1 in ctxrt_plan_pointer) answer=7 ;; esac
    [ -f "$scratch/$1.so" ] || echo "long $1(void) { return $answer; }" |
        ${CC:-cc} -shared -fPIC -x c -o "$scratch/$1.so" - 2> "$scratch/errors"
}

# Runs a program once with a function disabled, or none; what it printed stays in $said.
play() # program, function or ''
{
    said=$scratch/$(echo "$1" | tr / _)-$2
    [ ! -f "$said" ] || return 0
    preload=
    if [ -n "$2" ]; then
        stub "$2" || return 1
        preload=$scratch/$2.so
    fi
    case $1 in
    *.sh) set -- sh "$top_srcdir/$1" ;;
    samples/context_tutorial) set -- "$top_builddir/ctxrt" run "$top_builddir/$1" ;;
    tests/infinirt/client_c) set -- "$top_builddir/$1" 12 ;;
    samples/*) set -- env CTXRT_DRIVER=emulated "$top_builddir/$1" ;;
    *) set -- "$top_builddir/$1" ;;
    esac
    LD_PRELOAD=$preload CTXRT_LOG=off timeout 120 "$@" > "$said" 2>&1
    echo "exit status $?" >> "$said"
}

passes() # program:test, function or ''
{
    play "${1%%:*}" "$2" || return 1
    if [ -n "${1#*:}" ]; then
        grep -q "^ok .*:${1#*:}:" "$said" && ! grep -q "^not ok .*:${1#*:}:" "$said"
    else
        grep -qx 'exit status 0' "$said" && ! grep -q '^not ok' "$said" && says_the_same "${1%%:*}"
    fi
}

# A sample whose output is another one has failed too.
says_the_same() # program
{
    case $1 in samples/*) ;; *) return 0 ;; esac
    sed 's/0x[0-9a-f]*//g' "$said" > "$scratch/said"
    sed 's/0x[0-9a-f]*//g' "$scratch/$(echo "$1" | tr / _)-" | cmp -s - "$scratch/said"
}

all_pass() # tests
{
    for test in $1; do
        passes "$test" '' || { echo "$test does not pass" > "$scratch/out"; return 1; }
    done
}

some_fails() # tests, function
{
    for test in $1; do
        passes "$test" "$2" || return 0
    done
    echo "without $2 they pass all the same" > "$scratch/out"
    return 1
}

exists() # function
{
    case $1 in
    cu*) grep -qw "${1%_v[0-9]}" "$top_srcdir/lib/driver/symbols.def" ;;
    *) grep -rq "\<$1(" "$top_srcdir/include" ;;
    esac
}

# What a row names is there.
look() # row, functions, tests
{
    : > "$scratch/out"
    [ -n "$(echo $2)" ] && [ -n "$(echo $3)" ] || echo "it names no function or no test" > "$scratch/out"
    for function in $2; do
        exists "$function" || echo "there is no function $function" >> "$scratch/out"
    done
    for test in $3; do
        program=${test%%:*} name=${test#*:}
        source=$top_srcdir/${program%.sh}
        if [ ! -f "$source.c" ] && [ ! -f "$source.sh" ]; then
            echo "there is no $program" >> "$scratch/out"
        elif [ -n "$name" ] && ! grep -q "START_TEST($name)" "$source.c"; then
            echo "$program has no test $name" >> "$scratch/out"
        fi
    done
    [ ! -s "$scratch/out" ]
}

# What prevents a library from being loaded first, or made.
why_not()
{
    if [ -n "$SANITIZERS" ]; then
        echo 'a sanitizer wants to be loaded first itself'
    elif ! command -v "${CC:-cc}" > /dev/null 2>&1; then
        echo 'there is no C compiler'
    fi
}

rows | grep "^${2-}" > "$scratch/rows"
count=0
tab=$(printf '\t')
why=$(why_not)
while IFS=$tab read -r row functions tests; do
    look "$row" "$functions" "$tests"
    report $? "$row names what is there"
    count=$((count + 1))
    [ $((count % every)) -eq 0 ] || continue
    if [ -n "$why" ]; then
        skip "$row fails without its functions" "$why"
        continue
    fi
    all_pass "$tests"
    report $? "$row passes"
    for function in $functions; do
        some_fails "$tests" "$function"
        report $? "$row fails without $function"
    done
done < "$scratch/rows"
rm -f "$scratch/out"
[ "$count" -ge 70 ] || [ -n "${2-}" ]
report $? 'there are rows'
echo "1..$number"
