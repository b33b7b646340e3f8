/* qarnot_types.c - are the values of a body of the kinds that the SDK sends? A value of another kind is refused with its name: left
 * alone it would be read as a default, and the program would get something else than it asked for.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compat/qarnot/qarnot_internal.h"

/* null stands for a value that was not given. */
static bool is_kind(const struct doc *value, enum doc_kind kind)
{
    return value == NULL || value->kind == DOC_NULL || value->kind == kind;
}

static enum err kinds_check(const struct doc *body, const char *const *names, enum doc_kind kind,
                            const char *words, struct error *e)
{
    for (; *names != NULL; names++) {
        if (!is_kind(doc_get(body, *names), kind)) {
            return fail_at(e, ERR_INVALID, *names, "%s is wanted", words);
        }
    }
    return ERR_OK;
}

/* A constant is {"key": text, "value": …}. Lists and maps cannot be variables of a command. */
static enum err constants_check(const struct doc *constants, struct error *e)
{
    for (const struct doc *d = constants == NULL ? NULL : constants->first; d != NULL;
         d = d->next) {
        const char *key;
        if (d->kind != DOC_MAP || !doc_text(doc_get(d, "key"), &key)) {
            return fail_at(e, ERR_INVALID, "constants", "each needs a key, which is a text");
        }
        const struct doc *value = doc_get(d, "value");
        if (value != NULL && (value->kind == DOC_LIST || value->kind == DOC_MAP)) {
            return fail_at(e, ERR_INVALID, "constants",
                           "the value of %.60s is a list or a map; a text, a number, true or "
                           "false would do",
                           key);
        }
    }
    return ERR_OK;
}

/* The one profile that there is; a task in a pool names none. */
static enum err profile_check(const struct doc *body, struct error *e)
{
    const char *profile;
    return doc_text(doc_get(body, "profile"), &profile) && strcmp(profile, QARNOT_PROFILE) != 0
               ? fail_at(e, ERR_INVALID, "profile", "no profile '%.60s'; there is " QARNOT_PROFILE,
                         profile)
               : ERR_OK;
}

enum err qarnot_types_check(const struct doc *body, struct error *e)
{
    static const char *const texts[] = {"name",
                                        "profile",
                                        "shortname",
                                        "poolUuid",
                                        "jobUuid",
                                        "advancedRanges",
                                        "resultBucket",
                                        "resultsWhitelist",
                                        "resultsBlacklist",
                                        "schedulingType",
                                        NULL};
    static const char *const lists[] = {
        "constants",       "constraints", "tags", "hardwareConstraints", "advancedResourceBuckets",
        "resourceBuckets", NULL};
    static const char *const maps[] = {"labels",
                                       "elasticProperty",
                                       "multiSlotsSettings",
                                       "scaling",
                                       "dependencies",
                                       "retrySettings",
                                       "defaultRetrySettings",
                                       "privileges",
                                       "secretsAccessRights",
                                       NULL};
    enum err r = kinds_check(body, texts, DOC_STRING, "a text", e);
    r = r == ERR_OK ? kinds_check(body, lists, DOC_LIST, "a list", e) : r;
    r = r == ERR_OK ? kinds_check(body, maps, DOC_MAP, "an object", e) : r;
    r = r == ERR_OK ? constants_check(doc_get(body, "constants"), e) : r;
    return r == ERR_OK ? profile_check(body, e) : r;
}

enum err qarnot_types_number(const struct doc *map, const char *key, uint64_t otherwise,
                             uint64_t *ret, struct error *e)
{
    const struct doc *value = map == NULL ? NULL : doc_get(map, key);
    *ret = otherwise;
    if (value == NULL || value->kind == DOC_NULL ||
        (value->kind == DOC_NUMBER && doc_u64(value, ret))) {
        return ERR_OK;
    }
    return fail_at(e, ERR_INVALID, key, "a whole number of 0 or more is wanted");
}
