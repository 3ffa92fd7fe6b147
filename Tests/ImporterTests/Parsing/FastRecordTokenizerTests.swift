import Foundation
import Importer
import TestSupport
import Testing

@testable import ImportModel
@testable import ImportSources

/// What the short way takes is what yajl makes of it, token by token; and it takes all that is as it should be.
struct FastRecordTokenizerTests {
    private struct Token: Equatable {
        let kind: JSONKind
        let hasEscapes: Bool
        let start, length, next: UInt32
    }

    private static func tokens(_ tape: RecordTape) -> [Token] {
        tape.tokens[..<tape.count].map {
            Token(kind: $0.kind, hasEscapes: $0.hasEscapes, start: $0.start, length: $0.length, next: $0.next)
        }
    }

    /// The tokens of a line that yajl takes for one value.
    private static func yajl(_ line: [UInt8]) -> [Token]? {
        line.withUnsafeBufferPointer { line in
            let parser = YajlParser(handler: RecordTape(maxDepth: 64))
            parser.handler.begin(ByteView(line))
            guard parser.parse(ByteView(line)) == .consumed, parser.handler.values == 1, parser.handler.depth == 0
            else { return nil }
            return tokens(parser.handler)
        }
    }

    private static func tokenized(_ line: [UInt8], maxDepth: Int = 64) -> [Token]? {
        var tokenizer = FastRecordTokenizer(maxDepth: maxDepth)
        return tokenized(line, by: &tokenizer, maxDepth: maxDepth)
    }

    private static func tokenized(
        _ line: [UInt8],
        by tokenizer: inout FastRecordTokenizer,
        maxDepth: Int = 64
    ) -> [Token]? {
        line.withUnsafeBufferPointer { line in
            var tape = RecordTape(maxDepth: maxDepth)
            return tokenizer.read(ByteView(line), onto: &tape) ? tokens(tape) : nil
        }
    }

    /// Whether both agree on a line; `isJSON` where it must be accepted.
    private static func check(_ line: [UInt8], isJSON: Bool = false) {
        var tokenizer = FastRecordTokenizer(maxDepth: 64)
        check(line, isJSON: isJSON, by: &tokenizer)
    }

    private static func check(_ line: [UInt8], isJSON: Bool = false, by tokenizer: inout FastRecordTokenizer) {
        let short = tokenized(line, by: &tokenizer)
        let long = yajl(line)
        if let short {
            #expect(short == long, "\(String(decoding: line, as: UTF8.self))")
        } else if isJSON {
            Issue.record("not taken: \(String(decoding: line, as: UTF8.self))")
        }
    }

    // MARK: Texts

    private static func space(_ random: inout SeededGenerator) -> String {
        Bool.random(using: &random) ? "" : [" ", "\t", "\r", "  ", " \r\t  "].randomElement(using: &random) ?? ""
    }

    private static func string(_ random: inout SeededGenerator) -> String {
        let parts = [
            "a", "bc", "longer than eight bytes", "é", "日本", "😀", "\\n", "\\\"", "\\\\", "\\/", "\\u00e9",
            "\\uD83D\\uDE00",
            "\\ud800", "\\b\\f\\r\\t", "'", "/", "{", "]", ":", ",", "\u{7F}", "        ",
        ]
        let count = Int.random(in: 0...6, using: &random)
        return "\"" + (0..<count).map { _ in parts.randomElement(using: &random) ?? "" }.joined() + "\""
    }

    private static func value(_ random: inout SeededGenerator, depth: Int = 0) -> String {
        let numbers = ["0", "-0", "12", "-3.5", "1e5", "2E+07", "0.5e-3", "123456789012345678901234567890"]
        switch Int.random(in: 0...(depth < 6 ? 8 : 4), using: &random) {
        case 0: return "null"
        case 1: return Bool.random(using: &random) ? "true" : "false"
        case 2: return numbers.randomElement(using: &random) ?? "0"
        case 3, 4: return string(&random)
        case 5, 6:
            let count = Int.random(in: 0...5, using: &random)
            let elements = (0..<count).map { _ in
                space(&random) + value(&random, depth: depth + 1) + space(&random)
            }
            return "[" + (count == 0 ? space(&random) : elements.joined(separator: ",")) + "]"
        default:
            let count = Int.random(in: 0...5, using: &random)
            let members = (0..<count).map { _ in
                space(&random) + string(&random) + space(&random) + ":" + space(&random)
                    + value(&random, depth: depth + 1) + space(&random)
            }
            return "{" + (count == 0 ? space(&random) : members.joined(separator: ",")) + "}"
        }
    }

    // MARK: Tests

    @Test(arguments: 1...6)
    func takesAllJSONAsYajlDoes(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let text = Self.space(&random) + Self.value(&random) + Self.space(&random)
            Self.check(Array(text.utf8) + [0x0A], isJSON: true)
        }
    }

    /// Bytes changed, left out and put in at random: nothing is taken that yajl does not take.
    @Test(arguments: 1...6)
    func leavesEverythingElseToYajl(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let interesting =
            Array("{}[]:,\"\\ \t\r\n\u{0B}\u{0C}\u{0}\u{1F}0129.eE+-truefalsn/u".utf8) + [0x80, 0xC3, 0xFF]
        for _ in 0..<1000 {
            var line = Array(Self.value(&random).utf8) + [0x0A]
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: 0..<line.count, using: &random)
                let byte = interesting.randomElement(using: &random) ?? 0
                switch Int.random(in: 0...3, using: &random) {
                case 0: line[place] = byte
                case 1: line.insert(byte, at: place)
                case 2 where line.count > 1: line.remove(at: place)
                default: line.removeSubrange(place..<line.count - 1)
                }
                if line.isEmpty { line = [0x0A] }
            }
            Self.check(line)
        }
    }

    /// What one tokenizer remembers of the lines before changes nothing: lines of nearly the same keys, a few of them left
    /// out, put in, of another length by a byte, spaced otherwise or not JSON.
    @Test(arguments: 1...6)
    func readsEachLineAsIfItWereTheFirst(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var tokenizer = FastRecordTokenizer(maxDepth: 64)
        var keys = ["a", "b", "ab", "ä", "a\\nb", "", "x: 1", "{"]
        keys += (20...34).map { String(repeating: "k", count: $0) }
        keys += (0..<Int.random(in: 0...80, using: &random)).map { "key \($0)" }
        keys.shuffle(using: &random)
        for _ in 0..<300 {
            switch Int.random(in: 0...5, using: &random) {
            case 0: keys.swapAt(0, .random(in: 0..<keys.count, using: &random))
            case 1: keys[.random(in: 0..<keys.count, using: &random)] = "n\(UInt8.random(in: 0...20, using: &random))"
            default: break
            }
            let left = keys.indices.randomElement(using: &random) ?? 0
            let members = keys.indices.filter { $0 != left }.map { index in
                let spaces = Int.random(in: 0...9, using: &random)
                let colon = spaces == 0 ? " :  " : spaces == 1 ? ":\t" : spaces == 2 ? ":" : ": "
                return "\"\(keys[index])\"\(colon)\(Self.value(&random, depth: 5))"
            }
            var line = Array("{\(members.joined(separator: ", "))}\n".utf8)
            Self.check(line, isJSON: true, by: &tokenizer)
            // One byte less, which may be a quote, a colon or the last one.
            line.remove(at: Int.random(in: 0..<line.count, using: &random))
            Self.check(line, by: &tokenizer)
        }
    }

    /// A line may end where the memory does.
    @Test func readsNothingBehindALine() throws {
        let pageSize = Int(sysconf(Int32(_SC_PAGESIZE)))
        let none = UnsafeMutableRawPointer(bitPattern: -1)
        let memory = mmap(nil, 2 * pageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        let pages = try #require(memory == none ? nil : memory)
        defer { munmap(pages, 2 * pageSize) }
        #expect(mprotect(pages + pageSize, pageSize, PROT_NONE) == 0)
        var tokenizer = FastRecordTokenizer(maxDepth: 64)
        for length in 0...40 {
            let line = Array("{\"a\": 1, \"\(String(repeating: "k", count: length))\": 2, \"b\": \(length)}\n".utf8)
            let start = pages + pageSize - line.count
            start.copyMemory(from: line, byteCount: line.count)
            let view = ByteView(base: start.assumingMemoryBound(to: UInt8.self), count: line.count)
            var tape = RecordTape(maxDepth: 64)
            for _ in 0..<2 { #expect(tokenizer.read(view, onto: &tape) && Self.tokens(tape) == Self.yajl(line)) }
        }
    }

    @Test(arguments: [
        "", " ", "1 2", "1,", "[1,]", "[,1]", "{\"a\":1,}", "{\"a\"}", "{\"a\" 1}", "{1:1}", "{\"a\":}", "[1 2]", "[}",
        "{]",
        "01", "1.", ".5", "-", "+1", "1e", "1e+", "0x1", "NaN", "tru", "truex", "nul", "\"a", "\"\\x\"", "\"\\u12g4\"",
        "\"\\u12\"", "\"a\tb\"", "\"\\\"", "[1", "{\"a\":1", "]", "}", "'a'", "[1]]", "{}{}", "\u{0C}1", "// c",
        "1 // c",
    ])
    func takesNothingElse(text: String) {
        #expect(Self.tokenized(Array(text.utf8) + [0x0A]) == nil)
    }

    @Test func leavesDeepRecordsAndThoseWithoutALineFeedToYajl() {
        func nested(_ levels: Int) -> [UInt8] {
            Array((String(repeating: "[", count: levels) + String(repeating: "]", count: levels)).utf8) + [0x0A]
        }
        #expect(Self.tokenized(nested(64))?.count == 64)
        #expect(Self.tokenized(nested(65)) == nil)
        #expect(Self.tokenized(nested(5), maxDepth: 4) == nil)
        #expect(Self.tokenized(Array("1".utf8)) == nil)
        #expect(Self.tokenized(Array("[1]".utf8)) == nil)
    }

    /// The tape grows as it is needed, in the middle of a record.
    @Test func takesRecordsLargerThanTheTape() {
        let text = "[" + (0..<20_000).map { "{\"k\($0)\":[\($0),\"v\"]}" }.joined(separator: ",") + "]"
        Self.check(Array(text.utf8) + [0x0A], isJSON: true)
    }

    /// JSONTestSuite's files: all that must be accepted, where they are one line, and nothing that must not.
    @Test(.enabled(if: SharedData.isPresent))
    func takesWhatTheTestSuiteCallsJSON() throws {
        let folder = "JSONTestSuite/test_parsing"
        for name in SharedData.names(in: folder) {
            let bytes = [UInt8](try Data(contentsOf: URL(filePath: SharedData.path("\(folder)/\(name)"))))
            // What breaks lines inside of a record is left to yajl.
            let isLine = !bytes.dropLast(bytes.last == 0x0A ? 1 : 0).contains(0x0A)
            let line = bytes.last == 0x0A ? bytes : bytes + [0x0A]
            Self.check(line, isJSON: name.hasPrefix("y_") && isLine)
            guard name.hasPrefix("n_"), let first = Self.tokenized(line) else { continue }
            // Bytes that are not UTF-8 are found before.
            let isText = line.withUnsafeBufferPointer { UTF8Validation.firstInvalid(in: ByteView($0)) == nil }
            #expect(!isText, "\(name): \(first.count) tokens")
        }
    }
}
