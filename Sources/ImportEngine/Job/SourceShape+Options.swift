import ImportModel
import ImportSources

extension SourceShape {
    /// The shape for record paths that were asked for: they hold for each value of the source.
    package init(asked: [RecordPath], found: ShapeDetector.Detection) {
        var layout = Layout.stream
        if asked == [.root], case .found(.lines, _, _) = found { layout = .lines }
        self.init(layout: layout, paths: asked.map(\.description))
    }
}

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
