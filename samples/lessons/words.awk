# The pages of the lessons as HTML, for slides.awk and page.awk: the words of a line, tables and pictures.
# What is on pages beside the words of README.md and slides.txt; `language` is empty or zh-CN.
function said(text) {
    if (language == "")
        return text
    if (text == "The answer")
        return "答案"
    return text == "What is printed" ? "程序的输出" : "CUDA 上下文课程"
}

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

# A row of a table; the line below the first one only divides.
function row(text,    cells, count, i, out) {
    if (text ~ /^\|[-|]*$/)
        return ""
    count = split(text, cells, / *\| */)
    for (i = 2; i < count; i++)
        out = out "<td>" words(cells[i]) "</td>"
    return "<tr>" out "</tr>"
}

# The picture beside the page, within the HTML: what its parts are called is told apart from those of other pictures.
function picture(page, number,    file, line, inside) {
    file = page
    sub(/[^\/]*$/, "picture.svg", file)
    while ((getline line < file) > 0) {
        if (line == "<style>")
            inside = 1
        if (!inside) {
            sub(/ xmlns="[^"]*"/, "", line)
            gsub(/ id="/, "&p" number "-", line)
            gsub(/url\(#/, "&p" number "-", line)
            print line
        }
        if (line == "</style>")
            inside = 0
    }
    close(file)
}

# The text of files, one after the other.
function print_files(names,    files, count, i, line) {
    count = split(names, files, " ")
    for (i = 1; i <= count; i++)
        while ((getline line < files[i]) > 0)
            print line
}
