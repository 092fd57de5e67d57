# Makes C arrays of lines from the parts of the page, each named after its file: page.css is page_css.

FNR == 1 {
    if (NR > 1)
        print "    NULL,\n};\n"
    name = FILENAME
    sub(/.*\//, "", name)
    gsub(/[^a-z0-9_]/, "_", name)
    print "static const char *const " name "[] = {"
}

{
    gsub(/\\/, "&&")
    gsub(/"/, "\\\\&")
    print "    \"" $0 "\\n\","
}

END { print "    NULL,\n};" }
