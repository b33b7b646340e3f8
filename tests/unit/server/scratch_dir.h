/* scratch_dir.h - a directory for one test, removed with everything in it.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/must.h"

#include <ftw.h>
#include <stdlib.h>
#include <unistd.h>

enum { SCRATCH_PATH_MAX = 64, SCRATCH_FDS = 16 };

static inline void scratch_make(char *path)
{
    static const char form[] = "/tmp/weir-unit-XXXXXX";
    memcpy(path, form, sizeof form);
    must(mkdtemp(path) == path);
}

static inline int scratch_drop(const char *path, const struct stat *st, int type, struct FTW *walk)
{
    (void)st;
    (void)type;
    (void)walk;
    return remove(path);
}

static inline void scratch_remove(const char *path)
{
    must(nftw(path, scratch_drop, SCRATCH_FDS, FTW_DEPTH | FTW_PHYS) == 0);
}
