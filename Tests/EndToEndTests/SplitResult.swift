import Foundation
import TestSupport

/// What `importer split` wrote: the chunks' lines and the manifest.
struct SplitResult {
    /// One sealed chunk of the manifest.
    struct Chunk: Decodable {
        let number: Int
        let source: Int
        let firstByte: Int
        let endByte: Int
        let firstOrdinal: Int
        let records: Int
        let paths: [[Int]]
        let gaps: [[Int]]
        let bytes: Int
        let isLast: Bool
    }

    let ending: ChildProcess.Ending
    let messages: String
    let chunks: [Chunk]
    /// Each chunk's lines, without their line breaks.
    let lines: [[Data]]

    /// All records' lines as text, in order.
    var records: [String] { lines.joined().map { String(decoding: $0, as: UTF8.self) } }

    /// Splits `source` into a directory of its own.
    init(_ source: String, chunkSize: String = "8M", options: [String] = []) throws {
        let directory = try TemporaryDirectory()
        let result = try run(
            [Project.importer, "split", source, "--to", directory.path("chunks"), "--chunk-size", chunkSize] + options
        )
        ending = result.ending
        messages = result.errorText
        let decoder = JSONDecoder()
        let manifest = try? Data(contentsOf: URL(filePath: directory.path("chunks/manifest.ndjson")))
        chunks = try (manifest ?? Data()).split(separator: UInt8(ascii: "\n")).dropFirst()
            .map { try decoder.decode(Chunk.self, from: $0) }
        lines = try chunks.filter { $0.records > 0 }.map { chunk in
            let name = "chunk-" + String(repeating: "0", count: 6 - "\(chunk.number)".count) + "\(chunk.number).ndjson"
            let bytes = try Data(contentsOf: URL(filePath: directory.path("chunks/\(name)")))
            var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            // The last line ends with a line break, so that nothing follows it.
            if lines.last?.isEmpty == true { lines.removeLast() }
            return lines.map { Data($0) }
        }
    }
}
