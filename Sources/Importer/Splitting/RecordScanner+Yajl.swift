import CYajl
import ImportModel

extension RecordScanner {
    static var callbacks: YajlCallbacks {
        YajlCallbacks(
            table: yajl_callbacks(
                yajl_null: { raw in
                    let context = raw!.assumingMemoryBound(to: YajlContext<RecordScanner>.self)
                    return context.pointee.handler.null(at: context.pointee.position) ? 1 : 0
                },
                yajl_boolean: { raw, value in
                    let context = raw!.assumingMemoryBound(to: YajlContext<RecordScanner>.self)
                    return context.pointee.handler.boolean(value != 0, at: context.pointee.position) ? 1 : 0
                },
                yajl_integer: nil,
                yajl_double: nil,
                yajl_number: { raw, digits, count in
                    let context = raw!.assumingMemoryBound(to: YajlContext<RecordScanner>.self)
                    let bytes = UnsafeRawPointer(digits!).assumingMemoryBound(to: UInt8.self)
                    return context.pointee.handler.number(ByteView(yajl: bytes, count), at: context.pointee.position)
                        ? 1 : 0
                },
                yajl_string: { raw, bytes, count in
                    let context = raw!.assumingMemoryBound(to: YajlContext<RecordScanner>.self)
                    return context.pointee.handler.string(ByteView(yajl: bytes, count), at: context.pointee.position)
                        ? 1 : 0
                },
                yajl_start_map: { raw in
                    let context = raw!.assumingMemoryBound(to: YajlContext<RecordScanner>.self)
                    return context.pointee.handler.startObject(at: context.pointee.position) ? 1 : 0
                },
                yajl_map_key: { raw, bytes, count in
                    let context = raw!.assumingMemoryBound(to: YajlContext<RecordScanner>.self)
                    return context.pointee.handler.key(ByteView(yajl: bytes, count), at: context.pointee.position)
                        ? 1 : 0
                },
                yajl_end_map: { raw in
                    let context = raw!.assumingMemoryBound(to: YajlContext<RecordScanner>.self)
                    return context.pointee.handler.endObject(at: context.pointee.position) ? 1 : 0
                },
                yajl_start_array: { raw in
                    let context = raw!.assumingMemoryBound(to: YajlContext<RecordScanner>.self)
                    return context.pointee.handler.startArray(at: context.pointee.position) ? 1 : 0
                },
                yajl_end_array: { raw in
                    let context = raw!.assumingMemoryBound(to: YajlContext<RecordScanner>.self)
                    return context.pointee.handler.endArray(at: context.pointee.position) ? 1 : 0
                }
            )
        )
    }
}
