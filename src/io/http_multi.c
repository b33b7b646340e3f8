/* http_multi.c - libcurl's multi interface on a loop of ours.
 *
 * libcurl says which descriptors to watch and when to be called again; the loop calls it then. Requests that have
 * ended are taken out after each call, outside of libcurl's own callbacks, so that `done` may post again.
 * SPDX-License-Identifier: Apache-2.0 */
#include "io/http_multi.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/must.h"
#include "io/http_trust_internal.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { MULTI_CONNECT_MS_MAX = 10 * 1000, MULTI_KEEP_S_MAX = 60 };

/* A request under way. */
struct transfer {
    struct http_multi *multi;
    struct transfer *next;
    struct transfer **back; /* what points to this transfer */
    CURL *easy;
    struct curl_slist *headers;
    struct buf body;
    void (*done)(void *ctx, const struct http_multi_reply *reply);
    void *ctx;
    char text[CURL_ERROR_SIZE];
};

struct multi_watch {
    struct http_multi *multi;
    struct loop_fd *fd;
    curl_socket_t socket;
    int own; /* a duplicate: libcurl may close its descriptor before it says that nobody need watch it */
};

struct http_multi {
    struct loop *loop;
    struct loop_timer *timer;
    CURLM *multi;
    struct transfer *transfers;
};

static void transfer_free(struct transfer *transfer)
{
    *transfer->back = transfer->next;
    if (transfer->next != NULL) {
        transfer->next->back = transfer->back;
    }
    must(curl_multi_remove_handle(transfer->multi->multi, transfer->easy) == CURLM_OK);
    curl_easy_cleanup(transfer->easy);
    curl_slist_free_all(transfer->headers);
    buf_done(&transfer->body);
    free(transfer);
}

static void transfer_ended(struct transfer *transfer, CURLcode code)
{
    long status = 0;
    (void)curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    const char *text = transfer->text[0] != '\0' ? transfer->text : curl_easy_strerror(code);
    const struct http_multi_reply reply = {
        .failure = transfer->body.full ? "the answer is too long"
                   : code != CURLE_OK  ? text
                                       : NULL,
        .status = (unsigned)status,
        .body = {buf_text(&transfer->body), transfer->body.len},
    };
    transfer->done(transfer->ctx, &reply);
    transfer_free(transfer);
}

/* Lets libcurl work on a descriptor or on its timers, then ends what is ready. */
static void act(struct http_multi *multi, curl_socket_t socket, int what)
{
    int running;
    int left;
    CURLMsg *message;
    must(curl_multi_socket_action(multi->multi, socket, what, &running) == CURLM_OK);
    while ((message = curl_multi_info_read(multi->multi, &left)) != NULL) {
        struct transfer *transfer = NULL;
        const CURLcode code = message->data.result;
        must(curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer) == CURLE_OK);
        transfer_ended(transfer, code);
    }
}

static void ready(void *ctx, uint32_t events)
{
    const struct multi_watch *watch = ctx;
    const int in = (events & (EPOLLIN | EPOLLHUP | EPOLLRDHUP)) != 0 ? CURL_CSELECT_IN : 0;
    const int out = (events & EPOLLOUT) != 0 ? CURL_CSELECT_OUT : 0;
    const int bad = (events & EPOLLERR) != 0 ? CURL_CSELECT_ERR : 0;
    act(watch->multi, watch->socket, in | out | bad);
}

static void due(void *ctx)
{
    act(ctx, CURL_SOCKET_TIMEOUT, 0);
}

/* libcurl wants a descriptor watched, or no longer. */
static int on_socket(CURL *easy, curl_socket_t socket, int what, void *ctx, void *own)
{
    struct http_multi *multi = ctx;
    struct multi_watch *watch = own;
    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (watch != NULL) {
            loop_fd_remove(watch->fd);
            (void)close(watch->own);
            free(watch);
            must(curl_multi_assign(multi->multi, socket, NULL) == CURLM_OK);
        }
        return 0;
    }
    const uint32_t events =
        ((what & CURL_POLL_IN) != 0 ? EPOLLIN : 0) | ((what & CURL_POLL_OUT) != 0 ? EPOLLOUT : 0);
    if (watch != NULL) {
        loop_fd_change(watch->fd, events);
        return 0;
    }
    watch = xcalloc(1, sizeof *watch);
    *watch = (struct multi_watch){
        .multi = multi, .socket = socket, .own = fcntl(socket, F_DUPFD_CLOEXEC, 0)};
    if (watch->own < 0) {
        free(watch);
        return 0; /* too many open files: the request runs into its time-out */
    }
    watch->fd = loop_fd_add(multi->loop, watch->own, events, ready, watch);
    must(curl_multi_assign(multi->multi, socket, watch) == CURLM_OK);
    return 0;
}

static int on_timer(CURLM *handle, long wait_ms, void *ctx)
{
    struct http_multi *multi = ctx;
    (void)handle;
    if (wait_ms < 0) {
        loop_timer_off(multi->timer);
    } else {
        loop_timer_set(multi->timer, loop_now_ms(multi->loop) + wait_ms);
    }
    return 0;
}

static size_t on_data(char *data, size_t size, size_t count, void *ctx)
{
    struct transfer *transfer = ctx;
    buf_add(&transfer->body, data, size * count);
    return transfer->body.full ? 0 : size * count;
}

struct http_multi *http_multi_new(struct loop *loop)
{
    http_trust_begin();
    struct http_multi *multi = xcalloc(1, sizeof *multi);
    multi->loop = loop;
    multi->timer = loop_timer_new(loop, due, multi);
    multi->multi = curl_multi_init();
    must(multi->multi != NULL);
    (void)curl_multi_setopt(multi->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    (void)curl_multi_setopt(multi->multi, CURLMOPT_SOCKETDATA, multi);
    (void)curl_multi_setopt(multi->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    (void)curl_multi_setopt(multi->multi, CURLMOPT_TIMERDATA, multi);
    return multi;
}

void http_multi_free(struct http_multi *multi)
{
    if (multi == NULL) {
        return;
    }
    while (multi->transfers != NULL) {
        transfer_free(multi->transfers);
    }
    (void)curl_multi_cleanup(multi->multi);
    loop_timer_free(multi->timer);
    free(multi);
}

static void options_set(struct transfer *transfer, const struct http_multi_post *post)
{
    static const struct http_trust system_trust = {0};
    CURL *easy = transfer->easy;
    const long connect_ms =
        (long)(post->timeout_ms < MULTI_CONNECT_MS_MAX ? post->timeout_ms : MULTI_CONNECT_MS_MAX);
    http_trust_set(&system_trust, easy);
    (void)curl_easy_setopt(easy, CURLOPT_URL, post->url);
    (void)curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->text);
    (void)curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
    (void)curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, (long)MULTI_KEEP_S_MAX);
    (void)curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, connect_ms);
    (void)curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)post->timeout_ms);
    (void)curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer->headers);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_data);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)post->body.len);
    (void)curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, post->body.p);
    if (post->method != NULL) {
        (void)curl_easy_setopt(easy, CURLOPT_HTTPGET, strcmp(post->method, "GET") == 0 ? 1L : 0L);
        (void)curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, post->method);
    }
}

void http_multi_post(struct http_multi *multi, const struct http_multi_post *post)
{
    struct transfer *transfer = xcalloc(1, sizeof *transfer);
    transfer->multi = multi;
    transfer->done = post->done;
    transfer->ctx = post->ctx;
    transfer->easy = curl_easy_init();
    must(transfer->easy != NULL);
    buf_init(&transfer->body, post->reply_max);
    for (size_t i = 0; post->headers[i] != NULL; i++) {
        struct curl_slist *list = curl_slist_append(transfer->headers, post->headers[i]);
        must(list != NULL);
        transfer->headers = list;
    }
    options_set(transfer, post);
    transfer->next = multi->transfers;
    transfer->back = &multi->transfers;
    if (transfer->next != NULL) {
        transfer->next->back = &transfer->next;
    }
    multi->transfers = transfer;
    must(curl_multi_add_handle(multi->multi, transfer->easy) == CURLM_OK);
}
