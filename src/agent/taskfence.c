/* taskfence.c - see taskfence.h. SPDX-License-Identifier: Apache-2.0 */
#include "agent/taskfence.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define FORWARDING "/proc/sys/net/ipv4/ip_forward"

enum { RULES_BYTES_MAX = 4 * 1024 * 1024, NOT_FOUND = 127 };

/* Runs in the child: executes the program with `in` as its input and `out` as its output. Never
 * returns. */
static void child_execute(const char *const *argv, int in, int out)
{
    static const char *const env[] = {
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8",
        NULL};
    sigset_t none;
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)dup2(in, STDIN_FILENO);
    (void)dup2(out, STDOUT_FILENO);
    (void)execvpe(argv[0], (char *const *)(uintptr_t)argv, (char *const *)(uintptr_t)env);
    _exit(NOT_FOUND);
}

static must_use enum err program_run(const char *const *argv, int in, int out, struct error *e)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        child_execute(argv, in, out);
    }
    pid_t ended = -1;
    while (child > 0 && (ended = waitpid(child, &status, 0)) < 0 && errno == EINTR) {
    }
    if (child < 0 || ended != child) {
        return fail_errno(e, ERR_IO, errno, "cannot run '%s'", argv[0]);
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND) {
        return fail(e, ERR_NOT_FOUND, "this node has no program '%s'", argv[0]);
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? ERR_OK
                                                         : fail(e, ERR_IO, "'%s' failed", argv[0]);
}

/* Returns a file in memory that holds `text`, or an empty one for NULL. With a file in place of a
 * pipe, neither this process nor the program waits for the other. -1: no file can be made. */
static int scratch(const struct buf *text)
{
    const int fd = memfd_create("weir-rules", MFD_CLOEXEC);
    const size_t len = text == NULL ? 0 : text->len;
    if (fd >= 0 && len > 0 &&
        (write(fd, text->data, len) != (ssize_t)len || lseek(fd, 0, SEEK_SET) != 0)) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

static must_use enum err rules_read(struct buf *ret, struct error *e)
{
    static const char *const argv[] = {"iptables-save", NULL};
    char piece[16384];
    const int out = scratch(NULL);
    enum err r = out < 0 ? fail_errno(e, ERR_IO, errno, "cannot make a file in memory")
                         : program_run(argv, STDIN_FILENO, out, e);
    ssize_t got = r == ERR_OK && lseek(out, 0, SEEK_SET) == 0 ? 1 : 0;
    while (got > 0 && (got = read(out, piece, sizeof piece)) > 0) {
        buf_add(ret, piece, (size_t)got);
    }
    if (out >= 0) {
        (void)close(out);
    }
    return r;
}

static must_use enum err rules_write(const struct buf *rules, struct error *e)
{
    static const char *const argv[] = {"iptables-restore", "--noflush", NULL};
    const int in = scratch(rules);
    if (in < 0) {
        return fail_errno(e, ERR_IO, errno, "cannot make a file in memory");
    }
    const enum err r = program_run(argv, in, STDERR_FILENO, e);
    (void)close(in);
    return r;
}

must_use enum err taskfence_able(struct error *e)
{
    struct buf rules;
    char on = '0';
    const int fd = open(FORWARDING, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        (void)!read(fd, &on, 1);
        (void)close(fd);
    }
    if (on != '1') {
        return fail(e, ERR_DENIED, "net.ipv4.ip_forward is off on this node");
    }
    buf_init(&rules, RULES_BYTES_MAX);
    const enum err r = rules_read(&rules, e);
    buf_done(&rules);
    return r;
}

must_use enum err taskfence_make(const char *link, const char *address, struct error *e)
{
    struct buf rules;
    buf_init(&rules, 4096);
    /* Each rule is put before the rules that are there, so the kernel asks the last rule of a chain
     * first. */
    buf_addf(&rules,
             "*filter\n"
             "-I INPUT 1 -i %s -j DROP\n"
             "-I FORWARD 1 -o %s -j DROP\n"
             "-I FORWARD 1 -o %s -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT\n"
             "-I FORWARD 1 -i %s -j ACCEPT\n"
             "-I FORWARD 1 -i %s -d 169.254.0.0/16 -j DROP\n"
             "-I FORWARD 1 -i %s -o " TASKFENCE_LINK "+ -j DROP\n"
             "COMMIT\n"
             "*nat\n"
             "-I POSTROUTING 1 -s %s/32 ! -o %s -j MASQUERADE\n"
             "COMMIT\n",
             link, link, link, link, link, link, address, link);
    const enum err r = rules_write(&rules, e);
    buf_done(&rules);
    return r;
}

/* Finds the link that the rule is for: the first word of the rule that is the name of a link.
 * False: the rule is for no link. */
static bool link_of(struct str rule, char ret[TASKFENCE_LINK_LEN + 1])
{
    while (rule.p != NULL) {
        const struct str word = str_cut(rule, ' ', &rule);
        bool is = word.len == TASKFENCE_LINK_LEN &&
                  memcmp(word.p, TASKFENCE_LINK, sizeof TASKFENCE_LINK - 1) == 0;
        for (size_t i = sizeof TASKFENCE_LINK - 1; is && i < word.len; i++) {
            is = strchr("0123456789abcdef", word.p[i]) != NULL;
        }
        if (is) {
            memcpy(ret, word.p, word.len);
            ret[word.len] = '\0';
            return true;
        }
    }
    return false;
}

must_use enum err taskfence_sweep(bool *ret_others, struct error *e)
{
    struct buf now;
    struct buf gone;
    char link[TASKFENCE_LINK_LEN + 1];
    bool any = false;
    *ret_others = false;
    buf_init(&now, RULES_BYTES_MAX);
    buf_init(&gone, RULES_BYTES_MAX);
    enum err r = rules_read(&now, e);
    struct str rest = {now.data, now.len};
    while (r == ERR_OK && rest.p != NULL && rest.len > 0) {
        const struct str line = str_cut(rest, '\n', &rest);
        const bool frame = line.len > 0 && (line.p[0] == '*' || line.p[0] == 'C');
        if (frame) { /* the line begins or ends a table */
            buf_add(&gone, line.p, line.len);
            buf_add_str(&gone, "\n");
        } else if (line.len > 3 && memcmp(line.p, "-A ", 3) == 0 && link_of(line, link)) {
            if (if_nametoindex(link) != 0) {
                *ret_others = true;
                continue;
            }
            any = true;
            buf_add_str(&gone, "-D ");
            buf_add(&gone, line.p + 3, line.len - 3);
            buf_add_str(&gone, "\n");
        }
    }
    r = r == ERR_OK && any ? rules_write(&gone, e) : r;
    buf_done(&now);
    buf_done(&gone);
    return r;
}
