/// What is known of a source up to some byte of it: the hash since its chunk began, and the lines since the source began.
package final class SourcePrefix {
    /// Everything before this byte of the source is accounted for.
    package private(set) var byteOffset: Int64
    /// Line breaks (LF) before it.
    package private(set) var lineBreaks: Int64
    /// Where the line that holds it begins.
    package private(set) var lineStart: Int64
    /// Of what was accounted for since the last `resetHash`.
    package let hasher = XXH3Hasher()

    package init(byteOffset: Int64, lineBreaks: Int64, lineStart: Int64) {
        self.byteOffset = byteOffset
        self.lineBreaks = lineBreaks
        self.lineStart = lineStart
    }

    /// The hash of what was accounted for since the last `resetHash`, in hexadecimal.
    package var digest: String { hasher.digest }

    /// Goes on by the `count` bytes that come next.
    package func advance(_ bytes: UnsafePointer<UInt8>, _ count: Int) {
        hasher.update(UnsafeRawBufferPointer(start: bytes, count: count))
        let breaks = ByteScan.countLineBreaks(bytes, count)
        if breaks > 0 {
            lineBreaks += Int64(breaks)
            var last = count
            while bytes[last - 1] != 0x0A { last -= 1 }
            lineStart = byteOffset + Int64(last)
        }
        byteOffset += Int64(count)
    }

    /// Becomes what `other` is.
    func copy(from other: SourcePrefix) {
        byteOffset = other.byteOffset
        lineBreaks = other.lineBreaks
        lineStart = other.lineStart
        hasher.copy(from: other.hasher)
    }

    /// Begins a new chunk's hash.
    package func resetHash() {
        hasher.reset()
    }

    /// Takes the hash of another prefix that began at this chunk's beginning, and nothing else.
    func copyHash(from other: XXH3Hasher) {
        hasher.copy(from: other)
    }
}
