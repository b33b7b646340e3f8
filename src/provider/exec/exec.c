/* exec.c - see exec.h. SPDX-License-Identifier: Apache-2.0 */
#include "provider/exec/exec.h"

#include "base/buf.h"
#include "base/json_out.h"
#include "base/mem.h"
#include "base/must.h"
#include "provider/calls.h"
#include "provider/exec/exec_answer.h"

#include <stdlib.h>
#include <string.h>

enum { CALL_TIMEOUT_MS = 60 * 1000, PATH_LEN_MAX = 4096, POOL_NAME_MAX = 64, FORMAT = 1 };

struct exec {
    struct provider provider;
    struct exec_options o;
    char pool[POOL_NAME_MAX];
    char program[PATH_LEN_MAX + 1];
    struct calls *calls;
    void (*list_done)(void *ctx, const char *problem);
    void *list_ctx; /* of the list under way */
};

static struct exec *exec_of(struct provider *provider)
{
    return (struct exec *)(void *)provider;
}

/* Runs the program for one call. */
static void program_run(struct exec *exec, const char *verb, const struct buf *input,
                        void (*done)(void *ctx, const struct programs_result *result), void *ctx)
{
    const char *const argv[] = {exec->program, verb, NULL};
    must(!input->full);
    programs_run(exec->o.programs, &(struct programs_order){.argv = argv,
                                                            .input = {input->data, input->len},
                                                            .timeout_ms = CALL_TIMEOUT_MS,
                                                            .own_only = true,
                                                            .owner = exec,
                                                            .done = done,
                                                            .ctx = ctx});
}

/* The head that the input of every call has; the caller closes the object. */
static void input_begin(struct exec *exec, const char *verb, struct json_out *j, struct buf *input)
{
    buf_init(input, PROGRAM_INPUT_MAX);
    json_out_init(j, input);
    json_out_put(j, "{weir:%d,call:%s,pool:%s", FORMAT, verb, exec->pool);
}

/* ---- launch and terminate ---- */

static enum provider_says says_of(enum exec_state state)
{
    switch (state) {
    case EXEC_STARTING:
        return PROVIDER_REQUESTED;
    case EXEC_RUNNING:
    case EXEC_ENDING:
        return PROVIDER_RUNNING;
    case EXEC_FAILED:
        return PROVIDER_FAILED;
    case EXEC_GONE:
        break;
    }
    return PROVIDER_GONE;
}

/* A launch that ends in "gone" has failed; a machine that is to end and is still there is asked for again. */
static void answer_take(struct machine_call *call, const struct exec_machine *machine)
{
    const bool launch = call->kind == CALL_LAUNCH;
    enum provider_says says = says_of(machine->state);
    if (!launch && says != PROVIDER_GONE && says != PROVIDER_FAILED) {
        calls_unclear(call, machine->words);
        return;
    }
    if (launch && machine->state == EXEC_ENDING) {
        calls_unclear(call, "the program says that the machine ends");
        return;
    }
    says = !launch ? PROVIDER_GONE : says == PROVIDER_GONE ? PROVIDER_FAILED : says;
    calls_answered(call,
                   &(struct provider_report){
                       .says = says, .name = machine->name, .node = "", .words = machine->words});
}

static enum err machine_read(struct machine_call *call, struct str out, struct arena *arena,
                             struct error *e)
{
    struct exec_machine machine;
    const enum err r = exec_answer_machine(out, arena, &machine, e);
    if (r == ERR_OK) {
        answer_take(call, &machine);
    }
    return r;
}

static void call_done(void *ctx, const struct programs_result *result)
{
    calls_program_ended(ctx, result, machine_read);
}

static void call_make(void *ctx, struct machine_call *call)
{
    struct exec *exec = ctx;
    struct buf input;
    struct json_out j;
    if (call->kind == CALL_LAUNCH) {
        buf_init(&input, PROGRAM_INPUT_MAX);
        buf_add(&input, call->text, call->text_len);
        program_run(exec, "launch", &input, call_done, call);
    } else {
        input_begin(exec, "terminate", &j, &input);
        json_out_put(&j, "key:%s}", call->key);
        program_run(exec, "terminate", &input, call_done, call);
    }
    buf_done(&input);
}

static void exec_launch(struct provider *provider, const struct provider_order *order)
{
    struct exec *exec = exec_of(provider);
    struct buf input;
    struct json_out j;
    input_begin(exec, "launch", &j, &input);
    json_out_put(&j, "key:%s,node:%s,server:%s,join_token:%s", order->key, order->node,
                 order->server, order->join_token);
    json_out_put(&j, "slots:%u,gpus:%u,cpu:%.3ld,memory_bytes:%ld", order->slots, order->gpus,
                 (long)order->cpu_milli, (long)order->memory_bytes);
    if (order->settings->flavor[0] != '\0') {
        json_out_put(&j, "flavor:{name:%s,native:%s,zone:%s,spot:%i}", order->settings->flavor,
                     order->flavor, order->zone, order->spot);
    }
    json_out_put(&j, "}");
    calls_launch(exec->calls, order->key, (struct str){input.data, input.len});
    buf_done(&input);
}

static void exec_terminate(struct provider *provider, const char *key)
{
    calls_terminate(exec_of(provider)->calls, key);
}

/* ---- list ---- */

static void list_done(void *ctx, const struct programs_result *result)
{
    struct exec *exec = ctx;
    struct arena arena;
    struct exec_machines machines = {0};
    struct error e = {0};
    arena_init(&arena);
    const char *problem = result->problem;
    if (problem[0] == '\0' && exec_answer_list(result->out, &arena, &machines, &e) != ERR_OK) {
        problem = e.text;
    }
    const struct provider_sink sink = exec->provider.sink;
    for (uint32_t i = 0; i < machines.count; i++) {
        const struct exec_machine *machine = &machines.at[i];
        sink.report(sink.ctx, &(struct provider_report){.key = machine->key,
                                                        .says = says_of(machine->state),
                                                        .name = machine->name,
                                                        .node = "",
                                                        .words = machine->words});
    }
    exec->list_done(exec->list_ctx, problem);
    arena_done(&arena);
}

static void exec_list(struct provider *provider, void (*done)(void *ctx, const char *problem),
                      void *ctx)
{
    struct exec *exec = exec_of(provider);
    struct buf input;
    struct json_out j;
    exec->list_done = done;
    exec->list_ctx = ctx;
    input_begin(exec, "list", &j, &input);
    json_out_put(&j, "}");
    program_run(exec, "list", &input, list_done, exec);
    buf_done(&input);
}

static void exec_free(struct provider *provider)
{
    struct exec *exec = exec_of(provider);
    programs_cancel(exec->o.programs, exec);
    calls_free(exec->calls);
    free(exec);
}

void exec_provider_program(struct provider *provider, const char *program)
{
    must(str_copy(exec_of(provider)->program, PATH_LEN_MAX + 1, program));
}

bool exec_provider_busy(struct provider *provider)
{
    return calls_count(exec_of(provider)->calls) > 0;
}

struct provider *exec_provider_new(const struct exec_options *options)
{
    static const struct provider_ops ops = {
        .launch = exec_launch, .list = exec_list, .terminate = exec_terminate, .free = exec_free};
    struct exec *exec = xcalloc(1, sizeof *exec);
    exec->provider = (struct provider){.ops = &ops, .sink = options->sink};
    exec->o = *options;
    must(str_copy(exec->pool, sizeof exec->pool, options->pool));
    must(str_copy(exec->program, sizeof exec->program, options->program));
    exec->o.pool = exec->pool;
    exec->o.program = exec->program;
    exec->calls = calls_new(&(struct calls_options){
        .loop = options->loop, .sink = options->sink, .make = call_make, .ctx = exec});
    return &exec->provider;
}
