import Importer

/// Draws progress for a terminal: a line for the split and one for the import, each with a bar.
///
/// Pure: the same frame, width and style give the same text.
struct ProgressBar {
    /// What the terminal can show.
    struct Style: Sendable, Equatable {
        /// True if its encoding is UTF-8.
        var isUnicode = true
        /// True if it takes colours (`NO_COLOR` is not set).
        var isColored = false
    }

    /// One piece of a line.
    ///
    /// Where there is no room for all, those with the lowest `rank` stay.
    private struct Field {
        let text: String
        let rank: Int
        var color: String?
    }

    private struct Line {
        let label: String
        /// How much of it is done; nil where the total is not known.
        let share: Share?
        /// In the order in which they are.
        let fields: [Field]
    }

    private struct Share {
        let done: Int64
        let total: Int64

        init?(_ done: Int64, of total: Int64?) {
            guard let total else { return nil }
            self.done = done
            self.total = total
        }

        /// From 0 to 1.
        var fraction: Double { total > 0 ? min(max(Double(done) / Double(total), 0), 1) : 1 }
        var percent: String { NumberText.percent(done, of: total) }
    }

    private static let labelWidth = 7
    private static let leastBar = 10
    private static let mostBar = 40

    let style: Style

    /// The lines, each at most `width - 1` columns wide: the last column makes some terminals wrap.
    func lines(_ frame: ProgressFrame, width: Int) -> [String] {
        let room = max(width - 1, 0)
        // Changes are not cut.
        var content = frame.work == .apply ? [] : [splitLine(frame)]
        if let work = frame.work { content.append(workLine(frame, label: work.rawValue)) }
        let chosen = content.map { choose($0, room: room) }
        // Bars of equal length, so that one can be compared with the other.
        let bar = min(chosen.map(\.bar).min() ?? 0, Self.mostBar)
        return chosen.map { render($0.line, bar: bar, room: room) }
    }

    private func splitLine(_ frame: ProgressFrame) -> Line {
        let snapshot = frame.snapshot
        let isAlone = frame.work == nil
        var fields = [
            Field(text: bytes(snapshot.splitBytes, of: snapshot.totalBytes), rank: 4),
            Field(text: NumberText.counted(snapshot.splitRecords, "record"), rank: 5),
        ]
        if isAlone, let rate = frame.recordsPerSecond {
            fields.append(Field(text: NumberText.grouped(whole: rate) + "/s", rank: 6))
        }
        if let rate = frame.splitBytesPerSecond, !isDone(snapshot.splitBytes, of: snapshot.totalBytes) {
            fields.append(Field(text: NumberText.bytes(rate) + "/s", rank: 7))
        }
        if isAlone { fields.append(timeField(frame)) }
        return Line(label: "split", share: Share(snapshot.splitBytes, of: snapshot.totalBytes), fields: fields)
    }

    private func workLine(_ frame: ProgressFrame, label: String) -> Line {
        let snapshot = frame.snapshot
        var fields = [Field(text: NumberText.counted(snapshot.importedRecords, "record"), rank: 5)]
        if frame.hasBytes {
            fields.insert(Field(text: bytes(snapshot.importedBytes, of: snapshot.totalBytes), rank: 4), at: 0)
        }
        if let rate = frame.recordsPerSecond {
            fields.append(Field(text: NumberText.grouped(whole: rate) + "/s", rank: 3))
        }
        if let rate = frame.bytesPerSecond, frame.hasBytes {
            fields.append(Field(text: NumberText.bytes(rate) + "/s", rank: 6))
        }
        fields.append(timeField(frame))
        if label != ProgressFrame.Work.infer.rawValue {
            fields.append(
                Field(
                    text: NumberText.counted(snapshot.rejects, "reject"),
                    rank: snapshot.rejects > 0 ? 2 : 8,
                    color: snapshot.rejects > 0 ? "33" : nil
                )
            )
        }
        return Line(label: label, share: Share(snapshot.importedBytes, of: snapshot.totalBytes), fields: fields)
    }

    private func timeField(_ frame: ProgressFrame) -> Field {
        let text =
            switch frame.snapshot.phase {
            case .finished: "in " + NumberText.seconds(frame.elapsed)
            case .finishing: "finishing"
            case .following: "following"
            default:
                frame.secondsLeft.map { NumberText.clock($0) + " left" }
                    ?? NumberText.clock(frame.elapsed.rounded(.down)) + " elapsed"
            }
        return Field(text: text, rank: 1)
    }

    private func isDone(_ done: Int64, of total: Int64?) -> Bool { total.map { done >= $0 } ?? false }

    private func bytes(_ done: Int64, of total: Int64?) -> String {
        let done = NumberText.bytes(done)
        guard let total else { return done }
        // Right-aligned, so that the rest of the line stays at its column.
        return Self.padded(done, to: 7) + " of " + NumberText.bytes(total)
    }

    /// Leaves out what has no room, the highest rank first; `bar` is what remains for the bar, 0 for none.
    private func choose(_ line: Line, room: Int) -> (line: Line, bar: Int) {
        var rest = room - Self.labelWidth
        if line.share != nil { rest -= 4 }
        // The bar goes before everything but the time and the rejects.
        let barRank = 3
        var hasBar = false
        var kept: Set<Int> = []
        let order = line.fields.indices.sorted { line.fields[$0].rank < line.fields[$1].rank }
        func reserveBar() {
            guard line.share != nil, !hasBar, rest >= Self.leastBar + 2 else { return }
            hasBar = true
            rest -= Self.leastBar + 2
        }
        for index in order {
            if line.fields[index].rank >= barRank { reserveBar() }
            let needed = line.fields[index].text.count + 2
            guard needed <= rest else { continue }
            rest -= needed
            kept.insert(index)
        }
        reserveBar()
        let fields = line.fields.indices.filter(kept.contains).map { line.fields[$0] }
        let chosen = Line(label: line.label, share: line.share, fields: fields)
        return (chosen, line.share == nil ? Self.mostBar : hasBar ? Self.leastBar + rest : 0)
    }

    private func render(_ line: Line, bar: Int, room: Int) -> String {
        var text = line.label + String(repeating: " ", count: max(Self.labelWidth - line.label.count, 0))
        guard room >= Self.labelWidth + 4 else {
            // Too narrow for anything but a number, or not even that.
            let short = line.share?.percent ?? line.label
            return String(short.prefix(room))
        }
        if let share = line.share {
            if bar >= Self.leastBar { text += draw(share.fraction, columns: bar) + "  " }
            text += Self.padded(share.percent, to: 4)
        }
        for (index, field) in line.fields.enumerated() {
            if index > 0 || line.share != nil { text += "  " }
            text += field.color.map { colored(field.text, $0) } ?? field.text
        }
        return text
    }

    private func draw(_ fraction: Double, columns: Int) -> String {
        guard style.isUnicode else {
            let filled = Int(fraction * Double(columns))
            return String(repeating: "#", count: filled) + String(repeating: "-", count: columns - filled)
        }
        // Half columns make it move twice as smoothly.
        let halves = Int(fraction * Double(columns * 2))
        let (full, half) = (halves / 2, halves % 2)
        let done = String(repeating: "━", count: full) + (half == 1 ? "╸" : "")
        let rest = String(repeating: style.isColored ? "━" : "─", count: columns - full - half)
        return colored(done, fraction >= 1 ? "32" : "36") + colored(rest, "90")
    }

    private func colored(_ text: String, _ code: String) -> String {
        style.isColored && !text.isEmpty ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }

    private static func padded(_ text: String, to width: Int) -> String {
        String(repeating: " ", count: max(width - text.count, 0)) + text
    }
}
