#include "CVaultShared.h"

// Defined by VaultShared: makes `Keychain(at:)` open vaults in databases.
void vault_shared_register(void);

__attribute__((constructor)) static void enable(void) {
    vault_shared_register();
}
