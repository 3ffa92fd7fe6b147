import ImportModel

/// A record's tokens in a row, so that it can be walked as often as needed without being parsed again.
///
/// An object's token is followed by its members, a key's token and the value's tokens each; an array's by its elements.
/// `next` leads past a value. Offsets count from the beginning of the bytes that were parsed, so the tape holds no bytes
/// and no pointers between calls.
@usableFromInline package struct RecordTape {
    /// One token: 16 bytes.
    @usableFromInline package struct Token {
        /// The value's kind; a key is a string.
        @usableFromInline package fileprivate(set) var kind: JSONKind
        /// True if a string or key has a backslash, or if the bytes of an object or array may be nearly JSON.
        @usableFromInline package fileprivate(set) var hasEscapes: Bool
        /// The token's first byte; for strings and keys the first one inside of the quotes.
        @usableFromInline package let start: UInt32
        /// Its length; for strings and keys without the quotes, for containers with their brackets.
        ///
        /// 0 while a container is open.
        @usableFromInline package var length: UInt32
        /// The index of the first token past this value.
        ///
        /// 0 while a container is open.
        @usableFromInline package var next: UInt32
    }

    /// The tokens of what was parsed last, and after them what is left of longer records.
    @usableFromInline package private(set) var tokens: [Token]
    /// How many of them count.
    @usableFromInline package private(set) var count = 0
    /// True if they are those of bytes that are nearly JSON.
    @usableFromInline package private(set) var isLenient = false
    /// How many values were at the top level.
    package private(set) var values = 0
    /// Just past the last token that yajl reported, counted from the beginning of the block; -1 if there was none.
    private(set) var lastEnd = -1

    private let maxDepth: Int
    private var open: [UInt32] = []
    /// Where the block being parsed begins and ends; only valid while it is being parsed.
    private var block = UnsafeRawPointer(bitPattern: 1)!
    private var blockCount = 0

    /// - Parameter maxDepth: how many containers may be inside each other, from 1.
    package init(maxDepth: Int) {
        self.maxDepth = maxDepth
        tokens = Array(repeating: Token(kind: .null, hasEscapes: false, start: 0, length: 0, next: 0), count: 1024)
        open.reserveCapacity(64)
    }

    /// How many containers are open.
    package var depth: Int { open.count }

    /// Where the second value at the top level begins, counted from the beginning of the block; nil if there is none.
    var startOfSecondValue: Int? {
        guard values > 1 else { return nil }
        let token = tokens[Int(tokens[0].next)]
        return Int(token.start) - (token.kind == .string ? 1 : 0)
    }

    /// True if the value is an object with one member, and its value is such an object again, as many times as asked for.
    package func isMember(levels: Int) -> Bool {
        count > 2 * levels
            && (0..<levels).allSatisfy { level in
                let object = tokens[2 * level]
                return object.kind == .object && object.next > 2 * level + 1
                    && tokens[2 * level + 2].next == object.next
            }
    }

    /// True if the value at an index is no array, or one with this number of elements.
    package func mayBeRow(_ elements: Int, at index: Int) -> Bool {
        guard tokens[index].kind == .array else { return true }
        var (token, number) = (index + 1, 0)
        while token < Int(tokens[index].next) {
            token = Int(tokens[token].next)
            number += 1
        }
        return number == elements
    }

    /// Forgets all tokens and takes `block` as the bytes that come next, all at once.
    package mutating func begin(_ block: ByteView) {
        count = 0
        isLenient = false
        open.removeAll(keepingCapacity: true)
        values = 0
        lastEnd = -1
        self.block = UnsafeRawPointer(block.base)
        blockCount = block.count
    }

    /// Says that the tokens are those of bytes that are nearly JSON.
    ///
    /// - Parameter nulls: where null is in them, in place of which the tape has numbers.
    package mutating func becomeLenient(nulls: [Range<Int>]) {
        isLenient = true
        var next = 0
        for index in 0..<count {
            switch tokens[index].kind {
            case .object, .array: tokens[index].hasEscapes = true
            case .number where next < nulls.count && Int(tokens[index].start) == nulls[next].lowerBound:
                tokens[index].kind = .null
                next += 1
            default: break
            }
        }
    }

    /// Fills the tape all at once.
    ///
    /// - Parameter body: writes tokens to the memory that it is handed, and returns how many they are: those of one value, or -1
    ///   if it gives up, or `nil` if there is not enough room; then it is called again with more.
    /// - Returns: whether it did not give up.
    @inline(__always)
    package mutating func fill(_ body: (UnsafeMutableBufferPointer<Token>) -> Int?) -> Bool {
        while true {
            if let filled = tokens.withUnsafeMutableBufferPointer({ body($0) }) {
                count = max(0, filled)
                isLenient = false
                values = 1
                return filled >= 0
            }
            tokens += tokens
        }
    }

    /// Lends the tokens for the time of one call.
    ///
    /// Mutating, so that a tape which is another's property is lent in place and not copied.
    @inline(__always)
    @inlinable package mutating func withTokens(_ body: (UnsafeBufferPointer<Token>) -> Void) {
        tokens.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0[..<count])) }
    }

    /// The token at `index` as coercion takes it, its bytes borrowed from `record`, the bytes that were parsed.
    @inline(__always)
    @inlinable package func token(_ index: Int, in record: ByteView) -> JSONToken {
        tokens[index].json(in: record)
    }
}

extension RecordTape.Token {
    /// The token as coercion takes it, its bytes borrowed from `record`, the bytes that were parsed.
    @inline(__always)
    @inlinable package func json(in record: ByteView) -> JSONToken {
        JSONToken(kind: kind, bytes: bytes(in: record), hasEscapes: hasEscapes)
    }

    @inline(__always)
    @inlinable package func bytes(in record: ByteView) -> ByteView {
        ByteView(base: record.base + Int(start), count: Int(length))
    }
}

extension RecordTape: YajlHandler {
    @inline(__always)
    private mutating func append(
        _ kind: JSONKind,
        start: Int,
        length: Int,
        end: Int,
        hasEscapes: Bool = false
    ) -> Bool {
        lastEnd = end
        if open.isEmpty { values += 1 }
        if count == tokens.count { tokens += tokens }
        tokens[count] = Token(
            kind: kind,
            hasEscapes: hasEscapes,
            start: UInt32(truncatingIfNeeded: start),
            length: UInt32(truncatingIfNeeded: length),
            next: UInt32(truncatingIfNeeded: count + 1)
        )
        count += 1
        return true
    }

    @inline(__always)
    private mutating func appendString(_ bytes: ByteView, at position: YajlPosition) -> Bool {
        let offset = UnsafeRawPointer(bytes.base) - block
        if offset >= 0 && offset <= blockCount {
            return append(.string, start: offset, length: bytes.count, end: position.end)
        }
        // yajl unescaped it into a buffer of its own: look for the opening quote in front of the closing one. Inside of
        // the string each quote has an odd number of backslashes before it; the opening one has none.
        let end = position.end - 1
        var start = end
        scan: while start > 0 {
            start -= 1
            guard byte(start) == UInt8(ascii: "\"") else { continue }
            var backslashes = 0
            while start - backslashes > 0, byte(start - backslashes - 1) == UInt8(ascii: "\\") { backslashes += 1 }
            if backslashes.isMultiple(of: 2) { break scan }
        }
        return append(.string, start: start + 1, length: end - start - 1, end: end + 1, hasEscapes: true)
    }

    @inline(__always)
    private mutating func scalar(_ kind: JSONKind, length: Int, at position: YajlPosition) -> Bool {
        let end = position.end
        return append(kind, start: end - length, length: length, end: end)
    }

    @inline(__always)
    private func byte(_ offset: Int) -> UInt8 { block.load(fromByteOffset: offset, as: UInt8.self) }

    @inline(__always)
    private mutating func openContainer(_ kind: JSONKind, at position: YajlPosition) -> Bool {
        guard open.count < maxDepth else { return false }
        let index = UInt32(truncatingIfNeeded: count)
        let end = position.end
        _ = append(kind, start: end - 1, length: 0, end: end)
        tokens[Int(index)].next = 0
        open.append(index)
        return true
    }

    @inline(__always)
    private mutating func closeContainer(at position: YajlPosition) -> Bool {
        guard let index = open.popLast() else { return false }
        lastEnd = position.end
        let end = UInt32(truncatingIfNeeded: lastEnd)
        tokens[Int(index)].length = end - tokens[Int(index)].start
        tokens[Int(index)].next = UInt32(truncatingIfNeeded: count)
        return true
    }

    package mutating func null(at position: YajlPosition) -> Bool {
        scalar(.null, length: 4, at: position)
    }

    package mutating func boolean(_ value: Bool, at position: YajlPosition) -> Bool {
        scalar(.boolean, length: value ? 4 : 5, at: position)
    }

    package mutating func number(_ digits: ByteView, at position: YajlPosition) -> Bool {
        // Of the first token of a block yajl may have a copy: white space at the end of the block before makes it.
        scalar(.number, length: digits.count, at: position)
    }

    package mutating func string(_ bytes: ByteView, at position: YajlPosition) -> Bool {
        appendString(bytes, at: position)
    }

    mutating func startObject(at position: YajlPosition) -> Bool { openContainer(.object, at: position) }

    package mutating func key(_ bytes: ByteView, at position: YajlPosition) -> Bool {
        appendString(bytes, at: position)
    }

    package mutating func endObject(at position: YajlPosition) -> Bool { closeContainer(at: position) }

    mutating func startArray(at position: YajlPosition) -> Bool { openContainer(.array, at: position) }

    mutating func endArray(at position: YajlPosition) -> Bool { closeContainer(at: position) }
}
