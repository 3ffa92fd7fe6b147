import Importer
import TestSupport
import Testing

@testable import ImportEngine
@testable import ImportSQLite

/// Where records are is found again for each row, wherever they are.
struct RecordPositionsTests {
    @Test(arguments: [1, 255, 256, 257, 3_000])
    func keepsEachPlace(count: Int) throws {
        var random = SeededGenerator(seed: UInt64(count))
        var places = RecordPositions()
        var expected: [Int64: [Int64]] = [:]
        var byteOffset: Int64 = 0
        var rowID: Int64 = 0
        let chunk = (0..<200).map { _ in UInt8.random(in: 0...255, using: &random) }
        var heads: [Int64: [UInt8]] = [:]
        for _ in 0..<count {
            // Most rows follow each other; a gap between row ids must not shift those after it.
            rowID += Int.random(in: 0..<50, using: &random) == 0 ? 3 : 1
            let isKeyed = Bool.random(using: &random)
            let prefix = isKeyed ? [1, 1, 5, 90].randomElement(using: &random) ?? 1 : 0
            let keyLength =
                isKeyed && (prefix == 1 || Bool.random(using: &random)) ? Int.random(in: 3..<400, using: &random) : 0
            byteOffset += Int64(keyLength) + Int64.random(in: 0..<1 << Int64.random(in: 1..<50, using: &random))
            let lineOffset = Int.random(in: 0..<3, using: &random)
            let place = RowBatch.RecordLocation(
                chunkOffset: lineOffset + prefix + keyLength,
                keyedLineOffset: isKeyed ? lineOffset : -1,
                prefix: prefix,
                byteOffset: byteOffset,
                length: Int.random(in: 0..<1 << Int.random(in: 1..<30, using: &random), using: &random),
                // The identifier may be the key, or anywhere in the record.
                identifierOffset: byteOffset + Int64.random(in: Int64(-keyLength)...100, using: &random)
            )
            places.add(place, ordinal: rowID * 2, rowID: rowID, chunk)
            heads[rowID] = prefix > 1 ? Array(chunk[lineOffset..<lineOffset + prefix]) : []
            expected[rowID] = [
                rowID * 2, byteOffset - Int64(keyLength), Int64(keyLength), Int64(place.length), place.identifierOffset,
            ]
            byteOffset += Int64(place.length)
        }
        var found: [Int64: [Int64]] = [:]
        for block in places.blocks {
            let stored = RecordPositions.positions(in: block.bytes)
            #expect(stored.count <= 256)
            for (index, place) in stored.enumerated() {
                #expect(place.head == heads[block.firstRowID + Int64(index)])
                found[block.firstRowID + Int64(index)] = [
                    place.ordinal, place.firstByte, place.keyLength, place.length, place.identifierOffset,
                ]
            }
        }
        #expect(found == expected)
    }
}
