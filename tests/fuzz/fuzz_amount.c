/* fuzz_amount.c - amounts, names and the short texts of the command line. An accepted value is
 * within its bounds, and its text reads back as the same value.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/amount.h"
#include "base/arena.h"
#include "base/base64.h"
#include "base/must.h"
#include "base/name.h"
#include "spec/resources_text.h"
#include "wire/attempt_key.h"
#include "base/time_text.h"
#include "core/model/limits.h"

#include <string.h>

static void amounts_try(struct str text)
{
    char shown[AMOUNT_TEXT_MAX];
    int64_t value;
    int64_t back;
    struct error e = {0};
    if (amount_milli(text, &value, &e) == ERR_OK) {
        must(value >= 0);
        must(value <= AMOUNT_MILLI_MAX);
        amount_milli_text(value, shown);
        must(amount_milli(str_of(shown), &back, &e) == ERR_OK);
        must(back == value);
    }
    if (amount_bytes(text, &value, &e) == ERR_OK) {
        must(value >= 0);
        must(value <= AMOUNT_BYTES_MAX);
        amount_bytes_text(value, shown);
        must(amount_bytes(str_of(shown), &back, &e) == ERR_OK);
        must(back <= value); /* the text has one decimal place, rounded down */
    }
    if (amount_duration(text, &value, &e) == ERR_OK) {
        must(value >= 0);
        must(value <= AMOUNT_MS_MAX);
        amount_duration_text(value, shown);
        must(amount_duration(str_of(shown), &back, &e) == ERR_OK);
        must(back == value);
    }
    if (name_check(text, "it", &e) == ERR_OK) {
        must(text.len >= 1);
        must(text.len <= 63);
    }
}

static void texts_try(struct str text, struct arena *arena)
{
    struct resources_text resources;
    struct label label;
    struct error e = {0};
    uint32_t first = 0;
    uint32_t count = 0;
    if (resources_text_parse(text, TASK_RESOURCES_MAX, arena, &resources, &e) == ERR_OK) {
        must(resources.named_count <= TASK_RESOURCES_MAX);
    }
    if (resources_text_array(text, &first, &count, &e) == ERR_OK) {
        must(count >= 1);
        must(count <= TASK_INSTANCES_MAX);
    }
    if (resources_text_label(text, arena, &label, &e) == ERR_OK) {
        must(label.key[0] != '\0');
    }
    if (resources_text_env_name(text, &e) != ERR_OK) {
        must(e.text[0] != '\0');
    }
}

static void codings_try(struct str text, struct arena *arena)
{
    struct attempt_key key;
    struct str bytes;
    int64_t ms;
    if (attempt_key_parse(text, &key)) {
        char shown[ATTEMPT_KEY_TEXT_MAX];
        must(attempt_key_text(key, shown) == text.len);
        must(memcmp(shown, text.p, text.len) == 0);
    }
    if (base64_decode(arena, text, &bytes)) {
        struct buf out;
        buf_init(&out, text.len);
        base64_add(&out, bytes);
        must(str_equal((struct str){buf_text(&out), out.len}, text));
        buf_done(&out);
    }
    if (time_text_parse(text, &ms)) {
        char shown[TIME_TEXT_MAX];
        int64_t back;
        time_text(ms, shown);
        must(time_text_parse(str_of(shown), &back));
        must(back == ms);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = {(const char *)data, size};
    struct arena arena;
    arena_init(&arena);
    amounts_try(text);
    texts_try(text, &arena);
    codings_try(text, &arena);
    arena_done(&arena);
    return 0;
}
