package import LinuxSystem
package import SealedLog
package import Sealing

/// Opens a vault with one key file, for the log's tests.
package struct KeyFileUnlocker: Unlocker {
    private let readKey: () throws(LogError) -> KeyFile
    private var isUsed = false

    package init(_ readKey: @escaping () throws(LogError) -> KeyFile) { self.readKey = readKey }

    package mutating func next(for vault: LockedVault) throws(LogError) -> Credential? {
        guard !isUsed else { return nil }
        isUsed = true
        return try .keyFile(readKey())
    }

    package mutating func restart() { isUsed = false }

    package var failure: LogError { LogError(.keyWrong) }

    package mutating func check(_ vault: UnlockedVault) {}

    package func remember(_ vault: UnlockedVault, behind flush: () throws(LogError) -> Void) {}
}

extension SealedLog {
    package static func open(
        _ path: String, options: Options, in files: any FileSystem, readKey: () throws(LogError) -> KeyFile
    ) throws(LogError) -> SealedLog {
        try withoutActuallyEscaping(readKey) { (readKey) throws(LogError) in
            var unlocker = KeyFileUnlocker(readKey)
            return try open(FileLocation(path, in: files), options: options, with: &unlocker)
        }
    }

    package static func create(
        _ path: String, key: consuming KeyFile, label: String, limits: KeyDerivation.StretchLimits = .recommended,
        history: KeptHistory = .none, options: Options, in files: any FileSystem
    ) throws(LogError) -> SealedLog {
        try create(
            FileLocation(path, in: files), secret: .keyFile(key), limits: limits, label: label, history: history,
            options: options)
    }

    package static func salvage(
        _ path: String, to target: String, key: consuming KeyFile, options: Options, in files: any FileSystem
    ) throws(LogError) -> SalvageReport {
        var unlocker = KeyFileUnlocker { () throws(LogError) in try key.copy() }
        return try salvage(
            FileLocation(path, in: files), to: FileLocation(target, in: files), with: &unlocker, options: options)
    }
}
