# What `objdump -T` prints of a part of the C library, as assembly that defines its symbols without code, each in the newest version
# up to glibc `oldest`. The versions go to the file `script`, for the linker.
function number_of(version, part, i, number)
{
    split(substr(version, 7), part, ".") # behind GLIBC_
    for (i = 1; i <= 3; i++)
        number = number * 1000 + part[i]
    return number
}
function declare(name)
{
    print (weak[name] ? ".weak " : ".globl ") name
    print ".type " name ", " (variable[name] ? "%object" : "%function")
    print ".size " name ", 0x" size[name]
    print name ":"
}
function print_script(    name, version, oldest_left, before)
{
    for (;;) {
        oldest_left = ""
        for (version in left)
            if (oldest_left == "" || left[version] < left[oldest_left])
                oldest_left = version
        if (oldest_left == "")
            break
        delete left[oldest_left]
        print oldest_left " {\n  global:" > script
        for (name in chosen)
            if (chosen[name] == oldest_left)
                print "    " name ";" > script
        print (before == "" ? "  local: *;\n" : "") "}" before ";" > script
        before = " " oldest_left
    }
    if (before == "")
        print "{ local: *; };" > script
}
BEGIN { most = number_of("GLIBC_" oldest) }
NF < 6 { next }
# ADDRESS BINDING TYPE SECTION SIZE VERSION NAME; the version has brackets if new programs do not get it.
{
    name = $NF
    version = $(NF - 1)
    gsub(/[()]/, "", version)
}
version !~ /^GLIBC_[0-9.]+$/ || /\*(UND|ABS)\*/ || name ~ /_version_placeholder$/ { next }
number_of(version) > most || number_of(version) < number_of(chosen[name]) { next }
{
    chosen[name] = version
    left[version] = number_of(version)
    address[name] = $1
    size[name] = $(NF - 2)
    weak[name] = $2 == "w"
    variable[name] = $3 ~ /O$/
}
END {
    print ".section .note.GNU-stack,\"\",%progbits"
    print ".text"
    for (name in chosen)
        if (variable[name])
            at[address[name]] = at[address[name]] " " name
        else
            declare(name)
    # The loader copies a variable into a program under all the names that it has at one address.
    print ".data"
    for (place in at) {
        count = split(at[place], names, " ")
        for (i = 1; i <= count; i++)
            declare(names[i])
        print ".skip 0x" size[names[1]] "\n.balign 32"
    }
    print_script()
}
