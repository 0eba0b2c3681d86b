/* A stand-in for libnvidia-ml.so.1, so that the real Python binding is exercised on a machine without a GPU.
 *
 * Written from NVIDIA's public NVML API reference. It answers as told:
 *   FAKE_NVML_GPUS   one word a GPU, separated by commas: `full` (every field), `bare` (no field), `old` (a driver before 510),
 *                    `flaky` (the power reading fails with "Unknown Error")
 *   FAKE_NVML_DIR    a folder: a file `lost-N` makes GPU N fall off the bus; a file `xid-N` holds the number of an Xid that
 *                    is delivered once (the file is then gone); a file `refuse-wait` makes the wait for events fail at once
 *   FAKE_NVML_INIT   the error code that nvmlInit returns
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OK = 0, INVALID = 2, NOT_SUPPORTED = 3, NO_PERMISSION = 4, NOT_FOUND = 6, TOO_SMALL = 7, TIMEOUT = 10, NO_FUNCTION = 13,
       LOST = 15, UNKNOWN = 999 };
enum { MAX_GPUS = 16, LINKS = 4, XID_EVENT = 8 };

typedef struct { int index; char kind[16]; } gpu_t;
typedef struct { gpu_t *registered[MAX_GPUS]; int count; } set_t;
typedef struct { unsigned int gpu, memory; } utilization_t;
typedef struct { unsigned long long total, free, used; } memory_t;
typedef struct { unsigned int version; unsigned long long total, reserved, free, used; } memory_v2_t;
typedef struct { unsigned int pid; unsigned long long used; unsigned int gi, ci; } process_t;
typedef struct { gpu_t *device; unsigned long long type, data; unsigned int gi, ci; } event_t;
typedef union { double d; unsigned int ui; unsigned long ul; unsigned long long ull; long long sll; } value_t;
typedef struct { unsigned int field, scope; long long time, latency; unsigned int type, ret; value_t value; } field_t;

static gpu_t gpus[MAX_GPUS];
static int gpu_count;

static int path_of(char *path, size_t size, const char *what, int index) {
    const char *dir = getenv("FAKE_NVML_DIR");
    if (!dir) return 0;
    if (index < 0) snprintf(path, size, "%s/%s", dir, what);
    else snprintf(path, size, "%s/%s-%d", dir, what, index);
    return access(path, F_OK) == 0;
}

static int is(const gpu_t *gpu, const char *kind) { return strcmp(gpu->kind, kind) == 0; }
static int lost(const gpu_t *gpu) { char path[512]; return path_of(path, sizeof path, "lost", gpu->index); }

/* What every optional query answers first. */
static int refuse(const gpu_t *gpu) {
    if (lost(gpu)) return LOST;
    return is(gpu, "bare") ? NOT_SUPPORTED : OK;
}
#define ASK(gpu) do { int refused = refuse(gpu); if (refused) return refused; } while (0)

int nvmlInitWithFlags(unsigned int flags) {
    (void)flags;
    const char *code = getenv("FAKE_NVML_INIT"), *kinds = getenv("FAKE_NVML_GPUS");
    if (code) return atoi(code);
    char copy[256];
    snprintf(copy, sizeof copy, "%s", kinds ? kinds : "");
    gpu_count = 0;
    for (char *kind = strtok(copy, ","); kind && gpu_count < MAX_GPUS; kind = strtok(NULL, ",")) {
        gpus[gpu_count].index = gpu_count;
        snprintf(gpus[gpu_count].kind, sizeof gpus[gpu_count].kind, "%s", kind);
        gpu_count++;
    }
    return OK;
}
int nvmlShutdown(void) { return OK; }
const char *nvmlErrorString(int code) {
    switch (code) {
    case NOT_SUPPORTED: return "Not Supported";
    case LOST: return "GPU is lost";
    case TIMEOUT: return "Timeout";
    default: return "Unknown Error";
    }
}
int nvmlSystemGetDriverVersion(char *text, unsigned int size) { snprintf(text, size, "999.99 (fake)"); return OK; }
int nvmlDeviceGetCount_v2(unsigned int *count) { *count = gpu_count; return OK; }
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, gpu_t **gpu) {
    if ((int)index >= gpu_count) return INVALID;
    *gpu = &gpus[index];
    return lost(*gpu) ? LOST : OK;
}
int nvmlDeviceGetUUID(gpu_t *gpu, char *text, unsigned int size) { snprintf(text, size, "GPU-fake-%d", gpu->index); return OK; }
int nvmlDeviceGetName(gpu_t *gpu, char *text, unsigned int size) { snprintf(text, size, "Fake GPU (%s)", gpu->kind); return OK; }
int nvmlDeviceGetUtilizationRates(gpu_t *gpu, utilization_t *out) { ASK(gpu); out->gpu = 97; out->memory = 41; return OK; }
int nvmlDeviceGetMemoryInfo(gpu_t *gpu, memory_t *out) {
    ASK(gpu);
    out->total = 80ULL << 30; out->used = 61ULL << 30; out->free = 19ULL << 30;
    return OK;
}
int nvmlDeviceGetMemoryInfo_v2(gpu_t *gpu, memory_v2_t *out) {
    ASK(gpu);
    if (is(gpu, "old")) return NO_FUNCTION;
    if (out->version != (sizeof *out | 2u << 24)) return 25;
    out->total = 80ULL << 30; out->reserved = 1ULL << 30; out->used = 60ULL << 30; out->free = 19ULL << 30;
    return OK;
}
int nvmlDeviceGetPowerUsage(gpu_t *gpu, unsigned int *mw) { ASK(gpu); *mw = 412500; return is(gpu, "flaky") ? UNKNOWN : OK; }
int nvmlDeviceGetTemperature(gpu_t *gpu, unsigned int sensor, unsigned int *c) { ASK(gpu); *c = sensor ? 1 : 63; return OK; }
int nvmlDeviceGetClockInfo(gpu_t *gpu, unsigned int kind, unsigned int *mhz) {
    ASK(gpu);
    *mhz = kind == 1 ? 1755 : kind == 2 ? 2619 : 1;
    return OK;
}
int nvmlDeviceGetCurrentClocksEventReasons(gpu_t *gpu, unsigned long long *mask) {
    ASK(gpu);
    *mask = 0x4 | 0x40 | 0x800;
    return is(gpu, "old") ? NO_FUNCTION : OK;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(gpu_t *gpu, unsigned long long *mask) { ASK(gpu); *mask = 0x1; return OK; }
int nvmlDeviceGetTotalEccErrors(gpu_t *gpu, unsigned int kind, unsigned int counter, unsigned long long *count) {
    ASK(gpu);
    *count = counter ? 999 : kind ? 2 : 17;
    return OK;
}
int nvmlDeviceGetRemappedRows(gpu_t *gpu, unsigned int *corr, unsigned int *unc, unsigned int *pending, unsigned int *failed) {
    if (is(gpu, "old")) return NO_PERMISSION;
    ASK(gpu);
    *corr = 5; *unc = 3; *pending = 0; *failed = 0;
    return OK;
}
int nvmlDeviceGetNvLinkState(gpu_t *gpu, unsigned int link, unsigned int *active) {
    ASK(gpu);
    if (link >= LINKS) return INVALID;
    *active = link != 3;
    return OK;
}
int nvmlDeviceGetFieldValues(gpu_t *gpu, int count, field_t *fields) {
    if (lost(gpu)) return LOST;
    for (int i = 0; i < count; i++) {
        fields[i].ret = is(gpu, "bare") || fields[i].field == 160 ? NOT_SUPPORTED : OK;
        int recovery = fields[i].field == 230; /* NVML_FI_DEV_GET_GPU_RECOVERY_ACTION: since driver 570 */
        if (recovery && is(gpu, "old")) fields[i].ret = NOT_SUPPORTED;
        fields[i].type = fields[i].field == 38 || recovery ? 1 : 3;
        if (fields[i].type == 1) { fields[i].value.ull = ~0ULL; fields[i].value.ui = recovery ? 1 : 5; }
        else fields[i].value.ull = fields[i].field;
    }
    return OK;
}
int nvmlDeviceGetComputeRunningProcesses_v2(gpu_t *gpu, unsigned int *count, process_t *out) {
    ASK(gpu);
    const char *pid = getenv("FAKE_NVML_PID");
    if (!pid) { *count = 0; return OK; }
    if (*count < 2) { *count = 2; return TOO_SMALL; }
    *count = 2;
    out[0] = (process_t){ (unsigned)atoi(pid), 59ULL << 30, 0xFFFFFFFF, 0xFFFFFFFF };
    out[1] = (process_t){ 4194305, ~0ULL, 0xFFFFFFFF, 0xFFFFFFFF }; /* above the kernel's highest pid; memory not available */
    return OK;
}
int nvmlDeviceGetComputeRunningProcesses_v3(gpu_t *gpu, unsigned int *count, process_t *out) {
    return is(gpu, "old") ? NO_FUNCTION : nvmlDeviceGetComputeRunningProcesses_v2(gpu, count, out);
}
int nvmlEventSetCreate(set_t **set) { *set = calloc(1, sizeof **set); return *set ? OK : UNKNOWN; }
int nvmlEventSetFree(set_t *set) { free(set); return OK; }
int nvmlDeviceRegisterEvents(gpu_t *gpu, unsigned long long types, set_t *set) {
    ASK(gpu);
    if (types != XID_EVENT) return INVALID;
    set->registered[set->count++] = gpu;
    return OK;
}
int nvmlEventSetWait_v2(set_t *set, event_t *event, unsigned int timeout_ms) {
    char path[512];
    for (unsigned int waited = 0; waited <= timeout_ms; waited += 10, usleep(10000)) {
        if (path_of(path, sizeof path, "refuse-wait", -1)) return UNKNOWN;
        for (int i = 0; i < set->count; i++) {
            if (!path_of(path, sizeof path, "xid", set->registered[i]->index)) continue;
            FILE *file = fopen(path, "r");
            unsigned long long xid = 0;
            int read = file ? fscanf(file, "%llu", &xid) : 0;
            if (file) fclose(file);
            if (read != 1) continue;
            unlink(path);
            *event = (event_t){ set->registered[i], XID_EVENT, xid, 0xFFFFFFFF, 0xFFFFFFFF };
            return OK;
        }
    }
    return TIMEOUT;
}
