import Foundation
import Importer

/// A directory of source files for one test, removed with it.
final class SourceFixture {
    let directory: URL

    init() throws {
        directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("importer-reading-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: directory)
    }

    func path(_ name: String) -> String { directory.appendingPathComponent(name).path }

    /// Writes a file and gives its path.
    @discardableResult
    func write(_ bytes: [UInt8], as name: String) throws -> String {
        let file = directory.appendingPathComponent(name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try Data(bytes).write(to: file)
        return file.path
    }

    func bytes(of name: String) throws -> [UInt8] {
        try [UInt8](Data(contentsOf: directory.appendingPathComponent(name)))
    }

    /// Runs a shell command in the directory; it must succeed.
    func run(_ command: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", command]
        process.currentDirectoryURL = directory
        process.standardError = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        if process.terminationStatus != 0 { throw CommandFailure(command: command) }
    }

    struct CommandFailure: Error {
        let command: String
    }

    /// Whether all of these commands are on this machine.
    static func has(_ tools: String...) -> Bool {
        tools.allSatisfy { tool in
            ["/usr/bin/", "/bin/", "/usr/local/bin/"].contains {
                FileManager.default.isExecutableFile(atPath: $0 + tool)
            }
        }
    }
}

/// Everything that is left of a stream, read in blocks of `size`.
func readWholeStream(_ stream: some ByteStream, blocksOf size: Int = 65_536) throws -> [UInt8] {
    var block = [UInt8](repeating: 0, count: size)
    var all: [UInt8] = []
    while true {
        let count = try stream.read(into: &block)
        if count == 0 { return all }
        all.append(contentsOf: block.prefix(count))
    }
}

/// What a stream gives before it throws, and what it throws.
func readStreamUntilFailure(_ stream: some ByteStream) -> (bytes: [UInt8], failure: ImportError?) {
    var block = [UInt8](repeating: 0, count: 1000)
    var all: [UInt8] = []
    while true {
        do {
            let count = try stream.read(into: &block)
            if count == 0 { return (all, nil) }
            all.append(contentsOf: block.prefix(count))
        } catch {
            return (all, error as? ImportError)
        }
    }
}

/// Lines of JSON that do not compress to nothing, the same every time.
func sourceLines(_ count: Int) -> [UInt8] {
    var state: UInt64 = 42
    var text = ""
    for number in 0..<count {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        text += "{\"n\":\(number),\"value\":\"\(String(state, radix: 36))\"}\n"
    }
    return Array(text.utf8)
}
