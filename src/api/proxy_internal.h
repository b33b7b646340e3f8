/* proxy_internal.h - one request on its way through the proxy, shared by proxy.c (who may, which task)
 * and proxy_pass.c (to the task and back). SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/api_internal.h"
#include "api/proxy.h"
#include "api/proxy_head.h"
#include "api/tunnel.h"
#include "io/http_stream.h"
#include "io/http_upgrade.h"
#include "io/relay.h"

struct proxied {
    struct token_use use;
    struct api *api;
    struct http_request *request; /* NULL: answered, or gone */
    struct proxy_way way;
    task_id task;
    task_id number; /* of an address with a number: this number; else 0 */
    int64_t index;
    /* the address without the number of an instance, "12" or "vision/chat". `project` and `name`
     * are the parts of "vision/chat", and NULL for a number. The texts belong to the request. */
    const char *place;
    const char *project;
    const char *name;
    struct arena arena;
    struct tunnel *tunnel;
    struct loop_fd *watch;
    struct loop_timer *timer; /* the task must answer; later: ends outside of other calls */
    struct buf out;           /* for the task */
    struct buf in;            /* from the task */
    struct proxy_head head;
    struct http_stream *stream;
    struct http_upgrade *client;
    struct relay *relay;
    int64_t left;       /* bytes of the answer that must still come; -1: until the end */
    int64_t give_up_ms; /* of a service: until when an instance is looked for */
    uint32_t from;      /* of a service: the lowest instance to be asked next */
    uint32_t asked;     /* of a service: the instances that were asked since the last wait */
    bool seeking;       /* no instance is being asked; the timer ends the wait */
    bool headed;        /* the head of the answer is in */
    bool answering;     /* 101 is on its way to the browser */
    bool over;          /* the task has sent everything, or broken off */
    bool cut;
};

/* Answers with an error as JSON. */
void proxy_refuse(struct http_request *request, unsigned status, const struct error *e);

/* Returns whether the token of the request may reach the request's task. */
bool proxy_reaches(const struct proxied *p);

/* A number that grows with each request, so that the instances of a service take turns. */
uint32_t proxy_turn(struct api *api);

/* Passes the request on. Owns `proxied` from now on. */
void proxy_pass_begin(struct proxied *proxied);
void proxy_pass_gone(struct proxied *proxied); /* the browser left before any answer */
