// swift-tools-version: 6.2
import PackageDescription

// A package of someone else's: it sees the public symbols alone. Tests/EndToEnd/test_outside.py builds and
// runs it, and its tests.
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
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
            ]),
        .executableTarget(
            name: "plain", dependencies: [.product(name: "PlainStores", package: "vault")],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
            ]),
        .testTarget(name: "OutsideTests", dependencies: [.product(name: "VaultTesting", package: "vault")]),
    ],
    swiftLanguageModes: [.v6]
)
