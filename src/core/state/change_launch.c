/* change_launch.c - the rows of launches, which their facts write.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/must.h"
#include "core/model/blob.h"
#include "core/model/launch.h"
#include "core/model/limits.h"
#include "core/model/table.h"
#include "core/state/change.h"
#include "core/state/fact.h"
#include "core/state/query.h"

#include <string.h>

void change_launch_text_set(struct launch *launch, const char *name, const char *words)
{
    struct buf text;
    buf_init(&text, 2 * (TEXT_LEN_MAX + 1));
    buf_add(&text, name, strlen(name) + 1);
    buf_add(&text, words, strlen(words) + 1);
    must(!text.full);
    blob_unref(launch->text);
    launch->text = blob_new(text.data, text.len);
    buf_done(&text);
}

void change_launch_asked(struct core *core, const struct fact *fact)
{
    must(fact->launch.launch.v == core->launches.last + 1);
    must(query_pool(core, fact->launch.pool) != NULL);
    struct launch *launch = table_add(&core->launches);
    launch->id = fact->launch.launch;
    launch->pool = fact->launch.pool;
    launch->asked_ms = fact->time_ms;
    launch->changed_ms = fact->time_ms;
    launch->state = LAUNCH_ASKED;
    change_launch_text_set(launch, "", "");
}

void change_launch_changed(struct core *core, const struct fact *fact)
{
    struct launch *launch = table_edit(&core->launches, fact->launch.launch.v);
    must(launch != NULL);
    must(fact->launch.state != LAUNCH_ASKED);
    launch->state = (uint8_t)fact->launch.state;
    launch->node = fact->launch.node;
    launch->changed_ms = fact->time_ms;
    change_launch_text_set(launch, fact->launch.name, fact->launch.words);
}

void change_launch_ended(struct core *core, const struct fact *fact)
{
    table_remove(&core->launches, fact->launch.launch.v);
}
