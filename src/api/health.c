/* health.c - is the server alive, and may it be sent work? These two answers need no token and say
 * nothing about the server's state. SPDX-License-Identifier: Apache-2.0 */
#include "api/api_internal.h"
#include "api/call.h"
#include "api/handlers.h"

void health_live(struct call *call)
{
    buf_add_str(&call->out, "ok\n");
    call_answer(call, 200, "text/plain");
}

void health_ready(struct call *call)
{
    const struct api_host *host = call->api->o.host;
    struct error e;
    if (host->writable(host->ctx, &e) != ERR_OK) {
        call_busy(call, 503, &e);
        return;
    }
    buf_add_str(&call->out, "ready\n");
    call_answer(call, 200, "text/plain");
}
