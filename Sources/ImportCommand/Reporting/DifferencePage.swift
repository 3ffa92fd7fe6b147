import Foundation
import ImportModel
import Importer

/// A difference as one page of HTML that needs nothing else: entities with counts at the left, changes at the right.
///
/// What comes from stores is text and nothing else: it is in no attribute, no script and no style, and `&`, `<`, `>` and quotes are
/// references. A browser is told to run this page's script alone, and to load nothing.
final class DifferencePage {
    /// Longer values are cut.
    private static let mostCharacters = 2000
    /// Of a longer list, the rest is counted.
    private static let mostElements = 100

    private let limit: Int
    private let spool: TextSpool
    /// How many objects the page has.
    private var shown = 0
    /// How many there are, those that others own included.
    private var count = 0
    /// The number of the first change of each entity.
    private var first: [[UInt8]: Int] = [:]

    /// - Parameter limit: the page has at most this many objects.
    /// - Throws: `ImportError` with `.cannotCreate` when there is no room for what follows the counts.
    init(limit: Int) throws {
        self.limit = limit
        spool = try TextSpool()
    }

    /// Adds a change at the end.
    func append(_ change: ObjectChange) throws {
        count += Self.count(change)
        var html = ""
        append(change, to: &html)
        if !html.isEmpty { try spool.append(html) }
    }

    /// Writes the page.
    func write(_ names: (old: String, new: String), _ summary: DifferenceSummary, _ output: ([UInt8]) throws -> Void)
        throws
    {
        let title = "\(Self.text(names.old)) → \(Self.text(names.new))"
        let script = Data(Self.script.sha256).base64EncodedString()
        let style = Data(Self.style.sha256).base64EncodedString()
        var html = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-\(style)'; \
            script-src 'sha256-\(script)'">
            <meta name="viewport" content="width=device-width">
            <meta name="color-scheme" content="light dark">
            <title>\(title)</title>
            <style>\(Self.style)</style>
            </head>
            <body>
            <nav>
            <h1>\(title)</h1>

            """
        for entity in summary.entities { append(entity, to: &html) }
        html += "<p class=\"keys\"><kbd>j</kbd> next, <kbd>k</kbd> previous change</p>\n</nav>\n<main>\n<ol>\n"
        try output(Array(html.utf8))
        try spool.write(output)
        html = "</ol>\n"
        if count == 0, summary.isEmpty { html += "<p>Nothing differs.</p>\n" }
        if count > shown { html += "<p>… and \(NumberText.counted(Int64(count - shown), "more object"))</p>\n" }
        html += "</main>\n<script>\(Self.script)</script>\n</body>\n</html>\n"
        try output(Array(html.utf8))
    }

    /// How many objects a change is about.
    private static func count(_ change: ObjectChange) -> Int {
        change.relationships.reduce(1) { sum, owned in
            guard case .objects(let changes) = owned.content else { return sum }
            return changes.reduce(sum) { $0 + count($1) }
        }
    }

    // MARK: Counts

    private func append(_ entity: DifferenceSummary.Entity, to html: inout String) {
        let name = Self.text(entity.name)
        html += "<section><h2>"
        html += first[Array(entity.name.utf8)].map { "<a href=\"#c\($0)\">\(name)</a>" } ?? name
        html += "</h2><p>\(NumberText.grouped(entity.old)) → \(NumberText.grouped(entity.new))</p>\n<table>\n"
        for (kind, number) in [
            ("inserted", entity.counts.inserted), ("updated", entity.counts.updated),
            ("deleted", entity.counts.deleted), ("unchanged", entity.counts.unchanged),
        ] {
            html +=
                "<tr class=\"\(number > 0 ? kind : "none")\"><th>\(kind)</th><td>\(NumberText.grouped(number))</td></tr>\n"
        }
        html += "</table>\n"
        if !entity.attributes.isEmpty {
            html += "<table>\n"
            for attribute in entity.attributes {
                html +=
                    "<tr><th>\(Self.text(attribute.name))</th><td>\(NumberText.grouped(attribute.count))</td></tr>\n"
            }
            html += "</table>\n"
        }
        for (names, which) in [(entity.onlyOld, "old"), (entity.onlyNew, "new")] where !names.isEmpty {
            html += "<p>Only the \(which) store has \(names.map(Self.text).joined(separator: ", ")).</p>\n"
        }
        html += "</section>\n"
    }

    // MARK: Changes

    private func append(_ change: ObjectChange, to html: inout String) {
        guard shown < limit else { return }
        shown += 1
        let name = Array(change.entity.utf8)
        if first[name] == nil { first[name] = shown }
        let mark =
            switch change.kind {
            case .inserted: "+"
            case .updated: "~"
            case .deleted: "−"
            }
        html +=
            "<li class=\"\(change.kind.rawValue)\" id=\"c\(shown)\" tabindex=\"-1\"><h3><b>\(mark)</b> "
            + "\(Self.text(change.entity)) <span>\(Self.name(change.identifier))</span></h3>\n"
        var rows = ""
        for attribute in change.attributes {
            Self.appendRow(attribute.name, attribute.old.map(Self.value), attribute.new.map(Self.value), to: &rows)
        }
        for reference in change.references { Self.append(reference, to: &rows) }
        for moved in change.moved {
            Self.appendRow(moved.name, "moved: " + Self.list(moved.objects, Self.name), nil, to: &rows)
        }
        for order in change.order {
            Self.appendRow(
                order.name,
                order.old.map { Self.list($0, Self.name) },
                order.new.map { Self.list($0, Self.name) },
                to: &rows
            )
        }
        for owned in change.relationships {
            guard case .values(let old, let new) = owned.content else { continue }
            Self.appendRow(
                owned.name,
                old.map { Self.list($0, Self.value) },
                new.map { Self.list($0, Self.value) },
                to: &rows
            )
        }
        if !rows.isEmpty { html += "<table>\n\(rows)</table>\n" }
        for owned in change.relationships {
            guard case .objects(let changes) = owned.content, shown < limit else { continue }
            html += "<h4>\(Self.text(owned.name))</h4>\n<ol>\n"
            for change in changes { append(change, to: &html) }
            html += "</ol>\n"
        }
        html += "</li>\n"
    }

    /// A property with what it was and what it is; nil for what there was not.
    private static func appendRow(_ name: String, _ old: String?, _ new: String?, to html: inout String) {
        html += "<tr><th>\(text(name))</th><td>\(old.map { "<del>\($0)</del>" } ?? "")</td>"
        html += "<td>\(new.map { "<ins>\($0)</ins>" } ?? "")</td></tr>\n"
    }

    private static func append(_ reference: ReferenceChange, to html: inout String) {
        func shown(_ target: ReferenceChange.Target) -> String {
            switch target {
            case .null: "null"
            case .object(let object): name(object)
            }
        }
        switch reference.content {
        case .toOne(let old, let new): appendRow(reference.name, old.map(shown), new.map(shown), to: &html)
        case .toMany(let added, let removed):
            appendRow(
                reference.name,
                removed.isEmpty ? nil : list(removed, name),
                added.isEmpty ? nil : list(added, name),
                to: &html
            )
        }
    }

    // MARK: Text

    private static func list<Element>(_ elements: [Element], _ shown: (Element) -> String) -> String {
        let rest = elements.count - mostElements
        let texts = elements.prefix(mostElements).map(shown)
        return texts.joined(separator: "; ") + (rest > 0 ? "; … and \(NumberText.grouped(Int64(rest))) more" : "")
    }

    private static func name(_ object: ObjectReference) -> String {
        text(ValueText.identifier(object, most: mostCharacters))
    }

    private static func value(_ value: StoredValue) -> String {
        escaped(ValueText.value(value, most: mostCharacters, keepsLineBreaks: true))
    }

    private static func value(_ value: OwnedValue) -> String {
        let attributes = value.attributes.map { "\(text($0.name)) \(self.value($0.value))" }
        let references = value.references.map { "\(text($0.name)) \($0.target.map(name) ?? "null")" }
        let owned = value.owned.map { "\(text($0.name)) (\(list($0.values, self.value)))" }
        return (attributes + references + owned).joined(separator: ", ")
    }

    private static func text(_ text: String) -> String { escaped(TerminalText.escaped(text)) }

    /// By bytes: a `<` with a combining mark behind it is one `Character`, and is another for a browser.
    static func escaped(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): bytes += "&amp;".utf8
            case UInt8(ascii: "<"): bytes += "&lt;".utf8
            case UInt8(ascii: ">"): bytes += "&gt;".utf8
            case UInt8(ascii: "\""): bytes += "&quot;".utf8
            case UInt8(ascii: "'"): bytes += "&#39;".utf8
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
