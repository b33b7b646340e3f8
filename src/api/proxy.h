/* proxy.h - the port of a task in a browser: /proxy/TASK[.INSTANCE]/… on a listener of its own.
 *
 * P1 a page of a task never has the origin of the web interface, because the listener has another port;
 * P2 nothing is passed on without a token, or the cookie that a one-time link gave for that very task;
 * P3 a task never sees Weir's own credentials. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"
#include "core/core.h"
#include "io/http_server.h"

struct api;
struct call;
struct proxies;

struct proxies *proxy_new(struct api *api);
void proxy_free(struct proxies *proxies);

/* For http_server_options of the listener; `ctx` is the API. */
size_t proxy_on_head(void *ctx, struct http_request *request);
void proxy_on_request(void *ctx, struct http_request *request);
void proxy_on_gone(void *ctx, struct http_request *request);

/* The port of the listener, for the links. */
void proxy_port_set(struct api *api, uint16_t port);
