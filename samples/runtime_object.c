/*
 * A runtime object, as a small tensor framework has one for each device: it runs a graph of
 * operators, each by the implementation that its device has for the type, in memory that was
 * planned before. One object for a device, made when it is first asked for, by whichever thread.
 *
 *   cc runtime_object.c $(pkg-config --cflags --libs ctxrt) -pthread && CTXRT_DRIVER=emulated
 *   ./a.out
 */
#include <ctxrt/ctxrt.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#define OK(call) ok((call), #call)
enum { THREADS = 4, VALUES = 6, TENSORS = 4, OPERATORS = 3 };

static bool ok(ctxrt_status status, const char *call)
{
    if (status != CTXRT_SUCCESS)
        fprintf(stderr, "%s: %s: %s\n", call, ctxrt_status_name(status),
                ctxrt_last_error()->message);
    return status == CTXRT_SUCCESS;
}

/* ---- the object ---- */

typedef struct runtime {
    ctxrt_device device;
    char name[32];
    size_t alignment;
} runtime;

static runtime objects[2]; /* by device type */

static void make_objects(void)
{
    objects[CTXRT_DEVICE_CPU] = (runtime){.device = CTXRT_CPU(0), .alignment = 8};
    objects[CTXRT_DEVICE_CUDA] = (runtime){.device = CTXRT_CUDA(0), .alignment = 256};
    for (int type = 0; type < 2; type++)
        snprintf(objects[type].name, sizeof objects[type].name, "runtime of %s:0",
                 ctxrt_device_type_name((ctxrt_device_type)type));
}

static const runtime *runtime_get(ctxrt_device_type type)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_objects);
    return &objects[type];
}

static bool runtime_is_cpu(const runtime *self)
{
    return self->device.type == CTXRT_DEVICE_CPU;
}

/* Zeroed, and as long as the alignment wants it. */
static bool runtime_alloc(const runtime *self, size_t size_bytes, void **out_pointer)
{
    size_t size = (size_bytes + self->alignment - 1) / self->alignment * self->alignment;
    ctxrt_scope scope = CTXRT_SCOPE_INIT;
    if (!OK(ctxrt_scope_enter(self->device, &scope)))
        return false;
    bool good = OK(ctxrt_alloc(size, out_pointer));
    if (good && !OK(ctxrt_fill(*out_pointer, 0, size))) {
        (void)OK(ctxrt_free(*out_pointer));
        good = false;
    }
    return OK(ctxrt_scope_leave(&scope)) && good;
}

static bool runtime_dealloc(void *pointer)
{
    return OK(ctxrt_free(pointer));
}

/* ---- a graph ---- */

typedef struct tensor {
    size_t place; /* its number in the plan */
    float *values;
} tensor;

typedef struct node {
    const char *type;
    tensor *in, *out;
} node;

/* x -> (double) -> a -> (negate) -> b -> (double) -> y: when y is planned, a is not used any
 * more. */
typedef struct graph {
    tensor tensors[TENSORS];
    node nodes[OPERATORS];
    ctxrt_plan *plan;
} graph;

static bool plan_tensor(graph *self, int number)
{
    return OK(ctxrt_plan_alloc(self->plan, VALUES * sizeof(float), &self->tensors[number].place));
}

static bool plan_graph(graph *self)
{
    size_t offset[TENSORS], peak;
    bool good = plan_tensor(self, 0) && plan_tensor(self, 1) && plan_tensor(self, 2) &&
                OK(ctxrt_plan_free(self->plan, self->tensors[1].place)) && plan_tensor(self, 3) &&
                OK(ctxrt_plan_peak(self->plan, &peak));
    for (int i = 0; good && i < TENSORS; i++)
        good = OK(ctxrt_plan_offset(self->plan, self->tensors[i].place, &offset[i]));
    if (good)
        printf("  planned: x at %zu, a at %zu, b at %zu, y at %zu; %zu bytes in all\n", offset[0],
               offset[1], offset[2], offset[3], peak);
    return good;
}

/* Asking for the pointers freezes the plan, and takes the memory in one piece. */
static bool place_graph(graph *self)
{
    void *pointer;
    for (int i = 0; i < TENSORS; i++) {
        if (!OK(ctxrt_plan_pointer(self->plan, self->tensors[i].place, &pointer)))
            return false;
        self->tensors[i].values = pointer;
    }
    return true;
}

static bool graph_make(graph *self)
{
    static const char *const types[OPERATORS] = {"double", "negate", "double"};
    *self = (graph){.plan = NULL};
    for (int i = 0; i < OPERATORS; i++)
        self->nodes[i] = (node){types[i], &self->tensors[i], &self->tensors[i + 1]};
    return OK(ctxrt_plan_create(0, &self->plan)) && plan_graph(self) && place_graph(self);
}

/* ---- implementations ---- */

static ctxrt_status compute(const node *operation, float factor)
{
    float values[VALUES];
    ctxrt_status status = ctxrt_copy(values, operation->in->values, sizeof values, CTXRT_COPY_ANY);
    for (int i = 0; i < VALUES && status == CTXRT_SUCCESS; i++)
        values[i] *= factor;
    return status == CTXRT_SUCCESS
               ? ctxrt_copy(operation->out->values, values, sizeof values, CTXRT_COPY_ANY)
               : status;
}

static ctxrt_status run_double(void *operation)
{
    return compute(operation, 2);
}

static ctxrt_status run_negate(void *operation)
{
    return compute(operation, -1);
}

static bool register_operators(void)
{
    const ctxrt_operator_implementation twice = {sizeof twice, run_double, 0};
    const ctxrt_operator_implementation negate = {sizeof negate, run_negate, 0};
    bool good = true;
    for (int type = CTXRT_DEVICE_CPU; type <= CTXRT_DEVICE_CUDA; type++)
        good = good && OK(ctxrt_operator_register((ctxrt_device_type)type, "double", &twice));
    good = good && OK(ctxrt_operator_register(CTXRT_DEVICE_CPU, "negate", &negate));
    printf("a second one for the same: %s\n",
           ctxrt_status_name(ctxrt_operator_register(CTXRT_DEVICE_CPU, "double", &negate)));
    return good;
}

/* ---- run ---- */

/* For each operator in order, the implementation of its type for the device at hand is looked up
 * and computes. */
static ctxrt_status run_nodes(graph *self)
{
    ctxrt_status status = CTXRT_SUCCESS;
    for (int i = 0; i < OPERATORS && status == CTXRT_SUCCESS; i++) {
        ctxrt_operator operation = CTXRT_OPERATOR_INIT;
        operation.type = self->nodes[i].type;
        operation.user_data = &self->nodes[i];
        status = ctxrt_operator_submit(&operation);
    }
    return status;
}

static bool runtime_run(const runtime *self, graph *work, ctxrt_status *out_status)
{
    ctxrt_scope scope = CTXRT_SCOPE_INIT;
    if (!OK(ctxrt_scope_enter(self->device, &scope)))
        return false;
    *out_status = run_nodes(work);
    return OK(ctxrt_scope_leave(&scope));
}

static bool fill_in(const graph *self)
{
    float values[VALUES];
    for (int i = 0; i < VALUES; i++)
        values[i] = (float)(i + 1);
    return OK(ctxrt_copy(self->tensors[0].values, values, sizeof values, CTXRT_COPY_ANY));
}

static bool show_result(const graph *self)
{
    float values[VALUES];
    if (!OK(ctxrt_copy(values, self->tensors[TENSORS - 1].values, sizeof values, CTXRT_COPY_ANY)))
        return false;
    printf("  y:");
    for (int i = 0; i < VALUES; i++)
        printf(" %g", (double)values[i]);
    printf("\n");
    return true;
}

static bool show_alloc(const runtime *self)
{
    unsigned char bytes[256];
    void *pointer;
    size_t zeros = 0;
    if (!runtime_alloc(self, 3, &pointer))
        return false;
    bool good = OK(ctxrt_copy(bytes, pointer, self->alignment, CTXRT_COPY_ANY));
    while (good && zeros < self->alignment && bytes[zeros] == 0)
        zeros++;
    printf("  3 bytes asked for: %zu zeroed\n", zeros);
    return runtime_dealloc(pointer) && good;
}

static bool try_device(ctxrt_device_type type)
{
    const runtime *self = runtime_get(type);
    graph work = {.plan = NULL};
    ctxrt_status status;
    printf("%s, %s\n", self->name, runtime_is_cpu(self) ? "a CPU" : "not a CPU");
    if (!OK(ctxrt_device_push(self->device)))
        return false;
    bool good = show_alloc(self) && graph_make(&work) && fill_in(&work) &&
                runtime_run(self, &work, &status);
    if (good && status == CTXRT_SUCCESS)
        good = show_result(&work);
    else if (good)
        printf("  run: %s\n", ctxrt_status_name(status));
    good = OK(ctxrt_plan_destroy(work.plan)) && good;
    return OK(ctxrt_stack_pop()) && good;
}

/* ---- one object ---- */

static void *get_cpu(void *argument)
{
    *(const runtime **)argument = runtime_get(CTXRT_DEVICE_CPU);
    return NULL;
}

static bool ask_on_threads(void)
{
    pthread_t threads[THREADS];
    const runtime *seen[THREADS];
    int same = 0;
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, get_cpu, &seen[i]) != 0)
            return false;
    for (int i = 0; i < THREADS; i++)
        if (pthread_join(threads[i], NULL) == 0 && seen[i] == runtime_get(CTXRT_DEVICE_CPU))
            same++;
    printf("%d of %d threads got the same object\n", same, THREADS);
    return same == THREADS;
}

int main(void)
{
    bool good = ask_on_threads() && register_operators() && try_device(CTXRT_DEVICE_CPU) &&
                try_device(CTXRT_DEVICE_CUDA);
    return OK(ctxrt_shutdown()) && good ? 0 : 1;
}
