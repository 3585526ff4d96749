import Glibc
import LinuxSystem
import TestSupport
import Testing

@testable import VaultShared

/// libpq's end is a socket of the test's own, and so is the server.
@Suite("The way between libpq and a server")
struct WireTests {
    private static let room = 256 << 10

    /// The socket that libpq has, and the server's.
    private struct Ends: ~Copyable {
        var libpq: FileDescriptor?
        var server: FileDescriptor?
        let libpqNumber: Int32
        let serverNumber: Int32

        init() {
            var ends: [Int32] = [-1, -1]
            socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
            libpq = FileDescriptor(owning: ends[0])
            server = FileDescriptor(owning: ends[1])
            libpqNumber = ends[0]
            serverNumber = ends[1]
        }
    }

    /// Writes as much as the socket takes.
    private func write(_ count: Int, to socket: Int32) -> Int {
        let bytes = [UInt8](repeating: 7, count: count)
        return max(0, send(socket, bytes, count, Int32(MSG_DONTWAIT)))
    }

    private func read(_ socket: Int32) -> Int {
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        return recv(socket, &bytes, bytes.count, Int32(MSG_DONTWAIT))
    }

    /// Carries bytes to libpq, which takes them. Returns how many it was given, and the most at a time.
    private func carry(_ count: Int, _ wire: inout Wire, from server: Int32, to libpq: Int32) throws -> (Int, Int) {
        var sent = 0
        var taken = 0
        var most = 0
        while taken < count {
            sent += write(min(count - sent, 50_000), to: server)
            try wire.carryIn()
            let piece = read(libpq)
            taken = taken + max(0, piece)
            most = max(most, piece)
        }
        return (taken, most)
    }

    @Test(arguments: [0, 1, 70_000]) func bringsWhatWasAskedForAndNoMore(_ asked: Int) throws {
        for excess in [-1, 0, 1] {
            let ends = Ends()
            var wire = try Wire(replacing: ends.libpqNumber)
            wire.allow(UInt64(asked))
            let count = WireTests.room + 2 * asked + excess
            if excess <= 0 {
                #expect(try carry(count, &wire, from: ends.serverNumber, to: ends.libpqNumber).0 == count)
                // Of the next question.
                wire.allow(0)
                #expect(
                    try carry(WireTests.room, &wire, from: ends.serverNumber, to: ends.libpqNumber).0 == WireTests.room
                )
            } else {
                do {
                    _ = try carry(count, &wire, from: ends.serverNumber, to: ends.libpqNumber)
                    Issue.record("the server may send more")
                } catch {
                    #expect((error as? PostgresError)?.reason == .malformed)
                }
            }
        }
    }

    @Test func givesOnePieceAtATime() throws {
        let ends = Ends()
        var wire = try Wire(replacing: ends.libpqNumber)
        let sent = write(200_000, to: ends.serverNumber)
        try #require(sent > 150_000)
        try wire.carryIn()
        #expect(read(ends.libpqNumber) == 64 << 10)
    }

    @Test func sendsAllOnceTheServerTakesIt() throws {
        let ends = Ends()
        var wire = try Wire(replacing: ends.libpqNumber)
        var isSent = wire.isSent
        #expect(isSent)
        // More than the server's end has room for.
        var written = 0
        var received = 0
        for _ in 0..<40 {
            written += write(50_000, to: ends.libpqNumber)
            wire.carryOut()
        }
        isSent = wire.isSent
        #expect(!isSent)
        while received < written {
            let count = read(ends.serverNumber)
            try #require(count > 0)
            received += count
            wire.carryOut()
        }
        isSent = wire.isSent
        #expect(received == written && isSent)
    }

    @Test func tellsLibpqThatTheConnectionHasEnded() throws {
        var ends = Ends()
        var wire = try Wire(replacing: ends.libpqNumber)
        try wire.carryIn()
        #expect(read(ends.libpqNumber) == -1 && errno == EAGAIN, "nothing has come, and nothing has ended")
        #expect(write(3, to: ends.serverNumber) == 3)
        ends.server = nil
        try wire.carryIn()
        #expect(read(ends.libpqNumber) == 3)
        try wire.carryIn()
        #expect(read(ends.libpqNumber) == 0)
    }

    /// Otherwise the server would wait for more bytes, and libpq for an answer.
    @Test func endsSendingIfLibpqsBytesCannotBeRead() throws {
        var ends = Ends()
        var wire = try Wire(replacing: ends.libpqNumber)
        #expect(write(3, to: ends.serverNumber) == 3)
        try wire.carryIn()
        wire.carryOut()
        #expect(read(ends.serverNumber) == -1 && errno == EAGAIN, "nothing has come, and nothing has ended")
        // A socket that is closed with bytes unread fails at its other end.
        ends.libpq = nil
        wire.carryOut()
        #expect(read(ends.serverNumber) == 0)
    }

    @Test func keepsLibpqsDescriptorOpenAndUsesItsNumber() throws {
        let ends = Ends()
        do {
            var wire = try Wire(replacing: ends.libpqNumber)
            #expect(write(5, to: ends.libpqNumber) == 5)
            #expect(read(ends.serverNumber) == -1, "it is not carried yet")
            wire.carryOut()
            #expect(read(ends.serverNumber) == 5)
            #expect(fcntl(ends.libpqNumber, F_GETFD) == FD_CLOEXEC)
        }
        #expect(read(ends.serverNumber) == 0, "the way has ended")
    }
}
