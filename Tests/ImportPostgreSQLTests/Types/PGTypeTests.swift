import Foundation
import ImportModel
import TestSupport
import Testing

@testable import ImportPostgreSQL
@testable import ImportSources
@testable import Importer

struct PGTypeTests {
    @Test func givesEachTypeItsColumn() {
        let types = AttributeType.allCases.map { PGType(AttributeDescription(name: "a", type: $0)).declaration }
        let expected = [
            "text", "smallint", "integer", "bigint", "real", "double precision", "numeric", "boolean", "timestamptz(3)",
            "uuid",
            "text", "bytea", "bigint", "json",
        ]
        #expect(types == expected)
        func date(_ storage: StorageForm, isWallClock: Bool = false) -> String {
            PGType(AttributeDescription(name: "a", type: .date, isWallClock: isWallClock, storage: storage))
                .declaration
        }
        #expect(date(.iso8601, isWallClock: true) == "timestamp(3)")
        #expect(date(.unix) == "bigint")
        #expect(date(.referenceDate) == "double precision")
        #expect(PGType(AttributeDescription(name: "a", type: .decimal, storage: .real)) == .double)
        #expect(date(.unixMilliseconds, isWallClock: true) == "bigint")
    }

    @Test func encodesRandomDecimalsExactly() throws {
        var random = SeededGenerator(seed: 4_711)
        var texts = [
            "0", "-0", "1", "9999", "10000", "10001", "-10000.0001", "0.0001", "0.00001", "0.1", "1000000000000",
            "1E+400",
            "-1.25E-80", "1e131071", "9.99e131071", "1e-16383", "123456789012345678901234567890.123456789",
            "1200000000e-4", "1e-5000", "12345e-5",
        ]
        for _ in 0..<4_000 {
            let digits = (0...random.next(30)).map { _ in String(random.next(3) == 0 ? 0 : random.next(10)) }.joined()
            var text = random.next(2) == 0 ? "-" : ""
            let whole = digits.prefix(random.next(digits.count + 1)).drop { $0 == "0" }
            text += (whole.isEmpty ? "0" : whole) + "." + digits
            if random.next(3) == 0 { text += "e\(random.next(200) - 100)" }
            texts.append(text)
        }
        var rows = try EncodedRows([AttributeDescription(name: "a", type: .decimal)])
        for text in texts { try rows.add([.number(text)]) }
        var chunk = try ChunkRows(rows.plan, JobOptions())
        #expect(rows.append(to: &chunk).isEmpty)
        let program = """
            decimal.getcontext().prec = 200000
            decimal.getcontext().Emax = decimal.MAX_EMAX
            decimal.getcontext().Emin = decimal.MIN_EMIN
            same(len(rows), len(more))
            for (field,), text in zip(rows, more):
                count, weight, sign, scale = struct.unpack_from("!hhHH", field)
                digits = struct.unpack_from("!%dh" % count, field, 8)
                same(len(field), 8 + 2 * count)
                assert all(0 <= digit < 10000 for digit in digits), text
                assert not digits or digits[0] and digits[-1], text
                assert sign in (0, 0x4000), text
                expected = decimal.Decimal(text)
                value = sum((decimal.Decimal(digit).scaleb(4 * (weight - place)) for place, digit in enumerate(digits)),
                            decimal.Decimal(0))
                same(-value if sign else value, expected)
                if not expected:
                    same((count, weight, sign, scale), (0, 0, 0, 0))
                same(scale, max(0, -expected.normalize().as_tuple().exponent))
            """
        #expect(try python(program, chunk, texts) == "")
    }

    @Test func refusesDecimalsThatNumericCannotHold() throws {
        let fits = ["1e131071", "9999e131068", "1e-16383"]
        let beyond = ["1e131072", "1e-16384", "1.5e-16383", "1e999999999", "-1e999999999999", "1e-99999999999999999"]
        var rows = try EncodedRows([AttributeDescription(name: "a", type: .decimal)])
        for text in fits + beyond { try rows.add([.number(text)]) }
        var chunk = try ChunkRows(rows.plan, JobOptions())
        let faults = rows.append(to: &chunk)
        #expect(chunk.count == fits.count)
        #expect(faults.keys.sorted() == Array(fits.count..<rows.count))
        #expect(Set(faults.values) == [RowError(reason: .outOfRange, attribute: 0)])
        let error = chunk.error(RowError(reason: .outOfRange, attribute: 0), byteOffset: 17)
        #expect(error.code == .outOfRange && error.keyPath == "a" && error.byteOffset == 17)
        #expect(error.words() == "decimal: number is out of range")
    }

    @Test func encodesRandomDatesAsMicroseconds() throws {
        var random = SeededGenerator(seed: 99)
        var texts = [
            "0001-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z", "2000-01-01T00:00:00.000Z",
            "1999-12-31T23:59:59.999Z",
            "2000-02-29T12:00:00.001Z", "1900-02-28T23:59:59.999Z", "1900-03-01T00:00:00.000Z",
            "1582-10-10T00:00:00.000Z",
        ]
        for _ in 0..<5_000 {
            var text: [UInt8] = []
            let milliseconds = Int64.random(in: -62_135_596_800_000...253_402_300_799_999, using: &random)
            #expect(StoredDate.appendISO8601(milliseconds, to: &text))
            texts.append(String(decoding: text, as: UTF8.self))
        }
        var rows = try EncodedRows([
            AttributeDescription(name: "a", type: .date),
            AttributeDescription(name: "b", type: .date, isWallClock: true),
            AttributeDescription(name: "c", type: .date, storage: .unix),
            AttributeDescription(name: "d", type: .date, storage: .unixMilliseconds),
        ])
        for text in texts { try rows.add(Array(repeating: .string(text), count: 4)) }
        var chunk = try ChunkRows(rows.plan, JobOptions())
        #expect(rows.append(to: &chunk).isEmpty)
        let program = """
            same(len(rows), len(more))
            zero = datetime.datetime(2000, 1, 1)
            for fields, text in zip(rows, more):
                instant = datetime.datetime.fromisoformat(text[:-1])
                micro = (instant - zero) // datetime.timedelta(microseconds=1)
                milli = (instant - datetime.datetime(1970, 1, 1)) // datetime.timedelta(milliseconds=1)
                same([struct.unpack("!q", field)[0] for field in fields], [micro, micro, milli // 1000, milli])
            """
        #expect(try python(program, chunk, texts) == "")
    }

    @Test func encodesDatesWithSixDigits() throws {
        var random = SeededGenerator(seed: 6)
        var texts = ["0001-01-01T00:00:00.000001Z", "9999-12-31T23:59:59.999999Z", "1999-12-31T23:59:59.000100Z"]
        for _ in 0..<2_000 {
            var text: [UInt8] = []
            let milliseconds = Int64.random(in: -62_135_596_800_000...253_402_300_799_999, using: &random)
            #expect(StoredDate.appendISO8601(milliseconds, to: &text))
            texts.append(String(decoding: text.dropLast(), as: UTF8.self) + "\(random.next(900) + 100)Z")
        }
        var rows = try EncodedRows([
            AttributeDescription(name: "a", type: .date, fraction: 6),
            AttributeDescription(name: "b", type: .date, isWallClock: true, fraction: 6),
            AttributeDescription(name: "c", type: .date, fraction: 9),
        ])
        for text in texts { try rows.add(Array(repeating: .string(text), count: 3)) }
        var chunk = try ChunkRows(rows.plan, JobOptions())
        #expect(rows.append(to: &chunk).isEmpty)
        let program = """
            same(len(rows), len(more))
            zero = datetime.datetime(2000, 1, 1)
            for fields, text in zip(rows, more):
                micro = (datetime.datetime.fromisoformat(text[:-1]) - zero) // datetime.timedelta(microseconds=1)
                same([struct.unpack("!q", field)[0] for field in fields[:2]], [micro, micro])
                same(fields[2].decode(), text[:-1] + "000Z")
            """
        #expect(try python(program, chunk, texts) == "")
        let wrong = ["2000-01-01T00:00:00.00000/Z", "2000-01-01T00:00:00.000000X", "2000-01-01T00:00:00.000Z000"]
        for text in wrong {
            let instant = Array(text.utf8).withUnsafeBytes { bytes in
                bytes.baseAddress.map { BinaryFieldEncoder.microseconds($0, 27) }
            }
            #expect(instant == .some(nil), "\(text)")
        }
    }

    @Test func readsNothingButCanonicalDates() {
        let wrong = [
            "2000-01-01T00:00:00.000X", "2000-01-01 00:00:00.000Z", "2000-13-01T00:00:00.000Z",
            "2000-00-01T00:00:00.000Z",
            "2000-01-00T00:00:00.000Z", "2000-01-32T00:00:00.000Z", "2000-01-01T24:00:00.000Z",
            "2000-01-01T00:60:00.000Z",
            "2000-01-01T00:00:60.000Z", "0000-01-01T00:00:00.000Z", "200:-01-01T00:00:00.000Z",
            "2000-01-01T00:00:00.00/Z",
            "2000_01-01T00:00:00.000Z", "2000-01-01T00-00:00.000Z", "2000-01-01T00:00:00,000Z",
        ]
        for text in wrong + ["éééééééééééé"] {
            #expect(text.utf8.count == 24)
            let instant = Array(text.utf8).withUnsafeBytes { bytes in
                bytes.baseAddress.map { BinaryFieldEncoder.microseconds($0, 24) }
            }
            #expect(instant == .some(nil), "\(text)")
        }
    }
}
