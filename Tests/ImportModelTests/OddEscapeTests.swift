import Testing

@testable import ImportModel

/// Escapes that JSON lacks, and what else nginx writes.
struct OddEscapeTests {
    private func unescaped(_ text: String) -> (text: String, isLossy: Bool) {
        var output: [UInt8] = []
        let isLossy = withView(text) { JSONUnescaper.append($0, to: &output) }
        return (String(decoding: output, as: UTF8.self), isLossy)
    }

    @Test(arguments: [
        (#"a\x22b\x5Cc"#, "a\"b\\c", false), (#"\x09"#, "\t", false), (#"it\'s"#, "it's", false),
        (#"caf\xC3\xA9"#, "café", false), (#"caf\xE9 \u00e9"#, "caf\u{FFFD} é", true), (#"\xC3"#, "\u{FFFD}", true),
    ])
    func areBytes(json: String, text: String, isLossy: Bool) {
        let (found, isFoundLossy) = unescaped(json)
        #expect(found == text && isFoundLossy == isLossy)
    }

    private func scanned(_ text: String) -> (text: String, counts: LenientCounts) {
        withView(text) { view in
            LenientScanner.scan(view, .record).map { (String(decoding: $0.text, as: UTF8.self), $0.scanner.counts) }
                ?? (text, LenientCounts())
        }
    }

    /// Each at its place: the tokens are those of the text as it is.
    @Test(arguments: [
        (#"{"a":"\x22"}"#, #"{"a":"\\22"}"#), (#"{"a":"it\'s"}"#, #"{"a":"it\/s"}"#), (#"{"a":-}"#, #"{"a":0}"#),
        (#"{"a":-,"b":1.#INF,"c":-1.#IND}"#, #"{"a":0,"b":0.0000,"c":-0.0000}"#),
        (#"{"a":1},"#, #"{"a":1} "#), (#",{"a":1}"#, #" {"a":1}"#), ("{},{}", "{} {}"),
        (#"{"a":"\\x22"}"#, #"{"a":"\\x22"}"#), (#"{"a":"\xg2"}"#, #"{"a":"\xg2"}"#), ("1,2", "1,2"), ("{},2", "{},2"),
        ("{\"a\":- }", "{\"a\":0 }"), ("[1,-2,-]", "[1,-2,0]"),
    ])
    func becomeJSON(text: String, json: String) {
        #expect(scanned(text).text == json)
    }

    @Test func areCounted() {
        let counts = scanned(#"{"a":"\x22\x5C","b":"\'","c":-},"#).counts
        #expect(counts.oddEscape == 3 && counts.notFinite == 1 && counts.trailingComma == 1)
    }

    @Test(arguments: [#"{"a":"x\x22\xC3\xA9\'","b":-,"c":1.#INF},{"d":1},"#, #"{"a":"\\\x22\\"}"#])
    func doNotDependOnPieces(text: String) {
        let whole = scanned(text)
        for size in 1..<text.utf8.count {
            var (scanner, rest, output) = (LenientScanner(.record), [UInt8](), [UInt8]())
            let bytes = Array(text.utf8)
            for start in stride(from: 0, to: bytes.count, by: size) {
                rest += bytes[start..<min(start + size, bytes.count)]
                let isLast = start + size >= bytes.count
                let used = rest.withUnsafeMutableBufferPointer { scanner.scan($0, isLast: isLast) }
                output += rest[..<used]
                rest.removeFirst(used)
            }
            #expect(String(decoding: output, as: UTF8.self) == whole.text, "\(size)")
            #expect(scanner.counts == whole.counts, "\(size)")
        }
    }

    /// What is kept as JSON is JSON.
    @Test func areRespelledInJSON() {
        var output: [UInt8] = []
        withView(#"{ "k\x41":"\x22\xC3\xA9\'", "n":- }"#) { JSONMinify.appendLenient($0, to: &output) }
        #expect(String(decoding: output, as: UTF8.self) == #"{"kA":"\"é'","n":null}"#)
        let text = withView(#""a\x5C""#) { view in
            var (scratch, notes) = ([UInt8](), CoercionNotes())
            let token = JSONToken(kind: .string, bytes: view[1..<view.count - 1], hasEscapes: true)
            guard case .scratch(let range)? = try? AttributeType.json.coerce(token, scratch: &scratch, notes: &notes)
            else {
                return ""
            }
            return String(decoding: scratch[range], as: UTF8.self)
        }
        #expect(text == #""a\\""#)
    }
}
