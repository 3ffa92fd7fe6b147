/// A stretch of a source whose hash is known.
package struct HashedRange: Sendable, Hashable {
    package let firstByte: Int64
    package let endByte: Int64
    package let hash: String

    package init(firstByte: Int64, endByte: Int64, hash: String) {
        self.firstByte = firstByte
        self.endByte = endByte
        self.hash = hash
    }
}
