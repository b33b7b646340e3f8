/* ec2_query.c - see ec2_query.h. SPDX-License-Identifier: Apache-2.0 */
#include "provider/ec2/ec2_query.h"

#include "base/amount.h"
#include "base/must.h"
#include "base/str.h"
#include "core/model/ec2_subnet.h"
#include "core/model/limits.h"
#include "io/sigv4.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

enum { NAME_MAX_LEN = 80 };

static void add(struct buf *out, const char *name, const char *value)
{
    buf_addf(out, "&%s=", name);
    sigv4_encode(out, value, false);
}

static void begin(struct buf *out, const char *action)
{
    buf_clear(out);
    buf_addf(out, "Action=%s&Version=2016-11-15", action);
}

/* NAME.N=value for each text. */
static void add_each(struct buf *out, const char *name, const char *const *texts, uint32_t count)
{
    char numbered[NAME_MAX_LEN];
    for (uint32_t i = 0; i < count; i++) {
        (void)snprintf(numbered, sizeof numbered, "%s.%" PRIu32, name, i + 1);
        add(out, numbered, texts[i]);
    }
}

static void add_tag(struct buf *out, uint32_t *number, struct str key, const char *value)
{
    char name[NAME_MAX_LEN];
    char text[TEXT_LEN_MAX + 1];
    ++*number;
    must(key.len < sizeof text);
    memcpy(text, key.p, key.len);
    text[key.len] = '\0';
    (void)snprintf(name, sizeof name, "TagSpecification.1.Tag.%" PRIu32 ".Key", *number);
    add(out, name, text);
    (void)snprintf(name, sizeof name, "TagSpecification.1.Tag.%" PRIu32 ".Value", *number);
    add(out, name, value);
}

static void add_tags(struct buf *out, const struct ec2_run *run)
{
    uint32_t number = 0;
    add(out, "TagSpecification.1.ResourceType", "instance");
    add_tag(out, &number, str_of("Name"), run->node);
    add_tag(out, &number, str_of(EC2_TAG_SERVER), run->server_uuid);
    add_tag(out, &number, str_of(EC2_TAG_POOL), run->pool->name);
    add_tag(out, &number, str_of(EC2_TAG_KEY), run->key);
    for (uint32_t i = 0; i < run->pool->ec2_tag_count; i++) {
        struct str rest;
        const struct str key = str_cut(str_of(run->pool->ec2_tags[i]), '=', &rest);
        add_tag(out, &number, key, rest.p != NULL ? rest.p : "");
    }
}

static void add_place(struct buf *out, const struct ec2_run *run)
{
    const struct pool_spec *pool = run->pool;
    const char *subnet = ec2_subnet_in(pool, run->zone);
    if (run->zone[0] != '\0' && subnet != NULL) {
        add(out, "SubnetId", subnet); /* a subnet is in one zone */
    } else if (run->zone[0] != '\0') {
        add(out, "Placement.AvailabilityZone", run->zone);
    } else if (pool->ec2_subnet_count > 0) {
        add(out, "SubnetId", ec2_subnet_id(pool->ec2_subnets[run->place]));
    } else if (pool->ec2_zone_count > 0) {
        add(out, "Placement.AvailabilityZone", pool->ec2_zones[run->place]);
    }
}

static void add_market(struct buf *out, const struct ec2_run *run)
{
    const char *price = run->pool->ec2_max_price;
    if (!run->spot) {
        return;
    }
    add(out, "InstanceMarketOptions.MarketType", "spot");
    add(out, "InstanceMarketOptions.SpotOptions.SpotInstanceType", "one-time");
    add(out, "InstanceMarketOptions.SpotOptions.InstanceInterruptionBehavior", "terminate");
    if (price[0] != '\0') {
        add(out, "InstanceMarketOptions.SpotOptions.MaxPrice", price);
    }
}

uint32_t ec2_query_places(const struct pool_spec *pool, const char *zone)
{
    const uint32_t count =
        pool->ec2_subnet_count > 0 ? pool->ec2_subnet_count : pool->ec2_zone_count;
    return zone[0] != '\0' || count == 0 ? 1 : count;
}

void ec2_query_run(const struct ec2_run *run, struct buf *out)
{
    const struct pool_spec *pool = run->pool;
    char token[EC2_TOKEN_MAX];
    char script[sodium_base64_ENCODED_LEN(EC2_SCRIPT_MAX, sodium_base64_VARIANT_ORIGINAL)];
    /* Another place is another request, and EC2 compares requests of one token. */
    const int len = run->place == 0
                        ? snprintf(token, sizeof token, "%s", run->key)
                        : snprintf(token, sizeof token, "%s.%" PRIu32, run->key, run->place);
    must(len > 0);
    must((size_t)len < sizeof token);
    must(strlen(run->script) <= EC2_SCRIPT_MAX);
    (void)sodium_bin2base64(script, sizeof script, (const uint8_t *)run->script,
                            strlen(run->script), sodium_base64_VARIANT_ORIGINAL);
    begin(out, "RunInstances");
    add(out, "ClientToken", token);
    add(out, "ImageId", pool->ec2_image);
    add(out, "InstanceType", run->flavor[0] != '\0' ? run->flavor : pool->ec2_instance_type);
    add(out, "MinCount", "1");
    add(out, "MaxCount", "1");
    add(out, "InstanceInitiatedShutdownBehavior", "terminate");
    add(out, "MetadataOptions.HttpTokens", "required");
    add(out, "UserData", script);
    if (pool->ec2_key_name[0] != '\0') {
        add(out, "KeyName", pool->ec2_key_name);
    }
    add_each(out, "SecurityGroupId", pool->ec2_groups, pool->ec2_group_count);
    add_place(out, run);
    add_market(out, run);
    add_tags(out, run);
    sodium_memzero(script, sizeof script);
}

void ec2_query_list(const char *server_uuid, const char *next_token, struct buf *out)
{
    char count[STR_U64_MAX + 1];
    begin(out, "DescribeInstances");
    (void)snprintf(count, sizeof count, "%d", EC2_PAGE);
    add(out, "Filter.1.Name", "tag:" EC2_TAG_SERVER);
    add(out, "Filter.1.Value.1", server_uuid);
    add(out, "MaxResults", count);
    if (next_token[0] != '\0') {
        add(out, "NextToken", next_token);
    }
}

void ec2_query_terminate(const char *instance, struct buf *out)
{
    begin(out, "TerminateInstances");
    add(out, "InstanceId.1", instance);
}

/* Writes a word for the shell, between single quotation marks. */
static void quoted(struct buf *out, const char *text)
{
    buf_add_char(out, '\'');
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            buf_add_str(out, "'\\''");
        } else {
            buf_add_char(out, *text);
        }
    }
    buf_add_char(out, '\'');
}

static void flag(struct buf *out, const char *name, const char *value)
{
    buf_addf(out, " %s ", name);
    quoted(out, value);
}

/* What the agent says it has, where the pool says it. A machine knows its own GPUs. */
static void amounts(struct buf *out, const struct provider_order *order)
{
    char cpu[AMOUNT_TEXT_MAX];
    if (order->gpus == 0) {
        buf_addf(out, " --slots %" PRIu32, order->slots);
    }
    if (order->cpu_milli > 0 && order->memory_bytes > 0) {
        amount_milli_text(order->cpu_milli, cpu);
        buf_addf(out, " --resources 'cpu=%s memory=%" PRId64 "'", cpu, order->memory_bytes);
    }
}

void ec2_query_script(const struct provider_order *order, const char *extra, struct buf *out)
{
    buf_clear(out);
    buf_add_str(out, "#!/bin/sh\n");
    if (extra[0] != '\0') {
        buf_addf(out, "%s\n", extra);
    }
    buf_add_str(out, "dir=${WEIR_AGENT_DIR:-/var/lib/weir/agent}\n"
                     "mkdir -p -m 711 \"$dir\" || exit 1\n"
                     "(umask 077 && printf %s ");
    quoted(out, order->join_token);
    buf_add_str(out, " > \"$dir.token\") || exit 1\n"
                     "exec weir agent --dir \"$dir\" --join-token-file \"$dir.token\"");
    flag(out, "--server", order->server);
    flag(out, "--pool", order->pool);
    flag(out, "--name", order->node);
    amounts(out, order);
    buf_add_char(out, '\n');
}
