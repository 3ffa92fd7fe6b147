/// What programs write that is nearly JSON, and how often it was met.
package struct LenientCounts: Sendable, Hashable {
    /// `NaN`, `Infinity`, `-Infinity` and a bare `-` where a value may be, which become null.
    package var notFinite: Int64 = 0
    /// Commas before `]` or `}`, and between values that no brackets are around.
    package var trailingComma: Int64 = 0
    /// `\xHH` and `\'` in strings.
    package var oddEscape: Int64 = 0
    /// `//` and `/* */`.
    package var comment: Int64 = 0

    package init() {}

    package static func += (counts: inout LenientCounts, other: LenientCounts) {
        counts.notFinite += other.notFinite
        counts.trailingComma += other.trailingComma
        counts.comment += other.comment
        counts.oddEscape += other.oddEscape
    }
}

/// Makes JSON of bytes that are nearly JSON, each at its place: spaces of comments and trailing commas, numbers of `NaN` and
/// `Infinity`, escapes of other escapes.
///
/// What reads a string reads these as they were written (`JSONUnescaper`).
///
/// It takes a text in pieces and does not check that it is JSON: what it does not know stays as it is.
package struct LenientScanner {
    /// What is in the text besides values.
    package struct Scope: OptionSet, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Its beginning, which may be a prefix such as `window.YTD.tweets.part0 =` or `)]}'`.
        package static let beginning = Scope(rawValue: 1 << 0)
        /// Its end, which may be `;` or `)`.
        package static let end = Scope(rawValue: 1 << 1)
        /// `NaN`, `Infinity`, and other spellings of them.
        package static let notFinite = Scope(rawValue: 1 << 2)
        /// The separators of RFC 7464.
        package static let separators = Scope(rawValue: 1 << 3)
        /// Commas after objects and arrays that nothing is around.
        package static let commas = Scope(rawValue: 1 << 4)
        /// A whole document.
        package static let document: Scope = [.beginning, .end, .notFinite, .separators, .commas]
        /// A record on a line of its own.
        package static let record: Scope = [.notFinite, .separators, .commas]
    }

    /// How far a prefix may go, in bytes.
    private static let longestPrefix = 1_000

    private var scope: Scope
    /// True if the next byte is within a string.
    private var isInString = false
    /// How many containers are open.
    private var depth: Int
    /// True if it follows a byte of a number or word.
    private var isInWord = false
    /// The last byte that was not white space; 0 for none.
    private var last: UInt8 = 0

    /// What has been found.
    package private(set) var counts = LenientCounts()
    /// Where numbers are in place of `NaN` and `Infinity`, in the bytes that were scanned last.
    package private(set) var nulls: [Range<Int>] = []
    /// Where comments are up to the end of their line, the LF included, in the bytes that were scanned last.
    package private(set) var lineComments: [Range<Int>] = []
    /// True if anything was changed in the bytes that were scanned last.
    package private(set) var hasChanges = false

    /// - Parameters:
    ///   - scope: what is in the text besides values.
    ///   - isBehindValue: true if the text begins behind a value.
    ///   - depth: how many containers are around its beginning.
    package init(_ scope: Scope, isBehindValue: Bool = false, depth: Int = 0) {
        self.scope = scope
        self.depth = depth
        last = isBehindValue ? UInt8(ascii: "}") : 0
    }

    /// Scans the bytes that come next.
    ///
    /// - Parameter isLast: whether none follow.
    /// - Returns: how many of them are scanned; the others come again, with more behind them.
    package mutating func scan(_ bytes: UnsafeMutableBufferPointer<UInt8>, isLast: Bool) -> Int {
        (nulls, lineComments, hasChanges) = ([], [], false)
        guard let base = bytes.baseAddress else { return 0 }
        var index = 0
        while index < bytes.count {
            if isInString {
                guard passString(base, &index, bytes.count, isLast) else { return index }
                continue
            }
            guard let next = token(base, index, bytes.count, isLast) else { return index }
            index = next
        }
        return index
    }

    /// Goes on in a string.
    ///
    /// - Returns: false where the bytes that follow decide what an escape is.
    private mutating func passString(
        _ bytes: UnsafeMutablePointer<UInt8>,
        _ index: inout Int,
        _ count: Int,
        _ isLast: Bool
    ) -> Bool {
        while index < count {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                isInString = false
                index += 1
                return true
            case UInt8(ascii: "\\"):
                let left = count - index
                if !isLast, left < 2 || left < 4 && bytes[index + 1] == UInt8(ascii: "x") { return false }
                if left >= 4, JSONUnescaper.byte(in: ByteView(base: bytes, count: count), at: index) != nil {
                    // An escaped backslash, as long as the escape.
                    bytes[index + 1] = UInt8(ascii: "\\")
                    (hasChanges, counts.oddEscape) = (true, counts.oddEscape + 1)
                } else if left >= 2, bytes[index + 1] == UInt8(ascii: "'") {
                    bytes[index + 1] = UInt8(ascii: "/")
                    (hasChanges, counts.oddEscape) = (true, counts.oddEscape + 1)
                }
                index = min(index + 2, count)
            default: index += 1
            }
        }
        return true
    }

    /// Passes what is not within a string.
    ///
    /// - Returns: where it ends; nil where the bytes that follow decide what it is.
    private mutating func token(
        _ bytes: UnsafeMutablePointer<UInt8>,
        _ index: Int,
        _ count: Int,
        _ isLast: Bool
    ) -> Int? {
        let byte = bytes[index]
        if JSONSyntax.isWhiteSpace(byte) {
            isInWord = false
            return index + 1
        }
        if scope.contains(.beginning), byte != UInt8(ascii: "/") {
            guard let end = prefix(bytes, index, count, isLast) else { return nil }
            scope.remove(.beginning)
            if end > index { return end }
        }
        switch byte {
        case UInt8(ascii: "/"):
            guard let end = comment(bytes, index, count, isLast) else { return nil }
            isInWord = false
            return end
        case UInt8(ascii: ",") where depth == 0:
            guard scope.contains(.commas), last == 0 || last == UInt8(ascii: "}") || last == UInt8(ascii: "]") else {
                break
            }
            guard let next = significant(bytes, index + 1, count, isLast) else { return nil }
            if next == count ? last != 0 : bytes[next] == UInt8(ascii: "{") || bytes[next] == UInt8(ascii: "[") {
                replace(bytes, index..<index + 1, with: 0x20)
                counts.trailingComma += 1
                return index + 1
            }
        case UInt8(ascii: ","):
            guard isValueEnd, let next = significant(bytes, index + 1, count, isLast) else {
                if isValueEnd, !isLast { return nil }
                break
            }
            if next < count, bytes[next] == UInt8(ascii: "]") || bytes[next] == UInt8(ascii: "}") {
                replace(bytes, index..<index + 1, with: 0x20)
                counts.trailingComma += 1
                return index + 1
            }
        case UInt8(ascii: ";"), UInt8(ascii: ")"):
            guard scope.contains(.end) else { break }
            guard isLast else { return nil }
            guard endsHere(bytes, index, count) else { break }
            replace(bytes, index..<count, with: 0x20)
            return count
        case 0x1E where scope.contains(.separators):
            replace(bytes, index..<index + 1, with: 0x20)
            isInWord = false
            return index + 1
        case UInt8(ascii: "\""): isInString = true
        case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"): depth = max(0, depth - 1)
        case UInt8(ascii: "N"), UInt8(ascii: "I"), UInt8(ascii: "n"), UInt8(ascii: "i"), UInt8(ascii: "-"),
            UInt8(ascii: "1"):
            guard !isInWord, scope.contains(.notFinite) else { break }
            var end = index + 1
            while end < count, end - index < 10, Self.isWord(bytes[end]) || bytes[end] == UInt8(ascii: "#") { end += 1 }
            if end == count, !isLast, end - index < 10 { return nil }
            let word = UnsafeBufferPointer(start: bytes + index, count: end - index)
            // A bare `-` that nothing is around is no value.
            if depth > 0 || word.count > 1 || byte != UInt8(ascii: "-"),
                Self.notFinite.contains(where: { $0.elementsEqual(word) })
            {
                // A number of as many bytes.
                let first = byte == UInt8(ascii: "-") && word.count > 1 ? index + 1 : index
                replace(bytes, first..<end, with: UInt8(ascii: "0"))
                if first + 1 < end { bytes[first + 1] = UInt8(ascii: ".") }
                nulls.append(index..<end)
                counts.notFinite += 1
            }
            (isInWord, last) = (true, bytes[end - 1])
            return end
        default: break
        }
        isInWord = Self.isWord(byte)
        last = byte
        return index + 1
    }

    /// As Python, JavaScript, the modules of Perl, C on Windows, and nginx, which has `-` for nothing, write them.
    private static let notFinite = [
        "NaN", "-NaN", "nan", "-nan", "Infinity", "-Infinity", "Inf", "-Inf", "inf", "-inf", "1.#INF", "-1.#INF",
        "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN", "-",
    ].map { Array($0.utf8) }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), 0x80..., UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "$"),
            UInt8(ascii: "+"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    /// True if a value ended before this.
    private var isValueEnd: Bool {
        switch last {
        case 0, UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "{"): false
        default: true
        }
    }

    private mutating func replace(_ bytes: UnsafeMutablePointer<UInt8>, _ range: Range<Int>, with byte: UInt8) {
        for index in range where bytes[index] != 0x0A && bytes[index] != 0x0D { bytes[index] = byte }
        hasChanges = true
    }

    // MARK: Comments

    /// Makes spaces of the comment that begins at `start`.
    ///
    /// - Returns: where it ends, or `start + 1` if it is none; nil where the bytes that follow decide.
    private mutating func comment(
        _ bytes: UnsafeMutablePointer<UInt8>,
        _ start: Int,
        _ count: Int,
        _ isLast: Bool
    ) -> Int? {
        guard let end = Self.endOfComment(bytes, start, count, isLast) else { return nil }
        guard end > start else {
            last = bytes[start]
            return start + 1
        }
        if bytes[start + 1] == UInt8(ascii: "/") { lineComments.append(start..<end) }
        replace(bytes, start..<end, with: 0x20)
        counts.comment += 1
        return end
    }

    /// Where the comment ends that begins at `start`, or `start` if there is none; nil where the bytes that follow decide.
    private static func endOfComment(
        _ bytes: UnsafeMutablePointer<UInt8>,
        _ start: Int,
        _ count: Int,
        _ isLast: Bool
    ) -> Int? {
        guard start + 1 < count else { return isLast ? start : nil }
        var index = start + 2
        switch bytes[start + 1] {
        case UInt8(ascii: "/"):
            while index < count, bytes[index] != 0x0A { index += 1 }
            return index < count ? index + 1 : isLast ? count : nil
        case UInt8(ascii: "*"):
            while index + 1 < count {
                if bytes[index] == UInt8(ascii: "*"), bytes[index + 1] == UInt8(ascii: "/") { return index + 2 }
                index += 1
            }
            return isLast ? start : nil
        default: return start
        }
    }

    /// Where the next byte is that is neither white space nor of a comment, or the end; nil where the bytes that follow decide.
    private func significant(
        _ bytes: UnsafeMutablePointer<UInt8>,
        _ start: Int,
        _ count: Int,
        _ isLast: Bool
    ) -> Int? {
        var index = start
        while index < count {
            if JSONSyntax.isWhiteSpace(bytes[index]) {
                index += 1
            } else if bytes[index] == UInt8(ascii: "/") {
                guard let end = Self.endOfComment(bytes, index, count, isLast) else { return nil }
                if end == index { return index }
                index = end
            } else {
                return index
            }
        }
        return isLast ? count : nil
    }

    // MARK: Around the document

    /// Makes spaces of the prefix that begins at `start`.
    ///
    /// - Returns: where it ends, or `start` if it is none; nil where the bytes that follow decide.
    private mutating func prefix(
        _ bytes: UnsafeMutablePointer<UInt8>,
        _ start: Int,
        _ count: Int,
        _ isLast: Bool
    ) -> Int? {
        let text = UnsafeBufferPointer(start: bytes + start, count: min(count - start, Self.longestPrefix))
        let isOpen = text.count < Self.longestPrefix && !isLast
        var end: Int?
        if text[0] == UInt8(ascii: ")") {
            guard let lineFeed = text.firstIndex(of: 0x0A) else { return isOpen ? nil : start }
            if text.starts(with: [UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: "'")]) {
                end = lineFeed
            }
        } else if Self.isName(text[0]), text[0] &- UInt8(ascii: "0") >= 10 {
            // `NAME =`, `NAME(`, `var NAME =`.
            guard let place = text.firstIndex(where: { !Self.isName($0) && !JSONSyntax.isWhiteSpace($0) }) else {
                return isOpen ? nil : start
            }
            let names = text[..<place].split(whereSeparator: JSONSyntax.isWhiteSpace)
            let isDeclared = ["var", "let", "const"].contains { $0.utf8.elementsEqual(names[0]) }
            let isAssigned = text[place] == UInt8(ascii: "=")
            if names.count == (isDeclared ? 2 : 1), isAssigned || text[place] == UInt8(ascii: "("),
                isAssigned || !isDeclared
            {
                end = place
            }
        }
        guard let end else { return start }
        replace(bytes, start..<start + end + 1, with: 0x20)
        return start + end + 1
    }

    private static func isName(_ byte: UInt8) -> Bool {
        isWord(byte) && byte != UInt8(ascii: "+") && byte != UInt8(ascii: "-")
    }

    /// True if nothing but `;`, `)` and white space follows.
    private func endsHere(_ bytes: UnsafeMutablePointer<UInt8>, _ start: Int, _ count: Int) -> Bool {
        isValueEnd
            && (start..<count).allSatisfy { index in
                let byte = bytes[index]
                return byte == UInt8(ascii: ";") || byte == UInt8(ascii: ")") || JSONSyntax.isWhiteSpace(byte)
            }
    }
}

extension LenientScanner {
    /// Scans a text as a whole.
    ///
    /// - Returns: the text as JSON, of the same length, and where null is in it as a number; nil if nothing was changed.
    package static func scan(_ text: ByteView, _ scope: Scope) -> (text: [UInt8], scanner: LenientScanner)? {
        var (scanner, copy) = (LenientScanner(scope), Array(text.buffer))
        _ = copy.withUnsafeMutableBufferPointer { scanner.scan($0, isLast: true) }
        return scanner.hasChanges ? (copy, scanner) : nil
    }
}
