import LinuxSystem
import Sealing

// To create and free guarded memory costs 25 µs, to open a small value half a microsecond. So values that are read in
// place, or one after the other, are opened into guarded memory that is kept.

/// Guarded memory for an opened value, and room for the box that it comes from.
///
/// Sendable although unchecked: it belongs to one reader at a time, which takes it from the pool and puts it back.
package final class Scratch: @unchecked Sendable {
    static let size = 4_096

    // There is one reader. Checks of exclusive access would cost a read 4 % more instructions (callgrind, 10,000
    // entries).
    @exclusivity(unchecked) private var box: [UInt8]
    @exclusivity(unchecked) private var memory: SecretBytes
    /// The length of the value.
    @exclusivity(unchecked) private var length = 0

    var size: Int { memory.count }

    /// - Parameter size: of the largest value with its padding.
    init(_ size: Int) throws(LogError) {
        memory = try translated(SecretBytes(zeros: size))
        box = [UInt8](repeating: 0, count: size + SecretBox.tagSize)
    }

    func hasRoom(for version: StoredVersion) -> Bool { version.boxLength <= box.count }

    func take(_ version: StoredVersion, from view: inout LogView) throws(LogError) {
        try box.withMutableRawBytes { (box) throws(LogError) in
            try view.copy(version, into: UnsafeMutableRawBufferPointer(rebasing: box[..<version.boxLength]))
        }
    }

    /// Opens the box that was taken.
    func open(_ version: StoredVersion, with keys: KeyRing) throws(LogError) {
        length = version.length
        try box.withRawBytes { (box) throws(LogError) in
            try keys.open(UnsafeRawBufferPointer(rebasing: box[..<version.boxLength]), version, into: &memory)
        }
    }

    package func withBytes<Result, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try memory.withUnsafeBytes { [length] (memory) throws(Failure) in
            try body(UnsafeRawBufferPointer(rebasing: memory[..<length]).bytes)
        }
    }

    func wipe() {
        let used = SecretBytes.paddedSize(length)
        memory.withUnsafeMutableBytes { Wiping.wipe(UnsafeMutableRawBufferPointer(rebasing: $0[..<used])) }
        length = 0
    }
}

extension SealedLog {
    /// Opens the value of a name into guarded memory, to be returned with ``putBack(_:)``; nil if it is absent.
    package func openInScratch(_ name: String) throws(LogError) -> Scratch? {
        let kept = scratch.withLock { $0.popLast() }
        let memory = if let kept { kept } else { try Scratch(Scratch.size) }
        var found: Scratch?
        defer { if found !== memory { putBack(memory) } }
        found = try certain { () throws(LogError) in
            // Not returned beside the memory: a tuple would be copied through its type's witnesses.
            var taken: StoredVersion?
            let found = try withValue(name) { (view, version) throws(LogError) in
                let memory = memory.hasRoom(for: version) ? memory : try Scratch(version.boxLength)
                try memory.take(version, from: &view)
                taken = version
                return memory
            }
            if let taken { try found?.open(taken, with: keys) }
            return found
        }
        return found
    }

    /// Wipes the memory, and keeps it for the next reader.
    package func putBack(_ memory: Scratch) {
        memory.wipe()
        scratch.withLock { kept in
            // A larger piece, for one large value, is not worth its locked pages.
            if kept.count < 16, memory.size == Scratch.size { kept.append(memory) }
        }
    }
}

/// Opens many values of a store, one after the other, into one piece of guarded memory.
struct ValueOpener: ~Copyable {
    private let store: any RecordStore
    private let keys: KeyRing
    private var memory: SecretBytes

    init(of store: any RecordStore, keys: KeyRing) throws(LogError) {
        (self.store, self.keys) = (store, keys)
        memory = try translated(SecretBytes(zeros: Scratch.size))
    }

    /// Opens a value and passes it to `body` with its padding, which must be zeros.
    mutating func open(
        _ version: StoredVersion, _ body: (UnsafeRawBufferPointer) throws(SealingError) -> Void = { _ in }
    ) throws(LogError) {
        let box = try store.bytes(at: version.offset, count: version.boxLength)
        let size = version.boxLength - SecretBox.tagSize
        if memory.paddedCapacity < size { memory = try translated(SecretBytes(zeros: size)) }
        try box.withRawBytes { (box) throws(LogError) in
            try keys.open(box, version, into: &memory) { (value) throws(SealingError) in
                guard value[version.length...].allSatisfy({ $0 == 0 }) else { throw SealingError(.forged) }
                try body(value)
            }
        }
    }
}
