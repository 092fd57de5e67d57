#!/bin/sh
# Writes what the tools say of one lesson: report.txt, picture.svg, and README.md with its blocks filled in.
#
#   render.sh LESSON TO     (in the environment of the tests: top_srcdir, top_builddir)
#
# A block of README.md stands behind a comment: "<!-- shows picture.scn -->" is `ctxrt play --show`, "steps" the same without
# the stacks, "<!-- prints mistake.c -->" the output of the program, "<!-- report mistake.c -->" that of `ctxrt check`. TO
# gets the files, and the programs. `make renew-lessons` writes them into the lessons.
set -u
lesson=$(cd "$1" && pwd) to=$2
library=$top_builddir/lib/shim/cuda-13/.libs
runtime=$top_builddir/lib/runtime/cudart-13/.libs/libcudart.so.13
ctxrt=$top_builddir/ctxrt

said() # key of lesson.txt
{
    sed -n "s/^$1: *//p" "$lesson/lesson.txt"
}

# shellcheck disable=SC2086 # the compiler is words
compile_module() # name, options...
{
    of=$1
    shift
    ${CC:-cc} -std=gnu11 -Wall -Wextra -Werror -O0 -g -DLESSON_OWN_DECLARATIONS ${SANITIZERS:+-fsanitize=$SANITIZERS} \
        "-I$lesson/.." "$of.c" "$@" "$library/libcuda.so.1" -Wl,--as-needed "$runtime"
}

# A lesson of two modules has the same source for both.
compile() # name
{
    if [ -z "$(said module)" ]; then
        compile_module "$1" -o "$1" -pthread -ldl
        return
    fi
    module=$1-$(said module).so
    # shellcheck disable=SC2016 # $ORIGIN is for the loader
    compile_module "$1" -DMODULE -shared -fPIC "-Wl,-soname,$module" -o "$module" &&
        compile_module "$1" -o "$1" "$module" '-Wl,-rpath,$ORIGIN' -pthread -ldl
}

mkdir -p "$to" && cp "$lesson"/*.c "$lesson"/*.scn "$to" && cd "$to" || exit 1
compile mistake && compile fixed && compile exercise && compile solution || exit 1
schedule=$(said 'mistake schedule')
CTXRT_EMU_SCHEDULE=${schedule:-threads} CTXRT_LOG=off
export CTXRT_EMU_SCHEDULE CTXRT_LOG
"$ctxrt" run --cuda 13 ./mistake > prints-mistake.c 2>&1
"$ctxrt" run --cuda 13 ./fixed > prints-fixed.c 2>&1
if [ -f kernel.c ]; then # as on a machine without NVRTC
    compile kernel || exit 1
    NVRTC=none "$ctxrt" run --cuda 13 ./kernel "$lesson" square > prints-kernel.c 2> skipped
    NVRTC=none CTXRT_EMU_WATCHDOG=1 "$ctxrt" run --cuda 13 ./kernel "$lesson" endless > prints-endless 2> skipped
fi
"$ctxrt" check --cuda 13 ./mistake 2>&1 > checked | sed 's/process [0-9]*/process N/; s/forked from [0-9]*/forked from N/' > report.txt
cp report.txt report-mistake.c
for picture in "$lesson"/*.scn; do
    picture=${picture##*/}
    "$ctxrt" play --show "$picture" 2>&1 | grep -v ': passed$' > "shows-$picture"
    grep -v '^      [^ ]* *|' "shows-$picture" > "steps-$picture"
done

# Under the schedule lazy work runs when a step waits for it: the picture has the same bytes each time.
"$ctxrt" play --schedule=lazy --json=played.json picture.scn > played && "$ctxrt" draw -o picture.svg played.json || exit 1

awk '
    /^<!-- (shows|steps|prints|report) / { file = $2 "-" $3; print; next }
    file != "" && /^```text$/ {
        print
        while ((getline line < file) > 0)
            print line
        close(file)
        file = ""
        inside = 1
        next
    }
    inside && !/^```$/ { next }
    { inside = 0; print }
' "$lesson/README.md" > README.md
