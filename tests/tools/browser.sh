# Sourced by the tests of pages, behind tap.sh: opens a page in a headless Chromium.

# Ends the test here if there is none.
find_browser() # what is left out
{
    chromium=$(command -v chromium || command -v chromium-browser || true)
    [ -n "$chromium" ] || end_without "$1" 'chromium is not installed'
}

end_without() # what is left out, why
{
    skip "$1" "$2"
    echo "1..$number"
    exit 0
}

# Opens a page with a probe behind it; its lines are in $scratch/said, the messages of the console in $scratch/errors.
open_page() # page, probe, name=value of the browser's settings or one of its options...
{
    opened=$1 probing=$2 options= settings=
    shift 2
    for word in "$@"; do
        case $word in
        --*) options="$options $word" ;;
        *) settings="$settings${settings:+,}$word" ;;
        esac
    done
    sed '/^<\/body>$/,$d' "$opened" > "$scratch/probed.html"
    { echo '<script>' && cat "$top_srcdir/tests/tools/probe.js" "$top_srcdir/tests/tools/text_probe.js" "$probing" && echo '</script></body></html>'; } >> "$scratch/probed.html"
    timeout 600 "$chromium" --headless --no-sandbox --disable-gpu --user-data-dir="$scratch/profile" --enable-logging=stderr \
        ${settings:+--blink-settings="$settings"} --window-size=1300,800 $options --dump-dom "file://$scratch/probed.html" \
        > "$scratch/dom" 2> "$scratch/browser"
    sed -n '/<pre id="probe"/,/<\/pre>/p' "$scratch/dom" |
        sed 's/.*<pre id="probe"[^>]*>//; s/&gt;/>/g; s/&lt;/</g; s/&amp;/\&/g' > "$scratch/said"
    cp "$scratch/said" "$scratch/out"
    grep CONSOLE "$scratch/browser" > "$scratch/errors"
}

# Ends the test if the first page did not come: the browser does not start on this machine.
starts_browser() # what is left out
{
    [ -s "$scratch/dom" ] || end_without "$1" "$chromium does not start here"
}

said() # pattern
{
    grep -q -- "^$1\$" "$scratch/said"
}
