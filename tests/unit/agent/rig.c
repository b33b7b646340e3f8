/* rig.c - a real supervisor for tests. SPDX-License-Identifier: Apache-2.0 */
#include "rig.h"

#include "agent/agent.h"
#include "agent/cgroup.h"
#include "agent/supervisor.h"
#include "base/mem.h"

#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WAIT_MS = 30000, GATHER_MAX = 64 * 1024 * 1024 };

bool rig_role(int argc, char **argv, int *ret_code)
{
    if (argc < 2 || strcmp(argv[1], "supervisor") != 0) {
        return false;
    }
    *ret_code = supervisor_main(argc - 1, argv + 1);
    return true;
}

static void poll_wait(const struct rig *rig)
{
    struct pollfd poll_fd = {.fd = supclient_fd(rig->client), .events = POLLIN};
    int ready = poll(&poll_fd, 1, WAIT_MS);
    if (ready != 1) {
        (void)fprintf(stderr, "rig: nothing came for %d ms\n", WAIT_MS);
        abort();
    }
}

static struct frame frame_wait(struct rig *rig)
{
    struct arena arena;
    arena_init(&arena);
    struct frame frame;
    for (;;) {
        enum supclient_got got = supclient_get(rig->client, &arena, &frame);
        must(got != SUPCLIENT_GONE);
        if (got == SUPCLIENT_FRAME) {
            arena_done(&arena);
            return frame;
        }
        poll_wait(rig);
    }
}

static void greeting_take(struct rig *rig)
{
    rig->attempts = 0;
    rig->attempts_ended = 0;
    for (;;) {
        struct frame frame = frame_wait(rig);
        if (frame.type == FRAME_HELLO) {
            rig->hello = frame;
        } else if (frame.type == FRAME_ATTEMPT) {
            rig->attempts++;
            rig->attempts_ended += frame.ended;
        } else if (frame.type == FRAME_READY) {
            return;
        }
    }
}

void rig_up(struct rig *rig)
{
    *rig = (struct rig){.dir = "/tmp/weir-test-XXXXXX"};
    struct error e;
    must(mkdtemp(rig->dir) != NULL);
    must(chmod(rig->dir, 0711) == 0);
    if (supclient_launch(&(struct agent_options){.dir = rig->dir}, &e) != ERR_OK ||
        supclient_connect(rig->dir, &rig->client, &e) != ERR_OK) {
        (void)fprintf(stderr, "rig: %s\n", e.text);
        abort();
    }
    greeting_take(rig);
    rig->reader = spool_reader_new(rig->dir, 1);
    buf_init(&rig->out, GATHER_MAX);
    buf_init(&rig->err, GATHER_MAX);
}

void rig_reconnect(struct rig *rig)
{
    supclient_free(rig->client);
    must(supclient_connect(rig->dir, &rig->client, NULL) == ERR_OK);
    greeting_take(rig);
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info;
    (void)type;
    (void)walk;
    return remove(path);
}

void rig_wait_gone(struct rig *rig)
{
    struct arena arena;
    arena_init(&arena);
    struct frame frame;
    enum supclient_got got = SUPCLIENT_FRAME;
    while (got != SUPCLIENT_GONE) {
        got = supclient_get(rig->client, &arena, &frame);
        if (got == SUPCLIENT_NOTHING) {
            poll_wait(rig);
        }
    }
    arena_done(&arena);
}

/* Checks that the supervisor's log has no message of a sanitizer or an assertion. */
static void log_check(const struct rig *rig)
{
    static const char *const bad[] = {"Sanitizer", "runtime error", "bug:"};
    char path[128];
    char text[64 * 1024];
    (void)snprintf(path, sizeof path, "%s/supervisor.log", rig->dir);
    FILE *file = fopen(path, "re");
    must(file != NULL);
    size_t len = fread(text, 1, sizeof text - 1, file);
    text[len] = '\0';
    (void)fclose(file);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (strstr(text, bad[i]) != NULL) {
            (void)fprintf(stderr, "rig: the supervisor says:\n%s\n", text);
            abort();
        }
    }
}

void rig_down(struct rig *rig)
{
    (void)kill((pid_t)rig->hello.pid, SIGTERM);
    rig_wait_gone(rig);
    (void)waitpid((pid_t)rig->hello.pid, NULL, 0);
    log_check(rig);
    char hex[SUPERVISOR_HEX_LEN + 1];
    for (size_t i = 0; i < SUPERVISOR_ID_LEN; i++) {
        (void)snprintf(hex + 2 * i, 3, "%02x", rig->hello.id[i]);
    }
    while (
        !cgroup_end(rig->dir, hex)) { /* waits for the end of the cgroup of a killed supervisor */
        (void)usleep(1000);
    }
    supclient_free(rig->client);
    spool_reader_free(rig->reader);
    buf_done(&rig->out);
    buf_done(&rig->err);
    (void)nftw(rig->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void rig_order(struct rig *rig, const struct start_order *order)
{
    struct frame frame = {.type = FRAME_START, .start = *order};
    supclient_put(rig->client, &frame);
    must(supclient_flush(rig->client));
}

void rig_start(struct rig *rig, uint64_t task, uint32_t attempt, const char *script)
{
    const char *const argv[] = {"sh", "-c", script};
    struct start_order order = {.key = {{task}, 0, attempt},
                                .argv = argv,
                                .argv_count = 3,
                                .workdir = "",
                                .pool = "default",
                                .node = "n1",
                                .slots_milli = 1000,
                                .world_size = 1,
                                .master_addr = ""};
    rig_order(rig, &order);
}

void rig_stop(struct rig *rig, uint64_t task, uint32_t attempt, int64_t grace_ms)
{
    struct frame frame = {.type = FRAME_STOP, .key = {{task}, 0, attempt}, .grace_ms = grace_ms};
    supclient_put(rig->client, &frame);
    must(supclient_flush(rig->client));
}

static void output_gather(struct rig *rig, const struct record *record)
{
    buf_add(record->stream == 1 ? &rig->out : &rig->err, record->data.p, record->data.len);
}

void rig_output_wait(struct rig *rig, size_t len)
{
    while (rig->out.len < len) {
        struct record record;
        while (!spool_reader_next(rig->reader, &record)) {
            (void)frame_wait(rig);
        }
        if (record.type == RECORD_OUTPUT) {
            output_gather(rig, &record);
        }
    }
}

struct record rig_next(struct rig *rig)
{
    for (;;) {
        struct record record;
        while (!spool_reader_next(rig->reader, &record)) {
            (void)frame_wait(rig);
        }
        if (record.type == RECORD_OUTPUT) {
            output_gather(rig, &record);
        } else if (record.type != RECORD_SEGMENT && record.type != RECORD_ACCEPTED) {
            return record;
        }
    }
}

struct record rig_ended(struct rig *rig, uint64_t task)
{
    for (;;) {
        struct record record = rig_next(rig);
        if (record.key.task.v == task &&
            (record.type == RECORD_ENDED || record.type == RECORD_SPAWN_FAILED)) {
            return record;
        }
    }
}

void rig_ack(struct rig *rig)
{
    struct frame frame = {.type = FRAME_ACK, .at = spool_reader_at(rig->reader)};
    supclient_put(rig->client, &frame);
    must(supclient_flush(rig->client));
}

bool rig_alive(int pid)
{
    char path[64];
    char text[512] = "";
    (void)snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return false;
    }
    size_t len = fread(text, 1, sizeof text - 1, file);
    (void)fclose(file);
    const char *name_end = strrchr(text, ')');
    return len > 0 && name_end != NULL && name_end[2] != 'Z' && name_end[2] != 'X';
}
