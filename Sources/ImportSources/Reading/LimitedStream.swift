/// The first bytes of another stream.
final class LimitedStream: ByteStream {
    private let stream: any ByteStream
    private var left: Int64

    /// - Parameter count: how many bytes there are at most.
    init(_ stream: any ByteStream, count: Int64) {
        self.stream = stream
        left = max(0, count)
    }

    func read(into block: inout [UInt8]) throws -> Int {
        guard left > 0 else { return 0 }
        if Int64(block.count) > left { block.removeLast(block.count - Int(left)) }
        let count = try stream.read(into: &block)
        left -= Int64(count)
        return count
    }
}
