/* gpu_watch.c - see gpu_watch.h. SPDX-License-Identifier: Apache-2.0 */
#include "agent/gpu_watch.h"

#include "agent/amd.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/rest.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

enum {
    LOOK_MS = 2000,
    NVML_OK = 0,
    NVML_GPU_IS_LOST = 15,
    NVML_EVENT_XID = 8,
    XID_WAIT_MS = 1, /* events that have come are taken; nothing is waited for */
    XIDS_MAX = 64,   /* taken in one look */
    END_WAIT_MS = 1000,
};

/* The layouts are those of NVIDIA's nvml.h. */
struct nvml_rates {
    unsigned gpu;
    unsigned memory;
};
struct nvml_used {
    unsigned long long total;
    unsigned long long free;
    unsigned long long used;
};
struct nvml_event {
    void *device;
    unsigned long long type;
    unsigned long long data;
    unsigned gpu_instance;
    unsigned compute_instance;
};

struct nvml_calls {
    int (*init)(void);
    int (*count)(unsigned *count);
    int (*handle)(unsigned index, void **device);
    int (*rates)(void *device, struct nvml_rates *rates);
    int (*memory)(void *device, struct nvml_used *memory);
    /* Missing in old drivers: then XID events are not seen. */
    int (*events_new)(void **set);
    int (*events_of)(void *device, unsigned long long types, void *set);
    int (*events_wait)(void *set, struct nvml_event *event, unsigned ms);
};

struct gpu_watch {
    struct nvml_calls nvml;
    struct amd_gpus amd; /* empty where the GPUs are NVIDIA's */
    struct arena arena;  /* the memory of `amd` */
    pthread_t thread;
    pthread_mutex_t lock; /* of the members below */
    pthread_cond_t ending;
    bool end;
    unsigned count;
    void *handles[NODE_DEVICES_MAX];
    struct gpu_sample samples[NODE_DEVICES_MAX];
    int lost[NODE_DEVICES_MAX]; /* 0: well; -1: the driver has lost it; else the XID */
    void *events;               /* NULL: none */
};

/* XIDs after which a device is not to be used: memory errors, a hanging or a missing device. */
static bool xid_isolates(unsigned long long xid)
{
    static const unsigned long long bad[] = {48, 63, 64, 74, 79, 94, 95};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (bad[i] == xid) {
            return true;
        }
    }
    return false;
}

/* Returns whether no program can go on running on the device after this XID: the memory may be
 * wrong anywhere, or the device fell off its bus. After the other XIDs of xid_isolates() running
 * programs may go on. */
static bool xid_ends(int xid)
{
    return xid == 48 || xid == 79 || xid == 95;
}

static bool symbols_load(void *library, struct nvml_calls *ret)
{
    *(void **)(void *)&ret->init = dlsym(library, "nvmlInit_v2");
    *(void **)(void *)&ret->count = dlsym(library, "nvmlDeviceGetCount_v2");
    *(void **)(void *)&ret->handle = dlsym(library, "nvmlDeviceGetHandleByIndex_v2");
    *(void **)(void *)&ret->rates = dlsym(library, "nvmlDeviceGetUtilizationRates");
    *(void **)(void *)&ret->memory = dlsym(library, "nvmlDeviceGetMemoryInfo");
    *(void **)(void *)&ret->events_new = dlsym(library, "nvmlEventSetCreate");
    *(void **)(void *)&ret->events_of = dlsym(library, "nvmlDeviceRegisterEvents");
    *(void **)(void *)&ret->events_wait = dlsym(library, "nvmlEventSetWait_v2");
    return ret->init != NULL && ret->count != NULL && ret->handle != NULL && ret->rates != NULL &&
           ret->memory != NULL;
}

static void sample_set(struct gpu_watch *watch, unsigned i, struct gpu_sample sample, bool lost)
{
    must(pthread_mutex_lock(&watch->lock) == 0);
    watch->samples[i] = sample;
    if (lost) {
        watch->lost[i] = -1;
    } else if (watch->lost[i] < 0 && sample.known) {
        watch->lost[i] = 0;
    }
    must(pthread_mutex_unlock(&watch->lock) == 0);
}

static void amd_look(struct gpu_watch *watch, unsigned i)
{
    struct gpu_sample sample;
    const bool there = amd_sample(&watch->amd.at[i], &sample);
    sample_set(watch, i, sample, !there);
}

static void device_look(struct gpu_watch *watch, unsigned i)
{
    struct nvml_rates rates = {0};
    struct nvml_used memory = {0};
    const int busy = watch->nvml.rates(watch->handles[i], &rates);
    const int used = watch->nvml.memory(watch->handles[i], &memory);
    sample_set(watch, i,
               (struct gpu_sample){.known = busy == NVML_OK && used == NVML_OK,
                                   .busy_percent = rates.gpu,
                                   .memory_bytes = memory.used},
               busy == NVML_GPU_IS_LOST || used == NVML_GPU_IS_LOST);
}

static void events_look(struct gpu_watch *watch)
{
    struct nvml_event event = {0};
    for (int n = 0; n < XIDS_MAX && watch->events != NULL &&
                    watch->nvml.events_wait(watch->events, &event, XID_WAIT_MS) == NVML_OK;
         n++) {
        must(pthread_mutex_lock(&watch->lock) == 0);
        for (unsigned i = 0; i < watch->count; i++) {
            if (watch->handles[i] == event.device && event.type == NVML_EVENT_XID &&
                xid_isolates(event.data)) {
                watch->lost[i] = (int)event.data;
            }
        }
        must(pthread_mutex_unlock(&watch->lock) == 0);
    }
}

static void *run(void *ctx)
{
    struct gpu_watch *watch = ctx;
    bool end = false;
    while (!end) {
        for (unsigned i = 0; i < watch->count; i++) {
            if (watch->amd.count > 0) {
                amd_look(watch, i);
            } else {
                device_look(watch, i);
            }
        }
        events_look(watch);
        must(pthread_mutex_lock(&watch->lock) == 0);
        if (!watch->end) {
            rest_wait(&watch->ending, &watch->lock, LOOK_MS);
        }
        end = watch->end;
        must(pthread_mutex_unlock(&watch->lock) == 0);
    }
    return NULL;
}

static void events_begin(struct gpu_watch *watch)
{
    const struct nvml_calls *nvml = &watch->nvml;
    if (nvml->events_new == NULL || nvml->events_of == NULL || nvml->events_wait == NULL ||
        nvml->events_new(&watch->events) != NVML_OK) {
        watch->events = NULL;
        return;
    }
    for (unsigned i = 0; i < watch->count; i++) {
        (void)nvml->events_of(watch->handles[i], NVML_EVENT_XID, watch->events);
    }
}

/* Opens NVIDIA's library and finds the GPUs. False: the node has no such library, or no NVIDIA GPU. */
static bool nvml_begin(struct gpu_watch *watch)
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    unsigned count = 0;
    if (library == NULL) {
        return false;
    }
    if (!symbols_load(library, &watch->nvml) || watch->nvml.init() != NVML_OK ||
        watch->nvml.count(&count) != NVML_OK || count == 0) {
        (void)dlclose(library);
        return false;
    }
    watch->count = count < NODE_DEVICES_MAX ? count : NODE_DEVICES_MAX;
    for (unsigned i = 0; i < watch->count; i++) {
        watch->lost[i] = watch->nvml.handle(i, &watch->handles[i]) == NVML_GPU_IS_LOST ? -1 : 0;
    }
    events_begin(watch);
    return true;
}

static void watch_delete(struct gpu_watch *watch)
{
    arena_done(&watch->arena);
    free(watch);
}

struct gpu_watch *gpu_watch_new(void)
{
    struct gpu_watch *watch = xcalloc(1, sizeof *watch);
    arena_init(&watch->arena);
    if (!nvml_begin(watch)) {
        amd_list(&watch->arena, &watch->amd);
        watch->count = watch->amd.count;
    }
    if (watch->count == 0) {
        watch_delete(watch);
        return NULL;
    }
    must(pthread_mutex_init(&watch->lock, NULL) == 0);
    must(pthread_cond_init(&watch->ending, NULL) == 0);
    if (pthread_create(&watch->thread, NULL, run, watch) != 0) {
        watch_delete(watch);
        return NULL;
    }
    return watch;
}

void gpu_watch_free(struct gpu_watch *watch)
{
    if (watch == NULL) {
        return;
    }
    must(pthread_mutex_lock(&watch->lock) == 0);
    watch->end = true;
    must(pthread_cond_signal(&watch->ending) == 0);
    must(pthread_mutex_unlock(&watch->lock) == 0);
    if (rest_join(watch->thread, END_WAIT_MS)) {
        watch_delete(watch);
    }
}

struct gpu_sample gpu_watch_get(struct gpu_watch *watch, uint32_t device)
{
    struct gpu_sample sample = {0};
    if (watch != NULL && device < watch->count) {
        must(pthread_mutex_lock(&watch->lock) == 0);
        sample = watch->samples[device];
        must(pthread_mutex_unlock(&watch->lock) == 0);
    }
    return sample;
}

void gpu_watch_faults(struct gpu_watch *watch, struct gpu_faults *ret)
{
    *ret = (struct gpu_faults){0};
    if (watch == NULL) {
        return;
    }
    size_t len = 0;
    must(pthread_mutex_lock(&watch->lock) == 0);
    for (unsigned i = 0; i < watch->count; i++) {
        const int fault = watch->lost[i];
        char words[64] = "the driver has lost it";
        if (fault == 0) {
            continue;
        }
        if (fault > 0) {
            (void)snprintf(words, sizeof words, "the driver reports XID %d", fault);
        }
        ret->out |= (uint64_t)1 << i;
        ret->lost |= (uint64_t)(fault < 0 || xid_ends(fault)) << i;
        if (len < sizeof ret->why) {
            len += (size_t)snprintf(ret->why + len, sizeof ret->why - len, "%sGPU %u: %s",
                                    len == 0 ? "" : "; ", i, words);
        }
    }
    must(pthread_mutex_unlock(&watch->lock) == 0);
}
