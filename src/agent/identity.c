/* identity.c - finds out the node's name, labels and capacity.
 * SPDX-License-Identifier: Apache-2.0 */
#include "agent/identity.h"

#include "agent/dirs.h"
#include "agent/hardware.h"
#include "base/amount.h"
#include "base/name.h"
#include "base/str.h"
#include "spec/resources_text.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HOST_BYTES_MAX = 256, MILLI = 1000 };

must_use enum err identity_resources(const char *text, struct arena *arena, struct node_spec *ret,
                                     struct error *e)
{
    struct resources_text parsed;
    enum err r = resources_text_parse(str_of(text == NULL ? "" : text), NODE_RESOURCES_MAX, arena,
                                      &parsed, e);
    if (r != ERR_OK) {
        return r;
    }
    ret->slots_milli = parsed.slots_milli >= 0 ? parsed.slots_milli : ret->slots_milli;
    ret->cpu_milli = parsed.cpu_milli >= 0 ? parsed.cpu_milli : ret->cpu_milli;
    ret->memory_bytes = parsed.memory_bytes >= 0 ? parsed.memory_bytes : ret->memory_bytes;
    ret->gpu_memory_bytes =
        parsed.gpu_memory_bytes >= 0 ? parsed.gpu_memory_bytes : ret->gpu_memory_bytes;
    ret->resources = parsed.named;
    ret->resource_count = parsed.named_count;
    return ERR_OK;
}

static void label_add(struct label *labels, uint32_t *count, const char *key, const char *value)
{
    for (uint32_t i = 0; i < *count; i++) {
        if (strcmp(labels[i].key, key) == 0) {
            /* A label from the command line wins over a label from the hardware. */
            labels[i].value = value;
            return;
        }
    }
    if (*count < NODE_LABELS_MAX) {
        labels[(*count)++] = (struct label){key, value};
    }
}

static void labels_fill(const struct agent_options *options, const struct hardware *hardware,
                        struct arena *arena, struct node_spec *ret)
{
    struct label *labels = arena_new(arena, struct label, NODE_LABELS_MAX);
    uint32_t count = 0;
    label_add(labels, &count, "cpu.arch", hardware->arch);
    if (hardware->device_count > 0) {
        label_add(labels, &count, "gpu.model", hardware->device_model);
    }
    if (hardware->device_memory_bytes > 0) {
        label_add(labels, &count, "gpu.memory",
                  arena_fmt(arena, "%" PRId64, hardware->device_memory_bytes));
    }
    label_add(labels, &count, "infiniband", hardware->infiniband ? "yes" : "no");
    if (hardware->numa_nodes > 1) {
        label_add(labels, &count, "numa", arena_fmt(arena, "%" PRIu32, hardware->numa_nodes));
    }
    if (hardware->instance_type[0] != '\0') {
        label_add(labels, &count, "instance-type", hardware->instance_type);
    }
    for (size_t i = 0; i < options->label_count; i++) {
        struct str value;
        struct str key = str_cut(str_of(options->labels[i]), '=', &value);
        label_add(labels, &count, arena_strn(arena, key.p, key.len),
                  arena_strn(arena, value.p, value.len));
    }
    ret->labels = labels;
    ret->label_count = count;
}

/* The host's name up to its first dot, with only characters that a node name may have. */
static const char *name_default(struct arena *arena)
{
    char host[HOST_BYTES_MAX] = "";
    if (gethostname(host, sizeof host - 1) != 0 || host[0] == '\0') {
        return "node";
    }
    struct str rest;
    struct str first = str_cut(str_of(host), '.', &rest);
    size_t len = first.len < NAME_LEN_MAX ? first.len : NAME_LEN_MAX;
    char *name = arena_strn(arena, first.p, len);
    return name_check(str_of(name), "node", NULL) == ERR_OK ? name : "node";
}

must_use enum err identity_read(const struct agent_options *options, struct arena *arena,
                                struct node_spec *ret, const char **ret_serials, struct error *e)
{
    struct hardware hardware;
    struct node_spec spec = {.address = "", .version = WEIR_VERSION};
    spec.name = options->name != NULL ? options->name : name_default(arena);
    spec.pool = options->pool != NULL ? options->pool : "";
    enum err r = name_check(str_of(spec.name), "node", e);
    r = r == ERR_OK ? hardware_read(options->fake_gpus, arena, &hardware, e) : r;
    if (r != ERR_OK) {
        return r;
    }
    spec.slots_milli = (options->slots >= 0 ? options->slots : (int64_t)hardware.cores) * MILLI;
    spec.cpu_milli = (int64_t)hardware.threads * MILLI;
    spec.memory_bytes = hardware.memory_bytes;
    spec.gpu_memory_bytes = hardware.device_memory_bytes;
    spec.device_count = hardware.device_count;
    r = identity_resources(options->resources, arena, &spec, e);
    if (r != ERR_OK) {
        return r;
    }
    if (spec.device_count > 0) { /* on a GPU node a slot is a device */
        spec.slots_milli = (int64_t)spec.device_count * MILLI;
    }
    labels_fill(options, &hardware, arena, &spec);
    struct str boot_id = {"", 0};
    r = dirs_read("/proc/sys/kernel/random", "boot_id", arena, &boot_id, e);
    if (r != ERR_OK) {
        return r;
    }
    spec.boot_id = boot_id.p;
    *ret = spec;
    *ret_serials = hardware.device_serials;
    return ERR_OK;
}

/* Splits "http://host:port" into host and port. */
static bool url_split(const char *url, char *host, char *port)
{
    const char *from = strstr(url, "://");
    struct str rest = str_of(from == NULL ? url : from + 3);
    rest = str_cut(rest, '/', &(struct str){0});
    struct str number;
    struct str name = str_cut(rest, ':', &number);
    (void)snprintf(host, HOST_BYTES_MAX, "%.*s", (int)name.len, name.p);
    (void)snprintf(port, 16, "%.*s", number.p == NULL ? 2 : (int)number.len,
                   number.p == NULL ? "80" : number.p);
    return name.len > 0;
}

void identity_address(const char *url, char *out, size_t size)
{
    char host[HOST_BYTES_MAX];
    char port[16];
    struct addrinfo *found = NULL;
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_DGRAM};
    (void)str_copy(out, size, "127.0.0.1");
    if (!url_split(url, host, port) || getaddrinfo(host, port, &hints, &found) != 0) {
        return;
    }
    /* Connecting a datagram socket sends nothing. The call makes the kernel choose our address. */
    int sock = socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct sockaddr_storage mine;
    socklen_t len = sizeof mine;
    if (sock >= 0 && connect(sock, found->ai_addr, found->ai_addrlen) == 0 &&
        getsockname(sock, (struct sockaddr *)&mine, &len) == 0) {
        (void)getnameinfo((struct sockaddr *)&mine, len, out, (socklen_t)size, NULL, 0,
                          NI_NUMERICHOST);
    }
    if (sock >= 0) {
        (void)close(sock);
    }
    freeaddrinfo(found);
}
