/* server_pages.h - the listener for pages of tasks (api/proxy.h). SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct http_server_options;
struct server;

/* Opens the listener. The server goes on without one where no port can be had. */
void server_pages_listen(struct server *server, const struct http_server_options *like);
