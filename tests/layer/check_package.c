/* Which files the layer check takes for libraries of one package. */
#include "layer/module_file.h"
#include "test.h"

#define TORCH "/home/u/venv/lib/python3.11/site-packages/torch/lib/"

static const struct {
    const char *one, *other;
    bool same;
} rows[] = {
    {TORCH "libtorch_cuda.so", TORCH "libc10_cuda.so", true},
    {TORCH "libtorch_cuda.so", "/home/u/venv/lib/python3.11/site-packages/cupy/libc10_cuda.so",
     false},
    {"/opt/player/libplayer.so.2", "/opt/player/libcodec.so.1.0", true},
    {"/opt/player/player", "/opt/player/libcodec.so", false}, /* a program and its library */
    {"/opt/player/lib/a.so", "/opt/player/lib2/b.so", false},
    {"/usr/lib/liba.so", "/usr/lib/libb.so", false},
    {"/usr/lib/x86_64-linux-gnu/liba.so.1", "/usr/lib/x86_64-linux-gnu/libb.so.1", false},
    {"/usr/lib/python3/dist-packages/x/a.so", "/usr/lib/python3/dist-packages/x/b.so", true},
    {"liba.so", "libb.so", false},
};

START_TEST(libraries_of_one_folder_are_one_package)
{
    ck_assert_msg(cx_module_file_same_package(rows[_i].one, rows[_i].other) == rows[_i].same,
                  "%s, %s", rows[_i].one, rows[_i].other);
}
END_TEST

static Suite *package_suite(void)
{
    Suite *suite = suite_create("libraries of one package");
    TCase *tcase = tcase_create("package");
    tcase_add_loop_test(tcase, libraries_of_one_folder_are_one_package, 0,
                        sizeof rows / sizeof *rows);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(package_suite);
