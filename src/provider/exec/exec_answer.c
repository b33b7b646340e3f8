/* exec_answer.c - see exec_answer.h. An answer with one bad field is refused whole: half of a list would look like a list
 * from which machines are missing.
 * SPDX-License-Identifier: Apache-2.0 */
#include "provider/exec/exec_answer.h"

#include "base/doc.h"
#include "core/model/limits.h"

#include <string.h>

static const char *const state_names[EXEC_STATE_COUNT] = {
    [EXEC_STARTING] = "starting", [EXEC_RUNNING] = "running", [EXEC_ENDING] = "ending",
    [EXEC_FAILED] = "failed",     [EXEC_GONE] = "gone",
};

static bool state_of(struct str word, enum exec_state *ret)
{
    for (unsigned i = 0; i < EXEC_STATE_COUNT; i++) {
        if (str_is(word, state_names[i])) {
            *ret = (enum exec_state)i;
            return true;
        }
    }
    return false;
}

/* A text of at most `max` bytes without control characters. */
static enum err text_read(const struct doc *field, size_t max, const char **ret, struct error *e)
{
    if (!doc_text(field, ret)) {
        return fail(e, ERR_INVALID, "'%s' must be a text", field->key.p);
    }
    if (field->text.len > max) {
        return fail(e, ERR_LIMIT, "'%s' has %zu bytes, and %zu would do", field->key.p,
                    field->text.len, max);
    }
    for (size_t i = 0; i < field->text.len; i++) {
        if ((unsigned char)field->text.p[i] < 0x20 || field->text.p[i] == 0x7f) {
            return fail(e, ERR_INVALID, "'%s' has a control character", field->key.p);
        }
    }
    return ERR_OK;
}

static enum err state_read(const struct doc *field, enum exec_state *ret, struct error *e)
{
    if (field->kind != DOC_STRING || !state_of(field->text, ret)) {
        return fail(e, ERR_INVALID, "'state' must be starting, running, ending, failed or gone");
    }
    return ERR_OK;
}

static enum err machine_read(const struct doc *doc, bool keyed, struct exec_machine *ret,
                             struct error *e)
{
    if (doc->kind != DOC_MAP) {
        return fail(e, ERR_INVALID, "an object is wanted");
    }
    struct exec_machine machine = {.key = "", .name = "", .words = ""};
    bool stated = false;
    enum err r = ERR_OK;
    for (const struct doc *field = doc->first; field != NULL && r == ERR_OK; field = field->next) {
        if (str_is(field->key, "state")) {
            r = state_read(field, &machine.state, e);
            stated = true;
        } else if (str_is(field->key, "name")) {
            r = text_read(field, TEXT_LEN_MAX, &machine.name, e);
        } else if (str_is(field->key, "words")) {
            r = text_read(field, TEXT_LEN_MAX, &machine.words, e);
        } else if (keyed && str_is(field->key, "key")) {
            r = text_read(field, TEXT_LEN_MAX, &machine.key, e);
        } else {
            r = fail(e, ERR_INVALID, "'%.*s' is no field", str_shown(field->key), field->key.p);
        }
    }
    if (r == ERR_OK && !stated) {
        r = fail(e, ERR_INVALID, "'state' is missing");
    }
    if (r == ERR_OK && keyed && machine.key[0] == '\0') {
        r = fail(e, ERR_INVALID, "'key' is missing");
    }
    if (r == ERR_OK) {
        *ret = machine;
    }
    return r;
}

static enum err document_read(struct str text, struct arena *arena, struct doc **ret,
                              struct error *e)
{
    if (str_trim(text).len == 0) {
        return fail(e, ERR_INVALID, "the program printed nothing");
    }
    return doc_json_parse(arena, text, ret, e) == ERR_OK
               ? ERR_OK
               : fail_in(e, "the program's answer is no JSON");
}

enum err exec_answer_machine(struct str text, struct arena *arena, struct exec_machine *ret,
                             struct error *e)
{
    struct doc *doc;
    enum err r = document_read(text, arena, &doc, e);
    if (r != ERR_OK) {
        return r;
    }
    return machine_read(doc, false, ret, e) == ERR_OK ? ERR_OK : fail_in(e, "the program's answer");
}

enum err exec_answer_list(struct str text, struct arena *arena, struct exec_machines *ret,
                          struct error *e)
{
    struct doc *doc;
    enum err r = document_read(text, arena, &doc, e);
    if (r != ERR_OK) {
        return r;
    }
    const struct doc *list = doc->kind == DOC_MAP ? doc_get(doc, "machines") : NULL;
    if (list == NULL || list->kind != DOC_LIST || doc->count != 1) {
        return fail(e, ERR_INVALID,
                    "the program's answer must be an object with the list 'machines' alone");
    }
    if (list->count > EXEC_MACHINES_MAX) {
        return fail(e, ERR_LIMIT, "the program lists %u machines, and %d is the most",
                    (unsigned)list->count, EXEC_MACHINES_MAX);
    }
    struct exec_machine *machines = arena_new(arena, struct exec_machine, list->count + 1);
    uint32_t count = 0;
    for (const struct doc *item = list->first; item != NULL; item = item->next) {
        if (machine_read(item, true, &machines[count], e) != ERR_OK) {
            return fail_in(e, "the program's answer: machines[%u]", (unsigned)count);
        }
        count++;
    }
    *ret = (struct exec_machines){.at = machines, .count = count};
    return ERR_OK;
}
