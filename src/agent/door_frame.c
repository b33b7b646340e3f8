/* door_frame.c - see door_frame.h. SPDX-License-Identifier: Apache-2.0 */
#include "agent/door_frame.h"

#include "agent/attempt_bytes.h"
#include "agent/unixsock.h"
#include "base/bytes.h"
#include "base/mem.h"
#include "core/model/limits.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { DOOR_ANSWER_MS = 10 * 1000, DOOR_TEXT_MAX = 1024 };

static void request_put(struct buf *out, const struct door_request *request)
{
    bytes_put_u64(out, DOOR_VERSION);
    attempt_bytes_put(out, &request->key);
    bytes_put_text(out, request->what);
    bytes_put_text(out, request->terminal);
    bytes_put_text(out, request->term);
    bytes_put_u64(out, request->argv_count);
    for (size_t i = 0; i < request->argv_count; i++) {
        bytes_put_text(out, request->argv[i]);
    }
}

static must_use enum err message_send(int conn, const struct buf *out, int fd, struct error *e)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec part = {out->data, out->len};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (fd >= 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof control.bytes;
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(head), &fd, sizeof fd);
    }
    if (sendmsg(conn, &message, MSG_NOSIGNAL) < 0) {
        return fail_errno(e, ERR_IO, errno, "cannot ask the supervisor");
    }
    return ERR_OK;
}

static must_use enum err reply_read(int conn, struct arena *arena, struct door_reply *ret,
                                    struct error *e)
{
    char bytes[DOOR_TEXT_MAX * 2];
    struct pollfd wait = {.fd = conn, .events = POLLIN};
    if (poll(&wait, 1, DOOR_ANSWER_MS) <= 0) {
        return fail(e, ERR_TIMEOUT, "the node's supervisor does not answer");
    }
    ssize_t got = recv(conn, bytes, sizeof bytes, 0);
    struct bytes_reader in;
    bytes_reader_init(&in, bytes, got > 0 ? (size_t)got : 0);
    ret->failure = bytes_get_text(&in, arena, DOOR_TEXT_MAX);
    ret->port = (uint16_t)bytes_get_max(&in, UINT16_MAX);
    ret->pid = (int)bytes_get_max(&in, INT_MAX);
    ret->supervisor_hex = bytes_get_text(&in, arena, DOOR_TEXT_MAX);
    /* A supervisor adds this only where the attempt has a network, which an older agent does not know. */
    ret->network = in.left > 0 ? bytes_get_text(&in, arena, DOOR_TEXT_MAX) : "";
    return bytes_reader_ok(&in) ? ERR_OK : fail(e, ERR_IO, "the node's supervisor gives no answer");
}

must_use enum err door_frame_ask(const char *dir, const struct door_request *request, int fd,
                                 struct arena *arena, struct door_reply *ret, struct error *e)
{
    int conn;
    enum err r = unixsock_door_connect(dir, &conn, e);
    if (r != ERR_OK) {
        return fail_in(e, "the node's supervisor takes no visitors; it may be of an older version, "
                          "which ends with its tasks");
    }
    struct buf out;
    buf_init(&out, DOOR_BYTES_MAX);
    request_put(&out, request);
    r = out.full ? fail(e, ERR_LIMIT, "the command is longer than %d bytes", DOOR_BYTES_MAX)
                 : message_send(conn, &out, fd, e);
    r = r == ERR_OK ? reply_read(conn, arena, ret, e) : r;
    buf_done(&out);
    (void)close(conn);
    return r;
}

/* Takes the descriptor out of the message; further ones are closed by the kernel, as there is no room. */
static int fd_of(struct msghdr *message)
{
    int fd = -1;
    const struct cmsghdr *head = CMSG_FIRSTHDR(message);
    if (head != NULL && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
        head->cmsg_len == CMSG_LEN(sizeof fd)) {
        memcpy(&fd, CMSG_DATA(head), sizeof fd);
    }
    return fd;
}

must_use enum err door_frame_read(int conn, struct arena *arena, struct door_request *ret,
                                  int *ret_fd, struct error *e)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    auto_free(freep) char *bytes = xmalloc(DOOR_BYTES_MAX);
    struct iovec part = {bytes, DOOR_BYTES_MAX};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    ssize_t got = recvmsg(conn, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return fail(e, ERR_BUSY, "nothing has come yet");
    }
    *ret_fd = got > 0 ? fd_of(&message) : -1;
    struct bytes_reader in;
    bytes_reader_init(&in, bytes, got > 0 ? (size_t)got : 0);
    const uint64_t version = bytes_get_u64(&in);
    ret->key = attempt_bytes_get(&in);
    ret->what = bytes_get_text(&in, arena, DOOR_TEXT_MAX);
    ret->terminal = bytes_get_text(&in, arena, DOOR_TEXT_MAX);
    ret->term = bytes_get_text(&in, arena, DOOR_TEXT_MAX);
    ret->argv_count = (size_t)bytes_get_max(&in, TASK_ARGS_MAX);
    const char **argv = arena_new(arena, const char *, ret->argv_count + 1);
    for (size_t i = 0; i < ret->argv_count; i++) {
        argv[i] = bytes_get_text(&in, arena, DOOR_BYTES_MAX);
    }
    ret->argv = argv;
    if (!bytes_reader_ok(&in) || version != DOOR_VERSION) {
        if (*ret_fd >= 0) {
            (void)close(*ret_fd);
        }
        return fail(e, ERR_INVALID, "the agent asks for what this supervisor does not know");
    }
    return ERR_OK;
}

void door_frame_reply(int conn, const struct door_reply *reply)
{
    struct buf out;
    buf_init(&out, DOOR_TEXT_MAX * 2);
    bytes_put_text(&out, reply->failure);
    bytes_put_u64(&out, reply->port);
    bytes_put_u64(&out, (uint64_t)reply->pid);
    bytes_put_text(&out, reply->supervisor_hex == NULL ? "" : reply->supervisor_hex);
    if (reply->network != NULL && reply->network[0] != '\0') {
        bytes_put_text(&out, reply->network);
    }
    (void)send(conn, out.data, out.len, MSG_NOSIGNAL | MSG_DONTWAIT);
    buf_done(&out);
}
