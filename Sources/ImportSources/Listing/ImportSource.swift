import Foundation

/// What a path that was given as a source is: an argument, a line of a list, or a program's value.
package enum ImportSource: Sendable, Hashable {
    /// Standard input, or a program's own records.
    case stream(String)
    /// A file, an archive or a pipe; also a path at which nothing is.
    case file(String)
    case folder(String)
    /// A pattern that is not the name of a file.
    case pattern(String)

    /// Decides what `text` is by what is there now.
    package init(_ text: String) {
        var status = stat()
        if text == "-" || ProgramRecords.isName(text) {
            self = .stream(text)
        } else if stat(text, &status) == 0 {
            self = status.st_mode & S_IFMT == S_IFDIR ? .folder(text) : .file(text)
        } else if lstat(text, &status) != 0, GlobPattern.isPattern(text) {
            self = .pattern(text)
        } else {
            self = .file(text)
        }
    }

    /// True if something is there; of a pattern, that is not known.
    package var exists: Bool {
        guard case .file(let path) = self else { return true }
        var status = stat()
        return stat(path, &status) == 0
    }
}
