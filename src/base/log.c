/* log.c - formats one line and writes it with one call, so that lines of several threads do not
 * mix. A warning or error whose phrase repeats within LOG_REPEAT_MS is only counted. The next line
 * of the phrase tells the count. SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/json_out.h"
#include "base/time_text.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A text is cut at LOG_TEXT_MAX before quoting, so that a line always has room for its end. Quoting
 * may take six bytes for one. */
enum {
    LOG_LINE_MAX = 128 * 1024,
    LOG_TEXT_MAX = 1024,
    LOG_REPEAT_MS = 5000,
    LOG_REPEAT_KEYS = 64,
};

static struct {
    pthread_mutex_t mutex;
    enum log_level level;
    int json;
    const char *who;
    struct {
        uint64_t key;
        int64_t until_ms;
        uint64_t dropped;
    } repeats[LOG_REPEAT_KEYS];
} sink = {.mutex = PTHREAD_MUTEX_INITIALIZER, .level = LOG_INFO, .who = "weir"};

static const char *const level_names[] = {"error", "warn", "info", "debug"};

void log_setup(enum log_level level, int json, const char *who)
{
    (void)pthread_mutex_lock(&sink.mutex);
    sink.level = level;
    sink.json = json;
    sink.who = who;
    (void)pthread_mutex_unlock(&sink.mutex);
}

void log_setup_role(const char *who)
{
    const char *asked = getenv("WEIR_LOG");
    enum log_level level = LOG_INFO;
    for (unsigned i = 0; asked != NULL && i < sizeof level_names / sizeof *level_names; i++) {
        if (strcmp(asked, level_names[i]) == 0) {
            level = (enum log_level)i;
        }
    }
    log_setup(level, isatty(STDERR_FILENO) == 0, who);
}

/* Is this line held back? *ret_dropped: how many lines of the phrase were held back before. The
 * caller holds the mutex. */
static bool repeated(enum log_level level, const char *phrase, uint64_t *ret_dropped)
{
    *ret_dropped = 0;
    if (level > LOG_WARN) {
        return false;
    }
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t now_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    uint64_t key = hash_bytes(phrase, strlen(phrase));
    size_t i = key % LOG_REPEAT_KEYS;
    if (sink.repeats[i].key == key && now_ms < sink.repeats[i].until_ms) {
        sink.repeats[i].dropped++;
        return true;
    }
    *ret_dropped = sink.repeats[i].key == key ? sink.repeats[i].dropped : 0;
    sink.repeats[i].key = key;
    sink.repeats[i].until_ms = now_ms + LOG_REPEAT_MS;
    sink.repeats[i].dropped = 0;
    return false;
}

static void stamp(char *out)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    time_text((int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000, out);
}

/* Writes the field's value. Texts are quoted, so that control characters cannot forge a line. */
static void value_json(struct json_out *j, const struct log_field *field)
{
    if (field->kind == LOG_FIELD_STR) {
        struct str text = str_of(field->text);
        text.len = text.len < LOG_TEXT_MAX ? text.len : LOG_TEXT_MAX;
        json_out_str(j, text);
    } else if (field->kind == LOG_FIELD_U64) {
        json_out_u64(j, field->number);
    } else {
        json_out_i64(j, (int64_t)field->number);
    }
}

static void line_json(struct buf *line, enum log_level level, const char *phrase,
                      const struct log_field *fields, uint64_t dropped)
{
    char when[TIME_TEXT_MAX];
    struct json_out j;
    stamp(when);
    json_out_init(&j, line);
    json_out_object(&j);
    json_out_kv_text(&j, "time", when);
    json_out_kv_text(&j, "level", level_names[level]);
    json_out_kv_text(&j, "who", sink.who);
    json_out_kv_text(&j, "message", phrase);
    for (; fields->kind != LOG_FIELD_NONE; fields++) {
        json_out_key(&j, fields->key);
        value_json(&j, fields);
    }
    if (dropped > 0) {
        json_out_kv_u64(&j, "repeated", dropped);
    }
    json_out_end(&j);
}

static void line_text(struct buf *line, enum log_level level, const char *phrase,
                      const struct log_field *fields, uint64_t dropped)
{
    buf_addf(line, "%s: %s%s%s", sink.who, level < LOG_INFO ? level_names[level] : "",
             level < LOG_INFO ? ": " : "", phrase);
    for (; fields->kind != LOG_FIELD_NONE; fields++) {
        struct json_out j;
        buf_addf(line, " %s=", fields->key);
        json_out_init(&j, line);
        value_json(&j, fields);
    }
    if (dropped > 0) {
        buf_addf(line, " (%llu more like it before)", (unsigned long long)dropped);
    }
}

/* The caller holds the mutex. */
static void line_write(enum log_level level, const char *phrase, const struct log_field *fields,
                       uint64_t dropped)
{
    struct buf line;
    buf_init(&line, LOG_LINE_MAX);
    if (sink.json) {
        line_json(&line, level, phrase, fields, dropped);
    } else {
        line_text(&line, level, phrase, fields, dropped);
    }
    buf_add_char(&line, '\n');
    (void)!write(STDERR_FILENO, buf_text(&line), line.len);
    buf_done(&line);
}

void log_write(enum log_level level, const char *phrase, const struct log_field *fields)
{
    uint64_t dropped;
    (void)pthread_mutex_lock(&sink.mutex);
    if (level <= sink.level && !repeated(level, phrase, &dropped)) {
        line_write(level, phrase, fields, dropped);
    }
    (void)pthread_mutex_unlock(&sink.mutex);
}

void log_write_always(enum log_level level, const char *phrase, const struct log_field *fields)
{
    (void)pthread_mutex_lock(&sink.mutex);
    if (level <= sink.level) {
        line_write(level, phrase, fields, 0);
    }
    (void)pthread_mutex_unlock(&sink.mutex);
}
