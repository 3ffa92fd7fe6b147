import Foundation

/// The transformers that every registry has.
enum BuiltInTransformer: String, Sendable, CaseIterable {
    case trim
    case lowercase
    case uppercase
    case emptyToNull
    case htmlUnescape
    case htmlEscape
    case collapseWhitespace
    case normalizeNFC

    /// What this does to `text`, which is valid UTF-8.
    ///
    /// Costs no allocation where it leaves the text as it is, if that is ASCII.
    func effect(on text: ByteView) -> TransformEffect {
        switch self {
        case .trim:
            let range = text.trimmedRange
            return range == 0..<text.count ? .none : .part(range)
        case .emptyToNull:
            return text.count == 0 ? .null : .none
        case .lowercase:
            guard let isASCII = text.isASCII(unlessIn: UInt8(ascii: "A")...UInt8(ascii: "Z")) else { return .none }
            return isASCII ? .bytes(text.buffer.map { $0.asciiLowercased }) : .changed(text) { $0.lowercased() }
        case .uppercase:
            guard let isASCII = text.isASCII(unlessIn: UInt8(ascii: "a")...UInt8(ascii: "z")) else { return .none }
            return isASCII ? .bytes(text.buffer.map(Self.uppercase)) : .changed(text) { $0.uppercased() }
        case .htmlUnescape:
            return HTMLUnescape.apply(text).map(TransformEffect.bytes) ?? .none
        case .htmlEscape:
            return Self.escaped(text)
        case .collapseWhitespace:
            return Self.collapsed(text)
        case .normalizeNFC:
            // All that precedes U+0300 is in this form.
            guard text.buffer.contains(where: { $0 >= 0xCC }) else { return .none }
            // Taken apart first: Foundation on Linux does not put a syllable and a final consonant together otherwise, nor
            // some characters with several marks.
            return .changed(text) { $0.decomposedStringWithCanonicalMapping.precomposedStringWithCanonicalMapping }
        }
    }

    private static func uppercase(_ byte: UInt8) -> UInt8 {
        byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z") ? byte & 0xDF : byte
    }

    private static func escaped(_ text: ByteView) -> TransformEffect {
        guard text.buffer.contains(where: { escape(for: $0) != nil }) else { return .none }
        var output: [UInt8] = []
        for byte in text.buffer {
            if let escape = escape(for: byte) {
                output.append(contentsOf: UnsafeBufferPointer(start: escape.utf8Start, count: escape.utf8CodeUnitCount))
            } else {
                output.append(byte)
            }
        }
        return .bytes(output)
    }

    private static func escape(for byte: UInt8) -> StaticString? {
        switch byte {
        case UInt8(ascii: "&"): "&amp;"
        case UInt8(ascii: "<"): "&lt;"
        case UInt8(ascii: ">"): "&gt;"
        case UInt8(ascii: "\""): "&quot;"
        case UInt8(ascii: "'"): "&#x27;"
        default: nil
        }
    }

    private static func collapsed(_ text: ByteView) -> TransformEffect {
        var index = 0
        while index < text.count {
            let length = text.whiteSpaceLength(at: index)
            // Something else than one space.
            if length > 0, text[index] != 0x20 || text.whiteSpaceLength(at: index + 1) > 0 { break }
            index += 1
        }
        guard index < text.count else { return .none }
        var output = Array(text[0..<index].buffer)
        while index < text.count {
            var length = text.whiteSpaceLength(at: index)
            guard length > 0 else {
                output.append(text[index])
                index += 1
                continue
            }
            output.append(0x20)
            while length > 0 {
                index += length
                length = text.whiteSpaceLength(at: index)
            }
        }
        return .bytes(output)
    }
}

/// What one transformer does to a text.
enum TransformEffect {
    /// Nothing.
    case none
    /// It becomes null.
    case null
    /// A part of it is left.
    case part(Range<Int>)
    /// It becomes another.
    case bytes([UInt8])

    /// What a function of strings does.
    static func changed(_ text: ByteView, _ transform: (String) -> String) -> TransformEffect {
        TransformEffect(text, transform(String(decoding: text.buffer, as: UTF8.self)))
    }

    /// What is to be done for `text` to become `result`.
    init(_ text: ByteView, _ result: String?) {
        guard let result else {
            self = .null
            return
        }
        self = result.utf8.elementsEqual(text.buffer) ? .none : .bytes(Array(result.utf8))
    }
}

extension ByteView {
    /// True if all is ASCII; nil if it is and no byte lies in `range`.
    fileprivate func isASCII(unlessIn range: ClosedRange<UInt8>) -> Bool? {
        var isFound = false
        for byte in buffer {
            if byte >= 0x80 { return false }
            isFound = isFound || range.contains(byte)
        }
        return isFound ? true : nil
    }

    /// The range without white space around it, as Unicode has it.
    fileprivate var trimmedRange: Range<Int> {
        var (start, end) = (0, count)
        while start < end {
            let length = whiteSpaceLength(at: start)
            guard length > 0 else { break }
            start += length
        }
        while end > start {
            // The last character begins at most two bytes before the last byte, if it is white space.
            var first = end - 1
            while first > start, end - first < 3, self[first] & 0xC0 == 0x80 { first -= 1 }
            guard first + whiteSpaceLength(at: first) == end else { break }
            end = first
        }
        return start..<end
    }

    /// The length of the character of Unicode's `White_Space` at `index`; 0 if there is none.
    fileprivate func whiteSpaceLength(at index: Int) -> Int {
        guard index < count else { return 0 }
        let byte = self[index]
        switch byte {
        case 0x20, 0x09...0x0D: return 1
        // U+0085, U+00A0
        case 0xC2: return index + 1 < count && (self[index + 1] == 0x85 || self[index + 1] == 0xA0) ? 2 : 0
        case 0xE1, 0xE2, 0xE3:
            guard index + 2 < count else { return 0 }
            switch (byte, self[index + 1], self[index + 2]) {
            // U+1680, U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F, U+3000
            case (0xE1, 0x9A, 0x80), (0xE2, 0x80, 0x80...0x8A), (0xE2, 0x80, 0xA8...0xA9), (0xE2, 0x80, 0xAF),
                (0xE2, 0x81, 0x9F), (0xE3, 0x80, 0x80):
                return 3
            default: return 0
            }
        default: return 0
        }
    }
}
