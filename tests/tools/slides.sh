#!/bin/sh
# The slides of the lessons: their blocks are those of the pages, and keys go through them in a headless Chromium.
set -u
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/tools/browser.sh"
slides=$top_builddir/samples/lessons/slides.html
TMPDIR=$scratch
export TMPDIR

! grep -q 'src=\|<link\|@import\|url(\|fetch(\|import(\|http' "$slides" && [ "$(wc -c < "$slides")" -lt 300000 ] &&
    [ "$(tail -n 1 "$slides")" = '</html>' ]
report $? 'they_need_no_other_file_and_are_small'

# The lines within fences of all pages, and those within <pre> of the slides.
cat "$top_srcdir"/samples/lessons/[0-9]*/README.md |
    awk '/^```/ { inside = !inside; next } inside' > "$scratch/of_pages"
sed -n '/<pre>/,/<\/pre>/p' "$slides" | sed -e 's/<[^<>]*>//g' -e 's/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g' | grep . > "$scratch/of_slides"
grep . "$scratch/of_pages" | diff - "$scratch/of_slides" > "$scratch/out"
report $? 'they_have_the_blocks_of_the_pages'
grep -c '^# ' "$top_srcdir"/samples/lessons/[0-9]*/README.md | awk -F: '{ n += $2 } END { print n }' > "$scratch/titles"
[ "$(grep -c '<section class="title">' "$slides")" -eq "$(cat "$scratch/titles")" ]
report $? 'each_lesson_has_its_title'
! grep -q '\*\*\|`[^`]*`' "$slides"
report $? 'no_mark_of_the_pages_is_left'

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
a_scenario_begins_with_its_first_step|steps: 1 of 8
a_key_shows_the_next_step|after a key: 2 on slide 2
and_goes_back|back: 1
or_to_the_next_lesson|next lesson: 2. A stack for each thread
the_address_keeps_the_slide|address: #8
notes_are_the_whole_text|notes: block
and_are_hidden_at_first|no notes: none
keys_reach_every_step_of_every_slide|reached: true
a_question_does_not_show_its_answer|question: has no answer
which_is_on_the_next_slide|answer: true
none_is_wider_than_the_screen|too wide: 0
END
echo "1..$number"
