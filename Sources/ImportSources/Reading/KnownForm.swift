/// How other sources of an entity are read.
package struct KnownForm: Sendable, Hashable {
    /// Nil for sources that are read as they are.
    package let kind: SourceForm.Kind?

    package init(_ kind: SourceForm.Kind?) { self.kind = kind }

    /// - Parameter form: as a shape has it.
    package init(_ form: String?) {
        kind = form?.split(separator: ",").first.flatMap { SourceForm.Kind(rawValue: String($0)) }
    }
}
