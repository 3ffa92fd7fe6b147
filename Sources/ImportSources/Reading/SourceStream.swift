import ImportModel

/// The bytes of an open source, decompressed, decoded to UTF-8, without a byte order mark.
///
/// You can peek at the bytes before reading them. The stream knows its byte offset in the source.
package final class SourceStream: ByteStream {
    /// The first bytes of a source, for detection.
    package struct Sample {
        package let bytes: [UInt8]
        /// True if the source ends after these bytes, undamaged.
        package let isWhole: Bool
    }

    /// The offset of the next byte in the source, in bytes of UTF-8 from 0: 3 after a byte order mark.
    package private(set) var offset: Int64
    /// The source's length in bytes; nil if it is unknown before the end (compressed, or not a file).
    package private(set) var totalBytes: Int64?
    /// What it is decoded from; nil for UTF-8.
    package let encoding: String?

    private var stream: PeekedStream
    private let interruption: Interruption

    /// Skips a stream's bytes up to `offset`, and a byte order mark at the beginning of the source.
    ///
    /// - Parameters:
    ///   - stream: the bytes from `streamOffset` on.
    ///   - streamOffset: the offset in the source at which `stream` begins.
    ///   - offset: the offset to continue at, at or after `streamOffset`; the bytes before it are read and skipped.
    ///   - totalBytes: the source's length, if it is known.
    ///   - encoding: how it is encoded; nil to judge by its first bytes.
    ///   - form: how its text is rewritten; nil for one that is read as it is.
    ///   - name: the source's name for messages.
    ///   - interruption: ends every read.
    /// - Throws: `ImportError`: `.badInput` when the source is not UTF-8 or ends before `offset`.
    package init(
        _ stream: any ByteStream,
        from streamOffset: Int64,
        at offset: Int64,
        totalBytes: Int64?,
        encoding: String? = nil,
        form: SourceForm? = nil,
        name: String,
        interruption: Interruption
    ) throws {
        let plain = PeekedStream(stream)
        // Of what is decoded, nothing can be passed over.
        self.encoding = streamOffset == 0 ? try Self.encoding(of: plain, asked: encoding, name: name) : nil
        self.stream =
            try self.encoding.map { PeekedStream(try DecodedStream(plain, from: $0, name: name)) } ?? plain
        self.offset = streamOffset
        self.totalBytes = self.encoding == nil ? totalBytes : nil
        self.interruption = interruption
        if offset == 0 || form != nil { try readMark(name: name) }
        if let form { rewrite(as: form, name: name) }
        try skip(to: offset, name: name)
    }

    /// Rewrites the text, of which nothing has been read.
    package func rewrite(as form: SourceForm, name: String) {
        for form in [form] + (form.others ?? []) {
            stream = PeekedStream(RewrittenStream(stream, as: form, name: name))
        }
        (offset, totalBytes) = (0, nil)
    }

    /// The next bytes, at most `limit`, without consuming them.
    package func peek(limit: Int = 1 << 20) throws -> Sample {
        let bytes = try stream.peek(limit + 1)
        return Sample(bytes: Array(bytes.prefix(limit)), isWhole: bytes.count <= limit && stream.isPeekedToEnd)
    }

    package func read(into block: inout [UInt8]) throws -> Int {
        try interruption.check()
        let count = try stream.read(into: &block)
        offset += Int64(count)
        return count
    }

    /// What a stream has to be decoded from; nil for UTF-8.
    private static func encoding(of stream: PeekedStream, asked: String?, name: String) throws -> String? {
        let head = try stream.peek(CompressedFormat.markLength)
        if let (reason, advice) = CompressedFormat.refusal(of: head) {
            throw ImportError(.cannotDecompress, at: name, reason, advice: advice)
        }
        let found = SourceEncoding(head: head)
        return asked ?? (found == .utf8 ? nil : found.rawValue)
    }

    private func readMark(name: String) throws {
        let head = try stream.peek(CompressedFormat.markLength)
        guard SourceEncoding.hasMark(head) else { return }
        stream.drop(SourceEncoding.markLength)
        offset = Int64(SourceEncoding.markLength)
    }

    private func skip(to target: Int64, name: String) throws {
        guard offset < target else { return }
        var block = [UInt8](repeating: 0, count: Int(min(target - offset, 256 << 10)))
        while offset < target {
            if target - offset < block.count { block.removeLast(block.count - Int(target - offset)) }
            guard try read(into: &block) > 0 else {
                throw ImportError(
                    .sourceChanged,
                    at: name,
                    "ends at byte \(offset.grouped), before byte \(target.grouped), where the import is to continue",
                    advice: "Give the source that the import was started with."
                )
            }
        }
    }
}

extension SourceStream {
    /// A stream without a byte, in place of one that cannot be opened.
    package static func empty(named name: String, _ interruption: Interruption) throws -> SourceStream {
        try SourceStream(NoBytes(), from: 0, at: 0, totalBytes: 0, name: name, interruption: interruption)
    }

    private final class NoBytes: ByteStream {
        func read(into block: inout [UInt8]) -> Int { 0 }
    }
}
