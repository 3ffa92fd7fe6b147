import Foundation

/// Where an import is killed: at a random moment, or where its files show that it has come that far.
enum StopPoint: String, CaseIterable {
    case moment = "at a random moment"
    case chunk = "when a chunk was written"
    case commit = "when the store's log grew"
    case done = "when a chunk was done"
    case end = "when no chunk was left"
}

/// Looks at the files of a running import.
struct ImportFileWatch {
    private struct Look {
        var chunks = 0
        var logBytes = 0
    }

    private let store: String
    private var before = Look()

    init(store: String) {
        self.store = store
        before = look()
    }

    /// Looks again: true if the import has passed the point since the last look.
    mutating func hasPassed(_ point: StopPoint) -> Bool {
        let now = look()
        defer { before = now }
        return switch point {
        case .moment: false
        case .chunk: now.chunks > before.chunks
        case .commit: now.logBytes > before.logBytes
        case .done: now.chunks < before.chunks
        case .end: now.chunks == 0 && before.chunks > 0
        }
    }

    private func look() -> Look {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: store + ".chunks")) ?? []
        var status = stat()
        let logBytes = stat(store + "-wal", &status) == 0 ? Int(status.st_size) : 0
        return Look(chunks: names.count { $0.hasPrefix("chunk-") }, logBytes: logBytes)
    }
}
