// What a program sees of the modules below when it imports Vault.

@_exported public import PropertyList
@_exported public import Sealing

// What upkeep takes and returns. Keychain has names of its own for them, as in Keychain.Information.
@_exported public import struct SealedLog.CompactionReport
@_exported public import struct SealedLog.LogInformation
@_exported public import struct SealedLog.LogKeySlot
@_exported public import struct SealedLog.SalvageReport
@_exported public import class SealedLog.UpkeepProgress
@_exported public import struct SealedLog.VerificationReport
