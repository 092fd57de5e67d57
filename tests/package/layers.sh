#!/bin/sh
# The rooms of lib/ include each other one way only: base <- driver <- (emu, layer) <- device <- context
# <- work <- memory (over alloc) <- (diagnose, copy) <- graph. The runtime knows drivers as tables: only its start knows
# emu. The InfiniRT interface knows the public headers alone. The theme, the player and the model are rooms of tools/.
# The folders of lib/emu are in an order, too.
set -u
. "$top_srcdir/tests/support/tap.sh"

rooms='base driver ptx emu layer device context work alloc memory diagnose copy graph infinirt shim runtime'
tool_rooms='theme play model'

may_include() # room
{
    case $1 in
    base) echo base ;;
    driver) echo base driver ;;
    ptx) echo base ptx ;;
    emu) echo base driver ptx emu ;;
    layer) echo base driver layer ;;
    device) echo base driver layer device ;;
    context) echo base driver layer device context ;;
    work) echo base driver layer device context work ;;
    alloc) echo base alloc ;;
    memory) echo base driver layer device context work alloc memory ;;
    diagnose) echo base driver layer device context work alloc memory diagnose ;;
    copy) echo base driver layer device context work alloc memory copy ;;
    graph) echo base driver layer device context work alloc memory copy graph ;;
    infinirt) echo infinirt ;;
    shim) echo base driver emu layer shim ;;
    runtime) echo base driver layer runtime ;;
    theme) echo base theme ;;
    play) echo base driver emu theme play ;;
    model) echo base driver play model ;;
    esac
}

# Prints the #include lines of a room that it may not have. Those of the public headers are in angle
# brackets; a header without its room would be found by luck.
wrong_includes() # folder of the rooms, room
{
    [ -d "$1/$2" ] || return 0
    grep -rn '^ *# *include *"' "$1/$2" | while IFS= read -r line; do
        file=${line%%:*}
        included=${line#*\"}
        included=${included%%\"*}
        case ${file#"$1"/}:$included in
        device/runtime.c:emu/emu.h | *:config.h | shim/*:lib/shim/unserved.def | runtime/*:CX_CUDART_ENTRIES | play/page.c:tools/play/page_parts.h | play/rule.c:tools/play/rules.h) continue ;;
        esac
        case " $(may_include "$2") " in
        *" ${included%%/*} "*) [ "${included#*/}" = "$included" ] || continue ;;
        esac
        echo "${line#"$1"/}"
    done
}

emu_folders='base report device memory context schedule module graph call'

# The #include lines of lib/emu that go up, a file and what it includes, and why.
emu_exceptions()
{
    cat << 'END'
END
}

# Prints the #include lines of lib/emu that name a folder after the file's own, or none.
wrong_folders() # folder of the rooms, exceptions
{
    (cd "$1/emu" && grep -rn '^ *# *include *"emu/' */) |
        awk -v order="$emu_folders" -v exceptions="$2" '
            BEGIN {
                count = split(order, folders, " ")
                for (i = 1; i <= count; i++)
                    rank[folders[i]] = i
                while ((getline line < exceptions) > 0)
                    excepted[line] = 1
            }
            {
                split($0, part, ":")
                split($0, quoted, "\"")
                split(part[1], from, "/")
                split(quoted[2], to, "/")
                if (quoted[2] == "emu/emu.h" || part[1] " " quoted[2] in excepted)
                    next
                if (!(from[1] in rank) || !(to[2] in rank) || rank[to[2]] > rank[from[1]])
                    print part[1] " " quoted[2]
            }'
}

for room in $rooms $tool_rooms; do
    folder=lib
    case " $tool_rooms " in *" $room "*) folder=tools ;; esac
    wrong_includes "$top_srcdir/$folder" "$room" > "$scratch/out"
    [ ! -s "$scratch/out" ]
    report $? "${room}_includes_no_room_above_it"
done

for room in "$top_srcdir"/lib/*/; do
    room=$(basename "$room")
    case " $rooms " in
    *" $room "*) ;;
    *) echo "$room has no place in the order" ;;
    esac
done > "$scratch/out"
[ ! -s "$scratch/out" ]
report $? 'every_room_has_its_place'

emu_exceptions | sed 's/ *#.*//' > "$scratch/excepted"
: > "$scratch/none"
wrong_folders "$top_srcdir/lib" "$scratch/excepted" > "$scratch/out"
[ ! -s "$scratch/out" ]
report $? 'no_folder_of_the_embedded_driver_includes_one_above_it'

wrong_folders "$top_srcdir/lib" "$scratch/none" | sort > "$scratch/upwards"
sort "$scratch/excepted" | comm -23 - "$scratch/upwards" > "$scratch/out"
[ ! -s "$scratch/out" ]
report $? 'each_exception_is_of_a_line_that_is_there'

(cd "$top_srcdir/lib/emu" && find . -name '*.c' -o -name '*.h' -o -name '*.def') | sed 's|.*/||' | sort | uniq -d > "$scratch/out"
[ ! -s "$scratch/out" ]
report $? 'no_two_files_of_the_embedded_driver_have_the_same_name'

# This test itself: in a copy, each of these must be found.
plant() # room, line
{
    mkdir -p "$scratch/lib/$1"
    echo "$2" > "$scratch/lib/$1/planted.c"
}
plant base '#include "driver/table.h"'
plant driver '#include "emu/emu.h"'
plant ptx '#include "emu/emu.h"'
plant emu '#  include "device/device.h"'
plant layer '#include "emu/emu.h"'
plant device '#include "emu/emu.h"'
plant context '#include "work/stream.h"'
plant work '#include "emu/emu.h"'
plant alloc '#include "context/thread.h"'
plant memory '#include "copy/copy.h"'
plant diagnose '#include "copy/copy.h"'
plant copy '#include "graph/graph.h"'
plant graph '#include "stream.h"'
plant infinirt '#include "graph/graph.h"'
plant shim '#include "context/stack.h"'
plant runtime '#include "emu/emu.h"'
plant theme '#include "play/page.h"'
plant play '#include "context/stack.h"'
plant model '#include "emu/context/context.h"'
for room in $rooms $tool_rooms; do
    [ -n "$(wrong_includes "$scratch/lib" "$room")" ] || echo "not found in $room"
done > "$scratch/out"
[ ! -s "$scratch/out" ]
report $? 'a_wrong_include_is_found'

mkdir -p "$scratch/lib/emu/memory"
printf '%s\n' '#include "emu/emu.h"' '#include "emu/base/slot.h"' '#include "emu/call/table.h"' '#include "emu/state.h"' \
    > "$scratch/lib/emu/memory/planted.c"
rm "$scratch/lib/emu/planted.c"
wrong_folders "$scratch/lib" "$scratch/none" > "$scratch/out"
[ "$(cat "$scratch/out")" = 'memory/planted.c emu/call/table.h
memory/planted.c emu/state.h' ]
report $? 'so_is_one_that_names_a_folder_above_or_none'
echo "1..$number"
