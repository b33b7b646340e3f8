/* fail.c - makes failures, and adds context to them. SPDX-License-Identifier: Apache-2.0 */
#include "base/fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const err_names[ERR_COUNT] = {
    [ERR_OK] = "ok",           [ERR_USAGE] = "usage",
    [ERR_INVALID] = "invalid", [ERR_NOT_FOUND] = "not-found",
    [ERR_DENIED] = "denied",   [ERR_CONFLICT] = "conflict",
    [ERR_LIMIT] = "limit",     [ERR_UNREACHABLE] = "unreachable",
    [ERR_TIMEOUT] = "timeout", [ERR_NEVER] = "never",
    [ERR_BUSY] = "busy",       [ERR_IO] = "io",
    [ERR_CORRUPT] = "corrupt", [ERR_INTERNAL] = "internal",
};

const char *fail_code_name(enum err code)
{
    must((int)code >= 0);
    must((int)code < ERR_COUNT);
    return err_names[code];
}

__attribute__((format(printf, 3, 0))) static void text_set(struct error *e, enum err code,
                                                           const char *format, va_list args)
{
    must(code != ERR_OK);
    e->code = code;
    e->path[0] = '\0';
    e->line = 0;
    e->column = 0;
    (void)vsnprintf(e->text, sizeof e->text, format, args);
}

enum err fail(struct error *e, enum err code, const char *format, ...)
{
    if (e != NULL) {
        va_list args;
        va_start(args, format);
        text_set(e, code, format, args);
        va_end(args);
    }
    return code;
}

enum err fail_at(struct error *e, enum err code, const char *path, const char *format, ...)
{
    if (e != NULL) {
        va_list args;
        va_start(args, format);
        text_set(e, code, format, args);
        va_end(args);
        (void)snprintf(e->path, sizeof e->path, "%s", path);
    }
    return code;
}

enum err fail_line(struct error *e, unsigned line, unsigned column, const char *path,
                   const char *text)
{
    (void)fail_at(e, ERR_INVALID, path, "line %u, column %u: %s", line, column, text);
    if (e != NULL) {
        e->line = line;
        e->column = column;
    }
    return ERR_INVALID;
}

const char *fail_line_text(const struct error *e)
{
    const char *behind = e->line > 0 ? strstr(e->text, ": ") : NULL;
    return behind != NULL ? behind + 2 : e->text;
}

enum err fail_in(struct error *e, const char *format, ...)
{
    must(e != NULL);
    char inner[ERROR_TEXT_MAX];
    memcpy(inner, e->text, sizeof inner);
    va_list args;
    va_start(args, format);
    int used = vsnprintf(e->text, sizeof e->text, format, args);
    va_end(args);
    if (used >= 0 && (size_t)used < sizeof e->text) {
        (void)snprintf(e->text + used, sizeof e->text - (size_t)used, ": %s", inner);
    }
    return e->code;
}

enum err fail_errno(struct error *e, enum err code, int number, const char *format, ...)
{
    if (e != NULL) {
        va_list args;
        va_start(args, format);
        text_set(e, code, format, args);
        va_end(args);
        char reason[96];
        const char *text = strerror_r(number, reason, sizeof reason);
        size_t used = strlen(e->text);
        (void)snprintf(e->text + used, sizeof e->text - used, ": %s", text);
    }
    return code;
}
