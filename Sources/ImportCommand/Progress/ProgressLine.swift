import Importer

/// Progress as one line of text or of JSON, for logs and programs.
enum ProgressLine {
    /// Progress for a log.
    ///
    /// `import 45%, 212 MB of 470 MB, 675,000 records, 410,000 records/s, 128 MB/s, 0:02 left, 3 rejects`
    static func text(_ frame: ProgressFrame) -> String {
        let snapshot = frame.snapshot
        let isAlone = frame.work == nil
        let done = isAlone ? snapshot.splitBytes : snapshot.importedBytes
        let records = isAlone ? snapshot.splitRecords : snapshot.importedRecords
        var parts: [String] = []
        if let total = snapshot.totalBytes {
            parts.append(NumberText.percent(done, of: total))
            parts.append(NumberText.bytes(done) + " of " + NumberText.bytes(total))
        } else if frame.hasBytes {
            parts.append(NumberText.bytes(done))
        }
        parts.append(NumberText.counted(records, "record"))
        if !isAlone, snapshot.splitRecords > records {
            parts.append(NumberText.grouped(snapshot.splitRecords) + " split")
        }
        if let rate = frame.recordsPerSecond { parts.append(NumberText.grouped(whole: rate) + " records/s") }
        if let rate = frame.bytesPerSecond, frame.hasBytes { parts.append(NumberText.bytes(rate) + "/s") }
        switch snapshot.phase {
        case .finished: parts.append("done in " + NumberText.seconds(frame.elapsed))
        case .finishing: parts.append("finishing")
        case .following: parts.append("following")
        default: if let left = frame.secondsLeft { parts.append(NumberText.clock(left) + " left") }
        }
        if [.import, .apply].contains(frame.work) { parts.append(NumberText.counted(snapshot.rejects, "reject")) }
        return (frame.work?.rawValue ?? "split") + " " + parts.joined(separator: ", ")
    }

    /// One JSON object on one line, its line break included.
    ///
    /// - Parameter state: where the job is, for anyone who watches it from outside.
    static func json(
        _ frame: ProgressFrame,
        state: String? = nil,
        entities: [String: ImportReport.Counts]? = nil
    ) throws -> String {
        try JSONText.line(ProgressJSON(frame, state: state, entities: entities))
    }

    /// A message as one JSON object on one line, its line break included.
    static func json(message: String) throws -> String {
        try JSONText.line(["message": message])
    }
}
