/// A key as a terminal sends it.
enum Key: Sendable, Hashable {
    case character(Character)
    case tab
    case backTab
    case enter
    case escape
    case up
    case down
    case left
    case right
    case home
    case end
    case pageUp
    case pageDown
    /// Ctrl-L: draw everything again.
    case redraw
}

/// Makes keys of bytes; a sequence may come in pieces.
struct KeyReader {
    /// No sequence is as long; bytes beyond that are dropped.
    private static let longest = 32

    private var pending: [UInt8] = []

    /// True if a sequence has begun and may continue.
    var isInside: Bool { !pending.isEmpty }

    /// The keys that `bytes` complete.
    mutating func take(_ bytes: some Sequence<UInt8>) -> [Key] {
        pending += bytes
        var keys: [Key] = []
        while let (key, count) = next() {
            pending.removeFirst(count)
            if let key { keys.append(key) }
        }
        if pending.count > Self.longest { pending = [] }
        return keys
    }

    /// What a sequence was that did not continue: the escape key, or nothing.
    mutating func flush() -> [Key] {
        defer { pending = [] }
        return pending == [0x1B] ? [.escape] : []
    }

    /// The first key of what is pending, and how many bytes it has; nil while it is not whole.
    private func next() -> (Key?, Int)? {
        guard let first = pending.first else { return nil }
        switch first {
        case 0x1B: return sequence()
        case 0x09: return (.tab, 1)
        case 0x0A, 0x0D: return (.enter, 1)
        case 0x0C: return (.redraw, 1)
        case 0..<0x20, 0x7F: return (nil, 1)
        case 0..<0x80: return (.character(Character(Unicode.Scalar(first))), 1)
        default: return character(first)
        }
    }

    private func character(_ first: UInt8) -> (Key?, Int)? {
        let count = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1
        guard pending.count >= count else { return nil }
        guard count > 1, let text = String(validating: pending.prefix(count), as: UTF8.self), let key = text.first
        else { return (nil, 1) }
        return (.character(key), count)
    }

    /// `ESC [ parameters final`, `ESC O final`, or ESC and another key.
    private func sequence() -> (Key?, Int)? {
        guard pending.count > 1 else { return nil }
        let isApplication = pending[1] == UInt8(ascii: "O")
        guard pending[1] == UInt8(ascii: "[") || isApplication else {
            return pending[1] == 0x1B ? (.escape, 1) : (nil, 2)
        }
        guard let end = pending.dropFirst(2).firstIndex(where: { !(0x20..<0x40).contains($0) }) else { return nil }
        // What cannot be in a sequence ends it, and may begin the next.
        guard (0x40..<0x7F).contains(pending[end]) else { return (nil, end) }
        // What follows a semicolon are modifiers.
        let parameter = String(decoding: pending[2..<end].prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self)
        return (Self.key(final: pending[end], parameter: parameter), end + 1)
    }

    private static func key(final: UInt8, parameter: String) -> Key? {
        switch (Character(Unicode.Scalar(final)), parameter) {
        case ("A", _): .up
        case ("B", _): .down
        case ("C", _): .right
        case ("D", _): .left
        case ("H", _), ("~", "1"), ("~", "7"): .home
        case ("F", _), ("~", "4"), ("~", "8"): .end
        case ("~", "5"): .pageUp
        case ("~", "6"): .pageDown
        case ("Z", _): .backTab
        default: nil
        }
    }
}
