#!/bin/sh
# Objects of a room that need each other, in a circle, can only be understood together: the circles of each room stay
# as small as they are, and no folder of lib/emu needs one above it. Measured by nm over the objects of the build.
set -u
. "$top_srcdir/tests/support/tap.sh"

# The sizes of each room's circles, the largest first; these figures only fall.
limits()
{
    cat << 'END'
base
driver
ptx 11
emu/base
emu/report
emu/device
emu/memory
emu/context
emu/schedule 6
emu/module 2
emu/graph 4
emu/call
emu/ 6 4 2
layer
layer/check 2
layer/count
layer/trace
device 2
context
work 2
alloc
memory 11 5 2
diagnose
copy
graph
infinirt
shim 3 2
runtime
END
}

emu_order='base report device memory context schedule module graph call'

# What is left of folders that need one above them, and why.
exceptions()
{
    cat << 'END'
END
}

objects_of() # build folder, folder of lib or a whole tree with /, in which sources are too
{
    depth='-maxdepth 1'
    case $2 in */) depth= ;; esac
    # shellcheck disable=SC2086 # two words or none
    find "$1/lib/${2%/}" "$1/lib/${2%/}/.libs" $depth -name '*.o' 2> "$scratch/ignored" | sort -u | while read -r object; do
        source=${object#"$1"/}
        source=$(echo "$source" | sed 's|\.libs/||; s|/lib[a-z0-9_]*_la-|/|; s|\.o$|.c|')
        # Shared libraries have both kinds of objects, of which one is enough; and an old one may have no source any more.
        case $object in */.libs/*) ;; *) [ ! -e "${object%/*}/.libs/${object##*/}" ] || continue ;; esac
        [ ! -e "$top_srcdir/$source" ] || echo "$object"
    done
}

circles_of() # build folder, folder of lib
{
    objects_of "$1" "$2" | xargs nm -A -P -g 2> "$scratch/ignored" | awk -f "$top_srcdir/tests/package/circles.awk"
}

# Prints what is above a row of the limits.
too_large() # build folder
{
    limits | while read -r folder limit; do
        circles_of "$1" "$folder" > "$scratch/circles"
        awk -v limit="$limit" -v folder="$folder" 'BEGIN { split(limit, most, " ") }
            $1 > most[NR] + 0 { print folder ": " $0 " (" most[NR] + 0 ")" }' "$scratch/circles"
    done
}

[ -n "$(objects_of "$top_builddir" base)" ] || skip_all 'the libraries are not built'

too_large "$top_builddir" > "$scratch/out"
[ ! -s "$scratch/out" ]
report $? 'no_room_has_a_larger_circle_than_its_row_says'

limits | sed 's| .*||; s|/$||' | sort > "$scratch/named"
(cd "$top_srcdir/lib" && find . -name '*.c' | sed 's|^\./||; s|/[^/]*$||') | sort -u > "$scratch/there"
comm -13 "$scratch/named" "$scratch/there" > "$scratch/out"
[ ! -s "$scratch/out" ]
report $? 'every_folder_has_its_row'

objects_of "$top_builddir" emu/ | xargs nm -A -P -g | awk -v order="$emu_order" -f "$top_srcdir/tests/package/circles.awk" |
    sort > "$scratch/upwards"
exceptions | sed 's/ *#.*//' | sort > "$scratch/allowed"
comm -3 "$scratch/upwards" "$scratch/allowed" > "$scratch/out"
[ ! -s "$scratch/out" ]
report $? 'no_folder_of_the_embedded_driver_needs_one_above_it'

# This test itself: three files in a circle and one beside it.
mkdir -p "$scratch/lib/base"
compile() # name, function that it calls
{
    echo "void $2(void); void $1(void); void $1(void) { $2(); }" > "$scratch/$1.c"
    $CC -c "$scratch/$1.c" -o "$scratch/lib/base/$1.o"
}
compile one two && compile two three && compile three one && compile four one
[ "$(find "$scratch/lib/base" -name '*.o' | sort | xargs nm -A -P -g | awk -f "$top_srcdir/tests/package/circles.awk")" = '3 one three two' ]
report $? 'a_circle_is_found'
find "$scratch/lib/base" -name '*.o' | xargs nm -A -P -g | sed 's|/base/four|/call/four|; s|/base/one|/report/one|' |
    awk -v order="$emu_order" -f "$top_srcdir/tests/package/circles.awk" > "$scratch/out"
[ "$(cat "$scratch/out")" = 'base/three needs report/one: one' ]
report $? 'a_need_of_a_folder_above_is_found'
echo "1..$number"
