import Foundation
import TestSupport
import Testing

@testable import Importer

/// Positions as texts, which may come from anywhere.
struct RecordCursorTests {
    private static let values: [RawArgument] = [
        .null, .integer(.min), .integer(0), .integer(.max), .real(0.1), .real(-.infinity), .text([]),
        .text(Array("e\u{301}\0x".utf8)), .text([0xFF, 0xFE]), .blob([]), .blob([0, 255]),
    ]

    @Test func aTextIsThePositionAgain() {
        for count in 0...Self.values.count {
            for rowID in [Int64.min, 0, 17, .max] {
                let key = RecordKey(values: Array(Self.values.prefix(count)), rowID: rowID)
                let text = RecordCursor(after: key).text
                #expect(
                    text.utf8.allSatisfy {
                        UInt8(ascii: "-") == $0 || UInt8(ascii: "_") == $0 || Self.isAlphanumeric($0)
                    }
                )
                #expect(RecordCursor(text)?.place == .after(key))
            }
        }
        for value in Self.values {
            #expect(RecordCursor(at: value).flatMap { RecordCursor($0.text) }?.place == .value(value))
        }
    }

    @Test func longValuesAreLeftOut() {
        let key = RecordKey(values: [.text(Array(repeating: 0x61, count: 2_000))], rowID: 9)
        #expect(RecordCursor(RecordCursor(after: key).text)?.place == .afterRow(9))
        #expect(RecordCursor(at: key.values[0]) == nil)
        let short = RecordKey(values: [.integer(1)], rowID: 9)
        #expect(RecordCursor(after: short, hidesValues: true).place == .afterRow(9))
    }

    @Test func anythingElseIsNone() {
        var random = SeededGenerator(seed: 7)
        for text in ["", "A", "=", "AAAA", "*", "é", "Ag", "AQAAAAAAAAAA_"] {
            #expect(RecordCursor(text) == nil, "\(text)")
        }
        let text = RecordCursor(after: RecordKey(values: Self.values, rowID: 1)).text
        for end in 0..<text.count { #expect(RecordCursor(String(text.prefix(end))) == nil) }
        // What is a position is written as it was read; nothing traps.
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0..<40, using: &random)).map { _ in UInt8.random(in: 0...5, using: &random)
            }
            let text = Data(bytes).base64URL
            if let cursor = RecordCursor(text) { #expect(cursor.text == text) }
        }
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        Character(UnicodeScalar(byte)).isLetter || Character(UnicodeScalar(byte)).isNumber
    }
}
