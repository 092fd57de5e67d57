# Makes a page of section 3 of each public function from its header: of those in the files given. With -v check=1 it makes
# none, and names each function without a comment and each parameter that neither its comment, nor its name, nor the head of
# the header explains. -v out=FOLDER -v version=0.2.0
function trim(text) { gsub(/^[ \t]+|[ \t]+$/, "", text); return text }

function quoted(text) # roff
{
    gsub(/\\/, "\\e", text)
    gsub(/`/, "", text)
    if (text ~ /^[.']/) text = "\\&" text
    return text
}

# The text of a comment: paragraphs, lists and what @param and @retval say.
function body(text, to,   lines, n, i, line, listed)
{
    n = split(text, lines, "\n")
    listed = 0
    for (i = 1; i <= n; i++) {
        line = trim(lines[i])
        if (line ~ /^@(param|retval) /) {
            if (!listed) print ".Bl -tag -width Ds" > to
            listed = 1
            sub(/^@(param|retval) +/, "", line)
            print ".It " (line ~ /^CTXRT_/ ? "Bq Er " : "Fa ") substr(line, 1, index(line "  ", "  ") - 1) > to
            line = trim(substr(line, index(line "  ", "  ")))
        } else if (line == "") {
            if (listed) print ".El" > to
            listed = 0
            if (i < n) print ".Pp" > to
            continue
        } else if (line ~ /^- /) {
            print ".br" > to
        }
        if (line != "") print quoted(line) > to
    }
    if (listed) print ".El" > to
}

function page(name, prototype, text, header,   to, brief, rest, arguments, i, n, parts)
{
    to = out "/" name ".3"
    brief = text
    gsub(/\n/, " ", brief)
    brief = trim(brief)
    sub(/[.:;] .*/, "", brief)
    sub(/[.]$/, "", brief)
    gsub(/`/, "", brief)
    if (length(brief) > 160) brief = substr(brief, 1, 157) "..."
    print ".\\\" Made from " header " by docs/man3.awk." > to
    print ".Dd November 28, 2026\n.Dt " toupper(name) " 3\n.Os ctxrt " version "\n.Sh NAME\n.Nm " name "\n.Nd " tolower(substr(brief, 1, 1)) substr(brief, 2) > to
    print ".Sh LIBRARY\nlibctxrt, -lctxrt\n.Sh SYNOPSIS\n.In ctxrt/ctxrt.h" > to
    print ".Ft " type_of(prototype, name) "\n.Fo " name > to
    arguments = prototype
    sub(/^[^(]*\(/, "", arguments)
    sub(/\)[^)]*$/, "", arguments)
    n = cut(arguments, parts)
    for (i = 1; i <= n; i++) print ".Fa \"" parts[i] "\"" > to
    print ".Fc\n.Sh DESCRIPTION" > to
    body(text, to)
    if (about[header] != "") {
        print ".Sh NOTES\nThe following holds for all calls of\n.In " header " .\n.Pp" > to
        body(about[header], to)
    }
    print ".Sh SEE ALSO\n.Xr ctxrt 7" > to
    close(to)
}

function type_of(prototype, name,   at) { at = index(prototype, name "("); return trim(substr(prototype, 1, at - 1)) }

# Cuts arguments at the commas outside of parentheses.
function cut(text, parts,   depth, i, n, letter, part)
{
    n = depth = 0
    part = ""
    for (i = 1; i <= length(text); i++) {
        letter = substr(text, i, 1)
        if (letter == "(") depth++
        if (letter == ")") depth--
        if (letter == "," && depth == 0) { parts[++n] = trim(part); part = ""; continue }
        part = part letter
    }
    if (trim(part) != "") parts[++n] = trim(part)
    return n
}

function parameter(text)
{
    if (match(text, /\(\*[a-z_]+\)/)) return substr(text, RSTART + 2, RLENGTH - 3)
    sub(/\[[^]]*\]$/, "", text)
    match(text, /[a-z_0-9]+$/)
    return substr(text, RSTART)
}

# A parameter is explained where its comment or the head of its header has its words; one that is written to has them behind
# out_, and a size its unit.
function explained(name, text,   words, n, i, whole)
{
    if (index(text, "@param " name)) return 1
    sub(/^out_/, "", name)
    n = split(name, words, "_")
    whole = tolower(text)
    for (i = 1; i <= n; i++)
        if (length(words[i]) > 2 && index(whole, substr(words[i], 1, length(words[i]) > 5 ? length(words[i]) - 1 : length(words[i])))) return 1
    return 0
}

function judge(name, prototype, text, header,   arguments, parts, n, i, one)
{
    if (text == "") { print header ": " name " has no comment"; return }
    arguments = prototype
    sub(/^[^(]*\(/, "", arguments)
    sub(/\)[^)]*$/, "", arguments)
    n = cut(arguments, parts)
    for (i = 1; i <= n; i++) {
        one = parameter(parts[i])
        if (parts[i] != "void" && !explained(one, text " " name " " about[header]))
            print header ": " name ": nothing says what " one " is"
    }
}

function finish_prototype(   text, name, rest)
{
    text = prototype
    gsub(/CTXRT_API_UNCHECKED|CTXRT_API|CTXRT_CHECK_RESULT|;/, "", text)
    gsub(/[ \t]+/, " ", text)
    text = trim(text)
    match(text, /ctxrt_[a-z0-9_]+\(/)
    name = substr(text, RSTART, RLENGTH - 1)
    if (check) judge(name, text, comment, header)
    else page(name, text, comment, header)
    prototype = ""
    made++
}

FNR == 1 {
    header = FILENAME
    sub(/^.*include\//, "", header)
    comment = prototype = ""
    inside = 0
    first = 1
}

/^\/\*\*/ {
    inside = 1
    comment = ""
    $0 = substr($0, 4)
}
inside {
    line = $0
    ends = line ~ /\*\//
    sub(/\*\/.*/, "", line)
    sub(/^ \* ?/, "", line)
    comment = comment (comment == "" ? "" : "\n") trim(line)
    if (ends) {
        inside = 0
        gsub(/^\n+|\n+$/, "", comment)
        if (first) { about[header] = comment; first = 0; comment = "" }
    }
    next
}
/^CTXRT_API/ || prototype != "" {
    prototype = prototype " " $0
    if (prototype ~ /;/) { finish_prototype(); if ($0 !~ /^$/) kept = comment }
    next
}
# A comment is for the functions behind it up to the next empty line.
/^$/ { comment = "" }

END { if (!check && !made) exit 1 }
