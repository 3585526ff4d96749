// The calls through which code depends on time and on other threads. In an executable that contains this file, a
// simulation answers them on threads that have entered it, and the C library on all other threads.
#pragma once
#include <stdint.h>

typedef struct {
    /// Returns the time of any clock in nanoseconds.
    int64_t (*_Nonnull now)(int32_t clock);
    void (*_Nonnull sleep)(int64_t nanoseconds);
    int32_t (*_Nonnull process)(void);
    void (*_Nonnull fillWithRandomBytes)(void *_Nonnull bytes, intptr_t count);
    /// Runs other threads for at least that long, while the calling one waits for files to change.
    void (*_Nonnull pause)(int64_t nanoseconds);
    /// Starts a thread in the process of the calling one; returns an error number if that fails.
    int32_t (*_Nonnull startThread)(void *_Nullable (*_Nonnull body)(void *_Nullable), void *_Nullable argument);
    /// Runs other threads, while the calling one waits for a mutex that one of them holds, or for a semaphore.
    void (*_Nonnull waitForMutex)(void);
    /// Called before the calling thread sends something to a server.
    void (*_Nonnull send)(int32_t socket);
    /// Called before the calling thread reads what a server has sent, whether or not it waited for it.
    void (*_Nonnull receive)(int32_t socket);
    /// Waits until a server's answer has arrived, or can be sent to, or the time is over. The events are those of
    /// poll(2).
    void (*_Nonnull waitForServer)(int32_t socket, int16_t events, int64_t nanoseconds);
    void (*_Nonnull close)(int32_t socket);
    /// Returns whether a new socket can connect to a server.
    int (*_Nonnull connect)(int32_t socket);
} vault_simulation_hooks;

void vault_simulation_install(vault_simulation_hooks hooks);

/// Moves the calling thread into the simulation or out of it. Returns whether it was in it.
int vault_simulation_enter(int isInside);
