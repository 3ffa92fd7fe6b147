import ImportModel

/// The short way to a tape: JSON that is as it should be needs no second look by yajl.
///
/// yajl has the last word on everything else: what is not JSON, and where, is said in one place only.
struct RecordTokenizer {
    typealias Token = RecordTape.Token

    /// The containers that are open.
    private var open: [UInt32]
    /// Deeper records are left to yajl, whose depth is limited by the job.
    private static let mostLevels = 64

    /// - Parameter maxDepth: how many containers may stand inside each other, from 1.
    init(maxDepth: Int) {
        open = Array(repeating: 0, count: min(maxDepth, Self.mostLevels))
    }

    /// Puts a line on the tape that is one JSON value (RFC 8259) with white space around it, as yajl would.
    ///
    /// The bytes are not checked to be UTF-8.
    ///
    /// - Parameter line: one line with the LF that ends it, which is what keeps every loop from running past it.
    /// - Returns: false for everything else; the tape then has nothing of use.
    mutating func read(_ line: ByteView, onto tape: inout RecordTape) -> Bool {
        guard line.count > 1, line.count < Int(UInt32.max), line[line.count - 1] == 0x0A else { return false }
        return open.withUnsafeMutableBufferPointer { open in
            tape.fill { Self.tokenize(line, $0, open) }
        }
    }

    /// - Returns: the number of tokens, -1 for what is left to yajl, nil where there is no room for them.
    @inline(__always)
    private static func tokenize(
        _ line: ByteView,
        _ tokens: UnsafeMutableBufferPointer<Token>,
        _ open: UnsafeMutableBufferPointer<UInt32>
    ) -> Int? {
        let bytes = line.base
        guard let tape = tokens.baseAddress, let stack = open.baseAddress else { return -1 }
        let lastIndex = line.count - 1
        var index = 0
        var count = 0
        var depth = 0
        /// Whether the innermost container is an object.
        var isInObject = false

        while true {
            // A value, or the key before it; a container that is empty has neither.
            skipSpace(bytes, &index)
            // Two tokens at most before this is asked again.
            guard count + 2 <= tokens.count else { return nil }
            if isInObject {
                guard bytes[index] == UInt8(ascii: "\"") else { return -1 }
                guard string(bytes, &index, lastIndex, tape + count, at: count) else { return -1 }
                count &+= 1
                skipSpace(bytes, &index)
                guard bytes[index] == UInt8(ascii: ":") else { return -1 }
                index &+= 1
                skipSpace(bytes, &index)
            }
            let start = index
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: "\""):
                guard string(bytes, &index, lastIndex, tape + count, at: count) else { return -1 }
                count &+= 1
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                guard depth < open.count else { return -1 }
                let isObject = byte == UInt8(ascii: "{")
                tape[count] = Token(
                    kind: isObject ? .object : .array,
                    hasEscapes: false,
                    start: UInt32(truncatingIfNeeded: start),
                    length: 0,
                    next: 0
                )
                stack[depth] = UInt32(truncatingIfNeeded: count)
                depth &+= 1
                count &+= 1
                index &+= 1
                isInObject = isObject
                skipSpace(bytes, &index)
                // `]` and `}` are two behind `[` and `{`.
                if bytes[index] != byte &+ 2 { continue }
            case UInt8(ascii: "t"):
                guard literal(bytes, &index, lastIndex, 0x6575_7274, 4) else { return -1 }
                append(.boolean, start, index, tape, &count)
            case UInt8(ascii: "f"):
                guard literal(bytes, &index, lastIndex, 0x65_736C_6166, 5) else { return -1 }
                append(.boolean, start, index, tape, &count)
            case UInt8(ascii: "n"):
                guard literal(bytes, &index, lastIndex, 0x6C6C_756E, 4) else { return -1 }
                append(.null, start, index, tape, &count)
            default:
                guard number(bytes, &index) else { return -1 }
                append(.number, start, index, tape, &count)
            }
            // What follows a value: the next one, or the ends of containers.
            while true {
                guard depth > 0 else {
                    skipSpace(bytes, &index)
                    return index == lastIndex ? count : -1
                }
                skipSpace(bytes, &index)
                if bytes[index] == UInt8(ascii: ",") {
                    index &+= 1
                    break
                }
                guard bytes[index] == (isInObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
                    return -1
                }
                index &+= 1
                depth &-= 1
                let container = Int(stack[depth])
                tape[container].length = UInt32(truncatingIfNeeded: index) &- tape[container].start
                tape[container].next = UInt32(truncatingIfNeeded: count)
                isInObject = depth > 0 && tape[Int(stack[depth &- 1])].kind == .object
            }
        }
    }

    @inline(__always)
    private static func append(
        _ kind: JSONKind,
        _ start: Int,
        _ end: Int,
        _ tape: UnsafeMutablePointer<Token>,
        _ count: inout Int
    ) {
        tape[count] = Token(
            kind: kind,
            hasEscapes: false,
            start: UInt32(truncatingIfNeeded: start),
            length: UInt32(truncatingIfNeeded: end &- start),
            next: UInt32(truncatingIfNeeded: count &+ 1)
        )
        count &+= 1
    }

    /// Moves past white space; a LF stops it, as it is the end of the line.
    @inline(__always)
    private static func skipSpace(_ bytes: UnsafePointer<UInt8>, _ index: inout Int) {
        while bytes[index] == 0x20 || bytes[index] == 0x09 || bytes[index] == 0x0D { index &+= 1 }
    }

    /// Whether these are the bytes of `word`, the first one lowest.
    @inline(__always)
    private static func literal(
        _ bytes: UnsafePointer<UInt8>,
        _ index: inout Int,
        _ lastIndex: Int,
        _ word: UInt64,
        _ count: Int
    ) -> Bool {
        guard lastIndex &- index >= count else { return false }
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

    /// Moves past a string and puts it on the tape.
    @inline(__always)
    private static func string(
        _ bytes: UnsafePointer<UInt8>,
        _ index: inout Int,
        _ lastIndex: Int,
        _ token: UnsafeMutablePointer<Token>,
        at number: Int
    ) -> Bool {
        let start = index &+ 1
        index = start
        var hasEscapes = false
        while true {
            skipPlain(bytes, &index, lastIndex)
            let byte = bytes[index]
            if byte == UInt8(ascii: "\"") { break }
            // Control characters, among them the LF at the end, do not stand in strings as they are.
            guard byte == UInt8(ascii: "\\"), escape(bytes, &index) else { return false }
            hasEscapes = true
        }
        token.pointee = Token(
            kind: .string,
            hasEscapes: hasEscapes,
            start: UInt32(truncatingIfNeeded: start),
            length: UInt32(truncatingIfNeeded: index &- start),
            next: UInt32(truncatingIfNeeded: number &+ 1)
        )
        index &+= 1
        return true
    }

    /// Moves to the next quote, backslash or control character: eight bytes at a time, and the last ones one by one.
    ///
    /// After "Determine if a word has a byte less than n" (Sean Eron Anderson, Bit Twiddling Hacks): in each of the three
    /// sums the lowest byte that is marked is one that is meant.
    @inline(__always)
    private static func skipPlain(_ bytes: UnsafePointer<UInt8>, _ index: inout Int, _ lastIndex: Int) {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        while index &+ 8 <= lastIndex {
            let word = UInt64(
                littleEndian: UnsafeRawPointer(bytes + index).loadUnaligned(as: UInt64.self)
            )
            let quote = word ^ (ones &* 0x22)
            let backslash = word ^ (ones &* 0x5C)
            let found =
                ((quote &- ones) & ~quote | (backslash &- ones) & ~backslash | (word &- ones &* 0x20) & ~word) & highs
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
