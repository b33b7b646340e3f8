/* openapi.c - GET /openapi.yaml: the description of the API. The tests compare the server with it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/openapi.h"

#include "api/call.h"
#include "api/handlers.h"

void openapi_show(struct call *call)
{
    buf_clear(&call->out);
    buf_add(&call->out, openapi_text, openapi_text_len);
    call_answer(call, 200, "application/yaml");
}
