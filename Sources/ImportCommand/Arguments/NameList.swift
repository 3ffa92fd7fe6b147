import ArgumentParser

/// Names of attributes in a list, as `--columns` takes them: `id,"zip code",`a,b``.
///
/// A name in double quotes or backticks may hold commas; the quote inside of it is written twice, as in predicates.
enum NameList {
    /// The names in `text`, in order; nothing between two commas is no name.
    ///
    /// - Parameter option: the option that it was given to, for errors.
    /// - Throws: `ValidationError` where a quote is not closed, or something follows it.
    static func names(in text: String, of option: String) throws -> [String] {
        var names: [String] = []
        var rest = Substring(text)
        while let first = rest.unicodeScalars.first {
            if first == "\"" || first == "`" {
                guard let name = quoted(by: first, in: &rest) else {
                    throw ValidationError(
                        "\(option): the quote is not closed in '\(text)'; a \(first) inside of the quotes is written twice"
                    )
                }
                guard rest.isEmpty || rest.utf8.first == UInt8(ascii: ",") else {
                    throw ValidationError("\(option): a comma is missing after the quoted name in '\(text)'")
                }
                names.append(name)
            } else {
                let end = rest.utf8.firstIndex(of: UInt8(ascii: ",")) ?? rest.endIndex
                if end > rest.startIndex { names.append(String(rest[..<end])) }
                rest = rest[end...]
            }
            // The comma, and blanks after it.
            rest = Substring(rest.unicodeScalars.dropFirst().drop { $0 == " " })
        }
        return names
    }

    /// Takes a name in quotes off the beginning of `text`; nil where it does not end.
    private static func quoted(by quote: Unicode.Scalar, in text: inout Substring) -> String? {
        var name = String.UnicodeScalarView()
        var scalars = text.unicodeScalars.dropFirst()
        while let scalar = scalars.popFirst() {
            if scalar == quote {
                guard scalars.first == quote else {
                    text = Substring(scalars)
                    return String(name)
                }
                scalars.removeFirst()
            }
            name.append(scalar)
        }
        return nil
    }
}
