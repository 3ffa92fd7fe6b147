import ImportModel
import ImportSources

extension JobRun {
    /// Where records seem to be in the first source, in words, where none are where they were asked for; empty where that is not
    /// known.
    var wordsOfRecordPaths: String {
        let source = job.sources[0].description
        guard source.isRepeatable,
            let sample = try? context.opener.open(source, interruption: context.interruption).peek()
        else { return "" }
        let paths =
            switch ShapeDetector(sample.bytes, isWhole: sample.isWhole).detection {
            case .found(_, let paths, _): paths
            case .ambiguous(let candidates): candidates.map(\.path)
            case .unnameable, .empty: [RecordPath]()
            }
        return paths.isEmpty ? "" : "; there are records at \(paths.map(\.description).joined(separator: ", "))"
    }
}
