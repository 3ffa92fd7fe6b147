import ImportModel
import Importer
import Testing

struct QuotingTests {
    /// A quote with a combining mark behind it is a `Character` of its own, and a quote for SQLite.
    @Test(
        arguments: [
            ("a", #""a""#), (#"a"b"#, #""a""b""#), ("a\"\u{301}; DROP", "\"a\"\"\u{301}; DROP\""),
            ("\"\u{FE0F}", "\"\"\"\u{FE0F}\""),
        ])
    func aNameCannotEndEarly(name: String, quoted: String) {
        #expect(name.quotedIdentifier.unicodeScalars.elementsEqual(quoted.unicodeScalars))
    }

    @Test func aTextCannotEndEarly() {
        #expect("a'\u{301}; DROP".sqlLiteral.unicodeScalars.elementsEqual("'a''\u{301}; DROP'".unicodeScalars))
    }
}
