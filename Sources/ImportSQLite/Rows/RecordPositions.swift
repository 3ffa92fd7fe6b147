import ImportEngine
import ImportSources

/// Where the records of rows are in their source.
///
/// Kept while rows with the same identifier are beside each other: under `ConflictPolicy.error` the
/// records of all but the first are rejects, and their bytes are read again.
package struct RecordPositions {
    /// Where one is.
    package struct Position {
        /// The record's number in the job.
        package let ordinal: Int64
        /// The first byte of its key in the source where that precedes it, and else its own.
        package let firstByte: Int64
        /// The bytes from its key to its own; 0 where it has none.
        let keyLength: Int64
        /// What its line has before these: keys further out; empty for none.
        package let head: [UInt8]
        /// Its own bytes.
        package let length: Int64
        /// The first byte of its identifier in the source.
        package let identifierOffset: Int64
    }

    /// Those of consecutive rows as the store keeps them: packed numbers, which say how far each place is from the one
    /// before.
    package struct Block {
        let firstRowID: Int64
        fileprivate var numbers = LEB128Buffer()

        package var bytes: [UInt8] { numbers.bytes }

        fileprivate mutating func append(_ number: Int64) {
            numbers.append(UInt64(bitPattern: number))
        }
    }

    /// The positions of a block's rows, from the first one on.
    package static func positions(in bytes: [UInt8]) -> [Position] {
        var positions: [Position] = []
        var numbers = LEB128Buffer.Reader(bytes)
        func next() -> Int64? { numbers.next().map { Int64(bitPattern: $0) } }
        var (ordinal, end): (Int64, Int64) = (0, 0)
        var head: [UInt8] = []
        while var step = next() {
            // No record has the number 0.
            if step == 0, ordinal == 0, let count = next() {
                while head.count < count, let byte = next() { head.append(UInt8(truncatingIfNeeded: byte)) }
                step = next() ?? 0
            }
            guard let gap = next(), let keyLength = next(), let length = next(), let identifier = next()
            else { break }
            ordinal &+= step
            let firstByte = end &+ gap
            positions.append(
                Position(
                    ordinal: ordinal,
                    firstByte: firstByte,
                    keyLength: keyLength,
                    head: head,
                    length: length,
                    identifierOffset: firstByte &+ identifier
                )
            )
            end = firstByte &+ keyLength &+ length
        }
        return positions
    }

    /// So many rows make a block: one that is read for a single row should not be large.
    private static let mostRows: Int64 = 256

    /// All of them, in the rows' order.
    package private(set) var blocks: [Block] = []
    private var nextRowID: Int64 = 0
    private var ordinal: Int64 = 0
    private var end: Int64 = 0
    /// That of all places of the last block.
    private var head: [UInt8] = []

    /// Adds a row that was written after the last one.
    ///
    /// - Parameter chunk: the bytes that its place is in.
    package mutating func add(_ place: RowBatch.RecordLocation, ordinal: Int64, rowID: Int64, _ chunk: [UInt8]) {
        let first = max(0, place.keyedLineOffset)
        // A brace alone before a key is no key.
        let head = place.prefix > 1 ? chunk[first..<first + place.prefix] : []
        if blocks.last.map({ rowID != nextRowID || rowID &- $0.firstRowID >= Self.mostRows }) ?? true
            || !head.elementsEqual(self.head)
        {
            self.head = Array(head)
            blocks.append(Block(firstRowID: rowID))
            (self.ordinal, end) = (0, 0)
            if !head.isEmpty {
                for number in [0, Int64(head.count)] + head.map(Int64.init) { blocks[blocks.count - 1].append(number) }
            }
        }
        let keyLength =
            place.keyedLineOffset < 0 ? 0 : Int64(place.chunkOffset - place.keyedLineOffset - place.prefix)
        let firstByte = place.byteOffset &- keyLength
        let numbers = (ordinal &- self.ordinal, firstByte &- end, place.identifierOffset &- firstByte)
        let last = blocks.count - 1
        blocks[last].append(numbers.0)
        blocks[last].append(numbers.1)
        blocks[last].append(keyLength)
        blocks[last].append(Int64(place.length))
        blocks[last].append(numbers.2)
        (nextRowID, self.ordinal) = (rowID &+ 1, ordinal)
        end = place.byteOffset &+ Int64(place.length)
    }
}
