#!/bin/sh
# old_libc.sh FOLDER: makes FOLDER to link programs and libraries with, so that they run on every C library from glibc $oldest on,
# whatever the age of the one here. It has
# - a libc.so.6 and its neighbours without code, which have each symbol in the newest version that glibc $oldest has, of those that
#   the libraries here have: what is linked with them asks for these versions;
# - an archive of what the headers here take from a newer C library, and what other libraries lack: tests/gpu/{newer,search_tree}.c;
# - the static libraries of what is not everywhere, which the linker finds before the shared ones.
# The last line printed has the linker's flags.
set -eu
: "${CC:=cc}" "${top_srcdir:?}"
oldest=2.28
to=$1
rm -rf "$to"
mkdir -p "$to"
to=$(cd "$to" && pwd)

file_of() # library: its path
{
    found=$($CC -print-file-name="$1")
    [ "$found" != "$1" ] || { echo "old_libc.sh: $CC finds no $1" >&2; exit 1; }
    echo "$found"
}

# The symbols of a library as objdump -T lists them become assembly, and the versions a script for the linker. Symbols at one
# address stay so: the loader copies variables into programs under all of their names.
hollow() # library
{
    objdump -T "$(file_of "$1")" | awk -v oldest=$oldest -v script="$to/$1.map" -f "$top_srcdir/tests/gpu/old_libc.awk" > "$to/$1.s"
    $CC -shared -nostdlib -Wl,-soname,"$1" -Wl,--version-script="$to/$1.map" -o "$to/$1" "$to/$1.s"
}

for library in libc.so.6 libm.so.6 libpthread.so.0 libdl.so.2 librt.so.1; do
    hollow $library
done
for part in newer start search_tree; do
    $CC -O2 -fPIC -fvisibility=hidden -c -o "$to/$part.o" "$top_srcdir/tests/gpu/$part.c"
done
ar rcs "$to/libnewer.a" "$to/newer.o" "$to/start.o" "$to/search_tree.o"
rm "$to"/*.s "$to"/*.map "$to"/*.o

# The C library of old was several libraries, which programs name all, and the linker's script of the C library names them.
others="$to/libpthread.so.0 $to/libdl.so.2 $to/librt.so.1"
sed "s,[^ ]*/libc\.so\.6,$others $to/libc.so.6 $to/libnewer.a," "$(file_of libc.so)" > "$to/libc.so"
grep -q "$to/libc.so.6" "$to/libc.so" || { echo 'old_libc.sh: libc.so is no script of the linker' >&2; exit 1; }
ln -s libm.so.6 "$to/libm.so"
ln -s libpthread.so.0 "$to/libpthread.so"
ln -s libdl.so.2 "$to/libdl.so"
ln -s librt.so.1 "$to/librt.so"

# Static libraries bring along what they need.
for module in jansson check zlib liblz4 libzstd libdw; do
    archives=
    for name in $(pkg-config --static --libs-only-l $module 2> /dev/null | sed 's/-l//g'); do
        case " m rt dl pthread " in
        *" $name "*) ;;
        *)
            : "${first:=$name}"
            archive=$(file_of "lib$name.a")
            ln -sf "$archive" "$to/lib$name.a"
            archives="$archives $to/lib$name.a" ;;
        esac
    done
    [ -z "$archives" ] || echo "GROUP ($archives )" > "$to/lib$first.so"
    unset first
done
echo "-L$to -Wl,--no-as-needed -Wl,--wrap=__libc_start_main -Wl,--allow-shlib-undefined"
