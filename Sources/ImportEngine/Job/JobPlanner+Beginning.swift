import ImportModel
import ImportSources

/// What is no JSON from its beginning on: nothing is begun for it.
extension JobPlanner {
    /// - Parameter isLines: whether the sample has mostly lines that are each a value, so that a broken one is a reject.
    func checkBeginning(of sample: [UInt8], isLines: Bool, _ source: SourceDescription) throws {
        guard let place = sample.firstIndex(where: { !ByteScan.isSpace($0) }) else { return }
        let beginnings = Set("{[\"-0123456789tfn".utf8)
        let canBegin = beginnings.contains(sample[place])
        guard let fault = canBegin ? TextBeginning.firstFault(in: sample, isLines: isLines) : place else { return }
        let what: MessageText =
            canBegin ? "unexpected character at byte \(fault.grouped)" : "byte \(place.grouped) cannot begin a value"
        let kind = TextBeginning.kind(of: sample)
        throw ImportError(
            .notJSON,
            at: source.name,
            position: ImportError.Position(byteOffset: Int64(fault)),
            "is not JSON: \(what)\(kind.map { "; it looks like \($0)" } ?? "")",
            advice: "Give JSON, plain or compressed; nothing was imported."
        )
    }
}
