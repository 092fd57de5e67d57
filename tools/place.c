#include "place.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Writes the parts, up to NULL, one after the other; false if they do not fit. */
static bool join_path(char path[PATH_MAX], const char *const *pieces)
{
    size_t length = 0;
    for (; *pieces != NULL; pieces++) {
        size_t more = strlen(*pieces);
        if (more >= PATH_MAX - length)
            return false;
        memcpy(path + length, *pieces, more + 1);
        length += more;
    }
    return true;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* The folder of this program, without libtool's .libs. */
static bool find_own_folder(char folder[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    if (length <= 0)
        return false;
    folder[length] = '\0';
    *strrchr(folder, '/') = '\0';
    if (ends_with(folder, "/.libs"))
        *strrchr(folder, '/') = '\0';
    return true;
}

/* The length of the folder that both paths share. */
static size_t common_folder(const char *left, const char *right)
{
    size_t common = 0;
    for (size_t i = 0; left[i] == right[i]; i++) {
        if (left[i] == '/')
            common = i;
        if (left[i] == '\0')
            return i;
    }
    return common;
}

static bool has_file(const char *folder, const char *file)
{
    char path[PATH_MAX];
    return join_path(path, (const char *const[]){folder, file, NULL}) && access(path, R_OK) == 0;
}

bool place_find_in_build(const char *in_build, const char *file, char folder[PATH_MAX])
{
    char own[PATH_MAX];
    return find_own_folder(own) && join_path(folder, (const char *const[]){own, in_build, NULL}) &&
           has_file(folder, file);
}

bool place_find(const char *in_build, const char *installed, const char *in_installed,
                const char *file, char folder[PATH_MAX])
{
    char own[PATH_MAX];
    if (place_find_in_build(in_build, file, folder))
        return true;
    if (find_own_folder(own)) {
        size_t common = common_folder(CTXRT_BINDIR, installed);
        const char *rest = &CTXRT_BINDIR[common];
        if (ends_with(own, rest)) {
            own[strlen(own) - strlen(rest)] = '\0';
            if (join_path(folder,
                          (const char *const[]){own, installed + common, in_installed, NULL}) &&
                has_file(folder, file))
                return true;
        }
    }
    return join_path(folder, (const char *const[]){installed, in_installed, NULL}) &&
           has_file(folder, file);
}

bool place_find_in_list(const char *folders, const char *file, int access_wanted,
                        char path[PATH_MAX])
{
    while (folders != NULL && *folders != '\0') {
        size_t length = strcspn(folders, ":");
        int written = snprintf(path, PATH_MAX, "%.*s/%s", (int)length, folders, file);
        if (written > 0 && written < PATH_MAX && access(path, access_wanted) == 0)
            return true;
        folders += length + (folders[length] == ':');
    }
    return false;
}
