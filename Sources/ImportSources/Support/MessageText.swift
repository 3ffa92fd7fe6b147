/// A text for people that may name settings and calls, which have other names in Swift than on the command line.
///
/// For example, `maxErrors` in Swift is an option on the command line. The library creates the text with terms, and the program that
/// shows it writes them in the words of its readers. A literal creates a text: `"Leave \(.again) out."`.
public struct MessageText: Sendable, Hashable, ExpressibleByStringInterpolation, CustomStringConvertible {
    /// A setting or call with different names in Swift and on the command line.
    public enum Term: Sendable, Hashable {
        /// A setting itself.
        case setting(Setting)
        /// A setting with a value that the reader chooses.
        case choice(of: Setting)
        /// A setting and its value.
        case value(String, of: Setting)
        /// A call.
        case call(Call)
        /// To do once more what the reader has done: a command, or a program's call.
        case sameAgain
    }

    /// What a text is put together from: words as they are, and terms.
    fileprivate enum Piece: Sendable, Hashable {
        case words(String)
        case term(Term)
    }

    /// Words never follow words, and none are empty, so that texts are equal that read alike.
    private var pieces: [Piece] = []

    /// To do once more what the reader has done.
    package static let sameAgain: MessageText = {
        var text = MessageText("")
        text.pieces = [.term(.sameAgain)]
        return text
    }()

    /// Creates a text that is shown as it is.
    public init(_ words: String) { pieces.append(words) }

    /// Creates a text that is shown as it is.
    public init(stringLiteral words: String) { self.init(words) }

    /// Creates a text from the parts of a literal.
    public init(stringInterpolation parts: StringInterpolation) { pieces = parts.pieces }

    /// The text with its terms in the given words.
    ///
    /// - Parameter words: returns the text for a term.
    public func text(_ words: (Term) -> String) -> String {
        pieces.map { piece in
            switch piece {
            case .words(let text): text
            case .term(let term): words(term)
            }
        }.joined()
    }

    /// The text with terms as in Swift: settings as properties, calls as functions.
    public var description: String { text(\.name) }

    /// The text with other words in place of some.
    package func replacing(_ words: String, with others: String) -> MessageText {
        pieces.reduce(into: MessageText("")) { text, piece in
            switch piece {
            case .words(let own): text.pieces.append(own.replacing(words, with: others))
            case .term: text.pieces.append(piece)
            }
        }
    }

    /// One text after another.
    package static func + (first: MessageText, second: MessageText) -> MessageText {
        "\(first)\(second)"
    }

    /// The parts of a literal.
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var pieces: [Piece] = []

        /// Creates an empty text.
        public init(literalCapacity: Int, interpolationCount: Int) {
            pieces.reserveCapacity(2 * interpolationCount + 1)
        }

        /// Appends the text between interpolations.
        public mutating func appendLiteral(_ literal: String) { pieces.append(literal) }

        /// Appends a value's description.
        public mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            pieces.append(value.description)
        }

        /// Appends an error's description.
        public mutating func appendInterpolation(_ error: any Error) { pieces.append("\(error)") }

        /// Appends a text with its terms.
        public mutating func appendInterpolation(_ text: MessageText) {
            for piece in text.pieces {
                switch piece {
                case .words(let words): pieces.append(words)
                case .term: pieces.append(piece)
                }
            }
        }

        /// Appends a setting.
        public mutating func appendInterpolation(_ setting: Setting) { pieces.append(.term(.setting(setting))) }

        /// Appends a setting and its value.
        public mutating func appendInterpolation(_ setting: Setting, _ value: String) {
            pieces.append(.term(.value(value, of: setting)))
        }

        /// Appends a setting with any value.
        public mutating func appendInterpolation(anyOf setting: Setting) {
            pieces.append(.term(.choice(of: setting)))
        }

        /// Appends a call.
        public mutating func appendInterpolation(call: Call) { pieces.append(.term(.call(call))) }
    }
}

extension [MessageText] {
    /// One text with `separator` between those of the array.
    package func joined(separator: String) -> MessageText {
        dropFirst().reduce(first ?? "") { "\($0)\(separator)\($1)" }
    }
}

extension [MessageText.Piece] {
    fileprivate mutating func append(_ words: String) {
        guard !words.isEmpty else { return }
        if case .words(let before)? = last {
            self[count - 1] = .words(before + words)
        } else {
            append(.words(words))
        }
    }
}
