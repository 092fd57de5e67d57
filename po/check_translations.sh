#!/bin/sh
# The Chinese documents are those of the English ones: nothing is left to translate or to read again, and the files in the tree are what
# po4a makes. A paragraph that is out of date is named, with its file.
set -u
. "$top_srcdir/tests/support/tap.sh"
top_srcdir=$(cd "$top_srcdir" && pwd)

# What holds without po4a: the same blocks, in the same order, and as many headings, items and rows.
blocks_of() # page
{
    awk '/^```/ { inside = !inside; print; next } inside || /^<!-- /' "$1"
}

shape_of() # page
{
    awk '/^```/ { inside = !inside; print "block" } inside || /^```/ { last = ""; next } { before = last; last = $0 }
        /^(#|[*>] |[0-9]+\. )/ { print $1; next } /^\|/ { print "row"; next } /^!/ { print "picture"; next }
        /^[^ ]/ && before == "" { print "text" }' "$1"
}

for page in "$top_srcdir/README.md" "$top_srcdir"/samples/lessons/[0-9]*/README.md; do
    blocks_of "$page" > "$scratch/english"
    blocks_of "${page%.md}.zh.md" | diff "$scratch/english" - || echo "$page: other blocks"
done > "$scratch/out"
[ ! -s "$scratch/out" ]
report $? 'the_chinese_pages_have_the_blocks_of_the_english_ones'
for page in "$top_srcdir/README.md" "$top_srcdir"/samples/lessons/[0-9]*/README.md "$top_srcdir"/samples/lessons/[0-9]*/slides.txt; do
    shape_of "$page" > "$scratch/english"
    shape_of "${page%.*}.zh.${page##*.}" | diff "$scratch/english" - || echo "$page: another shape"
done > "$scratch/out"
[ ! -s "$scratch/out" ]
report $? 'and_their_headings_items_rows_and_pictures'
for lesson in "$top_srcdir"/samples/lessons/[0-9]*; do
    sed 's/ *#.*//' "$lesson/exercise.scn" | grep . > "$scratch/english"
    sed 's/ *#.*//' "$lesson/exercise.zh.scn" | grep . | diff "$scratch/english" - || echo "$lesson: other steps"
done > "$scratch/out"
[ ! -s "$scratch/out" ]
report $? 'the_scenarios_have_the_same_steps'

for tool in po4a xgettext msgattrib; do
    command -v $tool > "$scratch/ignored" || {
        skip 'no_paragraph_is_out_of_date' "$tool is not installed"
        echo "1..$number"
        exit 0
    }
done

run sh "$top_srcdir/po/translate.sh" "$scratch/made"
[ "$status" -eq 0 ]
report $? 'po4a_makes_them'
cp "$scratch/made/stale" "$scratch/out"
[ ! -s "$scratch/out" ]
report $? 'no_paragraph_is_out_of_date'
(cd "$scratch/made/tree" && find . -type f | sort) > "$scratch/files"
while read -r file; do
    cmp "$scratch/made/tree/$file" "$top_srcdir/$file" || echo "make renew-translations writes it"
done < "$scratch/files" > "$scratch/out" 2>&1
[ ! -s "$scratch/out" ] && [ "$(wc -l < "$scratch/files")" -gt 50 ]
report $? 'the_files_in_the_tree_are_those_of_po4a'

# This test itself: a paragraph that changes, one that comes, a message that changes.
mkdir "$scratch/changed"
(cd "$top_srcdir" && tar cf - README.md po samples/lessons/*/README.md samples/lessons/*/*.txt samples/lessons/*/exercise.scn tools/lesson/*.c) |
    tar xf - -C "$scratch/changed"
chmod -R u+w "$scratch/changed"
sed -i 's/^The last one fails\. /The last one of these fails. /' "$scratch/changed/samples/lessons/01-what-is-current/README.md"
sed -i 's/^\* Where does the next .*/* Quite another question\n&/' "$scratch/changed/samples/lessons/01-what-is-current/slides.txt"
sed -i 's/"no memory"/"no more memory"/' "$scratch/changed/tools/lesson/compile.c"
run env top_srcdir="$scratch/changed" sh "$top_srcdir/po/translate.sh" "$scratch/stale"
cp "$scratch/stale/stale" "$scratch/out"
[ "$status" -eq 0 ] && [ "$(wc -l < "$scratch/out")" -eq 3 ] &&
    grep -q 'zh.po: fuzzy: src/01-what-is-current/README.md: "The last one of these fails' "$scratch/out" &&
    grep -q 'zh.po: untranslated: src/01-what-is-current/slides.md: "Quite another question' "$scratch/out" &&
    grep -q 'lesson.zh.po: fuzzy: tools/lesson/compile.c: "no more memory' "$scratch/out"
report $? 'a_changed_paragraph_a_new_one_and_a_changed_message_are_named'
echo "1..$number"
