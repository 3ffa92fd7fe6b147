import Foundation
import ImportModel
import Importer
import TestSupport
import Testing

@testable import ImportPostgreSQL

/// Rows of an entity, as decoding has them.
struct EncodedRows {
    let plan: EntityPlan
    private var cells: [Cell] = []
    private var presence: [UInt64] = []
    private var chunk: [UInt8] = []
    private var own: [UInt8] = []
    private var rows: [RowBatch.Row] = []

    /// - Parameter attributes: with `from` and columns as they come.
    init(_ attributes: [AttributeDescription], identifier: [String] = []) throws {
        let entity = EntityDescription(name: "thing", identifier: identifier, attributes: attributes)
        plan = try EntityPlan(entity: entity, index: 0)
    }

    var count: Int { rows.count }

    /// Adds a row of values as a record might have them, in the order of the attributes; nil where it has none.
    ///
    /// Texts are in turn in the chunk's bytes and in the batch's.
    mutating func add(_ values: [JSONValue?], generated: Set<Int> = [], isIncomplete: Bool = false) throws {
        let (firstCell, firstWord) = (cells.count, presence.count)
        presence += [UInt64](repeating: 0, count: (values.count + 63) / 64)
        for (index, value) in values.enumerated() {
            guard let value else { continue }
            presence[firstWord + index / 64] |= 1 << UInt64(index % 64)
            switch try plan.entity.attributes[index].coerce(value).value {
            case .null: cells.append(.null)
            case .integer(let number): cells.append(.integer(number))
            case .real(let number): cells.append(.real(number))
            case .text(let text) where generated.contains(index):
                cells.append(.text(.generatedText, offset: own.count, length: text.utf8.count))
                own += text.utf8
            case .text(let text) where cells.count % 2 == 0:
                cells.append(.text(.chunkText, offset: chunk.count, length: text.utf8.count))
                chunk += text.utf8
            case .text(let text):
                cells.append(.text(.batchText, offset: own.count, length: text.utf8.count))
                own += text.utf8
            case .blob(let bytes):
                cells.append(.text(.batchBlob, offset: own.count, length: bytes.count))
                own += bytes
            }
        }
        rows.append(
            RowBatch.Row(
                entity: 0,
                parent: -1,
                ordinal: Int64(rows.count + 1),
                firstCell: firstCell,
                firstPresenceWord: firstWord,
                insertReject: isIncomplete ? 0 : -1
            )
        )
    }

    /// Appends the rows.
    ///
    /// - Returns: the faults, by row.
    @discardableResult
    func append(to chunkRows: inout ChunkRows) -> [Int: RowError] {
        var faults: [Int: RowError] = [:]
        cells.withUnsafeBufferPointer { cells in
            chunk.withUnsafeBufferPointer { chunk in
                own.withUnsafeBufferPointer { own in
                    for (index, row) in rows.enumerated() {
                        faults[index] = chunkRows.append(row, cells: cells, chunk: chunk, own: own, presence: presence)
                    }
                }
            }
        }
        return faults
    }
}

/// What a COPY is sent.
func bytes(of rows: ChunkRows) throws -> [UInt8] {
    var sent: [UInt8] = []
    try withoutActuallyEscaping({ (bytes: UnsafeRawBufferPointer) in sent.append(contentsOf: bytes) }) { put in
        var stream = CopyStream(put)
        try rows.write(to: &stream)
        try stream.flush()
    }
    return sent
}

/// Runs a program that has the COPY's data as a list of rows of fields, bytes or `None`, named `rows`.
func python(_ program: String, _ rows: ChunkRows, _ more: Any = NSNull()) throws -> String {
    let directory = try TemporaryDirectory()
    let (data, given) = (directory.path("rows"), directory.path("more.json"))
    try Data(bytes(of: rows)).write(to: URL(filePath: data))
    try JSONSerialization.data(withJSONObject: more, options: .fragmentsAllowed).write(to: URL(filePath: given))
    let result = try Python.run(
        text: """
            import datetime, decimal, json, struct, sys, uuid
            data = open(sys.argv[1], "rb").read()
            more = json.load(open(sys.argv[2], encoding="utf-8"))
            assert data[:19] == b"PGCOPY\\n\\xff\\r\\n\\0" + bytes(8), data[:19]
            rows, at = [], 19
            while True:
                width, = struct.unpack_from("!h", data, at)
                at += 2
                if width < 0:
                    break
                rows.append([])
                for _ in range(width):
                    length, = struct.unpack_from("!i", data, at)
                    at += 4
                    rows[-1].append(None if length < 0 else data[at:at + length])
                    at += max(length, 0)
                    assert at <= len(data)
            assert at == len(data), (at, len(data))

            def same(found, expected):
                if found != expected:
                    print("found", found, "expected", expected)

            \(program)
            """,
        [data, given]
    )
    return result.outputText + result.errorText
}
