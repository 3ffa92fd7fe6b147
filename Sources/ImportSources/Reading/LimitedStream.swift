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
        var count: Int
        if Int64(block.count) > left {
            var last = [UInt8](repeating: 0, count: Int(left))
            count = try stream.read(into: &last)
            count = block.overwrite(with: last[..<count])
        } else {
            count = try stream.read(into: &block)
        }
        left -= Int64(count)
        return count
    }
}
