import ImportModel

extension ShapeDetector {
    /// What the sample has at a record path.
    package func records(at path: RecordPath) -> SourceKinds.Records {
        let isEmpty = topLevelValues.prefix(Self.judgedLines).allSatisfy {
            values(at: path.steps[...], in: $0)?.isEmpty != false
        }
        return SourceKinds.Records(path: path.description, keys: recordKeys(at: path), isEmpty: isEmpty)
    }
}
