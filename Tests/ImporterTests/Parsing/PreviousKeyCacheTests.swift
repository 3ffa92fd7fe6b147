import Importer
import Testing

@testable import ImportModel
@testable import ImportSources

/// A key is found again where the same bytes are up to its value, and nowhere else.
struct PreviousKeyCacheTests {
    /// A key of `ownCount` bytes with a colon and a space, and what may follow it, filled up to what is read.
    private static func bytes(ownCount: Int) -> (bytes: [UInt8], count: Int) {
        let own = (0..<ownCount).map { UInt8(ascii: "a") + UInt8($0 % 26) }
        let key = [UInt8(ascii: "\"")] + own + Array("\": ".utf8)
        return (key + Array(repeating: UInt8(ascii: "1"), count: 64), key.count)
    }

    @Test(arguments: 0...(PreviousKeyCache.mostBytes - 4))
    func aKeyIsFoundAgainByAllOfItsBytesAndNoOthers(ownCount: Int) {
        let keys = PreviousKeyCache()
        let (bytes, count) = Self.bytes(ownCount: ownCount)
        keys.keep(bytes, count: count, ownCount: ownCount, at: keys.first)
        #expect(keys.first.pointee.stands(at: bytes))
        #expect(keys.first.pointee.count == count)
        #expect(keys.first.pointee.ownCount == ownCount)
        for place in 0..<PreviousKeyCache.mostBytes {
            for change in [1, 0x20, 0x80] as [UInt8] {
                var changed = bytes
                changed[place] ^= change
                #expect(keys.first.pointee.stands(at: changed) == (place >= count), "\(place) of \(count)")
            }
        }
    }

    @Test func aLongerKeyIsNotKeptAndTheOneBeforeItStays() {
        let keys = PreviousKeyCache()
        let (short, count) = Self.bytes(ownCount: 5)
        let (long, longCount) = Self.bytes(ownCount: PreviousKeyCache.mostBytes - 3)
        keys.keep(short, count: count, ownCount: 5, at: keys.first)
        keys.keep(long, count: longCount, ownCount: PreviousKeyCache.mostBytes - 3, at: keys.first)
        #expect(keys.first.pointee.stands(at: short))
        #expect(!keys.first.pointee.stands(at: long))
    }

    /// Neither zeros nor anything else stand for a key where none was kept.
    @Test func nothingIsFoundWhereNothingWasKept() {
        let keys = PreviousKeyCache()
        for byte in [0, 0x22, 0xFF] as [UInt8] {
            #expect(!keys.first.pointee.stands(at: Array(repeating: byte, count: 64)))
        }
    }

    @Test func thePlaceBehindTheLastKeyStaysEmpty() {
        let keys = PreviousKeyCache(mostKeys: 2)
        let (bytes, count) = Self.bytes(ownCount: 3)
        var place = keys.first
        for _ in 0..<5 {
            keys.keep(bytes, count: count, ownCount: 3, at: place)
            place = keys.next(after: place)
        }
        #expect(place == keys.first + 2)
        #expect(!place.pointee.stands(at: bytes))
        #expect((keys.first + 1).pointee.stands(at: bytes))

        PreviousKeyCache.none.keep(bytes, count: count, ownCount: 3, at: PreviousKeyCache.none.first)
        #expect(!PreviousKeyCache.none.first.pointee.stands(at: bytes))
    }
}
