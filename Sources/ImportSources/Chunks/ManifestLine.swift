import Foundation

/// A line of a manifest: JSON whose last members are the names that it reserves, if it does, and a checksum of the line.
package enum ManifestLine {
    private static let checkPrefix = Array(",\"check\":\"".utf8)
    private static let checkSuffix = Array("\"}".utf8)
    private static let checkLength = checkPrefix.count + 16 + checkSuffix.count

    /// The line of an object, with the line break.
    ///
    /// - Parameters:
    ///   - object: its JSON, which has a member at least.
    ///   - reserved: the numbers of chunks whose names it reserves.
    package static func bytes(_ object: Data, reserving reserved: [ClosedRange<Int>]) -> [UInt8] {
        var line = Array(object.dropLast())
        if !reserved.isEmpty {
            let ranges = reserved.map { "[\($0.lowerBound),\($0.upperBound)]" }
            line += ",\"reserved\":[\(ranges.joined(separator: ","))]".utf8
        }
        let check = line.withUnsafeBytes { XXH3Hasher.digest(of: $0) }
        return line + checkPrefix + check.utf8 + checkSuffix + [UInt8(ascii: "\n")]
    }

    /// True if a line, without its line break, may reserve names: they are the last member before its checksum, an array.
    static func mayReserve(_ line: ArraySlice<UInt8>) -> Bool {
        line.dropLast(checkLength).last == UInt8(ascii: "]")
    }

    /// True if a line, without its line break, has the checksum at its end that is its own.
    package static func isSound(_ line: ArraySlice<UInt8>) -> Bool {
        let end = line.suffix(checkLength)
        let digest = line.dropLast(checkLength).withUnsafeBytes { XXH3Hasher.digest(of: $0) }
        return end.elementsEqual(checkPrefix + digest.utf8 + checkSuffix)
    }
}

/// What a line of a manifest says, and the names that it reserves.
struct ManifestRecord<Value: Decodable>: Decodable {
    let value: Value
    /// Numbers of chunks, in ascending order.
    let reserved: [ClosedRange<Int>]

    private enum CodingKeys: String, CodingKey {
        case reserved
    }

    init(from decoder: any Decoder) throws {
        value = try Value(from: decoder)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let bounds = try container.decodeIfPresent([[Int]].self, forKey: .reserved) ?? []
        reserved = try bounds.map { bounds in
            guard bounds.count == 2, 1...ReservedChunkNumbers.most ~= bounds[0],
                bounds[0]...ReservedChunkNumbers.most ~= bounds[1]
            else {
                throw DecodingError.dataCorruptedError(forKey: .reserved, in: container, debugDescription: "no range")
            }
            return bounds[0]...bounds[1]
        }
    }
}

/// Reads the lines of a manifest in bounded memory, whatever its size is said to be.
struct ManifestLines {
    /// What comes next.
    enum Line {
        /// A line, without its line break.
        case whole(ArraySlice<UInt8>)
        /// The file's last bytes, which no line break follows.
        case torn
        /// Bytes that no manifest has: NUL, or more than a line may have.
        case foreign
    }

    /// The longest line that is read, in bytes; far more than a chunk of the largest size needs.
    static let mostBytes = 256 << 20
    private static let blockSize = 1 << 18

    private let file: ChunkFile
    private var buffer: [UInt8] = []
    private var start = 0
    private var isAtEnd = false
    /// Where the next line begins in the file.
    private(set) var offset: Int64 = 0

    init(_ file: ChunkFile) {
        self.file = file
    }

    /// The next line; nil at the end of the file.
    mutating func next() throws -> Line? {
        var scanned = start
        while true {
            if let end = buffer[scanned...].firstIndex(where: { $0 == 0x0A || $0 == 0 }) {
                guard buffer[end] == 0x0A else { return .foreign }
                let line = buffer[start..<end]
                offset += Int64(line.count) + 1
                start = end + 1
                return .whole(line)
            }
            if isAtEnd { return start == buffer.count ? nil : .torn }
            guard buffer.count - start < Self.mostBytes else { return .foreign }
            scanned = try fill()
        }
    }

    /// Reads another block.
    ///
    /// - Returns: where it begins in the buffer.
    private mutating func fill() throws -> Int {
        buffer.removeFirst(start)
        start = 0
        let filled = buffer.count
        buffer += [UInt8](repeating: 0, count: Self.blockSize)
        let count = try buffer.withUnsafeMutableBytes {
            try file.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[filled...]))
        }
        buffer.removeLast(Self.blockSize - count)
        isAtEnd = count < Self.blockSize
        return filled
    }
}
