/* server_pages.c - see server_pages.h. SPDX-License-Identifier: Apache-2.0 */
#include "server/server_pages.h"

#include "api/proxy.h"
#include "base/log.h"
#include "server/server_internal.h"

/* Pages of tasks come from a port of their own, so that they do not share the origin of the web
 * interface: the port after the server's where that is free. */
void server_pages_listen(struct server *server, const struct http_server_options *like)
{
    struct http_server_options options = *like;
    options.inherited = 0; /* the socket that the parent gave is the API's */
    struct error e;
    const uint16_t port = http_server_port(server->http);
    options.port = port < UINT16_MAX ? (uint16_t)(port + 1) : 0;
    options.on_head = proxy_on_head;
    options.on_request = proxy_on_request;
    options.on_gone = proxy_on_gone;
    enum err r = http_server_new(&options, &server->proxy, &e);
    if (r != ERR_OK) {
        options.port = 0;
        r = http_server_new(&options, &server->proxy, &e);
    }
    if (r != ERR_OK) {
        log_warn("there is no port for pages of tasks", kv_error(&e));
        return;
    }
    proxy_port_set(server->api, http_server_port(server->proxy));
}
