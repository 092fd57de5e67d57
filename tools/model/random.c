#include "model/random.h"
#include "play/code.h"

#include <stdio.h>
#include <string.h>

/* ---- numbers ---- */

typedef struct maker {
    const cx_random_options *options;
    cx_scenario *scenario;
    cx_model *model;
    cx_coverage *coverage;
    uint64_t state;
    int names;
    bool lawful; /* the step should succeed */
    int first;   /* weights before this one count little: the scenario is about work */
    int threads;
    bool about_pools; /* half of the steps */
} maker;

/* splitmix64 */
static uint32_t any_number(maker *self)
{
    self->state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = self->state;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((z ^ z >> 31) >> 16);
}

static int number_below(maker *self, int limit)
{
    return (int)(any_number(self) % (uint32_t)limit);
}

static bool chance(maker *self, int percent)
{
    return number_below(self, 100) < percent;
}

/* ---- choosing the step ---- */

static const struct {
    cx_verb_id verb;
    int weight;
} weights[] = {
    {CX_VERB_ctx_create, 14},       {CX_VERB_ctx_create_v3, 2},   {CX_VERB_ctx_create_v4, 2},
    {CX_VERB_ctx_destroy, 14},      {CX_VERB_ctx_push, 16},       {CX_VERB_ctx_pop, 16},
    {CX_VERB_ctx_set, 14},          {CX_VERB_ctx_get, 10},        {CX_VERB_ctx_device, 10},
    {CX_VERB_ctx_device_of, 6},     {CX_VERB_ctx_flags, 4},       {CX_VERB_ctx_id, 8},
    {CX_VERB_ctx_version, 4},       {CX_VERB_ctx_sync, 6},        {CX_VERB_ctx_sync_of, 3},
    {CX_VERB_limit_set, 4},         {CX_VERB_limit_get, 4},       {CX_VERB_cache_set, 5},
    {CX_VERB_cache_get, 4},         {CX_VERB_priorities, 4},      {CX_VERB_ctx_attach, 5},
    {CX_VERB_ctx_detach, 6},        {CX_VERB_primary_retain, 12}, {CX_VERB_primary_release, 20},
    {CX_VERB_primary_reset, 8},     {CX_VERB_primary_set_flags, 5}, {CX_VERB_primary_state, 8},
    {CX_VERB_peer_enable, 8},       {CX_VERB_peer_disable, 8},    {CX_VERB_device_can_access, 3},
    {CX_VERB_device_p2p, 4},        {CX_VERB_device_get, 3},      {CX_VERB_init, 3},
    {CX_VERB_green_create, 9},      {CX_VERB_green_destroy, 7},   {CX_VERB_green_ctx, 12},
    {CX_VERB_green_id, 4},
    {CX_VERB_stream_create, 12},    {CX_VERB_stream_destroy, 6},  {CX_VERB_stream_ctx, 6},
    {CX_VERB_stream_sync, 8},       {CX_VERB_stream_query, 6},    {CX_VERB_stream_wait, 8},
    {CX_VERB_stream_host, 10},       {CX_VERB_gate_open, 5},       {CX_VERB_event_create, 10},
    {CX_VERB_event_destroy, 5},     {CX_VERB_event_record, 10},   {CX_VERB_event_query, 6},
    {CX_VERB_event_sync, 5},        {CX_VERB_event_elapsed, 6},   {CX_VERB_ctx_record, 4},
    {CX_VERB_ctx_wait, 4},          {CX_VERB_mem_alloc, 12},      {CX_VERB_mem_free, 8},
    {CX_VERB_mem_fill, 5},          {CX_VERB_mem_fill_async, 10}, {CX_VERB_copy_dtod_async, 8},
    {CX_VERB_mem_expect, 12},       {CX_VERB_thread_end, 3},      {CX_VERB_fork, 1},
    {CX_VERB_capture_begin, 18},     {CX_VERB_capture_end, 14},    {CX_VERB_capture_status, 4},
    {CX_VERB_capture_mode, 4},      {CX_VERB_graph_nodes, 3},     {CX_VERB_graph_roots, 3},
    {CX_VERB_graph_instantiate, 7}, {CX_VERB_graph_launch, 9},    {CX_VERB_graph_destroy, 2},
    {CX_VERB_graph_exec_destroy, 2},
    {CX_VERB_module_load, 7},
    {CX_VERB_module_unload, 3},
    {CX_VERB_module_kernel, 12},
    {CX_VERB_library_load, 2},
    {CX_VERB_library_unload, 1},
    {CX_VERB_library_kernel, 4},
    {CX_VERB_green_stream, 6},
    {CX_VERB_stream_attribute, 5},
    {CX_VERB_stream_set, 5},
    {CX_VERB_stream_copy, 3},
    {CX_VERB_stream_write, 6},
    {CX_VERB_stream_await, 8},
    {CX_VERB_stream_green, 4},
    {CX_VERB_green_record, 4},
    {CX_VERB_green_wait, 4},
    {CX_VERB_kernel_launch, 170},
    {CX_VERB_host_alloc, 5},
    {CX_VERB_host_free, 2},
    {CX_VERB_host_fill, 7},
    {CX_VERB_host_expect, 12},
    {CX_VERB_copy_dtod, 10},
    {CX_VERB_copy_htod, 14},
    {CX_VERB_copy_dtoh, 14},
    {CX_VERB_copy_htod_async, 25},
    {CX_VERB_copy_dtoh_async, 25},
    {CX_VERB_copy_batch, 10},
    {CX_VERB_mem_alloc_async, 8}, /* pools come last */
    {CX_VERB_mem_alloc_from, 8},
    {CX_VERB_mem_free_async, 10},
    {CX_VERB_pool_create, 6},
    {CX_VERB_pool_destroy, 3},
    {CX_VERB_pool_default, 3},
    {CX_VERB_pool_current, 4},
    {CX_VERB_pool_use, 4},
    {CX_VERB_pool_default_at, 2},
    {CX_VERB_pool_current_at, 3},
    {CX_VERB_pool_use_at, 3},
    {CX_VERB_pool_trim, 3},
    {CX_VERB_pool_set, 6},
    {CX_VERB_pool_get, 10},
    {CX_VERB_pool_access, 5},
    {CX_VERB_pool_access_of, 5},
};

#define WEIGHTS (int)(sizeof weights / sizeof weights[0])

static int place_of(cx_verb_id verb)
{
    int at = 0;
    while (weights[at].verb != verb)
        at++;
    return at;
}

static cx_verb_id choose_verb(maker *self)
{
    int sum = 0, at = chance(self, 20) ? 0 : self->first, end = WEIGHTS;
    if (self->about_pools && chance(self, 50))
        at = place_of(CX_VERB_mem_alloc_async);
    else if (self->first != 0 && chance(self, 90))
        end = place_of(CX_VERB_mem_alloc_async);
    for (int i = at; i < end; i++)
        sum += weights[i].weight;
    int wanted = number_below(self, sum);
    while ((wanted -= weights[at].weight) >= 0)
        at++;
    return weights[at].verb;
}

/* ---- choosing its operands ---- */

static void make_name(maker *self, cx_step *step, int operand, char letter)
{
    char name[16];
    snprintf(name, sizeof name, "%c%d", letter, ++self->names);
    cx_step_name(self->scenario, step, operand, name);
}

static char letter_of(cx_kind kind)
{
    static const char letters[CX_KIND_COUNT] = {
        [CX_KIND_CONTEXT] = 'c', [CX_KIND_STREAM] = 's', [CX_KIND_EVENT] = 'e',
        [CX_KIND_MEMORY] = 'm',  [CX_KIND_GATE] = 'g',   [CX_KIND_GRAPH] = 'r',
        [CX_KIND_EXEC] = 'x',    [CX_KIND_MODULE] = 'd', [CX_KIND_LIBRARY] = 'l',
        [CX_KIND_KERNEL] = 'k',  [CX_KIND_GREEN] = 'w',
        [CX_KIND_POOL] = 'p',    [CX_KIND_HOST] = 'h'};
    return letters[kind] != '\0' ? letters[kind] : 'f';
}

/* A capturing stream, for some steps more often than for others; NULL: another one. */
static const char *choose_capturing(maker *self, const cx_step *step)
{
    cx_verb_id verb = cx_verb_number(step->verb);
    const char *capturing = cx_model_capturing(self->model, any_number(self));
    if (capturing == NULL || !chance(self, verb == CX_VERB_capture_end     ? 85
                                           : verb == CX_VERB_kernel_launch ? 80
                                                                           : 30))
        return NULL;
    int into = verb == CX_VERB_capture_end ? 100 : verb == CX_VERB_kernel_launch ? 80 : 50;
    return chance(self, into) ? capturing : "legacy";
}

/* The name of an object that suits a step, or does not; NULL: there is none. */
static const char *choose_thing(maker *self, const cx_step *step, cx_kind kind)
{
    if (kind == CX_KIND_GATE)
        return cx_model_closed_gate(self->model);
    bool lawful = chance(self, 90) ? self->lawful : !self->lawful;
    const char *busy = kind == CX_KIND_POOL && lawful && chance(self, 60)
                           ? cx_model_pool_in_use(self->model, any_number(self))
                           : NULL;
    if (busy != NULL)
        return busy;
    const char *capturing = kind == CX_KIND_STREAM ? choose_capturing(self, step) : NULL;
    if (capturing != NULL)
        return capturing;
    if (kind == CX_KIND_STREAM && chance(self, 20))
        return chance(self, 80) ? "legacy" : "none";
    if (!lawful && chance(self, 30))
        return "none";
    const char *current =
        kind != CX_KIND_CONTEXT && lawful && chance(self, 85)
            ? cx_model_pick_current(self->model, step->thread, kind, any_number(self))
            : NULL;
    if (current != NULL)
        return current;
    bool ends = cx_verb_number(step->verb) == CX_VERB_ctx_destroy;
    if (kind == CX_KIND_CONTEXT && lawful && chance(self, ends ? 60 : 30))
        return cx_model_current(self->model, step->thread);
    const char *name = cx_model_pick(self->model, kind, lawful, any_number(self));
    return name != NULL ? name : cx_model_pick(self->model, kind, !lawful, any_number(self));
}

static int64_t choose_flags(maker *self, cx_words words)
{
    static const int64_t context[] = {0, 1, 2, 4, 8, 16, 24}, event[] = {0, 1, 2, 3, 6, 7};
    bool lawful = chance(self, 85) ? self->lawful : !self->lawful;
    switch (words) {
    case CX_WORDS_CONTEXT_FLAGS:
        return lawful ? context[number_below(self, 7)] : chance(self, 50) ? 3 : 4096;
    case CX_WORDS_EVENT_FLAGS:
        return lawful ? event[number_below(self, 6)] : chance(self, 50) ? 4 : 64;
    case CX_WORDS_STREAM_FLAGS:
        return lawful ? number_below(self, 2) : 2 + number_below(self, 5);
    default:
        return lawful ? 0 : 1 + number_below(self, 3);
    }
}

static bool is_device(const char *name)
{
    static const char *const names[] = {"dev", "peer", "from", "to", "ordinal"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static int64_t choose_code(maker *self, bool lawful)
{
    static const int64_t wrong[] = {CX_CODE_NULL, CX_CODE_BROKEN, CX_CODE_NEWER, CX_CODE_NOTHING};
    return !lawful            ? wrong[number_below(self, 4)]
           : chance(self, 90) ? CX_CODE_KERNELS
                              : CX_CODE_EMPTY;
}

static int64_t choose_code_name(maker *self, bool lawful)
{
    static const int64_t names[] = {CX_CODE_NAME_FILL, CX_CODE_NAME_ADD, CX_CODE_NAME_COPY};
    return lawful             ? names[number_below(self, 3)]
           : chance(self, 50) ? CX_CODE_NAME_NULL
                              : CX_CODE_NAME_NOBODY;
}

/* One dimension of a launch: the launch is good only if all of them are. */
static int64_t choose_extent(maker *self, const char *name)
{
    bool lawful = self->lawful || chance(self, 85);
    bool threads = strcmp(name, "threads") == 0, blocks = strcmp(name, "blocks") == 0;
    if (strcmp(name, "shared") == 0)
        return lawful ? number_below(self, 1024) : 1 << 20;
    if (!lawful)
        return threads && chance(self, 50) ? 1025 : 0;
    return 1 + number_below(self, threads ? 70 : blocks ? 5 : 2);
}

static bool is_about_pools(cx_verb_id verb)
{
    return (verb >= CX_VERB_pool_default && verb <= CX_VERB_pool_access_of) ||
           verb == CX_VERB_mem_alloc_async || verb == CX_VERB_mem_alloc_from;
}

static int64_t choose_pool_value(maker *self, const cx_step *step, bool lawful)
{
    switch (step->operands[1].number) {
    case CXU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        return number_below(self, 2) * (INT64_C(8) * CX_MODEL_POOL_BYTES);
    case CXU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CXU_MEMPOOL_ATTR_USED_MEM_HIGH: return !lawful;
    default: return number_below(self, 2);
    }
}

/* Sets *out_number and returns true if it is a number that calls on pools take. */
static bool choose_for_pools(maker *self, const cx_step *step, const cx_operand_rule *rule,
                             bool lawful, int64_t *out_number)
{
    static const int64_t places[] = {1, 1, 1, 1, 2, 3}, wrong[] = {0, 4};
    cx_verb_id verb = cx_verb_number(step->verb);
    if (!is_about_pools(verb))
        return false;
    if (rule->words == CX_WORDS_POOL)
        *out_number = lawful ? 1 + number_below(self, 8) : 9 * number_below(self, 2);
    else if (rule->words == CX_WORDS_PLACE)
        *out_number = lawful ? places[number_below(self, 6)] : wrong[number_below(self, 2)];
    else if (rule->words == CX_WORDS_POOL_KIND)
        *out_number = !lawful ? 3 : chance(self, 80) ? 1 : 2;
    else if (rule->words == CX_WORDS_ACCESS)
        *out_number = lawful ? 3 : number_below(self, 2);
    else if (rule->words == CX_WORDS_HANDLE_TYPE)
        *out_number = chance(self, 20);
    else if (strcmp(rule->name, "max") == 0)
        *out_number = number_below(self, 2) * (INT64_C(2) * CX_MODEL_POOL_BYTES);
    else if (strcmp(rule->name, "bytes") == 0)
        *out_number = CX_MODEL_POOL_BYTES *
                      (verb == CX_VERB_pool_trim ? number_below(self, 3) : lawful);
    else if (strcmp(rule->name, "value") == 0)
        *out_number = choose_pool_value(self, step, lawful);
    else
        return false;
    return true;
}

static bool is_extent(const char *name)
{
    return strncmp(name, "threads", 7) == 0 || strncmp(name, "blocks", 6) == 0 ||
           strcmp(name, "shared") == 0;
}

static int64_t choose_number(maker *self, const cx_step *step, const cx_operand_rule *rule)
{
    bool lawful = chance(self, 85) ? self->lawful : !self->lawful;
    const char *name = rule->name;
    int64_t number;
    if (choose_for_pools(self, step, rule, lawful, &number))
        return number;
    if (is_device(name))
        return lawful ? number_below(self, self->first != 0 ? 1 : self->options->devices)
               : chance(self, 50) ? -1
                                  : self->options->devices;
    if (rule->words == CX_WORDS_CODE)
        return choose_code(self, lawful);
    if (rule->words == CX_WORDS_CODE_NAME)
        return choose_code_name(self, lawful);
    if (is_extent(name))
        return choose_extent(self, name);
    if (strcmp(name, "arguments") == 0)
        return self->lawful || chance(self, 90);
    if (rule->words == CX_WORDS_STREAM)
        return !lawful ? 99 : chance(self, 60) ? 3 : 8;
    if (strcmp(name, "value") == 0 && cx_verb_number(step->verb) == CX_VERB_stream_set)
        return step->operands[1].number == 8 ? -number_below(self, 2)
               : lawful                      ? 1 + number_below(self, 4)
                                             : 9 * number_below(self, 2);
    if (strcmp(name, "processors") == 0)
        return lawful ? 8 : 1000;
    if (strcmp(name, "flags") == 0)
        return choose_flags(self, rule->words);
    if (strcmp(name, "limit") == 0)
        return lawful ? number_below(self, 7) : 77;
    if (strcmp(name, "mode") == 0)
        return number_below(self, 3);
    if (strcmp(name, "config") == 0)
        return lawful ? number_below(self, 4) : 4;
    if (strcmp(name, "attribute") == 0)
        return lawful ? 1 + number_below(self, 4) : 99;
    if (strcmp(name, "bytes") == 0 || strcmp(name, "second_bytes") == 0)
        return (cx_verb_number(step->verb) == CX_VERB_mem_alloc ||
                cx_verb_number(step->verb) == CX_VERB_copy_batch) &&
                       !lawful
                   ? 0
                   : CX_MODEL_BYTES;
    if (rule->words == CX_WORDS_ORDER)
        return lawful ? 1 + 2 * number_below(self, 2) : 4 * number_below(self, 2);
    if (strcmp(name, "count") == 0)
        return lawful ? 2 : 0;
    if (strcmp(name, "value") == 0 && lawful &&
        (step->verb == &cx_verbs[CX_VERB_mem_expect] ||
         step->verb == &cx_verbs[CX_VERB_host_expect]))
        return step->operands[0].name != NULL ? cx_model_value(self->model, step->operands[0].name)
                                              : 0;
    return rule->words == CX_WORDS_SWITCH ? lawful : number_below(self, 256);
}

/* False: there is no object to name. */
static bool make_use(maker *self, cx_step *step, int operand)
{
    const char *name = choose_thing(self, step, step->verb->operands[operand].kind);
    return name != NULL && cx_step_name(self->scenario, step, operand, name);
}

static bool make_operand(maker *self, cx_step *step, int operand)
{
    const cx_operand_rule *rule = &step->verb->operands[operand];
    switch (rule->role) {
    case CX_ROLE_NEW: make_name(self, step, operand, letter_of(rule->kind)); return true;
    case CX_ROLE_USE: return make_use(self, step, operand);
    case CX_ROLE_KEY_USE:
        if (rule->kind == CX_KIND_MEMORY)
            return make_use(self, step, operand);
        if (rule->kind == CX_KIND_GATE && self->options->gates && chance(self, 40))
            make_name(self, step, operand, 'g');
        return true;
    case CX_ROLE_NUMBER:
        cx_step_number(step, operand, choose_number(self, step, rule));
        return true;
    case CX_ROLE_KEY:
        if (rule->words != CX_WORDS_WHEN && strcmp(rule->name, "function") != 0 &&
            (strcmp(rule->name, "bytes") == 0 || chance(self, 70)))
            cx_step_number(step, operand, choose_number(self, step, rule));
        return true;
    default: return true;
    }
}

/* ---- steps ---- */

static void add_block_step(maker *self, cx_step *around, const char *thread)
{
    static const cx_verb_id verbs[] = {CX_VERB_ctx_get, CX_VERB_ctx_pop, CX_VERB_ctx_device,
                                       CX_VERB_device_count};
    cx_line *line = cx_line_block_add(self->scenario, &around->block, CX_LINE_STEP);
    line->step.thread = thread;
    line->step.verb = &cx_verbs[verbs[number_below(self, 4)]];
}

static void make_block(maker *self, cx_step *step)
{
    step->has_block = true;
    for (int i = 1 + number_below(self, 3); i > 0; i--)
        add_block_step(self, step, step->thread);
}

/* Removes a line again that came to nothing. */
static void drop_last(cx_scenario *scenario)
{
    cx_line **link = &scenario->lines.first;
    cx_line *before = NULL;
    while (*link != scenario->lines.last) {
        before = *link;
        link = &(*link)->next;
    }
    scenario->line_count = (*link)->index;
    *link = NULL;
    scenario->lines.last = before;
}

static bool add_step(maker *self, cx_verb_id verb)
{
    const char thread[2] = {(char)('A' + number_below(self, self->threads)), '\0'};
    cx_step *step = cx_scenario_step(self->scenario, thread, verb);
    bool made = step != NULL;
    self->lawful = chance(self, verb == CX_VERB_kernel_launch ? 80 : 62);
    for (int i = 0; made && step->verb->operands[i].role != CX_ROLE_NONE; i++)
        made = make_operand(self, step, i);
    if (made && (verb == CX_VERB_fork || verb == CX_VERB_exit))
        make_block(self, step);
    made = made && cx_model_step(self->model, self->scenario, step, self->coverage);
    if (!made && step != NULL)
        drop_last(self->scenario);
    return made;
}

static void add_init(maker *self)
{
    cx_step *step = cx_scenario_step(self->scenario, "A", CX_VERB_init);
    if (step != NULL && !cx_model_step(self->model, self->scenario, step, self->coverage))
        drop_last(self->scenario);
}

static int add_steps(maker *self, const cx_verb_id *verbs, size_t count)
{
    int made = 0;
    for (size_t i = 0; i < count; i++)
        made += add_step(self, verbs[i]);
    return made;
}

static int prepare_pools(maker *self)
{
    static const cx_verb_id verbs[] = {CX_VERB_ctx_create,  CX_VERB_stream_create,
                                       CX_VERB_pool_create, CX_VERB_pool_create,
                                       CX_VERB_pool_use,    CX_VERB_pool_set,
                                       CX_VERB_mem_alloc,   CX_VERB_mem_alloc_async,
                                       CX_VERB_mem_alloc_from, CX_VERB_host_alloc,
                                       CX_VERB_host_fill};
    return add_steps(self, verbs, sizeof verbs / sizeof verbs[0]);
}

/* Adds the steps that a launch needs. */
static int prepare_kernels(maker *self)
{
    static const cx_verb_id verbs[] = {
        CX_VERB_ctx_create,    CX_VERB_module_load,   CX_VERB_module_kernel, CX_VERB_module_kernel,
        CX_VERB_module_kernel, CX_VERB_mem_alloc,     CX_VERB_mem_alloc,     CX_VERB_stream_create,
        CX_VERB_library_load,  CX_VERB_library_kernel, CX_VERB_host_alloc, CX_VERB_host_alloc,
        CX_VERB_host_fill};
    return add_steps(self, verbs, sizeof verbs / sizeof verbs[0]);
}

static void fill_scenario(maker *self, bool initialised)
{
    enum { TRIES = 200 };
    int before_init = initialised ? 0 : 1 + number_below(self, 10);
    int prepared = 0;
    if (initialised && self->first != 0 && chance(self, 60))
        prepared = self->about_pools ? prepare_pools(self) : prepare_kernels(self);
    for (int steps = prepared; steps < self->options->steps; steps++) {
        if (!cx_model_initialised(self->model) && steps >= before_init) {
            add_init(self);
            continue;
        }
        for (int i = 0; i < TRIES && !add_step(self, choose_verb(self)); i++)
            ;
    }
    if (chance(self, 70))
        (void)add_step(self, CX_VERB_exit);
}

/* ---- scenarios ---- */

static cx_scenario *begin_scenario(int devices, bool initialised)
{
    cx_scenario *scenario = cx_scenario_create("random");
    if (scenario == NULL)
        return NULL;
    cx_line *line = cx_line_block_add(scenario, &scenario->lines, CX_LINE_DIRECTIVE);
    if (line != NULL) {
        line->directive = CX_DIRECTIVE_DEVICES;
        line->devices = devices;
    }
    if (!initialised &&
        (line = cx_line_block_add(scenario, &scenario->lines, CX_LINE_DIRECTIVE)) != NULL)
        line->directive = CX_DIRECTIVE_UNINITIALISED;
    return scenario;
}

cx_scenario *cx_random_scenario(const cx_random_options *options, cx_coverage *coverage)
{
    maker self = {.options = options, .state = options->seed, .coverage = coverage};
    bool initialised = !chance(&self, 10), about_work = chance(&self, 55);
    self.first = about_work ? place_of(CX_VERB_stream_create) : 0;
    self.about_pools = about_work && chance(&self, 30);
    self.threads = about_work ? 2 : CX_MODEL_THREADS;
    self.scenario = begin_scenario(options->devices, initialised);
    self.model = cx_model_create(options->devices, initialised);
    if (self.scenario != NULL && self.model != NULL) {
        fill_scenario(&self, initialised);
    } else {
        cx_scenario_destroy(self.scenario);
        self.scenario = NULL;
    }
    cx_model_destroy(self.model);
    return self.scenario;
}
