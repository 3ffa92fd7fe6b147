/// Where the records of rows are in their source.
///
/// Kept while rows with the same identifier are beside each other: under `ConflictPolicy.error` the
/// records of all but the first are rejects, and their bytes are read again.
struct RecordPlaces {
    /// Where one is.
    struct Place {
        /// The record's number in the job.
        let ordinal: Int64
        /// The first byte of its key in the source where that precedes it, and else its own.
        let firstByte: Int64
        /// The bytes from its key to its own; 0 where it has none.
        let keyLength: Int64
        /// Its own bytes.
        let length: Int64
        /// The first byte of its identifier in the source.
        let identifierOffset: Int64
    }

    /// Those of consecutive rows as the store keeps them: packed numbers, which say how far each place is from the one
    /// before.
    struct Block {
        let firstRowID: Int64
        fileprivate var numbers = PackedNumbers()

        fileprivate init(firstRowID: Int64) {
            self.firstRowID = firstRowID
        }

        var bytes: [UInt8] { numbers.bytes }

        fileprivate mutating func append(_ number: Int64) {
            numbers.append(UInt64(bitPattern: number))
        }
    }

    /// The positions of a block's rows, from the first one on.
    static func places(in bytes: [UInt8]) -> [Place] {
        var places: [Place] = []
        var numbers = PackedNumbers.Reader(bytes)
        func next() -> Int64? { numbers.next().map { Int64(bitPattern: $0) } }
        var (ordinal, end): (Int64, Int64) = (0, 0)
        while let step = next(), let gap = next(), let keyLength = next(), let length = next(), let identifier = next()
        {
            ordinal &+= step
            let firstByte = end &+ gap
            places.append(
                Place(
                    ordinal: ordinal,
                    firstByte: firstByte,
                    keyLength: keyLength,
                    length: length,
                    identifierOffset: firstByte &+ identifier
                )
            )
            end = firstByte &+ keyLength &+ length
        }
        return places
    }

    /// So many rows make a block: one that is read for a single row should not be large.
    private static let mostRows: Int64 = 256

    /// All of them, in the rows' order.
    private(set) var blocks: [Block] = []
    private var nextRowID: Int64 = 0
    private var ordinal: Int64 = 0
    private var end: Int64 = 0

    /// Adds a row that was written after the last one.
    mutating func add(_ place: RowBatch.Place, ordinal: Int64, rowID: Int64) {
        if blocks.last.map({ rowID != nextRowID || rowID &- $0.firstRowID >= Self.mostRows }) ?? true {
            blocks.append(Block(firstRowID: rowID))
            (self.ordinal, end) = (0, 0)
        }
        // A keyed record's line begins with a brace of its own.
        let keyLength = place.keyedLineOffset < 0 ? 0 : Int64(place.chunkOffset - place.keyedLineOffset - 1)
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
