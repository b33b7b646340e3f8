/* archive.c - see archive.h. The row is made at once, because the next fact drops the task from the
 * core. SPDX-License-Identifier: Apache-2.0 */
#include "server/archive.h"

#include "wire/task_json.h"

enum { ARCHIVE_BYTES_MAX = 4 * 1024 * 1024 };

static struct str text_keep(struct batch *batch, const char *text)
{
    struct str kept = str_of(text);
    kept.p = arena_dup(&batch->arena, kept.p, kept.len + 1);
    return kept;
}

void archive_attempt(const struct core *core, const struct fact *ended, struct batch *batch)
{
    const struct attempt_key key = ended->attempt_ended.report.key;
    const struct task *task = query_task(core, key.task);
    must(task != NULL);
    /* An instance of a gang that has ended begins again when the gang breaks. */
    if (!ended->attempt_ended.again && task->gang == 0) {
        return;
    }
    struct buf out;
    struct json_out j;
    struct task_writer writer;
    buf_init(&out, ARCHIVE_BYTES_MAX);
    json_out_init(&j, &out);
    task_json_writer_init(&writer, core, &batch->arena);
    task_json_attempt_ended(&writer, &j, task, key.index);
    must(!out.full);
    struct store_attempt row = {.task = key.task.v,
                                .index = key.index,
                                .attempt = key.attempt,
                                .json = {arena_dup(&batch->arena, out.data, out.len), out.len}};
    batch->bytes += out.len;
    buf_done(&out);
    vec_push(&batch->attempts, row);
}

void archive_task(const struct core *core, task_id id, struct batch *batch)
{
    const struct task *task = query_task(core, id);
    must(task != NULL);
    struct task_spec spec;
    struct buf out;
    struct json_out j;
    struct task_writer writer;
    query_task_spec(core, id, &batch->arena, &spec);
    buf_init(&out, ARCHIVE_BYTES_MAX);
    json_out_init(&j, &out);
    task_json_writer_init(&writer, core, &batch->arena);
    task_json(&writer, &j, task, TASK_JSON_ATTEMPTS);
    must(!out.full);
    struct store_history row = {
        .task = id.v,
        .submitted_ms = task->submitted_ms,
        .ended_ms = task->ended_ms,
        .state = task->state,
        .kind = task->kind,
        .pool = text_keep(batch, query_pool_name(core, task->pool)),
        .user = str_of(spec.user),
        .project = str_of(spec.project),
        .name = str_of(spec.name),
        .json = {arena_dup(&batch->arena, out.data, out.len), out.len},
    };
    batch->bytes += out.len;
    buf_done(&out);
    vec_push(&batch->history, row);
}
