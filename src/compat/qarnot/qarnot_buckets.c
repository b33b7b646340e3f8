/* qarnot_buckets.c - which buckets a task or pool of the SDK names. SPDX-License-Identifier: Apache-2.0 */
#include "api/api_internal.h"
#include "compat/qarnot/qarnot_internal.h"

#include <ctype.h>
#include <regex.h>

enum { BUCKETS_MAX = 32, PREFIX_MAX = 1024, PATTERN_MAX = 1024, BUCKET_NAME_MAX = 63 };

const char *qarnot_buckets_text(const struct doc *map, const char *key)
{
    const char *text = "";
    (void)doc_text(map == NULL || map->kind != DOC_MAP ? NULL : doc_get(map, key), &text);
    return text;
}

bool qarnot_buckets_on(const struct call *call)
{
    const struct api_options *o = &call->api->o;
    return o->qarnot.storage != NULL && *o->qarnot.storage != '\0' && o->qarnot.keys != NULL &&
           *o->qarnot.keys != '\0';
}

bool qarnot_buckets_name_ok(const char *name)
{
    const size_t len = strlen(name);
    for (size_t i = 0; i < len; i++) {
        if (!isalnum((unsigned char)name[i]) && strchr("-._", name[i]) == NULL) {
            return false;
        }
    }
    return len > 0 && len <= BUCKET_NAME_MAX && name[0] != '.';
}

/* ---- one resource ---- */

struct resource {
    const char *bucket;
    const char *prefix; /* of the objects that are wanted */
    const char *strip;  /* what is cut off their keys */
};

/* The prefix in {NAME: {"prefix": "…"}}. False: the map has something else. */
static bool prefix_read(const struct doc *map, const char *name, const char **ret)
{
    *ret = "";
    for (const struct doc *d = map == NULL || map->kind != DOC_MAP ? NULL : map->first; d != NULL;
         d = d->next) {
        if (d->kind == DOC_NULL) {
            continue;
        }
        if (!str_is(d->key, name) || d->kind != DOC_MAP) {
            return false;
        }
        *ret = qarnot_buckets_text(d, "prefix");
    }
    return strlen(*ret) <= PREFIX_MAX;
}

/* A resource is a bucket's name, or a map with filters. */
static enum err resource_read(const struct doc *doc, struct resource *ret, struct error *e)
{
    *ret = (struct resource){.bucket = "", .prefix = "", .strip = ""};
    if (doc->kind != DOC_MAP) {
        (void)doc_text(doc, &ret->bucket);
    } else if (!prefix_read(doc_get(doc, "filtering"), "prefixFiltering", &ret->prefix) ||
               !prefix_read(doc_get(doc, "resourcesTransformation"), "stripPrefix", &ret->strip)) {
        return fail_at(e, ERR_INVALID, "advancedResourceBuckets",
                       "Weir knows the filter prefixFiltering and the transformation stripPrefix");
    } else {
        ret->bucket = qarnot_buckets_text(doc, "bucketName");
    }
    return qarnot_buckets_name_ok(ret->bucket)
               ? ERR_OK
               : fail_at(e, ERR_INVALID, "advancedResourceBuckets", "'%.80s' is no bucket's name",
                         ret->bucket);
}

/* The resources of a body, one after the other: both lists of it. */
static const struct doc *resource_next(const struct doc *kept, const struct doc *last)
{
    const struct doc *advanced = doc_get(kept, "advancedResourceBuckets");
    const struct doc *plain = doc_get(kept, "resourceBuckets");
    const struct doc *first[] = {advanced != NULL && advanced->kind == DOC_LIST ? advanced->first
                                                                                : NULL,
                                 plain != NULL && plain->kind == DOC_LIST ? plain->first : NULL};
    if (last == NULL) {
        return first[0] != NULL ? first[0] : first[1];
    }
    if (last->next != NULL) {
        return last->next;
    }
    for (const struct doc *d = first[1]; d != NULL; d = d->next) {
        if (d == last) {
            return NULL;
        }
    }
    return first[1];
}

bool qarnot_buckets_in(const struct doc *kept)
{
    return resource_next(kept, NULL) != NULL;
}

bool qarnot_buckets_out(const struct doc *kept)
{
    return *qarnot_buckets_text(kept, "resultBucket") != '\0';
}

/* ---- checks ---- */

/* A pattern that POSIX reads otherwise than the real service is refused, not misread. */
enum err qarnot_buckets_pattern_check(const struct doc *map, const char *key, struct error *e)
{
    regex_t regex;
    char words[128];
    const char *text = qarnot_buckets_text(map, key);
    if (strlen(text) > PATTERN_MAX) {
        return fail_at(e, ERR_LIMIT, key, "a pattern has at most %d bytes", PATTERN_MAX);
    }
    if (strstr(text, "\\d") != NULL || strstr(text, "\\D") != NULL || strstr(text, "(?") != NULL) {
        return fail_at(e, ERR_INVALID, key,
                       "Weir reads extended regular expressions of POSIX: [0-9] in place of \\d, "
                       "and no groups with (?");
    }
    const int code = *text == '\0' ? 0 : regcomp(&regex, text, REG_EXTENDED | REG_NOSUB);
    if (code != 0) {
        (void)regerror(code, &regex, words, sizeof words);
        return fail_at(e, ERR_INVALID, key, "'%.200s' is no regular expression: %s", text, words);
    }
    if (*text != '\0') {
        regfree(&regex);
    }
    return ERR_OK;
}

enum err qarnot_buckets_check(const struct doc *body, struct error *e)
{
    static const char *const patterns[] = {"resultsWhitelist", "resultsBlacklist",
                                           "snapshotWhitelist", "snapshotBlacklist"};
    enum err r = ERR_OK;
    struct resource resource;
    uint32_t count = 0;
    for (const struct doc *d = resource_next(body, NULL); d != NULL && r == ERR_OK;
         d = resource_next(body, d)) {
        r = ++count > BUCKETS_MAX ? fail_at(e, ERR_LIMIT, "advancedResourceBuckets",
                                            "at most %d buckets", BUCKETS_MAX)
                                  : resource_read(d, &resource, e);
    }
    if (r == ERR_OK && qarnot_buckets_out(body) &&
        !qarnot_buckets_name_ok(qarnot_buckets_text(body, "resultBucket"))) {
        r = fail_at(e, ERR_INVALID, "resultBucket", "'%.80s' is no bucket's name",
                    qarnot_buckets_text(body, "resultBucket"));
    }
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0] && r == ERR_OK; i++) {
        r = qarnot_buckets_pattern_check(body, patterns[i], e);
    }
    return r;
}

/* ---- for nodes ---- */

void qarnot_buckets_write(struct json_out *j, const struct doc *kept)
{
    struct resource resource;
    struct error e;
    json_out_array(j);
    for (const struct doc *d = resource_next(kept, NULL); d != NULL; d = resource_next(kept, d)) {
        if (resource_read(d, &resource, &e) == ERR_OK) {
            json_out_put(j, "{bucket:%s,prefix:%s,strip:%s}", resource.bucket, resource.prefix,
                         resource.strip);
        }
    }
    json_out_end(j);
}

bool qarnot_buckets_allow(const struct doc *kept, const char *bucket, const char *key)
{
    struct resource resource;
    struct error e;
    for (const struct doc *d = resource_next(kept, NULL); d != NULL; d = resource_next(kept, d)) {
        if (resource_read(d, &resource, &e) == ERR_OK && strcmp(resource.bucket, bucket) == 0 &&
            strncmp(key, resource.prefix, strlen(resource.prefix)) == 0) {
            return true;
        }
    }
    return false;
}
