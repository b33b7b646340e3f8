/* tasklink.c - see tasklink.h. SPDX-License-Identifier: Apache-2.0 */
#include "agent/tasklink.h"

#include "agent/tasknet.h"
#include "base/log.h"
#include "core/model/network.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <net/route.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define TASK_END "eth0"

enum { BLOCK = 4, BLOCK_BITS = 30, BLOCKS_MAX = 256, ATTRIBUTES_MAX = 256 };

/* ---- devices, by netlink ---- */

struct message {
    struct nlmsghdr head;
    struct ifinfomsg device;
    char attributes[ATTRIBUTES_MAX];
};

static struct rtattr *attribute(struct message *m, unsigned short type, const void *data,
                                size_t len)
{
    struct rtattr *at = (struct rtattr *)((char *)m + NLMSG_ALIGN(m->head.nlmsg_len));
    at->rta_type = type;
    at->rta_len = (unsigned short)RTA_LENGTH(len);
    if (len > 0) {
        memcpy(RTA_DATA(at), data, len);
    }
    m->head.nlmsg_len = (uint32_t)(NLMSG_ALIGN(m->head.nlmsg_len) + RTA_ALIGN(at->rta_len));
    return at;
}

static void attribute_end(const struct message *m, struct rtattr *at)
{
    at->rta_len = (unsigned short)((const char *)m + m->head.nlmsg_len - (char *)at);
}

/* Sends the message to the kernel and waits for the answer. Returns 0, or an errno. */
static int message_send(struct message *m)
{
    struct {
        struct nlmsghdr head;
        struct nlmsgerr error;
        char rest[512];
    } answer = {0};
    const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (fd < 0) {
        return errno;
    }
    int why = 0;
    if (send(fd, m, m->head.nlmsg_len, 0) < 0 || recv(fd, &answer, sizeof answer, 0) < 0) {
        why = errno;
    } else if (answer.head.nlmsg_type == NLMSG_ERROR) {
        why = -answer.error.error;
    }
    (void)close(fd);
    return why;
}

/* Makes the pair of devices: `name` on the node, `there` in the namespace behind `net_fd`. Returns
 * 0, or an errno. */
static int pair_make(const char *name, const char *there, int net_fd)
{
    struct message m = {
        .head = {.nlmsg_len = NLMSG_LENGTH(sizeof m.device),
                 .nlmsg_type = RTM_NEWLINK,
                 .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL}};
    const struct ifinfomsg peer = {0};
    (void)attribute(&m, IFLA_IFNAME, name, strlen(name) + 1);
    struct rtattr *info = attribute(&m, IFLA_LINKINFO, NULL, 0);
    (void)attribute(&m, IFLA_INFO_KIND, "veth", sizeof "veth");
    struct rtattr *data = attribute(&m, IFLA_INFO_DATA, NULL, 0);
    struct rtattr *other = attribute(&m, VETH_INFO_PEER, &peer, sizeof peer);
    (void)attribute(&m, IFLA_IFNAME, there, strlen(there) + 1);
    (void)attribute(&m, IFLA_NET_NS_FD, &net_fd, sizeof net_fd);
    attribute_end(&m, other);
    attribute_end(&m, data);
    attribute_end(&m, info);
    return message_send(&m);
}

static int device_remove(const char *name)
{
    struct message m = {.head = {.nlmsg_len = NLMSG_LENGTH(sizeof m.device),
                                 .nlmsg_type = RTM_DELLINK,
                                 .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK}};
    (void)attribute(&m, IFLA_IFNAME, name, strlen(name) + 1);
    return message_send(&m);
}

/* ---- addresses ---- */

static struct sockaddr_in address_of(uint32_t number)
{
    return (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = {htonl(number)}};
}

/* Switches IPv6 off on the device, because the rules of taskfence.h are for IPv4 only. A kernel
 * without IPv6 has no such file, and the result is true. */
static bool other_protocol_off(const char *name)
{
    char path[96];
    (void)snprintf(path, sizeof path, "/proc/sys/net/ipv6/conf/%s/disable_ipv6", name);
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) {
        return errno == ENOENT;
    }
    const bool off = write(fd, "1", 1) == 1;
    (void)close(fd);
    return off;
}

/* Gives the device an address and switches it on. A `gateway` above 0 becomes the way out. */
static bool device_set(const char *name, uint32_t number, uint32_t gateway)
{
    struct ifreq request = {0};
    const struct sockaddr_in address = address_of(number);
    const struct sockaddr_in mask = address_of(~(uint32_t)0 << (32 - BLOCK_BITS));
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    (void)snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
    bool done = fd >= 0 && other_protocol_off(name);
    memcpy(&request.ifr_addr, &address, sizeof address);
    done = done && ioctl(fd, SIOCSIFADDR, &request) == 0;
    memcpy(&request.ifr_netmask, &mask, sizeof mask);
    done = done && ioctl(fd, SIOCSIFNETMASK, &request) == 0;
    memset(&request.ifr_ifru, 0, sizeof request.ifr_ifru);
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    done = done && ioctl(fd, SIOCSIFFLAGS, &request) == 0;
    if (done && gateway > 0) {
        struct rtentry route = {.rt_flags = RTF_UP | RTF_GATEWAY};
        const struct sockaddr_in all = address_of(0);
        const struct sockaddr_in by = address_of(gateway);
        memcpy(&route.rt_dst, &all, sizeof all);
        memcpy(&route.rt_genmask, &all, sizeof all);
        memcpy(&route.rt_gateway, &by, sizeof by);
        done = ioctl(fd, SIOCADDRT, &route) == 0;
    }
    const int why = errno;
    if (fd >= 0) {
        (void)close(fd);
    }
    errno = why;
    return done;
}

/* Refuses a range that holds addresses of the node's own networks. */
static must_use enum err range_check(const char *text, const struct network_range *range,
                                     struct error *e)
{
    struct ifaddrs *list = NULL;
    enum err r = getifaddrs(&list) == 0
                     ? ERR_OK
                     : fail_errno(e, ERR_IO, errno, "cannot list the node's addresses");
    for (const struct ifaddrs *at = list; at != NULL && r == ERR_OK; at = at->ifa_next) {
        if (at->ifa_addr == NULL || at->ifa_netmask == NULL || at->ifa_addr->sa_family != AF_INET ||
            strncmp(at->ifa_name, TASKFENCE_LINK, sizeof TASKFENCE_LINK - 1) == 0) {
            continue;
        }
        struct sockaddr_in address;
        struct sockaddr_in mask;
        memcpy(&address, at->ifa_addr, sizeof address);
        memcpy(&mask, at->ifa_netmask, sizeof mask);
        const uint32_t bits = (uint32_t)__builtin_popcount(mask.sin_addr.s_addr);
        const struct network_range own = {ntohl(address.sin_addr.s_addr & mask.sin_addr.s_addr),
                                          bits};
        if (network_ranges_meet(&own, range)) {
            r = fail(e, ERR_CONFLICT, "the node itself has addresses of the range %s, on %s", text,
                     at->ifa_name);
        }
    }
    freeifaddrs(list);
    return r;
}

/* Takes the link's name, so that no other node on this machine can take it while the returned
 * socket is open. -1: the name is taken. */
static int claim_take(const char *name)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    const int len = snprintf(at.sun_path + 1, sizeof at.sun_path - 1, "%s", name);
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 &&
        bind(fd, (const struct sockaddr *)&at,
             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len)) != 0) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

/* Takes a block of four addresses for the link. Returns the first address; 0: all blocks are taken. */
static uint32_t block_take(const struct network_range *range, struct tasklink *link)
{
    const uint64_t blocks = ((uint64_t)1 << (32 - range->bits)) / BLOCK;
    for (uint32_t i = 0; i < blocks && i < BLOCKS_MAX; i++) {
        const uint32_t first = range->first + i * BLOCK;
        (void)snprintf(link->name, sizeof link->name, TASKFENCE_LINK "%08x", first);
        link->claim = if_nametoindex(link->name) == 0 ? claim_take(link->name) : -1;
        if (link->claim >= 0) {
            return first;
        }
    }
    return 0;
}

/* ---- links ---- */

/* Makes the rules, and sets up both ends of the pair of devices: the node's end and the end in the
 * namespace. */
static must_use enum err ends_set(const struct tasklink *link, int net_fd, uint32_t first,
                                  struct error *e)
{
    char text[INET_ADDRSTRLEN];
    char path[64];
    int home;
    const struct in_addr tasks = {htonl(first + 2)};
    enum err r = taskfence_make(link->name, inet_ntop(AF_INET, &tasks, text, sizeof text), e);
    if (r == ERR_OK && !device_set(link->name, first + 1, 0)) {
        r = fail_errno(e, ERR_IO, errno, "cannot set up the way out of a network");
    }
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", net_fd);
    r = r == ERR_OK ? tasknet_enter(path, &home, e) : r;
    if (r == ERR_OK) {
        if (!device_set(TASK_END, first + 2, first + 1)) {
            r = fail_errno(e, ERR_IO, errno, "cannot set up the way out of a network");
        }
        tasknet_leave(home);
    }
    return r;
}

must_use enum err tasklink_open(int net_fd, const char *range, struct tasklink *ret,
                                struct error *e)
{
    struct network_range wanted;
    *ret = (struct tasklink){.claim = -1};
    if (!network_range_read(range, &wanted)) {
        return fail(e, ERR_USAGE, "'%.32s' is no range of addresses", range);
    }
    enum err r = range_check(range, &wanted, e);
    if (r != ERR_OK) {
        return r;
    }
    struct tasklink link;
    const uint32_t first = block_take(&wanted, &link);
    if (first == 0) {
        return fail(e, ERR_BUSY, "all addresses of the range %s are taken on this machine", range);
    }
    const int why = pair_make(link.name, TASK_END, net_fd);
    r = why == 0 ? ends_set(&link, net_fd, first, e)
                 : fail_errno(e, ERR_IO, why, "cannot make the way out of a network");
    if (r != ERR_OK) {
        (void)tasklink_close(&link);
        return r;
    }
    *ret = link;
    return ERR_OK;
}

bool tasklink_close(struct tasklink *link)
{
    struct error e;
    bool others;
    /* fails where the kernel has removed the device together with the namespace */
    (void)device_remove(link->name);
    const bool swept = taskfence_sweep(&others, &e) == ERR_OK;
    if (!swept) {
        log_warn("rules of a network's way out are left", kv_error(&e));
    }
    (void)close(link->claim);
    link->claim = -1;
    return swept;
}

must_use enum err tasklink_able(struct error *e)
{
    char name[IFNAMSIZ];
    char there[IFNAMSIZ];
    const enum err r = taskfence_able(e);
    if (r != ERR_OK) {
        return r;
    }
    (void)snprintf(name, sizeof name, "wtry%08x", (unsigned)getpid());
    (void)snprintf(there, sizeof there, "wend%08x", (unsigned)getpid());
    const int own = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    const int why = own >= 0 ? pair_make(name, there, own) : errno;
    if (own >= 0) {
        (void)close(own);
    }
    if (why != 0) {
        return fail_errno(e, ERR_DENIED, why, "this node cannot make the way out of a network");
    }
    (void)device_remove(name);
    return ERR_OK;
}
