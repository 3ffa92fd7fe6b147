import ArgumentParser
import Foundation
import Importer

/// How the rows of a query are printed.
struct QueryArguments: ParsableArguments {
    @Option(help: "Output format.")
    var format = FetchSubcommand.Format.table

    /// Runs a statement, and prints its rows.
    ///
    /// - Parameter begin: is called before the first one is printed.
    func print(
        _ sql: String,
        of reader: StoreReader,
        _ interruption: Interruption = Interruption(),
        begin: () -> Void = {}
    ) throws {
        let format = RecordFormat(rawValue: format.rawValue)
        var (table, writer): (TableText?, RecordWriter?)
        var pending: [UInt8] = []
        func flush() throws {
            try StandardOutput.write(records: pending, as: format)
            pending = []
        }
        try reader.query(sql, interruption) { columns in
            begin()
            table = TableText(columns, dates: .iso8601, columns: Terminal.columns(of: STDOUT_FILENO))
            writer = format.map { RecordWriter(columns, as: $0, dates: .iso8601) }
            writer?.begin(&pending)
        } _: { values in
            if writer?.append(values, to: &pending) == nil {
                pending += (table?.append(Record(rowID: 0, values: values)) ?? "").utf8
            }
            if pending.count >= 1 << 16 { try flush() }
        }
        if writer?.end(&pending) == nil { pending += (table?.end() ?? "").utf8 }
        try flush()
    }
}
