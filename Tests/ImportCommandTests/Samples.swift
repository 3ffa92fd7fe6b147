import Foundation
import ImportModel

@testable import ImportCommand
@testable import Importer

/// Values that the tests of the command share.
enum Samples {
    /// A frame in the middle of an import.
    static func frame(_ change: (inout ProgressFrame) -> Void = { _ in }) -> ProgressFrame {
        var frame = ProgressFrame()
        frame.snapshot.phase = .importing
        frame.snapshot.totalBytes = 470_000_000
        frame.snapshot.splitBytes = 470_000_000
        frame.snapshot.splitRecords = 1_500_000
        frame.snapshot.importedBytes = 211_500_000
        frame.snapshot.importedRecords = 675_000
        frame.elapsed = 3
        frame.recordsPerSecond = 410_000
        frame.bytesPerSecond = 128_000_000
        frame.splitBytesPerSecond = 300_000_000
        frame.secondsLeft = 2
        change(&frame)
        return frame
    }

    static func report(_ json: String = "{}") throws -> ImportReport {
        var values: [String: Any] = [
            "state": "finished", "job": 1, "records_read": 1000, "inserted": 997, "updated": 0, "unchanged": 0,
            "ignored": 0, "rejected": 3, "repaired": 0, "chunks": 2, "chunks_done": 2, "bytes": 315_000,
            "seconds": 0.5, "entities": [:], "ledger": [:], "errors": [], "sources": ["people.json"],
        ]
        let changes = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
        values.merge(changes ?? [:]) { $1 }
        return try JSONDecoder().decode(ImportReport.self, from: JSONSerialization.data(withJSONObject: values))
    }

    static func reject(source: String = "people.json", record: [UInt8]) -> StoreInspection.Reject {
        StoreInspection.Reject(
            number: 7,
            job: 1,
            ordinal: 1234,
            entity: "people",
            source: source,
            byteOffset: 4096,
            length: 12,
            errors: [
                RecordError(
                    entity: "people",
                    keyPath: "address.city",
                    code: .wrongKind,
                    expected: "string",
                    found: "object",
                    byteOffset: 4100
                )
            ],
            record: record,
            state: .open,
            key: nil
        )
    }

    /// Whether `text` has nothing that a terminal would act on.
    static func isHarmless(_ text: String) -> Bool {
        !text.unicodeScalars.contains { ($0.value < 0x20 && $0 != "\n") || (0x7F..<0xA0).contains($0.value) }
    }
}
