import ArgumentParser
import Importer

/// What is done where a store is not what changes lead from.
struct ConflictArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "What to do if the store does not have a change's old value: stop, keep, take or reject; may be repeated.",
            discussion: """
                stop lists the conflicts and writes nothing; keep leaves the store's value; take writes the new value; reject leaves the \
                object and makes the change a reject. ENTITY:POLICY applies to an entity, ENTITY.NAME:POLICY to an attribute. \
                Default: stop.
                """,
            valueName: "policy"
        ),
        transform: Self.rule
    )
    var conflicts: [PatchOptions.Rule] = []

    static func rule(_ text: String) throws -> PatchOptions.Rule {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard let last = parts.last, let policy = PatchOptions.Policy(rawValue: String(last)) else {
            throw ValidationError("--conflicts \(text): write stop, keep, take or reject")
        }
        let name = parts.dropLast().joined(separator: ":")
        if parts.count == 1 { return PatchOptions.Rule(policy) }
        guard !name.isEmpty else { throw ValidationError("--conflicts \(text): the entity's name is empty") }
        guard let dot = name.firstIndex(of: ".") else { return PatchOptions.Rule(policy, entity: name) }
        let (entity, attribute) = (String(name[..<dot]), String(name[name.index(after: dot)...]))
        guard !entity.isEmpty, !attribute.isEmpty else {
            throw ValidationError("--conflicts \(text): write ENTITY.NAME:POLICY, as in person.city:take")
        }
        return PatchOptions.Rule(policy, entity: entity, attribute: attribute)
    }
}
