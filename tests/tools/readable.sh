#!/bin/sh
# Every page can be read at 1280 and at 390 pixels, in light and in dark: nothing is wider than the window, no text is cut, and the
# contrast of each text with what is behind it is 4.5 or more, and no text lies on another one; also in pictures and where a page draws
# on a canvas. Chromium shows the pages in frames of these widths.
set -u
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/tools/browser.sh"
TMPDIR=$scratch
CTXRT_LOG=error
export TMPDIR CTXRT_LOG
find_browser 'the pages in a browser'

mkdir "$scratch/pages"
cp "$top_builddir"/samples/lessons/[0-9]*.html "$scratch/pages"
"$top_builddir/ctxrt" play --html "$scratch/pages/play.html" "$top_srcdir/tests/tools/story.scn" > "$scratch/ignored"
[ ! -x "$top_builddir/tests/tools/traced" ] ||
    "$top_builddir/ctxrt" trace --check -o "$scratch/pages/trace.html" "$top_builddir/tests/tools/traced" > "$scratch/ignored" 2>&1

look() # page, scheme as Chromium numbers it, its name
{
    cp "$1" "$scratch/shown.html"
    printf '<!doctype html><meta name="color-scheme" content="light dark"><body>\n' > "$scratch/frames.html"
    for width in 1280 390; do
        printf '<iframe width="%s" height="800" src="shown.html"></iframe>\n' "$width" >> "$scratch/frames.html"
    done
    echo '</body>' >> "$scratch/frames.html"
    open_page "$scratch/frames.html" "$top_srcdir/tests/tools/readable_probe.js" "preferredColorScheme=$2" --allow-file-access-from-files
    said 'done: true' && said "theme: $3" || return
    for width in 1280 390; do
        said "$width texts: many" && said "$width sideways: no" && said "$width cut: nothing" && said "$width hard to read: nothing" &&
            said "$width on another: nothing" || return
        case $1 in */trace.html) said "$width drawn: many" || return ;; esac
    done
}

first=yes
for page in "$scratch"/pages/*.html; do
    for scheme in 1:light 0:dark; do
        look "$page" "${scheme%:*}" "${scheme#*:}"
        good=$?
        [ "$first" = no ] || starts_browser 'the pages in a browser'
        first=no
        report "$good" "$(basename "$page" .html)_can_be_read_in_${scheme#*:}"
    done
done

# This test itself.
{
    echo '<!doctype html><body style="background:#fff;color:#000"><p style="color:#999">pale</p><div style="width:1500px">wide</div>'
    for word in one two three four five six; do echo "<p>$word</p>"; done
    echo '<p style="margin-top:-1.8em">seven</p><svg width="90" height="40"><text x="9" y="20">above</text><text x="20" y="22">below</text></svg>'
    echo '<canvas width="200" height="60"></canvas><script>function draw() { const pen = document.querySelector("canvas").getContext("2d");'
    echo 'pen.fillStyle = "#fff"; pen.fillRect(0, 0, 200, 60); pen.font = "13px sans-serif"; pen.fillStyle = "#000"; pen.fillText("under", 9, 20);'
    echo 'pen.fillText("over", 12, 22); pen.fillStyle = "#bbb"; pen.fillText("faint", 90, 20); }</script>'
    echo '</body></html>'
} > "$scratch/planted.html"
look "$scratch/planted.html" 1 light
grep -q '^1280 sideways: 2' "$scratch/said" && grep -q '^390 hard to read: pale 2\.' "$scratch/said"
report $? 'pale_letters_and_a_page_that_is_too_wide_are_found'
grep -q '^390 hard to read: .*faint 1\.' "$scratch/said"
report $? 'pale_letters_of_a_canvas_are_found'
on=$(sed -n 's/^390 on another: //p' "$scratch/said")
[ "$(echo "$on" | grep -c 'seven')" -eq 1 ] && [ "$(echo "$on" | grep -c 'above on below')" -eq 1 ] && [ "$(echo "$on" | grep -c 'under on over')" -eq 1 ]
report $? 'letters_on_other_letters_are_found_on_the_page_in_a_picture_and_on_a_canvas'
echo "1..$number"
