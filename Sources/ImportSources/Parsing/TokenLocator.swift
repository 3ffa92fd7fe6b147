import Foundation

/// Where tokens are in the piece of a source that yajl is fed.
///
/// yajl says where a token ends, not where it begins; inside of a record it reports the brackets of containers alone, and
/// a token may continue in the next piece. So places are found from the end of the last token that was reported, over the
/// bytes after it.
struct TokenLocator {
    /// The piece.
    private(set) var bytes = UnsafePointer<UInt8>(bitPattern: 1)!
    /// Its length in bytes.
    private(set) var count = 0
    /// Its offset in the source.
    private var base: Int64 = 0
    /// Just past the last token that was reported, counted from the piece's beginning; -1 if there was none yet.
    var lastEnd = -1
    /// What follows the last token of the pieces before.
    private(set) var tail = TrailingToken()
    /// True if yajl was not given all bytes of the token at hand.
    private var isShortened = false

    /// The offset in the source of a place in the piece.
    @inline(__always)
    func offset(_ place: Int) -> Int64 { base + Int64(place) }

    // MARK: Pieces

    /// Goes over to another piece.
    mutating func begin(_ bytes: UnsafePointer<UInt8>, _ count: Int, base: Int64) {
        self.bytes = bytes
        beginEnd(base: base)
        self.count = count
    }

    /// Goes over to what comes after the last piece, which has no bytes.
    mutating func beginEnd(base: Int64) {
        count = 0
        self.base = base
        lastEnd = -1
    }

    /// Notes what is at the end of the piece, all of which was parsed.
    mutating func end() {
        if lastEnd >= 0 {
            tail = TrailingToken(isBehindValue: !lastOpens)
            isShortened = false
        }
        if tail.advance(over: bytes, from: max(lastEnd, 0), to: count, base: base) >= 0 {
            isShortened = false
        }
    }

    /// Starts again after bytes that were not fed as pieces.
    ///
    /// - Parameter isBehindValue: whether a value ended with them.
    mutating func restart(isBehindValue: Bool) {
        lastEnd = -1
        tail = TrailingToken(isBehindValue: isBehindValue)
    }

    /// Says that the next bytes belong to the token that has begun, and are not shown to yajl.
    mutating func skipToken() {
        isShortened = true
    }

    // MARK: Tokens

    /// True if yajl has parsed all bytes of the token after the last one.
    var tokenIsWhole: Bool { !isShortened || lastEnd >= 0 }

    /// Where the token that ended at `lastEnd` or, if that is older, the one after it begins, as an offset in the source.
    func startOfToken() -> Int64 {
        if lastEnd < 0, tail.start >= 0 { return tail.start }
        var index = max(lastEnd, 0)
        while index < count, ByteScan.isSpace(bytes[index]) || Self.isSeparator(bytes[index]) { index += 1 }
        return offset(index)
    }

    /// Where a failure of yajl's is: the token that may not be there, or the byte in it that is wrong.
    ///
    /// - Parameters:
    ///   - stop: where yajl stopped, in the piece.
    ///   - message: what yajl says.
    /// - Returns: its offset in the source.
    func place(ofFailureAt stop: Int, message: String) -> Int64 {
        var tailThere = lastEnd >= 0 ? TrailingToken(isBehindValue: !lastOpens) : tail
        // Past tokens that were not reported. The one that may not be there ends where yajl stopped; only after a
        // member's value does yajl go back to where it begins.
        let limit = Self.says("after key and value", message) ? min(stop + 1, count) : stop
        let unreported = tailThere.advance(over: bytes, from: max(lastEnd, 0), to: limit, base: base, before: limit)
        let lastEnd = max(lastEnd, unreported)
        var token = tail.start
        if lastEnd >= 0 || token < 0 {
            var index = max(lastEnd, 0)
            while index < count, ByteScan.isSpace(bytes[index]) { index += 1 }
            let hadSeparator = lastEnd < 0 && tail.separator >= 0
            // yajl stops just past a comma or colon that may not be there, and further on after one that may.
            if !hadSeparator, index < count, Self.isSeparator(bytes[index]), stop > index + 1 {
                index += 1
                while index < count, ByteScan.isSpace(bytes[index]) { index += 1 }
            }
            token = offset(index)
        }
        if message.hasPrefix("lexical error"), !Self.says("invalid char in json text", message) {
            return max(token, offset(stop))
        }
        return token
    }

    /// True if the token that ended at `lastEnd` is an opening bracket; one that ended with the piece before is a number.
    private var lastOpens: Bool {
        lastEnd > 0 && (bytes[lastEnd - 1] == UInt8(ascii: "{") || bytes[lastEnd - 1] == UInt8(ascii: "["))
    }

    /// `String.contains` takes longer than yajl did with most lines.
    private static func says(_ words: String, _ message: String) -> Bool { strstr(message, words) != nil }

    @inline(__always)
    private static func isSeparator(_ byte: UInt8) -> Bool { byte == UInt8(ascii: ",") || byte == UInt8(ascii: ":") }
}
