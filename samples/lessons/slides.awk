# Slides of the lessons. Their words are those of slides.txt beside the page; headings, tables, pictures and blocks are the page's, whose
# whole text becomes notes for the speaker. What a scenario gives is shown step by step; an answer has a slide of its own. words.awk comes
# before.
#   awk -f words.awk -f slides.awk -v style='FILE...' -v script=FILE [-v language=zh-CN] LESSON/README.md...
#
# slides.txt has the page's headings. Behind each: "* " a line of its slide, "> " one below its block. "## + HEADING" is a slide more,
# which comes at the end of the section before it. "## What is printed" is the slide of a program's output.
function fail(what) {
    print FILENAME ": slides.txt: " what > "/dev/stderr"
    failed = 1
    exit 1
}

function read_words(page,    file, line, heading) {
    file = page
    sub(/[^\/]*$/, language == "" ? "slides.txt" : "slides.zh.txt", file)
    split("", above)
    split("", below)
    split("", more_of)
    split("", more_words)
    split("", wanted_heading)
    more = 0
    while ((getline line < file) > 0) {
        if (line ~ /^## \+ /) {
            more_heading[++more] = substr(line, 6)
            more_of[more] = section_of_words
            heading = ""
        } else if (line ~ /^##? /) {
            heading = line
            sub(/^##? /, "", heading)
            wanted_heading[heading] = 1
            if (heading != said("What is printed"))
                section_of_words = heading
        } else if (line ~ /^\* / && heading == "")
            more_words[more] = more_words[more] "<li>" words(substr(line, 3)) "</li>\n"
        else if (line ~ /^\* /)
            above[heading] = above[heading] "<li>" words(substr(line, 3)) "</li>\n"
        else if (line ~ /^> /)
            below[heading] = below[heading] "<li>" words(substr(line, 3)) "</li>\n"
        else
            fail("what is \"" line "\"?")
    }
    close(file)
}

# Of the section that ends: the slides that only slides.txt has.
function end_section(    i) {
    end_list()
    for (i = 1; i <= more; i++)
        if (more_of[i] == title) {
            begin_slide(more_heading[i], "")
            printf "<ul>\n%s</ul>\n", more_words[i]
        }
}

function begin_section(heading, class) {
    if (open)
        end_section()
    if (FNR == 1 || class == "title")
        read_words(FILENAME)
    title = heading
    if (!(heading in wanted_heading))
        fail("there is no \"" heading "\"")
    delete wanted_heading[heading]
    begin_slide(heading, class)
    if (heading in above) {
        printf "<ul>\n%s</ul>\n", above[heading]
        filled = 1
    }
}

function check_words(    heading) {
    for (heading in wanted_heading)
        if (heading != said("What is printed"))
            fail("the page has no \"" heading "\"")
}

function end_paragraph() {
    if (paragraph != "")
        notes = notes "<p>" words(paragraph) "</p>"
    paragraph = ""
}

function end_list() {
    end_paragraph()
    if (item != "")
        notes = notes "<p>" words(item) "</p>"
    if (in_table)
        print "</table>"
    in_list = item = ""
    in_table = 0
}

function end_slide() {
    end_list()
    if (open)
        printf "</div>\n<aside>%s</aside>\n</section>\n", notes
    open = stepping = 0
    notes = ""
}

function begin_slide(heading, class) {
    end_slide()
    printf "<section class=\"%s\"><h2>%s</h2>\n<div class=\"words\">\n", class, words(heading)
    open = 1
    filled = blocks = parted = 0
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
    if (kind != "from" || blocks)
        begin_part(kind == "prints" ? said("What is printed") : title)
    part = kind == "prints" ? said("What is printed") : title
    blocks++
    printf "<pre>"
    inside = 1
    steps = 0
}

function end_block() {
    print (steps ? "</span>" : "") "</pre>"
    stepping = steps > 0
    inside = 0
    kind = ""
    if (part in below) {
        printf "<ul%s>\n%s</ul>\n", stepping ? " class=\"step\"" : "", below[part]
        delete below[part]
    }
}

BEGIN {
    print "<!doctype html>\n<html lang=\"" (language == "" ? "en" : language) "\"><head><meta charset=\"utf-8\">"
    print "<meta name=\"viewport\" content=\"width=device-width\"><title>" said("Lessons about CUDA contexts") "</title>\n<style>"
    print_files(style)
    print "</style></head><body>"
}

# The picture of a scenario has its calls, too.
/^!\[/ {
    begin_part(title)
    picture(FILENAME, ++pictures)
    stepping = pictured = parted = 1
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
    if (open) {
        end_section()
        check_words()
        end_slide()
    }
    begin_section(substr($0, 3), "title")
    next
}
/^## / { begin_section(substr($0, 4), ""); next }
/^\|/ {
    if (!in_table) {
        end_list()
        if (parted) # a picture needs its slide for itself
            begin_part(title)
        print "<table>"
        in_table = filled = 1
    }
    print row($0)
    next
}
/^$/ { end_list(); next }
/^(\*|[0-9]+\.) / {
    end_list()
    in_list = 1
    sub(/^(\*|[0-9]+\.) */, "")
    item = $0
    next
}
in_list && /^ / { sub(/^ */, ""); item = item " " $0; next }
{ paragraph = paragraph (paragraph == "" ? "" : " ") $0 }

END {
    if (failed)
        exit 1
    end_section()
    check_words()
    end_slide()
    print "<nav></nav>\n<script>"
    print_files(script)
    print "</script>\n</body>\n</html>"
}
