/* Shifts the wall clock of a process while it runs: LD_PRELOAD this, with SHIFTED_CLOCK naming a file that holds the shift in
 * whole seconds (an int64). The file is mapped: all processes that share it see a jump at their next look at the clock.
 * The monotonic clock stays as it is, as where an operator or NTP sets a host's clock. Waits of CPython end by that one.
 * Debian's libfaketime 0.9.10 cannot do this: with the monotonic clock left out, time.sleep fails with EINVAL (its issue 426). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const int64_t none;
static const volatile int64_t *shift;
static int (*real_gettime)(clockid_t, struct timespec *);

static void begin(void)
{
    const char *name = getenv("SHIFTED_CLOCK");
    int file = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
    void *held = file < 0 ? MAP_FAILED : mmap(NULL, sizeof *shift, PROT_READ, MAP_SHARED, file, 0);
    shift = held == MAP_FAILED ? &none : held;
    if (file >= 0)
        close(file);
    *(void **)&real_gettime = dlsym(RTLD_NEXT, "clock_gettime");
}

int clock_gettime(clockid_t which, struct timespec *now)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT; /* other libraries may ask before a constructor of ours has run */
    pthread_once(&once, begin);
    int failed = real_gettime(which, now);
    if (!failed && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE))
        now->tv_sec += *shift;
    return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec at;
    (void)zone; /* nobody gives one any more */
    clock_gettime(CLOCK_REALTIME, &at);
    *now = (struct timeval){at.tv_sec, at.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *kept)
{
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    return kept ? (*kept = at.tv_sec) : at.tv_sec;
}
