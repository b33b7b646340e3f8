/* test_record.c - structs described as tables: bytes there and back, bounds, and what older versions lack.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/codec.h"
#include "core/model/record.h"
#include "core/state/fact_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

enum { BYTES_MAX = 4096, BEFORE = 7 };

struct part {
    int32_t degree;
    const char *name;
};

struct thing {
    uint8_t small;
    uint16_t port;
    uint32_t count;
    uint64_t mask;
    int64_t milli;
    int64_t at_ms;
    bool yes;
    const char *const *texts;
    uint32_t text_count;
    const struct label *labels;
    uint32_t label_count;
    const struct named_amount *amounts;
    uint32_t amount_count;
    uint8_t id[16];
    struct attempt_key key;
    struct part part;
    const struct part *parts;
    uint32_t part_count;
    uint32_t own;
    uint32_t late;
};

struct bounds {
    uint64_t pad;
    uint64_t ports;
};

static void own_put(const void *object, struct buf *out)
{
    bytes_put_u64(out, ((const struct thing *)object)->own + 1);
}

static void own_get(struct bytes_reader *in, struct arena *arena, void *object)
{
    (void)arena;
    ((struct thing *)object)->own = (uint32_t)bytes_get_max(in, 100) - 1;
}

static void own_copy(void *to, const void *from)
{
    ((struct thing *)to)->own = ((const struct thing *)from)->own;
}

static const struct record_field part_fields[] = {
    RECORD_NUMBER(RECORD_INT, struct part, degree, "degree", -90, 90),
    RECORD_NUMBER(RECORD_TEXT, struct part, name, "name", 1, 5),
};
static const struct record_table part_table = RECORD_TABLE(struct part, part_fields);

enum { SMALL, PORT, MASK = 3, TEXTS = 7, OWN = 14 };
static const struct record_field fields[] = {
    RECORD_NUMBER(RECORD_UINT, struct thing, small, "small", 2, 9),
    {.name = "port",
     .type = RECORD_UINT,
     RECORD_AT(struct thing, port),
     .high = RECORD_ANY,
     RECORD_BOUND(struct bounds, ports)},
    RECORD_NUMBER(RECORD_WORD, struct thing, count, "count", 0, RECORD_ANY),
    RECORD_NUMBER(RECORD_BITS, struct thing, mask, "mask", 0, RECORD_ANY),
    RECORD_NUMBER(RECORD_MILLI, struct thing, milli, "milli", -1, 5000),
    RECORD_NUMBER(RECORD_TIME, struct thing, at_ms, "at", 0, INT64_MAX),
    RECORD_NUMBER(RECORD_BOOL, struct thing, yes, "yes", 0, 1),
    RECORD_LIST(RECORD_TEXTS, struct thing, texts, text_count, "texts", 1, 3, 4),
    RECORD_LIST(RECORD_LABELS, struct thing, labels, label_count, "labels", 0, 3, 0),
    RECORD_LIST(RECORD_AMOUNTS, struct thing, amounts, amount_count, "amounts", 0, 3, 0),
    RECORD_NUMBER(RECORD_ID16, struct thing, id, "id", 0, 0),
    RECORD_NUMBER(RECORD_KEY, struct thing, key, "key", 0, 0),
    {.type = RECORD_PART, RECORD_AT(struct thing, part), .part = &part_table},
    {.type = RECORD_ROWS,
     RECORD_AT(struct thing, parts),
     .count_offset = offsetof(struct thing, part_count),
     .high = 3,
     .part = &part_table},
    {.type = RECORD_OWN, .put = own_put, .get = own_get, .copy = own_copy},
    {.name = "late",
     .type = RECORD_UINT,
     RECORD_AT(struct thing, late),
     .high = RECORD_ANY,
     .since = 3,
     .before = BEFORE},
};
static const struct record_table table = RECORD_TABLE(struct thing, fields);

static const char *const texts[] = {"a", "long", "longer"};
static const struct label labels[] = {{"zone", "a"}, {"rack", ""}};
static const struct named_amount amounts[] = {{"foo", 1500}};
static const struct part parts[] = {{1, "x"}, {-90, "y"}};

static struct thing thing_new(void)
{
    return (struct thing){.small = 9,
                          .port = UINT16_MAX,
                          .count = UINT32_MAX,
                          .mask = UINT64_MAX,
                          .milli = -1,
                          .at_ms = INT64_MAX,
                          .yes = true,
                          .texts = texts,
                          .text_count = 2,
                          .labels = labels,
                          .label_count = 2,
                          .amounts = amounts,
                          .amount_count = 1,
                          .id = {1, 2, 3},
                          .key = {{5}, 6, 7},
                          .part = {-5, "north"},
                          .parts = parts,
                          .part_count = 2,
                          .own = 33,
                          .late = 44};
}

struct bench {
    struct buf bytes;
    struct arena arena;
    struct bytes_reader in;
    struct record_source from;
};

/* The thing as bytes, ready to be read. */
static void bench_init(struct bench *bench, const struct thing *thing)
{
    buf_init(&bench->bytes, BYTES_MAX);
    arena_init(&bench->arena);
    record_write(&table, thing, &bench->bytes);
    bytes_reader_init(&bench->in, bench->bytes.data, bench->bytes.len);
    bench->from =
        (struct record_source){.in = &bench->in, .arena = &bench->arena, .version = UINT64_MAX};
}

static void bench_done(struct bench *bench)
{
    buf_done(&bench->bytes);
    arena_done(&bench->arena);
}

/* Is a thing that this row makes read again? */
static bool comes_back(const struct thing *thing)
{
    struct bench bench;
    struct thing ret = {0};
    bench_init(&bench, thing);
    record_read(&table, &bench.from, &ret);
    const bool ok = bytes_reader_ok(&bench.in);
    bench_done(&bench);
    return ok;
}

static void every_type_comes_back(void **state)
{
    (void)state;
    struct bench bench;
    struct thing before = thing_new();
    struct thing after = {0};
    bench_init(&bench, &before);
    record_read(&table, &bench.from, &after);
    assert_true(bytes_reader_ok(&bench.in));
    assert_string_equal(after.texts[1], "long");
    assert_string_equal(after.labels[0].key, "zone");
    assert_int_equal(after.amounts[0].milli, 1500);
    assert_string_equal(after.part.name, "north");
    assert_int_equal(after.part_count, 2);
    assert_int_equal(after.parts[1].degree, -90);
    assert_string_equal(after.parts[1].name, "y");
    assert_int_equal(after.own, 33);
    assert_int_equal(after.late, 44);
    struct buf again;
    buf_init(&again, BYTES_MAX);
    record_write(&table, &after, &again);
    assert_int_equal(again.len, bench.bytes.len);
    assert_memory_equal(again.data, bench.bytes.data, again.len);
    buf_done(&again);
    bench_done(&bench);
}

static void an_older_version_has_the_value_before(void **state)
{
    (void)state;
    struct bench bench;
    struct thing thing = thing_new();
    struct thing ret = {0};
    bench_init(&bench, &thing);
    bench.in.left--; /* the one byte of `late` */
    bench.from.version = 2;
    record_read(&table, &bench.from, &ret);
    assert_true(bytes_reader_ok(&bench.in));
    assert_int_equal(ret.late, BEFORE);
    bench_done(&bench);
}

static void values_out_of_bounds_are_bad(void **state)
{
    (void)state;
    struct thing thing = thing_new();
    assert_true(comes_back(&thing));
    thing.small = 10;
    assert_false(comes_back(&thing));
    thing.small = 1;
    assert_false(comes_back(&thing));
    thing = thing_new();
    thing.milli = 5001;
    assert_false(comes_back(&thing));
    thing = thing_new();
    thing.text_count = 0; /* one at least */
    assert_false(comes_back(&thing));
    thing.text_count = 3; /* the third is too long */
    assert_false(comes_back(&thing));
    thing = thing_new();
    thing.part.name = "";
    assert_false(comes_back(&thing));
    thing = thing_new();
    thing.part.degree = 91;
    assert_false(comes_back(&thing));
}

static void a_bound_may_come_with_the_source(void **state)
{
    (void)state;
    for (uint64_t ports = UINT16_MAX - 1; ports <= UINT16_MAX; ports++) {
        const struct bounds bounds = {.pad = 0, .ports = ports};
        struct bench bench;
        struct thing thing = thing_new();
        struct thing ret = {0};
        bench_init(&bench, &thing);
        bench.from.bounds = &bounds;
        record_read(&table, &bench.from, &ret);
        assert_int_equal(bytes_reader_ok(&bench.in), ports == UINT16_MAX);
        bench_done(&bench);
    }
}

/* A bound beyond what the member can hold must not cut the number. */
static void a_number_too_large_for_its_member_is_bad(void **state)
{
    (void)state;
    const struct bounds bounds = {.ports = UINT64_MAX};
    struct arena arena;
    struct buf bytes;
    struct bytes_reader in;
    struct thing ret = {0};
    const struct record_table one = {.fields = &fields[PORT], .count = 1, .size = sizeof ret};
    buf_init(&bytes, BYTES_MAX);
    arena_init(&arena);
    bytes_put_u64(&bytes, UINT16_MAX + 1);
    bytes_reader_init(&in, bytes.data, bytes.len);
    record_read(&one, &(struct record_source){.in = &in, .arena = &arena, .bounds = &bounds}, &ret);
    assert_true(in.bad);
    buf_done(&bytes);
    arena_done(&arena);
}

static void ports_read(const struct record_source *from, void *object)
{
    const uint64_t most = ((const struct bounds *)from->bounds)->ports;
    ((struct thing *)object)->own = (uint32_t)(bytes_get_max(from->in, most) + from->version);
}

static void an_own_form_may_ask_for_version_and_bounds(void **state)
{
    (void)state;
    static const struct record_field own = {.type = RECORD_OWN, .put = own_put, .read = ports_read};
    const struct record_table one = {.fields = &own, .count = 1, .size = sizeof(struct thing)};
    const struct bounds bounds = {.ports = 33};
    struct thing ret = {0};
    for (uint32_t value = 32; value <= 33; value++) { /* written as one more */
        struct buf bytes;
        struct bytes_reader in;
        buf_init(&bytes, BYTES_MAX);
        record_write(&one, &(struct thing){.own = value}, &bytes);
        bytes_reader_init(&in, bytes.data, bytes.len);
        record_read(&one, &(struct record_source){.in = &in, .version = 2, .bounds = &bounds},
                    &ret);
        assert_int_equal(in.bad, value == 33);
        assert_int_equal(ret.own, value == 33 ? 2 : 35);
        buf_done(&bytes);
    }
}

/* A row that came later than the newest version would never be read. */
static void no_field_is_newer_than_its_fact(void **state)
{
    (void)state;
    for (unsigned type = 1; type <= FACT_TYPE_MAX; type++) {
        const struct fact_body *body = &fact_bodies[type];
        assert_true(body->table.count > 0 || !fact_type_known(type));
        for (uint32_t i = 0; i < body->table.count; i++) {
            assert_true(body->table.fields[i].since <= body->newest);
        }
        assert_true(body->tags_from <= body->newest);
    }
}

static void limits_are_named(void **state)
{
    (void)state;
    const char *limit;
    int64_t max;
    struct thing thing = thing_new();
    assert_true(record_bounded(&fields[SMALL], &thing, &limit, &max));
    thing.small = 10;
    assert_false(record_bounded(&fields[SMALL], &thing, &limit, &max));
    assert_string_equal(limit, "small");
    assert_int_equal(max, 9);
    thing.mask = UINT64_MAX; /* bit 63 is a bit like the others */
    assert_true(record_bounded(&fields[MASK], &thing, &limit, &max));
    thing.text_count = 3;
    assert_false(record_bounded(&fields[TEXTS], &thing, &limit, &max));
    assert_int_equal(max, 4); /* bytes of one text */
}

static void a_field_is_copied(void **state)
{
    (void)state;
    const struct thing from = thing_new();
    struct thing to = {0};
    record_copy_field(&fields[TEXTS], &to, &from);
    record_copy_field(&fields[OWN], &to, &from);
    assert_ptr_equal(to.texts, texts);
    assert_int_equal(to.text_count, 2);
    assert_int_equal(to.own, 33);
    assert_int_equal(to.small, 0);
    assert_int_equal(record_value(&fields[TEXTS], &to), 2);
    assert_int_equal(record_value(&fields[SMALL], &from), 9);
    record_set(&fields[PORT], &to, 80);
    assert_int_equal(to.port, 80);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_comes_back),
        cmocka_unit_test(an_older_version_has_the_value_before),
        cmocka_unit_test(values_out_of_bounds_are_bad),
        cmocka_unit_test(a_bound_may_come_with_the_source),
        cmocka_unit_test(a_number_too_large_for_its_member_is_bad),
        cmocka_unit_test(an_own_form_may_ask_for_version_and_bounds),
        cmocka_unit_test(no_field_is_newer_than_its_fact),
        cmocka_unit_test(limits_are_named),
        cmocka_unit_test(a_field_is_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
