#!/bin/sh
# carry.sh FOLDER PROGRAM...: links programs of this build anew, with what they need of ctxrt, so that they run on other machines:
# FOLDER/programs/PROGRAM, FOLDER/lib/libctxrt.so.0, and the stand-ins FOLDER/cuda-12/libcuda.so.1 and cuda-13. They need a C
# library no older than old_libc.sh says, and nothing else of the system. The programs are built.
set -eu
: "${top_srcdir:?}" "${top_builddir:?}" "${MAKE:=make}"
to=$1
shift
mkdir -p "$to"
to=$(cd "$to" && pwd)
parts=$top_builddir/gpu-check.parts
mkdir -p "$parts" "$to/programs" "$to/lib"
sh "$top_srcdir/tests/gpu/old_libc.sh" "$parts/libc" > "$parts/flags"
flags=$(tail -n 1 "$parts/flags")

# Make's own variables for the outer call are not for these.
unset MAKEFLAGS MFLAGS MAKELEVEL
cd "$top_builddir"
$MAKE -s carried-libraries LDFLAGS="$flags -Wl,-s"
for library in libctxrt.so.0 cuda-12/libcuda.so.1 cuda-13/libcuda.so.1; do
    from=$parts/${library%lib*}.libs/lib${library##*lib}
    case $library in
    */*) mkdir -p "$to/${library%/*}" && cp -L "$from" "$to/$library" ;;
    *) cp -L "$from" "$to/lib/$library" ;;
    esac
done
CTXRT_CARRIED=$to/lib
export CTXRT_CARRIED
targets=$(printf '%s.carried\n' "$@")
# shellcheck disable=SC2086 # words
$MAKE -s $targets EXEEXT=.carried LIBTOOL="\$(SHELL) \$(top_srcdir)/tests/support/link.sh" LDFLAGS="$flags -Wl,-s"
# A test is a link to the program of its group, which goes with it once.
for program; do
    if [ -L "$program.carried" ]; then
        group=$(readlink "$program.carried")
        [ ! -e "${program%/*}/$group" ] || mv "${program%/*}/$group" "$to/programs/${group%.carried}"
        ln -s "${group%.carried}" "$to/programs/${program##*/}"
    else
        mv "$program.carried" "$to/programs/${program##*/}"
    fi
done
rm -f tests/*/check_*.carried

# What they ask of the machine.
needs()
{
    objdump -p "$1" | sed -n 's/^ *NEEDED *//p' |
        grep -Ev '^(lib(c|m|dl|pthread|rt)\.so\.[0-9]|ld-linux.*|libctxrt\.so\.0|libcuda\.so\.1)$'
    objdump -T "$1" | sed -n 's/.*(\{0,1\}GLIBC_2\.\([0-9]*\).*/\1/p' | sort -un |
        awk -v most="$2" '$1 > most { print "glibc 2." $1 }'
}
oldest=$(sed -n 's/^oldest=2\.//p' "$top_srcdir/tests/gpu/old_libc.sh")
for file in "$to"/programs/* "$to"/lib/* "$to"/cuda-1?/*; do
    needs "$file" "$oldest" | sed "s,^,carry.sh: ${file##*/} needs ,"
done > "$parts/needs"
[ ! -s "$parts/needs" ] || { cat "$parts/needs" >&2; exit 1; }
