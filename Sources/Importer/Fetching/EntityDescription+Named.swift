import ImportModel
import ImportSources

extension [EntityDescription] {
    /// The index of the entity with a name, or else with a table of that name, whatever the case of its ASCII letters.
    ///
    /// - Parameter store: what has them, for the message.
    /// - Throws: `ImportError` with `.noInput` when there is none.
    package func place(ofEntityOrTable name: String, in store: String) throws -> Int {
        let exact = firstIndex { BytewiseString($0.name) == BytewiseString(name) }
        let table = BytewiseString(name.asciiLowercased)
        if let place = exact ?? firstIndex(where: { BytewiseString($0.table.asciiLowercased) == table }) {
            return place
        }
        throw ImportError(
            .entityNotFound,
            at: store,
            "has no entity \(name)\(NameSuggestion.question(for: name, among: map(\.name)))",
            advice: isEmpty
                ? "Nothing is imported yet."
                : "It has: \(map(\.name).joined(separator: ", ").printable)."
        )
    }
}
