import TestSupport
import Testing

@testable import ImportModel

struct UTF8AndEscapesTests {
    private func firstInvalid(_ bytes: [UInt8]) -> Int? {
        bytes.withUnsafeBufferPointer { UTF8Validation.firstInvalid(in: ByteView($0)) }
    }

    @Test func takesEveryScalarAtEveryOffset() {
        for scalar: UInt32 in [0, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF] {
            for before in 0..<35 {
                guard let scalar = Unicode.Scalar(scalar) else { continue }
                let text = String(repeating: "x", count: before) + String(scalar)
                #expect(firstInvalid(Array(text.utf8)) == nil)
                #expect(firstInvalid(Array((text + String(repeating: "y", count: 40)).utf8)) == nil)
            }
        }
    }

    @Test func refusesEveryWrongFormWhereItBegins() {
        let wrong: [[UInt8]] = [
            [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC2], [0xC2, 0x41], [0xC2, 0xC0], [0xE0, 0x80, 0x80],
            [0xE0, 0x9F, 0xBF], [0xE1, 0x80], [0xE1, 0x80, 0x41], [0xE1, 0x41, 0x80], [0xED, 0xA0, 0x80],
            [0xED, 0xBF, 0xBF], [0xEF, 0xBF], [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x8F, 0xBF, 0xBF], [0xF0, 0x90, 0x80],
            [0xF0, 0x90, 0x80, 0x41], [0xF0, 0x90, 0x41, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80],
            [0xF8, 0x88, 0x80, 0x80, 0x80], [0xFE], [0xFF],
        ]
        for bytes in wrong {
            for before in 0..<35 {
                let head = Array(repeating: UInt8(ascii: "x"), count: before)
                #expect(firstInvalid(head + bytes) == before, "\(bytes)")
                #expect(firstInvalid(head + bytes + head) == before, "\(bytes)")
                #expect(firstInvalid([0xC3, 0xA9] + head + bytes + head) == before + 2, "\(bytes)")
            }
        }
    }

    @Test func agreesWithTheStandardLibraryOnRandomBytes() {
        var generator = SeededGenerator(seed: 7)
        let likely: [UInt8] = [0x41, 0x80, 0xBF, 0xC2, 0xE0, 0xA0, 0xED, 0x9F, 0xF0, 0x90, 0xF4, 0x8F, 0xC0, 0xFF]
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...9, using: &generator)).map { _ in
                likely.randomElement(using: &generator) ?? 0
            }
            #expect((firstInvalid(bytes) == nil) == (String(validating: bytes, as: UTF8.self) != nil), "\(bytes)")
        }
    }

    private func unescaped(_ text: String) -> (text: String, isLone: Bool) {
        var output: [UInt8] = Array("<".utf8)
        let isLone = withView(text) { view in
            let isLone = JSONUnescaper.append(view, to: &output)
            #expect((JSONUnescaper.firstLoneSurrogate(in: view) != nil) == isLone)
            #expect(JSONUnescaper.hasNUL(in: view) == output.contains(0))
            return isLone
        }
        return (String(decoding: output.dropFirst(), as: UTF8.self), isLone)
    }

    @Test func findsNULAmongOtherEscapes() {
        #expect(unescaped(#"a\u0000b"#).text == "a\0b" && unescaped(#"\\\u0000"#).text == "\\\0")
        #expect(unescaped(#"\\u0000"#).text == #"\u0000"# && unescaped(#"\u0001\ud83d\ude00"#).text == "\u{1}😀")
    }

    @Test func unescapesEveryCodePoint() {
        for value in stride(from: UInt32(0), to: 0x110000, by: 37) {
            guard let scalar = Unicode.Scalar(value) else { continue }
            var escape = "a"
            for unit in String(scalar).utf16 {
                let digits = String(unit, radix: 16, uppercase: value % 2 == 0)
                escape += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
            #expect(unescaped(escape + "b").text.unicodeScalars.elementsEqual(["a", scalar, "b"]))
        }
    }

    @Test func replacesLoneSurrogatesOnly() {
        let rows: [(String, String, Bool)] = [
            (#"\ud800"#, "\u{FFFD}", true), (#"\udc00"#, "\u{FFFD}", true), (#"\ud800x"#, "\u{FFFD}x", true),
            (#"\ud800\u0041"#, "\u{FFFD}A", true), (#"\ud800\n"#, "\u{FFFD}\n", true),
            (#"\ud800\ud800\udc00"#, "\u{FFFD}\u{10000}", true), (#"\udc00\ud800"#, "\u{FFFD}\u{FFFD}", true),
            (#"\udbff\udfff"#, "\u{10FFFF}", false), (#"\\ud800"#, #"\ud800"#, false), (#"\ufffd"#, "\u{FFFD}", false),
        ]
        for (text, expected, isLone) in rows {
            let result = unescaped(text)
            #expect(result.text.unicodeScalars.elementsEqual(expected.unicodeScalars), "\(text)")
            #expect(result.isLone == isLone, "\(text)")
        }
    }

    @Test func doesNotReadPastBrokenEscapes() {
        for text in [#"\"#, #"\u"#, #"\u12"#, #"\u12g4"#, #"\ud800\"#, #"\ud800\u"#, #"\ud800\udc0"#] {
            var output: [UInt8] = []
            _ = withView(text) { JSONUnescaper.append($0, to: &output) }
        }
    }
}
