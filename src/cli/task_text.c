/* task_text.c - see task_text.h. SPDX-License-Identifier: Apache-2.0 */
#include "cli/task_text.h"

#include "cli/cells.h"
#include "cli/item.h"
#include "cli/list.h"

#include <string.h>

bool task_text_workdir_missed(const struct doc *task)
{
    const struct doc *attempts = item_at(task, "attempts");
    for (const struct doc *d = attempts == NULL ? NULL : attempts->first; d != NULL; d = d->next) {
        bool used = true;
        if (doc_bool(doc_get(d, "workdir_used"), &used) && !used) {
            return true;
        }
    }
    return false;
}

const char *task_text_message(const struct doc *task)
{
    const struct doc *attempts = item_at(task, "attempts");
    for (const struct doc *d = attempts == NULL ? NULL : attempts->first; d != NULL; d = d->next) {
        if (item_text(d, "message")[0] != '\0') {
            return item_text(d, "message");
        }
    }
    return "";
}

void task_text_name(struct buf *out, const struct doc *task, int64_t now_ms)
{
    (void)now_ms;
    const char *name = item_text(task, "name");
    if (name[0] != '\0') {
        buf_add_str(out, name);
    } else {
        list_command_text(out, item_at(task, "command"));
    }
}

void task_text_detail(struct buf *out, const struct doc *task, int64_t now_ms)
{
    (void)now_ms;
    const char *state = item_text(task, "state");
    const bool again = strcmp(state, "running") == 0 || strcmp(state, "starting") == 0;
    const char *cause = item_text(task, "cause");
    const char *code = item_text(task, "exit_code");
    if (item_at(task, "reason.message") != NULL) {
        buf_add_str(out, item_text(task, "reason.message"));
    } else if (strcmp(state, "failed") == 0 && code[0] != '\0' && strcmp(cause, "exit") == 0) {
        buf_addf(out, "exit code %s", code);
    } else if (task_text_message(task)[0] != '\0') {
        buf_add_str(out, task_text_message(task));
    } else if (!again && strcmp(cause, "none") != 0 && strcmp(cause, "exit") != 0) {
        buf_add_str(out, cause); /* of one that runs it is how an earlier attempt ended */
    }
}

void task_text_workdir(struct buf *out, const struct doc *task, int64_t now_ms)
{
    (void)now_ms;
    buf_add_str(out, item_text(task, "workdir"));
    if (task_text_workdir_missed(task)) {
        buf_add_str(out, " (its user cannot enter it: in the job directory instead)");
    }
}
