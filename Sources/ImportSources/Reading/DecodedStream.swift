import Glibc
import ImportModel

/// A stream's bytes in UTF-8, decoded from another encoding by `iconv(3)`.
final class DecodedStream: ByteStream {
    private let base: any ByteStream
    private let encoding: String
    private let name: String
    private let converter: iconv_t
    /// Bytes that are not decoded yet: from `taken` on.
    private var input: [UInt8] = []
    private var taken = 0
    private var isAtEnd = false
    /// The offset of the next byte to decode, in the bytes before decoding.
    private var offset: Int64 = 0

    /// - Parameters:
    ///   - base: the bytes from the source's beginning on.
    ///   - encoding: a name that `iconv_open(3)` knows.
    ///   - name: the source's name for messages.
    /// - Throws: `ImportError` with `.usage` for an encoding that is not known.
    init(_ base: any ByteStream, from encoding: String, name: String) throws {
        guard let converter = Self.converter(from: encoding) else {
            throw ImportError(
                .optionInvalid,
                "\(encoding) is not an encoding that is known\(NameSuggestion.question(for: encoding, among: Self.usualNames))",
                advice: "Give a name that iconv -l lists, such as \(Self.usualNames.prefix(4).joined(separator: ", "))."
            )
        }
        self.converter = converter
        self.base = base
        self.encoding = encoding
        self.name = name
    }

    deinit { iconv_close(converter) }

    private static func converter(from encoding: String) -> iconv_t? {
        // What may follow a slash says how to convert, and not from what.
        guard !encoding.contains("/"), !encoding.isEmpty else { return nil }
        let converter = iconv_open("UTF-8", encoding)
        return Int(bitPattern: converter) == -1 ? nil : converter
    }

    /// Encodings that are met often.
    private static let usualNames = [
        "ISO-8859-1", "WINDOWS-1252", "UTF-16", "SHIFT_JIS", "UTF-8", "UTF-16LE", "UTF-16BE", "UTF-32", "ISO-8859-2",
        "ISO-8859-15", "WINDOWS-1250", "WINDOWS-1251", "CP437", "CP850", "MACINTOSH", "EUC-JP", "EUC-KR", "GB18030",
        "GBK", "BIG5", "KOI8-R",
    ]

    func read(into block: inout [UInt8]) throws -> Int {
        // What is smaller may not hold a character.
        if block.count < 16 {
            var larger = [UInt8](repeating: 0, count: 16)
            let count = try decode(into: &larger, most: block.count)
            return block.overwrite(with: larger[..<count])
        }
        return try decode(into: &block, most: block.count)
    }

    /// Characters that are decoded and were not read yet.
    private var decoded: [UInt8] = []

    private func decode(into block: inout [UInt8], most: Int) throws -> Int {
        if !decoded.isEmpty { return takeDecoded(&block, most) }
        while true {
            if taken == input.count, !isAtEnd { try refill() }
            if taken == input.count { return 0 }
            let (count, problem) = convert(into: &block)
            if count > 0 {
                guard count > most else { return count }
                decoded = Array(block[..<count])
                return takeDecoded(&block, most)
            }
            switch problem {
            case EINVAL where !isAtEnd: try refill()
            case 0: continue
            default:
                throw ImportError(
                    .notUTF8,
                    at: name,
                    position: ImportError.Position(byteOffset: offset),
                    problem == EINVAL
                        ? "ends within a character of \(encoding), at byte \(offset)"
                        : "is not \(encoding) at byte \(offset)",
                    advice: "Say with \(.encoding) how it is encoded."
                )
            }
        }
    }

    private func takeDecoded(_ block: inout [UInt8], _ most: Int) -> Int {
        let count = min(most, decoded.count)
        _ = block.overwrite(with: decoded[..<count])
        decoded.removeFirst(count)
        return count
    }

    /// Reads more bytes behind those that are left.
    private func refill() throws {
        var next = [UInt8](repeating: 0, count: 64 << 10)
        let count = try base.read(into: &next)
        input = Array(input[taken...]) + next[..<count]
        taken = 0
        isAtEnd = count == 0
    }

    /// Decodes what there is room for.
    ///
    /// - Returns: how many bytes were written, and what ended it: 0, or the error of `iconv(3)`.
    private func convert(into block: inout [UInt8]) -> (count: Int, problem: Int32) {
        var problem: Int32 = 0
        let (used, written) = input.withUnsafeMutableBytes { input in
            block.withUnsafeMutableBytes { block in
                var from = input.baseAddress.map { ($0 + taken).assumingMemoryBound(to: CChar.self) }
                var to = block.baseAddress.map { $0.assumingMemoryBound(to: CChar.self) }
                var fromLeft = input.count - taken
                var toLeft = block.count
                if iconv(converter, &from, &fromLeft, &to, &toLeft) == -1 { problem = errno }
                return (input.count - taken - fromLeft, block.count - toLeft)
            }
        }
        taken += used
        offset += Int64(used)
        return (written, problem == E2BIG ? 0 : problem)
    }
}
