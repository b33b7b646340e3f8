/* http_client.c - libcurl behind our own header.
 *
 * Holds (see README.md): C1 a call that may not be repeated is sent at most once. Such a call is
 * tried again only when no connection was made. Such a call never uses a kept connection, on which
 * libcurl itself would send the call a second time. C2 no call outlives its time-outs by more than
 * one poll. SPDX-License-Identifier: Apache-2.0 */
#include "io/http_client.h"

#include "base/buf.h"
#include "base/mem.h"
#include "io/http_again.h"
#include "io/http_trust_internal.h"

#include <curl/curl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    CLIENT_POLL_MS = 200,
    CLIENT_BACKOFF_MS_MIN = 50,
    CLIENT_BACKOFF_MS_MAX = 2000,
    CLIENT_CONNECT_MS_MAX = 10 * 1000,
    CLIENT_KEEP_S_MAX = 60, /* below the server's idle time, so that the client closes first */
    CLIENT_URL_BYTES_MAX = 64 * 1024,
};

struct http_client {
    CURL *easy;
    CURLM *multi;
    char *url;
    char *token;
    struct http_trust trust; /* a copy; without its fingerprint once the file is known to have it */
    http_lost_fn lost;
};

/* One try of one call. */
struct exchange {
    struct http_client *client;
    const struct http_call *call;
    const struct http_stream_call *stream; /* NULL: a plain call */
    struct arena scratch;
    struct curl_slist *headers;
    unsigned status;
    int64_t retry_after_ms;
    char etag[HTTP_ETAG_MAX];
    int64_t began_ms;
    int64_t heard_ms; /* when the last byte came; began_ms until then */
    bool slow_told;
    struct buf body;
    struct buf line;
    bool ended;    /* on_line or `stop` ended the exchange */
    enum err over; /* ERR_LIMIT: the answer is too long; ERR_TIMEOUT: the answer is late */
    char text[CURL_ERROR_SIZE];
};

struct http_client *http_client_new(const char *url, const char *token)
{
    http_trust_begin();
    struct http_client *client = xcalloc(1, sizeof *client);
    client->easy = curl_easy_init();
    client->multi = curl_multi_init();
    must(client->easy != NULL);
    must(client->multi != NULL);
    http_client_aim(client, url, token);
    return client;
}

void http_client_aim(struct http_client *client, const char *url, const char *token)
{
    free(client->url);
    free(client->token);
    client->url = xstrdup(url);
    for (size_t len = strlen(url); len > 0 && url[len - 1] == '/'; len--) {
        client->url[len - 1] = '\0';
    }
    client->token = token != NULL ? xstrdup(token) : NULL;
}

void http_client_trust(struct http_client *client, const struct http_trust *trust)
{
    http_trust_copy(&client->trust, trust);
}

void http_client_on_lost(struct http_client *client, http_lost_fn fn)
{
    client->lost = fn;
}

void http_client_free(struct http_client *client)
{
    if (client == NULL) {
        return;
    }
    curl_easy_cleanup(client->easy);
    (void)curl_multi_cleanup(client->multi);
    http_client_trust(client, &(struct http_trust){0});
    free(client->url);
    free(client->token);
    free(client);
}

static int64_t clock_ms(void)
{
    struct timespec t;
    must(clock_gettime(CLOCK_BOOTTIME, &t) == 0);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Callbacks of libcurl that receive bytes. */
static size_t on_header(char *data, size_t size, size_t count, void *ctx)
{
    struct exchange *x = ctx;
    struct str line = {data, size * count};
    x->heard_ms = clock_ms();
    (void)http_again_after(line, &x->retry_after_ms);
    http_again_etag(line, x->etag);
    return line.len;
}

static bool flag_set(const volatile int *flag)
{
    return flag != NULL && __atomic_load_n(flag, __ATOMIC_RELAXED) != 0;
}

static bool stop_asked(const struct exchange *x)
{
    return flag_set(x->call->stop) || (x->stream != NULL && flag_set(x->stream->stop));
}

/* Passes one whole line, or the rest of the stream, to the caller. False: the caller wants no
 * more. */
static bool line_give(struct exchange *x)
{
    struct str line = {buf_text(&x->line), x->line.len};
    bool more = !stop_asked(x) && x->stream->on_line(x->stream->ctx, line);
    x->ended = !more;
    buf_clear(&x->line);
    return more;
}

static bool lines_take(struct exchange *x, struct str data)
{
    while (data.len > 0) {
        const char *newline = memchr(data.p, '\n', data.len);
        size_t len = newline != NULL ? (size_t)(newline - data.p) : data.len;
        buf_add(&x->line, data.p, len);
        if (x->line.full) {
            x->over = ERR_LIMIT;
            return false;
        }
        if (newline == NULL) {
            return true;
        }
        if (!line_give(x)) {
            return false;
        }
        data.p += len + 1;
        data.len -= len + 1;
    }
    return true;
}

static size_t on_data(char *data, size_t size, size_t count, void *ctx)
{
    struct exchange *x = ctx;
    struct str bytes = {data, size * count};
    x->heard_ms = clock_ms();
    long status = 0;
    (void)curl_easy_getinfo(x->client->easy, CURLINFO_RESPONSE_CODE, &status);
    if (x->stream != NULL && status == 200) {
        return lines_take(x, bytes) ? bytes.len : 0;
    }
    buf_add(&x->body, bytes.p, bytes.len);
    if (x->body.full) {
        x->over = ERR_LIMIT;
        return 0;
    }
    return bytes.len;
}

static bool method_is(const struct http_call *call, const char *method)
{
    return strcmp(call->method, method) == 0;
}

static bool may_repeat(const struct http_call *call)
{
    return call->repeatable || call->idempotency_key != NULL || method_is(call, "GET") ||
           method_is(call, "HEAD") || method_is(call, "PUT") || method_is(call, "DELETE");
}

static void header_add(struct exchange *x, const char *line)
{
    struct curl_slist *list = curl_slist_append(x->headers, line);
    must(list != NULL);
    x->headers = list;
}

static void headers_make(struct exchange *x)
{
    struct arena *arena = &x->scratch;
    const struct http_call *call = x->call;
    if (x->client->token != NULL) {
        header_add(x, arena_fmt(arena, "Authorization: Bearer %s", x->client->token));
    }
    if (call->idempotency_key != NULL) {
        header_add(x, arena_fmt(arena, "Idempotency-Key: %s", call->idempotency_key));
    }
    /* Without a body the header is removed, because libcurl would add the content type of a
     * form. */
    const char *type = call->content_type != NULL ? call->content_type : "application/json";
    header_add(x, arena_fmt(arena, "Content-Type: %s", call->body.len > 0 ? type : ""));
    for (size_t i = 0; call->headers != NULL && call->headers[i] != NULL; i++) {
        header_add(x, call->headers[i]);
    }
}

static void method_set(CURL *easy, const struct http_call *call)
{
    if (method_is(call, "HEAD")) {
        (void)curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    } else if (call->body.len > 0 || method_is(call, "POST") || method_is(call, "PUT")) {
        (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body.len);
        (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDS, call->body.len > 0 ? call->body.p : "");
        (void)curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, call->method);
    } else {
        (void)curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
        (void)curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, call->method);
    }
}

static int64_t timeout_ms_of(const struct http_call *call)
{
    return call->timeout_ms > 0 ? call->timeout_ms : HTTP_TIMEOUT_MS;
}

static enum err options_set(struct exchange *x, struct error *e)
{
    CURL *easy = x->client->easy;
    const struct http_call *call = x->call;
    int64_t timeout_ms = timeout_ms_of(call);
    int64_t connect_ms = timeout_ms < CLIENT_CONNECT_MS_MAX ? timeout_ms : CLIENT_CONNECT_MS_MAX;
    headers_make(x);
    curl_easy_reset(easy);
    const bool local = strncmp(x->client->url, "unix:/", 6) == 0;
    char *url =
        arena_fmt(&x->scratch, "%s%s", local ? "http://localhost" : x->client->url, call->path);
    (void)curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, local ? x->client->url + 5 : NULL);
    CURLcode r = strlen(url) < CLIENT_URL_BYTES_MAX ? curl_easy_setopt(easy, CURLOPT_URL, url)
                                                    : CURLE_URL_MALFORMAT;
    if (r == CURLE_OK) {
        r = curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    }
    http_trust_set(&x->client->trust, easy);
    (void)curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, x->text);
    (void)curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, (long)CLIENT_KEEP_S_MAX);
    (void)curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, may_repeat(call) ? 0L : 1L);
    (void)curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)connect_ms);
    (void)curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, x->stream != NULL ? 0L : (long)timeout_ms);
    (void)curl_easy_setopt(easy, CURLOPT_HTTPHEADER, x->headers);
    (void)curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    (void)curl_easy_setopt(easy, CURLOPT_HEADERDATA, x);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_data);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEDATA, x);
    method_set(easy, call);
    return r == CURLE_OK ? ERR_OK : fail(e, ERR_INVALID, "'%s' is not a URL", x->client->url);
}

/* How long a stream may still be silent; 0: the stream was silent for too long. */
static int64_t silence_left_ms(const struct exchange *x)
{
    long status = 0;
    (void)curl_easy_getinfo(x->client->easy, CURLINFO_RESPONSE_CODE, &status);
    int64_t limit_ms = status == 0 ? timeout_ms_of(x->call) : x->stream->idle_ms;
    if (limit_ms <= 0) {
        return CLIENT_POLL_MS;
    }
    int64_t left_ms = x->heard_ms + limit_ms - clock_ms();
    return left_ms > 0 ? left_ms : 0;
}

/* True when no byte of the call was sent, so that the server has seen nothing. */
static bool never_sent(CURL *easy)
{
    long sent = 0;
    (void)curl_easy_getinfo(easy, CURLINFO_REQUEST_SIZE, &sent);
    return sent == 0;
}

/* Tells the caller once that there is no connection, or no answer, for long. */
static void slow_tell(struct exchange *x)
{
    if (x->call->slow == NULL || x->slow_told || x->heard_ms != x->began_ms) {
        return;
    }
    const bool connected = !never_sent(x->client->easy);
    if (clock_ms() - x->began_ms >= (connected ? HTTP_SLOW_ANSWER_MS : HTTP_SLOW_CONNECT_MS)) {
        x->slow_told = true;
        x->call->slow(x->call->slow_ctx, x->client->url, connected);
    }
}

/* Returns CURLE_OK, libcurl's failure, or CURLE_ABORTED_BY_CALLBACK when this file ended the
 * transfer. */
static CURLcode transfer(struct exchange *x)
{
    CURLM *multi = x->client->multi;
    for (;;) {
        int running = 0;
        must(curl_multi_perform(multi, &running) == CURLM_OK);
        if (running == 0) {
            int left = 0;
            const CURLMsg *message = curl_multi_info_read(multi, &left);
            must(message != NULL);
            return message->data.result;
        }
        int64_t wait_ms = CLIENT_POLL_MS;
        if (x->stream != NULL) {
            int64_t left_ms = silence_left_ms(x);
            x->over = left_ms == 0 ? ERR_TIMEOUT : x->over;
            wait_ms = left_ms < wait_ms ? left_ms : wait_ms;
        }
        slow_tell(x);
        x->ended = x->ended || stop_asked(x);
        if (x->ended || x->over != ERR_OK) {
            return CURLE_ABORTED_BY_CALLBACK;
        }
        const int stop_fd = x->stream != NULL ? x->stream->stop_fd : 0;
        struct curl_waitfd waits = {.fd = stop_fd, .events = CURL_WAIT_POLLIN};
        must(curl_multi_poll(multi, &waits, stop_fd > 0 ? 1 : 0, (int)wait_ms, NULL) == CURLM_OK);
    }
}

static enum err failure_of(const struct exchange *x, CURLcode code, struct error *e)
{
    const char *url = x->client->url;
    const char *text = x->text[0] != '\0' ? x->text : curl_easy_strerror(code);
    if (x->over == ERR_LIMIT) {
        return fail(e, ERR_LIMIT, "%s sent more than is taken here", url);
    }
    if (x->over == ERR_TIMEOUT) {
        return fail(e, ERR_TIMEOUT, "%s has been silent for too long", url);
    }
    if (code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL) {
        return fail(e, ERR_INVALID, "'%s' is not an http or https URL", url);
    }
    if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE ||
        code == CURLE_SSL_CERTPROBLEM) {
        return http_trust_failed(url, x->client->trust.ca, text, e);
    }
    if (code == CURLE_OPERATION_TIMEDOUT && !never_sent(x->client->easy)) {
        return fail(e, ERR_TIMEOUT, "no answer from %s: %s", url, text);
    }
    return fail(e, ERR_UNREACHABLE, "cannot reach %s: %s", url, text);
}

/* Sets *ret_sent when the server may have seen the call. */
static enum err try_once(struct exchange *x, bool *ret_sent, struct error *e)
{
    CURL *easy = x->client->easy;
    *ret_sent = false;
    enum err r = http_trust_ready(x->client->url, &x->client->trust, e);
    r = r == ERR_OK ? options_set(x, e) : r;
    if (r != ERR_OK) {
        return r;
    }
    x->began_ms = clock_ms();
    x->heard_ms = x->began_ms;
    must(curl_multi_add_handle(x->client->multi, easy) == CURLM_OK);
    CURLcode code = transfer(x);
    long status = 0;
    (void)curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    x->status = (unsigned)status;
    *ret_sent = !never_sent(easy);
    must(curl_multi_remove_handle(x->client->multi, easy) == CURLM_OK);
    if (code == CURLE_OK && x->stream != NULL && x->line.len > 0) {
        (void)line_give(x); /* the last line came without its newline */
    }
    if (code != CURLE_OK && x->ended && x->stream == NULL) {
        return fail(e, ERR_TIMEOUT, "the call to %s was given up", x->client->url);
    }
    return code == CURLE_OK || x->ended ? ERR_OK : failure_of(x, code, e);
}

static void exchange_clear(struct exchange *x)
{
    curl_slist_free_all(x->headers);
    arena_done(&x->scratch);
    buf_done(&x->body);
    buf_done(&x->line);
    *x = (struct exchange){.client = x->client, .call = x->call, .stream = x->stream};
    buf_init(&x->body, HTTP_REPLY_BYTES_MAX);
    buf_init(&x->line, HTTP_LINE_BYTES_MAX);
}

/* False: `stop` was set meanwhile. */
static bool pause_ms(const struct exchange *x, int64_t ms)
{
    int64_t until = clock_ms() + ms;
    for (int64_t left = ms; left > 0; left = until - clock_ms()) {
        if (stop_asked(x)) {
            return false;
        }
        (void)poll(NULL, 0, (int)(left < CLIENT_POLL_MS ? left : CLIENT_POLL_MS));
    }
    return true;
}

static bool worth_retrying(const struct exchange *x, enum err r, bool sent)
{
    if (sent && !may_repeat(x->call)) {
        return false;
    }
    bool stream_began = x->stream != NULL && x->status == 200;
    if (r == ERR_UNREACHABLE) {
        return !stream_began;
    }
    return r == ERR_OK && (x->status == 503 || x->status == 429);
}

static enum err call_run(struct exchange *x, struct arena *arena, struct http_reply *ret,
                         struct error *e)
{
    int64_t give_up_ms = clock_ms() + x->call->retry_ms;
    int64_t backoff_ms = CLIENT_BACKOFF_MS_MIN;
    enum err r = ERR_OK;
    for (;;) {
        exchange_clear(x);
        bool sent = false;
        r = try_once(x, &sent, e);
        if (!worth_retrying(x, r, sent)) {
            break;
        }
        int64_t left_ms = give_up_ms - clock_ms();
        int64_t wait_ms = http_again_jitter(backoff_ms);
        /* A last try at the very end of retry_ms. */
        wait_ms = wait_ms < left_ms ? wait_ms : left_ms;
        wait_ms = x->retry_after_ms > wait_ms ? x->retry_after_ms : wait_ms;
        if (left_ms <= 0 || wait_ms > left_ms || !pause_ms(x, wait_ms)) {
            break;
        }
        if (r == ERR_UNREACHABLE && x->client->lost != NULL) {
            x->client->lost(x->client);
        }
        backoff_ms =
            2 * backoff_ms < CLIENT_BACKOFF_MS_MAX ? 2 * backoff_ms : CLIENT_BACKOFF_MS_MAX;
    }
    if (r == ERR_OK) {
        ret->status = x->status;
        ret->retry_after_ms = x->retry_after_ms;
        (void)str_copy(ret->etag, sizeof ret->etag, x->etag);
        ret->body.p = arena_strn(arena, buf_text(&x->body), x->body.len);
        ret->body.len = x->body.len;
    }
    exchange_clear(x);
    return r;
}

/* Checks texts that come from files and the environment. A line break in such a text would become a
 * header of its own. */
static enum err call_check(const struct http_client *client, const struct http_call *call,
                           struct error *e)
{
    must(call->method != NULL);
    must(call->path != NULL);
    if (client->token != NULL && strpbrk(client->token, "\r\n") != NULL) {
        return fail(e, ERR_INVALID, "the token holds a line break");
    }
    if (call->idempotency_key != NULL && strpbrk(call->idempotency_key, "\r\n") != NULL) {
        return fail(e, ERR_INVALID, "the idempotency key holds a line break");
    }
    return ERR_OK;
}

must_use enum err http_client_call(struct http_client *client, const struct http_call *call,
                                   struct arena *arena, struct http_reply *ret, struct error *e)
{
    enum err r = call_check(client, call, e);
    if (r != ERR_OK) {
        return r;
    }
    struct exchange x = {.client = client, .call = call};
    return call_run(&x, arena, ret, e);
}

must_use enum err http_client_stream(struct http_client *client,
                                     const struct http_stream_call *call, struct arena *arena,
                                     struct http_reply *ret, struct error *e)
{
    must(call->on_line != NULL);
    enum err r = call_check(client, &call->call, e);
    if (r != ERR_OK) {
        return r;
    }
    struct exchange x = {.client = client, .call = &call->call, .stream = call};
    return call_run(&x, arena, ret, e);
}
