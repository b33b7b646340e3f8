/* report_client.h - the reporter's HTTP client, which shows the node's certificate and renews it in time.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/agent_options.h"
#include "io/http_client.h"

enum { REPORT_CLIENT_TEXT_MAX = 1024 };

struct report_client {
    const struct agent_options *options;
    struct http_client *http; /* NULL: closed */
    char url[REPORT_CLIENT_TEXT_MAX];
    char credential[REPORT_CLIENT_TEXT_MAX];
    int64_t renew_at_ms; /* boot time at which the node's certificate is renewed; 0: never */
};

void report_client_open(struct report_client *client, const char *url, const char *credential);
void report_client_close(struct report_client *client);

/* The server says that the certificate is out of its dates: the next renewal is due now. */
void report_client_doubt(struct report_client *client);

/* For poll(): the time until the certificate is due; -1: none is. */
int report_client_due_ms(const struct report_client *client);

/* Gets the next certificate when the time has come. Until then, and after a failure, the client goes on
 * with the old one. */
void report_client_renew(struct report_client *client);
