import ArgumentParser
import Importer

/// What is done where a store is not what changes lead from.
struct ConflictArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Where the store has another value than the change leads from: stop, keep, take or reject; may be repeated.",
            discussion: """
                stop writes nothing and lists the conflicts, keep leaves the store's value, take writes the change's, reject writes \
                nothing of the line and keeps it as a reject. ENTITY:POLICY is for an entity, ENTITY.NAME:POLICY for an attribute. \
                Default: stop.
                """,
            valueName: "policy"
        ),
        transform: rule
    )
    var conflicts: [PatchOptions.Rule] = []

    private static func rule(_ text: String) throws -> PatchOptions.Rule {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard let last = parts.last, let policy = PatchOptions.Policy(rawValue: String(last)) else {
            throw ValidationError("--conflicts \(text): it is stop, keep, take or reject")
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
