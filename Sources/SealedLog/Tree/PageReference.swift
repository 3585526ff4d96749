import Sealing

/// Where a sealed page lies, and the nonce that it opens under.
package struct PageReference: Hashable, Sendable {
    let offset: UInt64
    /// The sealed length, in bytes.
    let length: Int
    let nonce: Nonce
}

extension ByteReader {
    /// Place and length in units, nonce.
    mutating func pageReference() throws(Malformed) -> PageReference {
        let offset = try units()
        let length = try units()
        guard length > UInt64(SecretBox.tagSize), length <= UInt64(Limits.pageSize) else {
            throw Malformed("the length of a page")
        }
        return PageReference(offset: offset, length: Int(length), nonce: try nonce())
    }
}

extension ByteWriter {
    mutating func pageReference(_ reference: PageReference) {
        units(reference.offset)
        units(UInt64(reference.length))
        nonce(reference.nonce)
    }
}
