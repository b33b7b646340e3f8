/* reporter.c - the thread that reads the spool and sends reports to the server.
 *
 * An idle reporter sends at once. Events that come while a batch is under way go into the next
 * batch. A batch that was not acknowledged is read from the spool again. So the reporter keeps only
 * a position, the open attempts, and the few reports that stand in no spool. Holds (README.md): A4.
 * SPDX-License-Identifier: Apache-2.0 */
#include "agent/reporter.h"

#include "agent/node_cert.h"
#include "agent/open_attempts.h"
#include "agent/report_client.h"
#include "agent/spool_reader.h"
#include "agent/spool_report.h"
#include "agent/use_list.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rest.h"
#include "base/vec.h"

#include <poll.h>
#include <pthread.h>
#include <sys/random.h>

enum {
    NOTES_MAX = 16384,
    POST_MS_MAX = 30000,
    BACKOFF_MS_MIN = 50,
    BACKOFF_MS_MAX = 5000,
    EXTRAS_MAX = 65536,
    BATCH_SLACK = 64 * 1024, /* room for the JSON around the reports */
    REPORT_OVERHEAD = 512,   /* bytes of one report beside its data */
    JOIN_WAIT_MS = 2000,
    STATUS_OK = 200,
    STATUS_UNAUTHORIZED = 401,
    STATUS_FORBIDDEN = 403,
    STATUS_CONFLICT = 409,
    STATUS_TOO_LARGE = 413,
};

enum note_type { NOTE_GROWN, NOTE_PING, NOTE_SESSION, NOTE_TELL, NOTE_USE, NOTE_DIED };

/* A note from the loop. The comment of a member names the types of notes that have the member. */
struct report_note {
    enum note_type type;
    struct agent_report report; /* TELL, USE */
    bool connected;             /* SESSION */
    struct reporter_session session;
    struct attempt_key *keys; /* DIED */
    size_t key_count;
    char url[REPORT_CLIENT_TEXT_MAX];
    char credential[REPORT_CLIENT_TEXT_MAX];
};

struct reporter {
    struct mailbox *notes;
    struct mailbox *inbox;
    pthread_t thread;
    volatile int stop;
    int grown_told; /* a NOTE_GROWN is under way */
    struct spool_reader *reader;
    struct spool_position acked;
    struct spool_position damage_told;
    struct open_attempts *open_attempts;
    struct use_list uses;
    VEC(struct agent_report) extras; /* reports that stand in no spool: lost, refused */
    struct report_client client;     /* open once the server has welcomed the agent */
    struct reporter_session session;
    uint64_t batch;
    size_t bytes_max;
    bool more; /* the spool may have more records */
    bool ping; /* the loop asked for a batch, be it empty */
    bool hold; /* another supervisor begins: nothing is sent before a hello in its name */
    int64_t backoff_ms;
    struct buf body;
};

/* One batch in the making. */
struct report_batch {
    struct json_out json;
    struct arena arena;
    uint32_t count;
    size_t extras; /* how many of the reporter's extras are in the batch */
    struct spool_position end;
};

/* The spool passes to another supervisor. All reports of the last supervisor were taken, so its
 * open attempts are lost. Reports of the next supervisor wait for a hello in that supervisor's
 * name, which INBOX_CROSSED leads to. */
static void cross(struct reporter *reporter, const struct record *record)
{
    struct attempt_key key;
    while (open_attempts_take(reporter->open_attempts, &key)) {
        struct agent_report lost = {.type = AGENT_LOST, .key = key, .text = ""};
        vec_push(&reporter->extras, lost);
    }
    open_attempts_note(reporter->open_attempts, record);
    reporter->hold = true;
    struct inbox_message *message = inbox_message_new(INBOX_CROSSED);
    memcpy(message->supervisor, record->id, sizeof message->supervisor);
    inbox_send(reporter->inbox, message);
}

/* Logs a damaged place of the spool. A second look at the same place logs nothing. */
static void damage_tell(struct reporter *reporter)
{
    struct spool_position at = spool_reader_at(reporter->reader);
    if (spool_reader_damaged(reporter->reader) &&
        spool_position_compare(at, reporter->damage_told) != 0) {
        reporter->damage_told = at;
        log_error("a record of the spool is damaged", kv_u64("segment", at.segment),
                  kv_u64("byte", at.offset));
        inbox_send(reporter->inbox, inbox_message_new(INBOX_DAMAGED));
    }
}

/* Adds records from the spool until the batch is full, the spool is at its end, or another
 * supervisor begins. A batch never spans two supervisors: cross() changes the open attempts, so the
 * records could not be read a second time. */
static void records_add(struct reporter *reporter, struct report_batch *batch)
{
    spool_reader_seek(reporter->reader, reporter->acked);
    batch->end = reporter->acked;
    for (;;) {
        struct record record;
        if (batch->count >= REPORTS_BATCH_MAX) {
            return;
        }
        if (!spool_reader_next(reporter->reader, &record)) {
            reporter->more = false;
            damage_tell(reporter);
            return;
        }
        size_t need = record.data.len / 3 * 4 + record.message.len * 2 + REPORT_OVERHEAD;
        if (batch->count > 0 && reporter->body.len + need > reporter->bytes_max) {
            return;
        }
        if (open_attempts_crosses(reporter->open_attempts, &record)) {
            if (batch->count > 0) {
                return;
            }
            cross(reporter, &record);
            reporter->acked = spool_reader_at(reporter->reader);
        } else if (record.type == RECORD_SEGMENT || record.type == RECORD_ACCEPTED) {
            open_attempts_note(reporter->open_attempts, &record);
        } else {
            struct agent_report report;
            open_attempts_note(reporter->open_attempts, &record);
            spool_report_of(&record, &batch->arena, &report);
            agent_report_batch_add(&batch->json, &report);
            batch->count++;
        }
        batch->end = spool_reader_at(reporter->reader);
        if (reporter->hold) {
            return;
        }
    }
}

static void extras_add(struct reporter *reporter, struct report_batch *batch)
{
    while (batch->extras < reporter->extras.count && batch->count < REPORTS_BATCH_MAX &&
           reporter->body.len + REPORT_OVERHEAD < reporter->bytes_max) {
        agent_report_batch_add(&batch->json, &reporter->extras.at[batch->extras++]);
        batch->count++;
    }
}

/* Adds the figures of use, which no batch is sent for. */
static void uses_add(struct reporter *reporter, struct report_batch *batch)
{
    const size_t used = reporter->body.len;
    const size_t room =
        used < reporter->bytes_max ? (reporter->bytes_max - used) / REPORT_OVERHEAD : 0;
    if (batch->count > 0 || reporter->ping) {
        batch->count += use_list_give(&reporter->uses, &batch->json, room);
    }
}

/* The server has acknowledged the batch. Drops the batch here, and lets the supervisor forget its
 * part of the spool. */
static void batch_done(struct reporter *reporter, const struct report_batch *batch)
{
    if (batch->extras > 0) {
        reporter->extras.count -= batch->extras;
        memmove(reporter->extras.at, reporter->extras.at + batch->extras,
                reporter->extras.count * sizeof *reporter->extras.at);
    }
    reporter->acked = batch->end;
    reporter->backoff_ms = 0;
    struct inbox_message *message = inbox_message_new(INBOX_ACKED);
    message->at = batch->end;
    inbox_send(reporter->inbox, message);
}

static void session_end(struct reporter *reporter)
{
    report_client_close(&reporter->client);
}

/* Doubles the range of the wait, out of which jitter() chooses. So many agents that lost one server
 * do not come back at one moment. */
static void back_off(struct reporter *reporter)
{
    int64_t ms = reporter->backoff_ms == 0 ? BACKOFF_MS_MIN : reporter->backoff_ms * 2;
    reporter->backoff_ms = ms < BACKOFF_MS_MAX ? ms : BACKOFF_MS_MAX;
    reporter->more = true;
}

static void answer_take(struct reporter *reporter, const struct report_batch *batch,
                        const struct http_reply *reply)
{
    switch (reply->status) {
    case STATUS_OK:
        batch_done(reporter, batch);
        return;
    case STATUS_UNAUTHORIZED:
    case STATUS_CONFLICT:
        session_end(reporter);
        inbox_send(reporter->inbox, inbox_message_new(INBOX_STALE));
        break;
    case STATUS_FORBIDDEN:
        report_client_doubt(&reporter->client);
        break;
    case STATUS_TOO_LARGE:
        reporter->bytes_max =
            reporter->bytes_max / 2 > BATCH_SLACK * 2 ? reporter->bytes_max / 2 : BATCH_SLACK * 2;
        break;
    default:
        log_warn("the server does not take a report, trying again", kv_u64("status", reply->status),
                 kv_str("answer", reply->body.p == NULL ? "" : reply->body.p));
        break;
    }
    back_off(reporter);
}

/* Makes one batch and sends it. */
static void ship(struct reporter *reporter)
{
    struct report_batch batch = {.end = reporter->acked};
    struct agent_batch head = {.epoch = reporter->session.epoch,
                               .incarnation = reporter->session.incarnation,
                               .batch = ++reporter->batch};
    arena_init(&batch.arena);
    buf_clear(&reporter->body);
    agent_report_batch_begin(&batch.json, &reporter->body, &head);
    extras_add(reporter, &batch);
    records_add(reporter, &batch);
    uses_add(reporter, &batch);
    agent_report_batch_end(&batch.json);
    must(!reporter->body.full);
    if (batch.count > 0 || (reporter->ping && !reporter->hold)) {
        struct http_call call = {.method = "POST",
                                 .path = "/api/v1/agent/reports",
                                 .body = {reporter->body.data, reporter->body.len},
                                 .repeatable = true,
                                 .timeout_ms = POST_MS_MAX};
        struct http_reply reply;
        struct error e;
        if (http_client_call(reporter->client.http, &call, &batch.arena, &reply, &e) == ERR_OK) {
            reporter->ping = false;
            answer_take(reporter, &batch, &reply);
        } else {
            back_off(reporter);
        }
    } else {
        reporter->acked = batch.end;
    }
    arena_done(&batch.arena);
}

static void session_take(struct reporter *reporter, const struct report_note *note)
{
    session_end(reporter);
    if (!note->connected) {
        return;
    }
    reporter->session = note->session;
    size_t bytes = (size_t)note->session.report_bytes;
    bytes = bytes > 0 && bytes < REPORT_BYTES_MAX ? bytes : REPORT_BYTES_MAX;
    reporter->bytes_max = bytes > 4 * BATCH_SLACK ? bytes - BATCH_SLACK : 4 * BATCH_SLACK;
    report_client_open(&reporter->client, note->url, note->credential);
    reporter->backoff_ms = 0;
    reporter->more = true;
    reporter->hold = false;
}

static void note_take(struct reporter *reporter, struct report_note *note)
{
    switch (note->type) {
    case NOTE_GROWN:
        __atomic_store_n(&reporter->grown_told, 0, __ATOMIC_RELEASE);
        reporter->more = true;
        break;
    case NOTE_PING:
        node_cert_hold(reporter->client.options);
        reporter->ping = true;
        break;
    case NOTE_SESSION:
        session_take(reporter, note);
        break;
    case NOTE_TELL:
        if (reporter->extras.count < EXTRAS_MAX) {
            vec_push(&reporter->extras, note->report);
        }
        break;
    case NOTE_USE:
        use_list_take(&reporter->uses, &note->report);
        break;
    case NOTE_DIED:
        for (size_t i = 0; i < note->key_count; i++) {
            open_attempts_doubt(reporter->open_attempts, &note->keys[i]);
        }
        break;
    }
    free(note->keys);
    free(note);
}

static bool work_is_there(const struct reporter *reporter)
{
    return reporter->client.http != NULL && !reporter->hold &&
           (reporter->more || reporter->ping || reporter->extras.count > 0);
}

static int jitter(int64_t ms)
{
    uint32_t random = 0;
    (void)!getrandom(&random, sizeof random, 0);
    return (int)((int64_t)(random % 1000) * ms / 1000) + 1;
}

/* The next note. Waits only when there is no work, and not beyond the time at which the node's
 * certificate is due. NULL: no note, or the thread must end. */
static struct report_note *note_next(struct reporter *reporter)
{
    if (!work_is_there(reporter)) {
        struct pollfd poll_fd = {.fd = mailbox_fd(reporter->notes), .events = POLLIN};
        (void)poll(&poll_fd, 1, report_client_due_ms(&reporter->client));
        return mailbox_take(reporter->notes);
    }
    struct report_note *note = mailbox_take(reporter->notes);
    if (note == NULL && reporter->backoff_ms > 0) {
        struct pollfd poll_fd = {.fd = mailbox_fd(reporter->notes), .events = POLLIN};
        (void)poll(&poll_fd, 1, jitter(reporter->backoff_ms));
        note = mailbox_take(reporter->notes);
    }
    return note;
}

static void *run(void *ctx)
{
    struct reporter *reporter = ctx;
    while (__atomic_load_n(&reporter->stop, __ATOMIC_ACQUIRE) == 0) {
        struct report_note *note = note_next(reporter);
        for (; note != NULL; note = mailbox_take(reporter->notes)) {
            note_take(reporter, note);
        }
        report_client_renew(&reporter->client);
        if (work_is_there(reporter)) {
            ship(reporter);
        }
    }
    return NULL;
}

/* Notes the acknowledged records of the first segment, so that the open attempts are known. */
static void open_attempts_begin(struct reporter *reporter)
{
    struct record record;
    spool_reader_seek(reporter->reader, (struct spool_position){reporter->acked.segment, 0});
    while (spool_position_compare(spool_reader_at(reporter->reader), reporter->acked) < 0 &&
           spool_reader_next(reporter->reader, &record)) {
        open_attempts_note(reporter->open_attempts, &record);
    }
}

must_use enum err reporter_new(const struct reporter_options *options, struct reporter **ret,
                               struct error *e)
{
    struct reporter *reporter = xcalloc(1, sizeof *reporter);
    reporter->notes = mailbox_new(NOTES_MAX);
    reporter->inbox = options->inbox;
    reporter->client.options = options->options;
    reporter->acked = options->acked;
    reporter->reader = spool_reader_new(options->dir, options->acked.segment);
    reporter->open_attempts = open_attempts_new();
    reporter->more = true;
    buf_init(&reporter->body, REPORT_BYTES_MAX + 2 * SPOOL_RECORD_MAX);
    open_attempts_begin(reporter);
    int failed = pthread_create(&reporter->thread, NULL, run, reporter);
    if (failed != 0) {
        mailbox_close(reporter->notes);
        return fail_errno(e, ERR_IO, failed, "cannot start a thread");
    }
    *ret = reporter;
    return ERR_OK;
}

bool reporter_free(struct reporter *reporter)
{
    if (reporter == NULL) {
        return true;
    }
    __atomic_store_n(&reporter->stop, 1, __ATOMIC_RELEASE);
    mailbox_close(reporter->notes);
    if (!rest_join(reporter->thread, JOIN_WAIT_MS)) {
        return false;
    }
    for (struct report_note *note = mailbox_take(reporter->notes); note != NULL;
         note = mailbox_take(reporter->notes)) {
        free(note->keys);
        free(note);
    }
    session_end(reporter);
    mailbox_free(reporter->notes);
    spool_reader_free(reporter->reader);
    open_attempts_free(reporter->open_attempts);
    vec_done(&reporter->extras);
    use_list_done(&reporter->uses);
    buf_done(&reporter->body);
    free(reporter);
    return true;
}

static struct report_note *note_new(enum note_type type)
{
    struct report_note *note = xcalloc(1, sizeof *note);
    note->type = type;
    return note;
}

/* Uses the reserved room of the mailbox, because a note must not be missed. When even the
 * reserved room is full, the thread has been stuck in a call for up to POST_MS_MAX; the server
 * asks again. */
static bool note_send(struct reporter *reporter, struct report_note *note)
{
    if (mailbox_send_reserved(reporter->notes, note)) {
        return true;
    }
    free(note->keys);
    free(note);
    return false;
}

void reporter_session(struct reporter *reporter, const struct reporter_session *session)
{
    struct report_note *note = note_new(NOTE_SESSION);
    if (session != NULL) {
        note->connected = true;
        note->session = *session;
        (void)str_copy(note->url, sizeof note->url, session->url);
        (void)str_copy(note->credential, sizeof note->credential, session->credential);
        note->session.url = NULL;
        note->session.credential = NULL;
    }
    (void)note_send(reporter, note);
}

void reporter_grown(struct reporter *reporter)
{
    if (__atomic_exchange_n(&reporter->grown_told, 1, __ATOMIC_ACQ_REL) == 0) {
        if (!note_send(reporter, note_new(NOTE_GROWN))) {
            __atomic_store_n(&reporter->grown_told, 0, __ATOMIC_RELEASE);
        }
    }
}

void reporter_ping(struct reporter *reporter)
{
    (void)note_send(reporter, note_new(NOTE_PING));
}

void reporter_tell(struct reporter *reporter, enum agent_report_type type,
                   const struct attempt_key *key, const char *why)
{
    struct report_note *note = note_new(NOTE_TELL);
    note->report = (struct agent_report){.type = type, .key = *key, .text = why};
    (void)note_send(reporter, note);
}

void reporter_use(struct reporter *reporter, const struct agent_report *use)
{
    struct report_note *note = note_new(NOTE_USE);
    note->report = *use;
    if (!mailbox_send(reporter->notes, note)) {
        free(note); /* the thread is busy; the next figure comes soon */
    }
}

void reporter_supervisor_died(struct reporter *reporter, const struct attempt_key *keys,
                              size_t count)
{
    struct report_note *note = note_new(NOTE_DIED);
    note->key_count = count;
    note->keys = count > 0 ? xmemdup(keys, count * sizeof *keys) : NULL;
    (void)note_send(reporter, note);
}
