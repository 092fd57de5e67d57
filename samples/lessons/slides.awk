# Slides of the lessons: their pages' headings, lists, pictures and blocks; of each paragraph the first sentence, and those with words in
# bold or italic letters. The whole paragraphs are notes for the speaker. What a scenario gives is shown step by step; an answer has a slide
# of its own. words.awk comes before.
#   awk -f words.awk -f slides.awk -v style='FILE...' -v script=FILE LESSON/README.md...
# A sentence ends with a mark before a blank and a capital letter, a backquote or a star.
function main_sentences(text,    out, sentence) {
    while (text != "") {
        sentence = match(text, /[.?:]\** +[A-Z`*]/) ? substr(text, 1, RSTART + RLENGTH - 2) : text
        text = substr(text, length(sentence) + 1)
        if (out == "" || sentence ~ /\*/)
            out = out sentence
    }
    return out
}

function end_paragraph() {
    if (paragraph != "") {
        printf "<p%s>%s</p>\n", (stepping ? " class=\"step\"" : ""), words(main_sentences(paragraph))
        notes = notes "<p>" words(paragraph) "</p>"
        filled = 1
    }
    paragraph = ""
}

function end_list() {
    end_paragraph()
    if (item != "")
        printf "<li>%s</li>\n", words(item)
    if (in_list)
        print "</" in_list ">"
    in_list = item = ""
    in_table = 0
}

function end_slide() {
    end_list()
    if (open)
        printf "<aside>%s</aside>\n</section>\n", notes
    open = stepping = 0
    notes = ""
}

function begin_slide(heading, class) {
    end_slide()
    printf "<section class=\"%s\"><h2>%s</h2>\n", class, words(heading)
    open = 1
    filled = 0
}

# For a block or a picture: a slide that has nothing but its heading goes on.
function begin_part(heading) {
    end_list()
    if (filled || heading != title)
        begin_slide(heading, "")
    filled = 1
}

# A line of a played scenario is a step, with the stacks below it.
function block_line(text) {
    if (kind == "shows" || kind == "steps") {
        if (text !~ /^      [^ ]* *\|/)
            printf "%s<span class=\"step\">", (steps++ ? "</span>" : "")
        gsub(/<- current/, "\001", text)
        text = html(text)
        gsub(/\001/, "<b>\\&lt;- current</b>", text)
        print text
        return
    }
    print html(text)
}

function begin_block() {
    end_list()
    if (kind != "from")
        begin_part(kind == "prints" ? "What is printed" : title)
    printf "<pre>"
    inside = 1
    steps = 0
}

function end_block() {
    print (steps ? "</span>" : "") "</pre>"
    stepping = steps > 0
    inside = 0
    kind = ""
}

BEGIN {
    print "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
    print "<meta name=\"viewport\" content=\"width=device-width\"><title>Lessons about CUDA contexts</title>\n<style>"
    print_files(style)
    print "</style></head><body>"
}

# The picture of a scenario has its calls, too.
/^!\[/ {
    begin_part(title)
    picture(FILENAME, ++pictures)
    stepping = pictured = 1
    next
}
skipping && /^```$/ { skipping = 0; next }
skipping { next }
pictured && /^```text$/ { pictured = 0; skipping = 1; next }
inside && /^```$/ { end_block(); next }
inside { block_line($0); next }
/^<!-- / { kind = $2; pictured = pictured && $3 == "picture.scn"; next }
/^```/ { begin_block(); next }
/^# / {
    title = substr($0, 3)
    begin_slide(title, "title")
    next
}
/^## / {
    title = substr($0, 4)
    begin_slide(title, "")
    next
}
/^\|/ {
    if (!in_table) {
        end_list()
        print "<table>"
        in_table = filled = 1
        in_list = "table"
    }
    print row($0)
    next
}
/^$/ { end_list(); next }
/^(\*|[0-9]+\.) / {
    wanted = /^\*/ ? "ul" : "ol"
    if (in_list == wanted)
        printf "<li>%s</li>\n", words(item)
    else {
        end_list()
        print "<" wanted ">"
    }
    in_list = wanted
    filled = 1
    sub(/^(\*|[0-9]+\.) */, "")
    item = $0
    next
}
in_list && /^ / { sub(/^ */, ""); item = item " " $0; next }
{ paragraph = paragraph (paragraph == "" ? "" : " ") $0 }

END {
    end_slide()
    print "<nav></nav>\n<script>"
    print_files(script)
    print "</script>\n</body>\n</html>"
}
