import Importer

/// Draws what is known on a screen of any size.
///
/// Pure: the same state, size and time give the same screen. What is most wanted comes first; where rows are few, headings
/// and the split go before anything else.
struct WatchLayout {
    let size: TerminalSize
    let isUnicode: Bool

    /// How many rows each part has.
    private struct Rows {
        var split = 0
        var plot = 0
        var countsHeading = 0
        var counts = 0
        var rejectsHeading = 0
        var rejects = 0
        var gap = 0
        var tableHeading = 0
        var table = 0
        var keys = 0
    }

    /// How many records there is room for.
    func pageRows(for state: WatchState) -> Int { rows(for: state).table }

    /// The screen.
    ///
    /// - Parameter time: in seconds, on the clock by which rows were marked.
    func screen(_ state: WatchState, at time: Double) -> TerminalScreen {
        var screen = TerminalScreen(size: size, isUnicode: isUnicode)
        let rows = rows(for: state)
        drawTitle(state, on: &screen)
        var row = 1
        let lines = bars(state)
        if rows.split > 0 {
            screen.put(lines.first ?? "", row: row, column: 0)
            row += 1
        }
        if size.rows > 1, let line = lines.last {
            screen.put(line, row: row, column: 0)
            row += 1
        }
        if rows.plot > 0 {
            drawPlot(state, row: row, on: &screen)
            row += 1
        }
        row = drawCounts(state, rows, from: row, on: &screen)
        row = drawRejects(state, rows, from: row, on: &screen)
        drawTable(state, rows, from: row + rows.gap, at: time, on: &screen)
        if rows.keys > 0 { drawKeys(row: size.rows - 1, on: &screen) }
        return screen
    }

    /// Shares the rows out.
    private func rows(for state: WatchState) -> Rows {
        var rows = Rows()
        // The title, and the bar of the import.
        var left = size.rows - 2
        func take(_ wanted: Int) -> Int {
            let count = max(min(wanted, left), 0)
            left -= count
            return count
        }
        // At least one row of data, as soon as there are four.
        let entities = state.statistics.look.entities.count
        let groups = state.statistics.look.errors.count
        if left > 1 { rows.plot = take(1) }
        if left > 1 { rows.counts = take(min(1, entities)) }
        if size.rows >= 8 {
            rows.keys = take(1)
            rows.split = take(1)
        }
        if size.rows >= 10, entities > 0 { rows.tableHeading = take(1) }
        if size.rows >= 12, groups > 0 { rows.rejects = take(1) }
        if size.rows >= 14 {
            if entities > 0 { rows.countsHeading = take(1) }
            if groups > 0 { rows.rejectsHeading = take(1) }
        }
        if size.rows >= 20 { rows.gap = take(1) }
        let more = size.rows / 6 - 1
        rows.counts += take(min(entities - rows.counts, more))
        if rows.rejects > 0 { rows.rejects += take(min(groups - 1, more)) }
        rows.table = left
        return rows
    }

    // MARK: Parts

    private func bars(_ state: WatchState) -> [String] {
        let bar = ProgressBar(style: .init(isUnicode: isUnicode, isColored: false))
        return bar.lines(state.frame, width: size.columns + 1)
    }

    private func drawTitle(_ state: WatchState, on screen: inout TerminalScreen) {
        let text = state.message ?? state.trouble ?? state.statistics.stateText
        let room = size.columns - 2
        let stateColumns = min(TextWidth.columns(of: TerminalText.escaped(text)), room)
        let nameRoom = room - stateColumns - 2
        // The column that is sorted by may be beyond the last one that there is room for.
        let sort = state.records?.request.sort ?? []
        let names = sort.map { Self.heading($0.attribute, sort, isUnicode).text }
        let order = TerminalText.escaped(names.isEmpty ? "" : "  by \(names.joined(separator: ", "))")
        let name = TextWidth.cut(TerminalText.escaped(state.store), to: max(nameRoom - TextWidth.columns(of: order), 8))
        if nameRoom >= 4 { screen.put(name + order, row: 0, column: 1, limit: nameRoom) }
        screen.put(text, row: 0, column: max(size.columns - 1 - stateColumns, 0), limit: max(stateColumns, 1))
        screen.fill(row: 0, style: .title)
    }

    private func drawPlot(_ state: WatchState, row: Int, on screen: inout TerminalScreen) {
        let rate = state.frame.recordsPerSecond.map { NumberText.grouped(whole: $0) + "/s" } ?? "-"
        let wide = size.columns >= 40
        let label = wide ? "rate   " + rate : rate
        var column = screen.put(label, row: row, column: 0) + 2
        let room = size.columns - column
        guard room >= 3 else { return }
        let rates = state.history.rates
        let plot = WatchText.plot(rates, columns: wide ? room - 16 : room, isUnicode: isUnicode)
        column = screen.put(plot, row: row, column: column, style: TerminalScreen.Style(color: 36)) + 2
        guard wide, let most = rates.suffix(max(room - 16, 0)).max(), most > 0 else { return }
        screen.put("max " + NumberText.grouped(whole: most), row: row, column: column, style: .faint)
    }

    private static let countNames = ["read", "inserted", "updated", "unchanged", "ignored", "rejected"]

    private func drawCounts(
        _ state: WatchState,
        _ rows: Rows,
        from first: Int,
        on screen: inout TerminalScreen
    ) -> Int {
        var row = first
        let entities = state.statistics.look.entities
        guard rows.counts > 0 else { return row }
        let shown = Self.around(state.place, of: entities.count, rows: rows.counts).map { entities[$0] }
        let values = shown.map { entity in
            let counts = entity.counts.withNested
            return [
                counts.recordsRead, counts.inserted, counts.updated, counts.unchanged, counts.ignored, counts.rejected,
            ].map(NumberText.grouped)
        }
        .map { texts in
            // Without a heading each number says what it is.
            rows.countsHeading > 0 ? texts : zip(texts, Self.countNames).map { "\($0) \($1)" }
        }
        let widths = Self.countNames.indices.map { place in
            max(
                rows.countsHeading > 0 ? Self.countNames[place].count : 1,
                values.map { $0[place].count }.max() ?? 0
            )
        }
        // A narrow terminal has the counts that tell most.
        let order = [0, 5, 1, 2, 3, 4]
        let longestName = shown.map { WatchText.columns(of: TerminalText.escaped($0.name)) }.max() ?? 0
        var nameRoom = max(min(longestName, size.columns / 3), rows.countsHeading > 0 ? 6 : 1)
        var room = size.columns - nameRoom - 2
        var chosen: Set<Int> = []
        for place in order {
            guard widths[place] + 2 <= room else { break }
            room -= widths[place] + 2
            chosen.insert(place)
        }
        if chosen.isEmpty { nameRoom = size.columns - 2 }
        if rows.countsHeading > 0 {
            screen.put("entity", row: row, column: 2, limit: nameRoom, style: .faint)
            drawNumbers(Self.countNames, widths, chosen, row: row, from: 2 + nameRoom, style: .faint, on: &screen)
            row += 1
        }
        for (entity, numbers) in zip(shown, values) {
            let isShown = state.entity?.isSame(as: entity) ?? false
            if isShown { screen.put(isUnicode ? "▸" : ">", row: row, column: 0) }
            screen.put(entity.name, row: row, column: 2, limit: nameRoom, style: isShown ? .bold : .plain)
            drawNumbers(numbers, widths, chosen, row: row, from: 2 + nameRoom, style: .plain, on: &screen)
            row += 1
        }
        return row
    }

    private func drawNumbers(
        _ texts: [String],
        _ widths: [Int],
        _ chosen: Set<Int>,
        row: Int,
        from start: Int,
        style: TerminalScreen.Style,
        on screen: inout TerminalScreen
    ) {
        var column = start
        for place in texts.indices where chosen.contains(place) {
            column += widths[place] + 2
            let isBad = place == 5 && !texts[place].hasPrefix("0") && style == .plain
            screen.put(texts[place], row: row, column: column - texts[place].count, style: isBad ? .warning : style)
        }
    }

    private func drawRejects(
        _ state: WatchState,
        _ rows: Rows,
        from first: Int,
        on screen: inout TerminalScreen
    ) -> Int {
        var row = first
        let groups = state.statistics.look.errors
        guard rows.rejects > 0 else { return row }
        if rows.rejectsHeading > 0 {
            let more = groups.count - rows.rejects
            let text = "newest rejects" + (more > 0 ? ", and \(NumberText.counted(Int64(more), "other kind"))" : "")
            screen.put(text, row: row, column: 2, style: .faint)
            row += 1
        }
        let namesEntity = state.statistics.look.entities.count > 1
        for group in groups.prefix(rows.rejects) {
            screen.put(ErrorGroupText.line(group, namesEntity: namesEntity), row: row, column: 2, style: .warning)
            row += 1
        }
        return row
    }

    private func drawTable(
        _ state: WatchState,
        _ rows: Rows,
        from first: Int,
        at time: Double,
        on screen: inout TerminalScreen
    ) {
        guard rows.table > 0, let records = state.records else { return }
        let shown = Array(records.attributes.enumerated().dropFirst(state.firstColumn))
        var row = first
        // The last column takes what is left.
        var places: [(start: Int, columns: Int)] = []
        var column = 2
        for (index, attribute) in shown {
            let room = size.columns - column
            guard room > 0 else { break }
            let heading = Self.heading(attribute.name, records.request.sort, isUnicode)
            let wanted = max(state.columnWidths[index], heading.columns)
            places.append((column, index == records.attributes.count - 1 ? room : min(wanted, room)))
            column += wanted + 2
        }
        if rows.tableHeading > 0 {
            for ((_, attribute), place) in zip(shown, places) {
                let heading = Self.heading(attribute.name, records.request.sort, isUnicode).text
                screen.put(heading, row: row, column: place.start, limit: place.columns, style: .bold)
            }
            row += 1
        }
        for record in records.records.prefix(rows.table) {
            let mark = state.mark(of: record.rowID, at: time)
            let style: TerminalScreen.Style = mark == .new ? .good : mark == .changed ? .warning : .plain
            if let mark { screen.put(mark == .new ? "+" : "*", row: row, column: 0, style: style) }
            for ((index, attribute), place) in zip(shown, places) {
                let value = record.values[index]
                let text = WatchText.text(value, of: attribute)
                var start = place.start
                if WatchText.isNumber(value) {
                    start += max(min(state.columnWidths[index], place.columns) - text.count, 0)
                }
                screen.put(
                    text,
                    row: row,
                    column: start,
                    limit: place.start + place.columns - start,
                    style: value == .null ? .faint : style
                )
            }
            row += 1
        }
    }

    /// An attribute's name with an arrow where it is sorted by.
    private static func heading(
        _ name: String,
        _ sort: [RecordSort],
        _ isUnicode: Bool
    ) -> (text: String, columns: Int) {
        let sorted = sort.first { $0.attribute.utf8.elementsEqual(name.utf8) }
        let arrow = sorted.map { $0.ascending ? (isUnicode ? "▲" : "^") : (isUnicode ? "▼" : "v") } ?? ""
        return (arrow + name, arrow.count + WatchText.columns(of: TerminalText.escaped(name)))
    }

    private func drawKeys(row: Int, on screen: inout TerminalScreen) {
        let keys = ["q quit", "tab entity", "s sort", "r reverse", "PgUp PgDn page", "arrows scroll", "g G ends"]
        var column = 0
        for key in keys where column + key.count + 1 <= size.columns {
            let words = key.split(separator: " ")
            let name = words.dropLast().joined(separator: " ")
            column = screen.put(name, row: row, column: column, style: .bold) + 1
            column = screen.put(String(words.last ?? ""), row: row, column: column, style: .faint) + 2
        }
    }

    /// Places around one that must be among them.
    private static func around(_ place: Int, of count: Int, rows: Int) -> Range<Int> {
        let start = max(min(place - rows / 2, count - rows), 0)
        return start..<min(start + rows, count)
    }
}
