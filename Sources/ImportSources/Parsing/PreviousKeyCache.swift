/// The keys of the value before, in the order in which they were: in most sources the next value has the same ones.
///
/// A key is kept with its quotes, the colon after it and a space around that, so that one comparison passes all
/// of it: bytes that were found to be JSON once are JSON again. A key that is elsewhere than before costs that
/// comparison in vain.
package final class PreviousKeyCache {
    /// One key with what follows it up to its value.
    package struct Key {
        /// What the bytes are, where the mask has bits.
        fileprivate var bytes = SIMD4<UInt64>()
        fileprivate var mask = SIMD4<UInt64>()
        /// How many bytes there are; 0 if there is no key.
        package fileprivate(set) var count = 0
        /// How many of them are the key's own, without its quotes.
        fileprivate(set) var ownCount = 0

        /// True if it is at `bytes`, of which `mostBytes` can be read.
        @inline(__always)
        func stands(at bytes: UnsafePointer<UInt8>) -> Bool {
            let differences = (PreviousKeyCache.words(bytes) ^ self.bytes) & mask
            return differences[0] | differences[1] | differences[2] | differences[3] == 0 && count > 0
        }
    }

    /// A key with more bytes is not kept; and this many are read where one is compared.
    package static let mostBytes = 32

    /// Keeps none: for a value that has no other before it.
    ///
    /// Its one place stays empty, so that threads only read it.
    package nonisolated(unsafe) static let none = PreviousKeyCache(mostKeys: 0)

    /// The first key; after the last one there is a place that stays empty.
    package let first: UnsafeMutablePointer<Key>
    private let end: UnsafeMutablePointer<Key>

    /// - Parameter mostKeys: of a value with more keys the later ones are not kept.
    package init(mostKeys: Int = 64) {
        first = .allocate(capacity: mostKeys + 1)
        first.initialize(repeating: Key(), count: mostKeys + 1)
        end = first + mostKeys
    }

    deinit { first.deallocate() }

    /// The place of the key after this one.
    @inline(__always)
    package func next(after key: UnsafeMutablePointer<Key>) -> UnsafeMutablePointer<Key> {
        key < end ? key + 1 : key
    }

    /// Keeps a key instead of the one that was there before.
    ///
    /// - Parameters:
    ///   - place: where it is among the keys.
    ///   - bytes: its opening quote; `mostBytes` can be read.
    ///   - count: how many bytes there are up to its value; no CR or LF is among them, as the output would not be told.
    ///   - ownCount: how many of them are the key's own, without its quotes; there is no backslash among them.
    package func keep(_ bytes: UnsafePointer<UInt8>, count: Int, ownCount: Int, at place: UnsafeMutablePointer<Key>) {
        guard place < end, count <= Self.mostBytes else { return }
        var mask = SIMD4<UInt64>()
        for word in 0..<4 { mask[word] = ~0 >> UInt64(min(max(64 - 8 * (count - 8 * word), 0), 64)) }
        place.pointee = Key(bytes: Self.words(bytes) & mask, mask: mask, count: count, ownCount: ownCount)
    }

    /// The first byte is lowest.
    @inline(__always)
    private static func words(_ bytes: UnsafePointer<UInt8>) -> SIMD4<UInt64> {
        let bytes = UnsafeRawPointer(bytes)
        return SIMD4(
            UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self)),
            UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
            UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self)),
            UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 24, as: UInt64.self))
        )
    }
}
