/* event_json.c - writes facts as events. Most of an event follows from the fields of the
 * fact's body (core/state/facts.def): each field that has a name is written under this name.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/event_json.h"

#include "wire/explain_json.h"
#include "wire/life_text.h"

#include "wire/part_json.h"
#include "wire/record_json.h"

/* How many values `place` of struct record_field has. */
enum { PLACES = 3 };
enum { RULE_TEXT_MAX = 128 };

/* Finds the row with this name; NULL: there is none. */
static const struct record_field *field_named(const struct fact *fact, const char *name)
{
    const struct record_table *table = fact_table(fact->type);
    for (uint32_t i = 0; i < table->count; i++) {
        const char *here = table->fields[i].name;
        if (here != NULL && strcmp(here, name) == 0) {
            return &table->fields[i];
        }
    }
    return NULL;
}

/* Returns the number that the fact has under this name; 0: the fact has no such row. */
static uint64_t id_named(const struct fact *fact, const char *name)
{
    const struct record_field *field = field_named(fact, name);
    return field != NULL ? (uint64_t)record_value(field, fact) : 0;
}

static task_id task_of(const struct fact *fact)
{
    const struct record_field *key = field_named(fact, "key");
    if (key != NULL) {
        return record_key(key, fact).task;
    }
    if (fact->type == FACT_RESERVED) { /* the event is about the newest reservation */
        const uint32_t count = fact->reserved.count;
        return count > 0 ? fact->reserved.at[count - 1].task : (task_id){0};
    }
    return fact->type == FACT_TASK_EDITED ? fact->task_edited.task
                                          : (task_id){id_named(fact, "task")};
}

struct event_json_subject event_json_subject(const struct core *core, const struct fact *fact)
{
    struct event_json_subject subject = {
        .task = task_of(fact),
        .pool = {(uint32_t)id_named(fact, "pool")},
        .node = {(uint32_t)id_named(fact, "node")},
    };
    if (fact->type == FACT_TASK_EDITED) {
        subject.pool = fact->task_edited.pool;
    }
    const struct task *task = subject.task.v != 0 ? query_task(core, subject.task) : NULL;
    const struct node *node = subject.node.v != 0 ? query_node(core, subject.node) : NULL;
    if (subject.pool.v == 0 && task != NULL) {
        subject.pool = task->pool;
    } else if (subject.pool.v == 0 && node != NULL) {
        subject.pool = node->pool;
    }
    return subject;
}

static bool is_named(const struct record_field *field, const char *name)
{
    return strcmp(field->name, name) == 0;
}

/* Writes the rows that have a name. Task, pool and node are already written. */
static void fields_json(struct json_out *j, const struct core *core, const struct fact *fact)
{
    const struct record_table *table = fact_table(fact->type);
    for (uint32_t place = 0; place < PLACES; place++) {
        for (uint32_t i = 0; i < table->count; i++) {
            const struct record_field *field = &table->fields[i];
            if (field->name == NULL || field->place != place || is_named(field, "task") ||
                is_named(field, "pool") || is_named(field, "node")) {
                continue;
            }
            if (is_named(field, "account")) {
                part_json_account(j, core, (account_id){(uint32_t)record_value(field, fact)});
            } else {
                record_json_put_field(j, field, fact);
            }
        }
    }
}

static void submitted_json(struct json_out *j, const struct core *core, const struct fact *fact)
{
    const struct task_spec *spec = fact->task_submitted.spec;
    json_out_put(j, "name:%s,user:%s,project:%s,kind:%s,priority:%u,instances:%u", spec->name,
                 spec->user, spec->project, names_task_kind(spec->kind), spec->priority,
                 spec->instances);
    part_json_request(j, core, fact->task_submitted.request);
}

/* What the quota says from now on; `row` NULL: the defaults. A resource that is not named has its defaults again. */
static void quota_json(struct json_out *j, const struct core *core, const struct quota_row *row)
{
    json_out_key(j, "resources");
    json_out_object(j);
    for (uint32_t i = 0; row != NULL && i < row->term_count; i++) {
        const struct quota_term *term = &row->terms[i];
        const resource_id resource = term->resource;
        json_out_key(j, query_resource_name(core, resource));
        json_out_object(j);
        if (term->guaranteed != QUOTA_UNSET) {
            part_json_bound(j, "guaranteed", resource, term->guaranteed);
        }
        part_json_bound(j, "limit", resource, term->limit);
        json_out_kv_milli(j, "weight", term->weight);
        json_out_end(j);
    }
    json_out_end(j);
}

static void node_edit_json(struct json_out *j, const struct node_edit *edit)
{
    if ((edit->fields & NODE_EDIT_DRAIN) != 0) {
        json_out_kv_bool(j, "draining", edit->drain);
    }
    if ((edit->fields & NODE_EDIT_LABELS) != 0) {
        part_json_labels(j, "labels", edit->labels, edit->label_count);
    }
}

/* Writes whose rule it is: "project nlp", "pool v100"; null after the account was deleted. */
static void idle_rule_json(struct json_out *j, const struct core *core, const struct fact *fact)
{
    const account_id id = fact->task_idle.account;
    const struct account *account = query_account(core, id);
    struct buf text;
    buf_init(&text, RULE_TEXT_MAX);
    if (account != NULL) {
        buf_addf(&text, "%s %s", names_account_kind(account->kind), query_account_name(core, id));
    } else if (id.v == 0 && fact->task_idle.pool.v != 0) {
        buf_addf(&text, "pool %s", query_pool_name(core, fact->task_idle.pool));
    }
    json_out_kv_text(j, "rule", text.len > 0 ? buf_text(&text) : NULL);
    buf_done(&text);
}

/* Writes what no single row of the fact says. */
static void more_json(struct json_out *j, const struct core *core, const struct fact *fact)
{
    if (fact->type == FACT_TASK_SUBMITTED) {
        submitted_json(j, core, fact);
    } else if (fact->type == FACT_EVICTED) {
        explain_json_eviction(j, core, &fact->evicted.why);
    } else if (fact->type == FACT_QUOTA_SET) {
        quota_json(j, core, fact->quota_set.row);
    } else if (fact->type == FACT_NODE_EDITED) {
        node_edit_json(j, &fact->node_edited.edit);
    } else if (fact->type == FACT_ATTEMPT_STARTED) {
        json_out_kv_bool(j, "workdir_used", !fact->attempt_started.workdir_missed);
    } else if (fact->type == FACT_TASK_MOVED) {
        json_out_kv_u64(j, fact->task_moved.behind ? "behind" : "ahead_of",
                        fact->task_moved.other.v);
    } else if (fact->type == FACT_ACCOUNT_SET) {
        json_out_kv_text(j, names_account_kind(fact->account_set.spec->kind),
                         fact->account_set.spec->name);
    } else if (fact->type == FACT_FLAVOR_SET) {
        json_out_kv_text(j, "flavor", fact->flavor_set.spec->name);
    } else if (fact->type == FACT_FLAVOR_DELETED) {
        json_out_kv_text(j, "flavor", query_flavor_name(core, fact->flavor_deleted.flavor));
    } else if (fact->type == FACT_NETWORK_SET) {
        json_out_kv_text(j, "network", fact->network_set.spec->name);
    } else if (fact->type == FACT_NETWORK_DELETED) {
        json_out_kv_text(j, "network", query_network_name(core, fact->network_deleted.network));
    } else if (fact->type == FACT_TASK_IDLE) {
        idle_rule_json(j, core, fact);
    } else if (fact->type == FACT_RESERVED) {
        part_json_reservations(j, fact->reserved.at, fact->reserved.count);
    } else {
        life_text_event(j, core, fact);
    }
}

void event_json(struct json_out *j, const struct core *core, uint64_t seq, const struct fact *fact)
{
    struct event_json_subject subject = event_json_subject(core, fact);
    json_out_put(j, "{seq:%lu,time:%td,type:%s,actor:%s,cause:%s", seq, fact->time_ms,
                 fact_type_name(fact->type), fact->actor, fact->cause);
    if (subject.task.v != 0) {
        json_out_kv_u64(j, "task", subject.task.v);
    }
    /* The state may not have a pool or a node yet that the fact makes. */
    if (subject.pool.v != 0) {
        json_out_kv_text(j, "pool",
                         fact->type == FACT_POOL_SET ? fact->pool_set.spec->name
                                                     : query_pool_name(core, subject.pool));
    }
    if (subject.node.v != 0) {
        json_out_kv_text(j, "node",
                         fact->type == FACT_NODE_SET ? fact->node_set.spec->name
                                                     : query_node_name(core, subject.node));
    }
    fields_json(j, core, fact);
    more_json(j, core, fact);
    json_out_end(j);
}
