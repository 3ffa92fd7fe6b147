// swift-tools-version: 6.1

import PackageDescription

// A package of its own: what it has of the importer is the package's public products.
let package = Package(
    name: "client",
    dependencies: [
        .package(name: "importer", path: "../.."),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        .executableTarget(name: "client", dependencies: [.product(name: "Importer", package: "importer")]),
        .executableTarget(
            name: "samples",
            dependencies: [
                .product(name: "Importer", package: "importer"), .product(name: "ImportModel", package: "importer"),
                .product(name: "ImportPostgreSQL", package: "importer"), .product(name: "GRDB", package: "GRDB.swift"),
            ],
            // A sample may leave what it has made unused.
            swiftSettings: [.unsafeFlags(["-suppress-warnings"])]
        ),
    ],
    swiftLanguageModes: [.v6]
)
