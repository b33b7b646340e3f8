/* ec2_keys.h - with which credentials the server asks EC2. They come from the environment of the server, or from a
 * file in the form of AWS's own tools that only the server's user may read. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"
#include "io/http_multi.h"
#include "io/sigv4.h"

struct ec2_keys;

/* `path`: the file, read anew at each use; "": the environment; an http address: the metadata service that gives the credentials of
 * the machine's role. What the environment has is removed from there, so that no child of the server gets it. */
struct ec2_keys *ec2_keys_new(const char *path);

/* Lets the credentials of a role be asked for. Without this call an address is an error at each use. */
void ec2_keys_connect(struct ec2_keys *keys, struct loop *loop, struct http_multi *http);
void ec2_keys_free(struct ec2_keys *keys); /* NULL is allowed */

/* The credentials, in the arena. The error says what is missing, never what is there. ERR_BUSY: ask again in a moment. */
must_use enum err ec2_keys_get(struct ec2_keys *keys, struct arena *arena, struct sigv4_keys *ret,
                               struct error *e);
