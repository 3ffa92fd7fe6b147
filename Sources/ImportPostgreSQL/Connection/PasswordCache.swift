import Synchronization

/// Asks a person for a password once, however many connections need it.
final class PasswordCache: Sendable {
    private let ask: @Sendable (String) -> String?
    private let answers = Mutex<[String: String?]>([:])

    /// - Parameter ask: asks, with a text that says for what; nil where there is no answer.
    init(_ ask: @escaping @Sendable (String) -> String?) {
        self.ask = ask
    }

    /// The answer to a question; threads that come while it is asked wait for it.
    func answer(to question: String) -> String? {
        answers.withLock { answers in
            if let answer = answers[question] { return answer }
            let answer = ask(question)
            answers[question] = answer
            return answer
        }
    }
}
