/// What is noticed while a model of Core Data is read.
struct CoreDataDiagnostics {
    private struct Diagnostic {
        let line: Int
        let mistake: ModelError.Mistake
    }

    private var wrong: [Diagnostic] = []
    private var leftOut: [Diagnostic] = []

    /// What cannot be read, in the file's order.
    var mistakes: [ModelError.Mistake] { Self.sorted(wrong) }
    /// What is not carried over, in the file's order.
    var notices: [ModelError.Mistake] { Self.sorted(leftOut) }

    /// - Parameter name: the entity or property: `Person`, `Person.photo`.
    mutating func mistake(_ name: String, line: Int, _ message: String) {
        wrong.append(Diagnostic(line: line, mistake: Self.mistake(name, line, message)))
    }

    /// - Parameter name: the entity or property: `Person`, `Person.photo`.
    mutating func notice(_ name: String, line: Int, _ message: String) {
        leftOut.append(Diagnostic(line: line, mistake: Self.mistake(name, line, message)))
    }

    private static func mistake(_ name: String, _ line: Int, _ message: String) -> ModelError.Mistake {
        ModelError.Mistake(path: name.isEmpty ? "line \(line)" : "\(name) (line \(line))", message: message)
    }

    private static func sorted(_ findings: [Diagnostic]) -> [ModelError.Mistake] {
        findings.enumerated().sorted { ($0.element.line, $0.offset) < ($1.element.line, $1.offset) }.map {
            $0.element.mistake
        }
    }
}
