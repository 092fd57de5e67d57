#!/bin/sh
# Each public header compiles alone, as strict C99, as C11, C++11 and C++17, without cuda.h, and beside it in both
# orders; and so does each initializer that they have. A result may be dropped by a cast to void, and not without.
set -u
. "$top_srcdir/tests/support/tap.sh"
headers=$(cd "$top_srcdir/include" && echo ctxrt/*.h infinirt/*.h)
set -- $headers
echo "1..$((6 * $# + 12))"

# Twice, so that the guard is tried as well.
includes() # header...
{
    for included in "$@" "$@"; do
        echo "#include <$included>"
    done
    echo 'int main(void) { return 0; }'
}

compile() # language, options...
{
    language=$1
    shift
    case $language in
    c99) compiler="${CC:-cc} -x c -pedantic-errors" ;;
    c11) compiler="${CC:-cc} -x c" ;;
    c++*) compiler="$CXX -x c++" ;;
    esac
    run $compiler "-std=$language" -Wall -Wextra -Wpedantic -Werror "-I$top_srcdir/include" "$@" \
        -fsyntax-only "$scratch/source"
}

compiles() # what, language
{
    case $2 in
    c++*)
        if [ -z "${CXX:-}" ] || ! command -v ${CXX%% *} > /dev/null; then
            skip "$1 $2" 'there is no C++ compiler'
            return
        fi
        ;;
    esac
    compile "$2"
    report "$status" "$1 $2"
}

for header; do
    includes "$header" > "$scratch/source"
    for language in c99 c11 c++11 c++17; do
        compiles "$header is" "$language"
    done

    for order in before after; do
        if [ -z "$CUDA_DIR" ]; then
            skip "$header may come $order cuda.h" 'cuda.h is not installed'
            continue
        fi
        case $order in
        before) includes "$header" cuda.h ;;
        after) includes cuda.h "$header" ;;
        esac > "$scratch/source"
        compile c11 -isystem "$CUDA_DIR/include"
        report "$status" "$header may come $order cuda.h"
    done
done

# CTXRT_THIS_INIT initializes a ctxrt_this.
{
    echo '#include <ctxrt/ctxrt.h>'
    sed -n 's/^#define \(CTXRT_[A-Z_]*\)_INIT\>.*/\1/p' "$top_srcdir"/include/ctxrt/*.h | sort -u | while read -r name; do
        type=$(echo "$name" | tr A-Z a-z)
        echo "int use_$type($type *it); int use_$type($type *it) { $type new_one = ${name}_INIT; *it = new_one; return 0; }"
    done
} > "$scratch/source"
for language in c99 c11 c++11 c++17; do
    compiles 'every initializer is' "$language"
done

# With both compilers, whichever the build uses: one has an attribute of its own for it.
dropped() # what is done with the result
{
    printf '#include <ctxrt/ctxrt.h>\nint main(void) { ctxrt_scope_leave(0); %sctxrt_memory_release(0); return 0; }\n' "$1" > "$scratch/source"
}
for compiler in gcc g++ clang clang++; do
    for cast in '(void)' ''; do
        what="$compiler $([ -n "$cast" ] && echo 'accepts a result that is cast to void' || echo 'refuses a result that is dropped')"
        if ! command -v "$compiler" > /dev/null; then
            skip "$what" "there is no $compiler"
            continue
        fi
        case $compiler in
        *++) language='c++ -std=c++11' ;;
        *) language='c -std=c99 -pedantic-errors' ;;
        esac
        dropped "$cast"
        run "$compiler" -x $language -Wall -Wextra -Werror "-I$top_srcdir/include" -fsyntax-only "$scratch/source"
        [ -n "$cast" ] || { [ "$status" -ne 0 ]; status=$?; }
        report "$status" "$what"
    done
done
