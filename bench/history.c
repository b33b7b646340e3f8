/* history.c - puts ended tasks into the data directory of a server that does not run: what `bench/pages.py` asks for.
 *
 *   history_fill DIR TASKS < TASK      TASK is a task as the API shows it, with @ID, @USER and @PROJECT in it
 *
 * 200 users in 40 projects; one attempt a task, of up to two hours; the tasks end within the last 30 days. Their
 * numbers begin at FIRST, so that the server's own never meet them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "store/store_usage.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCH = 2000, USERS = 200, PROJECTS = 40, NODES = 1000, DAYS = 30, TEXT_MAX = 8192 };
enum { NAME_MAX_LEN = 16, STATE_COMPLETED = 6 };
#define FIRST UINT64_C(100000000)

struct rows {
    struct store_history history[BATCH];
    struct store_use uses[2 * BATCH];
    char json[BATCH][TEXT_MAX];
};

static struct rows rows;
static char template[TEXT_MAX / 2];
static char users[USERS][NAME_MAX_LEN];
static char projects[PROJECTS][NAME_MAX_LEN];
static char nodes[NODES][NAME_MAX_LEN];
static uint64_t seed = 1;

static int64_t draw(int64_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((seed >> 33) % (uint64_t)below);
}

static void check(enum err r, const struct error *e)
{
    if (r != ERR_OK) {
        (void)fprintf(stderr, "history_fill: %s\n", e->text);
        exit(1);
    }
}

/* The template with its three words filled in. */
static size_t text_make(char *out, uint64_t task, const char *user, const char *project)
{
    char id[24];
    (void)snprintf(id, sizeof id, "%" PRIu64, task);
    const char *const words[][2] = {{"@ID", id}, {"@USER", user}, {"@PROJECT", project}};
    size_t len = 0;
    for (const char *p = template; *p != '\0' && len < TEXT_MAX - NAME_MAX_LEN - sizeof id;) {
        size_t i = 0;
        while (i < 3 && strncmp(p, words[i][0], strlen(words[i][0])) != 0) {
            i++;
        }
        if (i == 3) {
            out[len++] = *p++;
            continue;
        }
        memcpy(out + len, words[i][1], strlen(words[i][1]));
        len += strlen(words[i][1]);
        p += strlen(words[i][0]);
    }
    return len;
}

static void task_put(size_t at, uint64_t task, int64_t end_ms)
{
    const int64_t user = draw(USERS);
    const int64_t length_ms = 1000 + draw(2 * 3600 * 1000);
    struct store_use *attempt = &rows.uses[2 * at];
    struct store_use *whole = &rows.uses[2 * at + 1];
    *attempt = (struct store_use){
        .task = task,
        .attempt = 1,
        .ending = draw(20) == 0 ? USE_TRY_EVICTED : USE_TRY,
        .begin_ms = end_ms - length_ms,
        .end_ms = end_ms,
        .lost_from_ms = end_ms,
        .submitted_ms = end_ms - length_ms - draw(3600 * 1000),
        .slots_milli = 1000 * (1 + draw(8)),
        .kind = (uint32_t)draw(2),
        .pool = str_of("default"),
        .user = str_of(users[user]),
        .project = str_of(projects[user % PROJECTS]),
        .node = str_of(nodes[draw(NODES)]),
    };
    *whole = *attempt;
    whole->index = -1;
    whole->attempt = 0;
    whole->ending = draw(10) == 0 ? USE_FAILED : USE_COMPLETED;
    whole->begin_ms = end_ms;
    whole->submitted_ms = 0;
    whole->slots_milli = 0;
    whole->node = (struct str){"", 0};
    const size_t len = text_make(rows.json[at], task, users[user], projects[user % PROJECTS]);
    rows.history[at] =
        (struct store_history){.task = task,
                               .submitted_ms = attempt->submitted_ms,
                               .ended_ms = end_ms,
                               .state = STATE_COMPLETED + (uint32_t)whole->ending - USE_COMPLETED,
                               .kind = attempt->kind,
                               .pool = attempt->pool,
                               .user = attempt->user,
                               .project = attempt->project,
                               .name = str_of(""),
                               .json = {rows.json[at], len}};
}

static void fill(const char *dir, uint64_t tasks, int64_t now_ms)
{
    struct error e;
    struct store *store;
    const struct store_options options = {.dir = dir};
    check(store_open(&options, &store, &e), &e);
    for (uint64_t done = 0; done < tasks;) {
        size_t count = 0;
        for (; count < BATCH && done < tasks; count++, done++) {
            const int64_t span = DAYS * STORE_DAY_MS / (int64_t)tasks;
            task_put(count, FIRST + done, now_ms - (int64_t)(tasks - done) * span);
        }
        const struct store_batch batch = {.history = rows.history,
                                          .history_count = count,
                                          .uses = rows.uses,
                                          .use_count = 2 * count};
        check(store_commit(store, &batch, &e), &e);
        check(store_commit_tend(store, &e), &e);
    }
    store_close(store);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        (void)fprintf(stderr, "usage: history_fill DIR TASKS < TASK\n");
        return 2;
    }
    template[fread(template, 1, sizeof template - 1, stdin)] = '\0';
    for (int i = 0; i < NODES; i++) {
        (void)snprintf(nodes[i], sizeof nodes[i], "n%05d", i);
    }
    for (int i = 0; i < USERS; i++) {
        (void)snprintf(users[i], sizeof users[i], "user%d", i);
        (void)snprintf(projects[i % PROJECTS], sizeof projects[0], "project%d", i % PROJECTS);
    }
    fill(argv[1], strtoull(argv[2], NULL, 10), (int64_t)time(NULL) * 1000);
    return 0;
}
