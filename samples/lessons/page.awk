# A lesson as a web page: everything of README.md, the answer folded away. words.awk comes before.
#   awk -f words.awk -f page.awk -v style='FILE...' [-v language=zh-CN] LESSON/README.md
function end_part() {
    if (paragraph != "")
        printf "<%s>%s</%s>\n", element, words(paragraph), element
    paragraph = ""
    element = "p"
}

function end_list() {
    end_part()
    if (list != "")
        print "</" list ">"
    list = ""
}

function begin_list(wanted) {
    if (list == wanted)
        return
    end_list()
    print "<" wanted ">"
    list = wanted
}

function begin_heading(level, text) {
    end_list()
    if (folded)
        print "</details>"
    folded = 0
    printf "<h%d>%s</h%d>\n", level, words(text), level
}

BEGIN { element = "p" }
FNR == 1 {
    print "<!doctype html>\n<html lang=\"" (language == "" ? "en" : language) "\"><head><meta charset=\"utf-8\">"
    printf "<meta name=\"viewport\" content=\"width=device-width\"><title>%s</title>\n<style>\n", html(substr($0, 3))
    print_files(style)
    print "</style></head><body>"
}

inside && /^```$/ { inside = 0; print "</pre>"; next }
inside { print html($0); next }
/^<!-- prints mistake.c/ {
    end_list()
    print "<details><summary>" said("The answer") "</summary>"
    folded = 1
}
/^<!-- / { next }
/^```/ { end_list(); inside = 1; printf "<pre>"; next }
/^!\[/ { end_list(); print "<div class=\"picture\">"; picture(FILENAME, 1); print "</div>"; next }
/^# / { begin_heading(1, substr($0, 3)); next }
/^## / { begin_heading(2, substr($0, 4)); next }
/^\|/ { begin_list("table"); print row($0); next }
/^$/ { end_list(); next }
/^(\*|[0-9]+\.) / {
    end_part()
    begin_list(/^\*/ ? "ul" : "ol")
    sub(/^(\*|[0-9]+\.) */, "")
    element = "li"
}
{ sub(/^ */, ""); paragraph = paragraph (paragraph == "" ? "" : " ") $0 }
END { end_list(); print (folded ? "</details>" : "") "</body>\n</html>" }
