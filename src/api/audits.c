/* audits.c - GET /audit: what administrators did, the newest act first. A reader thread reads the
 * file. SPDX-License-Identifier: Apache-2.0 */
#include "api/audits.h"

#include "api/call_work.h"
#include "api/handlers.h"
#include "api/page.h"
#include "base/doc.h"
#include "base/log.h"
#include "base/mem.h"
#include "io/http_request.h"
#include "store/audit.h"

#include <limits.h>
#include <stdio.h>

enum { AUDITS_BYTES_MAX = 4 << 20, REFUSED_A_SECOND = 20, MS_PER_SECOND = 1000 };

void audits_note(struct api *api, struct http_request *request, const struct audits_act *act)
{
    struct error e;
    struct host_numbers numbers = {0};
    const struct api_host *host = api->o.host;
    if (api->audit == NULL || !act->route->audited) {
        return;
    }
    host->numbers(host->ctx, &numbers);
    const struct audit_entry entry = {.time_ms = host->now_ms(host->ctx),
                                      .actor = act->actor,
                                      .token = act->token != NULL ? act->token : "",
                                      .peer = http_request_peer(request),
                                      .method = act->route->method,
                                      .path = http_request_path(request),
                                      .status = act->status,
                                      .seq = numbers.seq_committed};
    if (audit_add(api->audit, &entry, &e) != ERR_OK) {
        log_error("an act is not recorded", kv_str("path", entry.path), kv_error(&e));
    }
}

void audits_refused(struct api *api, struct http_request *request, const struct audits_act *act)
{
    const int64_t second = api->o.host->now_ms(api->o.host->ctx) / MS_PER_SECOND;
    api->refused_count = second == api->refused_second ? api->refused_count + 1 : 1;
    api->refused_second = second;
    if (api->refused_count <= REFUSED_A_SECOND) {
        audits_note(api, request, act);
    }
}

struct audits {
    struct call_work base;
    struct page page;
    struct buf items;
    struct arena arena; /* of the current line and of the page */
    char dir[PATH_MAX];
    uint64_t next;
    bool damaged;
};

static void audits_free(struct call_work *base)
{
    struct audits *audits = (struct audits *)base;
    buf_done(&audits->items);
    arena_done(&audits->arena);
    free(audits);
}

static void line_take(void *ctx, struct str line)
{
    struct audits *audits = ctx;
    struct doc *doc;
    audits->damaged = audits->damaged ||
                      doc_json_parse(&audits->arena, line, &doc, NULL) != ERR_OK ||
                      doc->kind != DOC_MAP;
    buf_addf(&audits->items, "%s", audits->items.len > 0 ? "," : "");
    buf_add(&audits->items, line.p, line.len);
}

static void audits_run(struct work *work, struct store_reader *reader)
{
    struct audits *audits = (struct audits *)work;
    (void)reader;
    audits->base.err = audit_read(audits->dir, audits->page.after, audits->page.limit, line_take,
                                  audits, &audits->next, &audits->base.error);
    if (audits->base.err == ERR_OK && audits->damaged) {
        audits->base.err = fail(&audits->base.error, ERR_CORRUPT,
                                "audit.log has a damaged line; `weir audit verify` on the server's "
                                "machine names it");
    }
}

static void audits_answer(struct call_work *base)
{
    struct audits *audits = (struct audits *)base;
    struct json_out j;
    call_json(base->call, &j);
    page_begin(&j);
    if (audits->items.len > 0) {
        json_out_raw(&j, (struct str){audits->items.data, audits->items.len});
    }
    audits->page.arena = &audits->arena;
    page_end(&j, &audits->page, audits->next);
    call_answer_json(base->call, 200);
}

static const struct call_work_kind audits_kind = {
    .run = audits_run,
    .answer = audits_answer,
    .free = audits_free,
    .reads = true,
    .busy = "too many requests wait for files",
};

void audits_list(struct call *call)
{
    struct audits *audits = xcalloc(1, sizeof *audits);
    audits->base.kind = &audits_kind;
    arena_init(&audits->arena);
    buf_init(&audits->items, AUDITS_BYTES_MAX);
    (void)snprintf(audits->dir, sizeof audits->dir, "%s",
                   call->api->o.dir == NULL ? "." : call->api->o.dir);
    if (!page_read(call, "audit", &audits->page)) {
        audits_free(&audits->base);
        return;
    }
    call_work_send(call, &audits->base);
}
