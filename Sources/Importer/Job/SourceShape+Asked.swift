import ImportModel

extension SourceShape {
    /// The shape for record paths that were given.
    ///
    /// A path into a document asks for one document, unless detection had found the same path in a stream of documents
    /// and the path is the model's.
    ///
    /// - Parameters:
    ///   - asked: the paths.
    ///   - found: what detection says of the source.
    ///   - isExplicit: whether the paths are the job's own, and not the model's.
    init(asked: [RecordPath], found: ShapeDetector.Detection, isExplicit: Bool) {
        self.init(layout: Self.layout(asked, found, isExplicit), paths: asked.map(\.description))
    }

    private static func layout(_ asked: [RecordPath], _ found: ShapeDetector.Detection, _ isExplicit: Bool) -> Layout {
        if asked == [.root] {
            if case .found(.lines, _, _) = found { return .lines }
            return .stream
        }
        if !isExplicit, case .found(.stream, let paths, _) = found, paths == asked { return .stream }
        return .document
    }
}
