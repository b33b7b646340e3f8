/* upload.h - `--upload DIR`: packs a directory and sends it to the server.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/context.h"

#define UPLOAD_IGNORE ".weirignore"

/* Packs the directory, leaves out what its .weirignore names, and sends what the server does not have yet.
 * *ret: the digest, in the command's arena. Links, pipes and devices are refused by name. */
must_use enum err upload_send(struct cli *cli, const char *dir, const char **ret, struct error *e);
