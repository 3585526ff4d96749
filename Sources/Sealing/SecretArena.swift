private import CSodium
private import Glibc
import LinuxSystem

/// Guarded memory that is shared by the values that a process has opened. Separate pages for each value would require 8
/// to 12 system calls, which take 23 µs, and would soon exceed the limit on locked memory.
///
/// Like a key, a region is placed between guard pages, locked, and excluded from core dumps. Each block in
/// it has a canary on both sides, which is checked when the block is freed. Free memory contains only zeros.
struct SecretArena: ~Copyable {
    /// Several arenas, so that threads rarely wait. With only one, a hundred threads setting values formed a queue,
    /// because a Swift mutex passes directly to a waiting thread, which must first be woken.
    private static let all = InlineArray<16, Mutex<SecretArena>> { Mutex(SecretArena($0)) }

    /// The maximum capacity of a block in bytes. Larger secrets get separate pages.
    static let largestCapacity = 4_096

    /// The size of the first region in bytes, which is enough for a process that opens one value.
    private static let firstRegion = 8 << 10
    private static let largestRegion = 256 << 10

    /// A block of guarded memory. The address is an integer, since a pointer could not leave the mutex's closure.
    struct Block {
        let address: UInt
        let location: Location
        let isLockedInMemory: Bool
    }

    /// The indices of a block's arena and of its region in that arena.
    struct Location {
        let arena: Int
        let region: Int
    }

    /// The regions of guarded memory. A freed region is replaced by nil, so that the indices of the others stay valid.
    private var regions: [Region?] = []
    private var nextSize = SecretArena.firstRegion
    private let index: Int

    private init(_ index: Int) { self.index = index }

    /// Returns a block of zeros; nil if no memory can be allocated. The capacity must be a multiple of 16.
    static func allocate(_ capacity: Int) -> Block? {
        // A thread's ID is an address near the start of a page, so its low 12 bits, which hardly differ, are not used.
        all[Int(truncatingIfNeeded: pthread_self() >> 12) & (all.count - 1)].withLock { $0.allocate(capacity) }
    }

    /// Wipes and frees a block. Aborts the process if one of the block's canaries has been overwritten.
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
            address: UInt(bitPattern: front + SecretArena.canarySize), location: location,
            isLockedInMemory: region.isLocked)
    }

    private mutating func free(_ address: UInt, _ capacity: Int, region index: Int) {
        guard let base = regions[index]?.base, let data = UnsafeMutableRawPointer(bitPattern: address) else { return }
        let front = data - SecretArena.canarySize
        // This traps, like sodium_free, because memory cannot be trusted after an overflow.
        precondition(holds(front) && holds(data + capacity))
        sodium_memzero(front, capacity + 2 * SecretArena.canarySize)
        regions[index]?.giveBack((front - base) / Region.unit, SecretArena.units(capacity))
        // One empty region is kept, so that the next value needs no new region.
        guard regions[index]?.isEmpty == true, regions.count(where: { $0?.isEmpty == true }) > 1 else { return }
        sodium_free(base)
        regions[index] = nil
    }

    private func holds(_ address: UnsafeMutableRawPointer) -> Bool {
        address.loadUnaligned(as: (UInt64, UInt64).self) == SecretArena.canary
    }

    private static let canary = {
        var canary: (UInt64, UInt64) = (0, 0)
        withUnsafeMutableBytes(of: &canary) { RandomBytes.fill($0) }
        return canary
    }()

    private static let canarySize = 16

    private static func units(_ capacity: Int) -> Int { (capacity + 2 * canarySize + Region.unit - 1) / Region.unit }
}

/// A region of guarded memory, with the free ranges of its 64-byte units.
private struct Region {
    static let unit = 64

    let base: UnsafeMutableRawPointer
    let isLocked: Bool
    private let units: Int
    /// The free ranges in ascending order. No two ranges are adjacent.
    private var free: [Range<Int>]

    /// Allocates a region. `size` is a multiple of the page size, and includes the bytes that libsodium adds in front.
    init?(size: Int) {
        let size = size - Region.unit
        guard let base = sodium_malloc(size) else { return nil }
        self.base = base
        // sodium_malloc does not report a failure to lock the pages, but a separate call to sodium_mlock does.
        isLocked = sodium_mlock(base, size) == 0
        // sodium_malloc fills new memory with 0xdb instead of zeros.
        base.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        units = size / Region.unit
        free = [0..<units]
    }

    var isEmpty: Bool { free.first?.count == units }

    /// Allocates `count` units from the first free range that is large enough. Returns the first unit's index, or nil.
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
