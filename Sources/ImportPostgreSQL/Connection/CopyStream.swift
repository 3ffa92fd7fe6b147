/// Where the bytes of a COPY go, in its format; made by `PGConnection.copy`.
struct CopyStream {
    /// Bytes are collected up to this size before libpq gets them.
    static let blockSize = 64 << 10
    /// More than this is given to libpq in parts, so that it never keeps much.
    private static let mostAtOnce = 1 << 20

    private let put: (UnsafeRawBufferPointer) throws -> Void
    private var pending: [UInt8] = []

    init(_ put: @escaping (UnsafeRawBufferPointer) throws -> Void) {
        self.put = put
        pending.reserveCapacity(2 * Self.blockSize)
    }

    /// Adds bytes, which need not be whole rows.
    ///
    /// - Throws: `PGError` where the connection is lost, and the interruption's `ImportError`.
    mutating func write(_ bytes: UnsafeRawBufferPointer) throws {
        guard bytes.count >= Self.blockSize else {
            pending.append(contentsOf: bytes)
            if pending.count >= Self.blockSize { try flush() }
            return
        }
        try flush()
        var rest = bytes[...]
        while !rest.isEmpty {
            let block = rest.prefix(Self.mostAtOnce)
            try put(UnsafeRawBufferPointer(rebasing: block))
            rest = rest.dropFirst(block.count)
        }
    }

    /// Adds bytes, which need not be whole rows.
    ///
    /// - Throws: `PGError` where the connection is lost, and the interruption's `ImportError`.
    mutating func write(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { try write($0) }
    }

    /// Sends what is collected.
    mutating func flush() throws {
        guard !pending.isEmpty else { return }
        try pending.withUnsafeBytes { try put($0) }
        pending.removeAll(keepingCapacity: true)
    }
}
