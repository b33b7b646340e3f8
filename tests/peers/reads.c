/* reads.c - see reads.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "reads.h"

#include "base/map.h"

#include <stdio.h>
#include <string.h>

enum { PATH_MAX_BYTES = 160 };

static struct map *noted;

static bool was_read(const struct doc *doc)
{
    return noted != NULL && map_get(noted, &doc, sizeof doc) != NULL;
}

void reads_note(const struct doc *doc)
{
    static char yes;
    if (noted == NULL) {
        noted = map_new();
    }
    (void)map_put(noted, &doc, sizeof doc, &yes);
}

static bool is_scalar(const struct doc *doc)
{
    return doc->kind == DOC_BOOL || doc->kind == DOC_NUMBER || doc->kind == DOC_STRING;
}

const struct doc *reads_get(const struct doc *map, const char *key)
{
    const struct doc *doc = doc_get(map, key);
    if (doc != NULL && !is_scalar(doc)) {
        reads_note(doc);
    }
    return doc;
}

static bool noted_if(bool read, const struct doc *doc)
{
    if (read) {
        reads_note(doc);
    }
    return read;
}

bool reads_text(const struct doc *doc, const char **ret)
{
    return noted_if(doc_text(doc, ret), doc);
}

bool reads_u64(const struct doc *doc, uint64_t *ret)
{
    return noted_if(doc_u64(doc, ret), doc);
}

bool reads_i64(const struct doc *doc, int64_t *ret)
{
    return noted_if(doc_i64(doc, ret), doc);
}

bool reads_bool(const struct doc *doc, bool *ret)
{
    return noted_if(doc_bool(doc, ret), doc);
}

/* The recursion here and below is as deep as a document may be (DOC_DEPTH_MAX). */
static void note_below(const struct doc *doc)
{
    reads_note(doc);
    for (const struct doc *child = doc->first; child != NULL; child = child->next) {
        note_below(child);
    }
}

void reads_ignore(const struct doc *map, const char *key)
{
    const struct doc *doc = doc_get(map, key);
    if (doc != NULL) {
        note_below(doc);
    }
}

int reads_word(struct trial *trial, const struct doc *map, const char *key, const char *words)
{
    const struct doc *doc = doc_get(map, key);
    const char *found = "";
    if (doc == NULL) {
        return 0;
    }
    (void)reads_text(doc, &found);
    int index = 0;
    for (const char *word = words; word[0] != '\0'; index++) {
        const size_t len = strcspn(word, "|");
        if (strlen(found) == len && memcmp(found, word, len) == 0) {
            return index;
        }
        word += len + (word[len] == '|');
    }
    (void)trial_failed(trial, "'%s' is '%s': the runner knows %s", key, found, words);
    return -1;
}

/* Finds the first value below `doc` that has a key and was not read. `path` gets its keys. */
static bool find_unread(const struct doc *doc, char *path, size_t len)
{
    for (const struct doc *child = doc->first; child != NULL; child = child->next) {
        size_t end = len;
        if (doc->kind == DOC_MAP) {
            const int added = snprintf(path + len, PATH_MAX_BYTES - len, "%s%s", len > 0 ? "." : "",
                                       child->key.p);
            end = added < 0 || len + (size_t)added >= PATH_MAX_BYTES ? PATH_MAX_BYTES - 1
                                                                     : len + (size_t)added;
        }
        if ((doc->kind == DOC_MAP && !was_read(child)) || find_unread(child, path, end)) {
            return true;
        }
    }
    return false;
}

bool reads_all(struct trial *trial)
{
    char path[PATH_MAX_BYTES] = "";
    const bool shared = trial->group != NULL && trial->group->kind == DOC_MAP;
    bool unread = find_unread(trial->test, path, 0);
    if (!unread && shared) {
        reads_ignore(trial->group, "cases");
        unread = find_unread(trial->group, path, 0);
    }
    if (unread) {
        (void)trial_failed(trial, "the runner does not read '%s'", path);
        return false;
    }
    return true;
}
