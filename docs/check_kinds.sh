#!/bin/sh
# docs/check.md and docs/check/*.md, the reference of ctxrt check: the kinds are those of lib/layer/check/kinds.def, the programs and
# what mends them are those of tests/misuse. Whether the reports are what ctxrt check says is a test of tests/misuse/run.sh, which
# runs the programs anyway.
#
# `. tests/environment.sh; sh $top_srcdir/docs/check_kinds.sh --renew` in a folder of a build runs the programs and writes the pages
# anew; with --reword it writes them with the reports that they have.
set -u
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/misuse/report.sh"
export SANITIZERS scratch CC="${CC:-cc}"
kinds=$top_srcdir/lib/layer/check/kinds.def
misuse=$top_srcdir/tests/misuse
reports=$scratch/reports
mkdir -p "$reports" "$scratch/docs/check" || exit 99
sed -n 's/^CX_KIND([A-Z_]*, "\([A-Z-]*\)".*/\1/p' "$kinds" > "$scratch/names"

# The reports of all programs: run now.
run_programs()
{
    reason=$(not_comparable)
    [ -z "$reason" ] || { echo "cannot renew: $reason" >&2; exit 1; }
    tr '[:upper:]' '[:lower:]' < "$scratch/names" | sed 's/$/-1/' | while read -r program; do
        said=$(compare_reports=no sh "$misuse/one.sh" "$misuse/planted/$program.c" 2>&1)
        [ -z "$said" ] || { echo "$program: $said" >&2; exit 1; }
        cp "$scratch/planted/$program/plain" "$reports/$program" || exit 1
    done
}

# The reports of all programs: those of the pages.
take_reports()
{
    awk -v reports="$reports" '
        /^<!-- report of .* -->$/ { file = reports "/" $4; printf "" > file }
        /^```$/ && inside { close(file); file = ""; inside = 0 }
        inside { print > file }
        /^```text$/ && file != "" { inside = 1 }' "$top_srcdir"/docs/check/*.md
}

# docs/check.md up to the tables; its example gets the report.
print_head()
{
    awk -v reports="$reports" '
        /^<!-- report of .* -->$/ { file = reports "/" $4 }
        /^```$/ { inside = 0 }
        !inside
        /^```text$/ && file != "" {
            while ((getline line < file) > 0)
                print line
            file = ""
            inside = 1
        }
        /^<!-- kinds -->$/ { exit }' "$top_srcdir/docs/check.md"
}

print_pages()
{
    print_head > "$scratch/docs/check.md" &&
        awk -f "$top_srcdir/docs/check_kinds.awk" -v misuse="$misuse" -v reports="$reports" -v scratch="$scratch" \
            -v out="$scratch/docs" "$top_srcdir/docs/semantics.md" "${kinds%.def}_runtime.def" "$kinds"
}

case ${1:-} in
--renew | --reword)
    if [ "$1" = --renew ]; then run_programs; else take_reports; fi && print_pages && mkdir -p "$top_srcdir/docs/check" &&
        cp "$scratch/docs/check/"*.md "$top_srcdir/docs/check" && cp "$scratch/docs/check.md" "$top_srcdir/docs"
    exit
    ;;
esac

{
    take_reports
    print_pages
    diff "$top_srcdir/docs/check.md" "$scratch/docs/check.md"
    diff -r "$top_srcdir/docs/check" "$scratch/docs/check"
} > "$scratch/out" 2>&1
[ ! -s "$scratch/out" ]
report $? 'the pages are made of kinds.def, the programs and their reports (docs/check_kinds.sh --renew)'

# What the pages have of each kind, without a look at how they are made: a whole program, a report that names the kind, lines that
# mend it, and a row of the tables. Their numbers of lines: NAME PROGRAM MEND.
awk '
    FNR == 1 { name = "" }
    /^## [A-Z]+-[A-Z-]+$/ { name = $2; names[++count] = name }
    name != "" && /^```/ { block = block == "" ? substr($0, 4) : ""; next }
    block == "c" { program[name]++ }
    block == "c" && /^int main\(void\)$/ { mains[name]++ }
    block == "text" && $0 ~ "^ctxrt check: (error|warning|note) " name ": " { found[name]++ }
    block == "diff" && /^[-+]/ { mend[name]++ }
    /^\| \[[A-Z-]+\]\(check\// { row = $2; gsub(/^\[|\].*/, "", row); rows[row]++ }
    END {
        for (i = 1; i <= count; i++)
            if (mains[names[i]] == 1 && found[names[i]] > 0 && mend[names[i]] > 0 && rows[names[i]] == 1)
                print names[i], program[names[i]], mend[names[i]]
    }' "$top_srcdir"/docs/check/*.md "$top_srcdir/docs/check.md" > "$scratch/shown"
cut -d ' ' -f 1 "$scratch/shown" | sort > "$scratch/shown_names"
sort "$scratch/names" | diff - "$scratch/shown_names" > "$scratch/out"
[ ! -s "$scratch/out" ] && [ "$(wc -l < "$scratch/shown")" -ge 64 ]
report $? 'no kind is left out'

# One of two processes takes 54.
awk '$2 > 54 { print $1 " is shown in " $2 " lines, which may be 54" }
    $3 > 8 { print $1 " is fixed in " $3 " lines, which may be 8" }' "$scratch/shown" > "$scratch/out"
[ ! -s "$scratch/out" ] && [ -s "$scratch/shown" ]
report $? 'the programs are short and fixed in a few lines'

cat "$top_srcdir"/docs/check/*.md | sed -n 's/.*](\.\.\/\.\.\/\(tests\/misuse\/[a-z]*\/[a-z0-9-]*\.c\)).*/\1/p' | sort -u > "$scratch/links"
while read -r file; do
    [ -f "$top_srcdir/$file" ] || echo "$file"
done < "$scratch/links" > "$scratch/out"
[ ! -s "$scratch/out" ] && [ "$(wc -l < "$scratch/links")" -ge 128 ]
report $? 'the programs that they link are there'
echo "1..$number"
