/* ec2_keys.c - see ec2_keys.h. SPDX-License-Identifier: Apache-2.0 */
#include "provider/ec2/ec2_keys.h"

#include "base/mem.h"
#include "base/must.h"
#include "io/aws_keys.h"
#include "provider/ec2/ec2_role.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_LEN_MAX = 2048 };
enum { PART_ACCESS, PART_SECRET, PART_SESSION, PART_COUNT };

static const char *const variables[PART_COUNT] = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
                                                  "AWS_SESSION_TOKEN"};

struct ec2_keys {
    char *path; /* "": the environment */
    char parts[PART_COUNT][KEY_LEN_MAX];
    struct ec2_role *role; /* NULL: the path is none of a metadata service */
};

/* Moves a variable out of the environment. Children, and /proc/PID/environ, must not show it. */
static void variable_take(const char *name, char *ret)
{
    char *value = getenv(name);
    if (value != NULL) {
        (void)str_copy(ret, KEY_LEN_MAX, value);
        sodium_memzero(value, strlen(value));
        (void)unsetenv(name);
    }
}

struct ec2_keys *ec2_keys_new(const char *path)
{
    struct ec2_keys *keys = xcalloc(1, sizeof *keys);
    keys->path = xstrdup(path);
    for (unsigned i = 0; i < PART_COUNT; i++) {
        variable_take(variables[i], keys->parts[i]);
    }
    return keys;
}

void ec2_keys_free(struct ec2_keys *keys)
{
    if (keys != NULL) {
        free(keys->path);
        ec2_role_free(keys->role);
        sodium_memzero(keys, sizeof *keys);
        free(keys);
    }
}

void ec2_keys_connect(struct ec2_keys *keys, struct loop *loop, struct http_multi *http)
{
    if (strncmp(keys->path, "http://", 7) == 0) {
        keys->role = ec2_role_new(loop, http, keys->path);
    }
}

enum err ec2_keys_get(struct ec2_keys *keys, struct arena *arena, struct sigv4_keys *ret,
                      struct error *e)
{
    if (keys->role != NULL) {
        return ec2_role_get(keys->role, arena, ret, e);
    }
    if (keys->path[0] != '\0') {
        return aws_keys_read(keys->path, arena, ret, e);
    }
    *ret = (struct sigv4_keys){keys->parts[PART_ACCESS], keys->parts[PART_SECRET],
                               keys->parts[PART_SESSION]};
    if (ret->access_key[0] == '\0' || ret->secret_key[0] == '\0') {
        return fail(e, ERR_NOT_FOUND,
                    "this server has no EC2 credentials: set AWS_ACCESS_KEY_ID and "
                    "AWS_SECRET_ACCESS_KEY in its environment, or name a file in the "
                    "server file: 'ec2: {credentials: FILE}', or with the role of an EC2 "
                    "machine 'ec2: {credentials: http://169.254.169.254}'");
    }
    return aws_keys_check(ret, e);
}
