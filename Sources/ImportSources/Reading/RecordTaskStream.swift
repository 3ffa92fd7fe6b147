import Foundation

/// An asynchronous sequence's elements as lines of JSON, encoded by a task that waits when it is a few blocks ahead.
final class RecordTaskStream: ByteStream {
    private let queue = Queue()
    private let task: Task<Void, Never>
    private let interruption: Interruption
    private var block: ArraySlice<UInt8> = []

    init<Records: AsyncSequence & Sendable>(
        _ records: Records,
        interruption: Interruption
    ) where Records.Element: Encodable {
        self.interruption = interruption
        let task = Task { [queue] in await queue.fill(with: records) }
        self.task = task
        interruption.onRequest { [weak queue] in
            queue?.abandon()
            task.cancel()
        }
    }

    deinit {
        queue.abandon()
        task.cancel()
    }

    func read(into block: inout [UInt8]) throws -> Int {
        while self.block.isEmpty {
            guard let next = try queue.take() else {
                // One that is interrupted ends, too.
                try interruption.check()
                return 0
            }
            self.block = next[...]
        }
        let count = block.overwrite(with: self.block)
        self.block = self.block.dropFirst(count)
        return count
    }

    /// Blocks from a task, which does not hold its thread up, to a thread, which waits.
    private final class Queue: Sendable {
        private struct State {
            var blocks: [[UInt8]] = []
            var isAtEnd = false
            var failure: (any Error)?
            var isAbandoned = false
            var writer: CheckedContinuation<Void, Never>?
        }

        /// So many blocks wait at most.
        private static let mostBlocks = 4
        // Guarded by `condition`; a `Mutex` cannot be waited on.
        nonisolated(unsafe) private var state = State()
        private let condition = NSCondition()

        /// Encodes records for the other side, until there are no more or none is wanted.
        func fill<Records: AsyncSequence & Sendable>(with records: Records) async where Records.Element: Encodable {
            var block: [UInt8] = []
            var count = 0
            do {
                for try await record in records {
                    try RecordEncoder.append(record, to: &block)
                    count += 1
                    guard block.count >= 64 << 10 else { continue }
                    guard await put(block) else { return }
                    block.removeAll(keepingCapacity: true)
                }
                end(with: count == 0 ? ProgramRecords.none : block, nil)
            } catch {
                end(with: block, ProgramRecords.failure(error, after: count))
            }
        }

        /// Leaves a block, and waits for room for the next one: false when no more is wanted.
        private func put(_ block: [UInt8]) async -> Bool {
            await withCheckedContinuation { continuation in
                let hasRoom = condition.withLock {
                    state.blocks.append(block)
                    condition.signal()
                    if state.blocks.count < Self.mostBlocks || state.isAbandoned { return true }
                    state.writer = continuation
                    return false
                }
                if hasRoom { continuation.resume() }
            }
            return !isAbandoned
        }

        private var isAbandoned: Bool { condition.withLock { state.isAbandoned } }

        /// Leaves the last block.
        private func end(with block: [UInt8], _ failure: (any Error)?) {
            condition.withLock {
                if !block.isEmpty { state.blocks.append(block) }
                state.failure = failure
                state.isAtEnd = true
                condition.signal()
            }
        }

        /// Waits for the next block; nil at the end, and when no more is wanted.
        ///
        /// - Throws: what ended the sequence, after its last block.
        func take() throws -> [UInt8]? {
            let (block, writer) = try condition.withLock { () -> ([UInt8]?, CheckedContinuation<Void, Never>?) in
                while state.blocks.isEmpty, !state.isAtEnd, !state.isAbandoned { condition.wait() }
                if state.isAbandoned { return (nil, nil) }
                guard !state.blocks.isEmpty else {
                    if let failure = state.failure { throw failure }
                    return (nil, nil)
                }
                defer { state.writer = nil }
                return (state.blocks.removeFirst(), state.writer)
            }
            writer?.resume()
            return block
        }

        /// No more is wanted: neither side waits from now on.
        func abandon() {
            let writer = condition.withLock {
                state.isAbandoned = true
                condition.broadcast()
                defer { state.writer = nil }
                return state.writer
            }
            writer?.resume()
        }
    }
}
