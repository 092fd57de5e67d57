#!/bin/sh
# link.sh [--tag=CC] [--silent] --mode=link COMPILER ARGUMENT...: links a program that is not installed, as libtool does,
# in a tenth of its time and without a script around the program, which finds this build's libraries by its run path; or,
# where CTXRT_CARRIED is a folder, those of the same names there, by a path from the program itself. A program of many test files,
# checks_GROUP, gets a link for each object check_NAME.o in it.
set -euf

# expand ARGUMENT...: the linker's arguments, one a line.
expand()
{
    for argument in "$@"; do
        case $argument in
        *.la) expand_library "$argument" ;;
        *) printf '%s\n' "$argument" ;;
        esac
    done
}

# expand_library FILE.la: the archive or shared library that it stands for, and what that needs.
expand_library()
(
    case $1 in
    /*) file=$1 ;;
    *) file=$PWD/$1 ;;
    esac
    folder=${file%/*}/.libs dlname='' library_names='' old_library='' dependency_libs=''
    . "$file" # sets these
    if [ -z "$dlname" ]; then
        # shellcheck disable=SC2086 # words
        expand "$folder/$old_library" $dependency_libs
        return
    fi
    if [ -n "${CTXRT_CARRIED-}" ]; then
        printf '%s\n' '-Wl,-rpath,$ORIGIN/../lib,--push-state,--no-as-needed' "$CTXRT_CARRIED/$dlname" -Wl,--pop-state
        return
    fi
    printf '%s\n' "-Wl,-rpath,$folder,--push-state,--no-as-needed" "$folder/${library_names##* }" -Wl,--pop-state
    for library in $dependency_libs; do
        case $library in
        *.la) expand_library "$library" ;;
        esac
    done
)

show=yes
while [ "$1" != --mode=link ]; do
    [ "$1" != --silent ] || show=no
    shift
done
shift
command=$(expand "$@")

# A program that libtool linked here before would be taken for this one.
previous=
for argument in "$@"; do
    [ "$previous" != -o ] || [ ! -e "${argument%/*}/.libs/${argument##*/}" ] || rm "${argument%/*}/.libs/${argument##*/}"
    previous=$argument
done

IFS='
'
# shellcheck disable=SC2086 # lines
set -- $command
unset IFS
[ "$show" = no ] || echo "link.sh: $*"
"$@"

output=
previous=
for argument in "$@"; do
    [ "$previous" != -o ] || output=$argument
    previous=$argument
done
program=${output##*/}
case $program in
checks_*.*) extension=.${program#*.} ;;
checks_*) extension= ;;
*) exit ;;
esac
for argument in "$@"; do
    case $argument in
    */check_*.o) ln -sf "$program" "${argument%.o}$extension" ;;
    esac
done
