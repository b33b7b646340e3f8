/* server_settings.h - the settings of a server that are no objects, each with its value and where the value comes
 * from, for people. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "spec/server_file.h"

enum { SERVER_SETTINGS_MAX = 20 };

struct server_setting {
    const char *name;   /* as in the server file: "retention.tasks" */
    const char *value;  /* "": none */
    const char *origin; /* "default", "file" or "command line" */
};

struct server_settings {
    struct server_setting at[SERVER_SETTINGS_MAX];
    uint32_t count;
};

/* Says which settings a server file names: one bit for each, for server_file.said. */
uint32_t server_settings_said(const struct doc *root);

/* The settings of a file, or the defaults. Values live in the arena or in the file. */
void server_settings_init(struct server_settings *settings, const struct server_file *file,
                          struct arena *arena);

/* Sets a value by the command line; NULL: the command line does not say it. Of a name that the file does not have
 * a row is added, which then belongs to the command line alone. */
void server_settings_flag(struct server_settings *settings, const char *name, const char *value);
