// The calls through which code learns of time and other threads. An executable that contains this has them answered by
// a simulation on threads that have entered one, and by the C library on all others.
#pragma once
#include <stdint.h>

typedef struct {
    /// Returns nanoseconds, of whichever clock.
    int64_t (*_Nonnull now)(int32_t clock);
    void (*_Nonnull sleep)(int64_t nanoseconds);
    int32_t (*_Nonnull process)(void);
    void (*_Nonnull fillWithRandomBytes)(void *_Nonnull bytes, intptr_t count);
    /// Lets other threads run, at least for that long: the calling one waits for files to change.
    void (*_Nonnull pause)(int64_t nanoseconds);
    /// Starts a thread in the calling one's process; an error number if that fails.
    int32_t (*_Nonnull startThread)(void *_Nullable (*_Nonnull body)(void *_Nullable), void *_Nullable argument);
    /// Lets other threads run: the calling one waits for a mutex that one of them holds, or for a semaphore.
    void (*_Nonnull waitForMutex)(void);
    /// Called before the calling thread sends something to a server.
    void (*_Nonnull send)(int32_t socket);
    /// Called before the calling thread reads what a server has sent, whether it waited for it or not.
    void (*_Nonnull receive)(int32_t socket);
    /// Waits until a server's answer is there, or can be sent to, or the time is over. Events are those of poll(2).
    void (*_Nonnull waitForServer)(int32_t socket, int16_t events, int64_t nanoseconds);
    void (*_Nonnull close)(int32_t socket);
    /// Whether a server can be connected to by a new socket.
    int (*_Nonnull connect)(int32_t socket);
} vault_simulation_hooks;

void vault_simulation_install(vault_simulation_hooks hooks);

/// Puts the calling thread into the simulation, or takes it out. Returns whether it was in it.
int vault_simulation_enter(int isInside);
