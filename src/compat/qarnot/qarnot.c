/* qarnot.c - the mount, and the form of errors. SPDX-License-Identifier: Apache-2.0 */
#include "compat/qarnot/qarnot.h"

#include "api/route.h"
#include "base/doc.h"
#include "compat/qarnot/qarnot_handlers.h"
#include "compat/qarnot/qarnot_internal.h"

enum {
    BODY_SMALL = 256 * 1024,
    BODY_SUBMIT = 16 * 1024 * 1024, /* for about 20,000 tasks */
};

/* {"message":"…"}, which is what every version of the SDK reads. A 404 on a creation means "missing bucket" to the SDK,
 * so an unknown pool is 400. */
static unsigned error_write(unsigned status, const char *method, const char *path, struct str json,
                            struct buf *out)
{
    struct arena arena;
    struct doc *doc;
    struct error e;
    struct json_out j;
    const char *message = "the request failed";
    const char *where = "";
    arena_init(&arena);
    if (doc_json_parse(&arena, json, &doc, &e) == ERR_OK) {
        const struct doc *error = doc_get(doc, "error");
        (void)doc_text(error != NULL ? doc_get(error, "message") : NULL, &message);
        (void)doc_text(error != NULL ? doc_get(error, "path") : NULL, &where);
    }
    json_out_init(&j, out);
    json_out_object(&j);
    json_out_kv_text(&j, "message", qarnot_fields_words(&arena, where, message));
    json_out_end(&j);
    arena_done(&arena);
    const bool creates = strcmp(method, "POST") == 0 &&
                         (strncmp(path, "/pools", 7) == 0 || strncmp(path, "/tasks", 7) == 0);
    return creates && status == 404 ? 400 : status;
}

static const struct route rows[] = {
#define ROUTE ROUTE_ROW
#include "compat/qarnot/routes.def"
#undef ROUTE
};
const struct route_mount qarnot_mount = {
    .prefix = "/qarnot",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .bare_token = true,
    .gives_up = true,
    .error = error_write,
};
