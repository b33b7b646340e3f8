/* det_config.c - cases of Determined about its master configuration: resolved values, or what is refused.
 *
 * The configuration goes to the reader of `weir config import`, and every field that the case lists is compared
 * with what the reader made of it. A case may give one provider only; it stands in a pool then.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compat/determined/det_config.h"

#include "compat/determined/det_resolve.h"
#include "reads.h"

#include <string.h>

enum { PATH_BYTES = 200 };

static bool is_provider_only(const struct doc *config)
{
    return config->count == 1 && doc_get(config, "provider") != NULL;
}

/* The configuration with one pool of this provider. */
static const struct doc *with_pool(struct arena *arena, const struct doc *provider)
{
    struct doc *config = det_resolve_empty(arena, DOC_MAP);
    struct doc *pools = det_resolve_empty(arena, DOC_LIST);
    struct doc *pool = det_resolve_empty(arena, DOC_MAP);
    det_resolve_put_text(arena, pool, "pool_name", "default");
    det_resolve_put(arena, pool, "provider", provider);
    det_resolve_put(arena, pools, NULL, pool);
    det_resolve_put(arena, config, "resource_pools", pools);
    return config;
}

static const char *words(const struct doc *doc)
{
    return doc == NULL             ? "nothing"
           : doc->kind == DOC_BOOL ? (doc->yes ? "true" : "false")
           : doc->kind == DOC_NULL ? "null"
           : doc->text.p == NULL   ? "a map or list"
                                   : doc->text.p;
}

/* Every value of `expect` must be in `got`. The recursion is as deep as a document may be. */
static bool compare(struct trial *trial, const struct doc *expect, const struct doc *got,
                    const char *path)
{
    reads_note(expect);
    const bool none = expect->kind == DOC_NULL;
    const bool inner = expect->kind == DOC_MAP || expect->kind == DOC_LIST;
    const bool same = none ? got == NULL || got->kind == DOC_NULL
                           : got != NULL && got->kind == expect->kind &&
                                 (inner || strcmp(words(got), words(expect)) == 0);
    if (!same || (expect->kind == DOC_LIST && expect->count != got->count)) {
        (void)trial_failed(trial, "%s is %s, not %s", path, words(got), words(expect));
        return false;
    }
    const struct doc *item = inner ? got->first : NULL;
    uint32_t index = 0;
    for (const struct doc *d = expect->first; inner && d != NULL; d = d->next) {
        const bool map = expect->kind == DOC_MAP;
        const char *below = map ? arena_fmt(trial->arena, "%s.%s", path, d->key.p)
                                : arena_fmt(trial->arena, "%s[%u]", path, index++);
        if (!compare(trial, d, map ? doc_get(got, d->key.p) : item, below)) {
            return false;
        }
        item = item == NULL ? NULL : item->next;
    }
    return true;
}

static bool says(const struct problems *problems, const char *text)
{
    for (uint32_t i = 0; i < problems->count; i++) {
        if (strstr(problems->at[i].text, text) != NULL) {
            return true;
        }
    }
    return false;
}

static enum outcome refused(struct trial *trial, const struct det_config *config, const char *text)
{
    const struct problems *first = config->form.count > 0 ? &config->form : &config->rules;
    return says(&config->form, text) || says(&config->rules, text)
               ? CASE_PASSED
               : trial_failed(trial, "the reader says '%s'",
                              first->count == 0 ? "" : first->at[0].text);
}

static enum outcome resolved(struct trial *trial, const struct det_config *config,
                             const struct doc *expect, bool provider_only)
{
    const struct doc *got = config->resolved;
    if (config->form.count > 0) {
        return trial_failed(trial, "the reader refuses '%s: %s'", config->form.at[0].path,
                            config->form.at[0].text);
    }
    if (provider_only) {
        got = doc_get(got, "resource_pools")->first;
    }
    if (expect != NULL && !compare(trial, expect, got, "resolved")) {
        return CASE_FAILED;
    }
    if (config->rules.count > 0 && expect == NULL) {
        return trial_failed(trial, "the reader refuses '%s'", config->rules.at[0].text);
    }
    if (config->rules.count > 0) { /* the source reads without checking */
        trial_note(trial, "the checks that follow refuse: %s", config->rules.at[0].text);
    }
    return CASE_PASSED;
}

enum outcome det_config(struct trial *trial)
{
    const struct doc *given = reads_get(trial->test, "config");
    const struct doc *expect = reads_get(trial->test, "expect");
    const struct doc *error = reads_get(expect, "error_contains");
    const bool provider_only = is_provider_only(given);
    const char *text = NULL;
    struct det_config *config = arena_new(trial->arena, struct det_config, 1);
    reads_ignore(trial->test, "config"); /* the reader knows every field, or refuses it */
    det_config_read(provider_only ? with_pool(trial->arena, doc_get(given, "provider")) : given,
                    trial->arena, config);
    return reads_text(error, &text)
               ? refused(trial, config, text)
               : resolved(trial, config, reads_get(expect, "resolved"), provider_only);
}
