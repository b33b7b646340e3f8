/* tasknet.c - see tasknet.h. A thread that leaves the node's network for a moment and cannot come back would open and listen in
 * the wrong place from then on, so this ends the process. SPDX-License-Identifier: Apache-2.0 */
#include "agent/tasknet.h"

#include "agent/tasklink.h"
#include "base/arena.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define OWN_NETWORK "/proc/thread-self/ns/net"
#define MARK_NAME "outbound"

enum { SWEEPS_MAX = 30 };

struct tasknet {
    char *name;
    int fd;
    unsigned users;
    struct tasklink link; /* `link.claim` is -1: the network has no way out */
};

struct tasknets {
    VEC(struct tasknet *) list;
    char *mark;          /* the path of a file that exists while there may be rules of links */
    unsigned sweeps;     /* how many more times to look for rules that a killed supervisor left */
    unsigned link_count; /* networks with a way out */
};

struct tasknets *tasknet_new(const char *dir)
{
    struct tasknets *nets = xcalloc(1, sizeof *nets);
    struct arena arena;
    arena_init(&arena);
    nets->mark = xstrdup(arena_fmt(&arena, "%s/" MARK_NAME, dir));
    arena_done(&arena);
    nets->sweeps = access(nets->mark, F_OK) == 0 ? SWEEPS_MAX : 0;
    return nets;
}

void tasknet_upkeep(struct tasknets *nets)
{
    struct error e;
    bool others;
    if (nets->sweeps == 0) {
        return;
    }
    nets->sweeps--;
    if (taskfence_sweep(&others, &e) != ERR_OK) {
        log_warn("rules of a network's way out may be left", kv_error(&e));
    } else if (!others && nets->link_count == 0) {
        nets->sweeps = 0;
        (void)unlink(nets->mark);
    }
}

static must_use enum err link_make(struct tasknets *nets, struct tasknet *net, const char *range,
                                   struct error *e)
{
    const int mark = open(nets->mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (mark < 0) {
        return fail_errno(e, ERR_IO, errno, "cannot write '%s'", nets->mark);
    }
    (void)close(mark);
    const enum err r = tasklink_open(net->fd, range, &net->link, e);
    nets->link_count += r == ERR_OK;
    return r;
}

static void net_free(struct tasknets *nets, struct tasknet *net)
{
    if (net->link.claim >= 0) {
        nets->link_count--;
        if (tasklink_close(&net->link) && nets->link_count == 0 && nets->sweeps == 0) {
            (void)unlink(nets->mark);
        }
    }
    (void)close(net->fd);
    free(net->name);
    free(net);
}

void tasknet_free(struct tasknets *nets)
{
    if (nets == NULL) {
        return;
    }
    for (size_t i = 0; i < nets->list.count; i++) {
        net_free(nets, nets->list.at[i]);
    }
    vec_done(&nets->list);
    free(nets->mark);
    free(nets);
}

/* A new network has a loopback that is down. */
static bool loopback_up(void)
{
    struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const bool up = fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &request) == 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    return up;
}

void tasknet_leave(int home)
{
    must(setns(home, CLONE_NEWNET) == 0);
    (void)close(home);
}

static must_use enum err make(int *ret_fd, struct error *e)
{
    const int home = open(OWN_NETWORK, O_RDONLY | O_CLOEXEC);
    if (home < 0 || unshare(CLONE_NEWNET) != 0) {
        const int why = errno;
        if (home >= 0) {
            (void)close(home);
        }
        return fail_errno(e, ERR_DENIED, why, "this node cannot make a network for a task");
    }
    const bool up = loopback_up();
    const int fd = up ? open(OWN_NETWORK, O_RDONLY | O_CLOEXEC) : -1;
    const int why = errno;
    tasknet_leave(home);
    if (fd < 0) {
        return fail_errno(e, ERR_IO, why, "this node cannot set up a network for a task");
    }
    *ret_fd = fd;
    return ERR_OK;
}

must_use enum err tasknet_able(struct error *e)
{
    int fd;
    const enum err r = make(&fd, e);
    if (r == ERR_OK) {
        (void)close(fd);
    }
    return r;
}

must_use enum err tasknet_take(struct tasknets *nets, const char *name, const char *range,
                               struct tasknet **ret, struct error *e)
{
    for (size_t i = 0; i < nets->list.count; i++) {
        if (strcmp(nets->list.at[i]->name, name) == 0) {
            *ret = nets->list.at[i];
            (*ret)->users++;
            return ERR_OK;
        }
    }
    int fd;
    enum err r = make(&fd, e);
    if (r != ERR_OK) {
        return r;
    }
    struct tasknet *net = xcalloc(1, sizeof *net);
    *net = (struct tasknet){.name = xstrdup(name), .fd = fd, .users = 1, .link = {.claim = -1}};
    r = range[0] != '\0' ? link_make(nets, net, range, e) : ERR_OK;
    if (r != ERR_OK) {
        net_free(nets, net);
        return r;
    }
    vec_push(&nets->list, net);
    *ret = net;
    return ERR_OK;
}

void tasknet_give(struct tasknets *nets, struct tasknet *net)
{
    if (net == NULL) {
        return;
    }
    must(net->users > 0);
    if (--net->users > 0) {
        return;
    }
    for (size_t i = 0; i < nets->list.count; i++) {
        if (nets->list.at[i] == net) {
            nets->list.at[i] = nets->list.at[--nets->list.count];
            break;
        }
    }
    net_free(nets, net);
}

int tasknet_fd(const struct tasknet *net)
{
    return net == NULL ? -1 : net->fd;
}

must_use enum err tasknet_enter(const char *path, int *ret_home, struct error *e)
{
    const int home = open(OWN_NETWORK, O_RDONLY | O_CLOEXEC);
    const int there = open(path, O_RDONLY | O_CLOEXEC);
    const bool in = home >= 0 && there >= 0 && setns(there, CLONE_NEWNET) == 0;
    const int why = errno;
    if (there >= 0) {
        (void)close(there);
    }
    if (!in) {
        if (home >= 0) {
            (void)close(home);
        }
        return fail_errno(e, ERR_IO, why, "cannot enter the network of the task");
    }
    *ret_home = home;
    return ERR_OK;
}
