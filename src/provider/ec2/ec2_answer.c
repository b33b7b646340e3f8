/* ec2_answer.c - see ec2_answer.h. SPDX-License-Identifier: Apache-2.0 */
#include "provider/ec2/ec2_answer.h"

#include "provider/ec2/ec2_query.h"
#include "base/xml.h"

#include <string.h>

enum { MACHINES_MAX = 2 * EC2_PAGE, STATUS_SERVER = 500, STATUS_SLOW_DOWN = 429 };

enum ec2_kind ec2_answer_kind(unsigned status, const char *code)
{
    static const struct {
        const char *code;
        enum ec2_kind kind;
    } known[] = {
        {"InsufficientInstanceCapacity", EC2_CAPACITY},
        {"InsufficientHostCapacity", EC2_CAPACITY},
        {"InsufficientReservedInstanceCapacity", EC2_CAPACITY},
        {"InsufficientCapacity", EC2_CAPACITY},
        {"InsufficientFreeAddressesInSubnet", EC2_CAPACITY},
        {"UnfulfillableCapacity", EC2_CAPACITY},
        {"Unsupported", EC2_CAPACITY}, /* the type is not sold in this zone */
        {"SpotMaxPriceTooLow", EC2_PRICE},
        {"InstanceLimitExceeded", EC2_LIMIT},
        {"VcpuLimitExceeded", EC2_LIMIT},
        {"MaxSpotInstanceCountExceeded", EC2_LIMIT},
        {"PendingVerification", EC2_LIMIT},
        {"RequestLimitExceeded", EC2_SLOW_DOWN},
        {"Throttling", EC2_SLOW_DOWN},
        {"ThrottlingException", EC2_SLOW_DOWN},
        {"InternalError", EC2_PASSING},
        {"InternalFailure", EC2_PASSING},
        {"Unavailable", EC2_PASSING},
        {"ServiceUnavailable", EC2_PASSING},
        {"IdempotentParameterMismatch", EC2_MADE},
        {"InvalidInstanceID.NotFound", EC2_UNKNOWN},
        {"InvalidInstanceID.Malformed", EC2_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(known[i].code, code) == 0) {
            return known[i].kind;
        }
    }
    return status == STATUS_SLOW_DOWN ? EC2_SLOW_DOWN
           : status >= STATUS_SERVER  ? EC2_PASSING
                                      : EC2_REFUSED;
}

enum provider_why ec2_answer_why(enum ec2_kind kind)
{
    return kind == EC2_CAPACITY ? PROVIDER_WHY_NO_CAPACITY
           : kind == EC2_PRICE  ? PROVIDER_WHY_PRICE
           : kind == EC2_LIMIT  ? PROVIDER_WHY_LIMIT
                                : PROVIDER_WHY_OTHER;
}

void ec2_answer_error(unsigned status, struct str body, struct arena *arena, struct ec2_error *ret)
{
    struct xml_node *root;
    struct error e;
    const char *code = "";
    const char *message = "";
    if (xml_parse(arena, body, &root, &e) == ERR_OK) {
        /* <Response><Errors><Error>, or <ErrorResponse><Error> of clouds like EC2. */
        const struct xml_node *errors = xml_child(root, "Errors");
        const struct xml_node *error = xml_child(errors != NULL ? errors : root, "Error");
        code = xml_text(error, "Code");
        message = xml_text(error, "Message");
    }
    ret->kind = ec2_answer_kind(status, code);
    ret->words = code[0] == '\0' ? arena_fmt(arena, "HTTP status %u without an error code", status)
                 : message[0] == '\0' ? code
                                      : arena_fmt(arena, "%s: %s", code, message);
}

static bool state_of(const char *name, enum ec2_state *ret)
{
    static const struct {
        const char *name;
        enum ec2_state state;
    } states[] = {
        {"pending", EC2_PENDING},  {"running", EC2_RUNNING},  {"shutting-down", EC2_ENDING},
        {"terminated", EC2_ENDED}, {"stopping", EC2_STOPPED}, {"stopped", EC2_STOPPED},
    };
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        if (strcmp(states[i].name, name) == 0) {
            *ret = states[i].state;
            return true;
        }
    }
    return false;
}

static void tags_read(const struct xml_node *set, struct ec2_machine *machine)
{
    machine->key = "";
    machine->server = "";
    machine->pool = "";
    for (const struct xml_node *item = set != NULL ? set->first : NULL; item != NULL;
         item = item->next) {
        const char *key = xml_text(item, "key");
        const char *value = xml_text(item, "value");
        if (strcmp(key, EC2_TAG_KEY) == 0) {
            machine->key = value;
        } else if (strcmp(key, EC2_TAG_SERVER) == 0) {
            machine->server = value;
        } else if (strcmp(key, EC2_TAG_POOL) == 0) {
            machine->pool = value;
        }
    }
}

static void why_read(const struct xml_node *item, struct arena *arena, struct ec2_machine *machine)
{
    const struct xml_node *reason = xml_child(item, "stateReason");
    const char *code = xml_text(reason, "code");
    const char *message = xml_text(reason, "message");
    const char *dot = strchr(code, '.');
    machine->why = message[0] == '\0' ? code
                   : strncmp(message, code, strlen(code)) == 0
                       ? message
                       : arena_fmt(arena, "%s: %s", code, message);
    machine->why_kind = ec2_answer_why(ec2_answer_kind(0, dot != NULL ? dot + 1 : code));
}

static enum err machine_read(const struct xml_node *item, struct arena *arena,
                             struct ec2_machines *ret, struct error *e)
{
    if (ret->count == MACHINES_MAX) {
        return fail(e, ERR_LIMIT, "a page of more than %d machines", MACHINES_MAX);
    }
    struct ec2_machine *machine = &ret->at[ret->count];
    const char *state = xml_text(xml_child(item, "instanceState"), "name");
    machine->id = xml_text(item, "instanceId");
    machine->launched = xml_text(item, "launchTime");
    if (machine->id[0] == '\0') {
        return fail(e, ERR_INVALID, "a machine without an instanceId");
    }
    if (!state_of(state, &machine->state)) {
        return fail(e, ERR_INVALID, "machine '%.40s' has the state '%.40s', which does not exist",
                    machine->id, state);
    }
    tags_read(xml_child(item, "tagSet"), machine);
    why_read(item, arena, machine);
    ret->count++;
    return ERR_OK;
}

static enum err set_read(const struct xml_node *set, struct arena *arena, struct ec2_machines *ret,
                         struct error *e)
{
    enum err r = ERR_OK;
    for (const struct xml_node *item = set != NULL ? set->first : NULL; item != NULL && r == ERR_OK;
         item = item->next) {
        r = machine_read(item, arena, ret, e);
    }
    return r;
}

enum err ec2_answer_machines(struct str body, struct arena *arena, struct ec2_machines *ret,
                             struct error *e)
{
    struct xml_node *root;
    if (xml_parse(arena, body, &root, e) != ERR_OK) {
        return e->code;
    }
    struct ec2_machines found = {.at = arena_new(arena, struct ec2_machine, MACHINES_MAX),
                                 .next_token = xml_text(root, "nextToken")};
    enum err r = ERR_OK;
    if (str_is(root->name, "RunInstancesResponse")) {
        r = set_read(xml_child(root, "instancesSet"), arena, &found, e);
    } else if (str_is(root->name, "DescribeInstancesResponse")) {
        const struct xml_node *set = xml_child(root, "reservationSet");
        for (const struct xml_node *item = set != NULL ? set->first : NULL;
             item != NULL && r == ERR_OK; item = item->next) {
            r = set_read(xml_child(item, "instancesSet"), arena, &found, e);
        }
    } else {
        r = fail(e, ERR_INVALID, "an answer '%.*s' is not one of machines", str_shown(root->name),
                 root->name.p);
    }
    if (r == ERR_OK) {
        *ret = found;
    }
    return r;
}
