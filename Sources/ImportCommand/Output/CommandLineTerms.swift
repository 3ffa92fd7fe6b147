import ImportModel
import Importer

/// How texts of the library are written on the command line: settings as options, calls as commands.
struct CommandLineTerms {
    /// How this command was called.
    var command = CommandName.text
    /// The option that names the schema of a server's database; nil where none was given.
    var schema = CommandName.schema
    /// The store that the command was given; nil where it was none, or that is not known.
    var store: String?

    /// A text in the words of the command line.
    func text(_ text: MessageText) -> String { text.text(words) }

    private func words(_ term: MessageText.Term) -> String {
        switch term {
        case .setting(let setting): setting.option.name
        case .choice(of: let setting):
            [setting.option.name, setting.option.value].compactMap { $0 }.joined(separator: " ")
        case .value("false", of: .keepsUndo): "--no-undo"
        case .value(let value, of: let setting): "\(setting.option.name) \(value.shellWord)"
        case .call(let call): "`\(command) \(call.arguments(schema, store))`"
        case .sameAgain: "run the same command again"
        }
    }
}

extension MessageText.Setting {
    /// The option, and what its value is called where it has one.
    fileprivate var option: (name: String, value: String?) {
        switch self {
        case .sources: ("SOURCE", nil)
        case .include: ("--include", "GLOB")
        case .exclude: ("--exclude", "GLOB")
        case .encoding: ("--encoding", "NAME")
        case .fileColumn: ("--file-column", "NAME")
        case .onBadSource: ("--on-bad-source", "POLICY")
        case .reading: ("--strict", nil)
        case .headerRow: ("--header-row", nil)
        case .shape: ("--shape", "POLICY")
        case .prefix: ("--prefix", "NAMES")
        case .parse: ("--parse", "NAME")
        case .entityBy: ("--entity-by", "KEY")
        case .nullTexts: ("--null-text", "TEXT")
        case .detectsTypes: ("--detect-types", nil)
        case .model: ("--model", "FILE")
        case .entity: ("--entity", "NAME")
        case .records: ("--records", "PATH")
        case .identifier: ("--identifier", "NAME")
        case .types: ("--type", "NAME:TYPE")
        case .storages: ("--storage", "NAME:FORM")
        case .client: ("--for", "LIBRARY")
        case .nested: ("--nested", "POLICY")
        case .nestedDepth: ("--nested-depth", "N")
        case .nestedOnly: ("--nested-only", "PATH")
        case .altersTables: ("--alter", nil)
        case .trustsTriggers: ("--trust-triggers", nil)
        case .onConflict: ("--on-conflict", "POLICY")
        case .onError: ("--on-error", "POLICY")
        case .nul: ("--nul", "POLICY")
        case .maxErrors: ("--max-errors", "N")
        case .isLossless: ("--lossless", nil)
        case .skip: ("--skip", "N")
        case .limit: ("--limit", "N")
        case .maxRecordBytes: ("--max-record-bytes", "SIZE")
        case .maxDepth: ("--max-depth", "N")
        case .mirror: ("--mirror", nil)
        case .mirrorScope: ("--mirror-scope", "SCOPE")
        case .allowsEmpty: ("--allow-empty", nil)
        case .despiteRejects: ("--despite-rejects", nil)
        case .maxDelete: ("--max-delete", "N")
        case .workers: ("--workers", "N")
        case .chunkDirectory: ("--chunks", "DIR")
        case .again: ("--again", nil)
        case .replacesSources: ("--replace-source", nil)
        case .restart: ("--restart", nil)
        case .follows: ("--follow", nil)
        case .indexes: ("--index", "NAME")
        case .splitDirectory: ("--to", "DIR")
        case .overwrites: ("--force", nil)
        case .allowsLoss: ("--allow-loss", nil)
        case .migrates: ("--migrate", nil)
        case .conflicts: ("--conflicts", "POLICY")
        case .isUnchecked: ("--unchecked", nil)
        case .keepsUndo: ("--undo", nil)
        }
    }
}

/// A command that is given a store, which the advice in its errors names.
protocol StoreCommand {
    var store: String { get }
}

extension MessageText.Call {
    /// What is typed behind the command's name.
    ///
    /// - Parameters:
    ///   - schema: the option that names the schema of a server's database; nil for none.
    ///   - store: what is meant where the call names none.
    fileprivate func arguments(_ schema: String?, _ store: String?) -> String {
        let any = store?.storeWords(schema) ?? ["STORE", schema].compactMap(\.self).joined(separator: " ")
        switch self {
        case .importing: return "import"
        case .resuming(let store, let maxErrors):
            return "resume \(store?.storeWords(schema) ?? any)" + (maxErrors.map { " --max-errors \($0)" } ?? "")
        case .status: return "status \(any)"
        case .sources: return "sources \(any)"
        case .rejects: return "rejects \(any)"
        case .exportingRejects(of: .all): return "rejects \(any) --to FILE"
        case .exportingRejects(of: .job): return "rejects \(any) --job N --to FILE"
        case .exportingRejects(of: .entity): return "rejects \(any) --entity NAME --to FILE"
        case .splitting: return "split"
        case .inferring(let sources): return (["infer"] + Self.named(sources)).joined(separator: " ")
        case .checkingModel: return "model check FILE"
        case .migrating(let store): return "migrate \(store.shellQuoted) --model FILE"
        case .mirroring(let store, let job): return "mirror \(store.shellQuoted) --job \(job)"
        case .working: return ["work URL", schema].compactMap(\.self).joined(separator: " ")
        case .undoing(let store, let job): return "undo \(store.shellQuoted)" + (job.map { " --job \($0)" } ?? "")
        }
    }

    /// More sources than these are not named one by one.
    private static let mostSources = 3

    private static func named(_ sources: [String]) -> [String] {
        sources.count > mostSources ? ["SOURCE..."] : sources.map { $0 == "-" ? $0 : $0.shellQuoted }
    }
}
