import Foundation

/// What a test has tried and found.
struct SelfTestReport: Encodable {
    /// How fast imports of one kind are.
    struct Speed: Encodable {
        static let kinds: [(SelfTestCase.Shape, String)] = [
            (.array, "array"), (.lines, "NDJSON"), (.identifier, "identifier"),
        ]

        let name: String
        let recordsPerSecond: Double
        let bytesPerSecond: Double
    }

    /// What was done with one shape of data.
    struct Row: Encodable {
        let shape: String
        var times = 0
        var kills = 0
        var killsOfResumed = 0
        var full = 0
        var interrupted = 0
        /// False if one differed; nil if none was compared.
        var equal: Bool?
    }

    /// The import that was not as it must be.
    struct Difference: Encodable {
        let shape: String
        let what: String
        let folder: String
        let commands: [String]
    }

    let directory: String
    let fileSystem: String?
    let seed: UInt64
    var seconds = 0.0
    private(set) var rows = SelfTestCase.Shape.allCases.map { Row(shape: $0.rawValue) }
    /// How often imports were killed, by the point.
    private(set) var killed: [String: Int] = [:]
    var speeds: [Speed] = []
    var difference: Difference?

    init(directory: String, seed: UInt64) {
        self.directory = directory
        self.seed = seed
        fileSystem = FileSystemName(of: directory)?.text
    }

    /// Adds what was done in a case, which is equal or the last.
    mutating func add(_ run: SelfTestRun, of shape: SelfTestCase.Shape) {
        guard let index = rows.firstIndex(where: { $0.shape == shape.rawValue }) else { return }
        let isEqual = run.counts.times > 0
        rows[index].times += 1
        rows[index].kills += run.counts.kills
        rows[index].killsOfResumed += run.counts.killsOfResumed
        rows[index].full += run.counts.full
        rows[index].interrupted += run.counts.interrupted
        rows[index].equal = isEqual
        for (point, count) in run.stops { killed[point.rawValue, default: 0] += count }
    }

    /// All shapes together.
    var total: Row {
        rows.reduce(into: Row(shape: "all")) { total, row in
            total.times += row.times
            total.kills += row.kills
            total.killsOfResumed += row.killsOfResumed
            total.full += row.full
            total.interrupted += row.interrupted
            if let equal = row.equal { total.equal = (total.equal ?? true) && equal }
        }
    }

    /// For people.
    var text: String {
        var table = ColumnText(
            headers: ["what", "times", "kills", "no room", "Ctrl-C", "equal"],
            numbers: [false, true, true, true, true, false]
        )
        for row in rows + [total] {
            let counts = [row.times, row.kills, row.full, row.interrupted].map { NumberText.grouped(Int64($0)) }
            table.addRow([row.shape] + counts + [row.equal.map { $0 ? "yes" : "NO" } ?? "not tried"])
        }
        var speed = ColumnText(headers: ["let alone", "records/s", "bytes/s"], numbers: [false, true, true])
        for one in speeds {
            speed.addRow([
                one.name, NumberText.grouped(whole: one.recordsPerSecond), NumberText.bytes(one.bytesPerSecond),
            ])
        }
        let points = StopPoint.allCases.map { "\(killed[$0.rawValue] ?? 0) \($0.rawValue)" }
        let place = directory + (fileSystem.map { " (\($0))" } ?? "")
        let lines =
            ["Imported made-up data on \(place) for \(NumberText.seconds(seconds)), seed \(seed)", ""] + table.lines
            + [
                "",
                "Killed \(total.kills) times, \(total.killsOfResumed) of them while resuming: "
                    + points.joined(separator: ", "), "",
            ] + speed.lines
        return lines.map { TerminalText.escaped($0) + "\n" }.joined()
    }

    /// For machines, with keys as the other reports have them.
    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        return TerminalText.escapedInJSON(String(decoding: try encoder.encode(self), as: UTF8.self)) + "\n"
    }
}
