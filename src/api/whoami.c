/* whoami.c - GET /whoami: the name and scope of the call's token, and what the token permits.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/call.h"
#include "api/handlers.h"

void whoami_show(struct call *call)
{
    struct json_out j;
    call_json(call, &j);
    json_out_object(&j);
    json_out_kv_text(&j, "name", call->name);
    json_out_kv_text(&j, "scope", token_scope_name(call->scope));
    json_out_kv_text(&j, "note",
                     call->scope == SCOPE_ADMIN
                         ? "there are no roles yet: every user's token is an administrator's"
                         : "may look at everything and change nothing");
    json_out_end(&j);
    call_answer_json(call, 200);
}
