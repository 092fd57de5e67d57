#!/bin/sh
# Does what README.md, docs/guide.md and docs/allocator.md say, one behind the other: writes their programs, runs their shell
# lines and compares what those print. A ```c or ```cpp block begins with its file's name; a program is followed by the ```sh lines that
# compile and run it, and those by the ```text that they print. Programs are compiled with warnings as errors. README's
# picture is the one that its program draws.
set -u
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/samples/reader.sh"
[ -n "$reader" ] || skip_all 'pkg-config is not installed'
mkdir "$scratch/guide"
documents=${CTXRT_TEST_DOCUMENTS:-$top_srcdir} # as installed
readme=$documents/README.md guide=$documents/docs/guide.md allocator=$documents/docs/allocator.md

# What cannot be run here, line by line. Of the rest, nothing runs but what is expected of a guide.
may_run='^((CTXRT|CUDA)_[A-Z_]*=[^ ]* )*(cc|c\+\+|ctxrt|sed|export|unset|\./[a-z_]*)( |$)'
cat > "$scratch/not-run" <<'LINES'
./bootstrap demo   # installs what is missing, builds, and sends a file through 4 emulated GPUs; on Debian and Ubuntu
./bootstrap check  # the same, then the plain tests; ./bootstrap sanitize runs those of memory and threads under sanitizers
./bootstrap build
sudo make -C build install
sudo ldconfig
ctxrt nvcc -g -o program program.cu
ctxrt run --devices 2 ./program
ctxrt check ./program
ctxrt trace --check -o timeline.html ./program
ctxrt nvcc -g -o streams samples/runtime/streams.cu
ctxrt run ./streams
cmake -S . -B build -DCMAKE_CUDA_RUNTIME_LIBRARY=Shared -DCMAKE_CUDA_ARCHITECTURES=75-virtual
cmake --build build
ctxrt run build/program
ctxrt info
./ring
CUDA_VISIBLE_DEVICES=0,1 ./ring
LINES

# Writes each block into NNN.LANGUAGE.
awk -v folder="$scratch" '
    /^```/ && !inside { inside = 1; file = sprintf("%s/%03d.%s", folder, ++count, substr($0, 4)); printf "" > file; next }
    /^```/ { inside = 0; close(file); next }
    inside { print > file }
    END { exit inside }' "$readme" "$guide" "$allocator"
report $? 'every block ends'

wrong() # what
{
    echo "$1" > "$scratch/errors"
    return 1
}

followed_by() # language
{
    [ "$next" = "$1" ] || wrong "a block of $1 should follow, not one of '$next'"
}

write_program() # block
{
    name=$(sed -n '1s,^/\* \([a-z_]*\.\(c\|cc\|h\)\) \*/$,\1,p' "$1")
    [ -n "$name" ] || wrong 'its first line is no file name' || return
    cp "$1" "$scratch/guide/$name" || return
    case $name in
    *.h)
        echo "#include \"$scratch/guide/$name\"" > "$scratch/alone.c"
        run cc $(pkg-config --cflags ctxrt) -fsyntax-only "$scratch/alone.c"
        return "$status"
        ;;
    *.cc) followed_by sh && { grep -q "^c++ .*$name " "$scratch/$after.sh" || wrong "nothing compiles $name"; } ;;
    *.c) followed_by sh && { grep -q "^cc $name " "$scratch/$after.sh" || wrong "nothing compiles $name"; } ;;
    esac
}

all_not_run() # block
{
    ! grep -vqxF -f "$scratch/not-run" "$1"
}

# In this shell, so that what is exported stays.
run_lines() # block
{
    followed_by text || return
    ! grep -vE "$may_run" "$1" > "$scratch/errors" || return
    here=$(pwd)
    cd "$scratch/guide" || return
    . "$1" > "$scratch/out" 2>&1
    status=$?
    cd "$here" || return
    sed 's/^thread [0-9]\{1,\} /thread N /' "$scratch/out" > "$scratch/settled"
    diff "$scratch/$after.text" "$scratch/settled" > "$scratch/errors" && [ "$status" -eq 0 ] && [ -s "$scratch/settled" ]
}

set -- "$scratch"/[0-9][0-9][0-9].*
previous=
while [ $# -gt 0 ]; do
    block=$1 language=${1##*.} next=${2-} first=$(head -n 1 "$1")
    after=$(basename "${next%.*}") next=${next##*.}
    : > "$scratch/out"
    : > "$scratch/errors"
    case $language in
    c | cpp)
        write_program "$block"
        report $? "program: $first"
        ;;
    sh)
        if all_not_run "$block"; then
            skip "lines: $first" 'they build, need root, or show real GPUs'
        elif [ "$previous" = cpp ] && ! command -v ${CXX:-c++} > "$scratch/errors"; then
            skip "lines: $first" 'there is no C++ compiler'
        else
            run_lines "$block"
            report $? "lines: $first"
        fi
        ;;
    text)
        [ "$previous" = sh ]
        report $? "output: $first"
        ;;
    console) # what check says of a lesson's program
        head -n "$(wc -l < "$block")" "$top_srcdir/samples/lessons/08-what-synchronises/report.txt" | cmp -s - "$block"
        report $? "a report: $first"
        ;;
    *)
        false
        report $? "a block of an unknown kind: $block"
        ;;
    esac
    previous=$language
    shift
done

# Threads by their place in the picture: their ids differ from run to run.
awk '/^  \{"thread": / { sub(/"thread": [0-9]+/, "\"thread\": " ++count) } { print }' "$scratch/guide/stacks.json" |
    ctxrt draw --columns 3 - > "$scratch/out" 2> "$scratch/errors"
cmp -s "$scratch/out" "$documents/docs/stacks.svg"
report $? 'docs/stacks.svg is what the program of README.md draws'

cat "$scratch"/[0-9][0-9][0-9].sh > "$scratch/lines"
grep -vxF -f "$scratch/lines" "$scratch/not-run" > "$scratch/errors"
[ $? -eq 1 ]
report $? 'each line that is not run is in a document'
echo "1..$number"
