# Writes the reference of ctxrt check: a page for each family of kinds, and the tables that name them all. Reads docs/semantics.md and
# then lib/layer/check/kinds_runtime.def and kinds.def. Variables:
#   misuse   the folder of the programs, tests/misuse
#   reports  a folder with the report of each first planted program
#   scratch  a folder for this program's files
#   out      a folder, in which check/ is there; check.md in it gets the tables behind what it has

# ---- kinds.def ----

# Takes the next string off `text`; adjacent literals are one.
function next_string(    value, part) {
    value = ""
    while (match(text, /^[ \t\n,]*"([^"\\]|\\.)*"/)) {
        part = substr(text, RSTART, RLENGTH)
        if (value != "" && part ~ /^[ \t\n]*,/)
            break
        text = substr(text, RLENGTH + 1)
        sub(/^[ \t\n,]*"/, "", part)
        sub(/"$/, "", part)
        gsub(/\\"/, "\"", part)
        value = value part
    }
    return value
}

function next_word(    word) {
    sub(/^[ \t\n,]*/, "", text)
    match(text, /^[A-Z]+/)
    word = substr(text, 1, RLENGTH)
    text = substr(text, RLENGTH + 1)
    return word
}

function first_upper(value) {
    return toupper(substr(value, 1, 1)) substr(value, 2)
}

# ---- rules ----

# As the renderers of Markdown make it.
function anchor_of(heading) {
    heading = tolower(heading)
    gsub(/[^a-z0-9 -]/, "", heading)
    gsub(/ /, "-", heading)
    return heading
}

function linked(rules,    all, count, i, links) {
    count = split(rules, all, " ")
    for (i = 1; i <= count; i++)
        links = links (i > 1 ? ", " : "") "[" all[i] "](../semantics.md#" section_of[all[i]] ")"
    return (count == 1 ? "Rule " : "Rules ") links
}

# ---- programs ----

# Reads a program of tests/misuse: its text, without head and includes, into lines[from..to], and what the head says into head["what"],
# the prose, and head["options"].
function read_program(file,    line, in_prose, ended) {
    split("", lines)
    split("", head)
    from = to = count = 0
    while ((getline line < file) > 0) {
        count++
        if (count == 2)
            in_prose = 1
        if (!ended && count >= 2) {
            if (line ~ /^ \*$/)
                in_prose = 0
            if (line ~ /^ \* options: /)
                head["options"] = substr(line, 13) " "
            ended = line ~ /\*\/$/
            sub(/^\/?[ *]+/, "", line)
            sub(/ *\*?\/?$/, "", line)
            if (in_prose && line != "")
                head["what"] = head["what"] (head["what"] != "" ? " " : "") line
        } else if (from > 0 || !(line == "" || line ~ /^#include/ || count == 1)) {
            if (from == 0)
                from = count
            lines[count] = line
            to = count
        }
    }
    close(file)
}

# A line as it is shown: functions that are never inlined are static, and comments part the two modules of a program.
function shown(line, program) {
    sub(/^NAMED /, "static ", line)
    if (line == "#ifdef MODULE")
        return "/* ---- the library " program ".so ---- */"
    return line == "#else" ? "/* ---- the program ---- */" : line
}

# The lines that a report names have their numbers.
function print_program(program, report, page,    i, line, rest, named) {
    rest = report
    while (match(rest, program "[.]c:[0-9]+")) {
        line = substr(rest, RSTART, RLENGTH)
        sub(/.*:/, "", line)
        named[line] = 1
        rest = substr(rest, RSTART + RLENGTH)
    }
    for (i = from; i <= to; i++)
        if (lines[i] != "#endif")
            print shown(lines[i], program) (i in named ? " /* line " i " */" : "") > page
}

function write_shown(program, file,    i) {
    printf "" > file
    for (i = from; i <= to; i++)
        if (lines[i] != "#endif")
            print shown(lines[i], program) > file
    close(file)
}

# Changed lines with their neighbours, parted by @@; no empty lines at the ends of a part.
function print_mend(page,    command, line, count, begun, blanks) {
    command = "diff -U 3 " scratch "/wrong.c " scratch "/right.c"
    while ((command | getline line) > 0) {
        if (++count <= 3)
            continue
        if (line ~ /^@@ /) {
            line = "@@"
            blanks = begun = 0
        } else if (line == " ") {
            blanks += begun
            continue
        }
        for (; blanks > 0; blanks--)
            print "" > page
        print line > page
        begun = line != "@@"
    }
    close(command)
}

function text_of(file,    line, whole) {
    while ((getline line < file) > 0)
        whole = whole line "\n"
    close(file)
    return whole
}

# ---- pages ----

function begin_family(page) {
    last_family = family
    printf "\n## %s\n\n| kind | severity | what is wrong |\n|---|---|---|\n", family >> tables
    printf "# %s\n\nFindings of [ctxrt check](../check.md): [how to read this page](../check.md#the-pages-of-the-kinds).\n", family > page
}

function print_kind(    name, severity, title, explanation, advice, program, page, report, link) {
    name = next_string()
    severity = tolower(next_word())
    title = next_string()
    explanation = next_string()
    advice = next_string()
    program = tolower(name) "-1"
    page = "check/" substr(program, 1, index(program, "-") - 1) ".md"
    tables = out "/check.md"
    if (family != last_family)
        begin_family(out "/" page)
    printf "| [%s](%s#%s) | %s | %s |\n", name, page, tolower(name), severity, title >> tables
    page = out "/" page
    report = text_of(reports "/" program)
    link = "../../tests/misuse/%s/" program ".c"
    printf "\n## %s\n\n%s: %s. %s.\n\n%s\n\nAdvice: %s.\n\n", name, first_upper(severity), title, linked(next_string()), explanation,
        advice > page
    if (name in of_runtime)
        printf "For calls of the Runtime API: %s.\n\n", of_runtime[name] > page
    read_program(misuse "/planted/" program ".c")
    printf "Wrong ([%s.c](" link ")): %s\n\n```c\n", program, "planted", head["what"] > page
    print_program(program, report, page)
    write_shown(program, scratch "/wrong.c")
    printf "```\n\nThe report of `ctxrt check %s./%s`:\n\n<!-- report of %s -->\n```text\n%s```\n\n", head["options"], program, program,
        report > page
    read_program(misuse "/clean/" program ".c")
    printf "Right ([the whole program](" link ")): %s\n\n```diff\n", "clean", head["what"] > page
    write_shown(program, scratch "/right.c")
    print_mend(page)
    print "```" > page
}

# The title, where it is another one, and the advice.
function note_runtime_kind(    name, title) {
    match(text, /[A-Z_]+,/)
    name = substr(text, RSTART, RLENGTH - 1)
    text = substr(text, RSTART + RLENGTH)
    gsub(/_/, "-", name)
    title = text ~ /^[ \n]*NULL,/ ? "" : next_string() ". Advice: "
    sub(/^[ \n]*NULL,/, "", text)
    of_runtime[name] = title next_string()
}

NR == FNR {
    if (/^## /)
        section = anchor_of(substr($0, 4))
    else if (/^\| [A-Z][A-Z]*[0-9]+ \|/)
        section_of[$2] = section
    next
}
/^\/\* ---- / {
    sub(/^\/\* ---- /, "")
    sub(/ ---- \*\/$/, "")
    family = first_upper($0)
}
/^CX_RUNTIME_KIND\(/ { text = ""; inside = 2; sub(/^CX_RUNTIME_KIND\(/, "") }
inside == 2 && /\)$/ {
    text = text $0
    note_runtime_kind()
    inside = 0
}
/^CX_KIND\(/ { text = ""; inside = 1 }
inside { text = text $0 "\n" }
inside == 1 && /\)$/ {
    sub(/^CX_KIND\([A-Z_]*, */, "", text)
    print_kind()
    inside = 0
}
