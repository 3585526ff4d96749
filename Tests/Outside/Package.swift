// swift-tools-version: 6.2
import PackageDescription

var settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
]
// Deprecated symbols and other warnings of the public interface are errors in the tests.
if Context.environment["VAULT_WARNINGS_AS_ERRORS"] == "1" { settings.append(.treatAllWarnings(as: .error)) }

// A package of someone else's: it sees the public symbols alone. Tools/test builds it, and
// Tests/EndToEnd/test_outside.py runs it and its tests.
let package = Package(
    name: "outside",
    dependencies: [.package(name: "vault", path: "../..")],
    targets: [
        .executableTarget(
            name: "outside",
            dependencies: [
                .product(name: "Vault", package: "vault"), .product(name: "VaultAccount", package: "vault"),
                .product(name: "VaultShared", package: "vault"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "plain", dependencies: [.product(name: "PlainStores", package: "vault")], swiftSettings: settings),
        .testTarget(name: "OutsideTests", dependencies: [.product(name: "VaultTesting", package: "vault")]),
    ],
    swiftLanguageModes: [.v6]
)
