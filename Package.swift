// swift-tools-version: 6.1

import PackageDescription

let package = Package(
    name: "importer",
    products: [
        .executable(name: "importer", targets: ["ImportCommand"]),
        .library(name: "Importer", targets: ["Importer"]),
        .library(name: "ImportModel", targets: ["ImportModel"]),
    ],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-system", exact: "1.8.1"),
        .package(url: "https://github.com/apple/swift-crypto", exact: "3.12.3"),
        .package(url: "https://github.com/swiftlang/swift-docc-plugin", exact: "1.5.0"),
    ],
    targets: [
        .systemLibrary(name: "CYajl", pkgConfig: "yajl", providers: [.apt(["libyajl-dev"])]),
        .systemLibrary(name: "CArchive", pkgConfig: "libarchive", providers: [.apt(["libarchive-dev"])]),
        .systemLibrary(name: "CXXHash", pkgConfig: "libxxhash", providers: [.apt(["libxxhash-dev"])]),
        .target(name: "ImportModel"),
        .target(
            name: "Importer",
            dependencies: [
                "ImportModel", "CYajl", "CArchive", "CXXHash",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .executableTarget(
            name: "ImportCommand",
            dependencies: [
                "Importer", "ImportModel",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .target(name: "TestSupport", path: "Tests/TestSupport"),
        .testTarget(name: "ImportModelTests", dependencies: ["ImportModel", "TestSupport"]),
        .testTarget(
            name: "ImporterTests",
            dependencies: ["Importer", "ImportModel", "TestSupport", .product(name: "GRDB", package: "GRDB.swift")]
        ),
        .testTarget(name: "EndToEndTests", dependencies: ["TestSupport", "ImportCommand"]),
        .testTarget(name: "ImportCommandTests", dependencies: ["ImportCommand", "Importer", "ImportModel"]),
    ],
    swiftLanguageModes: [.v6]
)
