/* Memory pools: T14, T15, T18. */
#include "model/state.h"

enum { SWITCHES = 3 };

/* ---- places ---- */

/* The default pools come first: of pinned memory, then of managed memory. */
static int place_of(const cx_model *model, int64_t at, int64_t device, bool managed)
{
    int index = managed ? CX_MODEL_PLACES : 0;
    switch (at) {
    case CXU_MEM_LOCATION_TYPE_INVALID:
        return managed ? index : NO_THING;
    case CXU_MEM_LOCATION_TYPE_HOST:
        return index + 1;
    case CXU_MEM_LOCATION_TYPE_HOST_NUMA:
        return device == 0 ? index + 2 : NO_THING;
    case CXU_MEM_LOCATION_TYPE_DEVICE:
        return device >= 0 && device < model->devices ? index + 3 + (int)device : NO_THING;
    default:
        return NO_THING;
    }
}

static bool is_kind(int64_t kind)
{
    return kind == CXU_MEM_ALLOCATION_TYPE_PINNED || kind == CXU_MEM_ALLOCATION_TYPE_MANAGED;
}

/* The place that three operands name; NO_THING: there is none. */
static int place_operand(const prediction *self, int at, int device, int kind)
{
    return is_kind(number_of(self, kind))
               ? place_of(self->model, number_of(self, at), number_of(self, device),
                          number_of(self, kind) == CXU_MEM_ALLOCATION_TYPE_MANAGED)
               : NO_THING;
}

static bool of_a_device(const state_pool *pool)
{
    return pool->place >= 3 && pool->place < CX_MODEL_PLACES;
}

static bool of_the_host(const state_pool *pool)
{
    return pool->place < 3;
}

static int device_of(const state_pool *pool)
{
    return of_a_device(pool) ? pool->place - 3 : NO_THING;
}

int current_pool(const cx_model *model, int device)
{
    return model->current_pools[3 + device];
}

void make_default_pools(cx_model *model)
{
    model->pool_count = 2 * CX_MODEL_PLACES;
    for (int i = 0; i < model->pool_count; i++) {
        model->pools[i] =
            (state_pool){.live = true, .is_default = true, .place = i, .switches = {1, 1, 1}};
        model->current_pools[i] = i;
    }
}

bool pool_reaches(const cx_model *model, int index, int device)
{
    const state_pool *pool = &model->pools[index];
    return pool->place >= CX_MODEL_PLACES || device_of(pool) == device || pool->opens[device];
}

bool is_managed(const cx_model *model, int buffer)
{
    int pool = model->buffers[buffer].pool - 1;
    return pool >= 0 && model->pools[pool].place >= CX_MODEL_PLACES;
}

bool is_of_the_host(const cx_model *model, int buffer)
{
    int pool = model->buffers[buffer].pool - 1;
    return pool >= 0 && of_the_host(&model->pools[pool]);
}

/* ---- what is used and reserved ---- */

/* Frees of the pool's memory that may be over or not. */
static int frees_under_way(const cx_model *model, int index)
{
    int count = 0;
    for (int i = 0; i < model->buffer_count; i++)
        count += model->buffers[i].pool == 1 + index && model->buffers[i].leaving != 0;
    return count;
}

static void keep_at_most(state_pool *pool, int64_t reserved)
{
    int64_t room = reserved > pool->used ? reserved - pool->used : 0;
    if (pool->kept > room)
        pool->kept = room;
}

void give_to_pool(cx_model *model, int index)
{
    state_pool *pool = &model->pools[index];
    pool->used -= CX_MODEL_POOL_BYTES;
    if (!pool->live)
        return;
    pool->kept += CX_MODEL_POOL_BYTES;
    keep_at_most(pool, pool->threshold);
}

/* Counts the frees that are known to be over. */
static void settle(cx_model *model, int index)
{
    for (int i = 0; i < model->buffer_count; i++) {
        state_buffer *buffer = &model->buffers[i];
        if (buffer->pool == 1 + index && buffer->leaving != 0 &&
            set_has(&model->done, buffer->leaving - 1)) {
            buffer->leaving = 0;
            give_to_pool(model, index);
        }
    }
}

static void raise_high(int64_t *high, bool *vague, int64_t now, bool certain)
{
    *vague = *vague || (!certain && now > *high);
    if (now > *high)
        *high = now;
}

bool take_from_pool(cx_model *model, int index, bool *out_room)
{
    state_pool *pool = &model->pools[index];
    settle(model, index);
    bool certain = frees_under_way(model, index) == 0;
    *out_room = pool->max == 0 || pool->used + CX_MODEL_POOL_BYTES <= pool->max;
    if (!*out_room)
        return certain;
    if (!certain && (pool->kept != 0 || pool->threshold != 0))
        pool->kept_vague = true;
    pool->kept -= pool->kept < CX_MODEL_POOL_BYTES ? pool->kept : CX_MODEL_POOL_BYTES;
    pool->used += CX_MODEL_POOL_BYTES;
    raise_high(&pool->used_high, &pool->used_high_vague, pool->used, certain);
    raise_high(&pool->reserved_high, &pool->reserved_high_vague, pool->used + pool->kept,
               certain && !pool->kept_vague);
    return true;
}

static void trim(cx_model *model, int index, int64_t reserved)
{
    state_pool *pool = &model->pools[index];
    if (frees_under_way(model, index) > 0)
        pool->kept_vague = pool->kept_vague || pool->kept != 0 || pool->threshold != 0;
    else if (reserved <= pool->used)
        pool->kept_vague = false;
    keep_at_most(pool, reserved);
}

/* ---- finding pools ---- */

bool find_pool(const prediction *self, int operand, int *out_pool)
{
    *out_pool = thing_of(self, operand, CX_KIND_POOL);
    if (*out_pool < 0)
        return *out_pool == NO_THING;
    const state_pool *pool = &self->model->pools[*out_pool];
    if (pool->live)
        return true;
    bool stale = not_reused(self->model, pool->died);
    *out_pool = NO_THING;
    return stale;
}

static bool name_pool(prediction *self, int index)
{
    for (int i = self->model->name_count - 1; i >= 0; i--)
        if (self->model->names[i].kind == CX_KIND_POOL && self->model->names[i].index == index)
            return answer_name(self, self->model->names[i].name);
    return answer_anything(self);
}

/* ---- the pools of a place ---- */

static bool give_default(prediction *self, int place, int error)
{
    if (place == NO_THING)
        return answer(self, error);
    bind_name(self, CX_KIND_POOL, place);
    return answer(self, CXU_SUCCESS);
}

static bool give_current(prediction *self, int place, int error)
{
    if (place == NO_THING)
        return answer(self, error);
    answer(self, CXU_SUCCESS);
    return name_pool(self, self->model->current_pools[place]);
}

static int place_of_device(const prediction *self, int operand)
{
    return place_of(self->model, CXU_MEM_LOCATION_TYPE_DEVICE, number_of(self, operand), false);
}

/* A device's current pool may be of the node. */
static bool use_pool(prediction *self, int place, int error, bool or_the_node)
{
    cx_model *model = self->model;
    int pool;
    if (!find_pool(self, 0, &pool))
        return false;
    bool suits = pool != NO_THING && (model->pools[pool].place == place ||
                                      (or_the_node && model->pools[pool].place == 2));
    if (place == NO_THING)
        answer(self, error);
    if (!suits && (place != NO_THING || error != CXU_INVALID_VALUE))
        answer(self, CXU_INVALID_VALUE);
    if (place == NO_THING || !suits)
        return true;
    model->current_pools[place] = pool;
    return answer(self, CXU_SUCCESS);
}

static bool ask_place(prediction *self)
{
    int device;
    switch (cx_verb_number(self->step->verb)) {
    case CX_VERB_pool_default:
        cite(self, CX_RULE_T14);
        return give_default(self, place_of_device(self, 1), CXU_INVALID_DEVICE);
    case CX_VERB_pool_current:
        cite(self, CX_RULE_T14);
        return give_current(self, place_of_device(self, 0), CXU_INVALID_DEVICE);
    case CX_VERB_pool_use:
        cite(self, CX_RULE_T14);
        device = place_of_device(self, 1);
        return use_pool(self, device, CXU_INVALID_DEVICE, true);
    case CX_VERB_pool_default_at:
        cite(self, CX_RULE_T18);
        return give_default(self, place_operand(self, 1, 2, 3), CXU_INVALID_VALUE);
    case CX_VERB_pool_current_at:
        cite(self, CX_RULE_T18);
        return give_current(self, place_operand(self, 0, 1, 2), CXU_INVALID_VALUE);
    case CX_VERB_pool_use_at:
        cite(self, CX_RULE_T18);
        return use_pool(self, place_operand(self, 1, 2, 3), CXU_INVALID_VALUE, false);
    default:
        return false;
    }
}

/* ---- making and destroying ---- */

static bool create_pool(prediction *self)
{
    cx_model *model = self->model;
    int place = place_operand(self, 3, 1, 4);
    int64_t types = number_of(self, 5);
    bool shared = types == CXU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    if (types != 0 && !shared)
        return false;
    cite(self, of_the_host(&(state_pool){.place = place}) ? CX_RULE_T18 : CX_RULE_T14);
    if (place == NO_THING || (shared && (place == 1 || place >= CX_MODEL_PLACES)))
        return answer(self, CXU_INVALID_VALUE);
    int index = model->pool_count++;
    model->made++;
    model->pools[index] = (state_pool){
        .live = true, .place = place, .max = number_of(self, 2), .switches = {1, 1, 1}};
    bind_name(self, CX_KIND_POOL, index);
    return answer(self, CXU_SUCCESS);
}

static bool destroy_pool(prediction *self)
{
    cx_model *model = self->model;
    int pool;
    if (!find_pool(self, 0, &pool))
        return false;
    cite(self, CX_RULE_T14);
    if (pool == NO_THING || model->pools[pool].is_default)
        return answer(self, CXU_INVALID_VALUE);
    for (int i = 0; i < 2 * CX_MODEL_PLACES; i++)
        if (model->current_pools[i] == pool)
            model->current_pools[i] = i;
    model->pools[pool].live = false;
    model->pools[pool].died = model->made;
    return answer(self, CXU_SUCCESS);
}

static bool trim_pool(prediction *self)
{
    int pool;
    if (!find_pool(self, 0, &pool))
        return false;
    cite(self, CX_RULE_T15);
    if (pool == NO_THING)
        return answer(self, CXU_INVALID_VALUE);
    settle(self->model, pool);
    trim(self->model, pool, number_of(self, 1));
    return answer(self, CXU_SUCCESS);
}

/* ---- attributes ---- */

static bool is_switch(int64_t attribute)
{
    return attribute >= CXU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES &&
           attribute < CXU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES + SWITCHES;
}

static bool is_attribute(int64_t attribute)
{
    return attribute >= CXU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES &&
           attribute <= CXU_MEMPOOL_ATTR_USED_MEM_HIGH;
}

static bool can_be_set(int64_t attribute, int64_t value)
{
    switch (attribute) {
    case CXU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        return true;
    case CXU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CXU_MEMPOOL_ATTR_USED_MEM_HIGH:
        return value == 0;
    default:
        return is_switch(attribute);
    }
}

static void store(cx_model *model, int index, int64_t attribute, int64_t value)
{
    state_pool *pool = &model->pools[index];
    bool certain = frees_under_way(model, index) == 0;
    if (attribute == CXU_MEMPOOL_ATTR_RELEASE_THRESHOLD) {
        int64_t before = pool->threshold;
        pool->threshold = value > before ? value : before; /* frees under way may meet either */
        trim(model, index, value);
        pool->threshold = value;
    } else if (attribute == CXU_MEMPOOL_ATTR_USED_MEM_HIGH) {
        pool->used_high = pool->used;
        pool->used_high_vague = !certain;
    } else if (attribute == CXU_MEMPOOL_ATTR_RESERVED_MEM_HIGH) {
        pool->reserved_high = pool->used + pool->kept;
        pool->reserved_high_vague = !certain || pool->kept_vague;
    } else {
        pool->switches[attribute - CXU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES] = value != 0;
    }
}

static bool set_attribute(prediction *self)
{
    int pool;
    int64_t attribute = number_of(self, 1), value = number_of(self, 2);
    if (!find_pool(self, 0, &pool))
        return false;
    cite(self, CX_RULE_T15);
    if (pool == NO_THING || !can_be_set(attribute, value) || number_of(self, 3) == 0)
        return answer(self, CXU_INVALID_VALUE);
    settle(self->model, pool);
    store(self->model, pool, attribute, value);
    return answer(self, CXU_SUCCESS);
}

/* Answers what the pool says, or anything where a free that may be over decides it. */
static bool answer_value(prediction *self, const state_pool *pool, int64_t attribute, bool certain)
{
    switch (attribute) {
    case CXU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        return answer_number(self, pool->threshold);
    case CXU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
        return certain && !pool->kept_vague ? answer_number(self, pool->used + pool->kept)
                                            : answer_anything(self);
    case CXU_MEMPOOL_ATTR_USED_MEM_CURRENT:
        return certain ? answer_number(self, pool->used) : answer_anything(self);
    case CXU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
        return pool->reserved_high_vague ? answer_anything(self)
                                         : answer_number(self, pool->reserved_high);
    case CXU_MEMPOOL_ATTR_USED_MEM_HIGH:
        return pool->used_high_vague ? answer_anything(self) : answer_number(self, pool->used_high);
    default:
        return answer_number(
            self, pool->switches[attribute - CXU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES]);
    }
}

static bool get_attribute(prediction *self)
{
    int pool;
    int64_t attribute = number_of(self, 1);
    if (!find_pool(self, 0, &pool))
        return false;
    cite(self, CX_RULE_T15);
    if (pool == NO_THING || number_of(self, 2) == 0 || !is_attribute(attribute))
        return answer(self, CXU_INVALID_VALUE);
    settle(self->model, pool);
    answer(self, CXU_SUCCESS);
    return answer_value(self, &self->model->pools[pool], attribute,
                        frees_under_way(self->model, pool) == 0);
}

said ask_pool_in_capture(prediction *self)
{
    bool sets = cx_verb_number(self->step->verb) == CX_VERB_pool_set;
    bool good = sets ? can_be_set(number_of(self, 1), number_of(self, 2)) && number_of(self, 3) != 0
                     : is_attribute(number_of(self, 1)) && number_of(self, 2) != 0;
    int pool;
    for (int i = 0; i < self->model->capture_count; i++)
        if (capture_forbids(self, &self->model->captures[i]))
            return good && find_pool(self, 0, &pool) && pool != NO_THING ? refuse_unsafe(self)
                                                                         : UNSAID;
    return NO_MATTER;
}

/* ---- access ---- */

static bool is_host(int64_t at, int64_t device)
{
    return at == CXU_MEM_LOCATION_TYPE_HOST ||
           (at == CXU_MEM_LOCATION_TYPE_HOST_NUMA && device == 0);
}

/* The result of giving or taking access; fixed access cannot be taken. */
static int result_of_access(const prediction *self, const state_pool *pool, int64_t at)
{
    int64_t device = number_of(self, 1), flags = number_of(self, 2);
    bool takes = flags == CXU_MEM_ACCESS_FLAGS_PROT_NONE;
    if (!takes && flags != CXU_MEM_ACCESS_FLAGS_PROT_READWRITE)
        return CXU_INVALID_VALUE;
    if (is_host(at, device))
        return of_a_device(pool) || takes ? CXU_INVALID_VALUE : CXU_SUCCESS;
    if (at != CXU_MEM_LOCATION_TYPE_DEVICE)
        return CXU_INVALID_VALUE;
    if (!device_exists(self, device))
        return CXU_INVALID_DEVICE;
    if (device == device_of(pool))
        return takes ? CXU_INVALID_DEVICE : CXU_SUCCESS;
    return takes && pool->place >= CX_MODEL_PLACES ? CXU_INVALID_VALUE : CXU_SUCCESS;
}

/* True if nothing uses memory of the pool: what becomes of its users is undefined. */
static bool is_idle(const cx_model *model, int index)
{
    for (int i = 0; i < model->buffer_count; i++) {
        const state_buffer *buffer = &model->buffers[i];
        if (buffer->pool == 1 + index &&
            !(set_finished(model, &buffer->written) && set_finished(model, &buffer->read)))
            return false;
    }
    return true;
}

static bool set_access(prediction *self)
{
    cx_model *model = self->model;
    int64_t at = number_of(self, 3);
    int pool;
    if (!find_pool(self, 0, &pool))
        return false;
    cite(self, CX_RULE_T15);
    if (pool == NO_THING)
        return answer(self, CXU_INVALID_VALUE);
    int result = result_of_access(self, &model->pools[pool], at);
    bool gives = number_of(self, 2) != 0;
    if (result != CXU_SUCCESS)
        return answer(self, result);
    if (!gives && !is_idle(model, pool))
        return false;
    if (at == CXU_MEM_LOCATION_TYPE_DEVICE)
        model->pools[pool].opens[number_of(self, 1)] = gives;
    return answer(self, CXU_SUCCESS);
}

static bool get_access(prediction *self)
{
    const cx_model *model = self->model;
    int64_t at = number_of(self, 2), device = number_of(self, 1);
    int pool;
    if (!find_pool(self, 0, &pool))
        return false;
    cite(self, CX_RULE_T15);
    bool host = is_host(at, device);
    if (pool == NO_THING ||
        (!host && (at != CXU_MEM_LOCATION_TYPE_DEVICE || !device_exists(self, device))))
        return answer(self, CXU_INVALID_VALUE);
    bool open = host ? !of_a_device(&model->pools[pool]) : pool_reaches(model, pool, (int)device);
    answer(self, CXU_SUCCESS);
    return answer_number(self, open ? CXU_MEM_ACCESS_FLAGS_PROT_READWRITE : 0);
}

bool ask_pool(prediction *self)
{
    switch (cx_verb_number(self->step->verb)) {
    case CX_VERB_pool_create:
        return create_pool(self);
    case CX_VERB_pool_destroy:
        return destroy_pool(self);
    case CX_VERB_pool_trim:
        return trim_pool(self);
    case CX_VERB_pool_set:
        return set_attribute(self);
    case CX_VERB_pool_get:
        return get_attribute(self);
    case CX_VERB_pool_access:
        return set_access(self);
    case CX_VERB_pool_access_of:
        return get_access(self);
    default:
        return ask_place(self);
    }
}
