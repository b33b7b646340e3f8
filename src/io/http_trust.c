/* http_trust.c - see http_trust.h. SPDX-License-Identifier: Apache-2.0 */
#include "io/http_trust.h"

#include "base/buf.h"
#include "base/mem.h"
#include "io/http_trust_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

/* The certificates of libcurl's list, one behind the other. */
static const char *chain_text(const struct curl_certinfo *info, struct arena *arena)
{
    static const char key[] = "Cert:";
    struct buf out;
    buf_init(&out, X509_PEM_MAX);
    for (int i = 0; i < info->num_of_certs && i < X509_CHAIN_MAX; i++) {
        for (const struct curl_slist *line = info->certinfo[i]; line != NULL; line = line->next) {
            if (strncasecmp(line->data, key, sizeof key - 1) == 0) {
                buf_add_str(&out, line->data + sizeof key - 1);
                buf_add_str(&out, "\n");
            }
        }
    }
    const char *text = arena_strn(arena, buf_text(&out), out.len);
    buf_done(&out);
    return text;
}

/* Makes a TLS connection, looks at the certificates, and closes. Nothing is checked, nothing sent. */
static must_use enum err chain_fetch(const char *url, struct arena *arena, const char **ret,
                                     struct error *e)
{
    http_trust_begin();
    CURL *easy = curl_easy_init();
    must(easy != NULL);
    struct curl_certinfo *info = NULL;
    char text[CURL_ERROR_SIZE] = "";
    (void)curl_easy_setopt(easy, CURLOPT_URL, url);
    (void)curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "https");
    http_trust_set(&(struct http_trust){0}, easy);
    (void)curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
    (void)curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
    (void)curl_easy_setopt(easy, CURLOPT_CERTINFO, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)HTTP_TRUST_MS);
    (void)curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, text);
    CURLcode code = curl_easy_perform(easy);
    enum err r = ERR_OK;
    if (code != CURLE_OK) {
        r = fail(e, ERR_UNREACHABLE, "cannot reach %s: %s", url,
                 text[0] != '\0' ? text : curl_easy_strerror(code));
    } else if (curl_easy_getinfo(easy, CURLINFO_CERTINFO, &info) != CURLE_OK || info == NULL) {
        r = fail(e, ERR_UNREACHABLE, "%s shows no certificate", url);
    } else {
        *ret = chain_text(info, arena);
    }
    curl_easy_cleanup(easy);
    return r;
}

must_use enum err http_trust_fetch(const char *url, const char *fingerprint, struct arena *arena,
                                   const char **ret_pem, struct error *e)
{
    const char *chain = NULL;
    enum err r = chain_fetch(url, arena, &chain, e);
    const char *found = r == ERR_OK ? x509_find(chain, fingerprint, arena) : NULL;
    if (r == ERR_OK && found == NULL) {
        return fail(
            e, ERR_DENIED,
            "%s is not the server that the token names: its authority has another "
            "fingerprint; somebody may be in between, or the server was set up anew; ask its "
            "administrator for a new token",
            url);
    }
    if (r == ERR_OK) {
        *ret_pem = found;
    }
    return r;
}

static const char *file_text(const char *path, struct arena *arena)
{
    int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0) {
        return NULL;
    }
    char *text = arena_alloc(arena, X509_PEM_MAX + 1);
    ssize_t len = read(fd, text, X509_PEM_MAX);
    (void)close(fd);
    text[len > 0 ? len : 0] = '\0';
    return text;
}

/* Writes the file whole or not at all. */
static must_use enum err file_write(const char *path, const char *text, struct arena *arena,
                                    struct error *e)
{
    char *beside = arena_fmt(arena, "%s.%d", path, (int)getpid());
    int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0) {
        return fail_errno(e, ERR_IO, errno, "cannot write %s", path);
    }
    bool well = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    well = close(fd) == 0 && well && rename(beside, path) == 0;
    int number = errno;
    if (!well) {
        (void)unlink(beside);
        return fail_errno(e, ERR_IO, number, "cannot write %s", path);
    }
    return ERR_OK;
}

static void text_replace(const char **to, const char *from)
{
    char *copy = from != NULL ? xstrdup(from) : NULL;
    free((char *)(uintptr_t)*to);
    *to = copy;
}

void http_trust_copy(struct http_trust *to, const struct http_trust *from)
{
    text_replace(&to->ca, from->ca);
    text_replace(&to->fingerprint, from->fingerprint);
    text_replace(&to->cert, from->cert);
    text_replace(&to->key, from->key);
}

static pthread_once_t global_once = PTHREAD_ONCE_INIT;

static void global_init(void)
{
    must(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK);
}

void http_trust_begin(void)
{
    must(pthread_once(&global_once, global_init) == 0);
}

void http_trust_set(const struct http_trust *trust, CURL *easy)
{
    (void)curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_PROXY, "");
    (void)curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    (void)curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    (void)curl_easy_setopt(easy, CURLOPT_USERAGENT, "weir/" WEIR_VERSION);
    (void)curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (trust->ca != NULL) {
        (void)curl_easy_setopt(easy, CURLOPT_CAINFO, trust->ca);
        (void)curl_easy_setopt(easy, CURLOPT_CAPATH, NULL); /* no other authority */
    }
    if (trust->cert != NULL) {
        (void)curl_easy_setopt(easy, CURLOPT_SSLCERT, trust->cert);
        (void)curl_easy_setopt(easy, CURLOPT_SSLKEY, trust->key);
    }
}

must_use enum err http_trust_ready(const char *url, struct http_trust *trust, struct error *e)
{
    if (trust->fingerprint == NULL || strncmp(url, "unix:", 5) == 0) {
        return ERR_OK;
    }
    if (strncmp(url, "https:", 6) != 0) {
        return fail(e, ERR_DENIED, "%s is not https, and the token is for a server with TLS", url);
    }
    struct arena arena;
    struct x509_facts facts;
    const char *pem = NULL;
    enum err r = ERR_OK;
    arena_init(&arena);
    const char *have = file_text(trust->ca, &arena);
    if (have == NULL || x509_read(have, &arena, &facts, NULL) != ERR_OK ||
        strcmp(facts.fingerprint, trust->fingerprint) != 0) {
        r = http_trust_fetch(url, trust->fingerprint, &arena, &pem, e);
        r = r == ERR_OK ? file_write(trust->ca, pem, &arena, e) : r;
    }
    if (r == ERR_OK) {
        text_replace(&trust->fingerprint, NULL);
    }
    arena_done(&arena);
    return r;
}

/* The host of "https://host:port", without brackets. */
static const char *host_of(const char *url, struct arena *arena)
{
    const char *host = strstr(url, "://");
    host = host == NULL ? url : host + 3;
    return host[0] == '[' ? arena_strn(arena, host + 1, strcspn(host + 1, "]"))
                          : arena_strn(arena, host, strcspn(host, ":/"));
}

enum err http_trust_failed(const char *url, const char *ca_path, const char *text, struct error *e)
{
    struct arena arena;
    struct timespec now;
    char fault[ERROR_TEXT_MAX] = "";
    const char *chain = NULL;
    arena_init(&arena);
    must(clock_gettime(CLOCK_REALTIME, &now) == 0);
    if (chain_fetch(url, &arena, &chain, NULL) == ERR_OK) {
        x509_fault(chain, file_text(ca_path, &arena), host_of(url, &arena),
                   (int64_t)now.tv_sec * 1000, fault, sizeof fault);
    }
    if (fault[0] == '\0' && ca_path == NULL) {
        (void)snprintf(fault, sizeof fault,
                       "no authority that this machine knows signed its certificate; use a token "
                       "that carries the fingerprint: `weir token create` prints one");
    }
    arena_done(&arena);
    return fail(e, ERR_DENIED, "%s is not trusted: %s", url, fault[0] != '\0' ? fault : text);
}

void http_trust_split(const char *token, struct arena *arena, const char **ret_token,
                      const char **ret_fingerprint)
{
    const char *dot = strrchr(token, '.');
    bool carries = dot != NULL && strlen(dot + 1) == X509_FINGERPRINT_LEN &&
                   strspn(dot + 1, "0123456789abcdef") == X509_FINGERPRINT_LEN;
    *ret_token = carries ? arena_strn(arena, token, (size_t)(dot - token)) : token;
    *ret_fingerprint = carries ? arena_str(arena, dot + 1) : NULL;
}
