/* asker.c - see asker.h. SPDX-License-Identifier: Apache-2.0 */
#include "agent/asker.h"

#include "agent/report_client.h"
#include "agent/taskfiles.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rest.h"
#include "base/rmtree.h"
#include "wire/files.h"

#include <inttypes.h>
#include <pthread.h>

enum { ASKER_WAITING_MAX = 256, POST_MS_MAX = 20000, JOIN_WAIT_MS = 2000, PATH_BYTES = 96 };

/* `url` not NULL: the server's address; else a question. */
struct asker_job {
    struct arena arena;
    bool sweep; /* remove old job directories */
    struct agent_ask ask;
    const char *url;
    const char *credential;
};

struct ask_thread {
    const struct agent_options *options;
    struct mailbox *jobs;
    struct report_client client;
    pthread_t thread;
    volatile int stop;
};

static void answer_post(struct ask_thread *asker, const struct asker_job *job,
                        const struct buf *answer)
{
    char path[PATH_BYTES];
    struct arena arena;
    struct error e;
    struct http_reply reply;
    arena_init(&arena);
    (void)snprintf(path, sizeof path, "/api/v1/agent/answers?ask=%" PRIu64, job->ask.id);
    struct http_call call = {.method = "POST",
                             .path = path,
                             .body = {buf_text(answer), answer->len},
                             .repeatable = true, /* a second answer finds nobody who waits */
                             .timeout_ms = POST_MS_MAX,
                             .stop = &asker->stop};
    report_client_renew(&asker->client);
    if (http_client_call(asker->client.http, &call, &arena, &reply, &e) != ERR_OK) {
        log_warn("an answer could not be sent", kv_u64("ask", job->ask.id), kv_error(&e));
    }
    arena_done(&arena);
}

static void job_do(struct ask_thread *asker, struct asker_job *job)
{
    if (job->sweep) {
        char path[AGENT_PATH_MAX];
        (void)snprintf(path, sizeof path, "%s/job/.gone", asker->options->dir);
        rmtree_below(path);
        return;
    }
    if (job->url != NULL) {
        report_client_close(&asker->client);
        report_client_open(&asker->client, job->url, job->credential);
        return;
    }
    if (asker->client.http == NULL) {
        return;
    }
    struct buf answer;
    buf_init(&answer, FILES_ANSWER_MAX);
    taskfiles_answer(asker->options->dir, &job->ask, &answer);
    if (answer.full) {
        buf_clear(&answer);
        answer.full = false;
        buf_add_str(&answer, "{\"error\":\"limit\",\"message\":\"the answer is too large\"}");
    }
    answer_post(asker, job, &answer);
    buf_done(&answer);
}

static void *run(void *ctx)
{
    struct ask_thread *asker = ctx;
    struct asker_job *job;
    while ((job = mailbox_wait(asker->jobs)) != NULL) {
        if (asker->stop == 0) {
            job_do(asker, job);
        }
        arena_done(&job->arena);
        free(job);
    }
    return NULL;
}

must_use enum err asker_new(const struct agent_options *options, struct ask_thread **ret,
                            struct error *e)
{
    struct ask_thread *asker = xcalloc(1, sizeof *asker);
    asker->options = options;
    asker->client.options = options;
    asker->jobs = mailbox_new(ASKER_WAITING_MAX);
    const int failed = pthread_create(&asker->thread, NULL, run, asker);
    if (failed != 0) {
        mailbox_free(asker->jobs);
        free(asker);
        return fail_errno(e, ERR_IO, failed, "cannot start a thread");
    }
    *ret = asker;
    return ERR_OK;
}

bool asker_free(struct ask_thread *asker)
{
    if (asker == NULL) {
        return true;
    }
    asker->stop = 1;
    mailbox_close(asker->jobs);
    if (!rest_join(asker->thread, JOIN_WAIT_MS)) {
        return false;
    }
    report_client_close(&asker->client);
    mailbox_free(asker->jobs);
    free(asker);
    return true;
}

static struct asker_job *job_new(void)
{
    struct asker_job *job = xcalloc(1, sizeof *job);
    arena_init(&job->arena);
    return job;
}

static void job_send(struct ask_thread *asker, struct asker_job *job, bool reserved)
{
    const bool sent =
        reserved ? mailbox_send_reserved(asker->jobs, job) : mailbox_send(asker->jobs, job);
    if (!sent) {
        log_warn("too many questions of the server wait, dropping one");
        arena_done(&job->arena);
        free(job);
    }
}

void asker_session(struct ask_thread *asker, const char *url, const char *credential)
{
    struct asker_job *job = job_new();
    job->url = arena_str(&job->arena, url);
    job->credential = arena_str(&job->arena, credential);
    job_send(asker, job, true);
}

void asker_take(struct ask_thread *asker, const struct agent_ask *ask)
{
    struct asker_job *job = job_new();
    job->ask = *ask;
    job->ask.what = arena_str(&job->arena, ask->what);
    job->ask.path = arena_str(&job->arena, ask->path);
    job->ask.after = arena_str(&job->arena, ask->after == NULL ? "" : ask->after);
    job_send(asker, job, false);
}

void asker_sweep(struct ask_thread *asker)
{
    if (asker->options->keep_files_ms > 0) {
        struct asker_job *job = job_new();
        job->sweep = true;
        job_send(asker, job, false);
    }
}
