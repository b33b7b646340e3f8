/* exec.h - the provider `exec`: a program of the site brings the machines of one pool up and down. Each order is one call
 * of the program, with JSON on its standard input and output (docs/dev/formats/exec-provider.md).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "provider/programs.h"
#include "provider/provider.h"

struct exec_options {
    struct loop *loop;
    struct programs *programs; /* must outlive the provider */
    const char *pool;
    const char *program; /* its path */
    struct provider_sink sink;
};

struct provider *exec_provider_new(const struct exec_options *options);

/* The program of the pool is another one now. */
void exec_provider_program(struct provider *provider, const char *program);

/* Is a call about a machine under way, or will one be made again? */
bool exec_provider_busy(struct provider *provider);
