/// A stream whose beginning can be looked at before it is read.
final class PeekedStream: ByteStream {
    private let base: any ByteStream
    /// Bytes that were looked at and not read yet: from `taken` on.
    private var head: [UInt8] = []
    private var taken = 0
    private var isAtEnd = false
    /// The damage met while peeking; it is thrown once the bytes before it have been read.
    private var damage: (any Error)?

    /// - Parameters:
    ///   - base: the stream.
    ///   - head: bytes that precede it, because they have been read from it already.
    init(_ base: any ByteStream, head: [UInt8] = []) {
        self.base = base
        self.head = head
    }

    /// The next bytes, which `read` gives again: `count` of them, or fewer if the stream ends or is damaged before.
    ///
    /// - Throws: what the stream throws, but for damage, which comes after the bytes before it.
    func peek(_ count: Int) throws -> ArraySlice<UInt8> {
        var block: [UInt8] = []
        while head.count - taken < count, !isAtEnd, damage == nil {
            let wanted = min(count - (head.count - taken), 256 << 10)
            if block.count != wanted { block = [UInt8](repeating: 0, count: wanted) }
            do {
                let read = try base.read(into: &block)
                head.append(contentsOf: block.prefix(read))
                isAtEnd = read == 0
            } catch  where error is ArchiveReader.Damage || (error as? ImportError)?.code == .badInput {
                damage = error
            }
        }
        return head[taken...].prefix(count)
    }

    /// True if the stream is known to end, undamaged, after what was looked at.
    var isPeekedToEnd: Bool { isAtEnd }

    /// Passes over bytes that were looked at.
    func drop(_ count: Int) {
        taken = min(taken + count, head.count)
    }

    func read(into block: inout [UInt8]) throws -> Int {
        if taken < head.count {
            let count = block.overwrite(with: head[taken...])
            taken += count
            if taken == head.count {
                head = []
                taken = 0
            }
            return count
        }
        if let damage { throw damage }
        if isAtEnd { return 0 }
        return try base.read(into: &block)
    }
}
