# Sourced by tests whose tables stand in a document: compare_tables PROGRAM DOCUMENT FIRST, where the program prints what
# the document has from the line on that matches FIRST to its end. Lines of the program that begin with one # say what is
# wrong.
. "$top_srcdir/tests/support/tap.sh"

compare_tables()
{
    "$top_builddir/$1" > "$scratch/found" 2> "$scratch/errors"
    rules=$?
    grep '^#[^#]' "$scratch/found" > "$scratch/out"
    report $rules 'the rules that hold for every row'

    : > "$scratch/errors"
    sed -n "/$3/,\$p" "$top_srcdir/$2" > "$scratch/written"
    grep -v '^#[^#]' "$scratch/found" | diff "$scratch/written" - > "$scratch/out"
    report $? "$2 has the table"
    echo "1..$number"
}
