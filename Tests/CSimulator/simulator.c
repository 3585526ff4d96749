#define _GNU_SOURCE
#include "CSimulator.h"
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static vault_simulation_hooks hooks;
static __thread bool isSimulated;

void vault_simulation_install(vault_simulation_hooks new) { hooks = new; }
int vault_simulation_enter(int isInside) {
    int former = isSimulated;
    isSimulated = isInside;
    return former;
}

// The executable's symbols take precedence over those of the C library, for the Swift runtime too.
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int clock_gettime(clockid_t clock, struct timespec *time) {
    if (!isSimulated) return REAL(clock_gettime)(clock, time);
    int64_t now = hooks.now(clock);
    time->tv_sec = now / 1000000000;
    time->tv_nsec = now % 1000000000;
    return 0;
}

int usleep(useconds_t microseconds) {
    if (!isSimulated) return REAL(usleep)(microseconds);
    hooks.sleep((int64_t)microseconds * 1000);
    return 0;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
    if (!isSimulated) return REAL(pthread_create)(thread, attributes, body, argument);
    return hooks.startThread(body, argument);
}

// The kernel reports no events of a simulated file, so whatever follows one has to poll it.
int inotify_init1(int flags) {
    if (!isSimulated) return REAL(inotify_init1)(flags);
    errno = EMFILE;
    return -1;
}

static bool isSocket(int file) {
    int type;
    socklen_t size = sizeof type;
    return getsockopt(file, SOL_SOCKET, SO_TYPE, &type, &size) == 0;
}

// Returns whether a socket is connected to the server, or will be. libpq's end of a pair is connected to this process,
// and its peer has no name.
static bool leadsToServer(int file) {
    struct sockaddr_un address;
    socklen_t size = sizeof address;
    if (!isSocket(file)) return false;
    return getpeername(file, (struct sockaddr *)&address, &size) != 0 || size > offsetof(struct sockaddr_un, sun_path);
}

int poll(struct pollfd *files, nfds_t count, int milliseconds) {
    if (!isSimulated) return REAL(poll)(files, count, milliseconds);
    int64_t nanoseconds = (int64_t)milliseconds * 1000000;
    // libpq checks whether more bytes have arrived at its end.
    if (count == 1 && isSocket(files[0].fd) && !leadsToServer(files[0].fd)) return REAL(poll)(files, count, 0);
    if (count == 1 && isSocket(files[0].fd)) hooks.waitForServer(files[0].fd, files[0].events, nanoseconds);
    else hooks.pause(nanoseconds);
    return REAL(poll)(files, count, 0);
}

// The server itself is a real one.
ssize_t send(int socket, const void *bytes, size_t count, int flags) {
    if (isSimulated && leadsToServer(socket)) hooks.send(socket);
    return REAL(send)(socket, bytes, count, flags);
}

ssize_t recv(int socket, void *bytes, size_t count, int flags) {
    if (isSimulated && leadsToServer(socket)) hooks.receive(socket);
    return REAL(recv)(socket, bytes, count, flags);
}

int connect(int socket, __CONST_SOCKADDR_ARG address, socklen_t size) {
    if (!isSimulated || hooks.connect(socket)) return REAL(connect)(socket, address, size);
    errno = ECONNREFUSED;
    return -1;
}

int close(int file) {
    if (isSimulated && leadsToServer(file)) hooks.close(file);
    return REAL(close)(file);
}

// The socket to the server has another number from then on.
int dup3(int file, int number, int flags) {
    if (isSimulated && leadsToServer(number)) hooks.close(number);
    return REAL(dup3)(file, number, flags);
}

int sem_wait(sem_t *semaphore) {
    if (!isSimulated) return REAL(sem_wait)(semaphore);
    while (sem_trywait(semaphore) != 0) hooks.waitForMutex();
    return 0;
}

pid_t getpid(void) { return isSimulated ? hooks.process() : REAL(getpid)(); }

// Swift's mutex locks and unlocks its word by itself, and makes a system call only if another thread holds it. In a
// simulation one thread runs at a time, so it is enough to try again after others have run. The kernel never has a
// waiting thread, and never has to wake one.
static long lock(uint32_t *word) {
    uint32_t thread = (uint32_t)REAL(syscall)(SYS_gettid), none = 0;
    while (!__atomic_compare_exchange_n(word, &none, thread, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        none = 0;
        hooks.waitForMutex();
    }
    return 0;
}

long syscall(long number, ...) {
    va_list list;
    va_start(list, number);
    long words[6];
    for (int index = 0; index < 6; index++) words[index] = va_arg(list, long);
    va_end(list);
    if (isSimulated && number == SYS_futex && (words[1] & FUTEX_CMD_MASK) == FUTEX_LOCK_PI) return lock((uint32_t *)words[0]);
    if (isSimulated && number == SYS_getrandom) {
        hooks.fillWithRandomBytes((void *)words[0], words[1]);
        return words[1];
    }
    return REAL(syscall)(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}
