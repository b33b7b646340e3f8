/* help_topic.c - the texts of `weir help TOPIC`.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/help.h"

#include <string.h>

struct topic {
    const char *name;
    const char *title;
    const char *text;
};

static const struct topic topics[] = {
    {"exit-codes", "EXIT STATUS",
     "0    success\n"
     "1    failure\n"
     "2    wrong usage: an unknown flag, a malformed amount\n"
     "3    not found\n"
     "4    not logged in, or not allowed\n"
     "5    conflict: the present state does not allow the change, or the name is taken\n"
     "6    the server cannot be reached, or cannot answer now\n"
     "7    timed out\n"
     "8    a dry run: the command would change something\n"
     "9    the task can never run: the message names what is too large and what Weir would accept\n"
     "\n"
     "`weir run` and `weir task wait` exit with the status of the task:\n"
     "  the exit code of the program; of several instances that of the failed instance with the\n"
     "      lowest number\n"
     "  128+n when signal n ended the program\n"
     "  127 when the program was not found\n"
     "  126 when the program cannot be executed\n"
     "  125 when Weir itself failed\n"
     "`weir run` exits with 9 when the task can never run, and with 2 when the request is wrong.\n"
     "`weir sim` shows on Ctrl-C what was simulated so far and exits with 130."},
    {"resources", "RESOURCES",
     "A task requests amounts for each of its instances:\n"
     "  --slots 2                 slots; a slot is one GPU on a node with GPUs, else a part of "
     "the\n"
     "                            node\n"
     "  --gpus 0.5                GPUs: a whole number, or a part of one GPU\n"
     "  --gpu-memory 20Gi         a part of one GPU with that much memory; with whole --gpus or\n"
     "                            --slots: the memory that each GPU must have\n"
     "  --gpu-devices 2           the part that --gpus 0.5 or --gpu-memory names, of each of two "
     "GPUs\n"
     "  --devices 0,1             these GPUs, whole; with --gpus 0.5 a part of each of them\n"
     "  --cpu 4 --memory 64Gi     cores, and memory in bytes (K, M, G, T; Ki, Mi, Gi, Ti)\n"
     "  --resources 'foo=5 bar=1' any resource that a node offers\n"
     "A task that requests nothing gets one slot. A task that requests a resource but no slots "
     "gets\n"
     "no slot. Amounts have at most three decimal places. Only nodes define the names of "
     "resources:\n"
     "  weir up --resources 'foo=7'"},
    {"states", "STATES",
     "staged       submitted and not queued; `weir task start` queues the task\n"
     "pending      waits; `weir explain TASK` says why\n"
     "paused       paused by a user; `weir task activate` lets the task wait and start again\n"
     "starting     has its place on a node and is being started\n"
     "running      runs\n"
     "stopping     was told to end\n"
     "completed    every instance ended with exit code 0\n"
     "failed       an instance ended with another exit code, or could not be started\n"
     "killed       ended by a user\n"
     "unavailable  the pool of the task is gone or closed\n"
     "unknown      the node of the task was lost, and the task may not run again"},
    {"environment", "ENVIRONMENT",
     "Read by the command `weir`:\n"
     "WEIR_SERVER        the server to talk to, instead of the saved one\n"
     "WEIR_TOKEN         the token for that server\n"
     "WEIR_CONTEXT       the saved login to use, see `weir context list`\n"
     "WEIR_RETRY         as --retry: how long to keep trying without an answer\n"
     "WEIR_COLOR         as --color: always, never or auto\n"
     "WEIR_LOG           the lowest level that server and agent log: error, warn, info, debug\n"
     "WEIR_CONFIG_HOME   where the login is saved (default ~/.config/weir)\n"
     "NO_COLOR           when set, no colours\n"
     "\n"
     "Set for every task: WEIR_TASK_ID, WEIR_INSTANCE_ID, INSTANCE_ID, WEIR_NODE, WEIR_POOL,\n"
     "WEIR_SLOTS, WEIR_JOB_DIR, CUDA_VISIBLE_DEVICES and WEIR_CHECKPOINT_FILE (see `weir help\n"
     "checkpoint`).\n"
     "Set in a gang: WEIR_RANK, WEIR_WORLD_SIZE, MASTER_ADDR and MASTER_PORT.\n"
     "Set in a group of a gang: WEIR_GROUP, WEIR_GROUP_RANK and WEIR_GROUP_SIZE."},
    {"task-file", "TASK FILE",
     "YAML or JSON: one task, or a list of tasks, for `weir submit -f FILE`.\n"
     "\n"
     "  name: resnet\n"
     "  kind: experiment\n"
     "  command: [python, train.py]\n"
     "  resources: {slots: 4, memory: 64Gi, foo: 2}\n"
     "  pools: [default]\n"
     "  priority: 60\n"
     "  time_limit: 2h\n"
     "  env: {SEED: 7}\n"
     "\n"
     "Fields: name kind command entrypoint env workdir image project pools resources devices\n"
     "avoid node_labels instances array gang min_instances topology groups min_groups priority\n"
     "preemptible repeatable time_limit grace stale_grace preemption_delay max_retries\n"
     "depends_on tags stage."},
};

enum { TOPIC_COUNT = sizeof topics / sizeof *topics };

const char *help_topic(const char *name)
{
    for (size_t i = 0; i < TOPIC_COUNT; i++) {
        if (strcmp(topics[i].name, name) == 0) {
            return topics[i].text;
        }
    }
    return NULL;
}

const char *help_topic_name(size_t index)
{
    return index < TOPIC_COUNT ? topics[index].name : NULL;
}

const char *help_topic_title(size_t index)
{
    return index < TOPIC_COUNT ? topics[index].title : NULL;
}
