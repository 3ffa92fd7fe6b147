/// A text for people that may name settings and calls, which a program and the command write differently.
///
/// What is `maxErrors` in a program is an option on the command line. The library says which it means, and who shows
/// the text says it in the words of those who read it. A literal makes one: `"Leave \(.again) out."`.
public struct MessageText: Sendable, Hashable, ExpressibleByStringInterpolation, CustomStringConvertible {
    /// Something that is called differently in a program and on the command line.
    public enum Term: Sendable, Hashable {
        /// A setting itself.
        case setting(Setting)
        /// A setting and any value, which the reader is to choose.
        case choice(of: Setting)
        /// A setting and its value.
        case value(String, of: Setting)
        /// Something to call.
        case call(Call)
    }

    /// What a text is put together from: words as they are, and terms.
    fileprivate enum Piece: Sendable, Hashable {
        case words(String)
        case term(Term)
    }

    /// Words never follow words, and none are empty, so that texts are equal that read alike.
    private var pieces: [Piece] = []

    /// A text that is shown as it is.
    public init(_ words: String) { pieces.append(words) }

    /// A text that is shown as it is.
    public init(stringLiteral words: String) { self.init(words) }

    /// A text of a literal's parts.
    public init(stringInterpolation parts: StringInterpolation) { pieces = parts.pieces }

    /// The text with its terms in somebody's words.
    ///
    /// - Parameter words: what to write for a term.
    public func text(_ words: (Term) -> String) -> String {
        pieces.map { piece in
            switch piece {
            case .words(let text): text
            case .term(let term): words(term)
            }
        }.joined()
    }

    /// The text in the words of programs: settings as properties, calls as what a program calls.
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

        /// Begins with nothing.
        public init(literalCapacity: Int, interpolationCount: Int) {
            pieces.reserveCapacity(2 * interpolationCount + 1)
        }

        /// Adds what stands between interpolations.
        public mutating func appendLiteral(_ literal: String) { pieces.append(literal) }

        /// Adds a value as it describes itself.
        public mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            pieces.append(value.description)
        }

        /// Adds what an error says of itself.
        public mutating func appendInterpolation(_ error: any Error) { pieces.append("\(error)") }

        /// Adds a text with its terms.
        public mutating func appendInterpolation(_ text: MessageText) {
            for piece in text.pieces {
                switch piece {
                case .words(let words): pieces.append(words)
                case .term: pieces.append(piece)
                }
            }
        }

        /// Adds a setting.
        public mutating func appendInterpolation(_ setting: Setting) { pieces.append(.term(.setting(setting))) }

        /// Adds a setting and its value.
        public mutating func appendInterpolation(_ setting: Setting, _ value: String) {
            pieces.append(.term(.value(value, of: setting)))
        }

        /// Adds a setting with any value.
        public mutating func appendInterpolation(anyOf setting: Setting) {
            pieces.append(.term(.choice(of: setting)))
        }

        /// Adds a call.
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
