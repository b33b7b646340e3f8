/* resources_text.h - the short texts of the command line: 'foo=5 bar=1', 0,1, 0-99, K=V.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "core/model/spec.h"

/* What a text of named amounts says: a task's request or what a node offers. Amounts not named are
 * ASK_NOTHING. */
struct resources_text {
    int64_t slots_milli;
    int64_t gpu_milli;
    int64_t cpu_milli;
    int64_t memory_bytes;
    int64_t gpu_memory_bytes;
    struct named_amount *named;
    uint32_t named_count;
};

/* "foo=5 bar=1", split at blanks or commas; at most `named_max` named ones. An amount that is
 * missing or malformed, an empty name, a name twice: ERR_INVALID, which quotes the item. */
must_use enum err resources_text_parse(struct str text, uint32_t named_max, struct arena *arena,
                                       struct resources_text *ret, struct error *e);

/* "0,1" -> bits 0 and 1. An index twice or beyond NODE_DEVICES_MAX: ERR_INVALID. */
must_use enum err resources_text_devices(struct str text, uint64_t *ret_mask, struct error *e);

/* "0-99" -> first 0, 100 of them; "7" is 7-7. At most TASK_INSTANCES_MAX. */
must_use enum err resources_text_array(struct str text, uint32_t *ret_first, uint32_t *ret_count,
                                       struct error *e);

/* "K=V" is well formed. */
must_use enum err resources_text_env(struct str text, struct error *e);

/* A variable's name: not empty, no '=' and no control characters. */
must_use enum err resources_text_env_name(struct str name, struct error *e);

/* "k=v" of a label; both parts in the arena. */
must_use enum err resources_text_label(struct str text, struct arena *arena, struct label *ret,
                                       struct error *e);

/* A label's key and value: a name as of name_check() (with '/' too), at most TEXT_LEN_MAX bytes. */
must_use enum err resources_text_label_check(struct str key, struct str value, struct error *e);
