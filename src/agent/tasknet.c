/* tasknet.c - see tasknet.h. A thread that leaves the node's network for a moment and cannot come back would open and listen in
 * the wrong place from then on, so this ends the process. SPDX-License-Identifier: Apache-2.0 */
#include "agent/tasknet.h"

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

struct tasknet {
    char *name;
    int fd;
    unsigned users;
};

struct tasknets {
    VEC(struct tasknet *) list;
};

struct tasknets *tasknet_new(void)
{
    return xcalloc(1, sizeof(struct tasknets));
}

static void net_free(struct tasknet *net)
{
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
        net_free(nets->list.at[i]);
    }
    vec_done(&nets->list);
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

must_use enum err tasknet_take(struct tasknets *nets, const char *name, struct tasknet **ret,
                               struct error *e)
{
    for (size_t i = 0; i < nets->list.count; i++) {
        if (strcmp(nets->list.at[i]->name, name) == 0) {
            *ret = nets->list.at[i];
            (*ret)->users++;
            return ERR_OK;
        }
    }
    int fd;
    const enum err r = make(&fd, e);
    if (r != ERR_OK) {
        return r;
    }
    struct tasknet *net = xcalloc(1, sizeof *net);
    *net = (struct tasknet){.name = xstrdup(name), .fd = fd, .users = 1};
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
    net_free(net);
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
