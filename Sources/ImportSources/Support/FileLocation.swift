import Foundation

/// The location of a file: a path or a URL.
public protocol FileLocation: Sendable {
    /// The file's path.
    var filePath: String { get }
}

extension String: FileLocation {
    /// The path itself.
    public var filePath: String { self }
}

extension URL: FileLocation {
    /// The path of a file URL; any other URL as it is written.
    public var filePath: String { isFileURL ? path : absoluteString }
}
