import Foundation

/// Where the project's own files are, seen from the sources of its tests.
package enum Project {
    /// The package's root: the directory above this one that holds `Package.swift`.
    package static let root: URL = {
        var directory = URL(filePath: #filePath).deletingLastPathComponent()
        while !FileManager.default.fileExists(atPath: directory.appending(path: "Package.swift").path),
            directory.pathComponents.count > 1
        {
            directory.deleteLastPathComponent()
        }
        return directory
    }()

    /// The built `importer`: `IMPORTER_EXECUTABLE`, or the one that the build put beside the test bundle.
    package static let importer: String = {
        if let path = ProcessInfo.processInfo.environment["IMPORTER_EXECUTABLE"] { return path }
        for argument in CommandLine.arguments {
            guard let end = argument.range(of: ".xctest") else { continue }
            let bundle = URL(filePath: String(argument[..<end.upperBound]))
            let path = bundle.deletingLastPathComponent().appending(path: "importer").path
            if FileManager.default.isExecutableFile(atPath: path) { return path }
        }
        let beside = Bundle.main.bundleURL.appending(path: "importer").path
        if FileManager.default.isExecutableFile(atPath: beside) { return beside }
        return root.appending(path: ".build/debug/importer").path
    }()

    /// Python 3, the system's own where there is one: a wrapper in `PATH` can take ten times as long to start.
    package static let python: String = {
        let system = "/usr/bin/python3"
        if FileManager.default.isExecutableFile(atPath: system) { return system }
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let candidates = path.split(separator: ":").map { "\($0)/python3" }
        return candidates.first { FileManager.default.isExecutableFile(atPath: $0) } ?? system
    }()

    /// The independent readings in Python.
    package static func check(_ name: String) -> String {
        root.appending(path: "Tests/Checks/\(name)").path
    }
}
