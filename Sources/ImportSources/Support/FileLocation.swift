import Foundation

/// Where a file is: a path, or a URL.
public protocol FileLocation: Sendable {
    /// The file's path.
    var filePath: String { get }
}

extension String: FileLocation {
    /// The path itself.
    public var filePath: String { self }
}

extension URL: FileLocation {
    /// The path of a file's URL; another one as it is written.
    public var filePath: String { isFileURL ? path : absoluteString }
}
