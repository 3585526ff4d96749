import Foundation
import Vault

private struct Limits: StoredAsCodable {
    var hosts: [String: Int]
    var until: Double?
}

/// Reads what the person has set with a type.
func typed() throws {
    print(try KeychainStorable<Int>("int").read() ?? 0, try KeychainStorable<UInt8>("int").read() ?? 0)
    print(try KeychainStorable<Bool>("bool").read() ?? false, try KeychainStorable<Double>("real").read() ?? 0)
    print(
        try KeychainStorable<String>("string").read() ?? "none", try KeychainStorable<Data>("data").read()?.count ?? 0)
    print(try KeychainStorable<Date>("date").read()?.timeIntervalSince1970 ?? 0)
    print(try KeychainStorable<[Double]>("array").read() ?? [])
    print(try KeychainStorable<Limits>("object").read()?.hosts ?? [:])
    print(try KeychainStorable<URL>("url").read()?.host() ?? "none")
    print(try KeychainStorable<UUID>("uuid").read()?.uuidString ?? "none")
}

/// Writes what the command shows as text.
func shown() throws {
    try KeychainStorable<Int>("int").write(-7, expires: Date(timeIntervalSince1970: 4_102_444_800))
    try KeychainStorable<Date>("date").write(Date(timeIntervalSince1970: 1_769_850_300.12))
    try KeychainStorable<Limits>("object").write(Limits(hosts: ["a": 1]))
    try KeychainStorable<[Data?]>("array").write([Data([1, 2]), nil])
}
