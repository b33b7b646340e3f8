/* audits.h - records what administrators do, and answers GET /audit. The file is that of
 * store/audit.h. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/api_internal.h"
#include "api/route.h"

struct audits_act {
    const struct route *route;
    const char *actor;
    const char *token; /* the id of the token or session; NULL or "": none */
    unsigned status;   /* the HTTP status of the answer */
};

/* Records an act. Call before the act is answered. */
void audits_note(struct api *api, struct http_request *request, const struct audits_act *act);

/* Records an act that the token does not permit. Only the first such acts of each second are
 * recorded, so that a token without rights cannot fill the disk. */
void audits_refused(struct api *api, struct http_request *request, const struct audits_act *act);
