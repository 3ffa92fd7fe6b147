import ImportModel
import ImportSources

extension [EntityDescription] {
    /// The index of the entity with a name, or else with a table of that name, whatever the case of its ASCII letters.
    ///
    /// - Parameter store: what has them, for the message.
    /// - Throws: `ImportError` with `.noInput` when there is none.
    package func place(ofEntityOrTable name: String, in store: String) throws -> Int {
        let exact = firstIndex { ExactText($0.name) == ExactText(name) }
        let table = ExactText(name.asciiLowercased)
        if let place = exact ?? firstIndex(where: { ExactText($0.table.asciiLowercased) == table }) { return place }
        throw ImportError(
            .entityNotFound,
            at: store,
            "has no entity \(name)\(NearName.question(for: name, among: map(\.name)))",
            advice: isEmpty
                ? "Nothing is imported yet."
                : "It has: \(map(\.name).joined(separator: ", ").printable)."
        )
    }
}
