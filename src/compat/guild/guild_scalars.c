/* guild_scalars.c - see guild_scalars.h.
 *
 * An event file is a row of records: length (8 bytes), masked CRC-32C of the length, an Event message of protobuf, masked CRC-32C of the
 * message. All numbers are little-endian. The first record has the version of the format and nothing else.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compat/guild/guild_scalars.h"

#include "base/mem.h"

#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    KEY_LEN_MAX = 200,
    NUMBER_LEN_MAX = 60,
    RECORD_MAX = 512,
    PATH_LEN_MAX = 4096,
    CRC_POLYNOMIAL_BITS = 8,
    NO_STEP = -1,
    MASK_TURN = 15,
    VARINT_BITS = 7,
};

struct guild_scalars {
    const char *run_dir;
    const char *const *flags;
    int fd; /* -1: no file yet */
    bool given_up;
    int64_t step;
};

struct guild_scalars *guild_scalars_new(const char *run_dir, const char *const *flags)
{
    struct guild_scalars *scalars = xcalloc(1, sizeof *scalars);
    *scalars =
        (struct guild_scalars){.run_dir = run_dir, .flags = flags, .fd = -1, .step = NO_STEP};
    return scalars;
}

void guild_scalars_free(struct guild_scalars *scalars)
{
    if (scalars != NULL && scalars->fd >= 0) {
        (void)close(scalars->fd);
    }
    free(scalars);
}

/* ---- the file ---- */

struct bytes {
    unsigned char at[RECORD_MAX];
    size_t len;
};

static void bytes_add(struct bytes *bytes, const void *data, size_t len)
{
    if (len <= sizeof bytes->at - bytes->len) {
        memcpy(bytes->at + bytes->len, data, len);
        bytes->len += len;
    }
}

static void little_add(struct bytes *bytes, uint64_t value, int count)
{
    for (int i = 0; i < count; i++) {
        const unsigned char c = (unsigned char)(value >> (8 * i));
        bytes_add(bytes, &c, 1);
    }
}

static void varint_add(struct bytes *bytes, uint64_t value)
{
    do {
        const unsigned char more = value >> VARINT_BITS != 0 ? 0x80 : 0;
        const unsigned char c = (unsigned char)((value & 0x7F) | more);
        bytes_add(bytes, &c, 1);
        value >>= VARINT_BITS;
    } while (value != 0);
}

/* A field of protobuf whose value has a length: a text or a message. */
static void field_add(struct bytes *bytes, unsigned number, const void *data, size_t len)
{
    varint_add(bytes, number << 3 | 2);
    varint_add(bytes, len);
    bytes_add(bytes, data, len);
}

static uint32_t crc_masked(const unsigned char *data, size_t len)
{
    uint32_t crc = 0xFFFFFFFF;
    for (size_t i = 0; i < len; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < CRC_POLYNOMIAL_BITS; bit++) {
            crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82F63B78 : 0);
        }
    }
    crc = ~crc;
    return (crc >> MASK_TURN | crc << (32 - MASK_TURN)) + 0xA282EAD8;
}

static void record_write(struct guild_scalars *scalars, const struct bytes *message)
{
    struct bytes record = {0};
    little_add(&record, message->len, 8);
    little_add(&record, crc_masked(record.at, 8), 4);
    bytes_add(&record, message->at, message->len);
    little_add(&record, crc_masked(message->at, message->len), 4);
    if (write(scalars->fd, record.at, record.len) != (ssize_t)record.len) {
        scalars->given_up = true;
    }
}

static double wall_time(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void event_begin(struct bytes *message)
{
    const double now = wall_time();
    uint64_t bits;
    memcpy(&bits, &now, sizeof bits);
    varint_add(message, 1 << 3 | 1);
    little_add(message, bits, 8);
}

static void file_open(struct guild_scalars *scalars)
{
    static const char version[] = "brain.Event:2";
    char host[256] = "localhost";
    char path[PATH_LEN_MAX];
    (void)gethostname(host, sizeof host - 1);
    (void)snprintf(path, sizeof path, "%s/.guild/events.out.tfevents.%010lld.%s.%d.0",
                   scalars->run_dir, (long long)time(NULL), host, (int)getpid());
    scalars->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666);
    scalars->given_up = scalars->fd < 0;
    if (!scalars->given_up) {
        struct bytes message = {0};
        event_begin(&message);
        field_add(&message, 3, version, sizeof version - 1);
        record_write(scalars, &message);
    }
}

static void scalar_write(struct guild_scalars *scalars, struct str key, double number)
{
    struct bytes value = {0};
    struct bytes summary = {0};
    struct bytes message = {0};
    const float single = (float)number;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    field_add(&value, 1, key.p, key.len);
    varint_add(&value, 2 << 3 | 5);
    little_add(&value, bits, 4);
    field_add(&summary, 1, value.at, value.len);
    event_begin(&message);
    if (scalars->step > 0) {
        varint_add(&message, 2 << 3);
        varint_add(&message, (uint64_t)scalars->step);
    }
    field_add(&message, 5, summary.at, summary.len);
    if (scalars->fd < 0) {
        file_open(scalars);
    }
    if (!scalars->given_up) {
        record_write(scalars, &message);
    }
}

/* ---- lines ---- */

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct str skip_space(struct str text)
{
    while (text.len > 0 && is_space(*text.p)) {
        text.p++;
        text.len--;
    }
    return text;
}

static struct str word_cut(struct str *rest)
{
    struct str word = *rest;
    word.len = 0;
    while (rest->len > 0 && !is_space(*rest->p)) {
        rest->p++;
        rest->len--;
        word.len++;
    }
    return word;
}

static bool number_read(struct str word, double *ret)
{
    char text[NUMBER_LEN_MAX + 1];
    char *end;
    if (word.len == 0 || word.len > NUMBER_LEN_MAX) {
        return false;
    }
    for (size_t i = 0; i < word.len; i++) {
        if (strchr("0123456789.e-+naifNAIF", word.p[i]) == NULL) {
            return false;
        }
    }
    memcpy(text, word.p, word.len);
    text[word.len] = '\0';
    *ret = strtod(text, &end);
    return *end == '\0';
}

/* Reads "(step 7)" or "(7)". */
static bool step_read(struct str text, int64_t *ret)
{
    static const char word[] = "step";
    if (text.len < 3 || text.p[0] != '(' || text.p[text.len - 1] != ')') {
        return false;
    }
    text = (struct str){text.p + 1, text.len - 2};
    if (text.len > sizeof word && memcmp(text.p, word, sizeof word - 1) == 0 &&
        is_space(text.p[sizeof word - 1])) {
        text = skip_space((struct str){text.p + sizeof word - 1, text.len - sizeof word + 1});
    }
    return str_to_i64(text, ret) && *ret >= 0;
}

static bool is_flag(const struct guild_scalars *scalars, struct str key)
{
    for (const char *const *flag = scalars->flags; *flag != NULL; flag++) {
        if (str_is(key, *flag)) {
            return true;
        }
    }
    return false;
}

void guild_scalars_line(struct guild_scalars *scalars, struct str line)
{
    double number;
    while (line.len > 0 && is_space(line.p[line.len - 1])) {
        line.len--;
    }
    struct str rest = line;
    struct str key = word_cut(&rest);
    if (scalars->given_up || key.len < 2 || key.len > KEY_LEN_MAX || key.p[key.len - 1] != ':') {
        return;
    }
    key.len--;
    rest = skip_space(rest);
    const struct str value = word_cut(&rest);
    rest = skip_space(rest);
    if (!number_read(value, &number) ||
        (rest.len > 0 && (rest.p[0] != '(' || rest.p[rest.len - 1] != ')'))) {
        return;
    }
    int64_t step;
    if (step_read(rest, &step)) {
        scalars->step = step;
    }
    if (str_is(key, "step")) {
        scalars->step = number >= 0 && number < 9e15 ? (int64_t)number : scalars->step;
    } else if (!is_flag(scalars, key)) {
        scalar_write(scalars, key, number);
    }
}
