import ImportModel
import Importer

/// How texts of the library are written on the command line: settings as options, calls as commands.
struct CommandWords {
    /// How this command was called.
    var command = CommandName.text

    /// A text in the words of the command line.
    func text(_ text: ImportText) -> String { text.text(words) }

    private func words(_ term: ImportText.Term) -> String {
        switch term {
        case .setting(let setting): setting.option.name
        case .choice(of: let setting):
            [setting.option.name, setting.option.value].compactMap { $0 }.joined(separator: " ")
        case .value(let value, of: let setting): "\(setting.option.name) \(value.shellWord)"
        case .call(let call): "`\(command) \(call.arguments)`"
        }
    }
}

extension ImportText.Setting {
    /// The option, and what its value is called where it has one.
    fileprivate var option: (name: String, value: String?) {
        switch self {
        case .sources: ("SOURCE", nil)
        case .model: ("--model", "FILE")
        case .entity: ("--entity", "NAME")
        case .records: ("--records", "PATH")
        case .identifier: ("--identifier", "NAME")
        case .types: ("--type", "NAME:TYPE")
        case .nested: ("--nested", "POLICY")
        case .nestedDepth: ("--nested-depth", "N")
        case .nestedOnly: ("--nested-only", "PATH")
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
        case .restart: ("--restart", nil)
        case .indexes: ("--index", "NAME")
        case .splitDirectory: ("--to", "DIR")
        case .overwrites: ("--force", nil)
        case .allowsLoss: ("--allow-loss", nil)
        case .migrates: ("--migrate", nil)
        case .conflicts: ("--conflicts", "POLICY")
        case .isUnchecked: ("--unchecked", nil)
        case .keepsUndo: ("--no-undo", nil)
        }
    }
}

extension ImportText.Call {
    /// What is typed behind the command's name.
    fileprivate var arguments: String {
        switch self {
        case .importing: "import"
        case .resuming(let store, let maxErrors):
            "resume \(store?.shellQuoted ?? "STORE")" + (maxErrors.map { " --max-errors \($0)" } ?? "")
        case .status: "status STORE"
        case .rejects: "rejects STORE"
        case .exportingRejects(of: .all): "rejects STORE --to FILE"
        case .exportingRejects(of: .job): "rejects STORE --job N --to FILE"
        case .exportingRejects(of: .entity): "rejects STORE --entity NAME --to FILE"
        case .splitting: "split"
        case .inferring(let sources): (["infer"] + Self.named(sources)).joined(separator: " ")
        case .checkingModel: "model check FILE"
        case .migrating(let store): "migrate \(store.shellQuoted) --model FILE"
        case .mirroring(let store, let job): "mirror \(store.shellQuoted) --job \(job)"
        case .working: "work URL"
        case .undoing(let store, let job): "undo \(store.shellQuoted)" + (job.map { " --job \($0)" } ?? "")
        }
    }

    /// More sources than these are not named one by one.
    private static let mostSources = 3

    private static func named(_ sources: [String]) -> [String] {
        sources.count > mostSources ? ["SOURCE..."] : sources.map { $0 == "-" ? $0 : $0.shellQuoted }
    }
}
