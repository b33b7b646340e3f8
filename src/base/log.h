/* log.h - one line per happening: a constant English phrase and fields. Text on a terminal, JSON
 * lines otherwise. Only server, agent, cli, api and provider log; the rest return errors. Never
 * secrets, tokens or environment values.
 *
 *   log_info("task started", kv_u64("task", 7), kv_str("node", name));
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"

#include <stdint.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

enum log_kind { LOG_FIELD_NONE, LOG_FIELD_STR, LOG_FIELD_U64, LOG_FIELD_I64 };

struct log_field {
    enum log_kind kind;
    const char *key;
    const char *text;
    uint64_t number;
};

/* What goes to standard error from now on: level, and JSON or text. `who` names the role in each
 * line. */
void log_setup(enum log_level level, int json, const char *who);

/* The same for a role: text on a terminal, JSON lines elsewhere; WEIR_LOG names the least level that
 * is told (error, warn, info, debug; info where it says nothing known). */
void log_setup_role(const char *who);

/* The fields end with one of kind LOG_FIELD_NONE; use the macros below. */
void log_write(enum log_level level, const char *phrase, const struct log_field *fields);

/* The same, however often: for the answer to something that a person did. */
void log_write_always(enum log_level level, const char *phrase, const struct log_field *fields);

#define LOG_FIELDS(...)                                                                            \
    ((const struct log_field[]){__VA_ARGS__ __VA_OPT__(, )(struct log_field){0}})
#define log_error(phrase, ...) log_write(LOG_ERROR, (phrase), LOG_FIELDS(__VA_ARGS__))
#define log_error_always(phrase, ...) log_write_always(LOG_ERROR, (phrase), LOG_FIELDS(__VA_ARGS__))
#define log_warn_always(phrase, ...) log_write_always(LOG_WARN, (phrase), LOG_FIELDS(__VA_ARGS__))
#define log_warn(phrase, ...) log_write(LOG_WARN, (phrase), LOG_FIELDS(__VA_ARGS__))
#define log_info(phrase, ...) log_write(LOG_INFO, (phrase), LOG_FIELDS(__VA_ARGS__))
#define log_debug(phrase, ...) log_write(LOG_DEBUG, (phrase), LOG_FIELDS(__VA_ARGS__))

#define kv_str(k, v) ((struct log_field){LOG_FIELD_STR, (k), (v), 0})
#define kv_u64(k, v) ((struct log_field){LOG_FIELD_U64, (k), NULL, (uint64_t)(v)})
#define kv_i64(k, v) ((struct log_field){LOG_FIELD_I64, (k), NULL, (uint64_t)(int64_t)(v)})
#define kv_error(e) ((struct log_field){LOG_FIELD_STR, "error", (e)->text, 0})
