import ImportModel

/// Texts that are null, of all attributes or of one.
package struct NullTexts: Sendable, Hashable {
    private var all: Set<[UInt8]> = []
    private var own: [String: Set<[UInt8]>] = [:]

    /// - Parameter given: `TEXT` or `NAME=TEXT`; `=TEXT` for a text that has a `=`.
    package init(_ given: [String]?) {
        for text in given ?? [] {
            guard let mark = text.firstIndex(of: "=") else {
                all.insert(Array(text.utf8))
                continue
            }
            let (name, text) = (String(text[..<mark]), Array(text[text.index(after: mark)...].utf8))
            if name.isEmpty { all.insert(text) } else { own[name, default: []].insert(text) }
        }
    }

    package var isEmpty: Bool { all.isEmpty && own.isEmpty }

    /// The attributes that have texts of their own.
    package var names: [String] { Array(own.keys) }

    /// Those of an attribute, by its name or the keys that lead to its value.
    package func texts(named names: [String]) -> Set<[UInt8]> {
        names.reduce(into: all) { texts, name in texts.formUnion(own[name] ?? []) }
    }

    /// True if what is between a string's quotes spells one of some texts.
    package static func contains(_ texts: Set<[UInt8]>, _ token: ByteView, hasEscapes: Bool) -> Bool {
        guard hasEscapes else { return texts.contains(Array(token.buffer)) }
        var text: [UInt8] = []
        _ = JSONUnescaper.append(token, to: &text)
        return texts.contains(text)
    }
}
