/* slurm.c - see slurm.h.
 *
 *   launch     squeue by name ─┬─ a job is there: reported
 *                              └─ none: sbatch
 *   terminate  squeue by name ─┬─ none: gone
 *                              └─ jobs: scancel, and look again later
 *   list       one squeue for all jobs of the user
 *
 * The name of a job is its key. An sbatch that was killed with its server after Slurm had heard it may leave two jobs of one
 * key: the younger one is cancelled when it is seen.
 * SPDX-License-Identifier: Apache-2.0 */
#include "provider/slurm/slurm.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/must.h"
#include "provider/calls.h"
#include "provider/slurm/slurm_text.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CALL_TIMEOUT_MS = 30 * 1000, CANCEL_AT_ONCE_MAX = 32 };

struct slurm {
    struct provider provider;
    struct slurm_options o;
    uint8_t uuid[16];       /* of the server */
    char program[PATH_MAX]; /* weir, also on the nodes */
    struct calls *calls;
    void (*list_done)(void *ctx, const char *problem);
    void *list_ctx; /* of the list under way */
};

typedef void (*done_fn)(void *ctx, const struct programs_result *result);

static struct slurm *slurm_of(struct provider *provider)
{
    return (struct slurm *)(void *)provider;
}

static void program_run(struct slurm *slurm, const char *const *argv, struct str input,
                        done_fn done, void *ctx)
{
    programs_run(slurm->o.programs, &(struct programs_order){.argv = argv,
                                                             .input = input,
                                                             .timeout_ms = CALL_TIMEOUT_MS,
                                                             .owner = slurm,
                                                             .done = done,
                                                             .ctx = ctx});
}

/* The slurm of a call: the context that its calls were made with. */
static struct slurm *slurm_of_call(const struct machine_call *call)
{
    return calls_ctx(call->calls);
}

/* ---- scancel ---- */

static void cancelled(void *ctx, const struct programs_result *result)
{
    (void)ctx;
    (void)result; /* the next look says whether the job is gone */
}

/* Cancels jobs, at most a few at once; the next look cancels more. */
static void jobs_cancel(struct slurm *slurm, const struct slurm_job *jobs, uint32_t count,
                        done_fn done, void *ctx)
{
    const char *argv[CANCEL_AT_ONCE_MAX + 2] = {"scancel"};
    char ids[CANCEL_AT_ONCE_MAX][STR_U64_MAX + 1];
    const uint32_t most = count < CANCEL_AT_ONCE_MAX ? count : CANCEL_AT_ONCE_MAX;
    for (uint32_t i = 0; i < most; i++) {
        (void)snprintf(ids[i], sizeof ids[i], "%" PRIu64, jobs[i].id);
        argv[i + 1] = ids[i];
    }
    program_run(slurm, argv, (struct str){0}, done, ctx);
}

/* ---- launch and terminate ---- */

static void submitted(void *ctx, const struct programs_result *result)
{
    struct machine_call *call = ctx;
    char name[64];
    struct str rest;
    uint64_t id;
    /* "17", or "17;cluster" */
    if (result->problem[0] != '\0') {
        calls_unclear(call, result->problem);
    } else if (!str_to_u64(str_cut(str_trim(result->out), ';', &rest), &id)) {
        calls_unclear(call, "sbatch printed no number of a job");
    } else {
        (void)snprintf(name, sizeof name, "job %" PRIu64, id);
        calls_answered(call,
                       &(struct provider_report){
                           .says = PROVIDER_REQUESTED, .name = name, .node = "", .words = ""});
    }
}

static void job_submit(struct machine_call *call)
{
    const char *argv[PROGRAM_WORDS_MAX + 1];
    struct str script;
    slurm_text_order_split((struct str){call->text, call->text_len}, argv, PROGRAM_WORDS_MAX,
                           &script);
    program_run(slurm_of_call(call), argv, script, submitted, call);
}

static void cancel_seen(void *ctx, const struct programs_result *result)
{
    calls_unclear(ctx, result->problem);
}

/* Reads the jobs of the call's key, and does what the call wants with them. */
static enum err jobs_take(struct machine_call *call, struct str out, struct arena *arena,
                          struct error *e)
{
    struct slurm *slurm = slurm_of_call(call);
    struct slurm_jobs jobs;
    const enum err r = slurm_text_jobs(out, arena, &jobs, e);
    if (r != ERR_OK) {
        return r;
    }
    if (call->kind == CALL_TERMINATE) {
        if (jobs.count > 0) {
            jobs_cancel(slurm, jobs.at, jobs.count, cancel_seen, call);
        } else {
            calls_answered(call, &(struct provider_report){
                                     .says = PROVIDER_GONE, .name = "", .node = "", .words = ""});
        }
        return ERR_OK;
    }
    if (jobs.count == 0) {
        job_submit(call);
        return ERR_OK;
    }
    if (jobs.count > 1) {
        jobs_cancel(slurm, jobs.at + 1, jobs.count - 1, cancelled, NULL);
    }
    calls_answered(call, &(struct provider_report){.says = jobs.at[0].says,
                                                   .name = jobs.at[0].name,
                                                   .node = "",
                                                   .words = jobs.at[0].words});
    return ERR_OK;
}

static void looked_up(void *ctx, const struct programs_result *result)
{
    calls_program_ended(ctx, result, jobs_take);
}

static void call_make(void *ctx, struct machine_call *call)
{
    char name[PROVIDER_KEY_MAX + 16];
    (void)snprintf(name, sizeof name, "--name=%s", call->key);
    const char *const argv[] = {"squeue", "--noheader", "--me", SLURM_TEXT_FORMAT, name, NULL};
    program_run(ctx, argv, (struct str){0}, looked_up, call);
}

static void slurm_launch(struct provider *provider, const struct provider_order *order)
{
    struct slurm *slurm = slurm_of(provider);
    struct buf text;
    buf_init(&text, PROGRAM_INPUT_MAX);
    slurm_text_order(&text, order, slurm->program);
    must(!text.full);
    calls_launch(slurm->calls, order->key, (struct str){text.data, text.len});
    buf_done(&text);
}

static void slurm_terminate(struct provider *provider, const char *key)
{
    calls_terminate(slurm_of(provider)->calls, key);
}

/* ---- list ---- */

/* Reports the oldest job of each key of this server, and cancels the others. */
static void jobs_report(struct slurm *slurm, const struct slurm_jobs *jobs)
{
    const struct provider_sink sink = slurm->provider.sink;
    for (uint32_t i = 0; i < jobs->count; i++) {
        const struct slurm_job *job = &jobs->at[i];
        const struct provider_report report = {.key = job->key,
                                               .says = job->says,
                                               .name = job->name,
                                               .node = "",
                                               .words = job->words,
                                               .stay = job->stay};
        struct provider_answer answer;
        if (!provider_answer_of(slurm->uuid, &report, &answer)) {
            continue; /* a job of another server */
        }
        if (i > 0 && strcmp(job->key, jobs->at[i - 1].key) == 0) {
            jobs_cancel(slurm, job, 1, cancelled, NULL);
        } else {
            sink.report(sink.ctx, &report);
        }
    }
}

static void list_done(void *ctx, const struct programs_result *result)
{
    struct slurm *slurm = ctx;
    struct arena arena;
    struct slurm_jobs jobs;
    struct error e = {0};
    arena_init(&arena);
    const char *problem = result->problem;
    if (problem[0] == '\0') {
        if (slurm_text_jobs(result->out, &arena, &jobs, &e) == ERR_OK) {
            jobs_report(slurm, &jobs);
        } else {
            problem = e.text;
        }
    }
    slurm->list_done(slurm->list_ctx, problem);
    arena_done(&arena);
}

static void slurm_list(struct provider *provider, void (*done)(void *ctx, const char *problem),
                       void *ctx)
{
    struct slurm *slurm = slurm_of(provider);
    const char *const argv[] = {"squeue", "--noheader", "--me", SLURM_TEXT_FORMAT, NULL};
    slurm->list_done = done;
    slurm->list_ctx = ctx;
    program_run(slurm, argv, (struct str){0}, list_done, slurm);
}

static void slurm_free(struct provider *provider)
{
    struct slurm *slurm = slurm_of(provider);
    programs_cancel(slurm->o.programs, slurm);
    calls_free(slurm->calls);
    free(slurm);
}

struct provider *slurm_provider_new(const struct slurm_options *options)
{
    static const struct provider_ops ops = {.launch = slurm_launch,
                                            .list = slurm_list,
                                            .terminate = slurm_terminate,
                                            .free = slurm_free};
    struct slurm *slurm = xcalloc(1, sizeof *slurm);
    slurm->provider = (struct provider){.ops = &ops, .sink = options->sink};
    slurm->o = *options;
    memcpy(slurm->uuid, options->server_uuid, sizeof slurm->uuid);
    const ssize_t len = readlink("/proc/self/exe", slurm->program, sizeof slurm->program - 1);
    must(len > 0);
    slurm->calls = calls_new(&(struct calls_options){
        .loop = options->loop, .sink = options->sink, .make = call_make, .ctx = slurm});
    return &slurm->provider;
}
