/* server.c - the life of a server: opens the store, rebuilds the state, starts the threads, records
 * the start, opens its port, serves, and closes in reverse order.
 *
 * The port opens when the start is on disk, because before that the server has no epoch.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/server.h"

#include "compat/qarnot/qarnot.h"
#include "base/inert.h"
#include "base/log.h"
#include "server/secrets.h"
#include "server/server_internal.h"
#include "server/server_pages.h"

#include <errno.h>
#include <malloc.h>
#include <pwd.h>
#include <signal.h>
#include <sodium.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    HEARTBEAT_MS = 10000,
    LOCAL_CONNECTIONS_MAX = 256,
    CONNECTIONS_MAX = 12000,
    IDLE_S = 90,
    PRUNE_FIRST_MS = 60 * 1000,
    PRUNE_MS = 60 * 60 * 1000,
    PRUNE_MORE_MS = 1000,
    TOKENS_KEEP_MS = 24 * 60 * 60 * 1000, /* for how long `weir token list` shows expired tokens */
    STOP_MS = 20,                         /* for the last answers to leave */
    MMAP_THRESHOLD = 256 * 1024           /* larger buffers go back to the system when freed */
};

static int64_t wall_ms(void)
{
    struct timespec now;
    must(clock_gettime(CLOCK_REALTIME, &now) == 0);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- jobs that come back to the loop ---- */

static void store_job_done(void *ctx, struct store_job *job)
{
    struct server *server = ctx;
    switch (job->kind) {
    case STORE_COMMIT:
    case STORE_REBUILD:
        ledger_job_done(server->ledger, job);
        return;
    case STORE_SNAPSHOT:
        snapshots_job_done(server->snapshots, job);
        return;
    case STORE_PRUNE:
        if (job->err != ERR_OK) {
            log_warn("old history could not be dropped, trying again later", kv_error(&job->error));
        }
        loop_timer_set(server->prune,
                       loop_now_ms(server->loop) + (job->more ? PRUNE_MORE_MS : PRUNE_MS));
        free(job);
        return;
    }
}

static void token_put(void *ctx, const struct store_token *token)
{
    ledger_token(ctx, token);
}

static void prune_due(void *ctx)
{
    struct server *server = ctx;
    const int64_t before_ms = ledger_now_ms(server->ledger) - TOKENS_KEEP_MS;
    if (ledger_state(server->ledger) == LEDGER_OPEN) {
        token_set_revoke_expired(server->tokens, before_ms, token_put, server->ledger);
    }
    api_sweep(server->api);
    struct store_job *job = xcalloc(1, sizeof *job);
    if (server->tls != NULL) {
        server_tls_look(server->tls);
    }
    job->kind = STORE_PRUNE;
    job->now_ms = ledger_now_ms(server->ledger);
    store_thread_do(server->store, job);
}

static void batch_committed(void *ctx, const struct batch *batch)
{
    struct server *server = ctx;
    for (size_t i = 0; i < batch->tokens.count; i++) {
        token_set_put(server->tokens, &batch->tokens.at[i]);
    }
    agents_committed(server->agents, batch);
    providers_committed(server->providers, batch);
    struct store_batch stored = batch_for_store(batch);
    api_committed(server->api, &stored);
}

static void ledger_healed(void *ctx)
{
    struct server *server = ctx;
    agents_healed(server->agents);
    providers_healed(server->providers);
}

/* Gives any known token, to be written again as it is. */
static void ledger_probe(void *ctx, struct store_token *ret)
{
    struct server *server = ctx;
    size_t cursor = 0;
    const struct store_token *token = token_set_next(server->tokens, &cursor);
    must(token != NULL);
    *ret = *token;
}

static void turn_end(void *ctx)
{
    struct server *server = ctx;
    if (!server->stopping) {
        providers_turn_end(server->providers);
        schedule_turn_end(server->schedule);
        snapshots_turn_end(server->snapshots);
    }
    ledger_hand_over(server->ledger);
    bool settled = ledger_quiet(server->ledger) || ledger_state(server->ledger) != LEDGER_OPEN;
    if (server->stopping && settled && loop_now_ms(server->loop) >= server->stop_ms) {
        loop_stop(server->loop);
    }
}

/* ---- signals ---- */

/* The timer only makes the loop turn. The loop stops at the end of that turn. */
static void stop_due(void *ctx)
{
    (void)ctx;
}

static void stop_asked(void *ctx)
{
    struct server *server = ctx;
    if (server->stopping) {
        return;
    }
    log_info("stopping");
    server->stopping = true;
    server->stop_ms = loop_now_ms(server->loop) + STOP_MS;
    agents_bye(server->agents, "the server is stopping");
    loop_timer_off(server->prune);
    loop_timer_set(server->stop, server->stop_ms);
}

static void reload_asked(void *ctx)
{
    struct server *server = ctx;
    struct arena arena;
    struct server_file file;
    const char *report;
    struct error e;
    if (server->tls != NULL) {
        server_tls_reload(server->tls);
        providers_trust(server->providers, http_tls_facts(server_tls_http(server->tls))->root);
    }
    if (server->o.config == NULL) {
        return;
    }
    if (ledger_state(server->ledger) != LEDGER_OPEN) {
        log_warn("the configuration cannot be read again now");
        return;
    }
    arena_init(&arena);
    if (server_options_file(server->o.config, &arena, &file, &report, &e) != ERR_OK) {
        log_error_always("the configuration stays as it is", kv_error(&e));
    } else {
        server_config_reconcile(server, &file);
        log_info("configuration read again", kv_u64("pools", file.pool_count));
    }
    arena_done(&arena);
}

/* ---- start ---- */

static void url_write(struct server *server)
{
    struct error e;
    const char *url = server_tls_url(server->tls, server->o.address, http_server_port(server->http),
                                     &server->arena);
    const char *line = arena_fmt(&server->arena, "%s\n", url);
    if (secrets_write_file(server->o.dir, "server.url", line, 0644, &e) != ERR_OK) {
        log_warn("agents and commands must be told the address by hand", kv_error(&e));
    }
    if (server->o.ready_fd >= 0) {
        if (write(server->o.ready_fd, line, strlen(line)) != (ssize_t)strlen(line)) {
            log_warn("cannot write to --ready-fd that the server is ready");
        }
        (void)close(server->o.ready_fd);
    }
    log_info("serving", kv_str("url", url), kv_str("address", server->o.address),
             kv_str("data", server->o.dir));
    const struct http_tls *tls = server_tls_http(server->tls);
    providers_start(server->providers, url, tls != NULL ? http_tls_facts(tls)->root : "");
}

/* Each connection is an open file: uses the highest number of files that the system allows. */
static void files_allow(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
}

static void connections_given_up(void *ctx, uint64_t count)
{
    (void)ctx;
    log_warn("connections were closed, because they were too many or too slow",
             kv_u64("count", count));
}

static void connections_tell(const struct server *server)
{
    if (http_server_connections_max(server->http) < CONNECTIONS_MAX) {
        log_warn("few connections are possible, because few files may be open (ulimit -n)",
                 kv_u64("connections", http_server_connections_max(server->http)));
    }
}

/* The second way in. The server goes on without it. */
static void socket_open(struct server *server, const struct http_server_options *like)
{
    struct http_server_options options = *like;
    struct error e;
    if (server->o.socket == NULL) {
        return;
    }
    options.unix_path = server->o.socket;
    options.tls = NULL;
    options.connections_max = LOCAL_CONNECTIONS_MAX;
    if (http_server_new(&options, &server->local, &e) != ERR_OK) {
        log_warn("there is no socket for commands on this machine", kv_error(&e));
    }
}

/* The start is on disk: opens the port. */
static void port_open(struct parked_answer *hold, const struct error *failure)
{
    struct server *server = (struct server *)((char *)hold - offsetof(struct server, ready));
    struct error e;
    struct http_server_options http = {
        .loop = server->loop,
        .address = server->o.address,
        .port = server->o.port,
        .inherited = server->o.inherited,
        .tls = server_tls_http(server->tls),
        .connections_max = CONNECTIONS_MAX,
        .idle_s = IDLE_S,
        .on_head = api_on_head,
        .on_request = api_on_request,
        .on_gone = api_on_gone,
        .on_given_up = connections_given_up,
        .ctx = server->api,
    };
    files_allow();
    if (failure != NULL) {
        log_error("the start could not be recorded", kv_error(failure));
    } else if (http_server_new(&http, &server->http, &e) != ERR_OK) {
        log_error("cannot listen", kv_str("address", server->o.address),
                  kv_u64("port", server->o.port), kv_error(&e));
    } else {
        connections_tell(server);
        socket_open(server, &http);
        server_pages_listen(server, &http);
        url_write(server);
        return;
    }
    server->exit_status = 1;
    loop_stop(server->loop);
}

/* The name for the administrator's token: the account that the server runs as. */
static const char *account_name(void)
{
    const struct passwd *account = getpwuid(geteuid());
    return account != NULL && strlen(account->pw_name) <= NAME_LEN_MAX ? account->pw_name : "admin";
}

static enum err tokens_ensure(struct server *server, struct error *e)
{
    static const enum token_scope scopes[] = {SCOPE_ADMIN, SCOPE_JOIN};
    for (size_t i = 0; i < sizeof scopes / sizeof scopes[0]; i++) {
        struct store_token token;
        bool made;
        const char *name = scopes[i] == SCOPE_ADMIN ? account_name() : "default";
        enum err r = secrets_ensure(server->o.dir, scopes[i], name, server->tokens,
                                    ledger_now_ms(server->ledger), &token, &made, e);
        if (r != ERR_OK) {
            return r;
        }
        if (made) {
            ledger_token(server->ledger, &token);
            /* The token counts at once, because the port opens only after the token's commit. */
            token_set_put(server->tokens, &token);
        }
    }
    return ERR_OK;
}

static enum err start_record(struct server *server, struct error *e)
{
    struct input in = {.type = INPUT_SERVER_START, .actor = "server", .cause = "start"};
    struct facts facts;
    struct arena arena;
    randombytes_buf(in.server.server_uuid, sizeof in.server.server_uuid);
    arena_init(&arena);
    fact_list_init(&facts, &arena);
    must(ledger_input(server->ledger, &in, &facts) == VERDICT_OK);
    arena_done(&arena);
    agents_start(server->agents);
    server_config_reconcile(server, &server->o.file);
    enum err r = tokens_ensure(server, e);
    if (r == ERR_OK) {
        server->ready.fn = port_open;
        ledger_hold(server->ledger, &server->ready);
    }
    return r;
}

static void token_found(void *ctx, const struct store_token *token)
{
    token_set_put(ctx, token);
}

static void segment_damaged(void *ctx, const char *path, uint64_t found, uint64_t wanted)
{
    (void)ctx;
    log_error(
        "a segment of the log is gone or cut; output of tasks is lost, `weir db check` says of "
        "which",
        kv_str("file", path), kv_u64("bytes", found), kv_u64("should_be", wanted));
}

/* Makes the state and the threads around it. */
static enum err parts_make(struct server *server, struct store *store, struct error *e)
{
    struct core *core = NULL;
    struct recovered what;
    enum err r = store_tokens(store, token_found, server->tokens, e);
    r = r == ERR_OK ? store_segments_look(store, segment_damaged, NULL, e) : r;
    r = r == ERR_OK ? recover_core(store, &core, &what, e) : r;
    if (r != ERR_OK) {
        store_close(store);
        return r;
    }
    log_info("state read", kv_u64("fact", query_seq(core)), kv_u64("snapshot", what.snapshot_seq),
             kv_u64("replayed", what.facts));
    struct ledger_hooks hooks = {.ctx = server,
                                 .committed = batch_committed,
                                 .healed = ledger_healed,
                                 .probe = ledger_probe};
    server->started_ms = wall_ms();
    server->ledger = ledger_new(server->loop, core, server->started_ms, &hooks);
    r = store_thread_start(server->loop, store, store_job_done, server, &server->store, e);
    if (r != ERR_OK) {
        store_close(store);
        return r;
    }
    ledger_attach(server->ledger, server->store);
    r = work_thread_start(server->loop, server->o.dir, &server->reader, e);
    r = r == ERR_OK ? work_thread_start(server->loop, NULL, &server->worker, e) : r;
    if (r != ERR_OK) {
        return r;
    }
    server->schedule = schedule_new(server->loop, server->ledger);
    server->snapshots = snapshots_new(&(struct snapshots_options){
        .loop = server->loop,
        .ledger = server->ledger,
        .worker = server->worker,
        .store = server->store,
        .dir = server->o.dir,
        .seq = what.snapshot_seq,
    });
    server->agents = agents_new(&(struct agents_options){
        .loop = server->loop,
        .ledger = server->ledger,
        .heartbeat_ms = HEARTBEAT_MS,
        .lost_after_ms = server->o.file.lost_after_ms,
    });
    server->providers = providers_new(
        &(struct providers_options){.loop = server->loop,
                                    .ledger = server->ledger,
                                    .tokens = server->tokens,
                                    .dir = server->o.dir,
                                    .ec2_credentials = server->o.file.ec2_credentials});
    return ERR_OK;
}

static enum err server_open(struct server *server, struct error *e)
{
    struct store *store;
    struct store_options options = {
        .dir = server->o.dir,
        .facts_keep = server->o.file.facts_keep,
        .history_keep_ms = server->o.file.history_keep_ms,
    };
    server->tokens = token_set_new();
    enum err r = loop_new(&server->loop, e);
    r = r == ERR_OK ? loop_signal(server->loop, SIGTERM, stop_asked, server, e) : r;
    r = r == ERR_OK ? loop_signal(server->loop, SIGINT, stop_asked, server, e) : r;
    r = r == ERR_OK ? loop_signal(server->loop, SIGHUP, reload_asked, server, e) : r;
    r = r == ERR_OK ? store_open(&options, &store, e) : r;
    r = r == ERR_OK ? parts_make(server, store, e) : r;
    r = r == ERR_OK ? server_tls_open(&server->o, wall_ms(), &server->tls, e) : r;
    if (r != ERR_OK) {
        return r;
    }
    server_host_init(server);
    server->api = api_new(&(struct api_options){
        .host = &server->host,
        .tokens = server->tokens,
        .loop = server->loop,
        .listen_host = server->o.address,
        .dir = server->o.dir,
        .tls = server_tls_http(server->tls),
        .mounts = {&qarnot_mount, 1},
        .inherited = server->o.inherited > 0,
        .qarnot = server->o.file.qarnot,
    });
    server->prune = loop_timer_new(server->loop, prune_due, server);
    server->stop = loop_timer_new(server->loop, stop_due, server);
    loop_timer_set(server->prune, loop_now_ms(server->loop) + PRUNE_FIRST_MS);
    loop_turn_end(server->loop, turn_end, server);
    return start_record(server, e);
}

/* The reverse of server_open(). Every part may be missing. */
static void server_close(struct server *server)
{
    if (server->api != NULL) {
        api_stop(server->api);
    }
    http_server_free(server->proxy);
    http_server_free(server->http);
    server->http = NULL;
    if (server->local != NULL) {
        http_server_free(server->local);
        (void)unlink(server->o.socket);
    }
    server_tls_close(server->tls);
    if (server->snapshots != NULL && server->exit_status == 0) {
        snapshots_final(server->snapshots);
    }
    /* The store's thread stops last, because it still records a finished snapshot. */
    work_thread_stop(server->reader);
    work_thread_stop(server->worker);
    store_thread_stop(server->store);
    api_free(server->api);
    providers_free(server->providers);
    agents_free(server->agents);
    schedule_free(server->schedule);
    ledger_free(server->ledger);
    snapshots_free(server->snapshots);
    loop_timer_free(server->prune);
    loop_timer_free(server->stop);
    loop_free(server->loop);
    token_set_free(server->tokens);
}

int server_main(int argc, char **argv)
{
    struct server server = {0};
    struct error e;
    log_setup_role("server");
    (void)signal(SIGPIPE, SIG_IGN);
    (void)mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD);
    must(sodium_init() >= 0);
    arena_init(&server.arena);
    enum err r = server_options_read(argc, argv, &server.arena, &server.o, &e);
    if (r != ERR_OK) {
        if (server.o.report != NULL) {
            (void)fputs(server.o.report, stderr);
            (void)fail(&e, r, "%s cannot be used; see above", server.o.config);
        }
        inert_print_error("server", &e);
        arena_done(&server.arena);
        return r == ERR_USAGE ? 2 : 1;
    }
    if (server_open(&server, &e) == ERR_OK) {
        turn_end(&server); /* the facts of the start go to the disk at once */
        loop_run(server.loop);
    } else {
        log_error("cannot start", kv_error(&e));
        server.exit_status = e.code == ERR_CONFLICT ? 5 : 1;
    }
    server_close(&server);
    arena_done(&server.arena);
    return server.exit_status;
}
