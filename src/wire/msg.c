/* msg.c - taking fields out of a decoded message.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/msg_internal.h"

#include "base/amount.h"
#include "base/name.h"
#include "core/model/limits.h"
#include "wire/attempt_key.h"

enum err msg_parse(struct msg *msg, struct str text, struct arena *arena, const struct doc **ret,
                   struct error *e)
{
    struct doc *doc;
    *msg = (struct msg){.arena = arena, .error = e};
    enum err r = doc_json_parse(arena, text, &doc, e);
    if (r != ERR_OK) {
        return r;
    }
    if (doc->kind != DOC_MAP) {
        return fail(e, ERR_INVALID, "one JSON object is wanted");
    }
    *ret = doc;
    return ERR_OK;
}

void msg_bad(struct msg *msg, const char *key, const char *wanted)
{
    if (!msg->bad) {
        msg->bad = true;
        (void)fail_at(msg->error, ERR_INVALID, key, "%s: %s is wanted", key, wanted);
    }
}

uint64_t msg_u64(struct msg *msg, const struct doc *map, const char *key, uint64_t max,
                 uint64_t otherwise)
{
    const struct doc *doc = doc_get(map, key);
    uint64_t value;
    if (doc == NULL) {
        return otherwise;
    }
    if (!doc_u64(doc, &value) || value > max) {
        msg_bad(msg, key, "a whole number within its range");
        return 0;
    }
    return value;
}

int64_t msg_i64(struct msg *msg, const struct doc *map, const char *key, int64_t max,
                int64_t otherwise)
{
    return (int64_t)msg_u64(msg, map, key, (uint64_t)max, (uint64_t)otherwise);
}

int64_t msg_milli(struct msg *msg, const struct doc *map, const char *key)
{
    const struct doc *doc = doc_get(map, key);
    int64_t milli = 0;
    if (doc != NULL &&
        (doc->kind != DOC_NUMBER || amount_milli(doc->text, &milli, NULL) != ERR_OK)) {
        msg_bad(msg, key, "an amount");
    }
    return milli;
}

bool msg_bool(struct msg *msg, const struct doc *map, const char *key, bool otherwise)
{
    const struct doc *doc = doc_get(map, key);
    bool value = otherwise;
    if (doc != NULL && !doc_bool(doc, &value)) {
        msg_bad(msg, key, "true or false");
    }
    return value;
}

const char *msg_text(struct msg *msg, const struct doc *map, const char *key, size_t max,
                     const char *otherwise)
{
    const struct doc *doc = doc_get(map, key);
    if (doc == NULL && otherwise != NULL) {
        return otherwise;
    }
    if (doc == NULL || doc->kind != DOC_STRING || doc->text.len > max) {
        msg_bad(msg, key, "a text within its length");
        return "";
    }
    return doc->text.p;
}

const char *msg_name(struct msg *msg, const struct doc *map, const char *key)
{
    const struct doc *doc = doc_get(map, key);
    if (doc == NULL || doc->kind != DOC_STRING || name_check(doc->text, "it", NULL) != ERR_OK) {
        msg_bad(msg, key, "a name");
        return "";
    }
    return doc->text.p;
}

struct attempt_key msg_key(struct msg *msg, const struct doc *map)
{
    const struct doc *doc = doc_get(map, "key");
    struct attempt_key key = {0};
    if (doc == NULL || doc->kind != DOC_STRING || !attempt_key_parse(doc->text, &key)) {
        msg_bad(msg, "key", "an attempt like 12.0:1");
    }
    return key;
}

const struct doc *msg_list(struct msg *msg, const struct doc *map, const char *key, uint32_t max)
{
    const struct doc *doc = doc_get(map, key);
    if (doc == NULL) {
        return NULL;
    }
    if (doc->kind != DOC_LIST || doc->count > max) {
        msg_bad(msg, key, "a list within its length");
        return NULL;
    }
    return doc->count > 0 ? doc : NULL;
}

const char *const *msg_texts(struct msg *msg, const struct doc *map, const char *key, uint32_t max,
                             uint32_t *ret_count)
{
    const struct doc *list = msg_list(msg, map, key, max);
    uint32_t count = list != NULL ? list->count : 0;
    const char **texts = arena_new(msg->arena, const char *, count + 1);
    const struct doc *item = list != NULL ? list->first : NULL;
    for (uint32_t i = 0; i < count; i++, item = item->next) {
        if (!doc_text(item, &texts[i])) {
            msg_bad(msg, key, "a list of texts");
            count = 0;
        }
    }
    *ret_count = count;
    return texts;
}

uint64_t msg_devices(struct msg *msg, const struct doc *map, const char *key)
{
    const struct doc *list = msg_list(msg, map, key, NODE_DEVICES_MAX);
    uint64_t mask = 0;
    for (const struct doc *item = list != NULL ? list->first : NULL; item != NULL;
         item = item->next) {
        uint64_t device;
        if (!doc_u64(item, &device) || device >= NODE_DEVICES_MAX) {
            msg_bad(msg, key, "a list of device indices");
            return 0;
        }
        mask |= (uint64_t)1 << device;
    }
    return mask;
}

enum err msg_result(const struct msg *msg)
{
    return msg->bad ? ERR_INVALID : ERR_OK;
}
