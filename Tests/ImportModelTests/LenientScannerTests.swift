import Testing

@testable import ImportModel

struct LenientScannerTests {
    private static func scanned(_ text: String, _ scope: LenientScanner.Scope = .document) -> (
        text: String, LenientCounts
    ) {
        Array(text.utf8).withUnsafeBufferPointer { bytes in
            guard let (text, scanner) = LenientScanner.scan(ByteView(bytes), scope) else {
                return (String(decoding: bytes, as: UTF8.self), LenientCounts())
            }
            return (String(decoding: text, as: UTF8.self), scanner.counts)
        }
    }

    /// What it makes of a text; spaces stand where something was taken out.
    @Test(arguments: [
        (#"{"a":NaN,"b":[Infinity,-Infinity]}"#, #"{"a":0.0,"b":[0.000000,-0.000000]}"#),
        ("[1,2,]", "[1,2 ]"), (#"{"a":1 , }"#, #"{"a":1   }"#), ("[1,/* c */\n]", "[1        \n]"),
        ("[1 // c\n,2]", "[1     \n,2]"), ("/**/[1]//", "    [1]  "), ("\u{1E}{}\n\u{1E}[]\n", " {}\n []\n"),
        (")]}'\n[1]", "    \n[1]"), ("window.YTD.tweets.part0 = [1]", "                          [1]"),
        ("var x =\n[1];\n", "       \n[1] \n"), ("cb([1]);", "   [1]  "), ("$.x=[1]", "    [1]"),
        ("/**/cb([1])", "       [1] "),
    ])
    func makesJSON(text: String, json: String) {
        #expect(Self.scanned(text).text == json)
    }

    /// What it leaves as it is, JSON or not.
    @Test(arguments: [
        #"["NaN",",]","//","/* */","\",]","x\\"]"#, "[,]", "[1,,]", "{,}", #"{"a":,}"#, "[NaNs]", "[xNaN]", "[1NaN]",
        "[nano]", "[in]",
        "[1,2", "[1,", "[1 /* ]", "[1/2]", "[1;2]", "x [1]", "cb [1]", "a b = [1]", "[1])x", "NULL", "",
        "{'a': None}", "[+Infinity]", "[1.Infinity]",
    ])
    func leaves(text: String) {
        #expect(Self.scanned(text).text == text)
    }

    @Test func countsWhatItFinds() {
        let (_, counts) = Self.scanned("[NaN,[1,],{\"a\":Infinity,},// x\n/* y */2,]")
        #expect(counts.notFinite == 2 && counts.trailingComma == 3 && counts.comment == 2)
    }

    @Test func takesOnlyWhatIsInItsScope() {
        #expect(Self.scanned("[NaN,]", []).text == "[NaN ]")
        #expect(Self.scanned("\u{1E}1;", .notFinite).text == "\u{1E}1;")
        #expect(Self.scanned("x = 1", .record).text == "x = 1")
    }

    /// Wherever the pieces of a text end, what comes out is that of the text as a whole.
    @Test(arguments: [
        "window.x = [NaN, {\"a//\\\"\": -Infinity,\n}, /* c **/ 12, // d\r\n \"NaN,]\\\\\", Infinity , ] ;\n",
        ")]}'\n{\"a\": [1, 2 ,/*x*/ ], \"b\": \"\\\"/*\" } // end", "\u{1E}{\"a\":NaN}\n\u{1E}[1,]\n", "[1,2;]",
        "[1NaN,2NaN]",
    ])
    func doesNotDependOnPieces(text: String) {
        let bytes = Array(text.utf8)
        let whole = Self.scanned(text)
        for size in 1...bytes.count {
            var (scanner, output, rest, next) = (LenientScanner(.document), [UInt8](), [UInt8](), 0)
            var counts = LenientCounts()
            while next < bytes.count {
                let end = min(next + size, bytes.count)
                var piece = rest + bytes[next..<end]
                let count = piece.count
                let used = piece.withUnsafeMutableBufferPointer { scanner.scan($0, isLast: end == bytes.count) }
                output += piece[..<used]
                rest = Array((rest + bytes[next..<end])[used..<count])
                next = end
                counts = scanner.counts
            }
            #expect(String(decoding: output + rest, as: UTF8.self) == whole.text, "pieces of \(size)")
            #expect(counts == whole.1, "pieces of \(size)")
        }
    }

    @Test(arguments: [
        ("[1, NaN, {\"a\" : -Infinity ,}, \"NaN, \"]", "[1,null,{\"a\":null},\"NaN, \"]"),
        ("{\"a\": /* x */ [ ], }", "{\"a\":[]}"), ("[ 1 ]", "[1]"),
    ])
    func isMadeSmall(text: String, small: String) {
        var output = Array("x".utf8)
        Array(text.utf8).withUnsafeBufferPointer { JSONMinify.appendLenient(ByteView($0), to: &output) }
        #expect(String(decoding: output, as: UTF8.self) == "x" + small)
    }
}
