/* task_list.c - GET /tasks: live tasks from the core and ended tasks from the history, as one list,
 * newest first. Task ids only grow, so "older than the last task shown" is a cursor that neither
 * repeats nor skips a task, whatever happens between two pages.
 *
 *   now:           live matches below the cursor      (at most SCAN_MAX tasks looked at)
 *   after commit:  history matches below the cursor   (reader thread)
 *   then:          both merged by id; a task that is in both is shown once, as history has it
 *
 * A page may be short when many tasks were skipped; `next` is null only at the very end.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/api_internal.h"
#include "api/call_work.h"
#include "api/handlers.h"
#include "api/named.h"
#include "api/page.h"
#include "api/task_filter.h"
#include "api/task_list.h"
#include "base/vec.h"
#include "wire/task_json.h"

enum {
    SCAN_MAX = 50000,                 /* live tasks looked at for one page */
    SCAN_ROWS_MAX = 5000,             /* ended tasks looked at, where SQL cannot filter (tags) */
    PAGE_BYTES_MAX = 8 * 1024 * 1024, /* a page ends early when it is this large */
};

struct task_list_row {
    uint64_t id;
    struct str json;
};

struct task_list {
    struct call_work base;
    struct arena arena;
    struct page page;
    struct task_filter filter;
    const struct task_list_form *form; /* NULL: that of the API */
    void *data;                        /* for the form */
    VEC(struct task_list_row) live;
    VEC(struct task_list_row) ended;
    uint64_t live_floor;  /* live tasks below this id were not looked at; 0: all were */
    uint64_t ended_floor; /* ended tasks below this id were not looked at; 0: all were */
    size_t bytes;
};

static void list_free(struct call_work *base)
{
    struct task_list *list = (struct task_list *)base;
    vec_done(&list->live);
    vec_done(&list->ended);
    arena_done(&list->arena);
    free(list);
}

/* ---- live ---- */

static void live_add(struct task_list *list, struct task_writer *writer, const struct task *task,
                     struct buf *scratch)
{
    struct json_out j;
    buf_clear(scratch);
    json_out_init(&j, scratch);
    task_json(writer, &j, task, list->form != NULL ? list->form->parts : TASK_JSON_REASON);
    struct task_list_row row = {
        .id = task->id.v,
        .json = {arena_dup(&list->arena, scratch->data, scratch->len), scratch->len},
    };
    list->bytes += scratch->len;
    vec_push(&list->live, row);
}

static void live_scan(struct task_list *list, const struct core *core)
{
    struct arena texts;
    struct buf scratch;
    struct task_writer writer;
    arena_init(&texts);
    task_json_writer_init(&writer, core, &texts);
    writer.keep = &list->arena;
    buf_init(&scratch, ANSWER_BYTES_MAX);
    const struct task *task = query_task_prev(core, (task_id){list->page.after});
    for (size_t looked = 0; task != NULL; looked++) {
        if (looked == SCAN_MAX || list->live.count > list->page.limit ||
            list->bytes > PAGE_BYTES_MAX) {
            list->live_floor = task->id.v + 1;
            break;
        }
        arena_clear(&texts);
        if (task_filter_matches(&list->filter, core, task, &texts)) {
            live_add(list, &writer, task, &scratch);
        }
        task = query_task_prev(core, task->id);
    }
    buf_done(&scratch);
    arena_done(&texts);
}

/* ---- ended: on the reader thread ---- */

struct ended_scan {
    struct task_list *list;
    struct arena texts;
    size_t rows;
    uint64_t last;
    size_t bytes;
};

static void ended_row(void *ctx, const struct store_history *row)
{
    struct ended_scan *scan = ctx;
    struct task_list *list = scan->list;
    scan->rows++;
    if (list->ended.count > list->page.limit || scan->bytes > PAGE_BYTES_MAX) {
        return;
    }
    scan->last = row->task;
    arena_clear(&scan->texts);
    if (task_filter_tagged(&list->filter, row->json, &scan->texts)) {
        struct task_list_row copy = {
            .id = row->task,
            .json = {arena_dup(&list->arena, row->json.p, row->json.len), row->json.len},
        };
        scan->bytes += row->json.len;
        vec_push(&list->ended, copy);
    }
}

static void list_run(struct work *work, struct store_reader *reader)
{
    struct task_list *list = (struct task_list *)work;
    struct ended_scan scan = {.list = list, .last = list->page.after};
    struct store_history_filter filter = {
        .states = list->filter.states,
        .kinds = list->filter.kinds,
        .pool = list->filter.pool,
        .user = list->filter.user,
        .project = list->filter.project,
        .name = list->filter.name,
        .ended_after_ms = list->filter.since_ms > 0 ? list->filter.since_ms - 1 : 0,
        .ended_before_ms = list->filter.until_ms,
        .limit = list->page.limit + 1,
    };
    arena_init(&scan.texts);
    size_t looked = 0;
    bool more = true;
    while (more && list->base.err == ERR_OK) {
        scan.rows = 0;
        filter.before = scan.last;
        list->base.err = store_history_list(reader, &filter, ended_row, &scan, &list->base.error);
        looked += scan.rows;
        bool enough = list->ended.count > list->page.limit || scan.bytes > PAGE_BYTES_MAX ||
                      looked >= SCAN_ROWS_MAX;
        more = scan.rows == filter.limit && !enough;
        if (scan.rows == filter.limit && enough) {
            list->ended_floor = scan.last;
        }
    }
    arena_done(&scan.texts);
}

/* ---- both ---- */

/* Does the filter's pool or project exist, when the list is empty? An empty list for an unknown
 * name would hide a typing error. False: the call was answered. */
static bool names_known(const struct task_list *list)
{
    const struct task_filter *filter = &list->filter;
    const bool found = list->live.count > 0 || list->ended.count > 0 || list->live_floor > 0 ||
                       list->ended_floor > 0;
    return found || ((filter->pool == NULL || named_pool(list->base.call, "pool", filter->pool)) &&
                     (filter->project == NULL ||
                      named_account(list->base.call, "project", ACCOUNT_PROJECT, filter->project)));
}

/* True: the row was written, and is not left out. */
static bool row_write(struct task_list *list, struct json_out *j, struct str json)
{
    if (list->form != NULL) {
        return list->form->row(list->base.call, j, json);
    }
    json_out_raw(j, json);
    return true;
}

/* Merges down to the higher of the two floors. Tasks below belong to the next page. */
static void list_answer(struct call_work *base)
{
    struct task_list *list = (struct task_list *)base;
    struct call *call = base->call;
    if (!names_known(list)) {
        return;
    }
    struct json_out j;
    uint64_t floor = list->live_floor > list->ended_floor ? list->live_floor : list->ended_floor;
    size_t live = 0;
    size_t ended = 0;
    size_t shown = 0;
    uint64_t next = 0;
    call_json(call, &j);
    call->data = list->data;
    if (list->form != NULL) {
        list->form->begin(&j);
    } else {
        page_begin(&j);
    }
    while (live < list->live.count || ended < list->ended.count) {
        uint64_t live_id = live < list->live.count ? list->live.at[live].id : 0;
        uint64_t ended_id = ended < list->ended.count ? list->ended.at[ended].id : 0;
        uint64_t id = live_id > ended_id ? live_id : ended_id;
        if (id < floor) {
            break;
        }
        if (shown == list->page.limit) {
            floor = next;
            break;
        }
        shown += row_write(list, &j,
                           ended_id == id ? list->ended.at[ended].json : list->live.at[live].json);
        live += live_id == id ? 1 : 0;
        ended += ended_id == id ? 1 : 0;
        next = id;
    }
    if (list->form != NULL) {
        list->form->end(&j, floor);
    } else {
        page_end(&j, &list->page, floor);
    }
    call_answer_json(call, 200);
}

static const struct call_work_kind list_kind = {
    .run = list_run,
    .answer = list_answer,
    .free = list_free,
    .reads = true,
    .busy = "too many requests wait for the history",
};

void task_list_ask(struct call *call, const struct task_filter *filter, const struct page *page,
                   const struct task_list_form *form, void *data)
{
    struct task_list *list = xcalloc(1, sizeof *list);
    list->base.kind = &list_kind;
    list->page = *page;
    list->form = form;
    list->data = data;
    arena_init(&list->arena);
    list->filter = *filter;
    task_filter_keep(&list->filter, &list->arena);
    list->page.has_total = task_filter_total(filter, call_core(call), &list->page.total);
    if (task_filter_live(filter)) {
        live_scan(list, call_core(call));
    }
    if (task_filter_ended(filter)) {
        call_work_send_stored(call, &list->base);
    } else {
        call_work_answer_stored(call, &list->base);
    }
}

void task_list(struct call *call)
{
    struct task_filter filter;
    const char *question;
    struct page page;
    if (task_filter_read(call, &filter, &question) && page_read(call, question, &page)) {
        task_list_ask(call, &filter, &page, NULL, NULL);
    }
}
