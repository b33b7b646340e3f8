/* qarnot_fields.c - parts that the SDK's tasks and pools have in common. SPDX-License-Identifier: Apache-2.0 */
#include "compat/qarnot/qarnot_internal.h"

#include "base/doc_write.h"

#include <inttypes.h>

enum { PAGE_DEFAULT = 50, PAGE_MAX = 200, FILTERS_MAX = 64 };

bool qarnot_fields_given(const struct doc *map, const char *key)
{
    const struct doc *value = doc_get(map, key);
    return value != NULL && value->kind != DOC_NULL &&
           !((value->kind == DOC_LIST || value->kind == DOC_MAP) && value->count == 0);
}

/* Is some switch in the map on? */
static bool any_on(const struct doc *map)
{
    bool on = false;
    for (const struct doc *d = map == NULL ? NULL : map->first; d != NULL && !on; d = d->next) {
        bool value = false;
        on = (doc_bool(d, &value) && value) || ((d->kind == DOC_LIST) && d->count > 0);
    }
    return on;
}

enum err qarnot_fields_check(const struct doc *body, bool buckets, struct error *e)
{
    static const char *const refused[] = {
        "forcedConstants",         "forcedNetworkRules",         "projectUuid",
        "targetedReservationName", "targetedReservedMachineKey", "maxTimeQueueSeconds",
        "preparationTask"};
    if (body->kind != DOC_MAP) {
        return fail(e, ERR_INVALID, "an object is wanted");
    }
    if (doc_write_depth(body) > QARNOT_DEPTH_MAX) {
        return fail(e, ERR_LIMIT, "the body is nested deeper than %d", QARNOT_DEPTH_MAX);
    }
    if (qarnot_types_check(body, e) != ERR_OK) {
        return e->code;
    }
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        if (qarnot_fields_given(body, refused[i])) {
            return fail_at(e, ERR_INVALID, refused[i], "Weir does not support this setting");
        }
    }
    if (any_on(doc_get(body, "privileges"))) {
        return fail_at(e, ERR_INVALID, "privileges",
                       "Weir gives no credentials to tasks; leave the privileges out");
    }
    if (any_on(doc_get(body, "secretsAccessRights"))) {
        return fail_at(e, ERR_INVALID, "secretsAccessRights", "Weir keeps no secrets for tasks");
    }
    if (!buckets && (qarnot_buckets_in(body) || qarnot_buckets_out(body))) {
        return fail_at(e, ERR_INVALID, "buckets",
                       "bucket storage is not available: the server's file names no "
                       "compat.qarnot.storage and compat.qarnot.storage_credentials");
    }
    if (qarnot_buckets_check(body, e) != ERR_OK) {
        return e->code;
    }
    bool auto_delete = false;
    if (doc_bool(doc_get(body, "autoDeleteOnCompletion"), &auto_delete) && auto_delete) {
        return fail_at(e, ERR_INVALID, "autoDeleteOnCompletion",
                       "Weir deletes nothing by itself before the server's retention ends");
    }
    const char *type = "";
    if (doc_text(doc_get(body, "schedulingType"), &type) && strcasecmp(type, "Reserved") == 0) {
        return fail_at(e, ERR_INVALID, "schedulingType", "Weir has no reservations");
    }
    return ERR_OK;
}

enum err qarnot_fields_keep(const struct doc *body, const struct qarnot_extra *extra,
                            struct arena *arena, const char **ret, struct error *e)
{
    struct buf out;
    struct json_out j;
    buf_init(&out, QARNOT_BODY_MAX);
    json_out_init(&j, &out);
    json_out_object(&j);
    for (const struct doc *d = body->first; d != NULL; d = d->next) {
        if (!str_is(d->key, QARNOT_EXTRA)) {
            json_out_key_str(&j, d->key);
            doc_write(&j, d);
        }
    }
    if (extra != NULL) {
        qarnot_extra_write(&j, extra);
    }
    json_out_end(&j);
    const bool full = out.full;
    *ret = arena_str(arena, buf_text(&out));
    buf_done(&out);
    return full ? fail(e, ERR_LIMIT, "the settings are longer than %d bytes", QARNOT_BODY_MAX)
                : ERR_OK;
}

const struct doc *qarnot_fields_kept(struct arena *arena, const char *annotation)
{
    static const struct doc empty = {.kind = DOC_MAP};
    struct doc *doc;
    struct error e;
    const bool well = annotation != NULL && annotation[0] == '{' &&
                      doc_json_parse(arena, str_of(annotation), &doc, &e) == ERR_OK;
    return well && doc->kind == DOC_MAP && doc_write_depth(doc) <= QARNOT_DEPTH_MAX ? doc : &empty;
}

static bool listed(const char *const *names, struct str name)
{
    for (; *names != NULL; names++) {
        if (str_is(name, *names)) {
            return true;
        }
    }
    return false;
}

void qarnot_fields_echo(struct json_out *j, const struct doc *kept, const char *const *computed)
{
    for (const struct doc *d = kept->first; d != NULL; d = d->next) {
        if (d->kind != DOC_NULL && !str_is(d->key, QARNOT_EXTRA) && !listed(computed, d->key)) {
            json_out_key_str(j, d->key);
            doc_write(j, d);
        }
    }
}

/* A scalar as text; a text that was given stays the same pointer. */
static const char *scalar_text(const struct doc *value)
{
    if (value != NULL && value->kind == DOC_BOOL) {
        return value->yes ? "true" : "false";
    }
    return value != NULL && (value->kind == DOC_STRING || value->kind == DOC_NUMBER) ? value->text.p
                                                                                     : NULL;
}

const char *qarnot_fields_constant(const struct doc *body, const char *name)
{
    const struct doc *constants = doc_get(body, "constants");
    const char *found = NULL;
    for (const struct doc *d = constants == NULL ? NULL : constants->first; d != NULL;
         d = d->next) {
        const char *key = "";
        if (d->kind == DOC_MAP && doc_text(doc_get(d, "key"), &key) && strcmp(key, name) == 0) {
            found = scalar_text(doc_get(d, "value"));
        }
    }
    return found;
}

enum err qarnot_fields_hardware(const struct doc *body, struct qarnot_hardware *ret,
                                struct error *e)
{
    const struct doc *list = doc_get(body, "hardwareConstraints");
    *ret = (struct qarnot_hardware){0};
    for (const struct doc *d = list == NULL ? NULL : list->first; d != NULL; d = d->next) {
        const char *kind = "";
        (void)doc_text(d->kind == DOC_MAP ? doc_get(d, "discriminator") : NULL, &kind);
        bool well = true;
        if (strcmp(kind, "MinimumCoreHardwareConstraint") == 0) {
            well = doc_u64(doc_get(d, "coreCount"), &ret->cores);
        } else if (strcmp(kind, "MinimumRamHardwareConstraint") == 0) {
            const struct doc *mb = doc_get(d, "minimumMemoryMB");
            /* The SDK writes a whole number as 4000 or as 4000.0. */
            struct str whole = mb == NULL ? str_of("") : mb->text;
            well = str_to_u64(str_cut(whole, '.', &(struct str){NULL, 0}), &ret->memory_mb);
        } else if (strcmp(kind, "GpuHardwareConstraint") == 0) {
            ret->gpu = true;
        } else if (strcmp(kind, "NoGpuHardwareConstraint") != 0) {
            return fail_at(e, ERR_INVALID, "hardwareConstraints",
                           "Weir does not support the hardware constraint %.60s", kind);
        }
        if (!well) {
            return fail_at(e, ERR_INVALID, "hardwareConstraints", "%.60s needs a whole number",
                           kind);
        }
    }
    return ERR_OK;
}

/* ---- lists ---- */

static bool tag_filter(const struct doc *filter)
{
    const char *operator= "";
    const char *field = "";
    const char *value;
    return filter->kind == DOC_MAP && doc_text(doc_get(filter, "operator"), &operator) &&
           strcmp(operator, "Equal") == 0 && doc_text(doc_get(filter, "field"), &field) &&
           strcasecmp(field, "Tags") == 0 && doc_text(doc_get(filter, "value"), &value);
}

/* The filters in "And" or "Or"; NULL: it is neither. */
static const struct doc *filters_in(const struct doc *filter, bool *ret_all)
{
    const char *operator= "";
    const struct doc *filters = filter->kind == DOC_MAP ? doc_get(filter, "filters") : NULL;
    if (filters == NULL || filters->kind != DOC_LIST ||
        !doc_text(doc_get(filter, "operator"), &operator)) {
        return NULL;
    }
    *ret_all = strcmp(operator, "And") == 0;
    return *ret_all || strcmp(operator, "Or") == 0 ? filters : NULL;
}

static enum err filter_check(const struct doc *filter, struct error *e)
{
    bool all;
    if (filter == NULL || filter->kind == DOC_NULL || tag_filter(filter)) {
        return ERR_OK;
    }
    const struct doc *filters = filters_in(filter, &all);
    bool well = filters != NULL && filters->count <= FILTERS_MAX;
    for (const struct doc *d = well ? filters->first : NULL; d != NULL && well; d = d->next) {
        well = tag_filter(d);
    }
    return well ? ERR_OK
                : fail_at(e, ERR_INVALID, "filter",
                          "Weir filters by tags: Equal, or And and Or of Equal");
}

static bool has_tag(const struct doc *tags, const struct doc *filter)
{
    const char *want = "";
    (void)doc_text(doc_get(filter, "value"), &want);
    for (const struct doc *d = tags == NULL ? NULL : tags->first; d != NULL; d = d->next) {
        if (d->kind == DOC_STRING && str_is(d->text, want)) {
            return true;
        }
    }
    return false;
}

bool qarnot_fields_filter_matches(const struct doc *filter, const struct doc *tags)
{
    bool all;
    if (filter == NULL || filter->kind == DOC_NULL) {
        return true;
    }
    const struct doc *filters = filters_in(filter, &all);
    if (filters == NULL) {
        return has_tag(tags, filter);
    }
    for (const struct doc *d = filters->first; d != NULL; d = d->next) {
        if (has_tag(tags, d) != all) {
            return !all;
        }
    }
    return all;
}

enum err qarnot_fields_page(const struct doc *body, uint64_t *ret_after, size_t *ret_limit,
                            struct error *e)
{
    const struct doc *given = doc_get(body, "token");
    const char *token = "0";
    uint64_t limit;
    if (body->kind != DOC_MAP) {
        return fail(e, ERR_INVALID, "an object is wanted");
    }
    if (qarnot_fields_given(body, "token") && !doc_text(given, &token)) {
        return fail_at(e, ERR_INVALID, "token", "a text is wanted");
    }
    if (!str_to_u64(str_of(token), ret_after)) {
        return fail_at(e, ERR_INVALID, "token", "'%.40s' is no token of this list", token);
    }
    enum err r = qarnot_types_number(body, "maximumResults", PAGE_DEFAULT, &limit, e);
    *ret_limit = limit < 1 ? 1 : limit > PAGE_MAX ? PAGE_MAX : (size_t)limit;
    return r == ERR_OK ? filter_check(doc_get(body, "filter"), e) : r;
}

const char *qarnot_fields_full(struct arena *arena, const struct facts *facts, const char *what)
{
    const struct reason *refusal = &facts->refusal;
    return refusal->code != REASON_LIMIT || strncmp(refusal->text, what, strlen(what)) != 0
               ? NULL
               : arena_fmt(arena,
                           "maximum number of %s reached: the server takes at most %" PRId64 " %s",
                           what, refusal->available, refusal->text);
}

const char *qarnot_fields_words(struct arena *arena, const char *where, const char *message)
{
    const size_t len = strlen(where);
    const bool said = strncmp(message, where, len) == 0 && (len == 0 || message[len] == ':');
    return said ? arena_str(arena, message) : arena_fmt(arena, "%s: %s", where, message);
}

void qarnot_fields_timespan(int64_t ms, char *ret)
{
    const int64_t s = ms < 0 ? 0 : ms / 1000;
    const int64_t day = (int64_t)24 * 3600;
    (void)snprintf(ret, QARNOT_TIMESPAN_MAX, "%" PRId64 ".%02d:%02d:%02d", s / day,
                   (int)(s % day / 3600), (int)(s % 3600 / 60), (int)(s % 60));
}
