/// A stretch of a source whose hash is known.
struct HashedRange: Sendable, Hashable {
    let firstByte: Int64
    let endByte: Int64
    let hash: String
}
