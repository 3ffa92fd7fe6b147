import FlyingSocks

/// The last body of a connection, which is closed after it: the error at its end is what closes it.
struct ClosingBody: AsyncBufferedSequence {
    typealias Element = UInt8

    /// What ends the connection.
    struct Closed: Error {}

    let bytes: [UInt8]

    func makeAsyncIterator() -> Iterator { Iterator(rest: bytes[...]) }

    /// Gives all bytes at once, and then fails.
    struct Iterator: AsyncBufferedIteratorProtocol {
        fileprivate var rest: ArraySlice<UInt8>

        mutating func next() async throws -> UInt8? {
            guard let byte = rest.popFirst() else { throw Closed() }
            return byte
        }

        mutating func nextBuffer(suggested count: Int) async throws -> ArraySlice<UInt8>? {
            guard !rest.isEmpty else { throw Closed() }
            defer { rest = [] }
            return rest
        }
    }
}
