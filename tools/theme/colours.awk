# Makes a C array of the light colours of palette.css, each with its name: pictures have them for viewers that know no variables.

BEGIN { print "static const char *const palette_light[][2] = {" }

/^@media/ { exit }

{
    while (match($0, /--[a-z0-9-]+:#[0-9a-f]+/)) {
        split(substr($0, RSTART + 2, RLENGTH - 2), colour, ":")
        print "    {\"" colour[1] "\", \"" colour[2] "\"},"
        $0 = substr($0, RSTART + RLENGTH)
    }
}

END { print "};" }
