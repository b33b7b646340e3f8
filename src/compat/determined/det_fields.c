/* det_fields.c - see det_fields.h. The third column is the default, as text.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compat/determined/det_fields.h"

#include "compat/determined/det_resolve.h"

#define TEXT(key, missing)                                                                         \
    {                                                                                              \
        .name = (key), .read = det_resolve_text, .note = (missing)                                 \
    }
#define WHOLE(key, missing)                                                                        \
    {                                                                                              \
        .name = (key), .read = det_resolve_whole, .note = (missing)                                \
    }
#define SWITCH(key, missing)                                                                       \
    {                                                                                              \
        .name = (key), .read = det_resolve_switch, .note = (missing)                               \
    }
#define TIME(key, missing)                                                                         \
    {                                                                                              \
        .name = (key), .read = det_resolve_time, .note = (missing)                                 \
    }
#define ANY(key)                                                                                   \
    {                                                                                              \
        .name = (key), .read = det_resolve_any                                                     \
    }
#define INNER(key, table)                                                                          \
    {                                                                                              \
        .name = (key), .read = det_resolve_inner, .note = "", .inner = (table)                     \
    }

/* ---- managers ---- */

/* `scheduler`, the default pools and the name depend on other fields: det_config.c fills them in. */
const struct field det_fields_manager_agent[] = {
    TEXT("type", "agent"),
    TEXT("cluster_name", NULL),
    TEXT("name", NULL), /* the old spelling of cluster_name */
    ANY("metadata"),
    ANY("scheduler"),
    TEXT("default_aux_resource_pool", NULL),
    TEXT("default_compute_resource_pool", NULL),
    TEXT("default_cpu_resource_pool", NULL), /* the old spellings of the two above */
    TEXT("default_gpu_resource_pool", NULL),
    SWITCH("no_default_resource_pools", "false"),
    SWITCH("require_authentication", "false"),
    TEXT("client_ca", NULL),
    {0},
};

static const struct field slot_requests[] = {ANY("cpu"), {0}};

const struct field det_fields_manager_kubernetes[] = {
    TEXT("type", "kubernetes"),
    TEXT("cluster_name", NULL),
    TEXT("name", NULL),
    ANY("metadata"),
    TEXT("namespace", NULL),
    TEXT("default_namespace", NULL),
    WHOLE("max_slots_per_pod", NULL),
    TEXT("master_service_name", NULL),
    SWITCH("leave_kubernetes_resources", "false"),
    TEXT("default_scheduler", NULL),
    TEXT("slot_type", "cuda"),
    INNER("slot_resource_requests", slot_requests),
    ANY("fluent"),
    TEXT("kubeconfig_path", NULL),
    TEXT("determined_master_scheme", NULL),
    TEXT("determined_master_host", NULL),
    TEXT("determined_master_ip", NULL),
    WHOLE("determined_master_port", NULL),
    ANY("internal_task_gateway"),
    TEXT("default_aux_resource_pool", NULL),
    TEXT("default_compute_resource_pool", NULL),
    SWITCH("no_default_resource_pools", "false"),
    {0},
};

const struct field det_fields_scheduler[] = {
    TEXT("type", "priority"),
    TEXT("fitting_policy", "best"),
    SWITCH("allow_heterogeneous_fits", "false"),
    SWITCH("preemption", NULL),
    WHOLE("default_priority", NULL),
    {0},
};

const struct field det_fields_scheduler_priority[] = {
    TEXT("type", "priority"),
    TEXT("fitting_policy", "best"),
    SWITCH("allow_heterogeneous_fits", "false"),
    SWITCH("preemption", "false"),
    WHOLE("default_priority", "42"),
    {0},
};

/* ---- pools ---- */

const struct field det_fields_pool[] = {
    TEXT("pool_name", ""),
    TEXT("description", ""),
    ANY("scheduler"), /* all or nothing: no key comes from the manager's */
    ANY("provider"),
    WHOLE("max_aux_containers_per_agent", "100"),
    WHOLE("max_cpu_containers_per_agent",
          NULL), /* the old spelling, which counts when it is given */
    ANY("task_container_defaults"),
    TIME("agent_reconnect_wait", "25s"),
    SWITCH("agent_reattach_enabled", NULL), /* without effect in Determined */
    TEXT("kubernetes_namespace", NULL),
    {0},
};

/* ---- providers ---- */

#define PROVIDER_FIELDS                                                                            \
    TEXT("type", NULL), TEXT("master_url", NULL), TEXT("master_cert_name", ""),                    \
        TEXT("startup_script", ""), TEXT("container_startup_script", ""),                          \
        TEXT("agent_docker_image", "determinedai/determined-agent"),                               \
        TEXT("agent_docker_network", "default"), TEXT("agent_docker_runtime", "runc"),             \
        TEXT("agent_fluent_image", NULL), ANY("agent_config_file_contents"),                       \
        WHOLE("agent_reconnect_attempts", "5"), WHOLE("agent_reconnect_backoff", "5"),             \
        TIME("max_idle_agent_period", "20m"), TIME("max_agent_starting_period", "20m"),            \
        WHOLE("min_instances", "0"), WHOLE("max_instances", "5"),                                  \
        TIME("launch_error_timeout", "0s"), WHOLE("launch_error_retries", "0")

const struct field det_fields_provider_any[] = {PROVIDER_FIELDS, {0}};

static const struct field aws_network[] = {
    SWITCH("public_ip", "true"),
    TEXT("security_group_id", NULL),
    TEXT("subnet_id", NULL),
    {0},
};

const struct field det_fields_provider_aws[] = {
    PROVIDER_FIELDS,
    TEXT("region", NULL),
    WHOLE("root_volume_size", "200"),
    TEXT("image_id", NULL),
    TEXT("tag_key", "managed_by"),
    TEXT("tag_value", NULL),
    ANY("custom_tags"),
    TEXT("instance_name", "determined-ai-agent"),
    TEXT("ssh_key_name", ""),
    TEXT("iam_instance_profile_arn", NULL),
    INNER("network_interface", aws_network),
    TEXT("instance_type", "g4dn.metal"),
    WHOLE("instance_slots", NULL),
    SWITCH("cpu_slots_allowed", "false"),
    TEXT("log_group", NULL),
    TEXT("log_stream", NULL),
    SWITCH("spot", "false"),
    TEXT("spot_max_price", "OnDemand"),
    {0},
};

static const struct field gcp_network[] = {
    TEXT("network", NULL),
    TEXT("subnetwork", NULL),
    SWITCH("external_ip", "false"),
    {0},
};

static const struct field gcp_account[] = {TEXT("email", NULL), ANY("scopes"), {0}};

static const struct field gcp_machine[] = {
    TEXT("machine_type", "n1-standard-32"),
    TEXT("gpu_type", "nvidia-tesla-t4"),
    WHOLE("gpu_num", "4"),
    SWITCH("preemptible", "false"),
    {0},
};

const struct field det_fields_provider_gcp[] = {
    PROVIDER_FIELDS,
    ANY("base_config"),
    TEXT("project", NULL),
    TEXT("zone", NULL),
    WHOLE("boot_disk_size", "200"),
    TEXT("boot_disk_source_image", NULL),
    TEXT("boot_disk_type", NULL),
    ANY("labels"),
    TEXT("label_key", "managed-by"),
    TEXT("label_value", NULL),
    TEXT("name_prefix", NULL),
    INNER("network_interface", gcp_network),
    ANY("network_tags"),
    INNER("service_account", gcp_account),
    INNER("instance_type", gcp_machine),
    SWITCH("cpu_slots_allowed", "false"),
    TIME("operation_timeout_period", "5m"),
    SWITCH("use_cloud_logging", "false"),
    {0},
};

const struct field det_fields_provider_hpc[] = {PROVIDER_FIELDS, TEXT("partition", NULL), {0}};

/* ---- the rest of the file ---- */

const char *const det_fields_elsewhere[] = {"config_file",
                                            "log",
                                            "db",
                                            "tensorboard_timeout",
                                            "notebook_timeout",
                                            "security",
                                            "checkpoint_storage",
                                            "task_container_defaults",
                                            "port",
                                            "root",
                                            "telemetry",
                                            "enable_cors",
                                            "cluster_name",
                                            "logging",
                                            "retention_policy",
                                            "hyperparameter_importance",
                                            "observability",
                                            "cache",
                                            "webhooks",
                                            "feature_switches",
                                            "reserved_ports",
                                            "ui_customization",
                                            "det_cloud",
                                            "integrations",
                                            "scim",
                                            "saml",
                                            "oidc",
                                            "audit_logging_enabled",
                                            "__internal",
                                            NULL};
