/* floor_http.c - the smallest HTTP server whose answers are durable: one thread, epoll, one record
 * appended and flushed per loop turn before the answers are sent. The limit for durable
 * submissions.
 *
 *   floor_http FILE      prints its port, serves on loopback until its standard input closes
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONNECTIONS_MAX = 1024, BUFFER_BYTES = 16384, RECORD_BYTES = 256, EVENTS_MAX = 256 };

struct connection {
    int fd;
    size_t len;
    unsigned due;
    char data[BUFFER_BYTES];
};

static const char ANSWER[] = "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\n"
                             "Content-Length: 15\r\n\r\n{\"id\": 1234567}";

static struct connection *connections[CONNECTIONS_MAX];

static void die(const char *what)
{
    perror(what);
    exit(1);
}

/* Bytes of the first whole request, or 0. */
static size_t request_len(const struct connection *c)
{
    const char *end = memmem(c->data, c->len, "\r\n\r\n", 4);
    if (end == NULL) {
        return 0;
    }
    size_t head = (size_t)(end - c->data) + 4;
    const char *field = memmem(c->data, head, "Content-Length:", 15);
    size_t body = field != NULL ? strtoul(field + 15, NULL, 10) : 0;
    return c->len >= head + body ? head + body : 0;
}

static void connection_close(struct connection *c)
{
    connections[c->fd] = NULL;
    (void)close(c->fd);
    free(c);
}

static void accept_one(int epoll, int listener)
{
    int one = 1;
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
    if (fd < 0 || fd >= CONNECTIONS_MAX) {
        return;
    }
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct connection *c = calloc(1, sizeof *c);
    if (c == NULL) {
        die("calloc");
    }
    c->fd = fd;
    connections[fd] = c;
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0) {
        die("epoll_ctl");
    }
}

/* Reads the bytes that have come. False: the connection has ended. */
static bool take(struct connection *c)
{
    ssize_t got = read(c->fd, c->data + c->len, sizeof c->data - c->len);
    if (got <= 0) {
        return got < 0 && errno == EAGAIN;
    }
    c->len += (size_t)got;
    for (size_t len = request_len(c); len > 0; len = request_len(c)) {
        memmove(c->data, c->data + len, c->len - len);
        c->len -= len;
        c->due++;
    }
    return true;
}

static void flush_and_answer(int file, struct connection **ready, size_t count)
{
    static const char record[RECORD_BYTES];
    for (size_t i = 0; i < count; i++) {
        for (unsigned k = 0; k < ready[i]->due; k++) {
            if (write(file, record, sizeof record) != (ssize_t)sizeof record) {
                die("write");
            }
        }
    }
    if (count > 0 && fdatasync(file) < 0) {
        die("fdatasync");
    }
    for (size_t i = 0; i < count; i++) {
        for (; ready[i]->due > 0; ready[i]->due--) {
            if (write(ready[i]->fd, ANSWER, sizeof ANSWER - 1) < 0) {
                break;
            }
        }
    }
}

static int listen_any(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, len) < 0 || listen(fd, 1024) < 0 ||
        getsockname(fd, (struct sockaddr *)&address, &len) < 0) {
        die("listen");
    }
    (void)printf("%u\n", ntohs(address.sin_port));
    (void)fflush(stdout);
    return fd;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        (void)fprintf(stderr, "usage: floor_http FILE\n");
        return 2;
    }
    int file = open(argv[1], O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
    int listener = listen_any();
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event events[EVENTS_MAX] = {{.events = EPOLLIN, .data.fd = listener}};
    (void)epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &events[0]);
    events[0] = (struct epoll_event){.events = EPOLLIN | EPOLLHUP, .data.fd = STDIN_FILENO};
    (void)epoll_ctl(epoll, EPOLL_CTL_ADD, STDIN_FILENO, &events[0]);
    for (;;) {
        struct connection *ready[EVENTS_MAX];
        size_t ready_count = 0;
        int count = epoll_wait(epoll, events, EVENTS_MAX, -1);
        for (int i = 0; i < count; i++) {
            int fd = events[i].data.fd;
            if (fd == STDIN_FILENO) {
                return 0;
            }
            if (fd == listener) {
                accept_one(epoll, listener);
            } else if (!take(connections[fd])) {
                connection_close(connections[fd]);
            } else if (connections[fd]->due > 0) {
                ready[ready_count++] = connections[fd];
            }
        }
        flush_and_answer(file, ready, ready_count);
    }
}
