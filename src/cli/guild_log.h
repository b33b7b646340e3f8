/* guild_log.h - log lines as Guild's schedulers write them, on standard error:
 *
 *   INFO: [guild] 2024-05-01 12:00:00 Run aaa started
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

enum guild_level { GUILD_DEBUG = 10, GUILD_INFO = 20, GUILD_WARNING = 30, GUILD_ERROR_LEVEL = 40 };

/* Takes the lowest level that is shown from $LOG_LEVEL, a number; 20 without it. */
void guild_log_init(void);

/* Control characters of the text are made visible. */
void guild_log(enum guild_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
