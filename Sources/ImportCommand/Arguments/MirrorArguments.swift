import ArgumentParser
import Importer

/// How an import deletes what its sources no longer have.
struct MirrorArguments: ParsableArguments {
    @Flag(
        help: ArgumentHelp(
            "Delete what the sources no longer have, once they are read to their ends.",
            discussion: """
                Objects in scope that are in no record of this import are deleted by the delete rules, all or none. A list of owned \
                objects is replaced as a whole. If deletions are withheld, the command says why, and the exit code is 65; \
                `importer mirror` makes them.
                """
        )
    )
    var mirror = false

    @Option(
        help: ArgumentHelp(
            "Objects that --mirror may delete: imported (inserted by imports), all, or those that match a predicate.",
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
    @Flag(help: "Delete even if the sources have no record of an entity.")
    var allowEmpty = false

    @Flag(help: "Delete even if the identifiers of some rejects cannot be read.")
    var despiteRejects = false

    @Option(
        help: ArgumentHelp(
            "Most objects of one entity that may be deleted.",
            discussion: "Default: 10% of those in scope, or 10 if that is more.",
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
