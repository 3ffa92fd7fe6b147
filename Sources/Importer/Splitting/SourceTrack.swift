/// What is known of a source up to some byte of it: the hash since its chunk began, and the lines since the source began.
final class SourceTrack {
    /// Everything before this byte of the source is accounted for.
    private(set) var byteOffset: Int64
    /// Line breaks (LF) before it.
    private(set) var lineBreaks: Int64
    /// Where the line that holds it begins.
    private(set) var lineStart: Int64
    private let hasher = XXH3Hasher()

    init(byteOffset: Int64, lineBreaks: Int64, lineStart: Int64) {
        self.byteOffset = byteOffset
        self.lineBreaks = lineBreaks
        self.lineStart = lineStart
    }

    /// The hash of what was accounted for since the last `resetHash`, in hexadecimal.
    var digest: String { hasher.digest }

    /// Goes on to `end`.
    ///
    /// - Parameters:
    ///   - end: an offset in the source, from `byteOffset` to the block's end.
    ///   - block: the block that holds the bytes up to there.
    ///   - base: the block's own offset in the source, at most `byteOffset`.
    func advance(to end: Int64, in block: UnsafePointer<UInt8>, base: Int64) {
        guard end > byteOffset else { return }
        let start = block + Int(byteOffset - base)
        let count = Int(end - byteOffset)
        hasher.update(UnsafeRawBufferPointer(start: start, count: count))
        let breaks = ByteScan.countLineBreaks(start, count)
        if breaks > 0 {
            lineBreaks += Int64(breaks)
            var last = count
            while start[last - 1] != 0x0A { last -= 1 }
            lineStart = byteOffset + Int64(last)
        }
        byteOffset = end
    }

    /// Becomes what `other` is.
    func copy(from other: SourceTrack) {
        byteOffset = other.byteOffset
        lineBreaks = other.lineBreaks
        lineStart = other.lineStart
        hasher.copy(from: other.hasher)
    }

    /// Begins a new chunk's hash.
    func resetHash() {
        hasher.reset()
    }

    /// Takes the hash of another track that began at this chunk's beginning, and nothing else.
    func copyHash(from other: XXH3Hasher) {
        hasher.copy(from: other)
    }
}
