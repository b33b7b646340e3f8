/* resources_text.h - the short texts of the command line: 'foo=5 bar=1', 0-99, K=V.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "core/model/spec.h"

/* The amounts of one text: a task's request, or what a node offers. An amount that the text does
 * not name is ASK_NOTHING. */
struct resources_text {
    int64_t slots_milli;
    int64_t gpu_milli;
    int64_t cpu_milli;
    int64_t memory_bytes;
    int64_t gpu_memory_bytes;
    struct named_amount *named;
    uint32_t named_count;
};

/* Parses "foo=5 bar=1", split at blanks or commas, with at most `named_max` named resources.
 * ERR_INVALID quotes the item: its amount is missing or malformed, its name is empty or comes
 * twice. */
must_use enum err resources_text_parse(struct str text, uint32_t named_max, struct arena *arena,
                                       struct resources_text *ret, struct error *e);

/* Cuts the next item off a list split at blanks or commas; false: there are no more items. */
bool resources_text_cut(struct str *rest, struct str *ret);

/* Parses "0-99" into first 0 and count 100; "7" means 7-7. The count is at most
 * TASK_INSTANCES_MAX. */
must_use enum err resources_text_array(struct str text, uint32_t *ret_first, uint32_t *ret_count,
                                       struct error *e);

/* Checks the name of an environment variable: not empty, no '=' and no control characters. */
must_use enum err resources_text_env_name(struct str name, struct error *e);

/* Parses the "k=v" of a label. Key and value live in the arena. */
must_use enum err resources_text_label(struct str text, struct arena *arena, struct label *ret,
                                       struct error *e);

/* Checks a label. The key is a name as name_check() allows, '/' included. Key and value have at
 * most TEXT_LEN_MAX bytes. */
must_use enum err resources_text_label_check(struct str key, struct str value, struct error *e);
