# Slides of the lessons: their pages' headings, lists and blocks, and of each paragraph the first sentence; the whole
# paragraphs are notes for the speaker. What a scenario gives is shown step by step; an answer has a slide of its own.
#   awk -f slides.awk -v style='FILE...' -v script=FILE LESSON/README.md...
function html(text) {
    gsub(/&/, "\\&amp;", text)
    gsub(/</, "\\&lt;", text)
    gsub(/>/, "\\&gt;", text)
    return text
}

# Replaces each pair of `mark` by a tag.
function pairs(text, mark, tag,    out, at, rest, length_of) {
    length_of = length(mark)
    while ((at = index(text, mark)) > 0) {
        rest = substr(text, at + length_of)
        if (index(rest, mark) == 0)
            break
        out = out substr(text, 1, at - 1) "<" tag ">" substr(rest, 1, index(rest, mark) - 1) "</" tag ">"
        text = substr(rest, index(rest, mark) + length_of)
    }
    return out text
}

function words(text) {
    while (match(text, /\[[^]]*\]\([^)]*\)/))
        text = substr(text, 1, RSTART - 1) substr(text, RSTART + 1, index(substr(text, RSTART), "]") - 2) substr(text, RSTART + RLENGTH)
    return pairs(pairs(pairs(html(text), "`", "code"), "**", "b"), "*", "i")
}

# A sentence ends with a mark before a blank and a capital letter, a backquote or a star.
function first_sentence(text) {
    return match(text, /[.?:] +[A-Z`*]/) ? substr(text, 1, RSTART) : text
}

function end_paragraph() {
    if (paragraph != "") {
        printf "<p%s>%s</p>\n", (stepping ? " class=\"step\"" : ""), words(first_sentence(paragraph))
        notes = notes "<p>" words(paragraph) "</p>"
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
    if (kind == "prints")
        begin_slide("What is printed", "")
    else if (kind != "from")
        begin_slide(title, "")
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
    count = split(style, files, " ")
    for (i = 1; i <= count; i++)
        while ((getline line < files[i]) > 0)
            print line
    print "</style></head><body>"
}

inside && /^```$/ { end_block(); next }
inside { block_line($0); next }
/^<!-- / { kind = $2; next }
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
    sub(/^(\*|[0-9]+\.) */, "")
    item = $0
    next
}
in_list && /^ / { sub(/^ */, ""); item = item " " $0; next }
{ paragraph = paragraph (paragraph == "" ? "" : " ") $0 }

END {
    end_slide()
    print "<nav></nav>\n<script>"
    while ((getline line < script) > 0)
        print line
    print "</script>\n</body>\n</html>"
}
