# Reads what "nm -A -P -g" says of objects, and prints each circle of theirs, the largest first: its size, then the
# objects. With -v order='base report ...' prints instead each symbol that an object in one of these folders needs of
# a folder after its own.
function object_of(text)
{
    sub(/:$/, "", text)
    sub(/\/\.libs\//, "/", text)
    sub(/\.o$/, "", text)
    return text
}

function name_of(object)
{
    sub(/.*\//, "", object)
    return object
}

function folder_of(object)
{
    sub(/\/[^\/]*$/, "", object)
    return name_of(object)
}

# Marks reached[from, X] for each object X that can be reached.
function walk(from, waiting, count, at, objects, each)
{
    waiting[count = 1] = from
    while (count > 0) {
        at = waiting[count--]
        each = split(edges[at], objects, " ")
        for (; each > 0; each--)
            if (!((from, objects[each]) in reached)) {
                reached[from, objects[each]] = 1
                waiting[++count] = objects[each]
            }
    }
}

{ object = object_of($1) }
!(object in known) { known[object] = 1; all[++total] = object }
$3 == "U" || $3 == "w" || $3 == "v" { needs[++needed] = object " " $2; next }
{ owner[$2] = object }

END {
    ranks = split(order, folders, " ")
    for (i = 1; i <= ranks; i++)
        rank[folders[i]] = i
    for (i = 1; i <= needed; i++) {
        split(needs[i], part, " ")
        to = owner[part[2]]
        if (to == "" || to == part[1])
            continue
        edges[part[1]] = edges[part[1]] " " to
        if (ranks > 0 && rank[folder_of(to)] > rank[folder_of(part[1])])
            print folder_of(part[1]) "/" name_of(part[1]) " needs " folder_of(to) "/" name_of(to) ": " part[2]
    }
    if (ranks > 0)
        exit
    for (i = 1; i <= total; i++)
        walk(all[i])
    for (i = 1; i <= total; i++) {
        if (all[i] in placed)
            continue
        circle = name_of(all[i])
        size = 1
        for (j = i + 1; j <= total; j++)
            if ((all[i], all[j]) in reached && (all[j], all[i]) in reached) {
                placed[all[j]] = 1
                circle = circle " " name_of(all[j])
                size++
            }
        if (size > 1)
            print size, circle | "sort -rn"
    }
}
