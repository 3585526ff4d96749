private import CSodium
private import Glibc
import LinuxSystem

/// Guarded memory that the opened values of a process share. Pages of its own for each would cost 8 to 12 system calls,
/// 23 µs, and soon the limit of locked memory.
///
/// A region is allocated as a key is: between inaccessible pages, locked, left out of core dumps. Within it, a block
/// has a canary on each side, which is checked when the block is freed. Free memory is all zeros.
struct SecretArena: ~Copyable {
    /// Each thread takes from one of these. In a single one, a hundred threads that set values queued up: Swift's mutex
    /// is handed over to a thread that has to be woken first.
    private static let all = InlineArray<16, Mutex<SecretArena>> { Mutex(SecretArena($0)) }

    /// The largest capacity of a block in bytes. What is larger gets pages of its own.
    static let largestCapacity = 4_096

    /// A process that opens one value needs no more.
    private static let firstRegion = 8 << 10
    private static let largestRegion = 256 << 10

    /// Not a pointer, which could not leave the lock.
    struct Block {
        let address: UInt
        let location: Location
        let isLockedInMemory: Bool
    }

    /// The indices of a block's arena, and of its region therein.
    struct Location {
        let arena: Int
        let region: Int
    }

    /// nil in place of a region that was freed: indices stay.
    private var regions: [Region?] = []
    private var nextSize = SecretArena.firstRegion
    private let index: Int

    private init(_ index: Int) { self.index = index }

    /// Returns a block of zeros; nil if the system has no memory. Its capacity is a multiple of 16.
    static func allocate(_ capacity: Int) -> Block? {
        // The number of a thread is the address of a page or near to it.
        all[Int(truncatingIfNeeded: pthread_self() >> 12) & (all.count - 1)].withLock { $0.allocate(capacity) }
    }

    /// Wipes a block, and ends the process if something was written beside it.
    static func free(_ address: UInt, _ capacity: Int, at location: Location) {
        all[location.arena].withLock { $0.free(address, capacity, region: location.region) }
    }

    private mutating func allocate(_ capacity: Int) -> Block? {
        let units = SecretArena.units(capacity)
        for index in regions.indices {
            if let start = regions[index]?.take(units) { return block(index, start, capacity) }
        }
        guard let new = Region(size: nextSize) else { return nil }
        nextSize = min(nextSize * 2, SecretArena.largestRegion)
        let index = regions.firstIndex { $0 == nil } ?? regions.count
        if index == regions.count { regions.append(nil) }
        regions[index] = new
        return regions[index]?.take(units).flatMap { block(index, $0, capacity) }
    }

    private func block(_ region: Int, _ start: Int, _ capacity: Int) -> Block? {
        let location = Location(arena: index, region: region)
        guard let region = regions[region] else { return nil }
        let front = region.base + start * Region.unit
        front.storeBytes(of: SecretArena.canary, as: (UInt64, UInt64).self)
        (front + SecretArena.canarySize + capacity).storeBytes(of: SecretArena.canary, as: (UInt64, UInt64).self)
        return Block(
            address: UInt(bitPattern: front + SecretArena.canarySize), location: location, isLockedInMemory: region.isLocked)
    }

    private mutating func free(_ address: UInt, _ capacity: Int, region index: Int) {
        guard let base = regions[index]?.base, let data = UnsafeMutableRawPointer(bitPattern: address) else { return }
        let front = data - SecretArena.canarySize
        // As sodium_free does: memory that was overwritten is trusted no more.
        precondition(holds(front) && holds(data + capacity))
        sodium_memzero(front, capacity + 2 * SecretArena.canarySize)
        regions[index]?.giveBack((front - base) / Region.unit, SecretArena.units(capacity))
        // One that is empty is kept for the next value.
        guard regions[index]?.isEmpty == true, regions.count(where: { $0?.isEmpty == true }) > 1 else { return }
        sodium_free(base)
        regions[index] = nil
    }

    private func holds(_ pointer: UnsafeMutableRawPointer) -> Bool {
        pointer.loadUnaligned(as: (UInt64, UInt64).self) == SecretArena.canary
    }

    private static let canary = {
        var canary: (UInt64, UInt64) = (0, 0)
        withUnsafeMutableBytes(of: &canary) { RandomBytes.fill($0) }
        return canary
    }()

    private static let canarySize = 16

    private static func units(_ capacity: Int) -> Int {
        (capacity + 2 * canarySize + Region.unit - 1) / Region.unit
    }
}

/// A piece of guarded memory, and which of its units of 64 bytes are free.
private struct Region {
    static let unit = 64

    let base: UnsafeMutableRawPointer
    let isLocked: Bool
    private let units: Int
    /// In ascending order, none next to another.
    private var free: [Range<Int>]

    /// - Parameter size: with what libsodium puts in front, in whole pages.
    init?(size: Int) {
        let size = size - Region.unit
        guard let base = sodium_malloc(size) else { return nil }
        self.base = base
        // sodium_malloc locks the pages but does not report a failure. A second call does.
        isLocked = sodium_mlock(base, size) == 0
        // The fresh memory is filled with 0xdb.
        base.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        units = size / Region.unit
        free = [0..<units]
    }

    var isEmpty: Bool { free.first?.count == units }

    /// Takes the first free units that are enough, and returns the first one's index.
    mutating func take(_ count: Int) -> Int? {
        guard let index = free.firstIndex(where: { $0.count >= count }) else { return nil }
        let start = free[index].lowerBound
        if free[index].count == count {
            free.remove(at: index)
        } else {
            free[index] = start + count..<free[index].upperBound
        }
        return start
    }

    mutating func giveBack(_ start: Int, _ count: Int) {
        var freed = start..<start + count
        var index = free.firstIndex { $0.lowerBound > start } ?? free.count
        if index < free.count, free[index].lowerBound == freed.upperBound {
            freed = freed.lowerBound..<free.remove(at: index).upperBound
        }
        if index > 0, free[index - 1].upperBound == freed.lowerBound {
            index -= 1
            freed = free.remove(at: index).lowerBound..<freed.upperBound
        }
        free.insert(freed, at: index)
    }
}
