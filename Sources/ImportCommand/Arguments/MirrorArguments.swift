import ArgumentParser
import Importer

/// How an import deletes what its sources no longer have.
struct MirrorArguments: ParsableArguments {
    @Flag(
        help: ArgumentHelp(
            "Delete what the sources no longer have, when they are read to their ends.",
            discussion: """
                Objects in scope that no record of this import has are deleted by the delete rules, all of them or none. A list of \
                owned objects is replaced as a whole. If deletions are withheld, the command says so and ends with 65; \
                `importer mirror` carries them out.
                """
        )
    )
    var mirror = false

    @Option(
        help: ArgumentHelp(
            "Which objects --mirror may delete: imported, those that imports have inserted; all; or those of a predicate.",
            valueName: "imported|all|predicate"
        )
    )
    var mirrorScope: String?

    @OptionGroup var limits: MirrorLimitArguments

    /// nil where nothing is to be deleted.
    var options: MirrorOptions? {
        guard mirror else { return nil }
        var options = limits.options
        options.scope = mirrorScope.map { MirrorOptions.Scope($0) } ?? .imported
        return options
    }

    func validate() throws {
        guard !mirror else { return }
        let given = [
            mirrorScope.map { _ in "--mirror-scope" }, limits.allowEmpty ? "--allow-empty" : nil,
            limits.despiteRejects ? "--despite-rejects" : nil, limits.maxDelete.map { _ in "--max-delete" },
        ]
        if let option = given.compactMap(\.self).first { throw ValidationError("\(option) needs --mirror") }
    }
}

/// What a mirror deletes all the same.
struct MirrorLimitArguments: ParsableArguments {
    @Flag(help: "Delete also where the sources have no record of an entity.")
    var allowEmpty = false

    @Flag(help: "Delete although the identifiers of some rejects cannot be read.")
    var despiteRejects = false

    @Option(
        help: ArgumentHelp(
            "How many objects of one entity may be deleted.",
            discussion: "Default: 10% of those in scope, and ten in any case.",
            valueName: "n|n%"
        ),
        transform: Self.limit
    )
    var maxDelete: DeletionLimit?

    var options: MirrorOptions {
        MirrorOptions(allowsEmpty: allowEmpty, despiteRejects: despiteRejects, maxDelete: maxDelete)
    }

    static func limit(_ text: String) throws -> DeletionLimit {
        guard let limit = DeletionLimit(text) else {
            throw ValidationError("expected a number, or a percentage up to 100%. Examples: 0  50  2.5%")
        }
        return limit
    }
}
