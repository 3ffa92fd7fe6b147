import CYajl
import ImportModel

/// What a consumer of yajl's events is.
///
/// Each event returns whether to continue.
///
/// Bytes handed over live as long as the call. Strings and keys come as yajl has them: a part of the block that is being
/// parsed, or, where they have escapes or span blocks, a buffer of yajl's own. yajl's unescaping is wrong for lone
/// surrogates, so handlers take the length and place of such strings, not their content.
protocol YajlHandler {
    /// yajl's table of C functions for this very type. A C function pointer cannot capture a generic parameter, so each
    /// handler's table is written out beside it; this is what keeps an event at the cost of a direct call.
    static var callbacks: yajl_callbacks { get }

    mutating func null(at position: YajlPosition) -> Bool
    mutating func boolean(_ value: Bool, at position: YajlPosition) -> Bool
    mutating func number(_ digits: ByteView, at position: YajlPosition) -> Bool
    mutating func string(_ bytes: ByteView, at position: YajlPosition) -> Bool
    mutating func startObject(at position: YajlPosition) -> Bool
    mutating func key(_ bytes: ByteView, at position: YajlPosition) -> Bool
    mutating func endObject(at position: YajlPosition) -> Bool
    mutating func startArray(at position: YajlPosition) -> Bool
    mutating func endArray(at position: YajlPosition) -> Bool
}

/// Where the parser is, asked only when it is needed.
package struct YajlPosition {
    fileprivate let handle: yajl_handle

    /// Just past the current token, counted from the beginning of the block being parsed
    /// (`yajl_get_bytes_consumed`).
    @inline(__always)
    package var end: Int { Int(yajl_get_bytes_consumed(handle)) }
}

/// A streaming yajl parser with a handler of a known type.
///
/// Made, used and dropped by one thread.
final class YajlParser<Handler: YajlHandler> {
    /// The result of a block.
    enum Status: Equatable {
        /// All of it.
        case consumed
        /// A handler's event said to stop.
        case stopped
        /// It is not JSON; where, counted from the beginning of the block (`yajl_get_bytes_consumed`).
        case failed(at: Int)
    }

    private let context: UnsafeMutablePointer<YajlContext<Handler>>
    /// The table that yajl looks at.
    private let callbacks: UnsafeMutablePointer<yajl_callbacks>

    init(handler: Handler) {
        callbacks = .allocate(capacity: 1)
        callbacks.initialize(to: Handler.callbacks)
        context = .allocate(capacity: 1)
        context.initialize(
            to: YajlContext(handler: handler, handle: YajlContext<Handler>.makeHandle(callbacks, context))
        )
    }

    deinit {
        yajl_free(context.pointee.handle)
        context.deinitialize(count: 1)
        context.deallocate()
        callbacks.deallocate()
    }

    /// The handler, changed in place.
    @inline(__always)
    var handler: Handler {
        get { context.pointee.handler }
        _modify { yield &context.pointee.handler }
    }

    /// Where the handler is, as long as the parser is there.
    var handlerAddress: UnsafeMutablePointer<Handler> {
        withUnsafeMutablePointer(to: &context.pointee.handler) { $0 }
    }

    /// Parses one more block.
    @inline(__always)
    func parse(_ block: ByteView) -> Status {
        status(yajl_parse(context.pointee.handle, block.base, block.count))
    }

    /// Says that no more blocks come: `.failed` if a value is still open (`yajl_complete_parse`).
    func finish() -> Status {
        status(yajl_complete_parse(context.pointee.handle))
    }

    /// Forgets what was parsed so far; the handler stays as it is.
    func restart() {
        yajl_free(context.pointee.handle)
        context.pointee.handle = YajlContext<Handler>.makeHandle(callbacks, context)
    }

    /// What yajl says is wrong, in its words, without the text around it (`yajl_get_error`).
    func failureMessage() -> String {
        guard let text = yajl_get_error(context.pointee.handle, 0, nil, 0) else { return "not JSON" }
        defer { yajl_free_error(context.pointee.handle, text) }
        return String(cString: text).trimmingSuffix { $0.isWhitespace }
    }

    @inline(__always)
    private func status(_ status: yajl_status) -> Status {
        if status == yajl_status_ok { return .consumed }
        if status == yajl_status_client_canceled { return .stopped }
        return .failed(at: Int(yajl_get_bytes_consumed(context.pointee.handle)))
    }
}

extension String {
    fileprivate func trimmingSuffix(while predicate: (Character) -> Bool) -> String {
        var end = endIndex
        while end > startIndex, predicate(self[index(before: end)]) { end = index(before: end) }
        return String(self[..<end])
    }
}

/// What the C callbacks are handed.
struct YajlContext<Handler: YajlHandler> {
    var handler: Handler
    var handle: yajl_handle

    /// A parser that takes any number of values and leaves the check of UTF-8 to us, as yajl's lets wrong forms through.
    static func makeHandle(
        _ callbacks: UnsafeMutablePointer<yajl_callbacks>,
        _ context: UnsafeMutablePointer<YajlContext<Handler>>
    ) -> yajl_handle {
        guard let handle = yajl_alloc(callbacks, nil, context) else {
            // yajl_alloc fails only when malloc does.
            fatalError("out of memory")
        }
        _ = cyajl_allow_multiple_values(handle, 1)
        _ = cyajl_dont_validate_strings(handle, 1)
        return handle
    }

    /// Gives an event to the handler of a context that yajl hands over.
    @inline(__always)
    static func event(_ context: UnsafeMutableRawPointer?, _ event: (inout Handler, YajlPosition) -> Bool) -> Int32 {
        let context = context!.assumingMemoryBound(to: Self.self)
        let position = YajlPosition(handle: context.pointee.handle)
        return event(&context.pointee.handler, position) ? 1 : 0
    }
}

extension ByteView {
    /// Bytes as yajl hands them over.
    @inline(__always)
    package init(yajl bytes: UnsafePointer<UInt8>?, _ count: Int) {
        self.init(UnsafeBufferPointer(start: bytes, count: count))
    }
}

extension RecordTape {
    private typealias Context = YajlContext<RecordTape>

    package static var callbacks: yajl_callbacks {
        yajl_callbacks(
            yajl_null: { Context.event($0) { $0.null(at: $1) } },
            yajl_boolean: { raw, value in Context.event(raw) { $0.boolean(value != 0, at: $1) } },
            yajl_integer: nil,
            yajl_double: nil,
            yajl_number: { raw, digits, count in
                let bytes = UnsafeRawPointer(digits!).assumingMemoryBound(to: UInt8.self)
                return Context.event(raw) { $0.number(ByteView(yajl: bytes, count), at: $1) }
            },
            yajl_string: { raw, bytes, count in
                Context.event(raw) { $0.string(ByteView(yajl: bytes, count), at: $1) }
            },
            yajl_start_map: { Context.event($0) { $0.startObject(at: $1) } },
            yajl_map_key: { raw, bytes, count in
                Context.event(raw) { $0.key(ByteView(yajl: bytes, count), at: $1) }
            },
            yajl_end_map: { Context.event($0) { $0.endObject(at: $1) } },
            yajl_start_array: { Context.event($0) { $0.startArray(at: $1) } },
            yajl_end_array: { Context.event($0) { $0.endArray(at: $1) } }
        )
    }
}
