/* needs.c - see needs.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "needs.h"

#include "base/must.h"

#include <string.h>

enum { NEED_MAX = 64 };

static const char *form_words(const char *form)
{
    return strcmp(form, "[{}]") == 0 ? "a list of maps"
           : form[0] == '['          ? "a list"
           : form[0] == '{'          ? "a map"
                                     : "a value";
}

static bool all_maps(const struct doc *list)
{
    for (const struct doc *item = list->first; item != NULL; item = item->next) {
        if (item->kind != DOC_MAP) {
            return false;
        }
    }
    return true;
}

static bool has_form(const struct doc *value, const char *form)
{
    if (form[0] == '[') {
        return value->kind == DOC_LIST && (form[1] != '{' || all_maps(value));
    }
    return form[0] != '{' || value->kind == DOC_MAP;
}

/* Returns the first value that exists, of names between bars. */
static const struct doc *value_of(const struct doc *map, char *names)
{
    char *rest = NULL;
    for (char *name = strtok_r(names, "|", &rest); name != NULL;
         name = strtok_r(NULL, "|", &rest)) {
        const struct doc *value = doc_get(map, name);
        if (value != NULL && value->kind != DOC_NULL) {
            return value;
        }
    }
    return NULL;
}

static bool need_met(struct trial *trial, const char *text, size_t len)
{
    char need[NEED_MAX];
    char names[NEED_MAX];
    must(len < sizeof need);
    memcpy(need, text, len);
    need[len] = '\0';
    const size_t name_len = strcspn(need, "[{");
    memcpy(names, need, name_len);
    names[name_len] = '\0';
    const char *form = need + name_len;
    const struct doc *value = value_of(trial->test, names);
    if (value == NULL) {
        (void)trial_failed(trial, "the case has no '%.*s': %s is wanted", (int)name_len, need,
                           form_words(form));
        return false;
    }
    if (!has_form(value, form)) {
        (void)trial_failed(trial, "'%.*s': %s is wanted", (int)name_len, need, form_words(form));
        return false;
    }
    return true;
}

bool needs_met(struct trial *trial, const char *needs)
{
    if (trial->test->kind != DOC_MAP) {
        (void)trial_failed(trial, "a case is a map of fields");
        return false;
    }
    for (const char *at = needs; at[0] != '\0';) {
        const size_t len = strcspn(at, " ");
        if (!need_met(trial, at, len)) {
            return false;
        }
        at += len + strspn(at + len, " ");
    }
    return true;
}
