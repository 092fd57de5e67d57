#!/bin/sh
# The probe can be carried away: it includes and links nothing of the project, and one command compiles it.
set -u
. "$top_srcdir/tests/support/tap.sh"
folder=$top_srcdir/tests/probe

# Prints the #include lines that are neither of the folder nor of the C library.
strange_includes() # folder
{
    for file in "$1"/*.[ch] "$1"/*.def; do
        sed -n 's/^ *# *include *\(.*\)/\1/p' "$file" | while read -r included; do
            name=$(echo "$included" | sed 's/^[<"]//; s/[>"].*$//')
            case $included in
            \"*) [ "${name#*/}" = "$name" ] && [ -f "$1/$name" ] ;;
            *) case $name in
                dlfcn.h | errno.h | fcntl.h | getopt.h | poll.h | pthread.h | semaphore.h | signal.h | spawn.h | \
                    stdarg.h | stddef.h | stdio.h | stdlib.h | string.h | sys/wait.h | time.h | unistd.h) ;;
                *) false ;;
                esac ;;
            esac || echo "$file: $included"
        done
    done
}

echo 1..5
strange_includes "$folder" > "$scratch/out"
[ ! -s "$scratch/out" ]
report $? 'it_includes_itself_and_the_c_library'

mkdir "$scratch/planted"
for included in '"driver/table.h"' '"fixture.h"' '<ctxrt/ctxrt.h>' '<cuda.h>' '"../emu.h"'; do
    echo "#include $included" > "$scratch/planted/planted.c"
    : > "$scratch/planted/a.h"
    : > "$scratch/planted/a.def"
    [ -n "$(strange_includes "$scratch/planted")" ] || echo "$included is not found"
done > "$scratch/out"
[ ! -s "$scratch/out" ]
report $? 'a_strange_include_is_found'

what='it_links_the_c_library_only'
if [ -n "$SANITIZERS" ]; then
    skip "$what" "the sanitizers have libraries of their own"
else
    ldd "$top_builddir/tests/probe/probe" |
        grep -Ev '^[[:space:]]*(linux-vdso|libc\.so|libdl\.so|libpthread\.so|/lib.*/ld-linux)' > "$scratch/out"
    [ ! -s "$scratch/out" ]
    report $? "$what"
fi

command=$(sed -n 's/^ \*     \(cc .*\)/\1/p' "$folder/probe.c")
[ "$(echo "$command" | wc -l)" -eq 1 ] && [ -n "$command" ]
report $? 'its_head_has_the_command'
(cd "$top_srcdir" && run sh -c "${CC:-cc} ${command#cc } -o '$scratch/probe'" && exit "$status") &&
    "$scratch/probe" --list > "$scratch/carried" &&
    "$top_builddir/tests/probe/probe" --list | cmp - "$scratch/carried"
report $? 'that_command_makes_the_same_probe'
