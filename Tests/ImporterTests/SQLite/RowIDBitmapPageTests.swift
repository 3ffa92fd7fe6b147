import ImportSources
import Importer
import TestSupport
import Testing

/// A page has the row ids that were put into it, and its blob is the same page.
struct RowIDBitmapPageTests {
    @Test(arguments: [0, 1, 7, 4_096, 4_097, 60_000]) func isTheSameAsItsBlob(count: Int) {
        var generator = SeededGenerator(seed: UInt64(count))
        var page = RowIDBitmapPage()
        var expected: Set<UInt16> = []
        while expected.count < count {
            let offset = UInt16(generator.next(65_536))
            expected.insert(offset)
            page.insert(offset)
        }
        let read = RowIDBitmapPage(page.bytes)
        #expect(read == page)
        #expect((0...UInt16.max).filter { page.contains($0) } == expected.sorted())
        #expect(page.bytes.count <= 8_193)
    }

    @Test func hasRangesAndLosesWhatComesAfterOne() {
        var generator = SeededGenerator(seed: 4)
        for _ in 0..<200 {
            let (one, other) = (UInt16(generator.next(65_536)), UInt16(generator.next(65_536)))
            let range = min(one, other)...max(one, other)
            var page = RowIDBitmapPage()
            page.insert(range)
            #expect(page.contains(range.lowerBound) && page.contains(range.upperBound))
            #expect((0...UInt16.max).count { page.contains($0) } == range.count)
            let end = UInt16(generator.next(65_536))
            page.remove(after: end)
            #expect((0...UInt16.max).count { page.contains($0) } == range.count { $0 <= end })
        }
    }

    @Test(arguments: [[], [2], [0, 1], [1], [UInt8](repeating: 1, count: 8_192)]) func isNothingElse(bytes: [UInt8]) {
        #expect(RowIDBitmapPage(bytes) == nil)
    }
}
