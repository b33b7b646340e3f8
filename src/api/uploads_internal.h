/* uploads_internal.h - shared by uploads.c (archives come and go) and uploads_sweep.c (old archives).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/uploads.h"

enum { UPLOADS_DIR_MAX = 1024, UPLOADS_PATH_MAX = UPLOADS_DIR_MAX + 2 * TEXT_LEN_MAX + 128 };

struct uploads {
    struct api *api;
    char dir[UPLOADS_DIR_MAX]; /* D/uploads */
    bool sweeping;
};
