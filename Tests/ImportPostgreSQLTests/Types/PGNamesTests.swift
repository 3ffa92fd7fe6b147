import TestSupport
import Testing

@testable import ImportPostgreSQL

struct PGNamesTests {
    @Test func keepsNamesThatFit() {
        let name = String(repeating: "n", count: 63)
        #expect(PGNames.fitting(name) == name)
        #expect(PGNames.columns(["Name", "name", "größe"]) == ["Name", "name", "größe"])
    }

    @Test func cutsLongNamesBetweenScalarsAndMarksThemWithAHash() throws {
        // 53 bytes, then a letter of two: it would end in the 55th.
        let long = String(repeating: "n", count: 53) + "äöü and more"
        let name = PGNames.fitting(long)
        let digits = try Python.run(
            text: """
                hash = 0x811C9DC5
                for byte in ("n" * 53 + "\\u00e4\\u00f6\\u00fc and more").encode():
                    hash = (hash ^ byte) * 0x01000193 & 0xFFFFFFFF
                print("%08x" % hash, end="")
                """
        )
        #expect(name == String(repeating: "n", count: 53) + "_" + digits.outputText)
        #expect(PGNames.fitting(String(repeating: "ä", count: 40)).utf8.count == 63)
    }

    @Test func tellsLongNamesWithTheSameBeginningApart() {
        let names = (0..<1_000).map { String(repeating: "n", count: 70) + "\($0)" }
        #expect(Set(PGNames.columns(names)).count == names.count)
        #expect(PGNames.columns(names).allSatisfy { $0.utf8.count == 63 })
        // The name of one is what another one is cut to.
        let cut = PGNames.fitting(names[0])
        let both = PGNames.columns([names[0], cut])
        #expect(both[1] == cut)
        #expect(both[0] != cut && both[0].utf8.count == 63)
    }

    @Test func tellsSystemColumnsApart() {
        #expect(
            PGNames.columns(["ctid", "xmin", "Xmin", "tableoid"]) == ["ctid_2", "xmin_2", "Xmin", "tableoid_2"]
        )
        #expect(PGNames.columns(["ctid", "ctid_2"]) == ["ctid_3", "ctid_2"])
    }

    @Test func tellsNamesApartByTheirBytes() {
        #expect(PGNames.columns(["\u{E9}", "e\u{301}"]).map { Array($0.utf8).count } == [2, 3])
    }

    @Test func doublesQuotes() {
        #expect(PGNames.quoted(#"say "hi""#) == #""say ""hi""""#)
        // A quote with a combining mark is one character, but two scalars.
        #expect(PGNames.quoted("a\"\u{301}b").unicodeScalars.filter { $0 == "\"" }.count == 4)
    }
}
