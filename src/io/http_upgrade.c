/* http_upgrade.c - see http_upgrade.h. Over TLS the library makes a pair of sockets, encrypts between
 * one of them and the connection, and gives us the other one. So the owner reads and writes plain bytes
 * in both cases. SPDX-License-Identifier: Apache-2.0 */
#include "io/http_upgrade.h"

#include "base/mem.h"
#include "io/http_internal.h"
#include "io/http_request.h"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <strings.h>
#include <sys/socket.h>

struct http_upgrade {
    struct http_server *server;
    struct MHD_UpgradeResponseHandle *handle;
};

bool http_upgrade_asked(const struct http_request *request, const char *protocol)
{
    const char *connection = http_request_header(request, "Connection");
    const char *upgrade = http_request_header(request, "Upgrade");
    if (connection == NULL || upgrade == NULL || strcasecmp(upgrade, protocol) != 0 ||
        request->plain) {
        return false;
    }
    struct str rest = str_of(connection);
    while (rest.p != NULL) {
        struct str word = str_cut(rest, ',', &rest);
        while (word.len > 0 && (*word.p == ' ' || *word.p == '\t')) {
            word.p++;
            word.len--;
        }
        while (word.len > 0 && (word.p[word.len - 1] == ' ' || word.p[word.len - 1] == '\t')) {
            word.len--;
        }
        if (word.len == strlen("upgrade") && strncasecmp(word.p, "upgrade", word.len) == 0) {
            return true;
        }
    }
    return false;
}

static void upgraded(void *cls, struct MHD_Connection *connection, void *con_cls, const char *extra,
                     size_t extra_size, MHD_socket sock, struct MHD_UpgradeResponseHandle *handle)
{
    struct http_request *request = cls;
    struct http_server *server = request->server;
    struct http_upgrade *upgrade = xcalloc(1, sizeof *upgrade);
    http_upgraded_fn fn = request->upgraded;
    int on = 1;
    (void)connection;
    (void)con_cls;
    *upgrade = (struct http_upgrade){.server = server, .handle = handle};
    request->upgraded = NULL;
    (void)fcntl(sock, F_SETFL, fcntl(sock, F_GETFL) | O_NONBLOCK);
    (void)setsockopt(request->conn->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    server->calls++;
    server->upgrades++;
    fn(request->upgraded_ctx, upgrade, sock, (struct str){extra, extra_size});
}

void http_upgrade_answer(struct http_request *request, const char *protocol, http_upgraded_fn fn,
                         void *ctx)
{
    struct MHD_Response *response = MHD_create_response_for_upgrade(upgraded, request);
    must(response != NULL);
    must(MHD_add_response_header(response, "Upgrade", protocol) == MHD_YES);
    request->upgraded = fn;
    request->upgraded_ctx = ctx;
    http_request_respond(request, MHD_HTTP_SWITCHING_PROTOCOLS, NULL, response);
    request->phase = HTTP_UPGRADED;
}

void http_upgrade_lost(struct http_request *request)
{
    http_upgraded_fn fn = request->upgraded;
    if (fn != NULL) {
        request->upgraded = NULL;
        request->server->calls++;
        fn(request->upgraded_ctx, NULL, -1, (struct str){"", 0});
    }
}

void http_upgrade_end(struct http_upgrade *upgrade)
{
    struct http_server *server = upgrade->server;
    must(server->upgrades > 0);
    server->upgrades--;
    must(MHD_upgrade_action(upgrade->handle, MHD_UPGRADE_ACTION_CLOSE) == MHD_YES);
    free(upgrade);
    server->resumed = true; /* the library closes the connection in its next run */
    loop_wake(server->options.loop);
}
