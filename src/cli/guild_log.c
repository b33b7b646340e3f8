/* guild_log.c - see guild_log.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/guild_log.h"

#include "base/buf.h"
#include "base/inert.h"
#include "base/str.h"
#include "cli/guild_screen.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TEXT_MAX = 4096, LINE_MAX_BYTES = 32768, TIME_TEXT_MAX = 32 };

static int64_t level_shown = GUILD_INFO; /* set once, before the first line */

void guild_log_init(void)
{
    const char *set = getenv("LOG_LEVEL");
    int64_t level;
    if (set != NULL && str_to_i64(str_of(set), &level)) {
        level_shown = level;
    }
}

static const char *name_of(enum guild_level level)
{
    switch (level) {
    case GUILD_DEBUG:
        return "DEBUG";
    case GUILD_INFO:
        return "INFO";
    case GUILD_WARNING:
        return "WARNING";
    case GUILD_ERROR_LEVEL:
        break;
    }
    return "ERROR";
}

void guild_log(enum guild_level level, const char *format, ...)
{
    char text[TEXT_MAX];
    char when[TIME_TEXT_MAX];
    struct tm local;
    const time_t now = time(NULL);
    if ((int64_t)level < level_shown) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    (void)localtime_r(&now, &local);
    (void)strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &local);
    struct buf line;
    buf_init(&line, LINE_MAX_BYTES);
    buf_addf(&line, "%s: [guild] %s ", name_of(level), when);
    inert_add_lines(&line, str_of(text));
    buf_add_char(&line, '\n');
    guild_screen_line((struct str){buf_text(&line), line.len});
    buf_done(&line);
}
