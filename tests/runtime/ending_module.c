/* A library whose destructor calls what it was told to: see ending_program.c. */
static void (*look)(void);

__attribute__((visibility("default"))) void ending_module_arm(void (*function)(void));
void ending_module_arm(void (*function)(void))
{
    look = function;
}

__attribute__((destructor)) static void destructor_of_a_library(void)
{
    if (look)
        look();
}
