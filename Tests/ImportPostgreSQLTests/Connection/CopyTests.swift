import Foundation
import Importer
import TestSupport
import Testing

@testable import ImportPostgreSQL

@Suite(.enabled(if: PostgreSQLServer.isAvailable, "PostgreSQL cannot be had here"))
struct CopyTests {
    private struct Stop: Error {}

    private let database: PGDatabase
    private let interruption = Interruption()
    private let connection: PGConnection

    init() throws {
        database = try PGDatabase()
        try database.query("CREATE TABLE t (a bigint PRIMARY KEY, b text)")
        connection = try database.connect("", interruption)
    }

    /// The binary format: a signature, rows of two fields, an end
    /// (<https://www.postgresql.org/docs/current/sql-copy.html>).
    private static let signature = Array("PGCOPY\n".utf8) + [0xFF, 13, 10, 0] + [UInt8](repeating: 0, count: 8)
    private static let end: [UInt8] = [0xFF, 0xFF]

    private static func row(_ number: Int64, _ text: String) -> [UInt8] {
        func bytes(_ number: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }
        return bytes(Int16(2)) + bytes(Int32(8)) + bytes(number) + bytes(Int32(text.utf8.count)) + Array(text.utf8)
    }

    private let binary = "COPY t FROM STDIN (FORMAT binary)"

    // MARK: Rows

    @Test func rowsArriveInWhateverPiecesTheyAreWritten() throws {
        let text = String(repeating: "é", count: 500)
        let bytes = Self.signature + (0..<5_000).flatMap { Self.row($0, text) } + Self.end
        var generator = SeededGenerator(seed: 7)
        let count = try connection.copy(binary) { stream in
            var rest = bytes[...]
            while !rest.isEmpty {
                let size = [1, 17, 4_096, 65_535, 65_536, 300_000, 2_000_000].randomElement(using: &generator) ?? 1
                try stream.write(Array(rest.prefix(size)))
                rest = rest.dropFirst(size)
            }
        }
        #expect(count == 5_000)
        #expect(
            try database.query("SELECT count(*), sum(a), count(*) FILTER (WHERE b = repeat('é', 500)) FROM t")
                == [["5000", "12497500", "5000"]]
        )
    }

    @Test func noRowsAreFine() throws {
        #expect(try connection.copy("COPY t FROM STDIN") { _ in } == 0)
        try connection.insert(into: "t (a, b)", [Int64]()) { [.integer($0)] }
        #expect(try database.query("SELECT count(*) FROM t") == [["0"]])
    }

    /// Whatever is in a text, or in bytes, and whether there is a value.
    @Test func valuesOfRowsAreTheirs() throws {
        try database.query("CREATE TABLE v (b text, y bytea, f boolean, d double precision, n bigint, j json)")
        let texts = [
            "", "\\N", "\\.", "\t", "\n", "\r\n", "\\", "\\t", "a\tb\nc\\d", "\"q\",'", "\u{8}\u{B}\u{C}\u{1}\u{7F}",
            "é日😀", "\\x00",
        ]
        let all = [UInt8](0...255)
        try connection.insert(into: "v (b, y, f, d, n, j)", texts.enumerated()) { number, text in
            [
                .text(text), .bytes(number == 0 ? [] : all), .boolean(number % 2 == 0), .double(-1.5e300),
                .integer(.min + Int64(number)), .text(#"{"a": "\n\t\\"}"#),
            ]
        }
        try connection.insert(into: "v (b, y, n)", [0]) { _ in [.null, .null, .integer(1)] }
        let rows = try connection.execute("SELECT b, y, f, d, j FROM v ORDER BY n")
        let found = try rows.dropLast().map { try $0.text(0) }
        #expect(found == texts)
        for (number, row) in rows.dropLast().enumerated() {
            #expect(try row.bytes(1) == (number == 0 ? [] : all))
            #expect(try row.bool(2) == (number % 2 == 0))
            #expect(try row.double(3) == -1.5e300)
            #expect(try row.text(4) == #"{"a": "\n\t\\"}"#)
        }
        let last = try #require(rows.last)
        #expect(try last.optionalText(0) == nil && last.optionalText(1) == nil && last.optionalText(2) == nil)
    }

    @Test func whatTheWriterThrowsLeavesNothing() throws {
        #expect(throws: Stop.self) {
            try connection.copy("COPY t FROM STDIN") { stream in
                for number in 0..<100_000 { try stream.write(Array("\(number)\tx\n".utf8)) }
                throw Stop()
            }
        }
        #expect(try connection.execute("SELECT count(*) FROM t").first?.integer(0) == 0)
    }

    @Test func aStatementThatTakesNoRowsIsRefused() throws {
        #expect(throws: PGError.self) { try connection.copy("SELECT 1") { try $0.write([1]) } }
        #expect(try connection.execute("SELECT 1").first?.integer(0) == 1)
    }

    // MARK: Refusals

    @Test(arguments: ["", " (FORMAT binary)"])
    func aRefusedRowIsNamed(_ format: String) throws {
        let failure = #expect(throws: PGError.self) {
            try connection.copy("COPY t FROM STDIN" + format) { stream in
                if !format.isEmpty { try stream.write(Self.signature) }
                // The second 17 comes as the row 500.
                for number in 1...100_000 {
                    let key = Int64(number == 500 ? 17 : number)
                    try stream.write(format.isEmpty ? Array("\(key)\tsesam\n".utf8) : Self.row(key, "sesam"))
                }
                if !format.isEmpty { try stream.write(Self.end) }
            }
        }
        #expect(failure?.sqlState == "23505")
        #expect(failure?.constraint == "t_pkey")
        #expect(failure?.importError(at: "s", showsValues: false).description.contains("17") == false)
        #expect(failure?.importError(at: "s", showsValues: true).description.contains("(a)=(17)") == true)
        #expect(try connection.execute("SELECT count(*) FROM t").first?.integer(0) == 0)
    }

    @Test func aRowThatCannotBeReadDoesNotShowItsValues() throws {
        let failure = #expect(throws: PGError.self) {
            try connection.copy("COPY t FROM STDIN") { try $0.write(Array("1\ta\nsesam\tb\n".utf8)) }
        }
        #expect(failure?.importError(at: "s", showsValues: false).description.contains("sesam") == false)
    }

    // MARK: Interruption and loss

    @Test func anInterruptionEndsACopyThatWaitsForATable() throws {
        let other = try database.connect()
        try other.execute("BEGIN; LOCK TABLE t")
        database.whenWaiting(for: "relation") { [interruption] _ in interruption.request(.interrupt) }
        let error = #expect(throws: ImportError.self) { try connection.copy("COPY t FROM STDIN") { _ in } }
        #expect(error?.reason == .interrupted)
        #expect(try connection.execute("SELECT 1").first?.integer(0) == 1)
    }

    @Test func anInterruptionEndsACopyThatIsStuckBetweenRows() throws {
        let other = try database.connect()
        try other.execute("BEGIN; INSERT INTO t VALUES (3)")
        database.whenWaiting(for: "transactionid") { [interruption] _ in interruption.request(.terminate) }
        let text = Array(repeating: UInt8(ascii: "x"), count: 1_000)
        let error = #expect(throws: ImportError.self) {
            // Far more than sockets hold.
            try connection.copy("COPY t FROM STDIN") { stream in
                for number in 1...50_000 { try stream.write(Array("\(number)\t".utf8) + text + [UInt8(ascii: "\n")]) }
            }
        }
        #expect(error?.reason == .terminated)
        #expect(try connection.execute("SELECT count(*) FROM t").first?.integer(0) == 0)
    }

    @Test func anInterruptionLetsACopyEndThatGoesOn() throws {
        interruption.request(.interrupt)
        #expect(try connection.copy("COPY t FROM STDIN") { try $0.write(Array("1\ta\n".utf8)) } == 1)
    }

    @Test func aSessionThatIsEndedSaysWhy() throws {
        let failure = #expect(throws: PGError.self) {
            try connection.copy("COPY t FROM STDIN") { stream in
                try stream.write(Array("1\ta\n".utf8))
                try stream.flush()
                try database.query(
                    """
                    SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
                    WHERE application_name = 'importer' AND datname = current_database()
                    """
                )
                for number in 2...100_000 { try stream.write(Array("\(number)\ta\n".utf8)) }
            }
        }
        #expect(failure?.isConnectionLost == true)
        #expect(failure?.isTransient == true)
        #expect(failure?.sqlState == "57P01", "\(failure?.message ?? "")")
        #expect(!connection.isOpen)
    }
}
