import ImportModel

/// What gets the tokens of a value that is plainly JSON, in their order.
protocol FastJSONHandler {
    /// True if a line feed is white space, and not what stops every loop.
    static var spaceHasLineFeeds: Bool { get }

    /// True if there is room for two more tokens.
    var hasRoom: Bool { get }

    /// White space with a CR or LF was passed.
    mutating func lineBreak()
    /// A string or key; from `start` to `end` without its quotes.
    mutating func string(from start: Int, to end: Int, hasEscapes: Bool)
    mutating func scalar(_ kind: JSONKind, from start: Int, to end: Int)
    mutating func open(_ kind: JSONKind, at start: Int)
    /// The innermost container ends before `end`.
    mutating func close(at end: Int)
}

/// The short way over JSON that is as it should be.
///
/// yajl has the last word on everything else: what is not JSON, and where, is said in one place only.
enum FastJSON {
    /// Deeper values are left to yajl, whose depth is limited by the job.
    static let mostLevels = 64

    // More than 60 lines: with the numbers and literals in a function of their own, an import needs 1 % more instructions.
    /// Moves past one JSON value (RFC 8259).
    ///
    /// The bytes are not checked to be UTF-8.
    ///
    /// - Parameters:
    ///   - start: its first byte, in `bytes`.
    ///   - bytes: they include `bytes[last]`.
    ///   - last: where a control character is that is no white space here, so that nothing runs past it.
    ///   - maxDepth: how many containers may be inside each other, from 1 to `mostLevels`.
    ///   - keys: those of the value before, which become this one's.
    ///   - output: what gets its tokens.
    /// - Returns: just past it; -1 for what is left to yajl, and where there was no room.
    // More than 60 lines: a part of it in a function of its own is not inlined, which costs each value a call.
    @inline(__always)
    static func end<Output: FastJSONHandler>(
        of start: Int,
        in bytes: UnsafePointer<UInt8>,
        last: Int,
        maxDepth: Int,
        _ keys: PreviousKeyCache,
        _ output: inout Output
    ) -> Int {
        var index = start
        var depth = 0
        /// The key that was here in the value before.
        var key = keys.first
        /// The open containers, the innermost one lowest: 1 for an object.
        var objects: UInt64 = 0

        while true {
            // A value, or the key before it; a container that is empty has neither.
            guard output.hasRoom else { return -1 }
            if objects & 1 != 0 {
                guard pass(key, of: keys, in: bytes, &index, last, &output) else { return -1 }
                key = keys.next(after: key)
            }
            let begin = index
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: "\""):
                guard string(bytes, &index, last, &output) != nil else { return -1 }
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                guard depth < maxDepth else { return -1 }
                let isObject = byte == UInt8(ascii: "{")
                output.open(isObject ? .object : .array, at: begin)
                depth &+= 1
                objects = objects << 1 | (isObject ? 1 : 0)
                index &+= 1
                skipSpace(bytes, &index, &output)
                // `]` and `}` are two after `[` and `{`.
                if bytes[index] != byte &+ 2 { continue }
            case UInt8(ascii: "t"):
                guard literal(bytes, &index, last, 0x6575_7274, 4) else { return -1 }
                output.scalar(.boolean, from: begin, to: index)
            case UInt8(ascii: "f"):
                guard literal(bytes, &index, last, 0x65_736C_6166, 5) else { return -1 }
                output.scalar(.boolean, from: begin, to: index)
            case UInt8(ascii: "n"):
                guard literal(bytes, &index, last, 0x6C6C_756E, 4) else { return -1 }
                output.scalar(.null, from: begin, to: index)
            default:
                guard number(bytes, &index) else { return -1 }
                output.scalar(.number, from: begin, to: index)
            }
            // What follows a value: the next one, or the ends of containers.
            while true {
                guard depth > 0 else { return index }
                skipSpace(bytes, &index, &output)
                if bytes[index] == UInt8(ascii: ",") {
                    index &+= 1
                    skipSpace(bytes, &index, &output)
                    break
                }
                guard bytes[index] == (objects & 1 != 0 ? UInt8(ascii: "}") : UInt8(ascii: "]")) else { return -1 }
                index &+= 1
                depth &-= 1
                objects >>= 1
                output.close(at: index)
            }
        }
    }

    /// Moves past a key, the colon after it and the space around that.
    ///
    /// - Parameter kept: the key that was here in the value before.
    /// - Returns: false for what is left to yajl.
    @inline(__always)
    private static func pass<Output: FastJSONHandler>(
        _ kept: UnsafeMutablePointer<PreviousKeyCache.Key>,
        of keys: PreviousKeyCache,
        in bytes: UnsafePointer<UInt8>,
        _ index: inout Int,
        _ last: Int,
        _ output: inout Output
    ) -> Bool {
        let begin = index
        let canCompare = begin &+ PreviousKeyCache.mostBytes <= last
        if canCompare, kept.pointee.stands(at: bytes + begin) {
            output.string(from: begin &+ 1, to: begin &+ 1 &+ kept.pointee.ownCount, hasEscapes: false)
            index &+= kept.pointee.count
            skipSpace(bytes, &index, &output)
            return true
        }
        guard bytes[index] == UInt8(ascii: "\"") else { return false }
        guard let hasEscapes = string(bytes, &index, last, &output) else { return false }
        let ownCount = index &- begin &- 2
        let isShort = skipSpace(bytes, &index, &output)
        guard bytes[index] == UInt8(ascii: ":") else { return false }
        index &+= 1
        if skipSpace(bytes, &index, &output), isShort, canCompare, !hasEscapes {
            keys.keep(bytes + begin, count: index &- begin, ownCount: ownCount, at: kept)
        }
        return true
    }

    /// Moves past white space.
    ///
    /// - Returns: whether it is none or one space.
    @discardableResult
    @inline(__always)
    static func skipSpace<Output: FastJSONHandler>(
        _ bytes: UnsafePointer<UInt8>,
        _ index: inout Int,
        _ output: inout Output
    ) -> Bool {
        if bytes[index] > 0x20 { return true }
        // A branch, which is predicted: reading on need not wait for this byte.
        if bytes[index] == 0x20, bytes[index &+ 1] > 0x20 {
            index &+= 1
            return true
        }
        let space = endOfSpace(bytes, index, hasLineFeeds: Output.spaceHasLineFeeds)
        index = space.end
        if space.hasLineBreaks { output.lineBreak() }
        return false
    }

    /// Where white space ends that continues here, and whether it has a CR or LF.
    @inline(never)
    private static func endOfSpace(
        _ bytes: UnsafePointer<UInt8>,
        _ start: Int,
        hasLineFeeds: Bool
    ) -> (end: Int, hasLineBreaks: Bool) {
        var index = start
        var hasLineBreaks = false
        while true {
            let byte = bytes[index]
            if byte == 0x0D || (byte == 0x0A && hasLineFeeds) {
                hasLineBreaks = true
            } else if byte != 0x20 && byte != 0x09 {
                return (index, hasLineBreaks)
            }
            index &+= 1
        }
    }

    /// True if these are the bytes of `word`, the first one lowest.
    @inline(__always)
    private static func literal(
        _ bytes: UnsafePointer<UInt8>,
        _ index: inout Int,
        _ last: Int,
        _ word: UInt64,
        _ count: Int
    ) -> Bool {
        guard last &- index >= count else { return false }
        var found: UInt64 = 0
        for place in 0..<count { found |= UInt64(bytes[index &+ place]) << UInt64(8 &* place) }
        index &+= count
        return found == word
    }

    /// Moves past a number (RFC 8259 §6).
    @inline(__always)
    private static func number(_ bytes: UnsafePointer<UInt8>, _ index: inout Int) -> Bool {
        if bytes[index] == UInt8(ascii: "-") { index &+= 1 }
        if bytes[index] == UInt8(ascii: "0") {
            index &+= 1
        } else {
            guard digits(bytes, &index) else { return false }
        }
        if bytes[index] == UInt8(ascii: ".") {
            index &+= 1
            guard digits(bytes, &index) else { return false }
        }
        if bytes[index] | 0x20 == UInt8(ascii: "e") {
            index &+= 1
            if bytes[index] == UInt8(ascii: "+") || bytes[index] == UInt8(ascii: "-") { index &+= 1 }
            guard digits(bytes, &index) else { return false }
        }
        return true
    }

    @inline(__always)
    private static func digits(_ bytes: UnsafePointer<UInt8>, _ index: inout Int) -> Bool {
        let start = index
        while bytes[index] &- UInt8(ascii: "0") < 10 { index &+= 1 }
        return index > start
    }

    // MARK: Strings

    /// Moves past a string.
    ///
    /// - Returns: whether it has a backslash; nil for what is left to yajl.
    @inline(__always)
    static func string<Output: FastJSONHandler>(
        _ bytes: UnsafePointer<UInt8>,
        _ index: inout Int,
        _ last: Int,
        _ output: inout Output
    ) -> Bool? {
        let start = index &+ 1
        index = start
        var hasEscapes = false
        while true {
            skipPlain(bytes, &index, last)
            let byte = bytes[index]
            if byte == UInt8(ascii: "\"") { break }
            // Control characters, among them the one at the end, are not in strings as they are.
            guard byte == UInt8(ascii: "\\"), escape(bytes, &index) else { return nil }
            hasEscapes = true
        }
        output.string(from: start, to: index, hasEscapes: hasEscapes)
        index &+= 1
        return hasEscapes
    }

    /// Moves to the next quote, backslash or control character: eight bytes at a time, and the last ones one by one.
    ///
    /// After "Determine if a word has a byte less than n" (Sean Eron Anderson, Bit Twiddling Hacks): in each of the two
    /// sums the lowest byte that is marked is one that is meant.
    @inline(__always)
    private static func skipPlain(_ bytes: UnsafePointer<UInt8>, _ index: inout Int, _ last: Int) {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        while index &+ 8 <= last {
            let word = UInt64(
                littleEndian: UnsafeRawPointer(bytes + index).loadUnaligned(as: UInt64.self)
            )
            // With this bit turned, a quote (0x22) is right above the control characters, and no other byte does.
            let low = word ^ (ones &* 0x02)
            let backslash = word ^ (ones &* 0x5C)
            let found = ((low &- ones &* 0x21) | (backslash &- ones)) & ~word & highs
            if found != 0 {
                index &+= found.trailingZeroBitCount >> 3
                return
            }
            index &+= 8
        }
        while bytes[index] >= 0x20, bytes[index] != UInt8(ascii: "\""), bytes[index] != UInt8(ascii: "\\") {
            index &+= 1
        }
    }

    /// Moves past an escape (RFC 8259 §7), which begins with a backslash.
    private static func escape(_ bytes: UnsafePointer<UInt8>, _ index: inout Int) -> Bool {
        index += 1
        switch bytes[index] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            index += 1
            return true
        case UInt8(ascii: "u"):
            for _ in 0..<4 {
                index += 1
                let byte = bytes[index]
                guard byte &- UInt8(ascii: "0") < 10 || (byte | 0x20) &- UInt8(ascii: "a") < 6 else { return false }
            }
            index += 1
            return true
        default: return false
        }
    }
}
