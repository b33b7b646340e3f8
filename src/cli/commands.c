/* commands.c - the command table, first part: the commands of every day. The other parts are in
 * commands_account.c, commands_config.c, commands_scale.c and commands_admin.c.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmd.h"
#include "cli/flags.h"

const struct command *const command_tables[] = {
    commands_first,   commands_task,  commands_files,  commands_self,
    commands_pool,    commands_scale, commands_flavor, commands_network,
    commands_account, commands_node,  commands_lock,   commands_config,
    commands_admin,   commands_tls,   commands_screen, commands_interactive,
    commands_guild,   NULL,
};

static const struct flag flags_up[] = {
    {"port", 'p', FLAG_NUMBER, "N",
     "port (default 8080; 0: a free one, if possible the same again on the same directory)",
     COMPLETE_NONE, NULL},
    {"listen", 0, FLAG_TEXT, "A",
     "address to serve (default 127.0.0.1); others need a certificate: weir tls init",
     COMPLETE_NONE, NULL},
    {"insecure-listen", 0, FLAG_BOOL, NULL, "allow plain HTTP beyond loopback", COMPLETE_NONE,
     NULL},
    {"slots", 's', FLAG_NUMBER, "N",
     "slots of this node (default: its cores); a node with GPUs has one for each", COMPLETE_NONE,
     NULL},
    {"resources", 'r', FLAG_LIST, "'A=X B=Y'", "named resources of this node: 'foo=7 bar=1'",
     COMPLETE_NONE, NULL},
    {"fake-gpus", 0, FLAG_NUMBER, "N", "pretend that this node has N GPUs, for tests",
     COMPLETE_NONE, NULL},
    {"run-as", 0, FLAG_TEXT, "USER", "as root: run tasks as this user", COMPLETE_NONE, NULL},
    {"task-uids", 0, FLAG_TEXT, "A-B",
     "as root: a user of its own for each task, out of these uids", COMPLETE_NONE, NULL},
    {"isolate-by", 0, FLAG_TEXT, "project|user",
     "whose tasks share an isolated network (default project)", COMPLETE_WORDS, "project,user"},
    {"runtime", 0, FLAG_TEXT, "R",
     "as root: run containers with crun, runc or a path; none: no containers", COMPLETE_NONE, NULL},
    {"image-dirs", 0, FLAG_TEXT, "A:B", "directories from which tasks may take images",
     COMPLETE_NONE, NULL},
    {"allow-binds", 0, FLAG_TEXT, "A:B:rw",
     "directories that containers may mount; :rw behind one: also for writing", COMPLETE_NONE,
     NULL},
    {"plain-registries", 0, FLAG_TEXT, "H:P,…", "registries that speak no TLS", COMPLETE_NONE,
     NULL},
    {"keep-files", 0, FLAG_DURATION, "D",
     "remove the files of a task from the node so long after its end (default: never)",
     COMPLETE_NONE, NULL},
    {"image-cache", 0, FLAG_TEXT, "50Gi", "most disk for unpacked images", COMPLETE_NONE, NULL},
    {"task-pids", 0, FLAG_NUMBER, "N", "most processes and threads of one task (default 8192)",
     COMPLETE_NONE, NULL},
    {"task-disk", 0, FLAG_TEXT, "10Gi", "most disk for the files of one task (default: no limit)",
     COMPLETE_NONE, NULL},
    {"cpu-binding", 0, FLAG_TEXT, "W",
     "hardware threads for tasks with whole processors: none, cores or numa", COMPLETE_NONE, NULL},
    {"confine", 0, FLAG_TEXT, "W",
     "not as root: keep tasks apart by auto, view, landlock or no (default auto)", COMPLETE_NONE,
     NULL},
    {"login", 0, FLAG_BOOL, NULL, "let the next commands talk to this server", COMPLETE_NONE, NULL},
    {0},
};

static const struct flag flags_down[] = {
    {"stop-tasks", 0, FLAG_BOOL, NULL, "first kill all tasks and wait until they have ended",
     COMPLETE_NONE, NULL},
    {0},
};

static const struct flag flags_run[] = {
    {"detach", 'd', FLAG_BOOL, NULL, "submit, print the id, do not follow", COMPLETE_NONE, NULL},
    {"upload", 0, FLAG_TEXT, "DIR",
     "send this directory; each instance runs in its own copy (.weirignore leaves files out)",
     COMPLETE_DIRS, NULL},
    {0},
};

static const struct flag flags_output[] = {
    {"no-prefix", 0, FLAG_BOOL, NULL, "no `3: ` before the lines of instance 3", COMPLETE_NONE,
     NULL},
    {"raw", 0, FLAG_BOOL, NULL, "on a terminal: do not make escape sequences visible",
     COMPLETE_NONE, NULL},
    {0},
};

const struct flag flags_spread[] = {
    {"spread", 0, FLAG_BOOL, NULL, "more slots than a node has: run as several instances",
     COMPLETE_NONE, NULL},
    {0},
};

static const struct flag flags_submit[] = {
    {"file", 'f', FLAG_LIST, "FILE", "a task file (YAML or JSON; a task or a list); - is stdin",
     COMPLETE_FILES, NULL},
    {"upload", 0, FLAG_TEXT, "DIR",
     "send this directory; each instance runs in its own copy (.weirignore leaves files out)",
     COMPLETE_DIRS, NULL},
    {0},
};

const struct command commands_first[] = {
    {.name = "up",
     .args = "[flags]",
     .help = "start a server and a node on this machine",
     .more =
         "Runs in the foreground. Once the node has joined, the first line on standard output is\n"
         "`ready http://127.0.0.1:PORT`, and `weir run` works. Ctrl-C ends the server and the "
         "node;\n"
         "running tasks go on. A later `weir up` on the same directory takes these tasks over.\n"
         "`weir down --stop-tasks` ends the tasks as well.\n"
         "The login of this server is saved. Where another server's login is in use, that one "
         "stays in\n"
         "use: --login, or later `weir context use`, switches.",
     .examples = "weir up\n"
                 "weir up --port 0 --dir /tmp/try --fake-gpus 4\n"
                 "weir up --resources 'foo=7 license=2'",
     .groups = {flags_dir, flags_up},
     .run = cmd_up},
    {.name = "down",
     .args = "[flags]",
     .help = "end the `weir up` of a directory",
     .more = "Running tasks go on; the next `weir up` finds them. With --stop-tasks Weir kills all "
             "tasks\n"
             "first.",
     .examples = "weir down\nweir down --stop-tasks",
     .groups = {flags_dir, flags_down, flags_yes},
     .run = cmd_down},
    {.name = "status",
     .args = "",
     .help = "is the server well, what runs, what waits",
     .examples = "weir status\nweir status --json",
     .groups = {flags_json},
     .run = cmd_view_status},
    {.name = "doctor",
     .args = "",
     .help = "check the connection, the server and this machine, and say what to do",
     .more =
         "Looks at the server (reachable, able to store, version, clock, nodes), at your login "
         "and\n"
         "at this machine (cgroups, disk). Each trouble comes with what to do. The exit status is\n"
         "1 when there is a trouble.",
     .examples = "weir doctor\nweir doctor --json",
     .groups = {flags_json},
     .run = cmd_doctor},
    {.name = "run",
     .args = "[flags] [--] CMD…",
     .help = "run a command, follow its output, exit with its code",
     .more =
         "Ctrl-C asks whether to detach from the task or to kill it; a second Ctrl-C detaches. "
         "The\n"
         "exit code is that of the task: 128+n when signal n ended the task, 9 when the task can\n"
         "never run, 125 when Weir itself failed.",
     .examples = "weir run -- echo hello\n"
                 "weir run --gpus 4 --time 2h -- python train.py\n"
                 "weir run --resources 'foo=5' -- ./simulate\n"
                 "weir run --upload . -- python train.py\n"
                 "weir run --dry-run --gpus 4 -- python train.py",
     .groups = {flags_run, flags_output, flags_asks, flags_spread, flags_task, flags_dry_run,
                flags_json},
     .takes_rest = true,
     .run = cmd_run},
    {.name = "submit",
     .args = "[flags] [--] CMD… | -f FILE…",
     .help = "submit tasks and print their ids",
     .more =
         "A flag overrides the same field of a file. --dry-run says where the tasks would start, "
         "or\n"
         "why they would wait and which task must end first; the tasks are tried in batches of\n"
         "1,000.",
     .examples = "weir submit -- ./job.sh\n"
                 "weir submit --dry-run --gpus 4 -- ./job.sh\n"
                 "weir submit --array 0-99 -- ./sweep.sh\n"
                 "weir submit -f task.yaml -f more.yaml --priority 80\n"
                 "generate-tasks | weir submit -f -",
     .groups = {flags_submit, flags_asks, flags_spread, flags_task, flags_dry_run, flags_json},
     .takes_rest = true,
     .run = cmd_submit},
    {0},
};

static const struct flag flags_task_list[] = {
#define WORDS(id, letter, value, help, complete)                                                   \
    {#id, letter, FLAG_TEXT, value, help, COMPLETE_##complete, NULL},
#define TEXT WORDS
#include "wire/task_filters.def"
    {"since", 0, FLAG_TEXT, "2h",
     "of the tasks that have ended, only those that ended since then: a duration ago, a day or a "
     "time",
     COMPLETE_NONE, NULL},
    {"until", 0, FLAG_TEXT, "2h", "only tasks that ended before then", COMPLETE_NONE, NULL},
    {"active", 'a', FLAG_BOOL, NULL, "only tasks that have not ended", COMPLETE_NONE, NULL},
    {"ended", 0, FLAG_BOOL, NULL, "only tasks that have ended", COMPLETE_NONE, NULL},
    {0},
};

static const struct flag flags_logs[] = {
    {"follow", 'f', FLAG_BOOL, NULL, "go on showing output until the task ends", COMPLETE_NONE,
     NULL},
    {"stream", 0, FLAG_TEXT, "S", "stdout, stderr or both (the default)", COMPLETE_WORDS,
     "stdout,stderr,both"},
    {"instance", 0, FLAG_NUMBER, "N", "only the output of this instance", COMPLETE_NONE, NULL},
    {"attempt", 0, FLAG_NUMBER, "N", "only the output of this attempt", COMPLETE_NONE, NULL},
    {"tail", 'n', FLAG_NUMBER, "N", "begin with the last N lines; 0: only what comes",
     COMPLETE_NONE, NULL},
    {"since", 0, FLAG_TEXT, "2h", "only output that arrived since then: a duration ago, or a time",
     COMPLETE_NONE, NULL},
    {"grep", 0, FLAG_TEXT, "RE", "only lines that match this extended regular expression",
     COMPLETE_NONE, NULL},
    {"timestamps", 't', FLAG_BOOL, NULL, "put the time of arrival in front of each line",
     COMPLETE_NONE, NULL},
    {0},
};

static const struct flag flags_move[] = {
    {"ahead-of", 0, FLAG_NUMBER, "TASK", "put the task directly ahead of this one", COMPLETE_TASKS,
     NULL},
    {"behind", 0, FLAG_NUMBER, "TASK", "put the task directly behind this one", COMPLETE_TASKS,
     NULL},
    {0},
};

static const struct flag flags_retry[] = {
    {"failed", 0, FLAG_BOOL, NULL, "only the instances that did not complete", COMPLETE_NONE, NULL},
    {0},
};

static const struct flag flags_wait[] = {
    {"timeout", 0, FLAG_DURATION, "D", "give up after this time (exit status 7)", COMPLETE_NONE,
     NULL},
    {0},
};

const struct command commands_task[] = {
    {.name = "task list",
     .args = "[flags]",
     .help = "list tasks, newest first",
     .examples = "weir task list --active\n"
                 "weir task list --state failed --since 2h -q\n"
                 "weir task list --ended --since 2026-11-01 --until 2026-11-08\n"
                 "weir task list --filter 'state=pending project=nlp resources.gpu>=4'\n"
                 "weir task list --watch",
     .groups = {flags_list, flags_task_list},
     .run = cmd_task_list},
    {.name = "task show",
     .args = "TASK[.INSTANCE]",
     .help = "everything about one task",
     .examples = "weir task show 12\nweir task show 12.3\nweir task show 12 --json",
     .groups = {flags_show},
     .args_min = 1,
     .args_max = 1,
     .complete = COMPLETE_TASKS,
     .run = cmd_task_show},
    {.name = "task logs",
     .args = "TASK[.INSTANCE[:ATTEMPT]]",
     .help = "the output of a task",
     .more = "Of a task with several instances each line begins with the number of its instance.\n"
             "A long log opens at its end at once with --tail. --grep looks at the lines that the\n"
             "other flags leave: `--tail 1000 --grep loss` searches the last 1000 lines.\n"
             "On a terminal escape sequences are shown as \\x1b and do nothing; --raw passes the\n"
             "output on as it is, and so does a pipe.",
     .examples = "weir task logs 12\nweir task logs -f 12.0\nweir task logs 12 --stream stderr\n"
                 "weir task logs 12 --tail 100 --grep 'loss|error' --timestamps\n"
                 "weir task logs -f 12 --since 10m",
     .groups = {flags_logs, flags_output, flags_json},
     .args_min = 1,
     .args_max = 1,
     .complete = COMPLETE_TASKS,
     .run = cmd_task_logs},
    {.name = "task kill",
     .args = "TASK… | -",
     .help = "end tasks: SIGTERM, and SIGKILL after their grace time",
     .examples = "weir task kill 12\nweir task kill --dry-run 12\nweir task list -q --state "
                 "pending | weir task kill --yes -",
     .groups = {flags_dry_run, flags_yes, flags_json},
     .args_min = 1,
     .args_max = ARGS_ANY,
     .complete = COMPLETE_TASKS,
     .run = cmd_task_change_kill},
    {.name = "task start",
     .args = "TASK… | -",
     .help = "queue staged tasks",
     .examples = "weir task start 12",
     .groups = {flags_dry_run, flags_json},
     .args_min = 1,
     .args_max = ARGS_ANY,
     .complete = COMPLETE_TASKS,
     .run = cmd_task_change_start},
    {.name = "task pause",
     .args = "TASK… | -",
     .help = "stop tasks, or keep them from starting, until they are activated",
     .more = "A running task gets SIGTERM, and SIGKILL after its grace time. A paused task keeps\n"
             "its place in the order. A pause counts neither as a failure nor as a retry.",
     .examples = "weir task pause 12",
     .groups = {flags_dry_run, flags_json},
     .args_min = 1,
     .args_max = ARGS_ANY,
     .complete = COMPLETE_TASKS,
     .run = cmd_task_change_pause},
    {.name = "task activate",
     .args = "TASK… | -",
     .help = "let paused tasks start again",
     .examples = "weir task activate 12",
     .groups = {flags_dry_run, flags_json},
     .args_min = 1,
     .args_max = ARGS_ANY,
     .complete = COMPLETE_TASKS,
     .run = cmd_task_change_activate},
    {.name = "task edit",
     .args = "TASK… flags",
     .help = "change a task that has not ended",
     .more =
         "Resources, nodes and project change only while no instance of the task runs; `weir\n"
         "task pause` stops a task. A new value replaces the old one as a whole. A running task\n"
         "that is moved to another pool is stopped with its grace time, and waits in the new\n"
         "pool under the same id. An edit that would stop running tasks, such as a priority above\n"
         "theirs, says which and asks first; without a terminal it wants --yes.",
     .examples = "weir task edit 12 --priority 80 --time 4h\n"
                 "weir task edit 12 --priority 80 --dry-run",
     .groups = {flags_asks, flags_task_edit, flags_dry_run, flags_yes, flags_json},
     .args_min = 1,
     .args_max = ARGS_ANY,
     .complete = COMPLETE_TASKS,
     .run = cmd_task_change_edit},
    {.name = "task move",
     .args = "TASK --ahead-of|--behind OTHER",
     .help = "change a task's place in the queue",
     .more =
         "Both tasks must have the same pool, project and priority. Tasks of other projects keep\n"
         "their places. `weir task edit --priority` changes the priority of a task.",
     .examples = "weir task move 12 --ahead-of 7\nweir task move 7 --behind 12",
     .groups = {flags_move, flags_dry_run, flags_yes, flags_json},
     .args_min = 1,
     .args_max = 1,
     .complete = COMPLETE_TASKS,
     .run = cmd_task_change_move},
    {.name = "task retry",
     .args = "TASK[.INSTANCE]… | -",
     .help = "submit ended tasks again, as new ones",
     .more =
         "Prints the new ids. A new task has the last request of the old task, and waits for the\n"
         "dependencies of the old task that have not ended. With --failed, or for one instance,\n"
         "each run of neighbouring instances becomes a task of its own; every instance keeps its\n"
         "INSTANCE_ID.",
     .examples = "weir task retry 12\nweir task retry 12 --failed\n"
                 "weir task list -q --state failed | weir task retry -",
     .groups = {flags_retry, flags_dry_run, flags_json},
     .args_min = 1,
     .args_max = ARGS_ANY,
     .complete = COMPLETE_TASKS,
     .run = cmd_task_change_retry},
    {.name = "task wait",
     .args = "TASK… | TASK.INSTANCE | -",
     .help = "wait until tasks have ended, exit with their code",
     .more = "With several tasks, the exit code is that of the first one, in the order given, that "
             "did not\n"
             "succeed.",
     .examples =
         "weir task wait 12\nweir task wait 12.3\nweir submit -f sweep.yaml | weir task wait -",
     .groups = {flags_wait, flags_json},
     .args_min = 1,
     .args_max = ARGS_ANY,
     .complete = COMPLETE_TASKS,
     .run = cmd_task_wait},
    {.name = "ps",
     .args = "[flags]",
     .help = "short for `weir task list`",
     .examples = "weir ps --active",
     .groups = {flags_list, flags_task_list},
     .run = cmd_task_list},
    {.name = "logs",
     .args = "TASK[.INSTANCE[:ATTEMPT]]",
     .help = "short for `weir task logs`",
     .examples = "weir logs -f 12\nweir logs 12 --tail 100",
     .groups = {flags_logs, flags_output, flags_json},
     .args_min = 1,
     .args_max = 1,
     .complete = COMPLETE_TASKS,
     .run = cmd_task_logs},
    {.name = "kill",
     .args = "TASK… | -",
     .help = "short for `weir task kill`",
     .examples = "weir kill 12",
     .groups = {flags_dry_run, flags_yes, flags_json},
     .args_min = 1,
     .args_max = ARGS_ANY,
     .complete = COMPLETE_TASKS,
     .run = cmd_task_change_kill},
    {.name = "wait",
     .args = "TASK… | TASK.INSTANCE | -",
     .help = "short for `weir task wait`",
     .examples = "weir wait 12 --timeout 1h",
     .groups = {flags_wait, flags_json},
     .args_min = 1,
     .args_max = ARGS_ANY,
     .complete = COMPLETE_TASKS,
     .run = cmd_task_wait},
    {.name = "checkpoint",
     .args = "",
     .help = "called by a task: the work done so far is saved",
     .more =
         "A task calls `weir checkpoint` when it has saved its work. Touching the file\n"
         "$WEIR_CHECKPOINT_FILE does the same. When Weir must stop tasks to make room, it stops "
         "those\n"
         "that lose least work since their start or their last checkpoint. In a gang one instance\n"
         "reports for all. Checkpoints within five seconds count as one. `weir task show` shows "
         "the\n"
         "last checkpoint.",
     .examples = "weir run -- sh -c './train --steps 1000 && weir checkpoint && ./evaluate'",
     .run = cmd_checkpoint},
    {0},
};

static const struct flag flags_queue[] = {
    {"pool", 'p', FLAG_TEXT, "P", "the queue of this pool (default: all pools)", COMPLETE_POOLS,
     NULL},
    {0},
};

static const struct flag flags_events[] = {
    {"follow", 'f', FLAG_BOOL, NULL, "go on showing events as they happen", COMPLETE_NONE, NULL},
    {"after", 0, FLAG_NUMBER, "N", "only events after number N; also with -f", COMPLETE_NONE, NULL},
    {"task", 0, FLAG_NUMBER, "T", "only events of this task", COMPLETE_TASKS, NULL},
    {"pool", 'p', FLAG_TEXT, "P", "only events of this pool", COMPLETE_POOLS, NULL},
    {"type", 0, FLAG_TEXT, "T", "only events of this type: task-ended, allocated, …", COMPLETE_NONE,
     NULL},
    {"filter", 0, FLAG_TEXT, "'A=X B~Y'",
     "only events with these values: = != < <= > >= ~ (has the text)", COMPLETE_NONE, NULL},
    {0},
};

static const struct flag flags_explain[] = {
    {"file", 'f', FLAG_LIST, "FILE",
     "what would become of the tasks of this file; none is submitted", COMPLETE_FILES, NULL},
    {0},
};

const struct command commands_self[] = {
    {.name = "explain",
     .args = "TASK[.INSTANCE]|NODE|POOL|-f FILE",
     .help =
         "why a task waits and what would make it start; why tasks do not run on a node, in a pool",
     .more = "Of a node: whether it takes tasks, what is free and what runs there. Of a pool: its "
             "nodes, free\n"
             "slots and kept places. Of both: why the tasks of the pool wait, one line for each "
             "reason with\n"
             "its first task.",
     .examples = "weir explain 12\nweir explain n3\nweir explain v100 --json\nweir explain -f "
                 "task.yaml\nweir explain 12 --at 2h\nweir explain 12 --at 2026-11-15T03:00:00Z",
     .groups = {flags_explain, flags_at, flags_show},
     .args_min = 0,
     .args_max = 1,
     .complete = COMPLETE_PLACES,
     .run = cmd_view_explain},
    {.name = "whatif",
     .args = "COMMAND… | METHOD PATH [BODY]",
     .help =
         "what one change would do: tasks that start, wait, stop or end, nodes that come and go",
     .more =
         "A command is tried as with its --dry-run. METHOD, PATH and BODY are a call of the API "
         "that\n"
         "takes `dry_run`. Nothing is changed. Exit code 8: something would change.",
     .examples = "weir whatif pool pause burst\nweir whatif node drain n1\n"
                 "weir whatif PATCH /pools/burst '{\"provider\":{\"max\":8}}'",
     .groups = {flags_json},
     .args_min = 1,
     .args_max = 3,
     .run = cmd_whatif},
    {.name = "queue",
     .args = "[flags]",
     .help = "the waiting tasks of each pool in order, and why they wait",
     .examples = "weir queue\nweir queue --pool gpu --watch\nweir queue --at 2h",
     .groups = {flags_list, flags_queue, flags_at},
     .run = cmd_view_queue},
    {.name = "events",
     .args = "[flags]",
     .help = "what happened, one line each",
     .examples = "weir events -f\nweir events --task 12 --json=lines\n"
                 "weir events --filter 'type=evicted victim.project=nlp'",
     .groups = {flags_events, flags_json},
     .run = cmd_events_all},
    {.name = "completion",
     .args = "bash|zsh|fish",
     .help = "print the completion script for a shell",
     .examples = "source <(weir completion bash)\n"
                 "weir completion fish > ~/.config/fish/completions/weir.fish",
     .args_min = 1,
     .args_max = 1,
     .complete = COMPLETE_WORDS,
     .choices = "bash,zsh,fish",
     .run = cmd_complete_script},
    {.name = "__complete",
     .args = "WORD…",
     .help = "what completion scripts call",
     .takes_rest = true,
     .hidden = true,
     .run = cmd_complete},
    {0},
};
