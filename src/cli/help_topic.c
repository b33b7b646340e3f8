/* help_topic.c - what `weir help TOPIC` tells beyond the commands.
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
     "0    it worked\n"
     "1    it failed\n"
     "2    wrong usage: an unknown flag, a malformed amount\n"
     "3    not found\n"
     "4    not logged in, or not allowed\n"
     "5    conflict: the state does not allow it, or the name is taken\n"
     "6    the server cannot be reached, or cannot answer just now\n"
     "7    timed out\n"
     "8    would change something (dry runs)\n"
     "9    can never run: the message names what binds and what would be accepted\n"
     "\n"
     "`weir run` and `weir task wait` hand on the task's own status: its exit code, 128+n when\n"
     "signal n ended it, of several instances that of the lowest-numbered failed one; 9\n"
     "when it can never run, 2 when the request itself is wrong; 127 when the program was not\n"
     "found, 126 when it cannot be executed; and 125 when Weir failed. `weir sim` that is\n"
     "ended by Ctrl-C shows what there is by then and gives 130."},
    {"resources", "RESOURCES",
     "A task asks for amounts per instance:\n"
     "  --slots 2                 a slot is a GPU where a node has some, else a part of the node\n"
     "  --gpus 0.5                GPUs: whole, or a part of one\n"
     "  --gpu-memory 20Gi         so much of a GPU's memory, and that part of the GPU; beside "
     "--gpus or\n"
     "                            --slots what each GPU must have\n"
     "  --gpu-devices 2           the part --gpus 0.5 or --gpu-memory asks for, of each of two\n"
     "  --devices 0,1             these GPUs, whole, or with --gpus 0.5 a part of each\n"
     "  --cpu 4 --memory 64Gi     cores, and memory in bytes (K, M, G, T; Ki, Mi, Gi, Ti)\n"
     "  --resources 'foo=5 bar=1' any name that a node offers\n"
     "A task that names nothing gets one slot; one that names a resource but no slots gets none.\n"
     "Amounts have at most three places. Only nodes define names:\n"
     "  weir up --resources 'foo=7'"},
    {"states", "STATES",
     "staged       submitted, not queued: `weir task start` queues it\n"
     "pending      waits; `weir explain TASK` says for what\n"
     "paused       kept from starting: `weir task activate`\n"
     "starting     has its place, is being started\n"
     "running      runs\n"
     "stopping     was told to end\n"
     "completed    every instance ended with status 0\n"
     "failed       an instance ended with another status, or could not be started\n"
     "killed       ended by a user\n"
     "unavailable  its pool is gone or closed\n"
     "unknown      its node was lost, and it may not be run again"},
    {"environment", "ENVIRONMENT",
     "WEIR_SERVER        the server to talk to, instead of the saved one\n"
     "WEIR_TOKEN         the token to show it\n"
     "WEIR_LOG           of server and agent, the least level told: error, warn, info, debug\n"
     "WEIR_CONFIG_HOME   where the login is saved (default ~/.config/weir)\n"
     "NO_COLOR           no colours\n"
     "\n"
     "A task finds in its own: WEIR_TASK_ID, WEIR_INSTANCE_ID, INSTANCE_ID, WEIR_NODE, WEIR_POOL,\n"
     "WEIR_SLOTS, WEIR_JOB_DIR, CUDA_VISIBLE_DEVICES, WEIR_CHECKPOINT_FILE (see `weir help\n"
     "checkpoint`); in a gang also WEIR_RANK, WEIR_WORLD_SIZE, MASTER_ADDR and MASTER_PORT, and "
     "in\n"
     "a group of it WEIR_GROUP, WEIR_GROUP_RANK and WEIR_GROUP_SIZE."},
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
