/* cmd_submit.c - `weir submit`: submits one task from the command line, or any number of tasks
 * from files. Tasks are sent in batches, each with an idempotency key of its own.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/api.h"
#include "cli/cmd.h"
#include "cli/meter.h"
#include "cli/command.h"
#include "cli/cost.h"
#include "cli/show.h"
#include "cli/task_args.h"
#include "cli/task_read.h"
#include "cli/item.h"

#include <stdio.h>
#include <string.h>

enum {
    BATCH_TASKS = 1000,
    BATCH_BYTES = 2 << 20,
    SUBMIT_BYTES_MAX = 256 << 20, /* of one task, as large as a file */
};

struct submit_call {
    struct cli *cli;
    struct task_args args;
    struct buf batch;
    size_t batch_count;
    size_t done;
    size_t total;
    size_t problem_count; /* of all files */
    bool dry;             /* nothing is submitted */
    struct meter meter;
};

/* Says what would become of the tasks gathered so far. */
static enum err dry_post(struct submit_call *submit, struct error *e)
{
    int code;
    const struct cost_call call = {"POST",
                                   task_args_path(submit->cli),
                                   {.p = submit->batch.data, .len = submit->batch.len},
                                   NULL};
    enum err r = cost_dry(submit->cli, &call, &code, e);
    buf_clear(&submit->batch);
    submit->batch_count = 0;
    return r;
}

/* Sends the tasks gathered so far and prints their ids. */
static enum err post(struct submit_call *submit, struct error *e)
{
    if (submit->dry) {
        return dry_post(submit, e);
    }
    struct arena arena;
    arena_init(&arena);
    struct api_reply reply;
    enum err r =
        api_change(submit->cli, &arena, "POST", task_args_path(submit->cli),
                   (struct str){.p = submit->batch.data, .len = submit->batch.len}, &reply, e);
    meter_clear(&submit->meter); /* what follows are lines of their own */
    if (r == ERR_OK && !show_json(submit->cli, &reply)) {
        struct buf ids;
        buf_init(&ids, BATCH_BYTES);
        const struct doc *tasks = item_at(reply.doc, "tasks");
        for (const struct doc *d = tasks == NULL ? NULL : tasks->first; d != NULL; d = d->next) {
            buf_addf(&ids, "%s\n", item_text(d, "id"));
        }
        context_out((struct str){.p = buf_text(&ids), .len = ids.len});
        buf_done(&ids);
        task_args_spread_say(submit->cli, tasks);
    }
    if (r == ERR_OK) {
        submit->done += submit->batch_count;
        meter_move(&submit->meter, submit->done);
    }
    arena_done(&arena);
    buf_clear(&submit->batch);
    submit->batch_count = 0;
    return r;
}

static enum err batch_post(struct submit_call *submit, struct error *e)
{
    if (submit->batch_count == 0) {
        return ERR_OK;
    }
    buf_add_char(&submit->batch, ']');
    return post(submit, e);
}

static enum err task_add(struct submit_call *submit, const struct doc *file, struct error *e)
{
    buf_add_char(&submit->batch, submit->batch_count == 0 ? '[' : ',');
    (void)task_args_json(&submit->args, file, &submit->batch);
    submit->batch_count++;
    if (submit->batch.full) {
        return fail(e, ERR_LIMIT, "a task is larger than %d bytes", BATCH_BYTES);
    }
    bool enough = submit->batch_count >= BATCH_TASKS || submit->batch.len >= BATCH_BYTES;
    return enough ? batch_post(submit, e) : ERR_OK;
}

/* Reads and checks every file before the first task is sent, so that a person sees the problems
 * of all files at once. */
static enum err files_submit(struct submit_call *submit, struct error *e)
{
    enum { FILES_MAX = 1024 };
    const struct doc *docs[FILES_MAX];
    size_t count = 0;
    size_t cursor = 0;
    const char *name;
    while ((name = args_each(&submit->cli->args, "file", &cursor)) != NULL) {
        if (count == FILES_MAX) {
            return fail(e, ERR_USAGE, "more than %d files", FILES_MAX);
        }
        uint32_t tasks = 0;
        enum err r =
            task_read(submit->cli, name, &docs[count++], &tasks, &submit->problem_count, e);
        if (r != ERR_OK) {
            return r;
        }
        submit->total += tasks;
    }
    if (submit->problem_count > 0) {
        return fail(e, ERR_INVALID, "%zu problem%s in the files; nothing was submitted",
                    submit->problem_count, submit->problem_count == 1 ? "" : "s");
    }
    meter_begin(&submit->meter, "submitted", submit->total, false);
    for (size_t i = 0; i < count; i++) {
        const struct doc *at = docs[i]->kind == DOC_LIST ? docs[i]->first : docs[i];
        for (; at != NULL; at = docs[i]->kind == DOC_LIST ? at->next : NULL) {
            enum err r = task_add(submit, at, e);
            if (r != ERR_OK) {
                return r;
            }
        }
    }
    return batch_post(submit, e);
}

static enum err one_submit(struct submit_call *submit, struct error *e)
{
    submit->total = 1;
    submit->batch_count = 1;
    (void)task_args_json(&submit->args, NULL, &submit->batch);
    return post(submit, e);
}

static int submit_run(struct cli *cli, bool dry)
{
    struct error e;
    struct submit_call submit = {.cli = cli, .dry = dry};
    bool files = args_has(&cli->args, "file");
    if (!files && cli->args.rest_count == 0) {
        (void)fail(&e, ERR_USAGE, "nothing to submit: weir submit -- CMD… or weir submit -f FILE");
        return context_fail(cli, &e);
    }
    buf_init(&submit.batch, 2 * BATCH_BYTES + SUBMIT_BYTES_MAX);
    enum err r = task_args_read(cli, &submit.args, &e);
    r = r != ERR_OK ? r : api_open(cli, &e);
    if (r == ERR_OK) {
        task_args_workdir(cli, &submit.args);
        r = task_args_upload(cli, &submit.args, &e);
    }
    r = r != ERR_OK ? r : files ? files_submit(&submit, &e) : one_submit(&submit, &e);
    buf_done(&submit.batch);
    meter_clear(&submit.meter);
    if (r == ERR_OK) {
        return dry ? EXIT_WOULD_CHANGE : EXIT_OK;
    }
    if (submit.done > 0) {
        context_say("weir: %zu of %zu tasks were submitted before this:", submit.done,
                    submit.total);
    }
    return context_fail(cli, &e);
}

int cmd_submit(struct cli *cli)
{
    return submit_run(cli, cost_is_dry(cli));
}

/* Files are read as `weir submit` reads them. `weir submit` has all flags of this command, so the flags stay. */
int cmd_submit_explain(struct cli *cli)
{
    char submit[] = "submit";
    char *const words[] = {submit, NULL};
    int count;
    cli->args.command = command_find(1, words, &count);
    must(cli->args.command != NULL);
    const int code = submit_run(cli, true);
    return code == EXIT_WOULD_CHANGE ? EXIT_OK : code;
}
