// swift-tools-version: 6.1

import PackageDescription

// What `importer --version` says is the commit: the scripts that build for people set it. It is not asked of git here, as
// SwiftPM keeps what a manifest has evaluated to, and would go on giving an earlier commit.
let commit = Context.environment["IMPORTER_REVISION"] ?? ""
let revision: [CSetting] = commit.isEmpty ? [] : [.define("IMPORTER_REVISION", to: "\"\(commit)\"")]

let package = Package(
    name: "importer",
    products: [
        .executable(name: "importer", targets: ["ImportCommand", "Revision"]),
        .library(name: "Importer", targets: ["Importer"]),
        .library(name: "ImportModel", targets: ["ImportModel"]),
        .library(name: "ImportChanges", targets: ["ImportChanges"]),
        .library(name: "ImportPostgreSQL", targets: ["ImportPostgreSQL"]),
    ],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
    ],
    targets: [
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CYajl", pkgConfig: "yajl", providers: [.apt(["libyajl-dev"])]),
        .systemLibrary(name: "CArchive", pkgConfig: "libarchive", providers: [.apt(["libarchive-dev"])]),
        .systemLibrary(
            name: "CCompression",
            providers: [.apt(["zlib1g-dev", "libbz2-dev", "liblzma-dev", "libzstd-dev"])]
        ),
        .systemLibrary(name: "CXXHash", pkgConfig: "libxxhash", providers: [.apt(["libxxhash-dev"])]),
        .systemLibrary(name: "CNettle", pkgConfig: "nettle", providers: [.apt(["nettle-dev"])]),
        // Not linked: the library is loaded where a server is asked for.
        .systemLibrary(name: "CPostgreSQL", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CMalloc"),
        .systemLibrary(name: "CRevision"),
        .target(name: "Revision", cSettings: revision),
        .target(name: "ImportModel"),
        .target(
            name: "ImportSources",
            dependencies: [
                "ImportModel", "CYajl", "CArchive", "CCompression", "CXXHash", "CNettle", "CMalloc",
            ]
        ),
        .target(name: "ImportEngine", dependencies: ["ImportModel", "ImportSources", "CXXHash"]),
        .target(
            name: "ImportSQLite",
            dependencies: [
                "ImportModel", "ImportSources", "ImportEngine", "CSQLite", "CYajl", "CXXHash",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ]
        ),
        .target(
            name: "ImportMigration",
            dependencies: [
                "ImportModel", "ImportSources", "ImportEngine", "ImportSQLite",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ]
        ),
        .target(
            name: "ImportChanges",
            dependencies: [
                "ImportModel", "ImportSources", "ImportEngine", "ImportSQLite", "CXXHash",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ]
        ),
        .target(
            name: "Importer",
            dependencies: [
                "ImportModel", "ImportSources", "ImportEngine", "ImportSQLite", "ImportMigration", "ImportChanges",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ]
        ),
        .target(name: "ImportPostgreSQL", dependencies: ["Importer", "ImportModel", "CPostgreSQL"]),
        .target(
            name: "ImportServer",
            dependencies: ["Importer", "ImportModel", .product(name: "FlyingSocks", package: "FlyingFox")],
            resources: [.embedInCode("Page/index.html")]
        ),
        .executableTarget(
            name: "ImportCommand",
            dependencies: [
                "Importer", "ImportModel", "ImportPostgreSQL", "ImportServer", "CRevision",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        .target(name: "TestSupport", dependencies: ["CPostgreSQL"], path: "Tests/TestSupport"),
        .testTarget(name: "ImportModelTests", dependencies: ["ImportModel", "TestSupport"]),
        .testTarget(
            name: "ImporterTests",
            dependencies: [
                "Importer", "ImportChanges", "ImportEngine", "ImportMigration", "ImportSQLite", "ImportSources",
                "ImportModel", "TestSupport", .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ]
        ),
        .testTarget(
            name: "ImportServerTests",
            dependencies: ["ImportServer", "Importer", "ImportModel", "TestSupport"]
        ),
        .testTarget(
            name: "ImportPostgreSQLTests",
            dependencies: [
                "ImportPostgreSQL", "Importer", "ImportChanges", "ImportEngine", "ImportSources", "ImportModel",
                "TestSupport",
            ]
        ),
        .testTarget(name: "EndToEndTests", dependencies: ["TestSupport", "ImportCommand", "Importer"]),
        .testTarget(
            name: "ImportCommandTests",
            dependencies: ["ImportCommand", "Importer", "ImportEngine", "ImportMigration", "ImportModel", "Revision"]
        ),
    ],
    swiftLanguageModes: [.v6]
)

// Who builds the documentation asks for its plugin: IMPORTER_DOCUMENTATION=1 swift package generate-documentation
if Context.environment["IMPORTER_DOCUMENTATION"] != nil {
    package.dependencies.append(.package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0"))
}

// Who measures the stages asks for the benchmarks, as scripts/bench does; nobody else downloads what they depend on.
if Context.environment["IMPORTER_BENCHMARKS"] != nil {
    package.dependencies.append(.package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []))
    package.targets += [
        .systemLibrary(name: "CCallgrind", path: "Benchmarks/CCallgrind"),
        .target(
            name: "StageBenchmarks",
            dependencies: [
                "Importer", "ImportModel", "CYajl", .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            path: "Benchmarks/Stages/Cases"
        ),
        .executableTarget(
            name: "StageRun",
            dependencies: ["StageBenchmarks", "CCallgrind"],
            path: "Benchmarks/Stages/Run"
        ),
        // The plugin mistakes every program that is directly in Benchmarks for its own.
        .executableTarget(
            name: "StageSuite",
            dependencies: ["StageBenchmarks", .product(name: "Benchmark", package: "benchmark")],
            path: "Benchmarks/Suite",
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]
        ),
    ]
}
