/* report_client.c - see report_client.h. SPDX-License-Identifier: Apache-2.0 */
#include "agent/report_client.h"

#include "agent/node_cert.h"
#include "base/log.h"
#include "base/must.h"

#include <limits.h>
#include <time.h>

enum { RENEW_AGAIN_MS = 5000 };

static int64_t boot_ms(void)
{
    struct timespec now;
    must(clock_gettime(CLOCK_BOOTTIME, &now) == 0);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Makes a client that shows the certificate as it is now. */
static void client_make(struct report_client *client)
{
    struct arena arena;
    struct http_trust trust;
    arena_init(&arena);
    http_client_free(client->http);
    client->http = http_client_new(client->url, client->credential);
    node_cert_trust(client->options, &arena, &trust);
    http_client_trust(client->http, &trust);
    int64_t due_ms = trust.cert != NULL ? node_cert_due_ms(client->options->dir) : -1;
    client->renew_at_ms = due_ms < 0 ? 0 : boot_ms() + due_ms;
    arena_done(&arena);
}

void report_client_open(struct report_client *client, const char *url, const char *credential)
{
    must(str_copy(client->url, sizeof client->url, url));
    must(str_copy(client->credential, sizeof client->credential, credential));
    client_make(client);
}

void report_client_close(struct report_client *client)
{
    http_client_free(client->http);
    client->http = NULL;
    client->renew_at_ms = 0;
}

void report_client_doubt(struct report_client *client)
{
    client->renew_at_ms = client->renew_at_ms > 0 ? boot_ms() : 0;
}

int report_client_due_ms(const struct report_client *client)
{
    if (client->renew_at_ms == 0) {
        return -1;
    }
    int64_t left_ms = client->renew_at_ms - boot_ms();
    return left_ms < 0 ? 0 : left_ms > INT_MAX ? INT_MAX : (int)left_ms;
}

void report_client_renew(struct report_client *client)
{
    struct error e;
    if (report_client_due_ms(client) != 0) {
        return;
    }
    if (node_cert_renew(client->options, client->url, client->credential, &e) == ERR_OK) {
        client_make(client);
        log_info("the node has a new certificate");
    } else {
        log_warn("the node's certificate is not renewed, trying again", kv_error(&e));
        client->renew_at_ms = boot_ms() + RENEW_AGAIN_MS;
    }
}
