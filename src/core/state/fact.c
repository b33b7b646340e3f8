/* fact.c - lists of facts, and facts as bytes: a head, then the body of the type (fact_bodies.c).
 *
 *   type  version  time_ms  actor  cause  body…           docs/dev/formats/facts.md
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/state/fact.h"

#include "core/model/codec.h"
#include "core/model/limits.h"
#include "core/state/fact_internal.h"

#include <string.h>

bool fact_type_known(uint64_t number)
{
    return number <= FACT_TYPE_MAX && fact_bodies[number].name != NULL;
}

const char *fact_type_name(enum fact_type type)
{
    must(fact_type_known((uint64_t)type));
    return fact_bodies[type].name;
}

const struct record_table *fact_table(enum fact_type type)
{
    must(fact_type_known((uint64_t)type));
    return &fact_bodies[type].table;
}

void fact_list_init(struct facts *facts, struct arena *arena)
{
    *facts = (struct facts){.arena = arena};
}

/* A text of the input; a text that is too long for a fact is cut. */
static const char *text_fit(struct facts *facts, const char *text, size_t max)
{
    if (text == NULL) {
        return "";
    }
    return strlen(text) <= max ? text : arena_strn(facts->arena, text, max);
}

struct fact *fact_list_add(struct facts *facts, const struct input *in, enum fact_type type)
{
    if (facts->count == facts->room) {
        /* The arena cannot free the old array, so each doubling leaves one behind. */
        size_t room = facts->room > 0 ? facts->room * 2 : 4;
        struct fact *at = arena_new(facts->arena, struct fact, room);
        if (facts->count > 0) {
            memcpy(at, facts->at, facts->count * sizeof *at);
        }
        facts->at = at;
        facts->room = room;
    }
    struct fact *fact = &facts->at[facts->count++];
    *fact = (struct fact){.type = type,
                          .version = fact_bodies[type].newest,
                          .time_ms = in->now_ms,
                          .actor = text_fit(facts, in->actor, ACTOR_LEN_MAX),
                          .cause = text_fit(facts, in->cause, TEXT_LEN_MAX)};
    return fact;
}

void fact_encode(const struct fact *fact, struct buf *out)
{
    const struct record_table *table = fact_table(fact->type);
    bytes_put_u64(out, fact->type);
    bytes_put_u64(out, fact_bodies[fact->type].newest);
    bytes_put_i64(out, fact->time_ms);
    bytes_put_text(out, fact->actor);
    bytes_put_text(out, fact->cause);
    record_write(table, fact, out);
}

enum err fact_decode(struct str bytes, struct arena *arena, struct fact *ret, struct error *e)
{
    struct bytes_reader in;
    bytes_reader_init(&in, bytes.p, bytes.len);
    struct fact fact = {0};
    uint64_t type = bytes_get_u64(&in);
    uint64_t version = bytes_get_u64(&in);
    if (in.bad || !fact_type_known(type)) {
        return fail(
            e, ERR_CORRUPT,
            "fact: type %llu is not known here, only up to %d; perhaps written by a newer Weir",
            (unsigned long long)type, FACT_TYPE_MAX);
    }
    fact.type = (enum fact_type)type;
    uint32_t newest = fact_bodies[type].newest;
    if (version == 0 || version > newest) {
        return fail(e, ERR_CORRUPT,
                    "fact '%s': version %llu is not known here, only 1 to %u; perhaps written by a "
                    "newer Weir",
                    fact_type_name(fact.type), (unsigned long long)version, newest);
    }
    fact.version = (uint32_t)version;
    fact.time_ms = codec_get_range(&in, 0, TIME_MS_MAX);
    fact.actor = bytes_get_text(&in, arena, ACTOR_LEN_MAX);
    fact.cause = bytes_get_text(&in, arena, TEXT_LEN_MAX);
    if (in.bad) {
        return fail(e, ERR_CORRUPT, "fact '%s': time, actor or cause", fact_type_name(fact.type));
    }
    in.plain = version < fact_bodies[type].tags_from;
    record_read(&fact_bodies[type].table,
                &(struct record_source){.in = &in, .arena = arena, .version = version}, &fact);
    if (!bytes_reader_ok(&in)) {
        return fail(e, ERR_CORRUPT, "fact '%s': body is %s", fact_type_name(fact.type),
                    in.bad ? "cut off or out of range" : "followed by more");
    }
    *ret = fact;
    return ERR_OK;
}
