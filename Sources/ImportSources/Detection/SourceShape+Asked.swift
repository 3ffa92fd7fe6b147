import ImportModel

extension SourceShape {
    /// The shape for record paths that were asked for: they hold for each value of the source.
    package init(asked: [RecordPath], found: ShapeDetector.Detection) {
        var layout = Layout.stream
        if asked == [.root], case .found(.lines, _, _) = found { layout = .lines }
        self.init(layout: layout, paths: asked.map(\.description))
    }
}
