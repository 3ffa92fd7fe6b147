import Foundation
import ImportModel
import ImportSources

/// Finds out whether a document is the one that was imported with more elements at the end of its array.
///
/// Of what was imported, hashes of all bytes are kept, which end with what closes the array. As there are few ways to write that, each is
/// tried: with the right one in place of what follows in the new document, the hash is the same.
struct GrownArray {
    /// The opening tokens around an element: `{"items":[0`.
    let enclosing: String
    /// The ways in which the containers are closed.
    private let ends: [[UInt8]]
    private static let blank: [String] = ["", "\n", "\r\n", " "]
    private static let indented: [String] = ["", "\n", "\r\n", " ", "\n ", "\n  ", "\n    ", "\n\t"]

    /// Where the elements that were imported end in the new document, and the hash of all bytes before.
    struct Match {
        let prefix: SourcePrefix
        let hash: String
    }

    /// - Returns: nil where the records are not the elements of one array, at the top or in an object there.
    init?(of shape: SourceShape) {
        guard shape.layout == .stream, shape.paths.count == 1, shape.fault == nil,
            let path = try? RecordPath(shape.paths[0])
        else { return nil }
        let closings: [String]
        if path.steps == [.anyElement] {
            enclosing = "[0"
            closings = Self.blank.map { "\($0)]" }
        } else if path.steps.count == 2, case .key(let key) = path.steps[0], path.steps[1] == .anyElement {
            enclosing = "{\(JSONValue.string(key).serialized()):[0"
            closings = Self.indented.flatMap { first in Self.blank.map { "\(first)]\($0)}" } }
        } else {
            return nil
        }
        ends = closings.flatMap { closing in ["", "\n", "\r\n"].map { Array("\(closing)\($0)".utf8) } }
    }

    /// Compares a document with one that was imported.
    ///
    /// - Parameters:
    ///   - stream: the new one's bytes, from its beginning.
    ///   - ranges: those of the other one, to its end.
    /// - Returns: nil where it is not the same with more elements.
    /// - Throws: `ImportError` where it cannot be read.
    func match(_ stream: SourceStream, _ ranges: [HashedRange]) throws -> Match? {
        guard let last = ranges.last, let longest = ends.map(\.count).max() else { return nil }
        let whole = XXH3Hasher()
        let prefix = SourcePrefix(byteOffset: stream.offset, lineBreaks: 0, lineStart: 0)
        func take(_ bytes: UnsafeBufferPointer<UInt8>) {
            whole.update(UnsafeRawBufferPointer(bytes))
            if let base = bytes.baseAddress { prefix.advance(base, bytes.count) }
        }
        for range in ranges.dropLast() {
            prefix.resetHash()
            try stream.read(upTo: range.endByte, take)
            guard prefix.byteOffset == range.endByte, prefix.digest == range.hash else { return nil }
        }
        prefix.resetHash()
        try stream.read(upTo: max(last.firstByte, last.endByte - Int64(longest)), take)
        var rest: [UInt8] = []
        try stream.read(upTo: last.endByte + 1024) { rest += $0 }
        let kept = Int(last.endByte - prefix.byteOffset)
        guard rest.count >= kept else { return nil }
        for end in ends where end.count <= kept {
            let elements = rest[..<(kept - end.count)]
            let hasher = XXH3Hasher()
            hasher.copy(from: prefix.hasher)
            (elements + end).withUnsafeBytes { hasher.update($0) }
            guard hasher.digest == last.hash else { continue }
            let next = rest[elements.endIndex...].first { !ByteScan.isSpace($0) }
            guard next == UInt8(ascii: ",") else { continue }
            elements.withUnsafeBufferPointer(take)
            return Match(prefix: prefix, hash: whole.digest)
        }
        return nil
    }
}
