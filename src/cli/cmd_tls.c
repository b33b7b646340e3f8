/* cmd_tls.c - `weir tls init` and `weir tls show`: the certificate of a server's data directory. Both
 * work on files and need no server. SPDX-License-Identifier: Apache-2.0 */
#include "base/json_out.h"
#include "base/time_text.h"
#include "cli/api.h"
#include "cli/cmd.h"
#include "cli/updir.h"
#include "io/tls_dir.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TLS_JSON_MAX = 16384, HOST_NAME_LEN_MAX = 64 };

#define LIFE_MS_DEFAULT ((int64_t)365 * 24 * 60 * 60 * 1000)

static int64_t wall_ms(void)
{
    struct timespec now;
    must(clock_gettime(CLOCK_REALTIME, &now) == 0);
    return (int64_t)now.tv_sec * 1000;
}

static const char *dir_of(struct cli *cli)
{
    const char *named = args_text(&cli->args, "dir");
    return named != NULL ? named : login_default_dir(&cli->arena);
}

static enum err facts_read(struct cli *cli, const char *dir, struct x509_facts *ret,
                           struct error *e)
{
    char *pem = NULL;
    enum err r = tls_dir_read(dir, TLS_DIR_CERT, &cli->arena, &pem, e);
    if (r == ERR_NOT_FOUND) {
        return fail(e, r, "'%s' has no certificate; `weir tls init --dir %s` makes one", dir, dir);
    }
    return r == ERR_OK ? x509_read(pem, &cli->arena, ret, e) : r;
}

static void facts_json(const struct x509_facts *facts, struct buf *out)
{
    struct json_out j;
    json_out_init(&j, out);
    json_out_object(&j);
    json_out_kv_text(&j, "ca_fingerprint", facts->root);
    json_out_kv_text(&j, "fingerprint", facts->fingerprint);
    json_out_kv_time(&j, "from", facts->from_ms);
    json_out_kv_time(&j, "until", facts->until_ms);
    json_out_key(&j, "names");
    json_out_array(&j);
    for (size_t i = 0; i < facts->name_count; i++) {
        json_out_text(&j, facts->names[i]);
    }
    json_out_end(&j);
    json_out_end(&j);
    buf_add_str(out, "\n");
}

static void facts_text(const struct x509_facts *facts, struct buf *out)
{
    char until[TIME_TEXT_MAX];
    time_text(facts->until_ms, until);
    buf_add_str(out, "names        ");
    for (size_t i = 0; i < facts->name_count; i++) {
        buf_addf(out, "%s%s", i == 0 ? "" : " ", facts->names[i]);
    }
    buf_addf(out, "\nvalid until  %s\nauthority    %s\n", until, facts->root);
}

static int facts_show(struct cli *cli, const struct x509_facts *facts)
{
    struct buf out;
    buf_init(&out, TLS_JSON_MAX);
    if (args_has(&cli->args, "json")) {
        facts_json(facts, &out);
    } else {
        facts_text(facts, &out);
    }
    context_out_text(buf_text(&out));
    buf_done(&out);
    return EXIT_OK;
}

int cmd_tls_show(struct cli *cli)
{
    struct error e;
    struct x509_facts facts;
    return facts_read(cli, dir_of(cli), &facts, &e) == ERR_OK ? facts_show(cli, &facts)
                                                              : context_fail(cli, &e);
}

/* The names of the command line, else the name of this machine. */
static void names_choose(struct cli *cli, struct tls_dir_init *init)
{
    const char **names = arena_new(&cli->arena, const char *, cli->args.word_count + 1);
    for (size_t i = 0; i < cli->args.word_count; i++) {
        names[i] = cli->args.words[i];
    }
    init->names = names;
    init->name_count = cli->args.word_count;
    char host[HOST_NAME_LEN_MAX + 1] = "";
    if (init->name_count == 0 && !init->renew && gethostname(host, sizeof host - 1) == 0 &&
        host[0] != '\0') {
        names[0] = arena_str(&cli->arena, host);
        init->name_count = 1;
    }
}

/* A running server must be told; `weir up` wrote down its process. */
static void server_tell(struct cli *cli, const char *dir)
{
    struct updir_info info;
    if (updir_read(&cli->arena, dir, &info) && info.holder != 0 && info.server != 0) {
        context_say("      the running server takes it when you say: kill -HUP %d",
                    (int)info.server);
    }
}

int cmd_tls_init(struct cli *cli)
{
    struct error e;
    struct x509_facts facts;
    const char *dir = dir_of(cli);
    struct tls_dir_init init = {.renew = args_has(&cli->args, "renew"),
                                .now_ms = wall_ms(),
                                .life_ms = args_duration(&cli->args, "life", LIFE_MS_DEFAULT)};
    names_choose(cli, &init);
    enum err r = init.renew && !tls_dir_has(&cli->arena, dir, TLS_DIR_CERT)
                     ? facts_read(cli, dir, &facts, &e)
                     : login_dirs_make(&cli->arena, dir, 0711, &e);
    r = r == ERR_OK ? tls_dir_init(dir, &init, &cli->arena, &e) : r;
    r = r == ERR_OK ? facts_read(cli, dir, &facts, &e) : r;
    if (r != ERR_OK) {
        return context_fail(cli, &e);
    }
    if (init.renew) {
        server_tell(cli, dir);
    }
    return facts_show(cli, &facts);
}
