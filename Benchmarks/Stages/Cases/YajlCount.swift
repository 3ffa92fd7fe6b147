import CYajl
import Foundation

/// yajl alone over a file, with callbacks that only count, set as the importer sets it.
struct YajlCount {
    /// Values, and keys.
    private(set) var tokens = 0
    private(set) var objects = 0

    /// Counts what is in a file, which is read in blocks as the importer reads it.
    ///
    /// - Throws: `WrongResult` if it is not JSON.
    static func of(_ path: String) throws -> YajlCount {
        let file = open(path, O_RDONLY)
        guard file >= 0 else { throw WrongResult(description: "\(path) cannot be opened") }
        defer { close(file) }
        var count = YajlCount()
        var callbacks = callbacks
        var block = [UInt8](repeating: 0, count: 256 << 10)
        try withUnsafeMutablePointer(to: &count) { count in
            try withUnsafePointer(to: &callbacks) { callbacks in
                let handle = yajl_alloc(callbacks, nil, count)
                defer { yajl_free(handle) }
                _ = cyajl_allow_multiple_values(handle, 1)
                _ = cyajl_dont_validate_strings(handle, 1)
                while true {
                    let status = block.withUnsafeMutableBufferPointer { block -> yajl_status? in
                        let length = read(file, block.baseAddress, block.count)
                        return length > 0 ? yajl_parse(handle, block.baseAddress, length) : nil
                    }
                    guard let status else { break }
                    try expect("yajl_parse", status, is: yajl_status_ok)
                }
                try expect("yajl_complete_parse", yajl_complete_parse(handle), is: yajl_status_ok)
            }
        }
        return count
    }

    private static let callbacks = yajl_callbacks(
        yajl_null: { countToken($0) },
        yajl_boolean: { context, _ in countToken(context) },
        yajl_integer: nil,
        yajl_double: nil,
        yajl_number: { context, _, _ in countToken(context) },
        yajl_string: { context, _, _ in countToken(context) },
        yajl_start_map: { context in
            context?.assumingMemoryBound(to: YajlCount.self).pointee.objects += 1
            return countToken(context)
        },
        yajl_map_key: { context, _, _ in countToken(context) },
        yajl_end_map: { _ in 1 },
        yajl_start_array: { countToken($0) },
        yajl_end_array: { _ in 1 }
    )

    @inline(__always)
    private static func countToken(_ context: UnsafeMutableRawPointer?) -> Int32 {
        context?.assumingMemoryBound(to: YajlCount.self).pointee.tokens += 1
        return 1
    }
}
