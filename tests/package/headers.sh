#!/bin/sh
# Each public header compiles alone, as C11 and as C++17, without cuda.h, and beside it in both orders.
set -u
. "$top_srcdir/tests/support/tap.sh"
headers=$(cd "$top_srcdir/include" && echo ctxrt/*.h infinirt/*.h)
set -- $headers
echo "1..$((4 * $#))"

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
    c11) compiler="${CC:-cc} -x c" ;;
    c++17) compiler="$CXX -x c++" ;;
    esac
    run $compiler "-std=$language" -Wall -Wextra -Wpedantic -Werror "-I$top_srcdir/include" "$@" \
        -fsyntax-only "$scratch/source"
}

for header; do
    includes "$header" > "$scratch/source"
    compile c11
    report "$status" "$header is C11"

    if [ -z "${CXX:-}" ] || ! command -v ${CXX%% *} > /dev/null; then
        skip "$header is C++17" 'there is no C++ compiler'
    else
        compile c++17
        report "$status" "$header is C++17"
    fi

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
