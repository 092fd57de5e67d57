# Sourced: the report that docs/check shows for a program of this folder, and a new report in the same form. It needs $top_srcdir.

# The page that shows a program: docs/check has one for each family of kinds.
page_of() # name of the program
{
    echo "$top_srcdir/docs/check/${1%%-*}.md"
}

shown_report() # name of the program
{
    awk -v name="$1" '
        $0 == "<!-- report of " name " -->" { found = 1; next }
        found && /^```text$/ { inside = 1; next }
        inside && /^```$/ { exit }
        inside' "$(page_of "$1")"
}

# Leaves out what differs from run to run and from machine to machine: process ids (the parent of a fork is 1000, then they count
# up), addresses, and the callers of a function that are in the C library or the driver.
plain_report() # name of the program, file
{
    awk -v program="$1" '
        function number(pid)
        {
            if (!(pid in known))
                known[pid] = 1000 + known_count++
            return known[pid]
        }
        function with_numbers(text,    done, word)
        {
            while (match(text, /(process|forked from) [0-9]+/)) {
                word = substr(text, RSTART, RLENGTH)
                sub(/[0-9]+$/, "", word)
                done = done substr(text, 1, RSTART - 1) word number(substr(text, RSTART + length(word), RLENGTH - length(word)))
                text = substr(text, RSTART + RLENGTH)
            }
            return done text
        }
        function callers_of_program(text,    frames, count, i, line)
        {
            count = split(text, frames, " < ")
            line = frames[1]
            for (i = 2; i <= count; i++)
                if (frames[i] ~ "^(" program "[.]c|gpu[.]h|misuse[.]h):")
                    line = line " < " frames[i]
            return line
        }
        NR == FNR {
            if (match($0, /forked from [0-9]+/))
                number(substr($0, RSTART + 12, RLENGTH - 12))
            next
        }
        {
            gsub(/0x[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]+/, "0x...")
            sub(/waits: for [0-9.]+ s/, "waits: for 2.0 s")
            print callers_of_program(with_numbers($0))
        }' "$2" "$2"
}

# Prints why reports cannot be compared here; nothing if they can.
not_comparable()
{
    if [ -n "${SANITIZERS:-}" ]; then
        echo 'the origins are others with a sanitizer'
    elif ! grep -q '^#define HAVE_LIBDW 1' "$top_builddir/config.h"; then
        echo 'places have no functions and lines without libdw'
    fi
}
