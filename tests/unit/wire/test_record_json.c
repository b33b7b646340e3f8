/* test_record_json.c - structs to and from JSON by their tables: bounds, defaults, parts and rows.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/record_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

struct wheel {
    uint16_t spokes;
};
struct bicycle {
    uint8_t gears;
    bool bell;
    int64_t weight_milli;
    uint64_t lights;
    int64_t built_ms;
    const char *maker;
    const char *const *riders;
    uint32_t rider_count;
    struct wheel spare;
    const struct wheel *wheels;
    uint32_t wheel_count;
};

/* clang-format off */
static const struct record_table wheel_table = RECORD_JSON_TABLE(wheel,
    RECORD_JSON_ROW(wheel, spokes, "spokes", UINT, 3, RECORD_ANY, .required = "a number of spokes"));
static const struct record_table bicycle_table = RECORD_JSON_TABLE(bicycle,
    RECORD_JSON_ROW(bicycle, gears, "gears", UINT, 1, 30, .otherwise = 1, .sparse = true),
    RECORD_JSON_ROW(bicycle, bell, "bell", BOOL, 0, 1, .otherwise = 1),
    RECORD_JSON_ROW(bicycle, weight_milli, "weight", MILLI, 500, 20000, .otherwise = 9000),
    RECORD_JSON_ROW(bicycle, lights, "lights", BITS, 0, RECORD_ANY),
    RECORD_JSON_ROW(bicycle, built_ms, "built", TIME, 0, INT64_MAX, .json = &record_json_unread),
    RECORD_JSON_ROW(bicycle, maker, "maker", TEXT, 2, 5, .required = "a maker"),
    RECORD_JSON_ROW(bicycle, riders, "riders", TEXTS, 0, 2, RECORD_JSON_COUNT(bicycle, rider_count), .length_max = 3),
    RECORD_JSON_ROW(bicycle, spare, "spare", PART, 0, 0, .part = &wheel_table),
    RECORD_JSON_ROW(bicycle, wheels, "wheels", ROWS, 0, 2, RECORD_JSON_COUNT(bicycle, wheel_count), .part = &wheel_table));
/* clang-format on */

#define SPARE "\"spare\":{\"spokes\":3}"

/* What is read of `text`, written again; or the error. */
static void assert_read(const char *text, const char *wanted)
{
    struct arena arena;
    struct buf out;
    struct error e = {0};
    struct bicycle bicycle = {.gears = 99};
    arena_init(&arena);
    buf_init(&out, 4096);
    if (record_json_decode(&bicycle_table, str_of(text), &arena, &bicycle, &e) == ERR_OK) {
        record_json_encode(&bicycle_table, &bicycle, &out);
        assert_string_equal(buf_text(&out), wanted);
    } else {
        assert_string_equal(e.text, wanted);
        assert_int_equal(bicycle.gears, 99);
    }
    buf_done(&out);
    arena_done(&arena);
}

static void values_come_back(void **state)
{
    (void)state;
    assert_read("{\"maker\":\"ab\"," SPARE "}",
                "{\"bell\":true,\"weight\":9,\"lights\":[],\"built\":null,\"maker\":\"ab\","
                "\"riders\":[]," SPARE ",\"wheels\":[]}");
    const char *full =
        "{\"gears\":30,\"bell\":false,\"weight\":0.5,\"lights\":[0,63],\"built\":null,"
        "\"maker\":\"abcde\",\"riders\":[\"x\",\"abc\"],\"spare\":{\"spokes\":65535},"
        "\"wheels\":[{\"spokes\":3},{\"spokes\":4}]}";
    assert_read(full, full);
}

static void values_out_of_bounds_are_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *field;
        const char *error;
    } cases[] = {
        {"\"gears\":0", "gears: a whole number within its range is wanted"},
        {"\"gears\":31", "gears: a whole number within its range is wanted"},
        {"\"bell\":1", "bell: true or false is wanted"},
        {"\"weight\":0.499", "weight: an amount is wanted"},
        {"\"weight\":20.001", "weight: an amount is wanted"},
        {"\"lights\":[64]", "lights: a list of device indices is wanted"},
        {"\"maker\":\"a\"", "maker: a maker is wanted"},
        {"\"maker\":\"abcdef\"", "maker: a text within its length is wanted"},
        {"\"maker\":\"ab\",\"riders\":[\"a\",\"b\",\"c\"]",
         "riders: a list within its length is wanted"},
        {"\"maker\":\"ab\",\"riders\":[\"abcd\"]", "riders: a list of texts is wanted"},
        {"\"maker\":\"ab\",\"spare\":{\"spokes\":65536}",
         "spokes: a whole number within its range is wanted"},
        {"\"maker\":\"ab\",\"spare\":7", "spokes: a number of spokes is wanted"},
        {"\"maker\":\"ab\"," SPARE ",\"wheels\":[{\"spokes\":2}]",
         "spokes: a number of spokes is wanted"},
        {"\"maker\":\"ab\"," SPARE ",\"wheels\":[{},{},{}]",
         "wheels: a list within its length is wanted"},
        {"\"bells\":7", "maker: a maker is wanted"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[256];
        (void)snprintf(text, sizeof text, "{%s}", cases[i].field);
        assert_read(text, cases[i].error);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_come_back),
        cmocka_unit_test(values_out_of_bounds_are_refused_by_name),
    };
    return cmocka_run_group_tests_name("record_json", tests, NULL, NULL);
}
