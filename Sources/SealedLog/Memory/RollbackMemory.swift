import LinuxSystem
import Sealing

/// What this machine remembers of a vault, outside the vault; Format.md, "The rollback memory".
///
/// `<vault id>.seen` holds the newest position that was read or written here, `<hash of the path>.path` the id of the
/// vault last opened there and the mark of the file whose name is known to be durable, `<vault id>.upkeep` why the last
/// compaction failed. All are authenticated under the vault's own subkey. What is torn or missing counts as no memory:
/// losing it is never an alarm. What is there and cannot be used is told.
struct RollbackMemory: Sendable {
    let folder: MemoryFolder
    let keys: KeyRing
    let vaultID: [UInt8]
    let path: String
    let notices: NoticeBoard

    private static let seenMagic: [UInt8] = Array("vltseen1".utf8)
    static let codeSize = 32
    /// Of `.seen` and `.path`, in bytes.
    static let fileSize = 88

    private var seenName: String { "\(Hexadecimal.string(of: vaultID)).seen" }

    /// How far a vault had come.
    struct Seen: Hashable, Sendable {
        let position: LogPosition
        /// Whether its writer has flushed it. A reader that flushes what it gives out cannot know that: after a flush
        /// that failed, Linux takes for clean what never reached the disk.
        let isFlushedByWriter: Bool
    }

    /// The newest position that is remembered; nil without memory.
    func seen() -> Seen? {
        read(seenName).flatMap(parseSeen)
    }

    /// Why a part of the memory, the first that is met, cannot be read or written. What is not there is no problem.
    func problem() -> Notice? {
        for name in [seenName, pathName, upkeepName] {
            do {
                if let refusal = try folder.read(name)?.refusal { return .memoryUnusable(refusal.reason) }
            } catch { return .memoryUnusable(error.reason) }
        }
        return nil
    }

    private func parseSeen(_ bytes: [UInt8]) -> Seen? {
        guard let body = authentic(bytes, magic: RollbackMemory.seenMagic, context: [], size: RollbackMemory.fileSize)
        else { return nil }
        var reader = ByteReader(body)
        guard let id = try? reader.array(Header.identifierSize), id == vaultID,
            let sequence: UInt64 = try? reader.integer(),
            let authenticator = try? reader.authenticator(), let isFlushed: UInt64 = try? reader.integer()
        else { return nil }
        return Seen(
            position: LogPosition(sequence: sequence, authenticator: authenticator), isFlushedByWriter: isFlushed == 1)
    }

    /// Remembers a moment, if it is newer than the one remembered, or if more is known of it.
    ///
    /// - Parameters:
    ///   - isFlushed: whether its writer has flushed it.
    ///   - isForced: also if it is older: the person has accepted the vault as it is.
    func remember(
        _ position: LogPosition, isFlushedByWriter isFlushed: Bool = true, isForced: Bool = false
    ) {
        var body = ByteWriter(reserving: 80)
        body.append(vaultID)
        body.integer(position.sequence)
        body.authenticator(position.authenticator)
        body.integer(UInt64(isFlushed ? 1 : 0))
        update(seenName, magic: RollbackMemory.seenMagic, context: [], body: body.bytes) { old in
            guard !isForced, let old = parseSeen(old) else { return true }
            return old.position.sequence < position.sequence
                || (old.position == position && isFlushed && !old.isFlushedByWriter)
        }
    }
}

// MARK: - Authenticated files

extension RollbackMemory {
    /// The bytes of a file; nil if there is none, or if it cannot be read. Whether it can be read and written is told.
    func read(_ name: String) -> [UInt8]? {
        do {
            let file = try folder.read(name)
            if let refusal = file?.refusal { notices.post(.memoryUnusable(refusal.reason)) }
            return file?.bytes
        } catch {
            notices.post(.memoryUnusable(error.reason))
            return nil
        }
    }

    /// Writes a file. Where that is not possible it is told: it fails nothing, but an older vault may pass unnoticed
    /// then.
    func update(
        _ name: String, magic: [UInt8], context: [UInt8], body: [UInt8], isNeeded: ([UInt8]) -> Bool = { _ in true }
    ) {
        var bytes = magic + body
        do { bytes += try code(of: bytes, context: context) } catch { return }
        do { try folder.update(name, to: bytes, isNeeded: isNeeded) } catch {
            notices.post(.memoryUnusable(error.reason))
        }
    }

    private func code(of bytes: [UInt8], context: [UInt8]) throws(LogError) -> [UInt8] {
        try (bytes + context).withRawBytes { (bytes) throws(LogError) in try keys.authenticate(bytes, for: .memory) }
    }

    /// What stands between the magic and the code, if both hold.
    ///
    /// - Parameter size: of the file. What follows was there before: files are written in place.
    func authentic(_ bytes: [UInt8], magic: [UInt8], context: [UInt8], size: Int) -> [UInt8]? {
        guard bytes.count >= size, bytes.starts(with: magic) else { return nil }
        let checked = Array(bytes[..<(size - RollbackMemory.codeSize)])
        guard let code = try? code(of: checked, context: context), bytes[checked.count..<size].elementsEqual(code)
        else { return nil }
        return Array(checked.dropFirst(magic.count))
    }
}
