/* fake_nvml.c - a libnvidia-ml.so.1 for tests. It reads the file $WEIR_FAKE_NVML at every call: one line
 * for each GPU, "NAME TOTAL_MIB USED_MIB BUSY_PERCENT RESULT XID". RESULT 0 is well, 15 is lost; an XID
 * above 0 is reported once. SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GPUS_MAX = 16, OK = 0, TIMEOUT = 10, MIB = 1 << 20 };

struct gpu {
    char name[64];
    unsigned long total, used, busy;
    int result, xid;
};

static struct gpu handles[GPUS_MAX]; /* a handle is the address of its index's element */
static int told[GPUS_MAX];

static unsigned gpus_read(struct gpu *gpus)
{
    const char *path = getenv("WEIR_FAKE_NVML");
    FILE *file = path == NULL ? NULL : fopen(path, "re");
    unsigned count = 0;
    while (file != NULL && count < GPUS_MAX &&
           fscanf(file, "%63s %lu %lu %lu %d %d", gpus[count].name, &gpus[count].total,
                  &gpus[count].used, &gpus[count].busy, &gpus[count].result,
                  &gpus[count].xid) == 6) {
        count++;
    }
    if (file != NULL) {
        fclose(file);
    }
    return count;
}

static struct gpu gpu_of(void *device)
{
    struct gpu gpus[GPUS_MAX] = {0};
    size_t i = (size_t)((struct gpu *)device - handles);
    return i < gpus_read(gpus) ? gpus[i] : (struct gpu){.result = 15};
}

int nvmlInit_v2(void)
{
    return OK;
}
int nvmlShutdown(void)
{
    return OK;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
    struct gpu gpus[GPUS_MAX];
    *count = gpus_read(gpus);
    return OK;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
    *device = &handles[index];
    return OK;
}

int nvmlDeviceGetName(void *device, char *name, unsigned len)
{
    struct gpu gpu = gpu_of(device);
    snprintf(name, len, "%s", gpu.name);
    return gpu.result;
}

int nvmlDeviceGetMemoryInfo(void *device, unsigned long long *memory)
{
    struct gpu gpu = gpu_of(device);
    memory[0] = gpu.total * MIB;
    memory[1] = (gpu.total - gpu.used) * MIB;
    memory[2] = gpu.used * MIB;
    return gpu.result;
}

int nvmlDeviceGetUtilizationRates(void *device, unsigned *rates)
{
    struct gpu gpu = gpu_of(device);
    rates[0] = (unsigned)gpu.busy;
    rates[1] = 0;
    return gpu.result;
}

int nvmlEventSetCreate(void **set)
{
    *set = handles;
    return OK;
}

int nvmlDeviceRegisterEvents(void *device, unsigned long long types, void *set)
{
    (void)device, (void)types, (void)set;
    return OK;
}

struct event {
    void *device;
    unsigned long long type, data;
    unsigned gpu_instance, compute_instance;
};

int nvmlEventSetWait_v2(void *set, struct event *event, unsigned ms)
{
    (void)set, (void)ms;
    struct gpu gpus[GPUS_MAX] = {0};
    unsigned count = gpus_read(gpus);
    for (unsigned i = 0; i < count; i++) {
        if (gpus[i].xid > 0 && !told[i]) {
            told[i] = 1;
            *event = (struct event){&handles[i], 8, (unsigned long long)gpus[i].xid, 0, 0};
            return OK;
        }
    }
    return TIMEOUT;
}
