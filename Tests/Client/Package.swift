// swift-tools-version: 6.1

import PackageDescription

// A program of its own: what it has of the importer is the package's public products.
let package = Package(
    name: "client",
    dependencies: [.package(name: "importer", path: "../..")],
    targets: [
        .executableTarget(
            name: "client",
            dependencies: [.product(name: "Importer", package: "importer")],
            path: "."
        )
    ],
    swiftLanguageModes: [.v6]
)
