# What of a document is translated, as Markdown for po4a. join.awk puts the rest back.
#   awk -v kind=page|slides|hints|steps -f split.awk FILE
#
# page: a line for each paragraph, so that other line breaks are no change; blocks between fences, with the comments that say where
# they are from, are a line "<!-- N -->". slides: as they are. hints: a paragraph for the title and for each hint of lesson.txt.
# steps: a paragraph for each comment of a scenario, and for what stands above its steps.
function flush_text() {
    if (text != "")
        print text
    text = ""
}

function flush_paragraph() {
    if (text != "")
        print text "\n"
    text = ""
}

kind == "slides" { print; next }

kind == "page" && fenced { fenced = !/^```$/; next }
kind == "page" && /^(```|<!-- )/ {
    flush_text()
    if (!in_block)
        print "<!-- " ++blocks " -->"
    in_block = 1
    fenced = /^```/
    next
}
kind == "page" { in_block = 0 }
kind == "page" && /^(#|\||$)/ { flush_text(); print; next }
kind == "page" && /^(\*|[0-9]+\.) / { flush_text(); text = $0; next }
kind == "page" { sub(/^ */, ""); text = text (text == "" ? "" : " ") $0; next }

kind == "hints" && /^(title|hint [^:]*): / { flush_paragraph(); sub(/^[^:]*: */, ""); text = $0; next }
kind == "hints" && /^ / && text != "" { sub(/^ */, ""); text = text " " $0; next }
kind == "hints" { flush_paragraph(); next }

kind == "steps" && /^# / { text = text (text == "" ? "" : " ") substr($0, 3); next }
kind == "steps" {
    flush_paragraph()
    if (sub(/^[^#]*# */, ""))
        print $0 "\n"
}
END { kind == "page" ? flush_text() : flush_paragraph() }
