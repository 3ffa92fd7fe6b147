import TestSupport
import Testing

@testable import ImportModel

/// The short ways come to what the long ones do, or leave a value to them.
struct ShortWayTests {
    @Test func shortNumbersAreThoseOfTheirForms() {
        var random = SeededGenerator(seed: 11)
        var taken = 0
        for _ in 0..<50_000 {
            let text = Self.number(&random)
            withView(text) { view in
                let form = JSONNumber(view)
                if let value = view.shortDecimal {
                    taken += 1
                    #expect(form?.double.bitPattern == value.bitPattern, "\(text)")
                    #expect(form?.survives(as: value) == true, "\(text)")
                    #expect(Double(text)?.bitPattern == value.bitPattern, "\(text)")
                } else if form != nil, text.utf8.count <= 15 {
                    let hasExponent = text.utf8.contains { $0 | 0x20 == UInt8(ascii: "e") }
                    #expect(hasExponent || form?.isNegativeZero == true, "\(text)")
                }
                let isInteger =
                    !text.isEmpty && text != "-" && text.drop { $0 == "-" }.utf8.allSatisfy { $0 &- 48 < 10 }
                let isNegativeZero = text.hasPrefix("-") && Int64(text) == 0
                let isShort = text.utf8.count <= 18 && !text.hasPrefix("--") && isInteger && !isNegativeZero
                #expect(view.shortInteger == (isShort ? Int64(text) : nil), "\(text)")
            }
        }
        #expect(taken > 5_000)
    }

    private static func number(_ random: inout SeededGenerator) -> String {
        var text = ["", "", "-", "--"][Int.random(in: 0..<4, using: &random)]
        for _ in 0..<Int.random(in: 0..<20, using: &random) {
            text.append("0123456789".randomElement(using: &random) ?? "0")
        }
        if Bool.random(using: &random), !text.isEmpty {
            let place = text.index(text.startIndex, offsetBy: Int.random(in: 0..<text.count, using: &random))
            text.insert([".", ".", ".", ".", "e", "-", " ", "/", ":"].randomElement(using: &random) ?? ".", at: place)
        }
        return text
    }

    @Test func datesByWordsAreThoseReadByTheirParts() {
        var random = SeededGenerator(seed: 12)
        var taken = 0
        for _ in 0..<100_000 {
            let text = Self.date(&random)
            var scratch: [UInt8] = []
            let found: String? = withView(text) { view in
                switch ISO8601Text.value(view, scratch: &scratch) {
                case .verbatim(let bytes): String(decoding: bytes.buffer, as: UTF8.self)
                case .scratch(let range): String(decoding: scratch[range], as: UTF8.self)
                default: nil
                }
            }
            guard let found else {
                #expect(scratch.isEmpty)
                // What it leaves out of its spellings is no date, or one that is rewritten.
                #expect(Self.plain(text) == nil, "\(text)")
                continue
            }
            taken += 1
            #expect(found == Self.plain(text), "\(text)")
        }
        #expect(taken > 10_000)
    }

    /// What is kept of a date in one of the two spellings; nil for all else.
    private static func plain(_ text: String) -> String? {
        withView(text) { view in
            guard fraction(ofUTCInstant: view) == 3,
                view.count == 20 || view.count == 24 && view[19] == UInt8(ascii: "."),
                view[10] == UInt8(ascii: "T"), view[view.count - 1] == UInt8(ascii: "Z"),
                view[view.count - 2] != UInt8(ascii: " "), let date = ParsedDate(iso8601: view),
                let instant = Instant(seconds: date.clockSeconds, nanoseconds: date.nanoseconds)
            else { return nil }
            var output: [UInt8] = []
            instant.append(to: &output)
            return String(decoding: output, as: UTF8.self)
        }
    }

    private static func date(_ random: inout SeededGenerator) -> String {
        func padded(_ number: Int, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: width - digits.count) + digits
        }
        let year = [0, 1, 1900, 2000, 2023, 2024, 9999].randomElement(using: &random) ?? 1
        var text = padded(year, 4) + "-" + padded(Int.random(in: 0...13, using: &random), 2) + "-"
        text += padded([1, 15, 28, 29, 30, 31, 0, 32].randomElement(using: &random) ?? 1, 2) + "T"
        text +=
            padded(Int.random(in: 0...25, using: &random), 2) + ":" + padded(Int.random(in: 0...61, using: &random), 2)
        text += ":" + padded(Int.random(in: 0...61, using: &random), 2)
        if Bool.random(using: &random) { text += "." + padded(Int.random(in: 0...999, using: &random), 3) }
        text += "Z"
        guard Int.random(in: 0..<4, using: &random) == 0 else { return text }
        var bytes = Array(text.utf8)
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0x20...0x7E, using: &random)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// White space outside of strings is gone, and nothing else.
    @Test func minifiesAtOnceWhatIsLongerThanTheStackAllows() {
        let spaced =
            "[ " + Array(repeating: "\"a \\\" \\\\\" ,\t{ \"k\" : 1 }", count: 500).joined(separator: " ,\r\n") + " ]"
        let tight = "[" + Array(repeating: "\"a \\\" \\\\\",{\"k\":1}", count: 500).joined(separator: ",") + "]"
        var output: [UInt8] = Array("before".utf8)
        withView(spaced) { JSONMinify.append($0, to: &output) }
        #expect(String(decoding: output, as: UTF8.self) == "before" + tight)
    }
}
