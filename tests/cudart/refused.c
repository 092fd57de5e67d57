/* refused LIBRARY < NAMES: calls each function and prints its name, its result and the last error.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef int any_function(void *, void *, void *, void *, void *, void *);

static any_function *find(void *library, const char *name)
{
    any_function *found;
    void *symbol = dlsym(library, name);
    memcpy(&found, &symbol, sizeof found);
    return found;
}

int main(int count, char **arguments)
{
    char name[256];
    void *library = count == 2 ? dlopen(arguments[1], RTLD_NOW) : NULL;
    any_function *last_error = library != NULL ? find(library, "cudaGetLastError") : NULL;
    if (last_error == NULL) {
        fprintf(stderr, "refused: %s\n", library == NULL ? dlerror() : "no cudaGetLastError");
        return 2;
    }
    while (scanf("%255s", name) == 1) {
        any_function *function = find(library, name);
        if (function == NULL) {
            printf("%s absent\n", name);
            continue;
        }
        int result = function(NULL, NULL, NULL, NULL, NULL, NULL);
        int last = last_error(NULL, NULL, NULL, NULL, NULL, NULL);
        int again = function(NULL, NULL, NULL, NULL, NULL, NULL);
        printf("%s %d %d %d\n", name, result, last, again);
    }
    return 0;
}
