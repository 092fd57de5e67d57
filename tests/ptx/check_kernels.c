/* Kernels written in CUDA C, compiled by nvcc and clang for several targets: each leaves what plain
 * C computes. */
#include "kernels/run.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const kernel_group *const groups[] = {
    &atomics_kernels, &calls_kernels, &cluster_kernels, &graph_kernels, &hash_kernels,
    &histogram_kernels, &linear_kernels, &math_kernels, &matrix_kernels, &memory_kernels,
    &modern_kernels, &output_kernels, &pairs_kernels, &physics_kernels, &reduce_kernels,
    &scan_kernels, &sort_kernels, &stencil_kernels, &text_kernels, &types_kernels, &wide_kernels};

#define GROUPS (sizeof groups / sizeof groups[0])
#define FILES_MOST 8

/* ---- the files of a group ---- */

static size_t list_files(const kernel_group *group, char files[FILES_MOST][128])
{
    size_t length = strlen(group->name), count = 0;
    struct dirent *entry;
    DIR *all = opendir(kernels_folder());

    ck_assert_msg(all, "%s cannot be read", kernels_folder());
    while ((entry = readdir(all)) && count < FILES_MOST) {
        const char *ending = strrchr(entry->d_name, '.');

        if (strncmp(entry->d_name, group->name, length) == 0 && entry->d_name[length] == '.' &&
            ending && strcmp(ending, ".ptx") == 0)
            snprintf(files[count++], 128, "%.100s", entry->d_name);
    }
    closedir(all);
    return count;
}

static void check_file(const kernel_group *group, const char *file, const kernel_way *way)
{
    const char *only = getenv("KERNEL");

    ck_assert_msg(kernels_load(file, way), "%s does not load", file);
    restart_random();
    for (size_t i = 0; i < group->count; i++) {
        if (only && strcmp(only, group->cases[i].name) != 0)
            continue;
        kernels_run(group->cases[i].check);
        release_memory();
    }
    kernels_unload();
}

START_TEST(kernels_leave_what_c_computes)
{
    const kernel_group *group = groups[(size_t)_i % GROUPS];
    size_t way = (size_t)_i / GROUPS;
    char files[FILES_MOST][128];
    size_t count = list_files(group, files);

    ck_assert_uint_gt(count, 0);
    for (size_t i = 0; i < (kernel_ways[way].one_file ? 1 : count); i++)
        check_file(group, files[i], &kernel_ways[way]);
}
END_TEST

static Suite *kernels_suite(void)
{
    Suite *suite = suite_create("kernels");
    TCase *all = tcase_create("all");

    tcase_set_timeout(all, 120);
    tcase_add_loop_test(all, kernels_leave_what_c_computes, 0, (int)(kernel_way_count * GROUPS));
    suite_add_tcase(suite, all);
    return suite;
}

CX_TESTS(kernels_suite);
