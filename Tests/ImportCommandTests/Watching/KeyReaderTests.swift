import Testing

@testable import ImportCommand

struct KeyReaderTests {
    private static let sequences: [(String, Key)] = [
        ("q", .character("q")), ("\t", .tab), ("\u{1B}[Z", .backTab), ("\r", .enter), ("\u{1B}[A", .up),
        ("\u{1B}OB", .down), ("\u{1B}[1;5C", .right), ("\u{1B}[D", .left), ("\u{1B}[H", .home), ("\u{1B}[1~", .home),
        ("\u{1B}[4~", .end), ("\u{1B}OF", .end), ("\u{1B}[5~", .pageUp), ("\u{1B}[6;2~", .pageDown),
        ("\u{0C}", .redraw), ("é", .character("é")), ("東", .character("東")), ("🎉", .character("🎉")),
    ]

    @Test func aSequenceIsAKeyHoweverItIsCut() {
        for (text, key) in Self.sequences {
            let bytes = Array(text.utf8)
            for cut in 0...bytes.count {
                var reader = KeyReader()
                let keys = reader.take(bytes[..<cut]) + reader.take(bytes[cut...])
                #expect(keys == [key], "\(bytes) cut at \(cut)")
                #expect(!reader.isInside)
            }
        }
    }

    @Test func keysInARowAreAllRead() {
        var reader = KeyReader()
        #expect(reader.take(Self.sequences.map(\.0).joined().utf8) == Self.sequences.map(\.1))
    }

    @Test func anEscapeAloneIsAKeyWhenNothingFollows() {
        var reader = KeyReader()
        #expect(reader.take([0x1B]).isEmpty)
        #expect(reader.isInside)
        #expect(reader.flush() == [.escape])
        #expect(reader.take([0x1B, 0x1B]) == [.escape])
        #expect(reader.take([UInt8(ascii: "[")]).isEmpty)
        // A sequence that breaks off is nothing.
        #expect(reader.flush().isEmpty)
        #expect(reader.take("j".utf8) == [.character("j")])
    }

    @Test func whatIsNoKeyIsPassedOver() {
        var reader = KeyReader()
        #expect(reader.take([0x00, 0x1F, 0x7F, 0xFF, 0x80, 0xC3, 0x28, UInt8(ascii: "q")]).contains(.character("q")))
        var other = KeyReader()
        // Reports of a terminal, and a sequence without end.
        #expect(other.take("\u{1B}[?1;2c\u{1B}[200~q".utf8) == [.character("q")])
        #expect(other.take(Array("\u{1B}[".utf8) + Array(repeating: UInt8(ascii: "1"), count: 1_000)).isEmpty)
        #expect(other.take("q".utf8) == [.character("q")])
    }

    @Test func anyBytesAreTakenAndBounded() {
        var generator = SystemRandomNumberGenerator()
        var reader = KeyReader()
        for _ in 0..<2_000 {
            let bytes = (0..<Int.random(in: 0..<8, using: &generator)).map { _ in
                [UInt8(0x1B), 0x5B, 0x4F, 0x7E, 0x3B, 0x31, .random(in: 0...255, using: &generator)].randomElement()
                    ?? 0
            }
            _ = reader.take(bytes)
        }
        _ = reader.flush()
        #expect(reader.take("q".utf8) == [.character("q")])
    }
}
