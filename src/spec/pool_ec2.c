/* pool_ec2.c - see pool_ec2.h. SPDX-License-Identifier: Apache-2.0 */
#include "spec/pool_ec2.h"

#include "core/model/names.h"
#include "core/model/object.h"

#include <string.h>

enum { TAG_FIRST = 48, TAG_LAST = 59 }; /* of the settings of ec2 in pool_fields.def */

/* Settings of ec2 in a pool that has another provider. */
static void foreign_check(const struct doc_value *v, const struct pool_spec *spec)
{
    for (uint32_t i = 0; i < pool_object.count; i++) {
        const struct object_field *row = &pool_object.fields[i];
        if (row->tag >= TAG_FIRST && row->tag <= TAG_LAST && !object_default(row, spec)) {
            fields_problem_in(v, row->record.name,
                              "it is a setting of the provider ec2, and the type is %s",
                              names_pool_provider(spec->provider));
        }
    }
}

static void needed(const struct doc_value *v, const char *key, const char *value, const char *like)
{
    if (value[0] == '\0') {
        fields_problem_in(v, key, "the provider ec2 needs it; a value like '%s' would do", like);
    }
}

static bool is_only(const char *text, const char *characters)
{
    return text[strspn(text, characters)] == '\0';
}

/* A join token goes to the endpoint: beyond this machine only over TLS. */
static bool endpoint_good(const char *url)
{
    static const char *const near[] = {"http://127.", "http://localhost", "http://[::1]"};
    bool good = strncmp(url, "https://", 8) == 0 && url[8] != '\0';
    for (size_t i = 0; i < sizeof near / sizeof near[0]; i++) {
        good = good || strncmp(url, near[i], strlen(near[i])) == 0;
    }
    const char *host = strstr(url, "://");
    return url[0] == '\0' || (good && host != NULL && strpbrk(host + 3, "/?#@ ") == NULL);
}

/* Digits, at most one point between digits. */
static bool price_good(const char *text)
{
    const size_t whole = strspn(text, "0123456789");
    const char *rest = text + whole;
    return text[0] == '\0' ||
           (whole > 0 && (rest[0] == '\0' ||
                          (rest[0] == '.' && rest[1] != '\0' && is_only(rest + 1, "0123456789"))));
}

static void tags_check(const struct doc_value *v, const struct pool_spec *spec)
{
    for (uint32_t i = 0; i < spec->ec2_tag_count; i++) {
        const char *tag = spec->ec2_tags[i];
        const char *equals = strchr(tag, '=');
        if (equals == NULL || equals == tag || equals - tag > 127) {
            fields_problem_in(v, "tags", "a tag like team=vision is wanted, not '%.40s'", tag);
        } else if (strncmp(tag, "weir:", 5) == 0 || strncmp(tag, "aws:", 4) == 0) {
            fields_problem_in(v, "tags", "'%.40s': tags that begin with weir: or aws: are taken",
                              tag);
        }
    }
}

void pool_ec2_check(const struct doc_value *v, const struct pool_spec *spec)
{
    if (spec->provider != POOL_EC2) {
        foreign_check(v, spec);
        return;
    }
    needed(v, "region", spec->ec2_region, "eu-west-1");
    needed(v, "image", spec->ec2_image, "ami-0123456789abcdef0");
    if (spec->flavor[0] == '\0') { /* the flavor has the type */
        needed(v, "instance_type", spec->ec2_instance_type, "g5.xlarge");
    }
    if (!is_only(spec->ec2_region, "abcdefghijklmnopqrstuvwxyz0123456789-")) {
        fields_problem_in(v, "region", "a region like eu-west-1 is wanted, not '%.40s'",
                          spec->ec2_region);
    }
    if (!endpoint_good(spec->ec2_endpoint)) {
        fields_problem_in(v, "endpoint",
                          "https:// and a host is wanted, or http:// on this machine, not '%.60s'",
                          spec->ec2_endpoint);
    }
    if (spec->ec2_zone_count > 0 && spec->ec2_subnet_count > 0) {
        fields_problem_in(v, "subnets",
                          "a subnet lies in one zone: availability_zones or subnets, not both");
    }
    if (!price_good(spec->ec2_max_price)) {
        fields_problem_in(v, "max_price", "a price in dollars like 0.25 is wanted, not '%.16s'",
                          spec->ec2_max_price);
    } else if (spec->ec2_max_price[0] != '\0' && !spec->ec2_spot) {
        fields_problem_in(v, "max_price", "only machines with 'spot: on' have a price that varies");
    }
    tags_check(v, spec);
}
