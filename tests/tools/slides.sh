#!/bin/sh
# The slides of the lessons: their blocks are those of the pages, and keys go through them in a headless Chromium.
set -u
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/tools/browser.sh"
slides=$top_builddir/samples/lessons/slides.html
chinese=$top_builddir/samples/lessons/slides.zh.html
TMPDIR=$scratch
export TMPDIR

# A page that needs no other file has none of these; a fill of a picture is within it.
alone() # page
{
    ! sed 's/url(#[a-z0-9-]*)//g' "$1" | grep -q 'src=\|<link\|@import\|url(\|fetch(\|import(\|http' && [ "$(tail -n 1 "$1")" = '</html>' ] &&
        [ "$(wc -c < "$1")" -lt 300000 ]
}

alone "$slides" && alone "$chinese"
report $? 'they_need_no_other_file_and_are_small'

# The lines within fences of all pages but those of scenarios' calls, and those within <pre> of the slides.
text_of() # HTML
{
    sed -e 's/<[^<>]*>//g' -e 's/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g'
}

cat "$top_srcdir"/samples/lessons/[0-9]*/README.md |
    awk '/^<!-- (shows|steps) / { of_calls = 1 } /^```/ { inside = !inside; if (!inside) of_calls = 0; next } inside && !of_calls' > "$scratch/of_pages"
sed -n '/<pre>/,/<\/pre>/p' "$slides" | text_of | grep . > "$scratch/of_slides"
grep . "$scratch/of_pages" | diff - "$scratch/of_slides" > "$scratch/out"
report $? 'they_have_the_blocks_of_the_pages'
sed -n '/<pre>/,/<\/pre>/p' "$chinese" | text_of | grep . | diff "$scratch/of_slides" - > "$scratch/out"
report $? 'the_chinese_ones_have_the_same'
for kind in '<section ' '<svg ' '<table>' '<li>' 'class="step"'; do
    [ "$(grep -c "$kind" "$slides")" -eq "$(grep -c "$kind" "$chinese")" ] || echo "another number of $kind"
done > "$scratch/out"
[ ! -s "$scratch/out" ] && grep -q '^<html lang="zh-CN">' "$chinese" && grep -q '^<html lang="en">' "$slides"
report $? 'as_many_slides_pictures_lines_and_steps_and_their_language'
# The calls of scenarios are in the pictures, each with what came back.
cat "$top_srcdir"/samples/lessons/[0-9]*/README.md |
    awk '/^<!-- (shows|steps) / { of_calls = 1 } /^```/ { inside = !inside; if (!inside) of_calls = 0; next } inside && of_calls' |
    sed -n 's/^ *\([0-9][0-9]* .*[^ ]\)  *-> /\1 -> /p' | tr -s ' ' > "$scratch/of_pages"
grep 'class="\(call\|good\|wrong\)"' "$slides" | text_of | paste -d ' ' - - | tr -s ' ' > "$scratch/of_slides"
[ -s "$scratch/of_pages" ] && grep -vxFf "$scratch/of_slides" "$scratch/of_pages" > "$scratch/out"
[ ! -s "$scratch/out" ]
report $? 'and_the_calls_of_the_scenarios'
grep -c '^# ' "$top_srcdir"/samples/lessons/[0-9]*/README.md | awk -F: '{ n += $2 } END { print n }' > "$scratch/titles"
[ "$(grep -c '<section class="title">' "$slides")" -eq "$(cat "$scratch/titles")" ]
report $? 'each_lesson_has_its_title'
! grep -q '\*\*\|`[^`]*`' "$slides" "$chinese"
report $? 'no_mark_of_the_pages_is_left'

# ---- the pages as HTML ----

pages_of() # language; their names without README and .html: what README.md makes README.html
{
    for lesson in "$top_srcdir"/samples/lessons/[0-9]*; do
        echo "$lesson/README$1.md $top_builddir/samples/lessons/$(basename "$lesson")$1.html"
    done
}

for language in '' .zh; do
pages_of "$language" | while read -r source page; do
    lesson=$(dirname "$source")
    alone "$page" || echo "$page is not small, or needs another file"
    awk '/^```/ { inside = !inside; next } inside' "$source" | grep . > "$scratch/of_page"
    sed -n '/<pre>/,/<\/pre>/p' "$page" | text_of | grep . | diff "$scratch/of_page" - || echo "$page has other blocks"
    [ "$(grep -c 'class="step"' "$page")" -eq "$(grep -c 'class="step"' "$lesson/picture.svg")" ] && grep -q 'class="step"' "$page" ||
        echo "$page has another picture"
    [ "$(grep -c '<details>' "$page")" -eq 1 ] && [ "$(grep -c '</details>' "$page")" -eq 1 ] || echo "$page hides no answer"
    ! sed '/<pre>/,/<\/pre>/d' "$page" | grep -q '\*\*\|`[^`]*`\|^|' || echo "$page has marks of the source"
    [ "$language" = '' ] || grep -q '^<html lang="zh-CN">.*' "$page" && grep -q '<summary>\(The answer\|答案\)</summary>' "$page" ||
        echo "$page does not say its language"
done
done > "$scratch/out" 2>&1
[ ! -s "$scratch/out" ]
report $? 'each_page_has_its_blocks_its_picture_and_a_folded_answer'

# Their words are in slides.txt beside each page, under the page's own headings.
mkdir "$scratch/wrong"
cp "$top_srcdir"/samples/lessons/05*/README.md "$top_srcdir"/samples/lessons/05*/picture.svg "$scratch/wrong"
sed 's/^## Exercises/## Homework/' "$top_srcdir"/samples/lessons/05*/slides.txt > "$scratch/wrong/slides.txt"
run awk -f "$top_srcdir/samples/lessons/words.awk" -f "$top_srcdir/samples/lessons/slides.awk" "$scratch/wrong/README.md"
[ "$status" -eq 1 ] && grep -q 'slides.txt: there is no "Exercises"' "$scratch/errors"
report $? 'a_heading_without_words_for_the_slides_is_an_error'

find_browser 'the slides in a browser'
open_page "$slides" "$top_srcdir/tests/tools/slides_probe.js"
starts_browser 'the slides in a browser'
said 'done: true' && [ ! -s "$scratch/errors" ]
report $? 'they_run_without_a_message_of_the_console'
while IFS='|' read -r what pattern; do
    said "$pattern"
    report $? "$what"
done << 'END'
the_first_one_is_shown_alone|first: 1 shown: 1. What is current
a_scenario_begins_with_its_first_step|steps: 1 of 7
a_key_shows_the_next_step|after a key: 2 on slide 2
and_goes_back|back: 1
or_to_the_next_lesson|next lesson: 2. A stack for each thread
the_address_keeps_the_slide|address: #9
notes_are_the_whole_text|notes: block
and_are_hidden_at_first|no notes: none
keys_reach_every_step_of_every_slide|reached: true
a_question_does_not_show_its_answer|question: has no answer
which_is_on_the_next_slide|answer: true
none_is_wider_than_the_screen|too wide: 0
the_picture_shows_the_last_two_panels|panels: 1 then 2 of 3
then_all_of_it|whole: true
every_fill_of_a_picture_is_its_own|fills: good
END
for size in 1920,1080 1280,720; do
    for shown in "$slides" "$chinese"; do
        name=$(basename "$shown" .html)
        open_page "$shown" "$top_srcdir/tests/tools/slides_probe.js" "--window-size=$size"
        said 'strays: none' && said 'stage: fills the window' && said 'scrolls: false' && said 'reached: true' &&
            said 'smallest letters of a picture: can be read'
        report $? "at_${size}_no_slide_of_${name}_is_cut_or_too_small_and_none_reaches_the_counter"
        said 'overlaps: none' && said 'weak: none'
        report $? "at_${size}_no_text_of_${name}_lies_on_another_and_all_has_contrast"
        open_page "$shown" "$top_srcdir/tests/tools/slides_probe.js" "--window-size=$size" preferredColorScheme=0
        said 'overlaps: none' && said 'weak: none' && said 'theme: dark'
        report $? "at_${size}_nor_in_${name}_in_the_dark"
    done
done
# Printed, each slide is a page of its own; a slide has the same size as on the screen.
for shown in "$slides" "$chinese"; do
    name=$(basename "$shown" .html)
    timeout 600 "$chromium" --headless --no-sandbox --disable-gpu --user-data-dir="$scratch/profile" --no-pdf-header-footer \
        --print-to-pdf="$scratch/slides.pdf" "file://$shown" > "$scratch/out" 2>&1
    count=$(grep -c '<section ' "$shown")
    [ "$(tr '\r' '\n' < "$scratch/slides.pdf" | grep -ac '/MediaBox \[0 0 960 540\]')" -eq "$count" ]
    report $? "printed_they_are_as_many_pages_of_${name}_in_landscape"
done

# ---- the pages in a browser ----

for page in "$top_builddir"/samples/lessons/[0-9]*.html; do
    open_page "$page" "$top_srcdir/tests/tools/lesson_page_probe.js"
    said 'done: true' && said 'wide: 1[23][0-9]*, fits' && said 'wide letters: can be read' && said 'wide picture: in sight' &&
        said 'narrow: 3[79][05], fits' && said 'narrow letters: can be read' && [ ! -s "$scratch/errors" ] || { echo "$page:" && cat "$scratch/said"; }
done > "$scratch/pages" 2>&1
cp "$scratch/pages" "$scratch/out"
[ ! -s "$scratch/pages" ]
report $? 'each_page_can_be_read_in_a_wide_window_and_in_one_of_390_pixels'
echo "1..$number"
