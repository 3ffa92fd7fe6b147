import Foundation
import ImportModel
import TestSupport
import Testing

@testable import ImportPostgreSQL
@testable import Importer

struct ChunkRowsTests {
    @Test func encodesEachTypeAsTheServerReadsIt() throws {
        let attributes = AttributeType.allCases.map { type in
            AttributeDescription(
                name: type.rawValue,
                type: type,
                isOptional: true,
                bits: type == .bitfield ? [.init(name: "low", position: 0), .init(name: "high", position: 63)] : []
            )
        }
        var rows = try EncodedRows(attributes)
        let values: [AttributeType: JSONValue] = [
            .string: .string("größer"), .integer16: .number("-32768"), .integer32: .number("2147483647"),
            .integer64: .number("-9223372036854775808"), .float: .number("0.1"), .double: .number("0.1"),
            .decimal: .number("12.5"), .boolean: .boolean(true), .date: .string("2000-01-02T00:00:00.001Z"),
            .uuid: .string("f81d4fae-7dec-11d0-a765-00a0c91e6bf6"), .uri: .string("a:b"), .binary: .string("AAEC/w=="),
            .bitfield: .object([.init(key: "low", value: .boolean(true)), .init(key: "high", value: .boolean(true))]),
            .json: .array([.number("1.50"), .string("\u{0}")]),
        ]
        try rows.add(AttributeType.allCases.map { values[$0] })
        try rows.add(AttributeType.allCases.map { _ in .null })
        try rows.add(AttributeType.allCases.map { $0 == .boolean ? .boolean(false) : nil })
        var chunk = try ChunkRows(rows.plan, JobOptions())
        #expect(rows.append(to: &chunk).isEmpty)
        #expect(chunk.count == 3)
        let program = #"""
            same(rows[0], [
                "größer".encode(), struct.pack("!h", -32768), struct.pack("!i", 2147483647),
                struct.pack("!q", -2**63),
                struct.pack("!f", 0.1), struct.pack("!d", 0.1), struct.pack("!hhHHhh", 2, 0, 0, 1, 12, 5000), b"\1",
                struct.pack("!q", 86400001000), uuid.UUID("f81d4fae-7dec-11d0-a765-00a0c91e6bf6").bytes, b"a:b",
                b"\0\1\2\xff", struct.pack("!q", 1 - 2**63), b'[1.50,"\\u0000"]',
            ])
            same(rows[1], [None] * 14)
            same(rows[2], [None] * 7 + [b"\0"] + [None] * 6)
            same(len(rows), 3)
            """#
        #expect(try python(program, chunk) == "")
    }

    @Test func keepsTextsOfEveryLength() throws {
        var random = SeededGenerator(seed: 12)
        let letters = Array("abcxyz 0189äöü€😀\u{1}\u{7F}\"\\")
        var rows = try EncodedRows((0..<3).map { AttributeDescription(name: "a\($0)", type: .string) })
        var texts: [[String]] = []
        for length in Array(0...200) + [1_000, 65_535, 70_000] {
            texts.append((0..<3).map { _ in String((0..<length).map { _ in letters[random.next(letters.count)] }) })
            try rows.add(texts[texts.count - 1].map { .string($0) })
        }
        var chunk = try ChunkRows(rows.plan, JobOptions())
        // What is emptied leaves nothing behind.
        rows.append(to: &chunk)
        chunk.begin()
        #expect(chunk.count == 0 && chunk.byteCount == 0)
        #expect(rows.append(to: &chunk).isEmpty)
        #expect(try python("same([[field.decode() for field in row] for row in rows], more)", chunk, texts) == "")
    }

    @Test func encodesRandomUUIDs() throws {
        var random = SeededGenerator(seed: 77)
        var rows = try EncodedRows([AttributeDescription(name: "a", type: .uuid)])
        let texts = (0..<2_000).map { _ in
            let digits = (0..<32).map { _ in String(random.next(16), radix: 16) }.joined()
            let ends = [0, 8, 12, 16, 20, 32]
            return zip(ends, ends.dropFirst()).map { String(Array(digits)[$0..<$1]) }.joined(separator: "-")
        }
        for text in texts { try rows.add([.string(text)]) }
        var chunk = try ChunkRows(rows.plan, JobOptions())
        #expect(rows.append(to: &chunk).isEmpty)
        #expect(
            try python("same([row[0] for row in rows], [uuid.UUID(text).bytes for text in more])", chunk, texts) == ""
        )
    }

    @Test func readsNothingButCanonicalUUIDs() {
        let text = "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"
        func isUUID(_ text: [UInt8]) -> Bool? {
            var room = [UInt8](repeating: 0, count: 32)
            return room.withUnsafeMutableBytes { room in
                text.withUnsafeBytes { text in
                    guard let text = text.baseAddress, let room = room.baseAddress else { return nil }
                    return BinaryFieldEncoder.putUUID(text, at: room)
                }
            }
        }
        #expect(isUUID(Array(text.utf8)) == true)
        for place in 0..<36 {
            for byte in Array("/:`gG@ .\u{0}".utf8) + [0xB0, 0xE1, 0xFF] {
                var wrong = Array(text.utf8)
                wrong[place] = byte
                #expect(isUUID(wrong) == false, "\(byte) at \(place)")
            }
        }
    }

    @Test func givesAbsentAttributesTheirDefaults() throws {
        let count = 130
        var rows = try EncodedRows(
            (0..<count).map { index in
                AttributeDescription(
                    name: "a\(index)",
                    type: index % 3 == 0 ? .string : index % 3 == 1 ? .integer16 : .binary,
                    isOptional: true,
                    defaultValue: index % 3 == 0
                        ? .string("default \(index)") : index % 3 == 1 ? .number("\(index)") : nil
                )
            }
        )
        var random = SeededGenerator(seed: 5)
        var expected: [[Any]] = []
        for _ in 0..<200 {
            var (values, row): ([JSONValue?], [Any]) = ([], [])
            for index in 0..<count {
                let isThere = random.next(2) == 0
                switch index % 3 {
                case 0:
                    values.append(isThere ? .string("own \(index)") : nil)
                    row.append(isThere ? "own \(index)" : "default \(index)")
                case 1:
                    values.append(isThere ? .number("-\(index)") : nil)
                    row.append(isThere ? -index : index)
                default:
                    values.append(isThere ? .string("AAEC") : nil)
                    row.append(isThere ? "AAEC" : NSNull())
                }
            }
            try rows.add(values)
            expected.append(row)
        }
        var chunk = try ChunkRows(rows.plan, JobOptions())
        #expect(rows.append(to: &chunk).isEmpty)
        let program = """
            import base64
            def field(value, place):
                if value is None: return None
                if place % 3 == 0: return value.encode()
                return struct.pack("!h", value) if place % 3 == 1 else base64.b64decode(value)
            same(rows, [[field(value, place) for place, value in enumerate(row)] for row in more])
            """
        #expect(try python(program, chunk, expected) == "")
    }

    // MARK: U+0000

    private func rowsWithNUL() throws -> EncodedRows {
        var rows = try EncodedRows(
            [
                AttributeDescription(name: "a", type: .string, isOptional: true),
                AttributeDescription(name: "b", type: .string, from: [AttributePath(keys: ["deep", "b"])]),
            ]
        )
        try rows.add([.string("first"), .string("x")])
        for length in [1, 3, 4, 7, 8, 9, 15, 16, 17, 40, 128, 129, 1_000] {
            for place in Set([0, length / 2, length - 1]) {
                var text = Array(repeating: "x", count: length)
                text[place] = "\0"
                try rows.add([.string(text.joined()), .string("x")])
            }
        }
        try rows.add([.string("x\0"), .string("\0")])
        try rows.add([.string("last"), .string("x")])
        return rows
    }

    @Test(arguments: [ErrorPolicy.reject, .stop])
    func makesAFaultOfTextWithNUL(_ policy: ErrorPolicy) throws {
        let rows = try rowsWithNUL()
        var chunk = try ChunkRows(rows.plan, JobOptions(onError: policy))
        let faults = rows.append(to: &chunk)
        #expect(faults.count == rows.count - 2)
        #expect(Set(faults.values) == [RowError(reason: .nulCharacter, attribute: 0)])
        #expect(chunk.nulled.isEmpty)
        #expect(try python(#"same(rows, [[b"first", b"x"], [b"last", b"x"]])"#, chunk) == "")
        let error = chunk.error(RowError(reason: .nulCharacter, attribute: 1), byteOffset: 5)
        #expect(error.entity == "thing" && error.keyPath == "deep.b" && error.code == .nulCharacter)
        #expect(error.byteOffset == 5 && error.words() == "string: U+0000 cannot be stored")
    }

    @Test func makesTextWithNULNullAndCountsItWhereTheJobSaysSo() throws {
        let rows = try rowsWithNUL()
        var chunk = try ChunkRows(rows.plan, JobOptions(onError: .null))
        let faults = rows.append(to: &chunk)
        // The other attribute is not optional; what the rejected row has lost besides is not counted.
        #expect(faults == [rows.count - 2: RowError(reason: .nulCharacter, attribute: 1)])
        #expect(chunk.nulled == [0: rows.count - 3])
        let program = #"same(rows, [[b"first", b"x"]] + [[None, b"x"]] * (len(rows) - 2) + [[b"last", b"x"]])"#
        #expect(try python(program, chunk) == "")
        chunk.begin()
        #expect(chunk.nulled.isEmpty)
    }

    @Test func replacesNULAndCountsTheValuesWhereTheJobSaysSo() throws {
        var rows = try rowsWithNUL()
        let many = Array(repeating: "\0", count: 70_000).joined()
        try rows.add([.string(many), .string("\0x\0")])
        var chunk = try ChunkRows(rows.plan, JobOptions(onError: .null, nul: .replace))
        #expect(rows.append(to: &chunk).isEmpty)
        #expect(chunk.nulled.isEmpty)
        #expect(chunk.replaced == [0: rows.count - 2, 1: 2])
        let program = """
            same(rows[0], [b"first", b"x"])
            same({len(row[0].decode().replace("\\ufffd", "", 1)) - len(row[0].decode()) for row in rows[1:-3]}, {-1})
            same(all(b"\\0" not in field for row in rows for field in row), True)
            same(rows[-3:-1], [["x\\ufffd".encode(), "\\ufffd".encode()], [b"last", b"x"]])
            same(rows[-1], [("\\ufffd" * 70000).encode(), "\\ufffdx\\ufffd".encode()])
            """
        #expect(try python(program, chunk) == "")
        chunk.begin()
        #expect(chunk.replaced.isEmpty)
    }

    /// A default is a value like any other, and the identifier is the text that is stored.
    @Test func replacesNULInDefaultsAndIdentifiers() throws {
        var rows = try EncodedRows(
            [
                AttributeDescription(name: "a", type: .string),
                AttributeDescription(name: "b", type: .string, defaultValue: .string("\0")),
            ],
            identifier: ["a"]
        )
        try rows.add([.string("\0"), nil])
        // It has 2,600 bytes now, and 2,601.
        try rows.add([.string("\0" + String(repeating: "x", count: 2_597)), .string("y")])
        try rows.add([.string("\0" + String(repeating: "x", count: 2_598)), nil])
        var chunk = try ChunkRows(staging: rows.plan, table: "stage", JobOptions(nul: .replace))
        let faults = rows.append(to: &chunk)
        #expect(faults == [2: RowError(reason: .identifierTooLong, attribute: 0)])
        #expect(chunk.replaced == [0: 2, 1: 1])
        let program = """
            same([row[4:] for row in rows], [["\\ufffd".encode()] * 2, ["\\ufffd".encode() + b"x" * 2597, b"y"]])
            """
        #expect(try python(program, chunk) == "")
    }

    // MARK: Staging

    @Test func stagesOrdinalMasksAndWhatIsLacking() throws {
        let count = 130
        var rows = try EncodedRows(
            (0..<count).map { AttributeDescription(name: "a\($0)", type: .uuid, isOptional: true) }
        )
        let uuid = JSONValue.string("00000000-0000-0000-0000-000000000001")
        try rows.add((0..<count).map { $0 % 2 == 0 ? uuid : nil })
        try rows.add((0..<count).map { [0, 62, 63, 126, 129].contains($0) ? uuid : nil }, isIncomplete: true)
        // What was made for the object is not mentioned.
        try rows.add((0..<count).map { [1, 64, 127].contains($0) ? uuid : nil }, generated: [64])
        var chunk = try ChunkRows(staging: rows.plan, table: "stage", JobOptions())
        #expect(rows.append(to: &chunk).isEmpty)
        #expect(
            chunk.statement.hasPrefix(
                #"COPY "stage" ("_ordinal", "_child", "_mask_0", "_mask_1", "_mask_2", "_unmet", "c0", "#
            )
        )
        let program = """
            def masks(*attributes):
                return [sum(1 << a % 63 for a in attributes if a // 63 == mask) for mask in range(3)]
            value = uuid.UUID(int=1).bytes
            expected = [(list(range(0, 130, 2)), [], 0), ([0, 62, 63, 126, 129], [], 1), ([1, 127], [64], 0)]
            for place, (fields, (mentioned, made, lacks)) in enumerate(zip(rows, expected)):
                same(len(fields), 6 + 130)
                same(struct.unpack("!q", fields[0])[0], place + 1)
                same(fields[1], bytes(4))
                same([struct.unpack("!q", field)[0] for field in fields[2:5]], masks(*mentioned))
                same(fields[5], bytes([lacks]))
                same(fields[6:], [value if a in mentioned + made else None for a in range(130)])
            same(len(rows), 3)
            """
        #expect(try python(program, chunk) == "")
    }

    @Test func namesTableAndColumnsAsTheServerHasThem() throws {
        let entity = EntityDescription(
            name: "t\"x",
            attributes: [
                AttributeDescription(name: "ctid", type: .string),
                AttributeDescription(name: "say \"x\"", type: .string),
            ]
        )
        let rows = try ChunkRows(EntityPlan(entity: entity, index: 0), JobOptions())
        #expect(rows.statement == #"COPY "t""x" ("ctid_2", "say ""x""") FROM STDIN (FORMAT binary)"#)
    }

    // MARK: What the server refuses

    private func refused(_ state: String, _ message: String, row: Int = 16, context: String?) throws -> RefusedRow? {
        var rows = try EncodedRows(
            ["a", "b", "a b"].map {
                AttributeDescription(name: $0, type: .string, from: [AttributePath(keys: ["of", $0])])
            }
        )
        for _ in 0..<1_500 { try rows.add([.string("x"), .string("y"), .string("z")]) }
        var chunk = try ChunkRows(rows.plan, JobOptions())
        rows.append(to: &chunk)
        return chunk.refused(PGError(sqlState: state, message: message, context: context), row: row)
    }

    @Test func findsTheRecordOfARefusedLine() throws {
        let message = "null value in column \"b\" of relation \"thing\" violates not-null constraint"
        let row = try refused("23502", message, context: "COPY thing, line 17, column b")
        #expect(row?.ordinal == 17)
        #expect(row?.error.code == .constraintViolation && row?.error.keyPath == "of.b")
        #expect(row?.error.words() == message)
        #expect(
            try refused("22001", "too long", context: "COPY thing, line 1500, column a b")?.error.keyPath
                == AttributePath(keys: ["of", "a b"]).description
        )
        #expect(try refused("23505", "twice", context: "COPY thing, line 3")?.error.keyPath == "")
        // In other languages, and with a function's context before it.
        let german = "PL/pgSQL-Funktion f() Zeile 3 bei RAISE\nCOPY thing, Zeile 25, Spalte a"
        #expect(
            try refused("23514", "x", row: 24, context: german)?.error.keyPath
                == AttributePath(keys: ["of", "a"]).description
        )
        let index = "index row size 2712 exceeds btree version 4 maximum 2704 for index \"thing_a\""
        #expect(try refused("54000", index, context: "COPY thing, line 9")?.error.code == .identifierTooLong)
    }

    @Test func leavesAloneWhatIsNotAboutARow() throws {
        #expect(try refused("53100", "disk full", context: "COPY thing, line 17") == nil)
        #expect(try refused("23502", "x", row: 1_500, context: "COPY thing, line 1501") == nil)
    }

    @Test func remembersRefusedRowsByTheirRecords() {
        var rows = RefusedRows()
        #expect(rows[3] == nil)
        let error = RecordError(
            entity: "e",
            keyPath: "k",
            code: .rowTooLarge,
            expected: "x",
            found: "row",
            byteOffset: 0
        )
        rows.add(RefusedRow(ordinal: 3, error: error))
        #expect(rows[3]?.error == error && rows[4] == nil)
        #expect(rows[3]?.error(at: 500).byteOffset == 500 && rows[3]?.error(at: 500).keyPath == "k")
    }
}
