/* query_account.c - reading accounts, quotas and usage.
 *
 * A guarantee of slots that nobody set is computed: for `default` it is the rest (design.md section 5),
 * for another department what the accounts below it are guaranteed together, for another project 0.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/state/state.h"

#include "base/must.h"
#include "core/model/codec.h"

const struct account *query_account(const struct core *core, account_id id)
{
    return table_get(&core->accounts, id.v);
}

const struct account *query_account_named(const struct core *core, enum account_kind kind,
                                          const char *name)
{
    uint64_t hash = key_name_hash(name);
    struct okey key = {{hash, kind}};
    const struct oindex *names = &core->orders[ORDER_ACCOUNT_NAME];
    for (bool more = oindex_from(names, key, &key); more && key.at[0] == hash && key.at[1] == kind;
         more = oindex_next(names, key, &key)) {
        account_id id = {(uint32_t)key.at[2]};
        if (strcmp(query_account_name(core, id), name) == 0) {
            return query_account(core, id);
        }
    }
    return NULL;
}

const struct account *query_account_next(const struct core *core, account_id after)
{
    return table_get(&core->accounts, table_next(&core->accounts, after.v));
}

const struct account *query_account_child_next(const struct core *core, account_id parent,
                                               account_id after)
{
    struct okey key = {{parent.v, after.v, UINT64_MAX, UINT64_MAX}};
    if (!oindex_next(&core->orders[ORDER_ACCOUNT_CHILD], key, &key) || key.at[0] != parent.v) {
        return NULL;
    }
    return query_account(core, (account_id){(uint32_t)key.at[1]});
}

const char *query_account_name(const struct core *core, account_id id)
{
    const struct account *account = query_account(core, id);
    return account != NULL ? blob_bytes(account->text).p : "";
}

void query_account_spec(const struct core *core, account_id id, struct arena *arena,
                        struct account_spec *ret)
{
    const struct account *account = query_account(core, id);
    must(account != NULL);
    struct str bytes = blob_bytes(account->text);
    size_t skip = strlen(bytes.p) + 1;
    struct bytes_reader in;
    bytes_reader_init(&in, bytes.p + skip, bytes.len - skip);
    ret->kind = account->kind;
    ret->name = query_account_name(core, id);
    ret->parent = query_account_name(core, account->parent);
    ret->title = bytes_get_text(&in, arena, TEXT_LEN_MAX);
    ret->description = bytes_get_text(&in, arena, TEXT_LEN_MAX);
    must(bytes_reader_ok(&in));
}

/* ---- dims ---- */

uint32_t query_dim_count(const struct core *core)
{
    return core->dim_count;
}

resource_id query_dim_resource(const struct core *core, uint32_t dim)
{
    must(dim < core->dim_count);
    return core->dims[dim];
}

bool query_dim_of(const struct core *core, resource_id resource, uint32_t *ret)
{
    for (uint32_t dim = 0; dim < core->dim_count; dim++) {
        if (core->dims[dim].v == resource.v) {
            *ret = dim;
            return true;
        }
    }
    return false;
}

void query_dim_grant(const struct core *core, const struct request *request, int64_t slots_milli,
                     int64_t cpu_milli, int64_t memory_bytes, struct vector *ret)
{
    *ret = (struct vector){.at = {[DIM_SLOTS] = slots_milli,
                                  [DIM_CPU] = cpu_milli > 0 ? cpu_milli : 0,
                                  [DIM_MEMORY] = memory_bytes > 0 ? memory_bytes : 0}};
    uint32_t at = 0; /* both ascend */
    for (uint32_t dim = DIM_NAMED_FIRST; dim < core->dim_count; dim++) {
        while (at < request->named_count && request->named[at].resource.v < core->dims[dim].v) {
            at++;
        }
        if (at < request->named_count && request->named[at].resource.v == core->dims[dim].v) {
            ret->at[dim] = request->named[at].milli;
        }
    }
}

void query_dim_request(const struct core *core, const struct request *request, struct vector *ret)
{
    query_dim_grant(core, request, request->slots_milli, request->cpu_milli, request->memory_bytes,
                    ret);
}

/* ---- parts of devices by memory ---- */

/* The memory of the pool's largest or smallest devices; 0: nobody knows. */
static int64_t gpu_memory_end(const struct core *core, pool_id pool, bool largest)
{
    const struct oindex *order = &core->orders[ORDER_GPU_MEMORY];
    const struct okey before = {{pool.v, 0, 0, 0}};
    const struct okey behind = {{(uint64_t)pool.v + 1, 0, 0, 0}};
    struct okey key;
    const bool found =
        largest ? oindex_prev(order, behind, &key) : oindex_next(order, before, &key);
    return found && key.at[0] == pool.v ? (int64_t)key.at[1] : 0;
}

int64_t query_dim_slots(const struct core *core, pool_id pool, const struct request *request,
                        enum slots_bound bound)
{
    if (!request_by_memory(request)) {
        return request->slots_milli;
    }
    const int64_t total = gpu_memory_end(core, pool, bound == SLOTS_LEAST);
    return (int64_t)request->share_devices * resource_gpu_share(request->gpu_memory_bytes, total);
}

int64_t resource_gpu_memory(const struct request *request)
{
    int64_t bytes;
    if (!request_by_memory(request)) {
        return 0;
    }
    return __builtin_mul_overflow(request->gpu_memory_bytes, (int64_t)request->share_devices,
                                  &bytes)
               ? QUOTA_SUM_MAX
               : bytes;
}

int64_t query_dim_gpu_slots(const struct core *core, pool_id pool, int64_t bytes)
{
    const int64_t total = bytes == 0 ? 0 : gpu_memory_end(core, pool, false);
    if (total == 0) {
        return 0;
    }
    const __int128 milli = ((__int128)bytes * SLOT_MILLI + total - 1) / total;
    return milli < QUOTA_SUM_MAX ? (int64_t)milli : QUOTA_SUM_MAX;
}

/* ---- usage ---- */

int64_t vector_sum_shown(const struct sum *sum)
{
    return sum->high == 0 && sum->low < (uint64_t)QUOTA_SUM_MAX ? (int64_t)sum->low : QUOTA_SUM_MAX;
}

int64_t query_usage_slots_wanted(const struct core *core, pool_id pool, const struct usage *usage)
{
    const int64_t by_memory = query_dim_gpu_slots(core, pool, usage->gpu_memory_wanted);
    const int64_t plain = usage->wanted.at[DIM_SLOTS];
    return by_memory < QUOTA_SUM_MAX - plain ? plain + by_memory : QUOTA_SUM_MAX;
}

void query_usage(const struct core *core, account_id account, pool_id pool, struct usage *ret)
{
    *ret = (struct usage){0};
    const struct usage_row *row = table_get(&core->usages, ACCOUNT_KEY(pool, account));
    if (row == NULL) {
        return;
    }
    for (uint32_t dim = 0; dim < core->dim_count; dim++) {
        ret->allocated.at[dim] = vector_sum_shown(&row->allocated[dim]);
        ret->leaving.at[dim] = vector_sum_shown(&row->leaving[dim]);
        ret->fixed.at[dim] = vector_sum_shown(&row->fixed[dim]);
        ret->wanted.at[dim] = vector_sum_shown(&row->wanted[dim]);
    }
    ret->gpu_memory_wanted = vector_sum_shown(&row->gpu_memory_wanted);
    ret->wanted.at[DIM_SLOTS] = query_usage_slots_wanted(core, pool, ret);
    ret->pending_count = row->pending_count;
    ret->running_count = row->running_count;
}

int64_t quota_demand(const struct usage *usage, uint32_t dim)
{
    return usage->allocated.at[dim] + usage->wanted.at[dim];
}

int64_t query_usage_user_slots(const struct core *core, user_id user, pool_id pool)
{
    const struct user_usage *hold = table_get(&core->holds, ACCOUNT_KEY(pool, user));
    return hold != NULL ? vector_sum_shown(&hold->slots) : 0;
}

const char *query_usage_user_name(const struct core *core, user_id id)
{
    const struct user_row *user = table_get(&core->users, id.v);
    return user != NULL ? blob_bytes(user->name).p : "";
}

/* ---- quotas ---- */

static const struct quota_row *quota_row(const struct core *core, account_id account, pool_id pool)
{
    return table_get(&core->quotas, ACCOUNT_KEY(pool, account));
}

bool quota_row_default(const struct quota_row *row)
{
    return row->term_count == 0 && row->rank == QUOTA_RANK_DEFAULT &&
           row->preempt_min_runtime_ms == QUOTA_INHERIT &&
           row->reclaim_min_runtime_ms == QUOTA_INHERIT;
}

static bool row_mentions(const struct quota_row *row, uint32_t resource)
{
    for (uint32_t i = 0; row != NULL && i < row->term_count; i++) {
        if (row->terms[i].resource.v == resource) {
            return true;
        }
    }
    return false;
}

bool query_quota_dims_fit(const struct core *core, const struct quota_row *now,
                          const struct quota_row *next)
{
    uint32_t count = DIM_NAMED_FIRST;
    for (uint32_t i = RESOURCE_NAMED_FIRST; i < core->resource_count; i++) {
        uint32_t mentions = core->quota_mentions[i] - row_mentions(now, i);
        count += mentions > 0 || row_mentions(next, i);
    }
    return count <= QUOTA_DIMS_MAX;
}

/* The guarantee of slots as it was set. */
static int64_t slots_set(const struct core *core, account_id account, pool_id pool)
{
    const struct quota_row *row = quota_row(core, account, pool);
    bool set = row != NULL && row->term_count > 0 && row->terms[0].resource.v == RESOURCE_SLOTS;
    return set ? row->terms[0].guaranteed : QUOTA_UNSET;
}

static bool has_rest(account_id account)
{
    return account.v == ACCOUNT_DEFAULT_DEPARTMENT.v || account.v == ACCOUNT_DEFAULT_PROJECT.v;
}

static int64_t guarantees_add(int64_t sum, int64_t more)
{
    if (sum == QUOTA_UNLIMITED || more == QUOTA_UNLIMITED) {
        return QUOTA_UNLIMITED;
    }
    return sum + more < QUOTA_SUM_MAX ? sum + more : QUOTA_SUM_MAX;
}

/* What the accounts below one are guaranteed together, those aside that get the rest. Each level is
 * walked by a cursor of its own: the tree is not deeper than ACCOUNT_DEPTH_MAX. */
static int64_t slots_below(const struct core *core, account_id top, pool_id pool)
{
    account_id path[ACCOUNT_DEPTH_MAX + 1] = {top};
    account_id after[ACCOUNT_DEPTH_MAX + 1] = {{0}};
    int64_t sum = 0;
    for (int level = 0; level >= 0;) {
        const struct account *child = query_account_child_next(core, path[level], after[level]);
        if (child == NULL) {
            level--;
            continue;
        }
        after[level] = child->id;
        int64_t set = slots_set(core, child->id, pool);
        if (set != QUOTA_UNSET) {
            sum = guarantees_add(sum, set);
        } else if (child->kind == ACCOUNT_DEPARTMENT && !has_rest(child->id)) {
            must(level < ACCOUNT_DEPTH_MAX);
            level++;
            path[level] = child->id;
            after[level] = (account_id){0};
        }
    }
    return sum;
}

static int64_t minus(int64_t whole, int64_t part)
{
    return part == QUOTA_UNLIMITED || part > whole ? 0 : whole - part;
}

/* What nobody else is guaranteed, of the pool's full size. */
static int64_t slots_rest(const struct core *core, account_id account, pool_id pool)
{
    const struct pool *row = query_pool(core, pool);
    int64_t size = row != NULL ? row->slots_milli : 0;
    int64_t department = slots_set(core, ACCOUNT_DEFAULT_DEPARTMENT, pool);
    if (department == QUOTA_UNSET) {
        department = minus(size, slots_below(core, (account_id){0}, pool));
    } else if (department == QUOTA_UNLIMITED) {
        department = size;
    }
    if (account.v == ACCOUNT_DEFAULT_DEPARTMENT.v) {
        return department;
    }
    return minus(department, slots_below(core, ACCOUNT_DEFAULT_DEPARTMENT, pool));
}

static int64_t slots_computed(const struct core *core, account_id account, pool_id pool)
{
    if (has_rest(account)) {
        return slots_rest(core, account, pool);
    }
    return slots_below(core, account, pool);
}

static void terms_fill(const struct core *core, const struct quota_row *row, struct quota *ret)
{
    for (uint32_t i = 0; i < row->term_count; i++) {
        const struct quota_term *term = &row->terms[i];
        uint32_t dim;
        must(query_dim_of(core, term->resource, &dim));
        if (term->guaranteed != QUOTA_UNSET) {
            ret->guaranteed.at[dim] = term->guaranteed;
        }
        ret->limit.at[dim] = term->limit;
        ret->weight[dim] = term->weight;
    }
    ret->rank = row->rank;
    ret->preempt_min_runtime_ms = row->preempt_min_runtime_ms;
    ret->reclaim_min_runtime_ms = row->reclaim_min_runtime_ms;
}

/* Has nobody set the guarantee? `row` may be NULL. */
static bool row_computes(const struct quota_row *row, resource_id resource)
{
    for (uint32_t i = 0; row != NULL && i < row->term_count; i++) {
        if (row->terms[i].resource.v == resource.v) {
            return row->terms[i].guaranteed == QUOTA_UNSET;
        }
    }
    return true;
}

void query_quota(const struct core *core, account_id account, pool_id pool, struct quota *ret)
{
    *ret = (struct quota){.rank = QUOTA_RANK_DEFAULT,
                          .preempt_min_runtime_ms = QUOTA_INHERIT,
                          .reclaim_min_runtime_ms = QUOTA_INHERIT};
    for (uint32_t dim = 0; dim < QUOTA_DIMS_MAX; dim++) {
        ret->guaranteed.at[dim] = QUOTA_UNLIMITED;
        ret->limit.at[dim] = QUOTA_UNLIMITED;
        ret->weight[dim] = QUOTA_WEIGHT_DEFAULT;
    }
    const struct quota_row *row = quota_row(core, account, pool);
    if (row_computes(row, (resource_id){RESOURCE_SLOTS})) {
        ret->guaranteed.at[DIM_SLOTS] = slots_computed(core, account, pool);
    }
    if (row != NULL) {
        terms_fill(core, row, ret);
    }
}

bool query_quota_computed(const struct core *core, account_id account, pool_id pool,
                          resource_id resource)
{
    return row_computes(quota_row(core, account, pool), resource);
}

bool query_quota_next(const struct core *core, account_id *account, pool_id *pool)
{
    uint64_t key = ACCOUNT_KEY(*pool, *account);
    do {
        key = table_next(&core->quotas, key);
        *pool = (pool_id){(uint32_t)(key >> 32)};
    } while (key != 0 && query_pool(core, *pool) == NULL);
    *account = (account_id){(uint32_t)key};
    return key != 0;
}

void query_quota_spec(const struct core *core, account_id account, pool_id pool,
                      struct arena *arena, struct quota_spec *ret)
{
    *ret = (struct quota_spec){.rank = QUOTA_RANK_DEFAULT,
                               .preempt_min_runtime_ms = QUOTA_INHERIT,
                               .reclaim_min_runtime_ms = QUOTA_INHERIT};
    const struct quota_row *row = quota_row(core, account, pool);
    if (row == NULL) {
        return;
    }
    struct quota_amount *amounts = arena_new(arena, struct quota_amount, row->term_count);
    for (uint32_t i = 0; i < row->term_count; i++) {
        const struct quota_term *term = &row->terms[i];
        amounts[i] = (struct quota_amount){.resource = query_resource_name(core, term->resource),
                                           .guaranteed = term->guaranteed,
                                           .limit = term->limit,
                                           .weight = term->weight};
    }
    ret->amounts = amounts;
    ret->amount_count = row->term_count;
    ret->rank = row->rank;
    ret->preempt_min_runtime_ms = row->preempt_min_runtime_ms;
    ret->reclaim_min_runtime_ms = row->reclaim_min_runtime_ms;
}

int64_t quota_borrowed(const struct quota *quota, const struct usage *usage, uint32_t dim)
{
    int64_t guaranteed = quota->guaranteed.at[dim];
    int64_t allocated = usage->allocated.at[dim];
    return guaranteed == QUOTA_UNLIMITED || allocated < guaranteed ? 0 : allocated - guaranteed;
}

int64_t quota_overhang(const struct quota *quota, const struct usage *usage, uint32_t dim)
{
    int64_t limit = quota->limit.at[dim];
    int64_t guaranteed = quota->guaranteed.at[dim];
    int64_t above = limit == QUOTA_UNLIMITED ? 0 : usage->allocated.at[dim] - limit;
    int64_t fixed = guaranteed == QUOTA_UNLIMITED ? 0 : usage->fixed.at[dim] - guaranteed;
    above = above > fixed ? above : fixed;
    return above > 0 ? above : 0;
}
