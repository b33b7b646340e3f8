/* cmd_up.c - `weir up`: runs a server and an agent as children and prints one line when both are
 * ready. When `weir up` ends, only the tasks go on.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/api.h"
#include "cli/child.h"
#include "cli/cmd.h"
#include "cli/login_names.h"
#include "cli/port.h"
#include "cli/updir.h"
#include "cli/item.h"
#include "io/http_client.h"
#include "io/signals.h"
#include "io/tls_dir.h"
#include "spec/resources_text.h"
#include "core/model/limits.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    PORT_DEFAULT = 8080,
    PORT_MAX = 65535,
    STOP_MS = 15000,
    FORMER_MS = 10000, /* time for the children of a killed `weir up` to end */
    COUNT_MS = 1000,
    COMMAND_LINE_MAX = 4096,
};

struct up {
    struct cli *cli;
    const char *dir;
    const char *url;
    unsigned former_port; /* of the `weir up` before on this directory; 0: unknown */
    struct child server;
    struct child agent;
    int signals;
    int signal; /* the signal that ended `weir up`; 0: none yet */
};

/* ---- before the start ---- */

static enum err flags_check(struct cli *cli, struct error *e)
{
    uint64_t port = args_number(&cli->args, "port", PORT_DEFAULT);
    if (port > PORT_MAX) {
        return fail(e, ERR_USAGE, "--port is %llu; 0 to %d would do", (unsigned long long)port,
                    PORT_MAX);
    }
    size_t cursor = 0;
    const char *text;
    while ((text = args_each(&cli->args, "resources", &cursor)) != NULL) {
        struct resources_text parsed;
        if (resources_text_parse(str_of(text), NODE_RESOURCES_MAX, &cli->arena, &parsed, e) !=
            ERR_OK) {
            (void)fail_in(e, "--resources");
            return ERR_USAGE;
        }
    }
    return ERR_OK;
}

static const char *dir_absolute(struct cli *cli)
{
    const char *named = args_text(&cli->args, "dir");
    const char *dir = named == NULL ? login_default_dir(&cli->arena) : named;
    char cwd[4096];
    if (dir[0] == '/' || getcwd(cwd, sizeof cwd) == NULL) {
        return dir;
    }
    return arena_fmt(&cli->arena, "%s/%s", cwd, dir);
}

/* True when this process is a `weir` on this directory. The process id alone proves nothing,
 * because the kernel reuses ids. */
static bool process_is_ours(pid_t pid, const char *dir)
{
    char path[64];
    char words[COMMAND_LINE_MAX];
    (void)snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t len = fd < 0 ? 0 : read(fd, words, sizeof words);
    if (fd >= 0) {
        (void)close(fd);
    }
    return len > 0 && memmem(words, (size_t)len, dir, strlen(dir)) != NULL;
}

/* Waits until the server and agent of a killed `weir up` have ended. They end by themselves. */
static void former_wait(const struct updir_info *former, const char *dir)
{
    const pid_t pids[] = {former->server, former->agent};
    for (size_t i = 0; i < 2; i++) {
        int fd = pids[i] == 0 ? -1 : (int)syscall(SYS_pidfd_open, pids[i], 0);
        if (fd >= 0 && process_is_ours(pids[i], dir)) {
            struct pollfd ended = {.fd = fd, .events = POLLIN};
            (void)poll(&ended, 1, FORMER_MS);
        }
        if (fd >= 0) {
            (void)close(fd);
        }
    }
}

static enum err dir_take(struct up *up, struct error *e)
{
    struct arena *arena = &up->cli->arena;
    enum err r = login_dirs_make(arena, up->dir, 0711, e);
    if (r == ERR_OK) {
        r = updir_lock(arena, up->dir, e);
    }
    struct updir_info former;
    if (r == ERR_OK && updir_read(arena, up->dir, &former)) {
        former_wait(&former, up->dir);
        const char *port = former.url != NULL ? strrchr(former.url, ':') : NULL;
        uint64_t number = 0;
        if (port != NULL && str_to_u64(str_of(port + 1), &number) && number <= PORT_MAX) {
            up->former_port = (unsigned)number;
        }
    }
    return r;
}

/* ---- the children ---- */

static enum err server_start(struct up *up, struct error *e)
{
    struct arena *arena = &up->cli->arena;
    unsigned port = (unsigned)args_number(&up->cli->args, "port", PORT_DEFAULT);
    if (port == 0 && port_check(arena, up->former_port, NULL) == ERR_OK) {
        port = up->former_port; /* nodes and saved logins know it */
    }
    enum err r = port == 0 ? ERR_OK : port_check(arena, port, e);
    if (r != ERR_OK) {
        return r;
    }
    struct child_args args = {0};
    child_arg(&args, "weir");
    child_arg(&args, "server");
    child_arg(&args, "--dir");
    child_arg(&args, up->dir);
    child_arg(&args, "--listen");
    const char *address = args_text(&up->cli->args, "listen");
    address = address == NULL ? "127.0.0.1" : address;
    child_arg(&args,
              arena_fmt(arena, strchr(address, ':') != NULL ? "[%s]:%u" : "%s:%u", address, port));
    if (args_has(&up->cli->args, "insecure-listen")) {
        child_arg(&args, "--insecure-listen");
    }
    up->url = arena_fmt(arena, "http://127.0.0.1:%u", port);
    return child_start(&up->server, "server", &args, arena, e);
}

static enum err agent_start(struct up *up, struct error *e)
{
    static const char *const handed_on[] = {
        "fake-gpus",        "slots",       "run-as",     "task-uids",  "isolate-by",
        "task-pids",        "task-disk",   "runtime",    "image-dirs", "allow-binds",
        "plain-registries", "image-cache", "keep-files", "confine",    "cpu-binding"};
    struct arena *arena = &up->cli->arena;
    struct child_args args = {0};
    child_arg(&args, "weir");
    child_arg(&args, "agent");
    child_arg(&args, "--dir");
    child_arg(&args, arena_fmt(arena, "%s/node", up->dir));
    child_arg(&args, "--hide");
    child_arg(&args, arena_fmt(arena, "%s:%s", up->dir, login_config_dir(arena)));
    child_arg(&args, "--replace");
    child_arg(&args, "--server");
    child_arg(&args, up->url);
    child_arg(&args, "--pool");
    child_arg(&args, "default");
    child_arg(&args, "--join-token-file");
    child_arg(&args, arena_fmt(arena, "%s/join.token", up->dir));
    if (tls_dir_has(arena, up->dir, TLS_DIR_TRUST)) {
        child_arg(&args, "--ca");
        child_arg(&args, tls_dir_path(arena, up->dir, TLS_DIR_TRUST));
    }
    for (size_t i = 0; i < sizeof handed_on / sizeof *handed_on; i++) {
        const char *value = args_text(&up->cli->args, handed_on[i]);
        if (value != NULL) {
            child_arg(&args, arena_fmt(arena, "--%s", handed_on[i]));
            child_arg(&args, value);
        }
    }
    size_t cursor = 0;
    const char *text;
    const char *all = NULL;
    while ((text = args_each(&up->cli->args, "resources", &cursor)) != NULL) {
        all = all == NULL ? text : arena_fmt(arena, "%s %s", all, text);
    }
    if (all != NULL) {
        child_arg(&args, "--resources");
        child_arg(&args, all);
    }
    return child_start(&up->agent, "agent", &args, arena, e);
}

/* Takes the address from the server's ready line: with --port 0 only the server knows the port. */
static void url_take(struct up *up)
{
    const char *said = strstr(up->server.line, "http");
    if (said != NULL) {
        up->url = arena_strn(&up->cli->arena, said, strcspn(said, " \r\n"));
    }
}

/* The name for the login of this `weir up`: the current context where that is free or is a login of the
 * same directory, else a name made of the directory. */
static const char *login_name(struct up *up)
{
    struct arena *arena = &up->cli->arena;
    struct login login;
    const char *current = login_names_current(arena);
    login_read(arena, current, &login);
    if (login.url == NULL || (login.dir != NULL && strcmp(login.dir, up->dir) == 0)) {
        return current;
    }
    const char *slash = strrchr(up->dir, '/');
    char *name = arena_fmt(arena, "up-%.50s", slash == NULL ? up->dir : slash + 1);
    for (char *p = name; *p != '\0'; p++) {
        *p = isalnum((unsigned char)*p) != 0 ? (char)tolower((unsigned char)*p) : '-';
    }
    return name;
}

/* Saves the login. A login of another server stays the current one unless --login is given. A home
 * directory that cannot be written does not stop `weir up`. */
static void login_write(struct up *up)
{
    struct error e;
    struct arena *arena = &up->cli->arena;
    struct login_entry entry = {
        .url = up->url,
        .token_file = arena_fmt(arena, "%s/admin.token", up->dir),
        .dir = up->dir,
    };
    const char *current = login_names_current(arena);
    const char *name = login_name(up);
    const bool other = strcmp(name, current) != 0;
    enum err r = login_save(arena, name, &entry, &e);
    if (r == ERR_OK && other && args_has(&up->cli->args, "login")) {
        r = login_names_use(arena, name, &e);
    } else if (r == ERR_OK && other) {
        struct login login;
        login_read(arena, current, &login);
        context_say(
            "weir: commands go on talking to %s (context %s); `weir context use %s` switches "
            "to this server",
            login.url, current, name);
    }
    if (r != ERR_OK) {
        context_say("weir: %s; set WEIR_SERVER=%s and WEIR_TOKEN for the other commands", e.text,
                    up->url);
    }
}

static enum err info_write(struct up *up, struct error *e)
{
    struct updir_info info = {.url = up->url, .server = up->server.pid, .agent = up->agent.pid};
    return updir_write(&up->cli->arena, up->dir, &info, e);
}

/* ---- waiting ---- */

/* Ends `weir up` when a child has ended unasked. */
static enum err children_look(struct up *up, struct error *e)
{
    struct child *const children[] = {&up->server, &up->agent};
    for (size_t i = 0; i < 2; i++) {
        char how[128];
        if (child_ended(children[i], how, sizeof how)) {
            return fail(e, ERR_INTERNAL, "the %s %s", children[i]->role, how);
        }
    }
    return ERR_OK;
}

static void signal_take(struct up *up)
{
    struct signalfd_siginfo info;
    if (read(up->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        up->signal = (int)info.ssi_signo;
    }
}

/* Waits for a signal, for a child's end, or until `child` is ready (NULL: no child). */
static enum err up_wait(struct up *up, struct child *child, bool *ret_ready, struct error *e)
{
    *ret_ready = false;
    while (up->signal == 0 && !*ret_ready) {
        struct pollfd fds[] = {
            {.fd = up->signals, .events = POLLIN},
            {.fd = up->server.pid == 0 ? -1 : up->server.pidfd, .events = POLLIN},
            {.fd = up->agent.pid == 0 ? -1 : up->agent.pidfd, .events = POLLIN},
            {.fd = child == NULL ? -1 : child->ready, .events = POLLIN},
        };
        if (poll(fds, 4, -1) < 0 && errno != EINTR) {
            return fail_errno(e, ERR_IO, errno, "cannot wait");
        }
        if (fds[0].revents != 0) {
            signal_take(up);
        }
        if (fds[3].revents != 0) {
            *ret_ready = child_ready_read(child);
        }
        if (fds[1].revents != 0 || fds[2].revents != 0) {
            enum err r = children_look(up, e);
            if (r != ERR_OK) {
                return r;
            }
        }
    }
    return ERR_OK;
}

static enum err up_start(struct up *up, struct error *e)
{
    bool ready = false;
    enum err r = dir_take(up, e);
    r = r != ERR_OK ? r : server_start(up, e);
    r = r != ERR_OK ? r : up_wait(up, &up->server, &ready, e);
    if (r != ERR_OK || !ready) {
        return r;
    }
    url_take(up);
    r = agent_start(up, e);
    r = r != ERR_OK ? r : info_write(up, e);
    r = r != ERR_OK ? r : up_wait(up, &up->agent, &ready, e);
    if (r == ERR_OK && ready) {
        login_write(up);
    }
    return r;
}

static void ready_say(const struct up *up)
{
    context_out_text(arena_fmt(&up->cli->arena, "ready %s\n", up->url));
    if (up->cli->err_tty) {
        context_say("  data  %s", up->dir);
        context_say("  try   weir run -- echo hello     in another terminal");
        context_say("        weir task list --watch");
        context_say("  note  weir node list; weir node show NODE says what a node cannot prevent");
        context_say("  end   Ctrl-C; running tasks go on");
    }
}

/* Returns how many tasks hold a place now; -1: unknown. */
static int64_t running_count(struct up *up)
{
    struct arena *arena = &up->cli->arena;
    const char *token;
    if (login_file_read(arena, arena_fmt(arena, "%s/admin.token", up->dir), &token, NULL) !=
        ERR_OK) {
        return -1;
    }
    const struct login login = {.url = up->url,
                                .token = token,
                                .ca = tls_dir_has(arena, up->dir, TLS_DIR_TRUST)
                                          ? tls_dir_path(arena, up->dir, TLS_DIR_TRUST)
                                          : NULL};
    struct http_client *client = login_client(&login);
    struct http_call call = {
        .method = "GET", .path = "/api/v1/pools?limit=1000", .timeout_ms = COUNT_MS};
    struct http_reply reply;
    struct doc *doc;
    int64_t running = -1;
    if (http_client_call(client, &call, arena, &reply, NULL) == ERR_OK && reply.status == 200 &&
        doc_json_parse(arena, reply.body, &doc, NULL) == ERR_OK) {
        const struct doc *items = item_at(doc, "items");
        running = 0;
        for (const struct doc *d = items == NULL ? NULL : items->first; d != NULL; d = d->next) {
            running += item_number(d, "tasks.running", 0);
        }
    }
    http_client_free(client);
    return running;
}

static void goodbye_say(const struct up *up, int64_t running)
{
    if (running > 0) {
        context_say(
            "weir: ended server and node; %lld task%s run%s on. `weir up --dir %s` takes them "
            "over, "
            "then `weir down --stop-tasks` ends all.",
            (long long)running, running == 1 ? "" : "s", running == 1 ? "s" : "", up->dir);
    } else if (running == 0) {
        context_say("weir: ended server and node; no task was running");
    } else {
        context_say("weir: ended server and node; tasks that run go on");
    }
}

static int signals_take(void)
{
    sigset_t set;
    signals_ending(&set);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC);
}

int cmd_up(struct cli *cli)
{
    struct error e;
    struct up up = {.cli = cli, .server = {.ready = -1}, .agent = {.ready = -1}};
    enum err r = flags_check(cli, &e);
    if (r != ERR_OK) {
        return context_fail(cli, &e);
    }
    up.dir = dir_absolute(cli);
    if (cli->err_tty) {
        /* A person at the terminal reads the messages of `weir up`, so the children log only
         * warnings and errors. */
        (void)setenv("WEIR_LOG", "warn", 0);
    }
    up.signals = signals_take();
    must(up.signals >= 0);
    r = up_start(&up, &e);
    if (r == ERR_OK && up.signal == 0) {
        bool ready;
        ready_say(&up);
        r = up_wait(&up, NULL, &ready, &e);
    }
    int64_t running = r == ERR_OK && up.agent.pid != 0 ? running_count(&up) : -1;
    child_stop(&up.agent, STOP_MS);
    child_stop(&up.server, STOP_MS);
    (void)close(up.signals);
    if (r != ERR_OK) {
        return context_fail(cli, &e);
    }
    goodbye_say(&up, running);
    return EXIT_OK;
}
