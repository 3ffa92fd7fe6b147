import CYajl
import ImportModel

extension RecordScanner {
    private typealias Context = YajlContext<RecordScanner>

    static var callbacks: yajl_callbacks {
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
