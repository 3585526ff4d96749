// swift-tools-version: 6.2
import PackageDescription

var settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]
// Another compiler than ours may know other warnings. So they are errors where the environment asks for it, as
// Tools/test does, and not in the build of a package that depends on this one.
if Context.environment["VAULT_WARNINGS_AS_ERRORS"] == "1" { settings.append(.treatAllWarnings(as: .error)) }

let package = Package(
    name: "vault",
    products: [
        .library(name: "Vault", targets: ["Vault"]),
        .library(name: "PlainStores", targets: ["PlainStores"]),
        .library(name: "VaultShared", targets: ["VaultShared"]),
        .library(name: "VaultAccount", targets: ["VaultAccount"]),
        .library(name: "VaultTesting", targets: ["VaultTesting"]),
        .executable(name: "vault", targets: ["VaultExecutable"]),
        .executable(name: "vault-shared", targets: ["VaultSharedExecutable"]),
    ],
    targets: [
        .target(name: "CLinux"),
        .target(name: "LinuxSystem", dependencies: ["CLinux"], swiftSettings: settings),
        .systemLibrary(name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
        .target(name: "Sealing", dependencies: ["CSodium", "LinuxSystem"], swiftSettings: settings),
        .target(name: "Age", dependencies: ["LinuxSystem", "Sealing"], swiftSettings: settings),
        .target(name: "SealedFormat", dependencies: ["LinuxSystem", "Sealing"], swiftSettings: settings),
        .target(name: "SealedLog", dependencies: ["LinuxSystem", "SealedFormat", "Sealing"], swiftSettings: settings),
        .systemLibrary(name: "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
        .target(name: "PropertyList", dependencies: ["CExpat"], swiftSettings: settings),
        .target(
            name: "PlainStores", dependencies: ["CLinux", "LinuxSystem", "PropertyList"], swiftSettings: settings),
        .target(
            name: "Vault",
            dependencies: ["Age", "CLinux", "LinuxSystem", "PlainStores", "SealedFormat", "SealedLog", "Sealing"],
            swiftSettings: settings),
        .systemLibrary(name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .target(
            name: "VaultShared",
            dependencies: ["CPostgres", "Formats", "LinuxSystem", "SealedFormat", "SealedLog", "Sealing", "Vault"],
            swiftSettings: settings),
        .target(name: "Formats", dependencies: ["LinuxSystem", "PropertyList", "Sealing"], swiftSettings: settings),
        .systemLibrary(name: "CNettle", pkgConfig: "nettle", providers: [.apt(["nettle-dev"])]),
        .target(
            name: "OneTimeCode", dependencies: ["CNettle", "Formats", "LinuxSystem", "Sealing"],
            swiftSettings: settings),
        .target(name: "VaultAccount", dependencies: ["Vault"], packageAccess: false, swiftSettings: settings),
        .target(name: "CVaultTesting", dependencies: ["CLinux"]),
        .target(
            name: "VaultTesting", dependencies: ["CVaultTesting", "LinuxSystem", "Vault"],
            swiftSettings: settings),
        .target(name: "CVaultCommand"),
        .target(
            name: "VaultCommand",
            dependencies: [
                "Age", "CLinux", "CVaultCommand", "Formats", "LinuxSystem", "OneTimeCode", "SealedFormat", "SealedLog",
                "Sealing",
                "Vault",
            ],
            swiftSettings: settings),
        .executableTarget(name: "VaultExecutable", dependencies: ["VaultCommand"], swiftSettings: settings),
        .executableTarget(
            name: "VaultSharedExecutable", dependencies: ["Vault", "VaultCommand", "VaultShared"],
            swiftSettings: settings),
        .executableTarget(
            name: "VaultBenchmark", dependencies: ["Vault"], path: "Tools/Benchmark", exclude: ["c", "README.md"],
            swiftSettings: settings),
        .executableTarget(
            name: "VaultExample", dependencies: ["Vault"], path: "Tools/Example", packageAccess: false,
            swiftSettings: settings),
        .executableTarget(
            name: "VaultSharedExample", dependencies: ["Vault", "VaultShared"], path: "Tools/SharedExample",
            packageAccess: false, swiftSettings: settings),
        .executableTarget(
            name: "AccountExample", dependencies: ["Vault", "VaultAccount"], path: "Tools/AccountExample",
            exclude: ["login-server.py"], swiftSettings: settings),
        .systemLibrary(name: "CTestSupport", path: "Tests/CTestSupport"),
        .target(name: "CSimulator", path: "Tests/CSimulator"),
        .executableTarget(
            name: "VaultSimulator",
            dependencies: [
                "CPostgres", "CSimulator", "CSodium", "LinuxSystem", "SealedFormat", "SealedLog", "Sealing",
                "TestSupport", "Vault",
                "VaultShared",
            ],
            path: "Tests/Simulator", swiftSettings: settings),
        .target(
            name: "TestSupport",
            dependencies: [
                "CTestSupport", "LinuxSystem", "PlainStores", "PropertyList", "SealedFormat", "SealedLog", "Sealing",
                "VaultTesting",
            ],
            path: "Tests/TestSupport", resources: [.copy("KeyedArchives")], swiftSettings: settings),
        .systemLibrary(name: "CFuzzer", path: "Tests/Fuzzing/CFuzzer"),
        .target(
            name: "FuzzTargets",
            dependencies: [
                "Age", "Formats", "LinuxSystem", "OneTimeCode", "PropertyList", "SealedFormat", "SealedLog", "Sealing",
                "TestSupport",
                "Vault", "VaultAccount",
            ],
            path: "Tests/Fuzzing/Targets", swiftSettings: settings),
        .executableTarget(
            name: "VaultFuzz", dependencies: ["CFuzzer", "FuzzTargets"], path: "Tests/Fuzzing/Main",
            swiftSettings: settings),
        .testTarget(
            name: "FuzzCorpusTests", dependencies: ["FuzzTargets", "VaultTesting"], swiftSettings: settings),
        .testTarget(
            name: "LinuxSystemTests", dependencies: ["CTestSupport", "LinuxSystem", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "SealingTests",
            dependencies: ["CTestSupport", "LinuxSystem", "Sealing", "TestSupport", "VaultTesting"],
            resources: [.copy("Vectors")], swiftSettings: settings),
        .testTarget(
            name: "AgeTests", dependencies: ["Age", "LinuxSystem", "Sealing", "TestSupport"],
            resources: [.copy("Vectors"), .copy("Plugins")], swiftSettings: settings),
        .testTarget(
            name: "OneTimeCodeTests", dependencies: ["OneTimeCode", "Sealing", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "FormatsTests", dependencies: ["Formats", "Sealing", "TestSupport"], swiftSettings: settings),
        .testTarget(
            name: "SealedFormatTests",
            dependencies: ["CTestSupport", "LinuxSystem", "SealedFormat", "Sealing", "TestSupport", "VaultTesting"],
            swiftSettings: settings),
        .testTarget(
            name: "SealedLogTests",
            dependencies: ["LinuxSystem", "SealedFormat", "SealedLog", "Sealing", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "PropertyListTests", dependencies: ["PropertyList", "TestSupport"],
            resources: [.copy("Fixtures")], swiftSettings: settings),
        .testTarget(
            name: "PlainStoresTests",
            dependencies: [
                "CTestSupport", "LinuxSystem", "PlainStores", "PropertyList", "TestSupport", "VaultTesting",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "VaultTests",
            dependencies: [
                "CTestSupport", "LinuxSystem", "PlainStores", "SealedFormat", "SealedLog", "Sealing", "TestSupport",
                "Vault",
                "VaultTesting",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "VaultTestingTests",
            dependencies: [
                "LinuxSystem", "SealedFormat", "SealedLog", "Sealing", "TestSupport", "Vault", "VaultTesting",
            ],
            swiftSettings: settings),
        // What README and the articles show, as their readers see the package: by its public symbols alone.
        .testTarget(
            name: "SnippetTests", dependencies: ["Vault", "VaultShared", "VaultTesting"], packageAccess: false,
            swiftSettings: settings),
        .testTarget(
            name: "VaultAccountTests",
            dependencies: [
                "LinuxSystem", "SealedFormat", "SealedLog", "Sealing", "TestSupport", "Vault", "VaultAccount",
                "VaultTesting",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "VaultSharedTests",
            dependencies: [
                "LinuxSystem", "SealedFormat", "SealedLog", "Sealing", "TestSupport", "Vault", "VaultShared",
                "VaultTesting",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "VaultCommandTests",
            dependencies: [
                "CLinux", "LinuxSystem", "SealedFormat", "SealedLog", "Sealing", "TestSupport", "Vault", "VaultCommand",
                "VaultTesting",
            ],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)

let sanitizer = Context.environment["VAULT_SANITIZER"]

// The optimizer takes longer over the tests and programs themselves than it saves in a run.
if sanitizer == "address" {
    for target in package.targets where target.type == .test || target.type == .executable {
        target.swiftSettings?.append(.unsafeFlags(["-Onone"]))
    }
}

// Test files, and whole folders of test targets, that the environment names are not built.
for path in (Context.environment["VAULT_EXCLUDED_TESTS"] ?? "").split(whereSeparator: \.isWhitespace) {
    let parts = path.split(separator: "/", maxSplits: 2).map(String.init)
    if parts.count == 2 {
        package.targets.removeAll { $0.name == parts[1] }
    } else {
        package.targets.first { $0.name == parts[1] }?.exclude.append(parts[2])
    }
}

// A sanitizer looks at tests; what none of them needs is not built for it.
if sanitizer != nil {
    var needed: Set<String> = []
    var found = package.targets.filter { $0.type == .test }.map(\.name)
    while let name = found.popLast() {
        guard needed.insert(name).inserted else { continue }
        let target = package.targets.first { $0.name == name }
        for case .byNameItem(let dependency, _) in target?.dependencies ?? [] { found.append(dependency) }
    }
    package.products = []
    package.targets.removeAll { !needed.contains($0.name) }
}
