#include "CVaultShared.h"

// Of VaultShared: lets `Keychain(at:)` open a vault in a database.
void vault_shared_register(void);

__attribute__((constructor)) static void enable(void) {
    vault_shared_register();
}
