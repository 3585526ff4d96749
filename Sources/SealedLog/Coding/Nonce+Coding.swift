import Sealing

extension ByteReader {
    mutating func nonce() throws(Malformed) -> Nonce {
        try withBytes(Nonce.size) { Nonce($0) }
    }
}

extension ByteWriter {
    mutating func nonce(_ nonce: Nonce) {
        nonce.withUnsafeBytes { append($0) }
    }
}
