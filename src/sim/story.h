/* story.h - what happens in a run, line by line, for people and for scenario tests.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "sim/engine.h"

struct story;

/* Lines go to `out`; with `why` also the reason of each wait when it changes. */
struct story *story_new(struct buf *out, bool why);
void story_free(struct story *story);
void story_freep(struct story **story);

struct watcher story_watcher(struct story *story);
