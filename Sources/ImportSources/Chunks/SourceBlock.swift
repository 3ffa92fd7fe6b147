/// Bytes of a source that were read at a time; they stay where they are until the next ones are read.
struct SourceBlock {
    private let bytes: UnsafePointer<UInt8>
    /// Its first byte's offset in the source.
    let base: Int64
    /// How many bytes it has.
    let count: Int

    init(_ bytes: UnsafePointer<UInt8>, at base: Int64, count: Int) {
        self.bytes = bytes
        self.base = base
        self.count = count
    }

    /// No bytes before the source's byte at `base`.
    init(emptyAt base: Int64) {
        self.init(UnsafePointer(bitPattern: 1)!, at: base, count: 0)
    }

    /// Just past its last byte, as an offset in the source.
    var end: Int64 { base + Int64(count) }

    /// The bytes from `offset` on, which is from `base` to `end`.
    @inline(__always)
    func bytes(from offset: Int64) -> UnsafePointer<UInt8> { bytes + Int(offset - base) }
}
