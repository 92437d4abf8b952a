// A clock that shows the time of the request, for templates that print the date. Python sets `shown`;
// until then it is the clock of the machine. Clocks that only measure go on.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

volatile long long shown = -1;

int clock_gettime(clockid_t clock, struct timespec * now) {
    if (clock == CLOCK_REALTIME && shown >= 0) {
        now->tv_sec = shown;
        now->tv_nsec = 0;
        return 0;
    }
    static int (*own)(clockid_t, struct timespec *);
    if (!own) {
        own = (int (*)(clockid_t, struct timespec *)) dlsym(RTLD_NEXT, "clock_gettime");
    }
    return own(clock, now);
}

time_t time(time_t * into) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (into) {
        *into = now.tv_sec;
    }
    return now.tv_sec;
}
